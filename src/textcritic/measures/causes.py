"""What is wrong with each sample: its tests against real text, with Holm's correction for all of one sample.

A kind declares each test once (`Comparison`, in `Section.tests`); by default they are made of its scores. The first
page of a report, and the terminal, list what is wrong with each sample, in the words of the kind.
"""

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from textcritic.files import lacking
from textcritic.inference import ALPHA, DIFFERENT, holm
from textcritic.measures.card import Block, Cell, Row, scorecard
from textcritic.measures.numbers import counted, listed, plural
from textcritic.measures.phrases import with_n
from textcritic.measures.score import HIGHER, Score
from textcritic.measures.sentences import PERCENT, value_of
from textcritic.values import JsonObject

UNSEEN = "No measure here looks at facts: whether what is said is true."
SOURCE = ("corpus", "setting", "generator", "decoding")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A test of one sample against real text.

    Attributes:
        corpus, setting, generator, decoding: of the sample, as its scores have them.
        label: what people call it, without its corpus.
        measure: what is compared, e.g. "Length": a heading of docs/causes.md.
        p: of one training, or of the recipe where there are several; 0 of an infinite value, which needs no test.
        says: what is wrong in a clause, e.g. "its documents are longer: 212 tokens against 41, 5.2 times".
        strength: how far the sample is from real text, as `score.strength`; 0 where no difference was found, and
            without an interval.
        section: element id of the part of the report that is about it.
        copied: whether it says that the sample is copied, which explains what other measures see.
    """

    corpus: str
    setting: str
    generator: str
    decoding: str
    label: str
    measure: str
    p: float
    says: str
    strength: float
    section: str
    copied: bool = False

    @property
    def source(self) -> tuple[str, str, str, str]:
        """What identifies its sample, as `Row.source`."""
        return self.corpus, self.setting, self.generator, self.decoding


@dataclass(frozen=True, slots=True)
class Judged:
    """What all tests of one sample say together.

    Attributes:
        row: the sample in the scorecard.
        corpus: what people call its corpus, where a study has several; else "".
        tests: how many there are.
        causes: those with p < 0.05 by Holm's correction for all tests of the sample: that it is copied first, then the
            smallest p, then the farthest from real text.
    """

    row: Row
    corpus: str
    tests: int
    causes: tuple[Comparison, ...]

    @property
    def name(self) -> str:
        """What the sample is called."""
        return f"{self.row.label} on {self.corpus}" if self.corpus else self.row.label

    @property
    def line(self) -> str:
        """What is wrong with it: its first cause in words, and the names of the other measures that differ."""
        first, *more = self.causes
        others = [name for name in dict.fromkeys(cause.measure for cause in more) if name != first.measure]
        start = f"{len(others)} other measure{'s differ' if len(others) > 1 else ' differs'}"
        return f"{first.says}{f'; {start}: {listed(others)}' if others else ''}."


def comparisons(card: Sequence[Score], says: Callable[[Cell], str] | None = None) -> tuple[Comparison, ...]:
    """The tests of a card: of each sample and each measure one, seeds together.

    Args:
        card: the scores of an experiment.
        says: what is wrong with the sample of a cell, if a kind can say more than `clause`; "": as `clause`.
    """
    tests = []
    for block in scorecard({"": card}, {"": ""}):
        for row in block.rows:
            for column, cell in row.cells.items():
                p = cell.p if cell.p is not None else 0.0 if cell.verdict == DIFFERENT else None
                if p is None or row.is_real:
                    continue
                tests.append(
                    Comparison(
                        **dict(zip(SOURCE, row.source, strict=True)),
                        label=row.name,
                        measure=column.measure.removesuffix(PERCENT),
                        p=p,
                        says=with_n(cell.n, (says(cell) if says else "") or clause(cell)),
                        strength=_strength(cell),
                        section=column.section,
                        copied=bool(cell.scores[0].copies) and cell.way == HIGHER,
                    )
                )
    return tuple(tests)


def _strength(cell: Cell) -> float:
    """The strength of a cell; 0 if it has no interval, as the strength is then not known."""
    value = cell.number.value
    has_error = cell.number.low is not None or (value is not None and math.isinf(value))
    return cell.strength if has_error else 0.0


def clause(cell: Cell) -> str:
    """How a sample differs in a measure: `Latent PPL higher: 15.0 against 2.04`."""
    first = cell.scores[0]
    unit, name = "%" * first.measure.endswith(PERCENT), first.measure.removesuffix(PERCENT)
    real = first.real
    against = "" if real is None else f" against {counted(real.value, real.low)}{unit}"
    way = f" {cell.way}" if cell.way else ""
    return f"{name}{way}: {value_of(cell)}{unit}{against}"


def judged(blocks: Sequence[Block], tests: Sequence[Comparison]) -> tuple[Judged, ...]:
    """Every sample of a scorecard, and every control: those with the most causes first, then the strongest.

    Args:
        blocks: of the scorecard.
        tests: of all experiments.
    """
    samples = []
    for block in blocks:
        for row in block.rows:
            if not row.is_real:
                own = [test for test in tests if test.source == row.source]
                corpus = block.corpus if len(blocks) > 1 else ""
                samples.append(Judged(row, corpus, len(own), _causes(own)))

    def order(sample: Judged) -> tuple[int, float]:
        return -len(sample.causes), -max((cause.strength for cause in sample.causes), default=0.0)

    return tuple(sorted(samples, key=order))


def _causes(tests: Sequence[Comparison]) -> tuple[Comparison, ...]:
    adjusted = holm([test.p for test in tests])
    marked = [(p, test) for p, test in zip(adjusted, tests, strict=True) if p < ALPHA]
    return tuple(test for _, test in sorted(marked, key=lambda pair: (not pair[1].copied, pair[0], -pair[1].strength)))


def unmarked(samples: Sequence[Judged]) -> list[str]:
    """Sentences on the samples that no test marks, and on the samples without a test."""
    clean = [sample for sample in samples if sample.tests and not sample.causes]
    untested = [sample.name for sample in samples if not sample.tests]
    lines = []
    if clean:
        low, high = (of(sample.tests for sample in clean) for of in (min, max))
        tests = plural(high, "test") if low == high else f"{low} to {high} tests"
        names = listed([sample.name for sample in clean])
        lines.append(f"No measure marks {names} (of {tests}{' each' * (len(clean) > 1)}).")
    return [*lines, *[f"No test was made of {listed(untested)}."] * bool(untested)]


def of_control(control: Judged) -> str:
    """What it means that a control differs from real text: a sentence about "it"."""
    names = listed(list(dict.fromkeys(cause.measure for cause in control.causes)))
    return (
        f"it is real text and differs too, in {names} ({control.causes[0].says}): differences of this size in {names} "
        "are no fault of a model."
    )


def comparisons_to_json(tests: Sequence[Comparison]) -> list[JsonObject]:
    """Tests as section.json holds them, but for `score.finite`."""
    return [asdict(test) for test in tests]


def comparisons_from_json(facts: JsonObject, path: str | os.PathLike[str]) -> tuple[Comparison, ...]:
    """The tests of a section.json.

    Args:
        facts: what the file says.
        path: of the file, for the error line.

    Raises:
        TextcriticError: they are not as `comparisons_to_json` writes them.
    """
    with lacking(path, "tests"):
        tests = [dict(test) for test in facts.get("tests", ())]
        return tuple(Comparison(**test | {key: float(test[key]) for key in ("p", "strength")}) for test in tests)
