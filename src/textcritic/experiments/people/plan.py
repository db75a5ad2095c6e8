"""What people say, in a study: its files, and the checks before anything runs."""

from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.experiments.coherence.plan import latents, titles_are_given
from textcritic.experiments.people.block import PeopleBlock
from textcritic.experiments.people.files import Beside, PeopleFiles, RealText, Sample
from textcritic.plan.checks.sources import check_critic
from textcritic.plan.entries import Embedder, GeneratorEmbedder, Mauve
from textcritic.plan.entries.parts import FromHub
from textcritic.plan.experiment import Experiment
from textcritic.plan.registries import Registries
from textcritic.plan.sources import Source, decodings_of, drawn, measured

BESIDE = ("ctm", "mentions")
"""Kinds of critics whose score of each document is `nll` in results/scores/{critic}/{corpus}/data/test.parquet."""


class People(Experiment[PeopleBlock]):
    """What people say of articles, and which metric agrees with them (model criticism paper, section 4, appendix H)."""

    kind = "people"
    critic_kind = "transitions"
    version = 2
    tables = (
        *("people-metrics", "people-correlations", "people-orders", "people-differences", "people-agreement"),
        *("people-labels", "people-annotators", "people-articles", "people-planning"),
    )
    figures_read = ("people-metrics",)

    def check(self) -> None:
        """As `Experiment.check`; also checks the kinds of the other critics and that titles are there."""
        super().check()
        critic, mauve = self.block.critic, self.block.mauve
        given = titles_are_given(critic, self.registries)
        if given and any(source.setting != "w-title" for source in self.sources()):
            raise TextcriticError(
                f"{self.where}: sources: the critic {critic} goes by given titles; all settings must be w-title"
            )
        if mauve is not None:
            check_critic(mauve, "mauve", self.registries, f"{self.where}: mauve")
        for name in self.block.beside:
            kind = self.registries.entry("critics", name).kind
            if kind not in BESIDE:
                raise TextcriticError(
                    f"{self.where}: beside: {name} is of kind {kind}; name one of kind {' or '.join(BESIDE)}"
                )

    def files(self, part: str | None = None) -> PeopleFiles:
        """Scores, titles and texts of the sources compared, and the answers."""
        corpora, sources = self.compared(part)
        return PeopleFiles(
            data=tuple(self._real(corpus) for corpus in corpora),
            samples=tuple(self._sample(source) for source in sources),
            decodings=decodings_of(sources, self.registries),
            resamples=self.config.resamples,
            annotations=tuple(Path(path) for path in self.block.annotations),
            embedder=embedder_of(self.block.mauve, self.registries),
        )

    def models(self) -> list[str]:
        """The folders of generators whose hidden states MAUVE compares."""
        return [
            f"results/generators/{corpus}/{entry.setting}/{entry.generator}/seed{entry.seed}/model"
            for entry in self._embedders()
            for corpus in self.corpora()
            if isinstance(entry, GeneratorEmbedder)
        ]

    def _embedders(self) -> list[Embedder]:
        mauve = self.block.mauve
        if mauve is None:
            return []
        return [self.registries.entry("embedders", self.registries.of_kind("critics", mauve, Mauve).embedder)]

    def _real(self, corpus: str) -> RealText:
        critic, mauve = self.block.critic, self.block.mauve
        return RealText(
            corpus=corpus,
            critic=Path(f"results/critics/{critic}/{corpus}/critic.json"),
            scores=Path(f"results/scores/{critic}/{corpus}/data/test-inferred.parquet"),
            articles=Path(f"results/corpora/{corpus}/test.parquet"),
            latents=Path(latents(critic, corpus, "data/test", self.registries)),
            mauve=Path(f"results/scores/{mauve}/{corpus}/data/second.json") if mauve else None,
            beside=self._beside(corpus, "data/test"),
        )

    def _sample(self, source: Source) -> Sample:
        critic, mauve = self.block.critic, self.block.mauve
        tail = source.under("samples")
        return Sample(
            **drawn(source, critic, self.registries),
            latents=Path(latents(critic, source.corpus, tail, self.registries)),
            perplexity=measured(source, self.registries)["perplexity"],
            mauve=Path(f"results/scores/{mauve}/{source.corpus}/{tail}.json") if mauve else None,
            beside=self._beside(source.corpus, tail),
        )

    def _beside(self, corpus: str, tail: str) -> tuple[Beside, ...]:
        names = self.block.beside
        return tuple(Beside(critic=n, scores=Path(f"results/scores/{n}/{corpus}/{tail}.parquet")) for n in names)


def embedder_of(mauve: str | None, registries: Registries) -> str:
    """The model whose hidden states MAUVE compares, in words."""
    if mauve is None:
        return ""
    entry = registries.entry("embedders", registries.of_kind("critics", mauve, Mauve).embedder)
    if isinstance(entry, GeneratorEmbedder):
        return f"{entry.generator}, which was trained on the corpus, so published values are not comparable"
    return entry.init.hub if isinstance(entry.init, FromHub) else entry.init.folder
