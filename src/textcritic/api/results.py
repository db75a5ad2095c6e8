"""Results as Python has them: numbers with intervals, a data frame, text, HTML for notebooks, and a page."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from textcritic.critics.tendencies.verdicts import TENDENCIES
from textcritic.inference import ALPHA

# `textcritic chains` prints numbers alone, so pandas and the report's helpers are loaded where a result is shown.
if TYPE_CHECKING:
    import pandas as pd

REAL = "real text"

HEADS = ("source", "value", "95% interval", "p", "documents", "rejected", "verdict")
FOOT = "p: permutation test against held-out real text; different: p < 0.05, same: within what chance explains."

# What tables call a measure, and what it says.
MEASURES: Mapping[str, tuple[str, str]] = {
    "latent_ppl": ("Latent PPL", "lower: a likelier order; real text is the yardstick"),
    "latent_nll": ("Latent NLL of a document, nats", "that of real text is the yardstick; lower alone is no praise"),
    "mixed": ("Words of another topic than most of their text, share", "0: each text keeps to one topic"),
    "energy": ("Energy distance of topic shares, corrected", "0: as in real text"),
    "distance": ("Distance of topic covariances", "0: as in real text, 1: as far from it as none at all"),
    "not_kept": (f"Tendencies not kept, of {len(TENDENCIES)}", "0: as in real text"),
    **{tendency.name: (tendency.title, "distance from real text") for tendency in TENDENCIES},
}


@dataclass(frozen=True, slots=True)
class Score:
    """One number of one source.

    Attributes:
        source: what the source is called; `REAL` is held-out real text.
        measure: "latent_ppl", "latent_nll" (nats a document), "distance" (of topic covariances, corrected), "mixed"
            (share of words outside their text's main topic), "energy" (distance of topic shares, corrected), "not_kept"
            (statistical tendencies of real text that a sample does not keep to), or the name of one of these.
        value: of all documents that are scored; infinity is possible.
        low, high: 95% interval by document bootstrap; None where the value is infinite.
        p: permutation test against held-out real text, two-sided; None for real text, and for infinite values.
        n: documents scored.
        rejected: documents that could not be scored.
        rejected_by_reason: how many for each reason; of articles that is in the report.
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

    @property
    def verdict(self) -> str:
        """Whether the source can be told from real text: "different" if p < 0.05, else "same"; "" without a test."""
        return "" if self.p is None else "different" if self.p < ALPHA else "same"


@dataclass(frozen=True, repr=False, kw_only=True)
class Result:
    """Scores of some sources; `print` shows them, a notebook shows a table.

    Attributes:
        title: what was done.
        scores: of each source and measure, real text first.
        facts: (what, words) on how the numbers were computed.
        page: the report, if one was written.
    """

    title: str
    scores: tuple[Score, ...]
    facts: tuple[tuple[str, str], ...]
    page: Path | None = None

    @property
    def table(self) -> "pd.DataFrame":
        """A row for each source and measure, in full precision; the columns are the attributes of `Score`."""
        import pandas as pd

        rows = []
        for score in self.scores:
            reasons = "; ".join(f"{reason}: {n}" for reason, n in score.rejected_by_reason.items())
            rows.append(asdict(score) | {"verdict": score.verdict, "rejected_by_reason": reasons})
        table = pd.DataFrame(rows)
        return table.astype(dict.fromkeys(("value", "low", "high", "p"), float))

    def __getitem__(self, source: str) -> dict[str, Score]:
        """The scores of a source, by measure.

        Raises:
            KeyError: there is no such source.
        """
        found = {score.measure: score for score in self.scores if score.source == source}
        if not found:
            raise KeyError(f"{source!r}; the sources are {', '.join(dict.fromkeys(s.source for s in self.scores))}")
        return found

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

    def __repr__(self) -> str:
        lines = [self.title]
        for name, words, heads, rows in self.blocks():
            lines += ["", f"{name} ({words})", "", *_lines(heads, rows)]
        lines += ["", self._foot(), *(["", f"report: {self.page}"] if self.page else [])]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        import pandas as pd

        where = f" Report: {self.page}" if self.page else ""
        parts = [f"<p><strong>{escape(self.title)}</strong></p>"]
        for name, words, heads, rows in self.blocks():
            table = pd.DataFrame(rows, columns=list(heads))
            parts.append(f"<p>{escape(name)} ({escape(words)})</p>")
            parts.append(table.to_html(index=False, border=0, escape=True))
        return "<div>" + "\n".join([*parts, f"<p>{escape(self._foot() + where)}</p>"]) + "</div>"

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
    from textcritic.report.numbers import count, interval, number, p_value

    return (
        score.source,
        number(score.value),
        "" if score.low is None else interval(score.low, score.high),
        "" if score.p is None else p_value(score.p).removeprefix("p ").removeprefix("= "),
        count(score.n),
        count(score.rejected),
        score.verdict,
    )
