"""Coreference in a study: its files, and the checks before anything runs."""

from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.experiments.coreference.block import CoreferenceBlock
from textcritic.experiments.coreference.files import Annotated, CoreferenceFiles, RealText, Sample
from textcritic.plan.checks.corpora import MENTIONS
from textcritic.plan.entries import Entry, Mentions
from textcritic.plan.experiment import Experiment
from textcritic.plan.latent_sources import check_latent
from textcritic.plan.registries import WITHOUT_EFFECT, Registries, download_of
from textcritic.plan.sources import Source, decodings_of, drawn, real_scores
from textcritic.plan.spec import SCHEMAS

BASELINE = "nearest"
"""The entry of the resolvers registry that every other resolver should beat."""


class Coreference(Experiment[CoreferenceBlock]):
    """Latent PPL of chains of mentions under an n-gram critic (model criticism paper, section 5)."""

    kind = "coreference"
    version = 3
    critic_kind = "mentions"
    tables = (
        "coreference",
        "coreference-shares",
        "coreference-unlikely",
        "coreference-ngrams",
        "coreference-ratios",
        "coreference-decomposition",
        "coreference-power",
        "coreference-audit",
        "coreference-resolvers",
        "coreference-resolver-error",
    )
    figures_read = ("coreference", "coreference-power")

    def check(self) -> None:
        """As `Experiment.check`; also checks that the resolver's files, annotated texts, and the baseline are there."""
        super().check()
        if self.block.annotated:
            self.registries.entry("resolvers", BASELINE)
        self._check_files("resolvers", resolver_of(self.block.critic, self.registries))
        for annotation in self.block.annotated:
            self._check_files("annotations", annotation)

    def check_source(self, source: Source, where: str) -> None:
        """As `check`; corpora of marked mentions, and latent language models as their generators, are allowed too."""
        if self.registries.entry("corpora", source.corpus).extractor == MENTIONS:
            check_latent(source, self.registries, where)
        else:
            super().check_source(source, where)

    def uses(self) -> list[tuple[str, str]]:
        """The entries that the block names, and the baseline that the resolver is compared with on annotated text."""
        return [*super().uses(), *([("resolvers", BASELINE)] if self.block.annotated else [])]

    def files(self, part: str | None = None) -> CoreferenceFiles:
        """Mentions and scores of real text and of the samples compared."""
        corpora, sources = self.compared(part)
        critic = self.block.critic
        entry = self.registries.of_kind("critics", critic, Mentions)
        resolver = self.registries.entry("resolvers", entry.resolver)
        annotated = self.block.annotated if part is None else ()
        return CoreferenceFiles(
            data=tuple(self._real(corpus, whole=part is None) for corpus in corpora),
            samples=tuple(self._sample(source, whole=part is None) for source in sources),
            annotated=tuple(map(self._annotated, annotated)),
            measured=None if annotated or part is not None else self._measured(),
            resolver={"name": entry.resolver, **_deciding(resolver)},
            critic={"name": critic, **_deciding(entry)},
            decodings=decodings_of(sources, self.registries),
            resamples=self.config.resamples,
            report_articles=self.config.report_articles,
        )

    def real_mentions(self, corpus: str) -> str:
        """The mentions of the test split of a corpus."""
        return mentions(self.block.critic, corpus, "data/test", self.registries)

    def fitted(self, corpus: str) -> str:
        """The critic that is fitted on a corpus."""
        return f"results/critics/{self.block.critic}/{corpus}/critic.npz"

    def chains_spec(self) -> str:
        """The part of the critic's entry that decides its chains, as a rule's parameter."""
        return self.registries.spec("critics", self.block.critic, "kind", "resolver", "chains")

    def _check_files(self, registry: str, name: str) -> None:
        """Check that an entry's files and its language are there, except those that are downloaded."""
        entry = self.registries.entry(registry, name)
        for key, paths in (("files", getattr(entry, "files", [])), ("language", language_file(entry))):
            for path in paths:
                if download_of(path) is None and self.registries.lacks(path):
                    raise TextcriticError(
                        f"{self.registries.where(registry, name)}: {key}: {path}: no such file, relative to the "
                        "working directory"
                    )

    def _real(self, corpus: str, whole: bool) -> RealText:
        critic = self.block.critic
        return RealText(
            **real_scores(corpus, critic),
            critic=Path(self.fitted(corpus)),
            training=Path(f"results/critics/{critic}/{corpus}/training.json"),
            mentions=Path(self.real_mentions(corpus)),
            variants=self._variants(corpus, "data/test", whole),
            power=self.block.power.file(self.folder, corpus) if whole else None,
        )

    def _sample(self, source: Source, whole: bool) -> Sample:
        critic = self.block.critic
        return Sample(
            **drawn(source, critic, self.registries),
            mentions=Path(mentions(critic, source.corpus, source.under("samples"), self.registries)),
            variants=self._variants(source.corpus, source.under("samples"), whole),
        )

    def _annotated(self, annotation: str) -> Annotated:
        critic = self.block.critic
        resolver = resolver_of(critic, self.registries)
        others = resolver != BASELINE
        return Annotated(
            name=annotation,
            quality=Path(f"results/quality/{resolver}/{annotation}.json"),
            baseline=Path(f"results/quality/{BASELINE}/{annotation}.json") if others else None,
            error=Path(f"results/quality/{critic}/{annotation}.error.json"),
        )

    def _measured(self) -> Path:
        """The earlier measurements of resolvers: the user's file, or the one that ships."""
        own = Path("config/measured/resolvers.csv")
        return own if (self.registries.here / own).is_file() else SCHEMAS.parent / "measured/resolvers.csv"

    def _variants(self, corpus: str, tail: str, whole: bool) -> Path | None:
        """Scores under the variants of the critic; no numbered table shows them."""
        wanted = whole and self.block.variants
        return Path(f"results/variants/{self.block.critic}/{corpus}/{tail}.parquet") if wanted else None


def mentions(critic: str, corpus: str, tail: str, registries: Registries) -> str:
    """The mentions that a critic reads."""
    return f"results/mentions/{resolver_of(critic, registries)}/{corpus}/{tail}.parquet"


def resolver_of(critic: str, registries: Registries) -> str:
    """The name of a critic's resolver."""
    return registries.of_kind("critics", critic, Mentions).resolver


def annotated_files(annotation: str, registries: Registries) -> list[str]:
    """The files of annotated text, and the file of its language, if the user defines it."""
    entry = registries.entry("annotations", annotation)
    return [*entry.files, *language_file(entry)]


def resolver_spec(critic: str, registries: Registries) -> str:
    """The canonical string of the entry of a critic's resolver."""
    return registries.spec("resolvers", resolver_of(critic, registries))


def given_mentions(resolver: str, registries: Registries) -> list[str]:
    """The files that a resolver takes mentions from, if any, and the file of its language, if the user defines it."""
    entry = registries.entry("resolvers", resolver)
    return [*getattr(entry, "files", []), *language_file(entry)]


def language_file(entry: Entry) -> list[str]:
    """The file of the language of a resolver or an annotated text; none for English, which ships."""
    language = getattr(entry, "language", "en")
    return [] if language == "en" else [language]


def _deciding(entry: Entry) -> dict[str, object]:
    return {key: value for key, value in entry.plain().items() if key not in WITHOUT_EFFECT}
