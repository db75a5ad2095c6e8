"""What a scorecard says, in words: the verdict on each source, and the few sentences of a report's front page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textcritic.inference import ALPHA, DIFFERENT, SAME, UNKNOWN, holm
from textcritic.report.card import Block, Cell, Column, Row
from textcritic.report.numbers import NONE, counted, interval, number, p_value, percent, plural
from textcritic.report.scorecard import HIGHER, LOWER, NOT_SCORED, NOT_TESTED

SIGNS = {DIFFERENT: "≠", SAME: "≈", UNKNOWN: "?"}
MOST_SENTENCES = 5
MOST_LOST = 0.5
"""The share of its documents that a sample may lose and still be ranked: what is left says little of it."""
WORTH_SAYING = 0.05
"""The share of left out documents from which on the card says it."""
FEW = 3  # sources that a sentence names one by one


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the front page.

    Attributes:
        experiment: the experiment that it is of.
        about: what it is about.
        says: what it says.
        section: element id of the part of the report that is about it.
        strength: by which sentences are ordered, as `scorecard.strength`.
    """

    experiment: str
    about: str
    says: str
    section: str
    strength: float


def value_of(cell: Cell) -> str:
    """The value: `15.0`, of several seeds their mean, or a dash where nothing could be scored."""
    return counted(cell.number.value, cell.number.low)


def doubt_of(cell: Cell) -> str:
    """The 95% interval of the value, `12.7–17.9`: over documents, or over trainings if there are several."""
    low = cell.number.low
    # Student's interval has no bounds: if no model's own interval goes below 0, that of the recipe does not either.
    if low is not None and low < 0 and all((score.number.low or 0.0) >= 0 for score in cell.scored):
        low = 0.0
    found = interval(low, cell.number.high)
    return "" if found == NONE else found


def verdict_of(cell: Cell) -> str:
    """Whether the source differs from real text, in two or three words; nothing for real text."""
    match cell.verdict:
        case "different":
            return f"{SIGNS[DIFFERENT]} {cell.way}"
        case "same":
            return f"{SIGNS[SAME]} the same"
        case "cannot tell":
            return f"{SIGNS[UNKNOWN]} cannot be told"
        case "not tested" | "not scored":
            return cell.verdict
        case _:
            return ""


def noticed_of(cell: Cell) -> str:
    """The smallest difference that would be noticed, `18%` or `0.16`, where none was found; else nothing."""
    apart = cell.score.gap if cell.score and cell.verdict == UNKNOWN else None
    if apart is None:
        return ""
    return percent(apart.noticeable) if apart.by_ratio else number(apart.noticeable)


def left_out_of(cell: Cell) -> str:
    """The share of documents that could not be scored, if it is worth a word."""
    return f"{percent(cell.left_out)} left out" if cell.left_out >= WORTH_SAYING else ""


def legend(blocks: Sequence[Block]) -> list[str]:
    """What the signs of a card mean, of those that stand in it, and what its intervals and tests are: lines."""
    cells = [cell for block in blocks for row in block.rows for cell in row.cells.values()]
    found = {cell.verdict for cell in cells}
    meanings = {
        DIFFERENT: f"{SIGNS[DIFFERENT]} differs from real text (p < {ALPHA:g}, or an infinite value)",
        SAME: f"{SIGNS[SAME]} the same: the 95% interval of the difference lies within a tenth of real text's value, "
        "or within 0.1 of a distance of 0",
        UNKNOWN: f"{SIGNS[UNKNOWN]} cannot be told: no difference is seen, but there may be one",
        NOT_TESTED: "not tested: there is no test against real text",
    }
    signs = [f"{words}." for verdict, words in meanings.items() if verdict in found]
    return [*signs, *_about(cells), *chance(cells)]


def _about(cells: Sequence[Cell]) -> list[str]:
    """What the intervals hold for: this model, or this recipe."""
    samples = [cell for cell in cells if cell.scored and not cell.scored[0].is_real]
    models, recipes = ([cell for cell in samples if cell.is_recipe is several] for several in (False, True))
    trained = any(score.seed is not None for cell in models for score in cell.scored)
    words = []
    if trained:
        words.append(
            "Values of one seed are about this model, one training: the interval is over documents, and another "
            "training gives another value."
        )
    if recipes:
        words.append(
            "Values of several seeds are about this recipe: the mean over trainings (of perplexities the geometric "
            "one) with Student's interval."
        )
    return words


def chance(cells: Sequence[Cell]) -> list[str]:
    """How many of several tests chance alone would mark, and how many are left after Holm's correction."""
    p_values = [cell.p for cell in cells if cell.p is not None]
    if len(p_values) < 2:
        return []
    marked, left = (sum(p < ALPHA for p in some) for some in (p_values, holm(p_values)))
    return [
        f"Of {plural(len(p_values), 'test')} chance alone would mark about {number(ALPHA * len(p_values), 2)}; "
        f"{marked} {'has' if marked == 1 else 'have'} p < {ALPHA:g}, {left} after Holm's correction."
    ]


def sentences(blocks: Sequence[Block]) -> list[Sentence]:
    """One sentence for each corpus and measure: how many samples differ from real text, and how far they are."""
    several = len(blocks) > 1
    made = []
    for block in blocks:
        for column in block.columns:
            samples = block.samples(column)
            if samples and (real := block.real(column)) is not None:
                where = f" on {block.corpus}" if several else ""
                about = f"{', '.join(filter(None, (column.title, column.measure)))}{where}"
                strongest = max((cell.strength for _, cell in _kept(samples)), default=0.0)
                says = _compared(samples, real, column)
                made.append(Sentence(column.experiment, about, says, column.section, strongest))
    return made


def chosen(pool: Sequence[Sentence]) -> list[Sentence]:
    """The sentences of the front page, the strongest first: of each experiment one, then the strongest of the rest."""
    ranked = sorted(pool, key=lambda sentence: -sentence.strength)
    first = {sentence.experiment: sentence for sentence in reversed(ranked)}
    rest = [sentence for sentence in ranked if first[sentence.experiment] is not sentence]
    best = sorted(first.values(), key=lambda sentence: -sentence.strength)
    return sorted([*best, *rest][:MOST_SENTENCES], key=lambda sentence: -sentence.strength)


def _kept(samples: Sequence[tuple[Row, Cell]]) -> list[tuple[Row, Cell]]:
    """Those of which enough could be scored to rank them."""
    return [(row, cell) for row, cell in samples if cell.left_out <= MOST_LOST and cell.verdict != NOT_SCORED]


def _compared(samples: Sequence[tuple[Row, Cell]], real: Row, column: Column) -> str:
    yardstick = f"{real.label} ({value_of(real.cells[column])})"
    if len(samples) == 1:
        return f"{_alone(*samples[0], yardstick)}."
    kept, total = _kept(samples), len(samples)
    if all(cell.verdict == UNKNOWN for _, cell in samples):
        return f"of none of the {total} samples can be told whether it differs from {yardstick}."
    groups: Mapping[str, list[tuple[Row, Cell]]] = {
        HIGHER: [(row, cell) for row, cell in kept if cell.verdict == DIFFERENT and cell.way == HIGHER],
        LOWER: [(row, cell) for row, cell in kept if cell.verdict == DIFFERENT and cell.way == LOWER],
        SAME: [(row, cell) for row, cell in kept if cell.verdict == SAME],
        UNKNOWN: [(row, cell) for row, cell in kept if cell.verdict == UNKNOWN],
        NOT_TESTED: [(row, cell) for row, cell in kept if cell.verdict == NOT_TESTED],
    }
    parts = [_part(way, group, yardstick) for way, group in groups.items() if group]
    if lost := [row for row, cell in samples if (row, cell) not in kept]:
        parts.append(f"{_named(lost)} lost more than half of {'its' if len(lost) == 1 else 'their'} documents")
    everyone, _, rest = parts[0].partition(" ")
    whole = "both samples" if total == 2 else f"all {total} samples"
    start = whole if everyone == str(total) else f"{everyone} of {total} samples"
    return f"{'; '.join([f'{start} {rest}', *parts[1:]])}."


def _part(kind: str, group: Sequence[tuple[Row, Cell]], yardstick: str) -> str:
    """What some of the samples have in common; it starts with how many they are."""
    if kind in {HIGHER, LOWER}:
        ranked = sorted(group, key=lambda pair: pair[1].number.value or 0.0, reverse=kind == LOWER)
        (near, first), (far, last) = ranked[0], ranked[-1]
        reach = f"{value_of(first)} ({near.label})"
        if len(group) > 1:
            reach = f"from {reach} to {value_of(last)} ({far.label})"
        return f"{len(group)} score{'s' * (len(group) == 1)} {kind} than {yardstick}, {reach}"
    words = {
        SAME: f"{'is' if len(group) == 1 else 'are'} the same as {yardstick} within the margin",
        UNKNOWN: f"may or may not differ from {yardstick}",
        NOT_TESTED: f"{'was' if len(group) == 1 else 'were'} not tested against {yardstick}",
    }
    return f"{_named([row for row, _ in group])} {words[kind]}"


def _alone(row: Row, cell: Cell, yardstick: str) -> str:
    """The one sample that there is."""
    doubt = doubt_of(cell)
    if cell.verdict == NOT_SCORED:
        return f"of {row.label} nothing could be scored"
    tested = "" if cell.p is None else p_value(cell.p)
    least = noticed_of(cell)
    noticed = f"a difference of {least} would be noticed in 80% of cases" if least else ""
    beside = "; ".join(filter(None, (doubt, tested, noticed)))
    value = f"{value_of(cell)}{f' ({beside})' if beside else ''}"
    lost = f", but {percent(cell.left_out)} of its documents are left out" if cell.left_out >= WORTH_SAYING else ""
    match cell.verdict:
        case "different":
            words = f"scores {cell.way} than {yardstick}"
        case "same":
            words = f"is the same as {yardstick} within the margin"
        case "cannot tell":
            words = f"may or may not differ from {yardstick}"
        case _:
            words = f"was not tested against {yardstick}"
    return f"{row.label} {words}: {value}{lost}"


def _named(rows: Sequence[Row]) -> str:
    """How many samples, and which if they are few."""
    names = "; ".join(row.label for row in rows)
    return str(len(rows)) if len(rows) > FEW else f"{len(rows)} ({names})"
