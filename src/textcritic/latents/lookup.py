"""Posterior by look-up: the states of a sequence of the synthetic process, read off its sub-sequences.

Every sub-sequence belongs to one state (paper, section 3), so the posterior of a text that the process can emit is a
single chain of states. A text that it cannot emit has no posterior: it is rejected, and counted by reason.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from textcritic.corpora import MalformedArticle, Section
from textcritic.corpora.synthetic.process import DELIMITER, Process
from textcritic.generators.collect import Limit, SampleFiles, articles_by, collect_draws

EMPTY = "empty"
UNKNOWN_SYMBOL = "unknown symbol"
UNKNOWN = "unknown sub-sequence"
UNFINISHED = "text after the last delimiter"


def parse_sequences(
    shards: Sequence[str | os.PathLike[str]],
    process_path: str | os.PathLike[str],
    max_tokens: int,
    generator: str,
    out_path: str | os.PathLike[str],
    rejected_path: str | os.PathLike[str],
    counts_path: str | os.PathLike[str],
) -> dict[str, object]:
    """Parse the draws of all shards into articles with a section a sub-sequence: `title` its state, `text` its letters.

    A draw is rejected as "no end within N tokens", or for the first reason that `Lookup.sections` finds. If every draw
    is rejected, which is what a model that has learnt nothing comes to, the sample is empty and the log has a warning.

    Args:
        shards: Parquet files of raw draws.
        process_path: process.npz.
        max_tokens: N of the decoding.
        generator: name that ids and sources are made from.
        out_path: sample to write, a Parquet file in the corpus schema.
        rejected_path: rejected texts to write, a Parquet file: id, text, why.
        counts_path: JSON file to write.

    Returns:
        what was written to `counts_path`: `drawn`, `kept`, `rejected` (reason to number), `tokens` (drawn in all).

    Raises:
        TextcriticError: a shard or the process is missing or not whole, or an index occurs twice.
    """
    lookup = Lookup.of(Process.load(process_path))
    files = SampleFiles(out_path, rejected_path, counts_path)
    form = articles_by(lambda draw: (None, lookup.sections(draw.text)), generator)
    return collect_draws(shards, form, Limit(max_tokens), generator, files, advice=None)


@dataclass(frozen=True)
class Lookup:
    """The states of sub-sequences.

    Attributes:
        known: each sub-sequence, by its letters (delimiter not included), as a section whose title is its state's name.
        steps: M, the sub-sequences of a sequence.
        symbols: the letters of the process, and the delimiter.
    """

    known: dict[str, Section]
    steps: int
    symbols: frozenset[str]

    @classmethod
    def of(cls, process: Process) -> "Lookup":
        """The look-up of a process."""
        known = {letters: Section(str(state), letters) for letters, state in process.state_of.items()}
        return cls(known, process.steps, frozenset(process.letters + DELIMITER))

    def sections(self, text: str) -> tuple[Section, ...]:
        """One section a sub-sequence of a text that is M known sub-sequences, a delimiter behind each, and no more.

        Raises:
            MalformedArticle: with the first of these reasons: "empty"; "unknown symbol", a character that is not a
                letter of the process; "unknown sub-sequence" before some delimiter; "text after the last delimiter";
                "fewer than M sub-sequences", "more than M sub-sequences".
        """
        if not text:
            raise MalformedArticle(EMPTY)
        if not self.symbols.issuperset(text):
            raise MalformedArticle(UNKNOWN_SYMBOL)
        *pieces, rest = text.split(DELIMITER)
        sections = tuple(self.known[piece] for piece in pieces if piece in self.known)
        if len(sections) < len(pieces):
            raise MalformedArticle(UNKNOWN)
        if rest:
            raise MalformedArticle(UNFINISHED)
        if len(sections) != self.steps:
            raise MalformedArticle(self.wrong_lengths[len(sections) > self.steps])
        return sections

    @property
    def wrong_lengths(self) -> tuple[str, str]:
        """The reasons for too few and for too many sub-sequences."""
        return f"fewer than {self.steps} sub-sequences", f"more than {self.steps} sub-sequences"

    def chain(self, text: str) -> list[str | None]:
        """The states of a text up to its first unknown sub-sequence; the text after the last delimiter is ignored."""
        pieces = text.split(DELIMITER)[:-1]
        return [self.known[piece].title for piece in takewhile(self.known.__contains__, pieces)]

    def chains_as_released(self, texts: Iterable[str]) -> tuple[list[list[str | None]], int]:
        """The chains that the paper's released code keeps of some texts, and how many of these it counts as invalid.

        It reads a text as `chain` does, and keeps the text if it has then read M sub-sequences; such a text is
        "invalid" if an unknown sub-sequence follows. All others are left out and not counted: "processed" is the
        number of texts that are kept.
        """
        kept, invalid = [], 0
        for text in texts:
            states = self.chain(text)
            if len(states) == self.steps:
                kept.append(states)
                invalid += text.count(DELIMITER) > self.steps
        return kept, invalid
