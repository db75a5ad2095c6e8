"""What people call the sources of an experiment."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from textcritic.errors import TextcriticError
from textcritic.plan.sources import GROUP, Drawn
from textcritic.report.numbers import setting_name


@dataclass(frozen=True, slots=True)
class Names:
    """What the sources of an experiment are called: by no more words than it takes to tell them apart.

    Attributes:
        labels: of each generator.
        decoded: generators whose decoding is named, as the study draws samples in several ways.
        seeded: (corpus, setting, generator, decoding) of which there are several seeds.
        several_corpora: whether the study has more than one.
        several_settings: whether it has samples of more than one.
        real: what a row of real text is called by its `source`, where that is not "real text".
    """

    labels: Mapping[str, str]
    decoded: frozenset[str]
    seeded: frozenset[tuple[Any, ...]]
    several_corpora: bool
    several_settings: bool
    real: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, samples: Iterable[Drawn], real: Mapping[str, str] | None = None) -> "Names":
        """Names for samples and for the real text beside them.

        Raises:
            TextcriticError: two generators have the same label.
        """
        drawn = list(samples)
        labels = {sample.generator: sample.label for sample in drawn}
        for generator, label in labels.items():
            twin = next((g for g, other in labels.items() if other == label and g != generator), None)
            if twin is not None:
                raise TextcriticError(
                    f"generators: {generator} and {twin} have the same label {label!r}; give one another"
                )
        # A sample from a file was drawn by somebody else: its decoding is named only where it has several.
        several = len({sample.decoding for sample in drawn if not sample.from_file}) > 1
        decoded = {
            sample.generator
            for sample in drawn
            if (several and not sample.from_file)
            or any(s.generator == sample.generator and s.decoding != sample.decoding for s in drawn)
        }
        groups: dict[tuple[Any, ...], set[int]] = {}
        for sample in drawn:
            groups.setdefault(_group(sample.keys), set()).add(sample.seed)
        seeded = frozenset(group for group, seeds in groups.items() if len(seeds) > 1)
        corpora, settings = ({getattr(sample, key) for sample in drawn} for key in ("corpus", "setting"))
        return cls(labels, frozenset(decoded), seeded, len(corpora) > 1, len(settings) > 1, real or {})

    def source(
        self,
        row: Mapping[str, Any],
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
            seed: whether to name the seed, if the study has several for this sample.
        """
        start = f"{row['corpus']}: " if corpus and self.several_corpora else ""
        if row["generator"] == "data":
            return start + self.real.get(row["source"], "real text")
        words = [self.labels[row["generator"]]]
        if decoding and row["generator"] in self.decoded:
            words.append(str(row["decoding"]))
        if setting and self.several_settings:
            words.append(setting_name(row["setting"]))
        if seed and _group(row) in self.seeded:
            words.append(f"seed {row['seed']}")
        return start + ", ".join(words)


def names_of(files: Any, real: Mapping[str, str] | None = None) -> Names:
    """Names for the samples of an experiment; `real` as in `Names.of`."""
    return Names.of(files.samples, real)


def _group(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[key] for key in GROUP)
