"""What the sources of a known process are called, and the columns that identify them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from textcritic.report.inputs import ProcessFiles, Synthetic
from textcritic.report.sources import KEYS, Names

EXACT, TEST = "process-exact", "process-test"
WORDS = {EXACT: "the process, exactly", TEST: "test sequences"}


def process_keys(files: ProcessFiles, source: str) -> dict[str, Any]:
    """The key columns of a row about a process (`EXACT`) or about the sequences drawn from it for testing (`TEST`)."""
    return dict(zip(KEYS, (files.corpus, source, "", "data", "", None), strict=True))


@dataclass(frozen=True, slots=True)
class ProcessNames:
    """Names of the sources of a study's processes.

    The corpus is named where there are several processes, the decoding where a generator has several.
    """

    names: Names
    several: bool

    @classmethod
    def of(cls, synthetic: Synthetic) -> "ProcessNames":
        """Names for the processes of a study and for the samples beside them."""
        pairs = {(sample.generator, sample.decoding) for sample in synthetic.samples}
        uses = Counter(generator for generator, _ in pairs)
        decoded = frozenset(generator for generator, number in uses.items() if number > 1)
        return cls(replace(Names.of(synthetic.samples), decoded=decoded), len(synthetic.processes) > 1)

    def source(self, row: Mapping[str, Any], *, corpus: bool = True, decoding: bool = True, seed: bool = True) -> str:
        """A source in words: `transformer`, `HSMM, sequences-given, seed 2`, `test sequences`.

        Args:
            row: with the columns `KEYS`.
            corpus: whether to name the process, if the study has several.
            decoding: whether to name the decoding, if the generator has several.
            seed: whether to name the seed, if the study has several for this sample.
        """
        start = f"{row['corpus']}: " if corpus and self.several else ""
        if row["generator"] == "data":
            return start + WORDS[row["source"]]
        return start + self.names.source(row, corpus=False, setting=False, decoding=decoding, seed=seed)
