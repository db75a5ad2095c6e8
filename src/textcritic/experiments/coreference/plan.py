"""Coreference in a study: which files it is made of, and what is checked before anything runs."""

import json
from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.experiments.coreference.files import CoreferenceFiles, RealText, Sample
from textcritic.plan.experiment import Experiment
from textcritic.plan.registries import WITHOUT_EFFECT, Registries, download_of
from textcritic.plan.sources import Source, check_critic, check_labels, check_text, decodings_of, drawn


class Coreference(Experiment):
    """Latent PPL of chains of mentions under an n-gram critic (model criticism paper, section 5)."""

    kind = "coreference"
    tables = (
        "coreference",
        "coreference-shares",
        "coreference-unlikely",
        "coreference-ngrams",
        "coreference-ratios",
        "coreference-power",
        "coreference-audit",
    )
    figures_read = ("coreference", "coreference-power")

    def check(self) -> None:
        """See that sources are text, that the critic reads mentions, and that its resolver's files are there."""
        critic = self.block["critic"]
        check_critic(critic, "mentions", self.registries, f"{self.where}: critic")
        for source in self.sources():
            check_text(source, self.registries, f"{self.where}: sources")
        check_labels(self.sources(), self.registries, f"{self.where}: sources")
        resolver = self.registries.entry("critics", critic)["resolver"]
        for path in given_mentions(resolver, self.registries):
            if download_of(path) is None and not (self.registries.here / path).is_file():
                raise TextcriticError(
                    f"config/registry/resolvers.yaml: {resolver}: files: {path}: no such file, relative to the working"
                    " directory"
                )

    def files(self, part: str | None = None) -> CoreferenceFiles:
        """Mentions and scores of real text and of the samples compared."""
        corpora, sources = self.compared(part)
        critic = self.block["critic"]
        entry = self.registries.entry("critics", critic)
        resolver = self.registries.entry("resolvers", entry["resolver"])
        return CoreferenceFiles(
            data=tuple(self._real(corpus, whole=part is None) for corpus in corpora),
            samples=tuple(self._sample(source, whole=part is None) for source in sources),
            annotated=(),
            measured=None,
            resolver={"name": entry["resolver"], **_deciding(resolver)},
            critic={"name": critic, **_deciding(entry)},
            decodings=decodings_of(sources, self.registries),
            resamples=self.config["resamples"],
            report_articles=self.config["report_articles"],
        )

    def real_mentions(self, corpus: str) -> str:
        """The mentions of the test split of a corpus."""
        return mentions(self.block["critic"], corpus, "data/test", self.registries)

    def fitted(self, corpus: str) -> str:
        """The critic that is fitted on a corpus."""
        return f"results/critics/{self.block['critic']}/{corpus}/critic.npz"

    def chains_spec(self) -> str:
        """What of the critic's entry decides its chains, as a rule's parameter."""
        return self.registries.spec("critics", self.block["critic"], "kind", "resolver", "chains")

    def power_options(self) -> str:
        """The block's key `power`, as a rule's parameter."""
        return json.dumps(self.block["power"], sort_keys=True)

    def _real(self, corpus: str, whole: bool) -> RealText:
        critic, power = self.block["critic"], self.block["power"]
        tried = whole and power["shares"] and power["articles"]
        return RealText(
            corpus=corpus,
            critic=Path(self.fitted(corpus)),
            training=Path(f"results/critics/{critic}/{corpus}/training.json"),
            mentions=Path(self.real_mentions(corpus)),
            scores=Path(f"results/scores/{critic}/{corpus}/data/test.parquet"),
            articles=Path(f"results/corpora/{corpus}/test.parquet"),
            variants=self._variants(corpus, "data/test", whole),
            power=Path(f"{self.folder}/power/{corpus}.parquet") if tried else None,
        )

    def _sample(self, source: Source, whole: bool) -> Sample:
        critic = self.block["critic"]
        return Sample(
            **drawn(source, critic, self.registries),
            mentions=Path(mentions(critic, source.corpus, source.under("samples"), self.registries)),
            variants=self._variants(source.corpus, source.under("samples"), whole),
        )

    def _variants(self, corpus: str, tail: str, whole: bool) -> Path | None:
        """Scores under the variants of the critic; no numbered table shows them."""
        wanted = whole and self.block["variants"]
        return Path(f"results/variants/{self.block['critic']}/{corpus}/{tail}.parquet") if wanted else None


def mentions(critic: str, corpus: str, tail: str, registries: Registries) -> str:
    """The mentions that a critic reads."""
    return f"results/mentions/{registries.entry('critics', critic)['resolver']}/{corpus}/{tail}.parquet"


def resolver_spec(critic: str, registries: Registries) -> str:
    """The canonical string of the entry of a critic's resolver."""
    return registries.spec("resolvers", registries.entry("critics", critic)["resolver"])


def given_mentions(resolver: str, registries: Registries) -> list[str]:
    """The files that a resolver takes mentions from, if it does, and the file of its language, if that is one's own."""
    entry = registries.entry("resolvers", resolver)
    language = entry.get("language", "en")
    return [*entry.get("files", []), *([language] if language.endswith(".yaml") else [])]


def _deciding(entry: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in entry.items() if key not in WITHOUT_EFFECT}
