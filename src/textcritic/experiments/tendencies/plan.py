"""Statistical tendencies in a study: which files they are made of, and what is checked before anything runs."""

from pathlib import Path

from textcritic.experiments.tendencies.files import RealText, Sample, TendenciesFiles
from textcritic.plan.experiment import Experiment
from textcritic.plan.sources import (
    Source,
    check_critic,
    check_labels,
    check_text,
    decodings_of,
    drawn,
    measured,
)

COUNTING = ("tokenizer", "lower_case", "stop_words", "ranks", "draws", "window")


class Tendencies(Experiment):
    """Whether samples keep to the statistical tendencies of real text (Meister and Cotterell 2021)."""

    kind = "tendencies"
    tables = (
        "tendencies",
        "tendencies-values",
        "tendencies-distances",
        "tendencies-means",
        "tendencies-audit",
        "tendencies-sizes",
    )
    figures_read = ("tendencies", "tendencies-values", "tendencies-distances", "tendencies-means")

    def check(self) -> None:
        """See that sources are documents of text and the critic counts tendencies."""
        check_critic(self.block["critic"], "tendencies", self.registries, f"{self.where}: critic")
        for source in self.sources():
            check_text(source, self.registries, f"{self.where}: sources")
        check_labels(self.sources(), self.registries, f"{self.where}: sources")

    def files(self, part: str | None = None) -> TendenciesFiles:
        """Statistics of real text and of the samples compared."""
        corpora, sources = self.compared(part)
        entry = self.registries.entry("critics", self.block["critic"])
        return TendenciesFiles(
            data=tuple(self._real(corpus) for corpus in corpora),
            samples=tuple(self._sample(source) for source in sources),
            options={key: entry[key] for key in COUNTING},
            decodings=decodings_of(sources, self.registries),
        )

    def _real(self, corpus: str) -> RealText:
        base = f"results/tendencies/{self.block['critic']}/{corpus}/data/test"
        return RealText(corpus=corpus, scores=Path(f"{base}.json"), curves=Path(f"{base}.curves.parquet"))

    def _sample(self, source: Source) -> Sample:
        base = source.under(f"results/tendencies/{self.block['critic']}/{source.corpus}/samples")
        of_source = drawn(source, self.block["critic"], self.registries) | {"scores": Path(f"{base}.json")}
        return Sample(**of_source, curves=Path(f"{base}.curves.parquet"), **measured(source, self.registries))
