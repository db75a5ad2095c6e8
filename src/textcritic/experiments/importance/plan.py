"""Importance sampling in a study: its files, and the checks before anything runs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from textcritic.errors import TextcriticError
from textcritic.experiments.importance.block import ImportanceBlock, ImportanceSource
from textcritic.experiments.importance.files import MIXED, Beam, Exact, Filtered, ImportanceFiles, Own, Texts, Weighed
from textcritic.plan.checks.corpora import is_structured
from textcritic.plan.checks.latent import HSMM, LSTM, PROPOSES, STEPWISE, WITH_TEMPERATURE, check_structure
from textcritic.plan.entries import Entry, HsmmProposal
from textcritic.plan.experiment import Experiment
from textcritic.plan.shares import stretches, weighing
from textcritic.plan.sources import Source, label_of


class Importance(Experiment[ImportanceBlock]):
    """The perplexity of latent language models by importance sampling (Logan et al. 2020)."""

    kind = "importance"
    version = 4
    tables = ("estimates", "bounds", "curves", "texts", "settings")
    figures_read = ("estimates", "curves", "texts")

    def check(self) -> None:
        """Check that models and proposals go with their corpora and with each other, and that labels are unique.

        Raises:
            TextcriticError: the first fault; the line names the key.
        """
        for key, number in (("particles", self.block.particles), ("own_texts", self.block.own_texts)):
            if number and 1 not in self.block.temperatures:
                raise TextcriticError(
                    f"{self.where}: {key}: needs the estimates at temperature 1; add 1 to temperatures"
                )
        where = f"{self.where}: sources"
        labels: dict[tuple[str, str], str] = {}
        seen: set[tuple[str, str]] = set()
        for source in self.block.sources:
            pair = (source.corpus, source.generator)
            if pair in seen:
                raise TextcriticError(f"{where}: {pair[1]} on {pair[0]}: named twice; give its proposals in one source")
            seen.add(pair)
            self._check_source(source, where)
            for registry, name in [("generators", pair[1]), *(("proposals", name) for name in _proposals(source))]:
                label = self.registries.label(registry, name)
                if labels.setdefault((registry, label), name) != name:
                    raise TextcriticError(f"{where}: {labels[registry, label]} and {name} have the label {label!r}")

    def sources(self) -> list[Source]:
        """None: no samples are drawn."""
        return []

    def corpora(self) -> list[str]:
        """Those of the sources of the block."""
        return list(dict.fromkeys(source.corpus for source in self.block.sources))

    def check_parts(self) -> None:
        """As `Experiment.check_parts`, with the sources of this kind."""
        pairs = {(source.corpus, source.generator) for source in self.block.sources}
        for part in self.parts.values():
            for corpus in part.corpora:
                if corpus not in self.corpora():
                    raise TextcriticError(f"{self.where}: {part.name}: {corpus} is not among the experiment's corpora")
            for generator in part.generators:
                if generator not in {name for _, name in pairs}:
                    raise TextcriticError(
                        f"{self.where}: {part.name}: {generator} is not among the sources of this experiment"
                    )

    def models(self) -> list[str]:
        """Folders of generators and proposals."""
        return [
            folder
            for source in self.block.sources
            for seed in source.seeds
            for folder in (
                f"results/generators/{source.corpus}/wo-title/{source.generator}/seed{seed}/model",
                *(f"results/proposals/{source.corpus}/{name}/seed{seed}/model" for name in self._trained(source)),
            )
        ]

    def files(self, part: str | None = None) -> ImportanceFiles:
        """Weights, beams and test texts of the sources compared; numbered parts have no mixtures or particles."""
        sources, whole = self._sources(part), part is None
        return ImportanceFiles(
            weighed=tuple(weighed for source in sources for weighed in self._weighed(source, whole)),
            exact=tuple(exact for source in sources for exact in self._exact(source)),
            beams=tuple(beam for source in sources for beam in self._beams(source)),
            filtered=tuple(one for source in sources for one in self._filtered(source) if whole),
            own=tuple(one for source in sources for one in self._own(source) if whole),
            texts=tuple(self._texts(corpus) for corpus in dict.fromkeys(source.corpus for source in sources)),
            repeats=self.block.repeats,
            group=self.block.group,
            resamples=self.config.resamples,
        )

    def _sources(self, part: str | None) -> list[ImportanceSource]:
        """The sources of a numbered part, in its order; of the whole experiment if `part` is None."""
        sources = self.block.sources
        if part is None:
            return sources
        corpora, generators = self.parts[part].corpora, self.parts[part].generators
        if corpora:
            sources = [source for corpus in corpora for source in sources if source.corpus == corpus]
        if generators:
            sources = [source for name in generators for source in sources if source.generator == name]
        return sources

    def _weighed(self, source: ImportanceSource, whole: bool) -> Iterator[Weighed]:
        mixed = whole and self.block.mixture
        drawn = [(name, tau, True) for name in source.proposals for tau in self._temperatures(name, mixed)]
        drawn += [(source.no_peeking, 1, False)] if source.no_peeking else []
        for seed in source.seeds:
            for proposal, temperature, peeks in drawn:
                place = f"t{temperature:g}" if temperature != MIXED else f"mixed/{self._mixed()}"
                folder = Path(_weights(source, proposal, seed)) / place / f"k{self.block.samples}"
                yield Weighed(
                    **self._identity(source, seed),
                    proposal=proposal,
                    drawn_by=self.registries.label("proposals", proposal),
                    temperature=float(temperature),
                    peeks=peeks,
                    shards=tuple(folder / f"{name}.npz" for name in self._stretches(source, temperature == MIXED)),
                )

    def _stretches(self, source: ImportanceSource, mixed: bool) -> list[str]:
        """Which shards a job draws; one shard a job if mixtures are made of the shards of single temperatures."""
        generator, shards = self.registries.entry("generators", source.generator), self.block.shards
        if self.block.mixture and generator.kind != HSMM:
            return [str(shard) for shard in range(shards)]
        temperatures = len(self.block.temperatures) if mixed else 1
        return stretches(shards, weighing(self.block.samples, generator.kind, temperatures))

    def _beams(self, source: ImportanceSource) -> Iterator[Beam]:
        for seed in source.seeds:
            for proposal in source.proposals:
                for states in self.block.beams:
                    yield Beam(
                        **self._identity(source, seed),
                        proposal=proposal,
                        drawn_by=self.registries.label("proposals", proposal),
                        states=states,
                        joint=Path(f"{_weights(source, proposal, seed)}/beam{states}.npz"),
                    )

    def _filtered(self, source: ImportanceSource) -> Iterator[Filtered]:
        """A particle filter for each proposal, if it is configured and the model has steps."""
        particles = self.block.particles
        if not particles or self.registries.entry("generators", source.generator).kind not in STEPWISE:
            return
        for seed in source.seeds:
            for proposal in _proposals(source):
                yield Filtered(
                    corpus=source.corpus,
                    generator=source.generator,
                    proposal=proposal,
                    seed=seed,
                    particles=particles,
                    weights=Path(f"{_weights(source, proposal, seed)}/particles{particles}.npz"),
                )

    def _own(self, source: ImportanceSource) -> Iterator[Own]:
        """Texts that the model draws, for each proposal at temperature 1, if they are configured."""
        for seed in source.seeds if self.block.own_texts else ():
            for proposal in _proposals(source):
                folder = Path(f"{_weights(source, proposal, seed)}/own{self.block.own_texts}/k{self.block.samples}")
                yield Own(
                    corpus=source.corpus,
                    generator=source.generator,
                    proposal=proposal,
                    seed=seed,
                    temperature=1.0,
                    drawn=folder / "drawn.npz",
                    exact=folder / "exact.npz",
                )

    def _exact(self, source: ImportanceSource) -> Iterator[Exact]:
        kind = self.registries.entry("generators", source.generator).kind
        if kind not in (LSTM, HSMM):
            return
        for seed in source.seeds:
            folder = f"results/weights/{source.generator}/{source.corpus}/seed{seed}"
            yield Exact(**self._identity(source, seed), latent=kind != LSTM, weights=Path(f"{folder}/exact.npz"))

    def _identity(self, source: ImportanceSource, seed: int) -> dict[str, Any]:
        generator = source.generator
        label = label_of(generator, self.registries)
        return {"corpus": source.corpus, "generator": generator, "seed": seed, "label": label}

    def _mixed(self) -> str:
        """The temperatures of a mixture, as its path has them."""
        return "-".join(f"{temperature:g}" for temperature in sorted(self.block.temperatures))

    def _temperatures(self, proposal: str, mixed: bool) -> list[float]:
        """The temperatures of a proposal, and their mixture; only 1 for a proposal that has no temperature."""
        entry = self.registries.entry("proposals", proposal)
        fixed = isinstance(entry, HsmmProposal) and entry.quality not in WITH_TEMPERATURE
        temperatures: list[float] = [1] if fixed else self.block.temperatures
        return [*temperatures, MIXED] if mixed and len(temperatures) > 1 else temperatures

    def _trained(self, source: ImportanceSource) -> list[str]:
        """The proposals of a source that are trained."""
        return [name for name in _proposals(source) if self.registries.entry("proposals", name).kind != HSMM]

    def _texts(self, corpus: str) -> Texts:
        structured = is_structured(self.registries.entry("corpora", corpus))
        return Texts(corpus=corpus, test=Path("results/corpora") / corpus / "test.parquet", structured=structured)

    def _check_source(self, source: ImportanceSource, where: str) -> None:
        generator, corpus, proposals = source.generator, source.corpus, _proposals(source)
        kind = self.registries.entry("generators", generator).kind
        try:
            check_structure(generator, kind, corpus, self.registries)
        except TextcriticError as error:
            raise TextcriticError(f"{where}: {error}") from error
        if (kind == LSTM) == bool(proposals):
            has = "no latent states, so give no proposals" if proposals else "latent states: name proposals for them"
            raise TextcriticError(f"{where}: {generator} is of kind {kind}, which has {has}")
        for registry, name in [("generators", generator), *(("proposals", name) for name in proposals)]:
            if self.block.own_texts and (reason := _inexact(self.registries.entry(registry, name))):
                raise TextcriticError(
                    f"{where}: {name} has {reason}: texts that it draws have no exact states; leave own_texts out"
                )
        for proposal in proposals:
            drawn = PROPOSES[self.registries.entry("proposals", proposal).kind]
            if drawn != kind:
                raise TextcriticError(f"{where}: {proposal} draws states of {drawn}; {generator} is of kind {kind}")


def _proposals(source: ImportanceSource) -> list[str]:
    others = [source.no_peeking] if source.no_peeking else []
    return list(dict.fromkeys([*source.proposals, *others]))


def _inexact(entry: Entry) -> str:
    """The setting because of which a model or a proposal does not draw by its own probability; "" if there is none."""
    settings = entry.plain().get("model", {})
    for key, value in (("end", "as_released"), ("as_released", True)):
        if settings.get(key) == value:
            return f"{key}: {value}".lower()
    return "noise" if settings.get("noise") else ""


def _weights(source: ImportanceSource, proposal: str, seed: int) -> str:
    return f"results/weights/{source.generator}/{proposal}/{source.corpus}/seed{seed}"
