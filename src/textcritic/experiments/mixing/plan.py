"""Mixed languages in a study: their files, and the checks before anything runs."""

from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.experiments.mixing.block import MixingBlock
from textcritic.experiments.mixing.files import Known, MixingFiles, RealText, Sample
from textcritic.plan.checks.corpora import LANGUAGES, PARALLEL, is_parallel
from textcritic.plan.checks.sources import check_fairseq, check_supported, reads_of
from textcritic.plan.entries import Fairseq
from textcritic.plan.entries.encodings import SUBWORDS
from textcritic.plan.experiment import Experiment
from textcritic.plan.registries import Registries
from textcritic.plan.sources import Source, decodings_of, drawn, entries_of, fitted_model, measured, real_scores

GENERATORS = ("fairseq", "file")


class Mixing(Experiment[MixingBlock]):
    """Whether translations keep to one language (model criticism paper, appendix C)."""

    kind = "mixing"
    critic_kind = "lda"
    version = 2
    tables = ("mixing", "mixing-pairs", "mixing-languages", "mixing-words", "mixing-power")
    figures_read = ("mixing", "mixing-languages", "mixing-power")

    def check(self) -> None:
        """As `Experiment.check`; also checks that corpora of known mixing are artificial languages."""
        super().check()
        for corpus in self.block.known:
            extractor = self.registries.entry("corpora", corpus).extractor
            if extractor != LANGUAGES:
                raise TextcriticError(
                    f"{self.where}: known: {corpus} has the extractor {extractor}; name a corpus with the extractor"
                    f" {LANGUAGES}"
                )

    def check_source(self, source: Source, where: str) -> None:
        """See that a source is translations of a parallel corpus."""
        _check_translations(source, self.registries, where)

    def files(self, part: str | None = None) -> MixingFiles:
        """Posteriors and scores of real translations and of the samples compared."""
        corpora, sources = self.compared(part)
        return MixingFiles(
            data=tuple(self._real(corpus) for corpus in corpora),
            samples=tuple(self._sample(source) for source in sources),
            known=tuple(self._known_corpus(corpus) for corpus in self.block.known) if part is None else (),
            decodings=decodings_of(sources, self.registries),
            resamples=self.config.resamples,
            report_articles=self.config.report_articles,
            words=self.block.words,
        )

    def _real(self, corpus: str) -> RealText:
        critic = self.block.critic
        return RealText(
            **real_scores(corpus, critic),
            **fitted_model(corpus, critic),
            posteriors=Path(f"results/topics/{critic}/{corpus}/data/test.npz"),
        )

    def _sample(self, source: Source) -> Sample:
        critic = self.block.critic
        posteriors = source.under(f"results/topics/{critic}/{source.corpus}/samples")
        return Sample(
            **drawn(source, critic, self.registries),
            posteriors=Path(f"{posteriors}.npz"),
            **measured(source, self.registries),
        )

    def _known_corpus(self, corpus: str) -> Known:
        measured_on = f"results/mixing/{self.block.critic}/{corpus}.power"
        return Known(corpus=corpus, power=Path(f"{measured_on}.parquet"), summary=Path(f"{measured_on}.json"))


def _check_translations(source: Source, registries: Registries, where: str) -> None:
    """See that a source is translations of a parallel corpus, by a generator that makes such."""
    corpus, generator, decoding = entries_of(source, registries)
    name = f"{where}: {source.generator}"
    if not is_parallel(corpus):
        raise TextcriticError(
            f"{where}: {source.corpus} has the extractor {corpus.extractor}; name a parallel corpus, whose "
            f"extractor is one of {', '.join(PARALLEL)}"
        )
    if generator.kind not in GENERATORS:
        raise TextcriticError(
            f"{name} is of kind {generator.kind}; translations come from the kinds {' and '.join(GENERATORS)}"
        )
    if isinstance(generator, Fairseq) and reads_of(generator, registries) != SUBWORDS:
        raise TextcriticError(
            f"{name} has the encoding {generator.encoding}; on the parallel corpus {source.corpus} it must be one"
            f" whose tokenizer is {SUBWORDS}"
        )
    if generator.kind == "fairseq":
        check_fairseq(source, registries, where)
    check_supported(source, generator, decoding, where)
