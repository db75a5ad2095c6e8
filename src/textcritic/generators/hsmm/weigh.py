"""Log weights of a hidden semi-Markov model's test sequences as artefacts, in the form of other latent models'."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from textcritic.corpora.articles import article_groups
from textcritic.errors import TextcriticError
from textcritic.files import write_arrays
from textcritic.generators.hsmm.best import k_best
from textcritic.generators.hsmm.model import HSMM
from textcritic.generators.hsmm.posterior import log_potential, posterior
from textcritic.generators.hsmm.proposals import make_proposal
from textcritic.generators.hsmm.sample import draw
from textcritic.generators.hsmm.samplers import SegmentSteps
from textcritic.generators.hsmm.text import Text
from textcritic.generators.hsmm.truth import blocks, weigh
from textcritic.inference import particle_filter
from textcritic.inference.importance import ExactWeights, LogWeights, mixture_weights
from textcritic.plan.checks.latent import WITH_TEMPERATURE
from textcritic.plan.entries import HsmmProposal
from textcritic.training.hardware import cpu_settings
from textcritic.training.load import load_tokenizer


@dataclass(frozen=True, slots=True)
class Sequences:
    """The test sequences and the model that they are weighed under.

    Attributes:
        model: folder of the trained model, with its tokenizer.
        test: prefix of the encoded test split.
        articles: the same sequences as Parquet, for their ids.
    """

    model: str | os.PathLike[str]
    test: str | os.PathLike[str]
    articles: str | os.PathLike[str]

    def load(self) -> tuple[HSMM, Text, tuple[str, ...]]:
        """The model in float64, the sequences and their ids.

        Raises:
            TextcriticError: a file is missing or damaged, or the files are not of the same sequences.
        """
        end = load_tokenizer(self.model).eos_token_id
        text = Text.read(self.test, end)
        ids = tuple(article_groups(self.articles)["id"].to_pylist())
        if len(ids) != len(text):
            raise TextcriticError(
                f"{self.articles}: has {len(ids)} sequences, the encoded split {len(text)}; encode the corpus again"
            )
        return HSMM.load(Path(self.model)).to(dtype=torch.float64), text, ids


@dataclass(frozen=True, slots=True)
class Quality:
    """A proposal: its name, and the number that `proposals.make_proposal` needs."""

    name: str
    value: float

    @classmethod
    def of(cls, entry: HsmmProposal, temperature: float) -> "Quality":
        """From an entry of the proposals registry, at a temperature if it has one."""
        return cls(entry.quality, temperature if entry.quality in WITH_TEMPERATURE else entry.value or 0.0)


def weigh_paths(
    sequences: Sequences, quality: Quality, draws: tuple[int, int, range], out: str | os.PathLike[str], threads: int = 1
) -> None:
    """Draw paths of every sequence from a proposal and write their log weights, as `LogWeights.save` does.

    Args:
        sequences: see `Sequences`.
        quality: the proposal.
        draws: paths of each sequence in a shard; the seed, and the numbers of the shards, which are drawn one after the
            other: seed, number and the proposal's number decide them.
        out: .npz file to write.
        threads: CPU threads of torch.

    Raises:
        TextcriticError: as `Sequences.load` and `truth.weigh`.
    """
    samples, seed, shards = draws
    with cpu_settings(threads):
        model, text, ids = sequences.load()
        parts = []
        for shard in shards:
            entropy = np.random.SeedSequence([seed, shard, round(quality.value * 1_000_000)])
            weighed = weigh(model, text, [(quality.name, quality.value)], samples, int(entropy.generate_state(1)[0]))
            parts.append(LogWeights.of(weighed.log_p[:, 0], weighed.log_q[:, 0, :, 0], weighed.tokens, ids))
    parts[0].joined(parts[1:]).save(out)


def weigh_mixed_paths(
    sequences: Sequences,
    qualities: Sequence[Quality],
    draws: tuple[int, int, range],
    out: str | os.PathLike[str],
    threads: int = 1,
) -> None:
    """Draw paths from one proposal at several temperatures and write their weights under the mixture of all.

    The file has the format of `latent.mixture.weigh_mixture`. No file of single
    temperatures is read: the paths are drawn again, because log p of a path costs little here.

    Args:
        sequences: see `Sequences`.
        qualities: the proposal at each temperature, M of them.
        draws: as of `weigh_paths`, for each temperature.
        out: .npz file to write.
        threads: CPU threads of torch.

    Raises:
        TextcriticError: as `weigh_paths`; fewer than two temperatures.
    """
    samples, seed, shards = draws
    if len(qualities) < 2:
        raise TextcriticError(f"{out}: {len(qualities)} temperature; a mixture is of two or more")
    with cpu_settings(threads):
        model, text, ids = sequences.load()
        values = [quality.value for quality in qualities]
        specs, parts, unders = [(quality.name, quality.value) for quality in qualities], [], []
        for shard in shards:
            entropy = np.random.SeedSequence([seed, shard, *(round(value * 1_000_000) for value in values)])
            weighed = weigh(model, text, specs, samples, int(entropy.generate_state(1)[0]), across=True)
            log_p, under = weighed.log_p.reshape(len(ids), -1), weighed.log_q.reshape(len(ids), -1, len(specs))
            parts.append(mixture_weights(log_p, under, [samples] * len(specs), weighed.tokens, ids))
            unders.append(under)
    more = {"log_q_under": np.concatenate(unders, axis=1), "temperatures": np.array(values, np.float64)}
    parts[0].joined(parts[1:]).save(out, more)


def weigh_own_paths(
    sequences: Sequences,
    quality: Quality,
    draws: tuple[int, int, int],
    outs: tuple[str | os.PathLike[str], str | os.PathLike[str]],
    threads: int = 1,
) -> None:
    """Draw sequences from the model; write log weights as `latent.own.weigh_own` does.

    They have lengths of the test sequences. The exact path of each is a draw from the posterior, which is known here:
    that with which the model drew it does not do, as log p of a sequence is over any number of segments.

    Args:
        sequences: see `Sequences`; they give the lengths.
        quality: the proposal.
        draws: paths of each sequence from the proposal, the seed, and how many sequences.
        outs: .npz files to write, `LogWeights` and `ExactWeights`.
        threads: CPU threads of torch.

    Raises:
        TextcriticError: as `weigh_paths`; a sequence that ends within a segment cannot be made of whole ones.
    """
    samples, seed, count = draws
    with cpu_settings(threads):
        model, test, _ = sequences.load()
        numbers = np.random.SeedSequence([seed, count, round(quality.value * 1_000_000)]).generate_state(2)
        rng = np.random.default_rng(numbers)
        text = _own_text(model, rng.choice(np.diff(test.offsets), count), int(numbers[0]))
        parts = []
        for tables, graph in blocks(model, text, "importance weights"):
            proposal = make_proposal(quality.name, quality.value, model, tables, graph)
            paths, log_q = proposal.draw(samples, rng)
            exact = posterior(tables, graph).draw(1, rng)[0]
            with np.errstate(divide="ignore"):  # what the proposal withholds
                parts.append(
                    (
                        np.concatenate([log_potential(tables, graph, some) for some in (paths, exact)], axis=1),
                        np.concatenate([log_q, proposal.log_q(exact)], axis=1),
                    )
                )
    log_p, log_q = (np.concatenate(part) for part in zip(*parts, strict=True))
    tokens, ids = np.diff(text.offsets).astype(np.float64), [f"own-{row + 1}" for row in range(count)]
    ExactWeights.of(log_p[:, -1:], log_q[:, -1:], tokens, ids).save(outs[1])
    LogWeights.of(log_p[:, :-1], log_q[:, :-1], tokens, ids).save(outs[0])


def _own_text(model: HSMM, lengths: np.ndarray, seed: int) -> Text:
    """Sequences drawn from the model, each cut to so many tokens."""
    longest = int(lengths.max()) + 1  # tokens, the end included
    drawn = draw(model, range(len(lengths)), seed, longest, longest)
    return Text(
        np.concatenate([row[:length] for row, length in zip(drawn, lengths, strict=True)]),
        np.concatenate([[0], np.cumsum(lengths)]),
    )


def weigh_filtered_paths(
    sequences: Sequences,
    quality: Quality,
    draws: tuple[int, int],
    out: str | os.PathLike[str],
    threads: int = 1,
) -> None:
    """Write log p-hat of each sequence by sequential Monte Carlo, as `latent.particles.weigh_particles` does.

    What particles are lent (see `SegmentSteps`) is the model's loss per token on the sequences of a block, which is
    known here; it decides which particles survive, and no estimate by itself.

    Args:
        sequences: see `Sequences`.
        quality: the proposal.
        draws: particles of each sequence, K, and the seed.
        out: .npz file to write.
        threads: CPU threads of torch.
    """
    particles, seed = draws
    with cpu_settings(threads):
        model, text, ids = sequences.load()
        rng = np.random.default_rng((seed, particles, round(quality.value * 1_000_000)))
        parts = []
        for tables, graph in blocks(model, text, "particle filter"):
            proposal = make_proposal(quality.name, quality.value, model, tables, graph)
            exact = posterior(tables, graph).log_normaliser
            assert exact is not None
            nats = float(max(0, -exact.sum() / graph.tokens.sum()))
            parts.append(particle_filter(SegmentSteps(tables, proposal, nats), particles, rng).log_p_hat)
    tokens = np.diff(text.offsets).astype(np.float64)
    LogWeights(ids, np.concatenate(parts)[:, None], tokens).save(out)


def weigh_best_paths(
    sequences: Sequences, quality: Quality, count: int, out: str | os.PathLike[str], threads: int = 1
) -> None:
    """Write log p of the `count` likeliest paths of each sequence by a proposal, as `latent.weigh.weigh_best` does."""
    with cpu_settings(threads):
        model, text, ids = sequences.load()
        parts = []
        for tables, graph in blocks(model, text, "likeliest paths"):
            proposal = make_proposal(quality.name, quality.value, model, tables, graph)
            best = k_best(proposal.tables, graph, count)
            # A sequence with fewer paths has empty ones in the last places.
            there = np.isfinite(best.log_prob)
            parts.append(np.where(there, log_potential(tables, graph, best.paths), -np.inf))
    tokens = np.diff(text.offsets).astype(np.float64)
    write_arrays(out, {"ids": np.array(ids), "tokens": tokens, "log_p": np.concatenate(parts)})


def weigh_whole(sequences: Sequences, out: str | os.PathLike[str], threads: int = 1) -> None:
    """Write the exact log p of every sequence, over all paths, as log weights with K = 1."""
    with cpu_settings(threads):
        model, text, ids = sequences.load()
        parts = []
        for tables, graph in blocks(model, text, "exact log p"):
            exact = posterior(tables, graph).log_normaliser
            assert exact is not None  # of a globally normalised proposal
            parts.append(exact)
    tokens = np.diff(text.offsets).astype(np.float64)
    LogWeights(ids, np.concatenate(parts)[:, None], tokens).save(out)
