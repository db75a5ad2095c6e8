"""What people call the sources of an experiment."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, TypeVar

from textcritic.errors import TextcriticError
from textcritic.measures.labels import corpus_name, decoding_name
from textcritic.measures.numbers import setting_name
from textcritic.plan.sources import GROUP, RUN, Compared, Drawn
from textcritic.values import Row

CONTROL = " (control)"
"""Follows the name of a sample that is other real text."""


Group: TypeAlias = tuple[object, ...]
"""The values of the columns `GROUP` of a sample."""
Paired = TypeVar("Paired", bound=Hashable)


class SourceNames(Protocol):
    """What writes a source in words, from a row and from what is to be named: `Names`, or a kind's own class."""

    @property
    def source(self) -> Callable[..., str]:
        """As `Names.source`."""


@dataclass(frozen=True, slots=True)
class Names:
    """What the sources of an experiment are called: as short as possible, with no two names alike.

    Attributes:
        labels: of each generator.
        decoded: generators whose decoding is named, as the study draws samples in several ways.
        seeded: (corpus, setting, generator, decoding) with several seeds.
        redrawn: (corpus, setting, generator, decoding) with several draws of one training.
        several_corpora: whether the study has more than one.
        several_settings: whether it has samples of more than one.
        real: names of rows of real text by their `source`, if they are not called "real text".
    """

    labels: Mapping[str, str]
    decoded: frozenset[str]
    seeded: frozenset[Group]
    several_corpora: bool
    several_settings: bool
    real: Mapping[str, str] = field(default_factory=dict)
    redrawn: frozenset[Group] = frozenset()

    @classmethod
    def of(cls, samples: Iterable[Drawn], real: Mapping[str, str] | None = None) -> "Names":
        """Names for samples and for the real text in the same table.

        Raises:
            TextcriticError: two generators have the same label.
        """
        drawn = list(samples)
        labels = {sample.generator: f"{sample.label}{CONTROL if sample.control else ''}" for sample in drawn}
        for generator, label in labels.items():
            twin = next((g for g, other in labels.items() if other == label and g != generator), None)
            if twin is not None:
                raise TextcriticError(
                    f"generators: {generator} and {twin} have the same label {label!r}; give one another"
                )
        # A sample from a file was drawn by somebody else: its decoding is named only where it has several.
        decodings = {sample.decoding for sample in drawn if not sample.from_file}
        decoded = {
            sample.generator
            for sample in drawn
            if (len(decodings) > 1 and not sample.from_file)
            or any(s.generator == sample.generator and s.decoding != sample.decoding for s in drawn)
        }
        seeded = with_several((_group(sample.keys), sample.seed) for sample in drawn)
        trained = with_several(((_group(sample.keys), sample.seed), sample.draw) for sample in drawn)
        redrawn = frozenset(group for group, _ in trained)
        corpora, settings = ({getattr(sample, key) for sample in drawn} for key in ("corpus", "setting"))
        several = (len(corpora) > 1, len(settings) > 1)
        return cls(labels, frozenset(decoded), seeded, *several, real or {}, redrawn)

    def source(
        self,
        row: Row,
        *,
        corpus: bool = True,
        setting: bool = True,
        decoding: bool = True,
        seed: bool = True,
    ) -> str:
        """A source in words: `wiki: small GPT-2, top-k-50, with titles, seed 2`, `real text, gold titles`.

        Args:
            row: with those of the columns `KEYS` that are to be named.
            corpus: whether to name the corpus, if the study has several.
            setting: whether to name the setting, if the study has several.
            decoding: whether to name the decoding, if the study has several.
            seed: whether to name the seed, and the draw, if the study has several for this sample.
        """
        start = f"{corpus_name(row['corpus'])}: " if corpus and self.several_corpora else ""
        if row["generator"] == "data":
            return start + self.real.get(row["source"], "real text")
        words = [self.labels[row["generator"]]]
        if decoding and row["generator"] in self.decoded:
            words.append(decoding_name(str(row["decoding"])))
        if setting and self.several_settings:
            words.append(setting_name(row["setting"]))
        return start + ", ".join([*words, *(self.run(row) if seed else [])])

    def run(self, row: Row) -> list[str]:
        """The seed and the draw of a sample, each only if the study has several for it: `seed 2`, `draw 1`."""
        several = {"seed": self.seeded, "draw": self.redrawn}
        return [f"{key} {row[key]}" for key in RUN if _group(row) in several[key]]


def names_of(files: Compared, real: Mapping[str, str] | None = None) -> Names:
    """Names for the samples of an experiment; `real` as in `Names.of`."""
    return Names.of(files.samples, real)


def with_several(pairs: Iterable[tuple[Paired, Hashable]]) -> frozenset[Paired]:
    """Those that are paired with several different values."""
    counts = Counter(key for key, _ in set(pairs))
    return frozenset(key for key, count in counts.items() if count > 1)


def _group(row: Row) -> Group:
    return tuple(row[key] for key in GROUP)
