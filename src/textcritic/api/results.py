"""Results as Python has them: numbers with intervals, a data frame, text, HTML for notebooks, and a page."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from textcritic.critics.tendencies.verdicts import TENDENCIES
from textcritic.inference import MARGIN, Nearness, Number, gap, limit_of, nearest, nearness, verdict

# `textcritic chains` prints numbers alone, so pandas and the report's helpers are loaded where a result is shown.
if TYPE_CHECKING:
    import pandas as pd

REAL = "real text"

HEADS = ("source", "value", "95% interval", "p", "documents", "rejected", "verdict")
FOOT = (
    "p: permutation test against held-out real text. different: p < 0.05; same: the 95% interval of the difference "
    "from real text lies within a tenth of its value (within 0.1 of a distance of 0); unclear: neither."
)
WIDTH = 110  # of what stands under a table
BY_RATIO = {"latent_ppl"}
DISTANCES = {"energy", "distance"}  # from real text, which is at 0

# What tables call a measure, and what it says.
MEASURES: Mapping[str, tuple[str, str]] = {
    "latent_ppl": ("Latent PPL", "lower: a likelier order; real text is the yardstick"),
    "latent_nll": ("Latent NLL of a document, nats", "to compare with that of real text; lower is not better"),
    "nll_gap": ("Latent NLL minus real text's, nats", "0: as in real text; lower is not better"),
    "mixed": ("Words of another topic than most of their text, share", "0: each text keeps to one topic"),
    "recited": ("13-grams that stand in the training text, share", "that of real text is the yardstick"),
    "energy": ("Energy distance of topic shares, corrected", "0: as in real text"),
    "distance": ("Distance of topic covariances", "0: as in real text, 1: as far from it as none at all"),
    "not_kept": (f"Tendencies that differ, of {len(TENDENCIES)}", "0: as in real text"),
    **{tendency.name: (tendency.title, "distance from real text") for tendency in TENDENCIES},
}


@dataclass(frozen=True, slots=True, repr=False)
class Score:
    """One number of one source.

    Attributes:
        source: what the source is called; `REAL` is held-out real text.
        measure: "latent_ppl", "latent_nll" (nats a document), "nll_gap" (the sample's minus real text's), "distance"
            (of topic covariances, corrected), "mixed" (share of words outside their text's main topic), "energy"
            (distance of topic shares, corrected), "not_kept" (statistical tendencies that a sample differs from real
            text in), or the name of one of these; "recited" (share of 13-grams that stand in the training text).
        value: of all documents that are scored; infinity is possible.
        low, high: 95% interval by document bootstrap; None where the value is infinite, or there are fewer than 20
            documents.
        p: permutation test against held-out real text, two-sided; None for real text, and for infinite values.
        n: documents scored.
        rejected: documents that could not be scored.
        rejected_by_reason: how many for each reason; of articles that is in the report.
        real: the score of real text; `Result` puts it there.
    """

    source: str
    measure: str
    value: float
    low: float | None
    high: float | None
    p: float | None
    n: int
    rejected: int = 0
    rejected_by_reason: Mapping[str, int] = field(default_factory=dict)
    real: "Score | None" = field(default=None, repr=False)

    @property
    def number(self) -> Number:
        """The value with its interval."""
        return Number(self.value, self.low, self.high)

    def __repr__(self) -> str:
        source, value, interval, p, documents, _, verdict = _cells(self)
        parts = [interval and f"95% {interval}", p and f"p {p if p.startswith('<') else f'= {p}'}", verdict]
        beside = "; ".join([*filter(None, parts), f"{documents} documents"])
        return f"<{self.measure} of {source}: {value} ({beside})>"

    @property
    def verdict(self) -> str:
        """Whether the source differs from real text: "different", "same" or "unclear"; "" without a test.

        "different" if p < 0.05; "same" if the 95% interval of the difference lies within a tenth of real text's value,
        or within 0.1 of 0 for a distance.
        """
        if self.p is None:
            return ""
        by_ratio, absolute = self.measure in BY_RATIO, self.measure in DISTANCES
        real = self.yardstick
        if real is None:
            return verdict(self.p, None, None)
        apart = None if self.low is None else gap(self.number, real, by_ratio)
        return verdict(self.p, apart, limit_of(MARGIN, real.value or 0.0, by_ratio, absolute))

    def nearer_than(self, other: "Score") -> Nearness | None:
        """How far this source is from real text, minus how far another one is; None where that cannot be said.

        Args:
            other: of the same measure.
        """
        real = self.yardstick
        return None if real is None else nearness(self.number, other.number, real, self.measure in BY_RATIO)

    @property
    def yardstick(self) -> Number | None:
        """What real text has; None where it has no interval."""
        if self.measure in DISTANCES:
            return Number(0.0)
        return None if self.real is None or self.real.low is None else self.real.number


class _Scores(dict[str, Score]):
    """The scores of one source by measure, whose names an unknown one is told."""

    def __missing__(self, measure: str) -> Score:
        raise KeyError(f"{measure!r}; the measures are {', '.join(self)}")


@dataclass(frozen=True, repr=False, kw_only=True)
class Result:
    """Scores of some sources; `print` shows them, a notebook shows a table.

    Attributes:
        title: what was done.
        scores: of each source and measure, real text first.
        facts: (what, words) on how the numbers were computed.
        page: the report, if one was written.
        warnings: what a reader has to know before any of the numbers, in sentences; mostly there is nothing.
    """

    title: str
    scores: tuple[Score, ...]
    facts: tuple[tuple[str, str], ...]
    page: Path | None = None
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        real = {score.measure: score for score in self.scores if score.source == REAL}
        scores = tuple(
            score if score.source == REAL else replace(score, real=real.get(score.measure)) for score in self.scores
        )
        object.__setattr__(self, "scores", scores)

    @property
    def table(self) -> "pd.DataFrame":
        """A row for each source and measure, in full precision; the columns are the attributes of `Score`."""
        import pandas as pd

        rows = []
        for score in self.scores:
            reasons = "; ".join(f"{reason}: {n}" for reason, n in score.rejected_by_reason.items())
            row = asdict(replace(score, real=None)) | {"verdict": score.verdict, "rejected_by_reason": reasons}
            del row["real"]
            rows.append(row)
        table = pd.DataFrame(rows)
        return table.astype(dict.fromkeys(("value", "low", "high", "p"), float))

    def __getitem__(self, source: str) -> dict[str, Score]:
        """The scores of a source, by measure.

        Raises:
            KeyError: there is no such source; of what is given, there is no such measure.
        """
        found = _Scores({score.measure: score for score in self.scores if score.source == source})
        if not found:
            raise KeyError(f"{source!r}; the sources are {', '.join(dict.fromkeys(s.source for s in self.scores))}")
        return found

    def compare(self, first: str, second: str) -> dict[str, Nearness]:
        """Which of two sources is nearer to real text, by measure; measures that cannot compare them are left out.

        Of each: `difference`, the distance of the first from real text minus that of the second (of logarithms, if
        `by_ratio`), its 95% interval `low` to `high`, and `p`. It is negative where the first is nearer. The p-values
        are of these two sources alone; who looks at many pairs corrects them for their number.

        Raises:
            KeyError: there is no such source.
        """
        one, other = self[first], self[second]
        found = {measure: one[measure].nearer_than(other[measure]) for measure in one if measure in other}
        return {measure: near for measure, near in found.items() if near is not None}

    def nearest(self, measure: str) -> list[str]:
        """The source that is nearest to real text by a measure, and all that may be as near (see `inference.nearest`).

        An empty list where there are fewer than two sources beside real text, or real text has no interval.

        Raises:
            KeyError: there is no such measure.
        """
        measures = dict.fromkeys(score.measure for score in self.scores)
        if measure not in measures:
            raise KeyError(f"{measure!r}; the measures are {', '.join(measures)}")
        samples = [score for score in self.scores if score.measure == measure and score.source != REAL]
        real = samples[0].yardstick if samples else None
        if real is None or len(samples) < 2:
            return []
        near = nearest([score.number for score in samples], real, measure in BY_RATIO)
        return [score.source for score, is_near in zip(samples, near, strict=True) if is_near]

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write a page that needs no other file, with chart, tables and how they were computed; gives its path."""
        from textcritic.api.page import write_page  # matplotlib is loaded for this alone

        return write_page(self, path)

    def blocks(self) -> Iterator[tuple[str, str, Sequence[str], list[Sequence[str]]]]:
        """Of each measure: its name, what it says, the heads of its table, and the table's cells."""
        for measure in dict.fromkeys(score.measure for score in self.scores):
            name, words = MEASURES[measure]
            heads = HEADS
            yield name, words, heads, [_cells(score) for score in self.scores if score.measure == measure]

    def tables(self) -> Iterator[tuple[str, str, Sequence[str], list[Sequence[str]]]]:
        """What is printed: by default the blocks."""
        return self.blocks()

    def __repr__(self) -> str:
        lines = [self.title]
        for name, words, heads, rows in self.tables():
            lines += ["", f"{name} ({words})", "", *_lines(heads, rows), *wrap(self._nearest(name), WIDTH)]
        lines += [line for words in self._left_out() for line in ("", *wrap(words, WIDTH))]
        lines += [line for words in self.warnings for line in ("", *wrap(f"warning: {words}", WIDTH))]
        lines += ["", *wrap(self._foot(), WIDTH), *(["", f"report: {self.page}"] if self.page else [])]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        import pandas as pd

        where = f" Report: {self.page}" if self.page else ""
        parts = [f"<p><strong>{escape(self.title)}</strong></p>"]
        for name, words, heads, rows in self.tables():
            table = pd.DataFrame(rows, columns=list(heads))
            parts.append(f"<p>{escape(name)} ({escape(words)})</p>")
            parts.append(table.to_html(index=False, border=0, escape=True))
            parts += [f"<p>{escape(words)}</p>"] if (words := self._nearest(name)) else []
        parts += [f"<p>{escape(words)}</p>" for words in self._left_out()]
        parts += [f"<p><strong>Warning.</strong> {escape(words)}</p>" for words in self.warnings]
        return "<div>" + "\n".join([*parts, f"<p>{escape(self._foot() + where)}</p>"]) + "</div>"

    def _left_out(self) -> list[str]:
        """How many documents of each source were rejected, and why."""
        from textcritic.measures.numbers import plural

        said = []
        for score in self.scores:
            if score.rejected_by_reason:
                reasons = "; ".join(f"{reason}: {n:,}" for reason, n in score.rejected_by_reason.items() if n)
                said.append(f"{score.source}: {plural(score.rejected, 'document')} rejected ({reasons})")
        return list(dict.fromkeys(said))

    def _nearest(self, name: str) -> str:
        """Which source is nearest to real text by the measure of this name, in a sentence; "" where none can be."""
        measure = next((measure for measure, (called, _) in MEASURES.items() if called == name), None)
        near = self.nearest(measure) if measure else []
        if not near:
            return ""
        same = "" if len(near) == 1 else " (which of them cannot be said)"
        return f"Nearest to real text: {', '.join(near)}{same}."

    def _foot(self) -> str:
        tested = any(score.p is not None for score in self.scores)
        return FOOT if tested else "No test: one source."


def _lines(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of a table: words flush left, numbers flush right."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for cells in (heads, *rows):
        name, *numbers, verdict = (
            cell.ljust(width) if place in (0, len(heads) - 1) else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        yield "  ".join([name, *numbers, verdict]).rstrip()


def _cells(score: Score) -> Sequence[str]:
    from textcritic.measures.numbers import count, counted, interval, p_value

    return (
        score.source,
        counted(score.value, score.low),
        "" if score.low is None else interval(score.low, score.high),
        "" if score.p is None else p_value(score.p).removeprefix("p ").removeprefix("= "),
        count(score.n),
        count(score.rejected),
        score.verdict,
    )
