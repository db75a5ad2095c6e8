"""What a scorecard says, in words: the verdict on each source, and the few sentences of a report's front page."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from textcritic.inference import ALPHA, DIFFERENT, LEAST_UNITS, SAME, UNCLEAR, holm
from textcritic.measures.card import Block, Cell, Column, Row
from textcritic.measures.numbers import NONE, counted, interval, listed, number, p_value, percent, plural
from textcritic.measures.phrases import with_n
from textcritic.measures.score import HIGHER, LOWER, NOT_SCORED, NOT_TESTED

NEAREST = "★"
SIGNS = {DIFFERENT: "≠", SAME: "≈", UNCLEAR: "?"}
MOST_SENTENCES = 5
STARS = (
    f"{NEAREST} nearest to real text, or perhaps as near as the nearest. The aim is real text's value: neither lower "
    "nor higher is better. Samples without the sign are farther away (p < 0.05 by Holm's correction for all pairs of "
    "samples)."
)
BEST = (
    "{star} the {most} value of {names}, or perhaps as {high}; samples without the sign are {less} (p < 0.05 by Holm's "
    "correction for all pairs of samples)."
)
AIMS = {"": ("near", "nearest", ""), HIGHER: ("high", "highest", "lower"), LOWER: ("low", "lowest", "higher")}
"""By the aim of a measure: words for a value near it, the one that is nearest, and one that is not."""
MOST_NEEDED = 100_000
"""The largest number of needed documents that is written; a larger one is "more than" this."""
WORTH_SAYING = 0.05
"""The smallest share of left out documents that the card mentions."""
PERCENT = ", %"  # at the end of the name of a measure
FEW = 3  # sources that a sentence names one by one
ABOUT, LITTLE = 0.005, 1.1  # how much a ratio differs from 1 where it is about the same; below what it is no "times"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the front page.

    Attributes:
        experiment: name of the experiment that it comes from.
        about: what it is about.
        says: what it says.
        section: element id of the part of the report that is about it.
        strength: how far the value is from real text, see `Score.strength`; stronger sentences come first.
    """

    experiment: str
    about: str
    says: str
    section: str
    strength: float


def value_of(cell: Cell) -> str:
    """The value: `15.0`, of several seeds their mean, of a count `0 of 4 measured`, or a dash where there is none."""
    most = {score.out_of for score in cell.scored if score.out_of is not None}
    value = counted(cell.number.value, cell.number.low)
    return f"{value} of {max(most)} measured" if most else value


def doubt_of(cell: Cell) -> str:
    """The 95% interval of the value, `12.7–17.9`: over documents, or over trainings if there are several.

    If there are too few documents for an interval, their number: `n = 6`.
    """
    low = cell.number.low
    # Student's interval has no bounds: if no model's own interval goes below 0, that of the recipe does not either.
    if low is not None and low < 0 and all((score.number.low or 0.0) >= 0 for score in cell.scored):
        low = 0.0
    written = interval(low, cell.number.high)
    if written != NONE:
        return written
    exact = cell.scored and cell.scored[0].is_real and cell.scored[0].by_definition
    return f"n = {cell.n}" if cell.scored and not exact and cell.n is not None and cell.n < LEAST_UNITS else ""


def verdict_of(cell: Cell) -> str:
    """Whether the source differs from real text, in two or three words, after n if it is small; "" for real text."""
    words = {
        DIFFERENT: f"{SIGNS[DIFFERENT]} {cell.way}",
        SAME: f"{SIGNS[SAME]} the same",
        UNCLEAR: f"{SIGNS[UNCLEAR]} unclear",
        NOT_TESTED: NOT_TESTED,
    }
    return NOT_SCORED if cell.verdict == NOT_SCORED else with_n(cell.n, words.get(cell.verdict, ""))


def noticed_of(cell: Cell) -> str:
    """The smallest difference that would be noticed, `18%` or `0.16`, if no difference was found; else ""."""
    apart = cell.score.gap if cell.score and cell.verdict == UNCLEAR else None
    if apart is None:
        return ""
    return percent(apart.noticeable) if apart.by_ratio else number(apart.noticeable)


def left_out_of(cell: Cell) -> str:
    """The share of documents that could not be scored, if it is worth a word."""
    return f"{percent(cell.left_out)} left out" if cell.left_out >= WORTH_SAYING else ""


def legend(blocks: Sequence[Block]) -> list[str]:
    """What the measures of a card say, and its `signs`: lines."""
    return [*_meanings([column for block in blocks for column in block.columns if column.means]), *signs(blocks)]


def short_legend(blocks: Sequence[Block]) -> list[str]:
    """What a reader has to know about the signs, in three lines at most."""
    cells = [cell for block in blocks for row in block.rows for cell in row.cells.values()]
    verdicts = {cell.verdict for cell in cells}
    meanings = {
        DIFFERENT: f"{SIGNS[DIFFERENT]} differs from real text (p < {ALPHA:g})",
        SAME: f"{SIGNS[SAME]} the same (within a tenth)",
        UNCLEAR: f"{SIGNS[UNCLEAR]} unclear",
    }
    shown = [words for verdict, words in meanings.items() if verdict in verdicts]
    lines = [f"{'; '.join(shown)}."] if shown else []
    starred = {column.aim for block in blocks for column in block.columns if block.nearest(column)}
    aims = [f"{AIMS[aim][1]} value" if aim else "nearest to real text" for aim in AIMS if aim in starred]
    stars = [f"{NEAREST} {' or '.join(aims)}, or perhaps as {AIMS[next(iter(starred))][0]}."] if aims else []
    return [*lines, *stars, *_copied(blocks), *_paired(blocks)]


def _paired(blocks: Sequence[Block]) -> list[str]:
    """That samples are compared by pairs, and how much narrower the intervals are."""
    narrower = [factor for block in blocks for factor in block.narrower]
    if not narrower:
        return []
    start = "Samples share prompts or other groups, and are compared with each other by pairs: the interval of the"
    return [f"{start} difference is {number(median(narrower))} times as wide as without, in the median."]


def signs(blocks: Sequence[Block]) -> list[str]:
    """What the signs in a card mean, and what its intervals and tests are: lines."""
    cells = [cell for block in blocks for row in block.rows for cell in row.cells.values()]
    verdicts = {cell.verdict for cell in cells}
    of_recipes = {cell.is_recipe for cell in cells if cell.verdict == UNCLEAR}
    few = " or ".join(word for word, several in (("documents", False), ("trainings", True)) if several in of_recipes)
    meanings = {
        DIFFERENT: f"{SIGNS[DIFFERENT]} differs from real text (p < {ALPHA:g}, or an infinite value)",
        SAME: f"{SIGNS[SAME]} the same: the 95% interval of the difference lies within a tenth of real text's value, "
        "or within 0.1 of a distance of 0",
        UNCLEAR: f"{SIGNS[UNCLEAR]} unclear: no difference was found, but so few {few} may hide one",
        NOT_TESTED: "not tested: there is no test against real text",
    }
    lines = [f"{words}." for verdict, words in meanings.items() if verdict in verdicts]
    return [*lines, *_stars(blocks), *_paired(blocks), *_about(cells), *chance(cells)]


def _stars(blocks: Sequence[Block]) -> Iterator[str]:
    """What the star means, for each aim of a measure that has one."""
    starred = [column for block in blocks for column in block.columns if block.nearest(column)]
    for aim, (high, most, less) in AIMS.items():
        if names := [column.measure.removesuffix(PERCENT) for column in dict.fromkeys(starred) if column.aim == aim]:
            yield BEST.format(names=listed(names), star=NEAREST, most=most, high=high, less=less) if aim else STARS
    yield from _copied(blocks)


def _copied(blocks: Sequence[Block]) -> Iterator[str]:
    """That samples with a star are copied."""
    near = {label for block in blocks for column in block.columns for label in block.nearest(column)}
    rows = [row.remarked for block in blocks for row in block.rows if row.copied and row.label in near]
    if rows:
        yield f"{NEAREST} says nothing good about copied text: {listed(list(dict.fromkeys(rows)))}."


def _meanings(columns: Sequence[Column]) -> list[str]:
    """What each measure means; a name with two meanings is followed by the title of its experiment."""
    titles: dict[str, dict[str, str]] = {}  # by meaning and name
    for column in columns:
        titles.setdefault(column.means, {}).setdefault(column.measure, column.title)
    meanings = Counter(name for named in titles.values() for name in named)
    return [
        f"{'; '.join(f'{name} ({title})' if meanings[name] > 1 else name for name, title in named.items())}: {means}."
        for means, named in titles.items()
    ]


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
    """One sentence for each corpus and measure: which sample is nearest to real text, and how many differ from it."""
    several = len(blocks) > 1
    return [
        _sentence(block, column, several) for block in blocks for column in block.columns if _compares(block, column)
    ]


def headline_of(blocks: Sequence[Block], experiment: str) -> tuple[str, Sentence | None]:
    """A headline by the first measure of an experiment that compares samples with real text, and its sentence.

    "" and None if there is no such measure.
    """
    several = len(blocks) > 1
    for block in blocks:
        for column in block.columns:
            if column.experiment == experiment and _compares(block, column):
                says = _compared(block, column, f" by “{column.measure.removesuffix(PERCENT)}”")
                start = f"On {block.corpus}, {says}" if several else f"O{says[1:]}" if says.startswith("of ") else says
                return start, _sentence(block, column, several)
    return "", None


def separation_of(block: Block, column: Column) -> str:
    """A sentence on how many documents would tell the two nearest samples apart; "" if `Block.apart` gives None."""
    apart = block.apart(column)
    if apart is None:
        return ""
    first, second, needed = apart
    by = f"by “{column.measure.removesuffix(PERCENT)}”"
    if needed is None:
        return f"{first} and {second} are too much alike {by} to say how many documents would tell them apart."
    if needed > MOST_NEEDED:
        return f"More than {MOST_NEEDED:,} documents of each would be needed to tell {first} and {second} apart {by}."
    return (
        f"About {float(f'{needed:.2g}'):,.0f} documents of each would tell {first} and {second} apart {by} in 80% of "
        "cases, if they differ as much as here."
    )


def separations(blocks: Sequence[Block]) -> list[str]:
    """For each corpus, `separation_of` its first measure that has such a sentence."""
    lines = [next(filter(None, (separation_of(block, c) for c in block.columns)), "") for block in blocks]
    named = zip(blocks, lines, strict=True)
    return [f"{block.corpus}: {line}" if len(blocks) > 1 else line for block, line in named if line]


def _compares(block: Block, column: Column) -> bool:
    """Whether a measure compares samples with real text."""
    return bool(block.samples(column)) and block.real(column) is not None


def _sentence(block: Block, column: Column, several: bool) -> Sentence:
    where = f" on {block.corpus}" if several else ""
    about = f"{', '.join(filter(None, (column.title, column.measure)))}{where}"
    strongest = max((cell.strength for _, cell in block.ranked(column)), default=0.0)
    return Sentence(column.experiment, about, _compared(block, column), column.section, strongest)


def chosen(pool: Sequence[Sentence]) -> list[Sentence]:
    """The sentences of the front page: the strongest one of each experiment, then the strongest others; in order."""
    ranked = sorted(pool, key=lambda sentence: -sentence.strength)
    first = {sentence.experiment: sentence for sentence in reversed(ranked)}
    rest = [sentence for sentence in ranked if first[sentence.experiment] is not sentence]
    best = sorted(first.values(), key=lambda sentence: -sentence.strength)
    return sorted([*best, *rest][:MOST_SENTENCES], key=lambda sentence: -sentence.strength)


def _compared(block: Block, column: Column, by: str = "") -> str:
    """Which sample is nearest to real text, `by` what, how far from it, and how many samples differ."""
    samples, real = block.samples(column), block.real(column)
    if real is None:
        return ""
    reference = f"{real.label} ({value_of(real.cells[column])})"
    if len(samples) == 1:
        share = column.measure.endswith(PERCENT)
        apart = _apart(samples[0][1], real.cells[column], " points" * share)
        return f"{_alone(*samples[0], f'{reference}{by}', apart)}."
    parts = [_nearest(block, column, real, by), *_tallied(samples)]
    return f"{'; '.join(filter(None, parts))}."


def _nearest(block: Block, column: Column, real: Row, by: str) -> str:
    """Which sample is nearest; "" if no sample can be compared."""
    near, best = block.nearest(column), block.best(column)
    if not best:
        return ""
    ranked, total = block.ranked(column), len(block.samples(column))
    ((of_best, cell),) = ((row, cell) for row, cell in ranked if row.label == best)
    share = column.measure.endswith(PERCENT)
    words, unit = _apart(cell, real.cells[column], " points" * share), "%" * share
    high, most, _ = AIMS[column.aim]
    against = f"; {real.label} has " if column.aim else " against "
    reference = f"{against}{value_of(real.cells[column])}{unit}{f', {words}' if words and not column.aim else ''}"
    is_best = f"has the {most} value" if column.aim else f"is nearest to {real.label}"
    start = f"of {total} samples, {of_best.remarked} {is_best}{by} ({value_of(cell)}{unit}{reference})"
    others = [row for row, _ in ranked if row.label in near and row.label != best]
    if not others:
        return start
    if len(others) + 1 == len(ranked) and len(others) > 1:
        return f"{start}, but all the others may be as {high}"
    return f"{start}, but {_listed(others)} may be as {high}"


def _apart(cell: Cell, real: Cell, points: str = "") -> str:
    """How far the value of a sample is from real text's, in words; "" if real text's is 0, or they are the same."""
    value, reference = cell.number.value, real.number.value
    if value is None or not reference or not math.isfinite(value) or cell.verdict == SAME:
        return ""
    if cell.scores[0].by_ratio:
        return _times(value / reference)
    return f"{number(abs(value - reference), 2)}{points} {'more' if value > reference else 'less'}"


def _times(ratio: float) -> str:
    """A ratio in words: `2.1 times as much`, `4.0% more`, `12% less`, `about the same`."""
    if abs(ratio - 1) < ABOUT:
        return "about the same"
    if ratio < 1:
        return f"{percent(1 - ratio)} less"
    return f"{percent(ratio - 1)} more" if ratio < LITTLE else f"{number(ratio, 2)} times as much"


def _tallied(samples: Sequence[tuple[Row, Cell]]) -> list[str]:
    """How many samples differ from real text, are the same, and so on; together these are all samples."""
    lost = [row for row, cell in samples if not cell.is_ranked]
    verdicts = {
        verdict: [row for row, cell in samples if cell.is_ranked and cell.verdict == verdict]
        for verdict in (DIFFERENT, SAME, UNCLEAR, NOT_TESTED)
    }
    total = len(samples)
    words = {
        DIFFERENT: ("differs", "differ"),
        SAME: ("is the same within the margin", "are the same within the margin"),
        UNCLEAR: ("may or may not differ", "may or may not differ"),
        NOT_TESTED: ("was not tested", "were not tested"),
    }
    parts = []
    for verdict, rows in verdicts.items():
        if rows:
            who = ("both" if total == 2 else f"all {total}") if len(rows) == total else _named(rows)
            parts.append(f"{who} {words[verdict][len(rows) > 1]}")
    few = [(row, cell.n) for row, cell in samples if cell.is_ranked and cell.n is not None and cell.n < LEAST_UNITS]
    counts = f" (n = {listed([f'{n} of {row.label}' for row, n in few])})" if few else ""
    compared = [f"compared with real text{counts}, {', '.join(parts)}"] if parts else []
    return [
        *compared,
        *[f"{_named(lost)} lost more than half of {'its' if len(lost) == 1 else 'their'} documents"] * bool(lost),
    ]


def _alone(row: Row, cell: Cell, reference: str, apart: str) -> str:
    """A sentence on the only sample; `apart` says how far it is from real text."""
    doubt = "" if cell.number.low is None else doubt_of(cell)
    if cell.verdict == NOT_SCORED:
        why = next((f" ({score.because})" for score in cell.scores if score.because), "")
        return f"of {row.label} nothing could be scored{why}"
    p_note = "" if cell.p is None else p_value(cell.p)
    least = noticed_of(cell)
    noticed = f"a difference of {least} would be noticed in 80% of cases" if least else ""
    details = "; ".join(filter(None, (doubt, p_note, noticed)))
    value = f"{value_of(cell)}{f', {apart}' if apart and cell.verdict == DIFFERENT else ''}"
    value += f" ({details})" if details else ""
    lost = f", but {percent(cell.left_out)} of its documents are left out" if cell.left_out >= WORTH_SAYING else ""
    match cell.verdict:
        case "different":
            words = f"scores {cell.way} than {reference}"
        case "same":
            words = f"is the same as {reference} within the margin"
        case "unclear":
            words = f"may or may not differ from {reference}"
        case _:
            words = f"was not tested against {reference}"
    return with_n(cell.n, f"{row.remarked} {words}: {value}{lost}")


def _named(rows: Sequence[Row]) -> str:
    """How many samples, and their names if they are few."""
    names = "; ".join(row.label for row in rows)
    return str(len(rows)) if len(rows) > FEW else f"{len(rows)} ({names})"


def _listed(rows: Sequence[Row]) -> str:
    """The names of at most `FEW` samples; of more, their number and how many are copied."""
    if len(rows) <= FEW:
        return listed([row.remarked for row in rows])
    copied = sum(bool(row.copied) for row in rows)
    return f"{len(rows)} others{f' ({copied} of them mostly copied)' if copied else ''}"
