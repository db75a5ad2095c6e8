"""Statistics of corpora in a study: their files."""

from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.experiments.corpora.block import CorporaBlock
from textcritic.experiments.corpora.files import CorporaFiles, Corpus
from textcritic.plan.checks.corpora import WIKIPEDIA, WIKIPEDIA_LINES, is_parallel, is_structured, is_text
from textcritic.plan.experiment import Experiment


class Corpora(Experiment[CorporaBlock]):
    """What corpora contain, and what was left out of them (model criticism paper, Table 11)."""

    kind = "corpora"
    version = 5
    tables = ("statistics", "left-out", "shared-text", "extraction-audit")

    def check(self) -> None:
        """See that the corpora are text, which has sections."""
        for corpus in self.corpora():
            entry = self.registries.entry("corpora", corpus)
            if is_parallel(entry):
                raise TextcriticError(f"{self.where}: corpora: {corpus} is a parallel corpus and has no sections")
            if is_structured(entry):
                raise TextcriticError(f"{self.where}: corpora: {corpus} is tokens with a structure, without sections")
            if not is_text(entry):
                raise TextcriticError(f"{self.where}: corpora: {corpus} is a synthetic process and has no sections")

    def corpora(self) -> list[str]:
        """Those of the block; there are no samples."""
        return list(dict.fromkeys(self.block.corpora))

    def files(self, part: str | None = None) -> CorporaFiles:
        """The statistics of each corpus compared, and what its splits share; no numbered table needs the audits."""
        corpora, _ = self.compared(part)
        return CorporaFiles(data=tuple(self._corpus(corpus, audited=part is None) for corpus in corpora))

    def _corpus(self, name: str, audited: bool) -> Corpus:
        folder = Path("results/corpora") / name
        dump = self.registries.entry("corpora", name).extractor in (WIKIPEDIA, WIKIPEDIA_LINES)
        return Corpus(
            corpus=name,
            statistics=folder / "statistics.json",
            overlap=folder / "overlap.json",
            audit=folder / "audit.json" if dump and audited else None,
        )
