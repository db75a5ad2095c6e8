"""The critic of section 3 of the paper: the process that made the data; it is known, so nothing is fitted."""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.corpora.articles import article_groups, title_chains
from textcritic.corpora.synthetic.process import Process
from textcritic.critics.chains import Chains, ChainsLike
from textcritic.critics.scores import ChainScores, Rejected, reasons_of, scores_table, unread, with_groups
from textcritic.critics.transitions import BEGIN, pooled_ppl
from textcritic.files import read_table, write_table
from textcritic.latents.lookup import Lookup
from textcritic.values import JsonObject

DEFAULT, AS_RELEASED, ANY_LENGTH = "default", "as_released", "any length"


@dataclass(frozen=True, eq=False)
class KnownProcess:
    """`P_c(z) = prod_m P(z_m | z_{m-1})` with the true transition matrix (paper, section 3).

    A step is one sub-sequence: the first is scored under the initial distribution, and there is no end state. A
    sequence of M sub-sequences has M steps.

    Attributes:
        states: names of the Z states, in the order of the matrix.
        initial: float64 [Z], probabilities of the first state.
        transition: float64 [Z, Z], row i the probabilities of the state after state i.
    """

    kind: ClassVar[str] = "process"

    states: tuple[str, ...]
    initial: npt.NDArray[np.float64]
    transition: npt.NDArray[np.float64]

    @classmethod
    def of(cls, process: Process) -> Self:
        """The critic for a process."""
        return cls(tuple(map(str, range(len(process.transition)))), process.initial, process.transition)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read process.npz; errors as `Process.load`."""
        return cls.of(Process.load(path))

    @cached_property
    def log_probs(self) -> npt.NDArray[np.float64]:
        """`log P(j | i)` in nats: [Z + 1, Z]; row 0 is the begin, row 1 + i state i; -inf where P is 0."""
        with np.errstate(divide="ignore"):
            return np.log(np.vstack([self.initial, self.transition]))

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the rows."""
        return (BEGIN, *self.states)

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.states

    def score(self, ids: Sequence[str] | pa.Array, chains: ChainsLike, rejected: Rejected = ()) -> pa.Table:
        """Score one chain of states a sequence, of whatever length; `nll_soft` is null, the posterior being a point.

        A sequence without sub-sequences, or with a state that the process does not have, is rejected as a whole.

        Args:
            ids: [sequences].
            chains: [sequences] lists of names of states, or a `list<string>` column.
            rejected: (id, why) of sequences that could not be parsed; they are appended.

        Returns:
            Table of schema `SCORES_SCHEMA`; NLL in nats, infinite where the process gives a transition probability 0.
        """
        flat = Chains.of(chains)
        codes = flat.codes(self.states)
        cells, usable = _cells(flat, codes, len(self.states))
        step_nll = (0.0 - self.log_probs).ravel().take(cells)  # a plain minus would write -0.0
        reasons = reasons_of(flat, codes, usable, "state")
        scores = ChainScores(flat, np.where(usable, flat.lengths, 0), step_nll, reasons)
        return scores_table(ids, scores, rejected)

    def transitions(self, scores: pa.Table) -> npt.NDArray[np.int64]:
        """Transitions of the sequences not rejected: int64 [Z + 1, Z], laid out as `log_probs`; for `decompose`."""
        return self.count(scores["chain"].filter(pc.invert(scores["rejected"])))

    def count(self, chains: ChainsLike) -> npt.NDArray[np.int64]:
        """Transitions of chains, as `transitions`; a chain with an unknown state has none."""
        flat = Chains.of(chains)
        cells, _ = _cells(flat, flat.codes(self.states), len(self.states))
        return np.bincount(cells, minlength=self.log_probs.size).reshape(self.log_probs.shape)


def score_sequences(
    process_path: str | os.PathLike[str],
    articles_path: str | os.PathLike[str],
    out_path: str | os.PathLike[str],
    rejected_path: str | os.PathLike[str] | None = None,
) -> pa.Table:
    """Score a file of sequences, whose section titles are the names of states, and write the scores.

    Args:
        process_path: process.npz.
        articles_path: Parquet in the corpus schema.
        out_path: Parquet file to write, in `SCORES_SCHEMA`.
        rejected_path: the sequences that did not parse (id, text, why), which get a row in the scores; None: none.

    Returns:
        The scores.

    Raises:
        TextcriticError: a file is missing or not whole.
    """
    ids, chains = title_chains(articles_path)
    scores = KnownProcess.load(process_path).score(ids, chains, unread(rejected_path))
    scores = with_groups(scores, article_groups(articles_path))
    write_table(out_path, scores)
    return scores


def audit_parsing(
    process_path: str | os.PathLike[str],
    samples: Mapping[str, tuple[str | os.PathLike[str], str | os.PathLike[str]]],
) -> list[JsonObject]:
    """Latent PPL of each sample under three rules for which texts are sequences.

    Switches: `default` (`Lookup.sections`); `as_released` (`Lookup.chains_as_released`); `any length` (as the default,
    with any number of sub-sequences). The released code prints how many sequences it "processed" and how many of these
    were "invalid"; it counts the texts that it leaves out in neither.

    Args:
        process_path: process.npz.
        samples: by name, the files of the kept sequences and of the rejected ones, as `parse_sequences` writes them.

    Returns:
        Rows `switch`, `setting`, `source` (the sample's name), `latent_ppl` (None if infinite or of no sequence),
        `compared_with` ("default"; None for the default itself), `change_percent` against the default of the same
        source (None if either is), `n` sequences scored, `rejected` of those drawn, `processed` and `invalid` as the
        released code counts them (None for the other switches).

    Raises:
        TextcriticError: a file is missing or not whole.
    """
    process = Process.load(process_path)
    critic, lookup = KnownProcess.of(process), Lookup.of(process)
    rows: list[JsonObject] = []
    for source, (kept_path, rejected_path) in samples.items():
        _, kept = title_chains(kept_path)
        counts = critic.count(kept)
        rejected = read_table(rejected_path).select(["text", "why"]).to_pylist()
        default: float | None = None
        for switch, words, more, invalid in _parsings(lookup, rejected):
            ppl = _finite(pooled_ppl(counts + critic.count(more), critic.log_probs))
            row: JsonObject = {"switch": switch, "setting": words, "source": source, "latent_ppl": ppl}
            row |= {"compared_with": None, "change_percent": None}
            if switch == DEFAULT:
                default = ppl
            else:
                change = 100 * (ppl / default - 1) if ppl is not None and default is not None else None
                row |= {"compared_with": DEFAULT, "change_percent": change}
            row |= {"n": len(kept) + len(more), "rejected": len(rejected) - len(more)}
            processed = row["n"] if switch == AS_RELEASED else None
            rows.append({**row, "processed": processed, "invalid": invalid})
    return rows


def _parsings(
    lookup: Lookup, rejected: Sequence[Mapping[str, str]]
) -> Iterator[tuple[str, str, list[list[str | None]], int | None]]:
    """(switch, its setting in words, chains of the rejected texts that it keeps, those of them called invalid)."""
    yield DEFAULT, f"{lookup.steps} known sub-sequences and an end", [], None
    chains, invalid = lookup.chains_as_released(row["text"] for row in rejected)
    yield AS_RELEASED, f"{lookup.steps} known sub-sequences, then anything but another known one", chains, invalid
    # The number of sub-sequences is checked last, so everything else is right if it is the reason.
    other = [lookup.chain(row["text"]) for row in rejected if row["why"] in lookup.wrong_lengths]
    yield ANY_LENGTH, "any number of known sub-sequences and an end", other, None


def _cells(
    chains: Chains, codes: npt.NDArray[np.int32], num_states: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Cells of `log_probs` (source * Z + target) of the usable sequences' steps, in order; and which these are.

    `codes` are the states of all steps, -1 where unknown; a sequence is usable if it has states and all are known.
    """
    sequence = np.repeat(np.arange(len(chains.lengths)), chains.lengths)
    unknown = np.bincount(sequence[codes < 0], minlength=len(chains.lengths))
    usable = (chains.lengths > 0) & (unknown == 0)
    sources = np.zeros(len(codes), dtype=np.int64)
    sources[1:] = codes[:-1] + 1
    sources[(np.cumsum(chains.lengths) - chains.lengths)[chains.lengths > 0]] = 0
    return (sources * num_states + codes)[np.repeat(usable, chains.lengths)], usable


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
