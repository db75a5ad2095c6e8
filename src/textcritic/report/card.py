"""A study's scorecard: the scores of all its experiments, one row a source, one column a measure of an experiment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from textcritic.inference import Number, over_runs, runs_p
from textcritic.report.numbers import setting_name
from textcritic.report.scorecard import Score


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
    """What one measure says of one source: a score for each training and draw, at least one."""

    scores: tuple[Score, ...]

    @property
    def scored(self) -> tuple[Score, ...]:
        """Those of which something could be scored."""
        return tuple(score for score in self.scores if score.number.value is not None)

    @property
    def score(self) -> Score | None:
        """The one score, or what several trainings and draws say together; None where nothing could be scored."""
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
        """Of the one score, or of the recipe. Trainings without a score count only where no other is."""
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
        """Of the test against real text."""
        return self.score.p if self.score else None

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
