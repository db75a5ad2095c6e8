"""Intruder sentences in a study: its files, and the checks before anything runs."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.experiments.intruders.block import IntrudersBlock, Votes
from textcritic.experiments.intruders.files import (
    Asked,
    Coherent,
    Corpus,
    Edited,
    Generated,
    IntruderFiles,
    Judge,
    Judged,
    Voted,
)
from textcritic.plan.checks.sources import check_critic
from textcritic.plan.experiment import Experiment
from textcritic.plan.sources import Source, drawn, measured

EXTRACTOR, KIND = "intruders", "detector"
CORPORA, JUDGED, VOTED = ALL = ("corpora", "judged", "voted")
NEEDED = {"statistics": (CORPORA,), "incoherence": (), "coarse": (), "agreement": (VOTED,), "people": (VOTED,)}
"""The files that numbered tables and figures need, if not all; two tables have only published values."""


class Intruders(Experiment[IntrudersBlock]):
    """Detectors of intruder sentences, compared with people (Shen et al. 2021)."""

    kind = "intruders"
    version = 2
    tables = (
        *("detectors", "pairs", "difficulty", "probe-effects"),
        *("votes", "right-people", "unanimous", "by-people", "alone", "people-agreement", "people-annotators"),
        *("generated", "corpora-held"),
    )
    figures_read = ("detectors", "difficulty", "right-people", "by-people", "probe-effects", "generated")

    def check(self) -> None:
        """Check that corpora are intruder corpora, critics are detectors, and judges can read the samples.

        Raises:
            TextcriticError: the first fault; the line names the key.
        """
        for corpus in self.block.corpora:
            extractor = self.registries.entry("corpora", corpus).extractor
            if extractor != EXTRACTOR:
                raise TextcriticError(
                    f"{self.where}: corpora: {corpus} has the extractor {extractor}; name one with {EXTRACTOR}"
                )
        for block in self.block.detectors:
            for detector in block.detectors:
                check_critic(detector, KIND, self.registries, f"{self.where}: detectors")
            self._check_among(block.trained, "detectors: trained")
            self._check_among(block.corpora, "detectors: corpora")
        self._check_labels()
        self._check_among([voted.corpus for voted in self.block.votes if voted.joined], "votes")
        self._check_judges()
        super().check()

    @classmethod
    def mended(cls, block: IntrudersBlock) -> IntrudersBlock:
        """As `Experiment.mended`: generated text and its judges are both there or neither is."""
        judged = bool(block.judges and block.sources)
        return block if judged else block.changed(judges=[], sources=[])

    def corpora(self) -> list[str]:
        """The intruder corpora, and those of the generated text."""
        return list(dict.fromkeys([*self.block.corpora, *(source.corpus for source in self.sources())]))

    def models(self) -> list[str]:
        """Folders of the detectors."""
        return list(
            dict.fromkeys(
                f"{_trained(detector, trained, seed)}/model" for _, detector, trained, seed in self._judged(None)
            )
        )

    def check_parts(self) -> None:
        """As `Experiment.check_parts`; here the generators of a part are detectors."""
        detectors = {detector for block in self.block.detectors for detector in block.detectors}
        for part in self.parts.values():
            self._check_among(part.corpora, part.name)
            for detector in part.generators:
                if detector not in detectors:
                    raise TextcriticError(
                        f"{self.where}: {part.name}: {detector} is not among the detectors of this experiment"
                    )

    def files(self, part: str | None = None) -> IntruderFiles:
        """Documents, predictions and votes; a numbered part has no generated text."""
        corpora = self._corpora(part)
        judges = self.block.judges if part is None else []
        sources = self.sources() if judges else []
        needed = NEEDED.get(self.parts[part].of, ALL) if part else ALL
        voted = [one for one in self.block.votes if self._is_shown(one, part)]
        return IntruderFiles(
            corpora=tuple(self._corpus(corpus) for corpus in corpora if CORPORA in needed),
            judged=tuple(self._predictions(*one) for one in self._judged(part) if JUDGED in needed),
            voted=tuple(self._voted(one) for one in voted if VOTED in needed),
            asked=tuple(self._asked(corpus) for corpus in corpora if VOTED in needed and self.block.annotations),
            judges=tuple(Judge(detector=name, label=self.registries.label("critics", name)) for name in judges),
            data=tuple(self._coherent(corpus) for corpus in dict.fromkeys(source.corpus for source in sources)),
            samples=tuple(self._generated(source) for source in sources),
            resamples=self.config.resamples,
        )

    def _corpora(self, part: str | None) -> list[str]:
        chosen = self.parts[part].corpora if part else ()
        return list(chosen or self.block.corpora)

    def _corpus(self, corpus: str) -> Corpus:
        folder = Path("results/corpora") / corpus
        probes = folder / "probes.parquet" if self.block.probes else None
        return Corpus(corpus=corpus, test=folder / "test.parquet", statistics=folder / "statistics.json", probes=probes)

    def _judged(self, part: str | None) -> Iterator[tuple[str, str, str, int]]:
        """(corpus, detector, trained, seed) of the detectors compared, each once, in the order of the tables."""
        corpora, seen = self._corpora(part), set()
        chosen = self.parts[part].generators if part else ()
        blocks = self.block.detectors
        every = [
            (corpus, detector, trained, seed)
            for block in blocks
            for detector in block.detectors
            for corpus in corpora
            for trained in [corpus, *(other for other in self.block.corpora if other != corpus)]
            for seed in block.seeds
            if corpus in (block.corpora or corpora)
            and trained in (block.trained or self.block.corpora)
            and (block.across or trained == corpus)
        ]
        for one in every:
            if one not in seen and (not chosen or one[1] in chosen):
                seen.add(one)
                yield one

    def _predictions(self, corpus: str, detector: str, trained: str, seed: int) -> Judged:
        folder = Path(_trained(detector, trained, seed)) / "predictions" / corpus
        return Judged(
            corpus=corpus,
            trained=trained,
            detector=detector,
            seed=seed,
            label=self.registries.label("critics", detector),
            predictions=folder / "test.parquet",
            probes=folder / "probes.parquet" if self.block.probes else None,
        )

    def _is_shown(self, voted: Votes, part: str | None) -> bool:
        chosen = self.parts[part].corpora if part else ()
        return not chosen or voted.corpus in chosen

    def _voted(self, voted: Votes) -> Voted:
        edited = tuple(Edited(probe=one.probe, votes=Path(one.path)) for one in voted.edited)
        return Voted(corpus=voted.corpus, joined=voted.joined, votes=Path(voted.path), edited=edited)

    def _asked(self, corpus: str) -> Asked:
        files = tuple(Path(path) for path in self.block.annotations)
        return Asked(corpus=corpus, test=Path(f"results/corpora/{corpus}/test.parquet"), annotations=files)

    def _coherent(self, base: str) -> Coherent:
        corpus = self._cut_as(base)
        predictions = tuple(folder / "data/test.parquet" for folder in self._read_by(corpus))
        documents = Path(f"results/intruders/documents/{corpus}/data/test.parquet")
        return Coherent(corpus=base, documents=documents, predictions=predictions)

    def _generated(self, source: Source) -> Generated:
        corpus = self._cut_as(source.corpus)
        path = f"{source.under('samples')}.parquet"
        predictions = tuple(folder / path for folder in self._read_by(corpus))
        of_sample = drawn(source, "intruders", self.registries) | {"scores": predictions[0]}
        documents = Path(f"results/intruders/documents/{corpus}") / path
        return Generated(
            **of_sample,
            documents=documents,
            cut=documents.with_suffix(".json"),
            predictions=predictions,
            perplexity=measured(source, self.registries)["perplexity"],
        )

    def _read_by(self, corpus: str) -> list[Path]:
        """The folders of the judges' predictions on documents that are cut as those of a corpus."""
        trained = [_trained(judge, corpus, self._seed(judge)) for judge in self.block.judges]
        return [Path(folder) / "predictions" / corpus for folder in trained]

    def _seed(self, detector: str) -> int:
        """The first training of a detector."""
        return next(int(block.seeds[0]) for block in self.block.detectors if detector in block.detectors)

    def _cut_as(self, base: str) -> str:
        """The first intruder corpus that was made from a corpus."""
        return next(corpus for corpus in self.block.corpora if self._base(corpus) == base)

    def _base(self, corpus: str) -> str | None:
        base: str | None = self.registries.entry("corpora", corpus).options.corpus
        return base

    def _check_among(self, corpora: Iterable[str], key: str) -> None:
        for corpus in corpora:
            if corpus not in self.block.corpora:
                raise TextcriticError(f"{self.where}: {key}: {corpus} is not among the corpora of this experiment")

    def _check_labels(self) -> None:
        labels: dict[str, str] = {}
        for detector in dict.fromkeys(one for _, one, *_ in self._judged(None)):
            label = self.registries.label("critics", detector)
            if label in labels:
                raise TextcriticError(
                    f"{self.where}: detectors: {labels[label]} and {detector} have the same label {label!r}; give one"
                    " another"
                )
            labels[label] = detector

    def _check_judges(self) -> None:
        """Check that there are judges if there are samples, and that each is trained on the corpora it needs."""
        judges, sources = self.block.judges, self.sources()
        if bool(judges) != bool(sources):
            lacking, there = ("judges", "sources") if sources else ("sources", "judges")
            raise TextcriticError(f"{self.where}: {there}: generated text needs {lacking} too; give both or none")
        pairs = {(detector, trained) for _, detector, trained, _ in self._judged(None)}
        for base in dict.fromkeys(source.corpus for source in sources):
            corpus = next((one for one in self.block.corpora if self._base(one) == base), None)
            if corpus is None:
                raise TextcriticError(
                    f"{self.where}: sources: none of the corpora is made from {base}; name an intruder corpus that is"
                )
            for judge in judges:
                if (judge, corpus) not in pairs:
                    raise TextcriticError(
                        f"{self.where}: judges: {judge} is not trained on {corpus}; put it among the detectors"
                    )


def _trained(detector: str, trained: str, seed: int) -> str:
    """The folder of a detector that was trained."""
    return f"results/intruders/{detector}/{trained}/seed{seed}"
