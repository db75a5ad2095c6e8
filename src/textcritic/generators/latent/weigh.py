"""Log weights of the test texts of a corpus: log p(x, z) and log q(z | x) of K states drawn for each of them.

A job draws the states of one shard. What it draws for a text depends on the seed, the number of the text, the
temperature and the number of the shard alone: shards can be made in any order, and a killed job goes on where it was.
"""

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from textcritic.corpora.structured import Structured, read_structured
from textcritic.errors import TextcriticError
from textcritic.files import arrays_of, write_arrays
from textcritic.generators.latent.kinds import load_model, load_proposal
from textcritic.generators.latent.model import LatentModel, Proposal
from textcritic.inference.importance import LogWeights
from textcritic.runlog import Progress, log
from textcritic.training.checkpoint import file_digests
from textcritic.training.hardware import cpu_settings, device

Floats = npt.NDArray[np.float64]
SAVE_SECONDS = 60.0  # at most so much is lost when a job is killed


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
        seed: of the random numbers, with `shard`.
        shard: which of several jobs this is, from 0.
    """

    samples: int
    temperature: float
    seed: int
    shard: int = 0


def weigh(weighed: Weighed, draws: Draws, out: str | os.PathLike[str], threads: int | None = None) -> LogWeights:
    """Draw states of every text from the proposal and write their log weights, as `LogWeights.save` does.

    Args:
        weighed: model, proposal and texts.
        draws: how many states, and from which random numbers.
        out: .npz file to write. Beside it the file `.partial.npz` holds what is done, until all is.
        threads: CPU threads of torch; None leaves torch's own number.

    Raises:
        TextcriticError: a file is missing or damaged, model and texts do not fit, or no state of some text is possible
            in the model (it names the text).
    """
    with cpu_settings(threads), torch.no_grad():
        model, texts = _model_and_texts(weighed)
        if weighed.proposal is None:
            raise TextcriticError(f"{out}: no proposal to draw states from; use `exact` for a model without states")
        proposal = load_proposal(Path(weighed.proposal), _path(weighed.knowledge)).to(device())

        def of_text(row: int) -> Floats:
            return drawn_weights(model, proposal, texts[row], draws, row)

        found = _resumed(of_text, len(texts), (2, draws.samples), _Partial.of(out, weighed, asdict(draws)))
    weights = LogWeights.of(found[:, 0], found[:, 1], _tokens(model, texts), [text.id for text in texts])
    weights.save(out)
    _Partial.of(out, weighed, asdict(draws)).path.unlink(missing_ok=True)
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
    return np.stack([_numpy(model.log_joint(text, states)), _numpy(log_q)])


def weigh_best(weighed: Weighed, count: int, out: str | os.PathLike[str], threads: int | None = None) -> None:
    """Write log p(x, z) of the `count` states that the proposal finds likeliest: the beam of the paper's section 4.

    The .npz file has `ids` [N], `tokens` [N] and `log_p` [N, count], with -inf where a text has fewer states. Arguments
    and errors are those of `weigh`.
    """
    with cpu_settings(threads), torch.no_grad():
        model, texts = _model_and_texts(weighed)
        proposal = load_proposal(Path(str(weighed.proposal)), _path(weighed.knowledge)).to(device())

        def of_text(row: int) -> Floats:
            log_p = _numpy(model.log_joint(texts[row], proposal.best(texts[row], count)))
            return np.concatenate([log_p, np.full(count - len(log_p), -np.inf)])

        partial = _Partial.of(out, weighed, {"best": count})
        log_p = _resumed(of_text, len(texts), (count,), partial)
    ids = np.array([text.id for text in texts])
    write_arrays(out, {"ids": ids, "tokens": _tokens(model, texts), "log_p": log_p})
    partial.path.unlink(missing_ok=True)


def weigh_exact(weighed: Weighed, out: str | os.PathLike[str], threads: int | None = None) -> LogWeights:
    """Write log p(x) of every text by a model without latent states, as log weights with K = 1; raises as `weigh`."""
    with cpu_settings(threads), torch.no_grad():
        model, texts = _model_and_texts(weighed)
        progress = Progress("log p of texts", len(texts), "texts")
        log_p = np.empty((len(texts), 1))
        for row, text in enumerate(texts):
            log_p[row] = _numpy(model.log_joint(text, model.states_of(text)))[:1]
            progress.advance()
    weights = LogWeights(tuple(text.id for text in texts), log_p, _tokens(model, texts))
    weights.save(out)
    return weights


def generator_of(draws: Draws, row: int, on: torch.device) -> torch.Generator:
    """The random numbers of one text in one shard at one temperature: no two of them share any."""
    entropy = [draws.seed, row, round(draws.temperature * 1_000_000), draws.shard]
    seed = int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0] >> np.uint64(1))
    return torch.Generator(device=on).manual_seed(seed)


@dataclass(frozen=True, slots=True)
class _Partial:
    """What a killed job has left: the first rows, of the same files and the same draws.

    Attributes:
        path: .npz with `done`, an array of the first texts, and `of`, what decides them.
        of_what: what decides them, as JSON text.
    """

    path: Path
    of_what: str

    @classmethod
    def of(cls, out: str | os.PathLike[str], weighed: Weighed, draws: Mapping[str, Any]) -> "_Partial":
        files = {key: value for key, value in asdict(weighed).items() if value is not None}
        decides = {"draws": dict(draws), "files": file_digests(files)}
        return cls(Path(out).with_suffix(".partial.npz"), json.dumps(decides, sort_keys=True))

    def read(self, shape: tuple[int, ...]) -> Floats:
        nothing = np.empty((0, *shape))
        if not self.path.is_file():
            return nothing
        try:
            with arrays_of(self.path, "is damaged") as arrays:
                done, of_what = arrays["done"], str(arrays["of"])
        except TextcriticError:
            return nothing
        return done if of_what == self.of_what and done.shape[1:] == shape else nothing

    def write(self, done: Floats) -> None:
        write_arrays(self.path, {"done": done, "of": np.array(self.of_what)})


def _resumed(of_text: Callable[[int], Floats], texts: int, shape: tuple[int, ...], partial: _Partial) -> Floats:
    """What a function gives for each text, [texts, *shape]; what a killed job has done is not done again."""
    found = np.empty((texts, *shape))
    done = partial.read(shape)
    found[: len(done)] = done
    if len(done):
        log.info("going on after %s of %s texts", f"{len(done):,}", f"{texts:,}")
    progress, saved = Progress("weighing", texts, "texts", done=len(done)), time.monotonic()
    for row in range(len(done), texts):
        found[row] = of_text(row)
        progress.advance()
        if time.monotonic() - saved > SAVE_SECONDS:
            partial.write(found[: row + 1])
            saved = time.monotonic()
    return found


def _model_and_texts(weighed: Weighed) -> tuple[LatentModel, list[Structured]]:
    texts = read_structured(weighed.texts)
    if not texts:
        raise TextcriticError(f"{weighed.texts}: has no texts to weigh")
    return load_model(Path(weighed.model), _path(weighed.knowledge)).to(device()), texts


def _tokens(model: LatentModel, texts: Sequence[Structured]) -> Floats:
    return np.array([model.counted(text) for text in texts], dtype=np.float64)


def _path(folder: str | os.PathLike[str] | None) -> Path | None:
    return None if folder is None else Path(folder)


def _numpy(values: torch.Tensor) -> Floats:
    return values.detach().cpu().to(torch.float64).numpy()
