"""Statistical tendencies in a study: their files, and the checks before anything runs."""

from collections.abc import Iterator
from pathlib import Path

from textcritic.experiments.tendencies.block import TendenciesBlock
from textcritic.experiments.tendencies.files import Model, RealText, Sample, TendenciesFiles
from textcritic.plan.entries import Causal, Fairseq
from textcritic.plan.entries import Tendencies as Critic
from textcritic.plan.entries.encodings import WORDS
from textcritic.plan.experiment import Experiment
from textcritic.plan.sources import (
    Source,
    drawn,
    from_file,
    label_of,
    measured,
)

# Parts about generators, parts that show documents, and parts about real text only, which need no sample.
MODELS, SAMPLES, REAL_ALONE = "models", "samples", ("real", "unigrams-and-lengths")
COUNTING = ("tokenizer", "lower_case", "stop_words", "ranks", "draws", "window")


class Tendencies(Experiment[TendenciesBlock]):
    """Whether samples keep to the statistical tendencies of real text (Meister and Cotterell 2021)."""

    kind = "tendencies"
    critic_kind = "tendencies"
    version = 2
    tables = (
        "tendencies",
        "tendencies-values",
        "tendencies-distances",
        "tendencies-means",
        "tendencies-audit",
        "tendencies-sizes",
    )
    figures_read = ("tendencies",)

    def files(self, part: str | None = None) -> TendenciesFiles:
        """Statistics of real text and of the samples compared."""
        corpora, sources = self.compared(part)
        of = None if part is None else self.parts[part].of
        entry = self.registries.of_kind("critics", self.block.critic, Critic)
        compared = [] if of in (*REAL_ALONE, MODELS) else sources
        return TendenciesFiles(
            data=() if of == MODELS else tuple(self._real(corpus, of == SAMPLES) for corpus in corpora),
            samples=tuple(self._sample(source) for source in compared),
            options={key: getattr(entry, key) for key in COUNTING},
            models=tuple(self._models(sources)) if of == MODELS else (),
        )

    def _models(self, sources: list[Source]) -> Iterator[Model]:
        """Each generator once, however often it is drawn from; samples from a file have none."""
        for source in {source.model: source for source in sources if not from_file(source, self.registries)}.values():
            keys = {key: getattr(source, key) for key in ("corpus", "setting", "generator", "seed")}
            label = label_of(source.generator, self.registries)
            yield Model(**keys, label=label, **measured(source, self.registries))

    def _real(self, corpus: str, shown: bool) -> RealText:
        base = f"results/tendencies/{self.block.critic}/{corpus}/data/test"
        articles = Path(f"results/corpora/{corpus}/test.parquet") if shown else None
        curves = Path(f"{base}.curves.parquet")
        return RealText(corpus=corpus, scores=Path(f"{base}.json"), curves=curves, articles=articles)

    def _sample(self, source: Source) -> Sample:
        base = source.under(f"results/tendencies/{self.block.critic}/{source.corpus}/samples")
        of_source = drawn(source, self.block.critic, self.registries) | {"scores": Path(f"{base}.json")}
        return Sample(**of_source, curves=Path(f"{base}.curves.parquet"), vocabulary=self._vocabulary(source))

    def _vocabulary(self, source: Source) -> int | None:
        """Entries of the closed vocabulary of a generator, if its encoding says how many."""
        generator = self.registries.entry("generators", source.generator)
        if not isinstance(generator, Causal | Fairseq):
            return None
        encoding = self.registries.entry("encodings", generator.encoding)
        return encoding.vocabulary if encoding.reads == WORDS else None
