"""Coherence in a study: its files, and the checks before anything runs."""

from dataclasses import asdict, replace
from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.experiments.coherence.block import CoherenceBlock
from textcritic.experiments.coherence.files import CoherenceFiles, RealText, Sample
from textcritic.plan.checks.sources import check_critic, check_labels, check_runs, check_text
from textcritic.plan.entries import GivenTitles, Transitions
from textcritic.plan.experiment import Experiment
from textcritic.plan.registries import Registries
from textcritic.plan.sources import Source, decodings_of, drawn, measured, sources_of


class Coherence(Experiment[CoherenceBlock]):
    """Latent PPL of chains of section titles (model criticism paper, section 4)."""

    kind = "coherence"
    critic_kind = "transitions"
    version = 4
    tables = (
        *("coherence", "perplexity", "titles", "variance", "decomposition", "transition-errors", "repetition-rates"),
        *("repetitions", "classifier", "power", "audit"),
    )
    figures_read = ("coherence", "power")

    def check(self) -> None:
        """Check that sources are text with the titles that the critic needs, and that audit samples have a base."""
        critic = self.block.critic
        check_critic(critic, self.critic_kind, self.registries, f"{self.where}: critic")
        audits = {"audit": sources_of(self.block.audit), "costly_audit": self.costly_sources()}
        for key, sources in {"sources": self._compared(), **audits}.items():
            for source in sources:
                check_text(source, self.registries, f"{self.where}: {key}")
                self._check_titles(source, f"{self.where}: {key}")
        for key, sources in audits.items():
            self._check_audit(key, sources)
        check_labels(self._compared(), self.registries, f"{self.where}: sources")
        check_runs(self.sources(), self.registries, f"{self.where}: sources")

    def sources(self) -> list[Source]:
        """The sources that are compared, and the audit's samples."""
        return list(dict.fromkeys([*self._compared(), *self._audit()]))

    def costly_sources(self) -> list[Source]:
        """The sources of the key `costly_audit`."""
        return sources_of(self.block.costly_audit)

    def files(self, part: str | None = None) -> CoherenceFiles:
        """Scores and posteriors of real text and of the samples compared; the audit's only if `part` is None."""
        corpora, sources = self.compared(part)
        audit = self._audit() if part is None else []
        compared = [source for source in sources if source in self._compared()]
        return CoherenceFiles(
            data=tuple(self._real(corpus) for corpus in corpora),
            samples=tuple(self._sample(source) for source in compared),
            audit_samples=tuple(self._sample(source) for source in audit),
            undrawn=() if part or self.config.audits else tuple(map(asdict, self.costly_sources())),
            decodings=decodings_of([*compared, *audit], self.registries),
            resamples=self.config.resamples,
            report_articles=self.config.report_articles,
            power=self.block.power.plain() if part is None else None,
        )

    def _compared(self) -> list[Source]:
        return sources_of(self.block.sources)

    def _audit(self) -> list[Source]:
        return sources_of([*self.block.audit, *(self.block.costly_audit if self.config.audits else [])])

    def _check_titles(self, source: Source, where: str) -> None:
        critic = self.block.critic
        if titles_are_given(critic, self.registries) and source.setting != "w-title":
            raise TextcriticError(
                f"{where}: {source.generator} {source.setting} has no titles in its text, and the critic {critic} uses"
                " given titles; its setting must be w-title"
            )

    def _check_audit(self, key: str, sources: list[Source]) -> None:
        bases = {replace(source, decoding="") for source in self._compared()}
        for source in sources:
            if replace(source, decoding="") not in bases:
                raise TextcriticError(
                    f"{self.where}: {key}: {source.generator} {source.setting} on {source.corpus}, seed {source.seed},"
                    f" draw {source.draw}, is not among the sources; it is compared with the same at another decoding"
                )

    def _real(self, corpus: str) -> RealText:
        critic = self.block.critic
        scores = Path(f"results/scores/{critic}/{corpus}/data")
        accuracy = accuracy_of(critic, corpus, self.registries)
        return RealText(
            corpus=corpus,
            critic=Path(f"results/critics/{critic}/{corpus}/critic.json"),
            accuracy=Path(accuracy) if accuracy else None,
            gold=scores / "test-gold.parquet",
            inferred=scores / "test-inferred.parquet",
            articles=Path(f"results/corpora/{corpus}/test.parquet"),
            latents=Path(latents(critic, corpus, "data/test", self.registries)),
            train=Path(f"results/corpora/{corpus}/train.parquet"),
            labelled=Path(latents(critic, corpus, "data/validation", self.registries)) if accuracy else None,
        )

    def _sample(self, source: Source) -> Sample:
        critic = self.block.critic
        posteriors = latents(critic, source.corpus, source.under("samples"), self.registries)
        return Sample(
            **drawn(source, critic, self.registries), **measured(source, self.registries), latents=Path(posteriors)
        )


def latents(critic: str, corpus: str, tail: str, registries: Registries) -> str:
    """The section posteriors that a critic reads."""
    return f"results/latents/{classifier_of(critic, registries)}/{corpus}/{tail}.parquet"


def classifier_of(critic: str, registries: Registries) -> str:
    """The name of a critic's classifier."""
    return registries.of_kind("critics", critic, Transitions).classifier


def titles_are_given(critic: str, registries: Registries) -> bool:
    """Whether a critic takes the titles that come with the text."""
    return isinstance(registries.entry("classifiers", classifier_of(critic, registries)), GivenTitles)


def accuracy_of(critic: str, corpus: str, registries: Registries) -> str | None:
    """The file with the accuracy of a critic's classifier on a corpus; None if titles are given."""
    if titles_are_given(critic, registries):
        return None
    return f"results/classifiers/{corpus}/{classifier_of(critic, registries)}/accuracy.json"
