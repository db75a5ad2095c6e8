"""Log weights of the test texts of a corpus: log p(x, z) and log q(z | x) of K states drawn for each of them.

A job draws the states of one shard. What it draws for a text depends on the seed, the number of the text, the
temperature and the number of the shard alone: shards can be made in any order, and a killed job goes on where it was.
"""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from textcritic.corpora.structured.texts import Structured, read_structured
from textcritic.errors import TextcriticError
from textcritic.files import write_arrays
from textcritic.generators.latent.kinds import load_model, load_proposal
from textcritic.generators.latent.model import LatentModel, Proposal
from textcritic.generators.latent.resume import Partial, resumed
from textcritic.inference.importance import LogWeights
from textcritic.runlog import Progress
from textcritic.training.hardware import cpu_settings, device

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """What is weighed by what: files, and nothing else that decides a number.

    Attributes:
        texts: the test split, Parquet in `structured.STRUCTURED_SCHEMA`.
        model: folder of the trained model.
        proposal: folder of the trained proposal; None for a model without latent states.
        knowledge: folder of the knowledge graph, where the corpus has one.
    """

    texts: str | os.PathLike[str]
    model: str | os.PathLike[str]
    proposal: str | os.PathLike[str] | None = None
    knowledge: str | os.PathLike[str] | None = None


@dataclass(frozen=True, slots=True)
class Draws:
    """Which states are drawn.

    Attributes:
        samples: K, states of each text.
        temperature: of the proposal.
        seed: of the random numbers, with the number of the shard.
        shard: the first of the shards that are drawn, from 0.
        shards: how many are drawn, one after the other: the states of text n are those of all of them.
    """

    samples: int
    temperature: float
    seed: int
    shard: int = 0
    shards: int = 1


def weigh(weighed: Weighed, draws: Draws, out: str | os.PathLike[str], threads: int | None = None) -> LogWeights:
    """Draw states of every text from the proposal and write their log weights, as `LogWeights.save` does.

    Args:
        weighed: model, proposal and texts.
        draws: how many states, and from which random numbers.
        out: .npz file to write. Until it is complete, a file `.partial.npz` in its folder holds the results so far.
        threads: CPU threads of torch; None leaves torch's own number.

    Raises:
        TextcriticError: a file is missing or damaged, model and texts do not fit, or no state of some text is possible
            in the model (it names the text).
    """
    with cpu_settings(threads), torch.no_grad():
        model, texts = model_and_texts(weighed)
        proposal = proposal_of(weighed, out)

        def of_text(row: int) -> Floats:
            shard, text = divmod(row, len(texts))
            return drawn_weights(model, proposal, texts[text], replace(draws, shard=draws.shard + shard), text)

        partial = Partial.of(out, asdict(weighed), asdict(draws))
        values = resumed(of_text, draws.shards * len(texts), (2, draws.samples), partial)
    values = values.reshape(draws.shards, len(texts), 2, -1).transpose(1, 2, 0, 3).reshape(len(texts), 2, -1)
    weights = LogWeights.of(values[:, 0], values[:, 1], tokens_of(model, texts), [text.id for text in texts])
    weights.save(out)
    partial.path.unlink(missing_ok=True)
    return weights


def drawn_weights(model: LatentModel, proposal: Proposal, text: Structured, draws: Draws, row: int) -> Floats:
    """Log p(x, z) and log q(z | x) of the states that are drawn for one text: [2, K].

    Args:
        model: p.
        proposal: q.
        text: x.
        draws: how many, and from which random numbers.
        row: the number of the text in its file, which decides these too.
    """
    states, log_q = proposal.draw(text, draws.samples, draws.temperature, generator_of(draws, row, proposal.device))
    return np.stack([numpy_of(model.log_joint(text, states)), numpy_of(log_q)])


def weigh_best(weighed: Weighed, count: int, out: str | os.PathLike[str], threads: int | None = None) -> None:
    """Write log p(x, z) of the `count` states that the proposal finds likeliest: the beam of the paper's section 4.

    The .npz file has `ids` [N], `tokens` [N] and `log_p` [N, count], with -inf where a text has fewer states. Arguments
    and errors are those of `weigh`.
    """
    with cpu_settings(threads), torch.no_grad():
        model, texts = model_and_texts(weighed)
        proposal = proposal_of(weighed, out)

        def of_text(row: int) -> Floats:
            log_p = numpy_of(model.log_joint(texts[row], proposal.best(texts[row], count)))
            return np.concatenate([log_p, np.full(count - len(log_p), -np.inf)])

        partial = Partial.of(out, asdict(weighed), {"best": count})
        log_p = resumed(of_text, len(texts), (count,), partial)
    ids = np.array([text.id for text in texts])
    write_arrays(out, {"ids": ids, "tokens": tokens_of(model, texts), "log_p": log_p})
    partial.path.unlink(missing_ok=True)


def weigh_exact(weighed: Weighed, out: str | os.PathLike[str], threads: int | None = None) -> LogWeights:
    """Write log p(x) of every text by a model without latent states, as log weights with K = 1; raises as `weigh`."""
    with cpu_settings(threads), torch.no_grad():
        model, texts = model_and_texts(weighed)
        progress = Progress("log p of texts", len(texts), "texts")
        log_p = np.empty((len(texts), 1))
        for row, text in enumerate(texts):
            log_p[row] = numpy_of(model.log_joint(text, model.states_of(text)))[:1]
            progress.advance()
    weights = LogWeights(tuple(text.id for text in texts), log_p, tokens_of(model, texts))
    weights.save(out)
    return weights


def generator_of(draws: Draws, row: int, on: torch.device) -> torch.Generator:
    """The random numbers of one text in one shard at one temperature: no two of them share any."""
    entropy = [draws.seed, row, round(draws.temperature * 1_000_000), draws.shard]
    seed = int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0] >> np.uint64(1))
    return torch.Generator(device=on).manual_seed(seed)


def model_and_texts(weighed: Weighed) -> tuple[LatentModel, list[Structured]]:
    """The model, where it computes, and the texts; raises as `weigh`."""
    texts = read_structured(weighed.texts)
    if not texts:
        raise TextcriticError(f"{weighed.texts}: has no texts to weigh")
    return load_model(Path(weighed.model), _path(weighed.knowledge)).to(device()), texts


def proposal_of(weighed: Weighed, out: str | os.PathLike[str]) -> Proposal:
    """The proposal, where it computes; raises as `weigh`."""
    if weighed.proposal is None:
        raise TextcriticError(f"{out}: no proposal to draw states from; use `exact` for a model without states")
    return load_proposal(Path(weighed.proposal), _path(weighed.knowledge)).to(device())


def tokens_of(model: LatentModel, texts: Sequence[Structured]) -> Floats:
    """T of each text [N]."""
    return np.array([model.counted(text) for text in texts], dtype=np.float64)


def _path(folder: str | os.PathLike[str] | None) -> Path | None:
    return None if folder is None else Path(folder)


def numpy_of(values: torch.Tensor) -> Floats:
    """In float64, on the host."""
    return values.detach().cpu().to(torch.float64).numpy()
