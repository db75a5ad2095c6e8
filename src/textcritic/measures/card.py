"""A study's scorecard: the scores of all its experiments, one row a source, one column a measure of an experiment."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf

from textcritic.inference import (
    DIFFERENT,
    Nearness,
    Number,
    beyond,
    distance,
    documents_apart,
    holm,
    nearest,
    nearness,
    over_runs,
    runs_p,
)
from textcritic.measures.numbers import percent, setting_name, shortened
from textcritic.measures.score import HIGHER, NOT_SCORED, Score

MOSTLY_COPIED = 50.0
"""The percentage from which on a sample is called copied."""
MOST_LOST = 0.5
"""A sample with a larger share of documents left out is not ranked: the remaining ones do not represent it."""


@dataclass(frozen=True, slots=True)
class Column:
    """One measure of one experiment.

    Attributes:
        experiment: its name.
        title: the heading of its section.
        measure: what is measured.
        section: element id of the part of the report that is about it.
        means: what is measured, in a few words, or "".
        aim: whether the highest or the lowest sample is the best, see `Measure.aim`.
    """

    experiment: str
    title: str
    measure: str
    section: str
    means: str = ""
    aim: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """The value of one measure for one source: a score for each training and draw, at least one."""

    scores: tuple[Score, ...]

    @property
    def scored(self) -> tuple[Score, ...]:
        """The scores that have a value."""
        return tuple(score for score in self.scores if score.number.value is not None)

    @property
    def score(self) -> Score | None:
        """The one score, or several trainings and draws combined; None if nothing could be scored."""
        scored = self.scored
        if len(scored) < 2 or scored[0].is_real:
            return scored[0] if scored else None
        first, runs = scored[0], [(score.seed, score.number) for score in scored]
        p = None
        # Without a margin the error of real text is not known; without a single p-value the measure has no test.
        if first.real and first.margin is not None and any(score.p is not None for score in scored):
            p = runs_p(runs, first.real, first.by_ratio)
        return replace(
            first, seed=None, draw=None, number=over_runs(runs, first.by_ratio).number, p=p, n=self.n, because=""
        )

    @property
    def is_recipe(self) -> bool:
        """Whether it is about a recipe, as there are several trainings, and not about one model."""
        return len({score.seed for score in self.scored}) > 1

    @property
    def number(self) -> Number:
        """The value and its interval: over documents, or over trainings if there are several."""
        return self.score.number if self.score else Number(None)

    @property
    def verdict(self) -> str:
        """The verdict of the one score, or of the recipe; trainings without a score count only if all have none."""
        return self.score.verdict if self.score else self.scores[0].verdict

    @property
    def way(self) -> str:
        """Whether the value is higher or lower than real text's; "" where that is not known."""
        return self.score.way if self.score else ""

    @property
    def strength(self) -> float:
        """How far it is from real text; 0 where no difference was found."""
        return self.score.strength if self.score else 0.0

    @property
    def p(self) -> float | None:
        """The p-value of the test against real text."""
        return self.score.p if self.score else None

    @property
    def is_ranked(self) -> bool:
        """Whether enough of it could be scored to compare it with other samples."""
        return self.left_out <= MOST_LOST and self.verdict != NOT_SCORED

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
        """Its seeds, each once; none of real text."""
        return tuple(dict.fromkeys(score.seed for score in self.scores if score.seed is not None))


@dataclass(frozen=True, slots=True)
class Row:
    """One source.

    Attributes:
        label: what people call it; a long name without its middle, unless others would be called the same.
        is_real: whether it is real text.
        baseline: whether its generator is there to be bad.
        cells: by column; a source that an experiment does not have is missing there.
        control: whether it is other real text, which is shown and never ranked.
        name: its whole name.
    """

    label: str
    is_real: bool
    baseline: bool
    cells: Mapping[Column, Cell]
    control: bool = False
    name: str = ""

    @property
    def source(self) -> tuple[str, str, str, str]:
        """Its corpus, setting, generator and decoding; scores of all experiments have them."""
        first = next(iter(self.cells.values())).scores[0]
        return first.corpus, first.setting, first.generator, first.decoding

    @property
    def is_ranked(self) -> bool:
        """Whether it is a sample that is compared with others: no real text, and not there to be bad."""
        return not (self.is_real or self.baseline or self.control)

    @property
    def copied(self) -> str:
        """How much of it is copied, if that is half or more, and more than of real text; else ""."""
        for cell in self.cells.values():
            first, value = cell.scores[0], cell.number.value
            if first.copies and cell.verdict == DIFFERENT and cell.way == HIGHER and (value or 0.0) >= MOSTLY_COPIED:
                return f"{percent((value or 0.0) / 100)} {first.copies}"
        return ""

    @property
    def remarked(self) -> str:
        """Its label, followed by how much of it is copied, if it is mostly copied."""
        return f"{self.label} ({self.copied})" if self.copied else self.label


@dataclass(frozen=True, slots=True)
class Block:
    """The sources that are compared with the real text of one corpus, real text first.

    Attributes:
        corpus: its label.
        columns: the measures.
        rows: the sources.
    """

    corpus: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    def real(self, column: Column) -> Row | None:
        """The real text that samples are compared with by a measure; None where there is none."""
        return next((row for row in reversed(self.rows) if row.is_real and column in row.cells), None)

    def samples(self, column: Column) -> list[tuple[Row, Cell]]:
        """The samples that have a score by a measure, without controls and those that are there to be bad."""
        return [(row, row.cells[column]) for row in self.rows if column in row.cells and row.is_ranked]

    def ranked(self, column: Column) -> list[tuple[Row, Cell]]:
        """The samples with enough scored documents to be compared."""
        return [(row, cell) for row, cell in self.samples(column) if cell.is_ranked]

    def nearest(self, column: Column) -> frozenset[str]:
        """Labels of the sample that is nearest to real text and of all that may be as near, see `inference.nearest`.

        If the aim is a high or a low value: the highest or lowest sample, and all that may be as high or low.

        Empty if there are fewer than two samples, if no test was made, if real text has no value, or if its documents
        are too few for an interval.
        """
        ranked, target = self.ranked(column), self._target(column)
        any_test = any(cell.p is not None for _, cell in ranked)
        if len(ranked) < 2 or target is None or not self._has_error(column) or not any_test:
            return frozenset()
        are_near = nearest([cell.number for _, cell in ranked], *target)
        return frozenset(row.label for (row, _), is_near in zip(ranked, are_near, strict=True) if is_near)

    def best(self, column: Column) -> str:
        """The label of the sample whose value is nearest to real text's; "" if `nearest` is empty."""
        near, target = self.nearest(column), self._target(column)
        if not near or target is None:
            return ""
        apart = {row.label: distance(cell.number, *target) for row, cell in self.ranked(column) if row.label in near}
        return min(apart, key=lambda label: apart[label])

    def apart(self, column: Column) -> tuple[str, str, float | None] | None:
        """The nearest sample and the next, if it may be as near; and `inference.documents_apart` of the two.

        None if the two differ, if they cannot be compared, or if their intervals are over trainings and not documents.
        """
        near, best, target, real = (
            self.nearest(column),
            self.best(column),
            self._target(column),
            self.real(column),
        )
        if not best or target is None or real is None:
            return None
        cells = {row.label: cell for row, cell in self.ranked(column)}
        order = sorted(cells, key=lambda label: (label != best, distance(cells[label].number, *target)))
        first, second = (cells[label] for label in order[:2])
        ns, whole = (first.n, second.n), None if column.aim else real.cells[column].n
        recipes = first.is_recipe or second.is_recipe
        if order[1] not in near or recipes or ns[0] is None or ns[1] is None:
            return None
        if nearness(first.number, second.number, *target) is None:
            return None
        needed = documents_apart(first.number, second.number, target[0], (ns[0], ns[1], whole), target[1])
        return order[0], order[1], needed

    def pairs(self, column: Column) -> dict[tuple[str, str], Nearness]:
        """For each pair of labels, the first sample's distance from real text minus the second's; p-values by Holm."""
        ranked, target = self.ranked(column), self._target(column)
        if target is None or not self._has_error(column):
            return {}
        differences = {
            (row.label, other.label): nearness(cell.number, other_cell.number, *target)
            for (row, cell), (other, other_cell) in combinations(ranked, 2)
        }
        compared = {pair: near for pair, near in differences.items() if near is not None}
        corrected = holm([near.p for near in compared.values()])
        return {pair: replace(near, p=float(p)) for (pair, near), p in zip(compared.items(), corrected, strict=True)}

    @property
    def narrower(self) -> list[float]:
        """`Nearness.narrower` of each measure and pair of samples that share documents."""
        columns = [c for c in self.columns if any(cell.number.without for _, cell in self.ranked(c))]
        factors = [near.narrower for column in columns for near in self.pairs(column).values()]
        return [factor for factor in factors if factor is not None]

    def in_order(self) -> "Block":
        """The same block with its rows in order: real text, controls, samples from nearest to farthest, the bad ones.

        The first measure decides; if it cannot compare two samples, the next one does.
        """
        apart: dict[str, list[float]] = {row.label: [] for row in self.rows}
        for column in self.columns:
            if (target := self._target(column)) is not None:
                ranked = {row.label: distance(cell.number, *target) for row, cell in self.ranked(column)}
                for label, distances in apart.items():
                    distances.append(ranked.get(label, inf))
        order = sorted(
            self.rows,
            key=lambda row: (not row.is_real, not row.control, row.baseline, [] if row.is_real else apart[row.label]),
        )
        return replace(self, rows=tuple(order))

    def _has_error(self, column: Column) -> bool:
        """Whether the error of real text's value is known (an interval, or an exact value), or is not needed."""
        return bool(column.aim) or any(
            score.margin is not None for _, cell in self.samples(column) for score in cell.scores
        )

    def _target(self, column: Column) -> tuple[Number, bool] | None:
        """The number that samples are compared with, real text's or one beyond all samples; and whether by ratio."""
        real = self.real(column)
        score = real.cells[column].score if real else None
        samples = self.samples(column)
        if score is None or score.number.value is None or not samples:
            return None
        if column.aim:
            return beyond([cell.number for _, cell in samples], column.aim == HIGHER), False
        return score.number, any(score.by_ratio for score in samples[0][1].scores)


def scorecard(cards: Mapping[str, Sequence[Score]], titles: Mapping[str, str]) -> tuple[Block, ...]:
    """The scores of a study in blocks, one for each corpus, in order of appearance; rows as `Block.in_order`.

    A source that several experiments compare has one row, known by its corpus, setting, generator and decoding; the
    seeds of a source share it. Its label is the longest that an experiment gives it, with setting and decoding added
    where two sources of a corpus would be called the same.

    Args:
        cards: the scores of each experiment by its name, in the order of the study.
        titles: the heading of each experiment's section.
    """
    placed = [
        (score, Column(name, titles[name], score.measure, score.section, score.means, score.aim))
        for name, scores in cards.items()
        for score in scores
    ]
    blocks = []
    for corpus in dict.fromkeys(score.corpus for score, _ in placed):
        of_corpus = [(score, column) for score, column in placed if score.corpus == corpus]
        columns = tuple(dict.fromkeys(column for _, column in of_corpus))
        label = of_corpus[0][0].corpus_label or corpus
        blocks.append(Block(label, columns, _rows(of_corpus)).in_order())
    return tuple(blocks)


def _rows(placed: Sequence[tuple[Score, Column]]) -> tuple[Row, ...]:
    """The rows of one corpus: real text first, then samples in order of appearance."""
    grouped: dict[tuple[str, ...], dict[Column, list[Score]]] = {}
    for score, column in placed:
        grouped.setdefault(_key(score), {}).setdefault(column, []).append(score)
    names = _labels({key: [s for scores in cells.values() for s in scores] for key, cells in grouped.items()})
    short = Counter(map(shortened, names.values()))
    rows = [
        Row(
            shortened(names[key]) if short[shortened(names[key])] == 1 else names[key],
            is_real=key[1] == "data",
            baseline=any(score.baseline for scores in cells.values() for score in scores),
            cells={column: Cell(tuple(scores)) for column, scores in cells.items()},
            control=any(score.control for scores in cells.values() for score in scores),
            name=names[key],
        )
        for key, cells in grouped.items()
    ]
    return tuple(sorted(rows, key=lambda row: not row.is_real))


def _key(score: Score) -> tuple[str, ...]:
    """Identifies a source within its corpus; a kind may have several rows of real text, which differ by label."""
    return (score.setting, score.generator, score.decoding, score.label if score.is_real else "")


def _labels(sources: Mapping[tuple[str, ...], Sequence[Score]]) -> dict[tuple[str, ...], str]:
    labels = {key: max((score.label for score in scores), key=len) for key, scores in sources.items()}
    decodings = {score.decoding: score.decoding_label for scores in sources.values() for score in scores}
    for place in (0, 2):  # setting, decoding
        values = {label: {key[place] for key in labels if labels[key] == label} for label in labels.values()}
        for key, label in labels.items():
            if len(values[label]) > 1 and key[place]:
                labels[key] = f"{label}, {decodings.get(key[place]) or setting_name(key[place])}"
    return labels
