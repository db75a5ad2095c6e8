"""Log p of test texts by a particle filter, for models whose states are decided token by token."""

import os
from dataclasses import asdict
from typing import Any

import numpy as np
import torch

from textcritic.corpora.structured.texts import Structured
from textcritic.errors import TextcriticError
from textcritic.generators.latent.model import LatentModel, Proposal
from textcritic.generators.latent.resume import Floats, Partial, resumed
from textcritic.generators.latent.weigh import Weighed, model_and_texts, proposal_of, tokens_of
from textcritic.inference import StepModel, particle_filter
from textcritic.inference.importance import LogWeights
from textcritic.training.hardware import cpu_settings


def weigh_particles(
    weighed: Weighed, particles: int, seed: int, out: str | os.PathLike[str], threads: int | None = None
) -> LogWeights:
    """Write log p-hat of each text by sequential Monte Carlo, as log weights with K = 1 (`LogWeights.save`).

    K particles evaluate the model at as many states as K draws of importance sampling. The proposal is used at
    temperature 1. What is drawn for a text depends on the seed, the number of the text and K alone.

    Args:
        weighed: model, proposal and texts.
        particles: K.
        seed: of the random numbers.
        out: .npz file to write.
        threads: CPU threads of torch.

    Raises:
        TextcriticError: as `weigh`; a kind of model that has no steps; a text that no particle can go on with.
    """
    with cpu_settings(threads), torch.no_grad():
        model, texts = model_and_texts(weighed)
        proposal = proposal_of(weighed, out)

        def of_text(row: int) -> Floats:
            random = np.random.default_rng((seed, row, particles))
            try:
                filtered = particle_filter(steps_of(model, proposal, texts[row]), particles, random)
            except TextcriticError as error:
                raise TextcriticError(f"{weighed.texts}: {texts[row].id}: {error}") from error
            return filtered.log_p_hat

        partial = Partial.of(out, asdict(weighed), {"particles": particles, "seed": seed})
        log_p = resumed(of_text, len(texts), (1,), partial)
        weights = LogWeights(tuple(text.id for text in texts), log_p, tokens_of(model, texts))
    weights.save(out)
    partial.path.unlink(missing_ok=True)
    return weights


def steps_of(model: LatentModel, proposal: Proposal, text: Structured) -> StepModel[Any]:
    """What the particle filter asks of a model and its proposal, for one text.

    Raises:
        TextcriticError: a kind without steps, or a proposal with the fault `as_released`, which its steps do not have.
    """
    from textcritic.generators.latent.entitynlm import EntityDisc, EntityNLM
    from textcritic.generators.latent.kglm import KGLM, KglmDisc, LinkSteps

    if proposal.as_released:
        raise TextcriticError(f"{proposal.kind}: as_released: has no particle filter; leave `particles` out")
    if isinstance(model, EntityNLM) and isinstance(proposal, EntityDisc):
        from textcritic.generators.latent.entitynlm.steps import EntitySteps

        return EntitySteps(model, proposal, text)
    if isinstance(model, KGLM) and isinstance(proposal, KglmDisc):
        return LinkSteps(model, proposal, [text])
    raise TextcriticError(f"{model.kind} with {proposal.kind}: has no steps for a particle filter")
