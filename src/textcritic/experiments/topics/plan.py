"""Topics in a study: their files, and the checks before anything runs."""

from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.experiments.topics.block import TopicsBlock
from textcritic.experiments.topics.files import Fitted, Sample, TopicsFiles
from textcritic.plan.checks.vocabulary import STOP_LISTS, require_stop_words
from textcritic.plan.entries import Ctm, Lda, Ngram
from textcritic.plan.experiment import Experiment
from textcritic.plan.registries import Registries, download_of
from textcritic.plan.sources import Source, decodings_of, drawn, fitted_model, real_scores

# The files that ctm-c writes for a fitted model.
RELEASED_FILES = ("final-mu.dat", "final-cov.dat", "final-log-beta.dat")


class Topics(Experiment[TopicsBlock]):
    """Latent NLL of documents under a correlated topic model (model criticism paper, section 6)."""

    kind = "topics"
    critic_kind = "ctm"
    version = 3
    tables = ("topics", "topic-words", "topic-outliers", "topic-power")
    figures_read = ("topics", "topic-power")

    def check(self) -> None:
        """As `Experiment.check`; also checks that the files of a model fitted elsewhere and of stop words exist."""
        super().check()
        critic = self.block.critic
        entry = self.registries.of_kind("critics", critic, Ctm)
        for path in [*fitted_files(critic, self.registries), *fitted_words(critic, self.registries)]:
            if self.registries.lacks(path):
                raise TextcriticError(
                    f"{self.registries.where('critics', critic)}: fitted: {path}: no such file, relative to the "
                    "working directory; ctm-c writes it"
                )
        if entry.fitted:
            return
        stop_words = entry.vocabulary.stop_words
        if download_of(stop_words) is None and self.registries.lacks(stop_words):
            try:
                require_stop_words(stop_words, self.registries.here)
            except TextcriticError as error:
                raise TextcriticError(f"{self.registries.where('critics', critic)}: vocabulary: {error}") from error

    def files(self, part: str | None = None) -> TopicsFiles:
        """Posteriors and scores of real text and of the samples compared."""
        corpora, sources = self.compared(part)
        return TopicsFiles(
            data=tuple(self._fitted(corpus, whole=part is None) for corpus in corpora),
            samples=tuple(self._sample(source) for source in sources),
            decodings=decodings_of(sources, self.registries),
            resamples=self.config.resamples,
        )

    def fitted(self, corpus: str) -> str:
        """The folder of the critic that is fitted on a corpus."""
        return f"results/critics/{self.block.critic}/{corpus}"

    def _fitted(self, corpus: str, whole: bool) -> Fitted:
        critic = self.block.critic
        return Fitted(
            **real_scores(corpus, critic),
            **fitted_model(corpus, critic),
            posteriors=Path(f"results/topics/{critic}/{corpus}/data/test.parquet"),
            of_starts=Path(f"results/topics/{critic}/{corpus}/data/test.starts.parquet"),
            power=self.block.power.file(self.folder, corpus) if whole else None,
        )

    def _sample(self, source: Source) -> Sample:
        critic = self.block.critic
        generator = self.registries.entry("generators", source.generator)
        topics = source.under(f"results/topics/{critic}/{source.corpus}/samples")
        return Sample(
            **drawn(source, critic, self.registries),
            posteriors=Path(f"{topics}.parquet"),
            of_starts=Path(f"{topics}.starts.parquet"),
            baseline=isinstance(generator, Ngram) and generator.shuffled,
        )


def fitted_files(critic: str, registries: Registries) -> list[str]:
    """The files of a model that was fitted elsewhere, if the critic is one."""
    entry = registries.entry("critics", critic)
    fitted = entry.fitted if isinstance(entry, Ctm) else None
    return [f"{fitted.folder.rstrip('/')}/{name}" for name in RELEASED_FILES] if fitted else []


def fitted_words(critic: str, registries: Registries) -> list[str]:
    """The file of its words."""
    entry = registries.entry("critics", critic)
    return [entry.fitted.vocabulary] if isinstance(entry, Ctm) and entry.fitted else []


def stop_words(critic: str, registries: Registries) -> list[str]:
    """The file of stop words that a topic model's vocabulary names, if it names one."""
    entry = registries.entry("critics", critic)
    if not isinstance(entry, Ctm | Lda) or (isinstance(entry, Ctm) and entry.fitted):
        return []
    words = entry.vocabulary.stop_words
    return [] if words in STOP_LISTS else [words]
