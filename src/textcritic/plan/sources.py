"""The samples that an experiment compares: blocks of YAML expanded to sources, and their files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Generic, TypeVar

from textcritic.plan.bundle import Files
from textcritic.plan.entries import Corpus, Decoding, Generator, SampleFile
from textcritic.plan.entries.parts import SourceBlock
from textcritic.plan.registries import Registries, deciding
from textcritic.values import JsonObject, Row

RUN = ("seed", "draw")
"""Columns of whole numbers: which training, and which draw from it. Empty of real text and of samples from files."""
KEYS = ("corpus", "source", "setting", "generator", "decoding", *RUN)
"""The columns that say in every table what a row is about."""
GROUP = ["corpus", "setting", "generator", "decoding"]
"""Those that all trainings and draws of a sample share."""
SAMPLE, DATA = "sample", "data"
"""Values of the column `source`: a sample, and real text."""


@dataclass(frozen=True, slots=True)
class Source:
    """One set of samples; every field is a registry name or a number, and so a wildcard of a path.

    `seed` is that of the training, `draw` says which of several draws from the trained generator it is.
    """

    corpus: str
    setting: str
    generator: str
    decoding: str
    seed: int
    draw: int = 1

    def under(self, prefix: str) -> str:
        """The artefact path of this source below `prefix`, without its suffix."""
        return f"{prefix}/{self.setting}/{self.generator}/seed{self.seed}/{self.decoding}/draw{self.draw}"

    @property
    def sample(self) -> str:
        """The path of its sample, without a suffix."""
        return self.under(f"results/samples/{self.corpus}")

    @property
    def model(self) -> str:
        """The folder of its generator."""
        return f"results/generators/{self.corpus}/{self.setting}/{self.generator}/seed{self.seed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RealText(Files):
    """Real text of one corpus; a kind adds the files that it reads of it."""

    corpus: str

    @property
    def keys(self) -> Row:
        """The key columns of a row about it."""
        return data_keys(self.corpus)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn(Files):
    """One draw from one trained generator with one decoding, and the scores of one critic.

    Attributes:
        corpus, setting, generator, decoding, seed, draw: what it is, see `Source`.
        label: what tables and figures call the generator.
        from_file: whether somebody else drew it, so that nothing is known of how.
        control: whether it is other real text.
        articles: Parquet file of the articles that were kept.
        counts: JSON of how many were drawn, kept and rejected, and why.
        scores: Parquet file of the critic's scores.
    """

    corpus: str
    setting: str
    generator: str
    decoding: str
    seed: int
    draw: int = 1
    label: str
    from_file: bool
    control: bool = False
    articles: Path
    counts: Path
    scores: Path

    @property
    def keys(self) -> Row:
        """The key columns of a row about it; of a sample from a file, nobody says which training or draw it is."""
        run = (None, None) if self.from_file else (self.seed, self.draw)
        values = (self.corpus, SAMPLE, self.setting, self.generator, self.decoding, *run)
        return dict(zip(KEYS, values, strict=True))

    @property
    def slug(self) -> str:
        """A name for files and element ids."""
        return f"{self.corpus}.{self.setting}.{self.generator}.{self.decoding}.seed{self.seed}.draw{self.draw}"


RealOf = TypeVar("RealOf", bound=RealText)
DrawnOf = TypeVar("DrawnOf", bound=Drawn)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared(Files, Generic[RealOf, DrawnOf]):
    """Real text of each corpus, and the samples that are compared with it, in the order of the tables.

    A kind says what its real text and its samples are: `class OrderFiles(Compared[RealText, Drawn])`. Whatever has
    `keys` may be a source of `groups`.

    Attributes:
        data: real text, with the critic that was fitted on it.
        samples: what is compared with it.
        decodings: the registry entry of each sample's decoding.
        resamples: of intervals and tests.
    """

    data: tuple[RealOf, ...]
    samples: tuple[DrawnOf, ...]
    decodings: Mapping[str, JsonObject] = field(default_factory=dict)
    resamples: int = 0

    def samples_of(self, real: RealOf) -> list[DrawnOf]:
        """The samples beside the real text of one corpus."""
        return [sample for sample in self.samples if sample.corpus == real.corpus]

    def of(self, real: RealOf) -> list[RealOf | DrawnOf]:
        """The real text of one corpus and the samples beside it."""
        return [real, *self.samples_of(real)]

    def groups(self) -> Iterator[tuple[Any, Sequence[Any]]]:
        """What is compared: of each corpus the yardstick, and all its sources in the order of the rows."""
        return ((real, self.of(real)) for real in self.data)

    def shown(self, real: RealOf) -> list[RealOf | DrawnOf]:
        """As `of`, with the first draw of the first training of each sample only."""
        first: dict[tuple[str, ...], tuple[int, int]] = {}
        for sample in self.samples:
            group, run = tuple(sample.keys[key] for key in GROUP), (sample.seed, sample.draw)
            first[group] = min(run, first.get(group, run))
        return [
            source
            for source in self.of(real)
            if not isinstance(source, Drawn)
            or (source.seed, source.draw) == first[tuple(source.keys[key] for key in GROUP)]
        ]


def data_keys(corpus: str, source: str = DATA) -> Row:
    """The key columns of a row about real text; `source` tells rows apart where a kind has several of a corpus."""
    return dict(zip(KEYS, (corpus, source, "", "data", "", None, None), strict=True))


def drawn(source: Source, critic: str, registries: Registries) -> dict[str, Any]:
    """The fields of `Drawn` for a source that a critic has scored."""
    return {
        **{key: getattr(source, key) for key in (*GROUP, *RUN)},
        "label": label_of(source.generator, registries),
        "from_file": from_file(source, registries),
        "control": is_control(source, registries),
        "articles": Path(f"{source.sample}.parquet"),
        "counts": Path(f"{source.sample}.json"),
        "scores": Path(source.under(f"results/scores/{critic}/{source.corpus}/samples") + ".parquet"),
    }


def real_scores(corpus: str, critic: str) -> dict[str, Any]:
    """The fields of real text that every critic has: its corpus, the articles of its test split, and their scores."""
    return {
        "corpus": corpus,
        "articles": Path(f"results/corpora/{corpus}/test.parquet"),
        "scores": Path(f"results/scores/{critic}/{corpus}/data/test.parquet"),
    }


def fitted_model(corpus: str, critic: str) -> dict[str, Any]:
    """The files of a topic model that was fitted on a corpus: model, vocabulary, what is not in it, and training."""
    names = ("critic.npz", "vocabulary.parquet", "vocabulary.json", "training.json")
    keys = ("critic", "vocabulary", "vocabulary_counts", "training")
    return {key: Path(f"results/critics/{critic}/{corpus}/{name}") for key, name in zip(keys, names, strict=True)}


def measured(source: Source, registries: Registries) -> dict[str, Any]:
    """What is known of a source's generator: `perplexity` and `training`, both None for samples from a file."""
    names = ("perplexity", "training")
    known = not from_file(source, registries)
    return {name: Path(f"{source.model}/{name}.json") if known else None for name in names}


def sources_of(blocks: Iterable[SourceBlock | Mapping[str, Any]]) -> list[Source]:
    """The sources that blocks of a study stand for, in order, each once."""
    return list(dict.fromkeys(source for block in blocks for source in _expand(SourceBlock.model_validate(block))))


def from_file(source: Source, registries: Registries) -> bool:
    """Whether a source's samples were drawn by somebody else and come from a file."""
    return isinstance(registries.entry("generators", source.generator), SampleFile)


def is_control(source: Source, registries: Registries) -> bool:
    """Whether a source is other real text."""
    entry = registries.entry("generators", source.generator)
    return isinstance(entry, SampleFile) and entry.control


def label_of(generator: str, registries: Registries) -> str:
    """What tables and figures call a generator: its label, or its name."""
    return registries.label("generators", generator)


def entries_of(source: Source, registries: Registries) -> tuple[Corpus, Generator, Decoding]:
    """The registry entries of a source: corpus, generator, decoding.

    Raises:
        TextcriticError: one of them does not exist.
    """
    corpus = registries.entry("corpora", source.corpus)
    return corpus, registries.entry("generators", source.generator), registries.entry("decodings", source.decoding)


def _expand(block: SourceBlock) -> Iterator[Source]:
    axes = (block.corpora, block.generators, block.settings, block.decodings, block.seeds, block.draws)
    for corpus, generator, setting, decoding, seed, draw in product(*axes):
        yield Source(corpus, setting, generator, decoding, seed, draw)


def decodings_of(sources: list[Source], registries: Registries) -> dict[str, JsonObject]:
    """The registry entry of each decoding of the sources, without what has no effect on the samples."""
    entries = {source.decoding: registries.entry("decodings", source.decoding) for source in sources}
    return {name: deciding(entry.plain()) for name, entry in entries.items()}
