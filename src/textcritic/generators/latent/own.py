"""Log weights of texts that a model draws itself: of states from the proposal, and of the states it drew with the text.

With these the bounds of log p from both sides are compared, see `inference.importance.reverse`.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import numpy as np
import torch

from textcritic.corpora.structured.texts import Structured
from textcritic.errors import TextcriticError
from textcritic.generators.latent.model import LatentModel, Settings, States
from textcritic.generators.latent.resume import Partial, resumed
from textcritic.generators.latent.weigh import (
    Draws,
    Floats,
    Weighed,
    drawn_weights,
    generator_of,
    model_and_texts,
    numpy_of,
    proposal_of,
    tokens_of,
)
from textcritic.inference.importance import ExactWeights, LogWeights
from textcritic.training.hardware import cpu_settings

LENGTHS = 10  # different ones, as the texts of one length are drawn together
LONGER = 4  # times the longest text: where a model that ends its texts has not ended one, it is left out
TRIES = 20  # times the wanted number of texts
PURPOSE = 1 << 31  # in place of a row, for the random numbers of the texts

Paths = tuple[str | os.PathLike[str], str | os.PathLike[str]]


def weigh_own(weighed: Weighed, draws: Draws, count: int, outs: Paths, threads: int | None = None) -> None:
    """Draw texts from a model with their states; write log weights of both, as `LogWeights.save` does.

    If a model does not end its texts, they get the lengths of the test texts. If it does, but has not ended a text
    after four times the longest test text, this text is left out, which says nothing about its states.

    Args:
        weighed: model and proposal; the texts give the lengths.
        draws: how the proposal draws for each text; the seed decides the texts, too.
        count: how many texts are drawn.
        outs: .npz files to write: `LogWeights` [count, K], `ExactWeights` [count, 1]. Until they are complete, a
            file `.partial.npz` in the folder of the first one holds the results so far.
        threads: CPU threads of torch; None leaves torch's own number.

    Raises:
        TextcriticError: as `weigh.weigh`; the model does not draw by its own log p; hardly a text of it ends.
    """
    with cpu_settings(threads), torch.no_grad():
        model, texts = model_and_texts(weighed)
        proposal = proposal_of(weighed, outs[0])
        if proposal.as_released:
            raise TextcriticError(f"{weighed.proposal}: is `as_released`, so its weights are no p / q; train another")
        own = own_texts(model, texts, count, generator_of(draws, PURPOSE, model.device))

        def of_text(row: int) -> Floats:
            text, states = own[row]
            log_q = proposal.log_q(text, states, draws.temperature)
            exact = np.stack([numpy_of(model.log_joint(text, states)), numpy_of(log_q)])
            return np.concatenate([drawn_weights(model, proposal, text, draws, row), exact], axis=1)

        partial = Partial.of(outs[0], asdict(weighed), asdict(draws) | {"own": count})
        values = resumed(of_text, count, (2, draws.samples + 1), partial)
        tokens = tokens_of(model, [text for text, _ in own])
    ids = [f"own-{row + 1}" for row in range(count)]
    ExactWeights.of(values[:, 0, -1:], values[:, 1, -1:], tokens, ids).save(outs[1])
    LogWeights.of(values[:, 0, :-1], values[:, 1, :-1], tokens, ids).save(outs[0])
    partial.path.unlink(missing_ok=True)


def own_texts(
    model: LatentModel[Settings, States], texts: Sequence[Structured], count: int, generator: torch.Generator
) -> list[tuple[Structured, States]]:
    """Texts that a model draws, with the states that it drew, K = 1; arguments and errors as `weigh_own`."""
    if reason := model.why_inexact:
        raise TextcriticError(f"{reason}, so it does not draw by its own log p; no text of it has exact states")
    lengths = np.array([len(text.tokens) for text in texts])
    if not model.ends:
        return list(_of_lengths(model, lengths, count, generator))
    longest, ended = LONGER * int(lengths.max()), []
    for _ in range(TRIES):
        some = model.sample_with_states(count, longest, generator)
        ended += [pair for pair in some if len(pair[0].tokens) < longest]
        if len(ended) >= count:
            return ended[:count]
    raise TextcriticError(
        f"{len(ended):,} of {TRIES * count:,} texts that the model drew end within {longest:,} tokens; train it longer"
    )


def _of_lengths(
    model: LatentModel[Settings, States], lengths: np.ndarray, count: int, generator: torch.Generator
) -> Iterator[tuple[Structured, States]]:
    """Texts of a few lengths, equally many of each: quantiles of those given."""
    parts = min(LENGTHS, count)
    shares = (np.arange(parts) + 0.5) / parts
    for part, length in enumerate(np.quantile(lengths, shares, method="inverted_cdf")):
        number = count // parts + (part < count % parts)
        yield from model.sample_with_states(number, int(length), generator)
