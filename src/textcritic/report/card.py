"""A study's scorecard: the scores of all its experiments, one row a source, one column a measure of an experiment."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textcritic.report.numbers import setting_name
from textcritic.report.scorecard import DIFFERENT, NOT_SCORED, NOT_TESTED, Number, Score

SOME_SEEDS = "some seeds"
"""The verdict on a source that some of its seeds can be told from real text by, and others not."""


@dataclass(frozen=True, slots=True)
class Column:
    """One measure of one experiment.

    Attributes:
        experiment: its name.
        title: the heading of its section.
        measure: what is measured.
        section: element id of the part of the report that is about it.
    """

    experiment: str
    title: str
    measure: str
    section: str


@dataclass(frozen=True, slots=True)
class Cell:
    """What one measure says of one source: a score for each of its seeds, at least one."""

    scores: tuple[Score, ...]

    @property
    def scored(self) -> tuple[Score, ...]:
        """Those of which something could be scored."""
        return tuple(score for score in self.scores if score.number.value is not None)

    @property
    def number(self) -> Number:
        """The value and its interval; the mean over the seeds of which something could be scored, without one."""
        scored = self.scored
        if len(scored) < 2:
            return scored[0].number if scored else Number(None)
        return Number(statistics.fmean(score.number.value or 0.0 for score in scored))

    @property
    def spread(self) -> float | None:
        """Standard deviation over seeds; None where there is one, or a value is infinite."""
        values = [score.number.value or 0.0 for score in self.scored]
        return statistics.stdev(values) if len(values) > 1 and math.isfinite(sum(values)) else None

    @property
    def verdict(self) -> str:
        """As that of its scores; `SOME_SEEDS` where these can be told from real text under some seeds, or in two ways.

        Seeds of which nothing could be scored count only where there is no other.
        """
        verdicts = {(score.verdict, score.way if score.verdict == DIFFERENT else "") for score in self.scored}
        known = {verdict for verdict, _ in verdicts}
        if len(verdicts) == 1:
            return known.pop()
        return NOT_SCORED if not known else NOT_TESTED if NOT_TESTED in known else SOME_SEEDS

    @property
    def told(self) -> int:
        """Of how many seeds the score can be told from real text's."""
        return sum(score.verdict == DIFFERENT for score in self.scores)

    @property
    def way(self) -> str:
        """Whether the value is higher or lower than real text's; "" where that is not known."""
        ways = {score.way for score in self.scored}
        return ways.pop() if len(ways) == 1 else ""

    @property
    def strength(self) -> float:
        """How far it is from real text under the seed that is nearest; 0 where it cannot be told from it."""
        return min((score.strength for score in self.scored), default=0.0) if self.verdict == DIFFERENT else 0.0

    @property
    def n(self) -> int | None:
        """Documents scored, of all seeds; None where the value is exact."""
        counts = [score.n for score in self.scores if score.n is not None]
        return sum(counts) if counts else None

    @property
    def left_out(self) -> float:
        """The share of the documents that could not be scored."""
        lost = sum(score.left_out for score in self.scores)
        return lost / max(lost + (self.n or 0), 1)

    @property
    def seeds(self) -> tuple[int, ...]:
        """Its seeds; none of real text."""
        return tuple(score.seed for score in self.scores if score.seed is not None)


@dataclass(frozen=True, slots=True)
class Row:
    """One source.

    Attributes:
        label: what people call it.
        is_real: whether it is real text.
        baseline: whether its generator is there to be bad.
        cells: by column; a source that an experiment does not have is missing there.
    """

    label: str
    is_real: bool
    baseline: bool
    cells: Mapping[Column, Cell]


@dataclass(frozen=True, slots=True)
class Block:
    """The sources that are compared with the real text of one corpus, real text first."""

    corpus: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    def real(self, column: Column) -> Row | None:
        """The real text that samples are compared with by a measure; None where there is none."""
        return next((row for row in reversed(self.rows) if row.is_real and column in row.cells), None)

    def samples(self, column: Column) -> list[tuple[Row, Cell]]:
        """The samples that have a score by a measure, but for those that are there to be bad."""
        return [
            (row, row.cells[column])
            for row in self.rows
            if column in row.cells and not row.is_real and not row.baseline
        ]


def scorecard(cards: Mapping[str, Sequence[Score]], titles: Mapping[str, str]) -> tuple[Block, ...]:
    """The scores of a study in blocks, one for each corpus, in order of appearance.

    A source that several experiments compare has one row, known by its corpus, setting, generator and decoding; the
    seeds of a source share it. Its label is the longest that an experiment gives it, with setting and decoding added
    where two sources of a corpus would be called the same.

    Args:
        cards: the scores of each experiment by its name, in the order of the study.
        titles: the heading of each experiment's section.
    """
    placed = [
        (score, Column(name, titles[name], score.measure, score.section))
        for name, scores in cards.items()
        for score in scores
    ]
    blocks = []
    for corpus in dict.fromkeys(score.corpus for score, _ in placed):
        ours = [(score, column) for score, column in placed if score.corpus == corpus]
        columns = tuple(dict.fromkeys(column for _, column in ours))
        blocks.append(Block(corpus, columns, _rows(ours)))
    return tuple(blocks)


def _rows(placed: Sequence[tuple[Score, Column]]) -> tuple[Row, ...]:
    """The rows of one corpus: real text first, then samples in order of appearance."""
    grouped: dict[tuple[str, ...], dict[Column, list[Score]]] = {}
    for score, column in placed:
        grouped.setdefault(_key(score), {}).setdefault(column, []).append(score)
    labels = _labels({key: [s for scores in cells.values() for s in scores] for key, cells in grouped.items()})
    rows = [
        Row(
            labels[key],
            is_real=key[1] == "data",
            baseline=any(score.baseline for scores in cells.values() for score in scores),
            cells={column: Cell(tuple(scores)) for column, scores in cells.items()},
        )
        for key, cells in grouped.items()
    ]
    return tuple(sorted(rows, key=lambda row: not row.is_real))


def _key(score: Score) -> tuple[str, ...]:
    """What tells a source from others of its corpus; kinds may have several rows of real text, known by their names."""
    return (score.setting, score.generator, score.decoding, score.label if score.is_real else "")


def _labels(sources: Mapping[tuple[str, ...], Sequence[Score]]) -> dict[tuple[str, ...], str]:
    labels = {key: max((score.label for score in scores), key=len) for key, scores in sources.items()}
    for place in (0, 2):  # setting, decoding
        told = {label: {key[place] for key in labels if labels[key] == label} for label in labels.values()}
        for key, label in labels.items():
            if len(told[label]) > 1 and key[place]:
                labels[key] = f"{label}, {setting_name(key[place])}"
    return labels
