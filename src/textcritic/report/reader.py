"""Documents to read: a reader with a table of their scores, next to their texts, and the table of texts alone."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from markupsafe import Markup

from textcritic.inference import DIFFERENT
from textcritic.measures.names import SourceNames
from textcritic.measures.numbers import plural
from textcritic.measures.score import Score
from textcritic.plan.sources import DATA, GROUP
from textcritic.report.cells import by_source
from textcritic.report.sheet import Cell, Sheet
from textcritic.values import Row

Entry = str | tuple[str, float]


@dataclass(frozen=True, slots=True)
class Document:
    """A document to read.

    Attributes:
        title: what it is called.
        entries: its row in the table of scores, after the title: words, or (a number as people read it, the number to
            sort by). The last ones may be missing.
        shown: what the template of the kind shows of it; None where its text is not in the page.
        name: its id, where that is not its title.
    """

    title: str
    entries: tuple[Entry, ...]
    shown: Any = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Shelf:
    """The documents of a source.

    Attributes:
        keys: of the source, as every table has them.
        label: what the source is called.
        documents: the worst one first.
        note: a remark above them.
    """

    keys: Row
    label: str
    documents: Sequence[Document]
    note: str = ""

    @property
    def is_real(self) -> bool:
        """Whether it is real text."""
        return bool(self.keys["generator"] == DATA)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader shows.

    Attributes:
        heads: of the columns of the table of scores: the document's title, and each of its entries.
        shelves: the sources.
        start: the place of the one that is open first.
    """

    heads: Sequence[str]
    shelves: Sequence[Shelf]
    start: int = 0

    @classmethod
    def of(cls, heads: Sequence[str], shelves: Sequence[Shelf], card: Sequence[Score]) -> "Reading":
        """One that opens with the worst sample by the first measure of a card."""
        return cls(heads, shelves, opened([shelf.keys for shelf in shelves], card))


def shelves_of(rows: pd.DataFrame, names: SourceNames, document: Callable[[Row], Document]) -> list[Shelf]:
    """A shelf for each source, with a document for each of its rows; `names` are those of the sources."""
    return [
        Shelf(group.iloc[0].to_dict(), label, [document(row) for row in group.to_dict("records")])
        for label, group in by_source(rows, names)
    ]


def texts_sheet(
    heading: tuple[str, str],
    groups: Iterable[tuple[str, pd.DataFrame]],
    numbers: Mapping[str, Callable[[Row], str]],
    texts: Mapping[str, str],
    remarks: Sequence[str] = (),
) -> Sheet:
    """A table of documents or passages: the name of each source, and under it a row for each of them.

    Args:
        heading: name and caption of the table.
        groups: the name of each source, and the rows of its texts, as `by_source` gives them.
        numbers: the first columns by their heads, each a function of a row.
        texts: the columns behind them by their heads, each a column of the rows; the last is running text.
        remarks: under the table.
    """
    heads = [*map(Cell, numbers), *(Cell(head, words=True) for head in texts)]
    body: list[list[Cell]] = []
    for name, group in groups:
        body.append([Cell(name, span=len(heads), heading=True)])
        for row in group.to_dict("records"):
            words = (Cell(row[column], words=True) for column in texts.values())
            body.append([*(Cell(of(row)) for of in numbers.values()), *words])
    return Sheet(*heading, [heads], body, remarks=remarks, prose=True)


def farthest(scores: Sequence[Score]) -> Score | None:
    """The sample that is farthest from real text by the first measure of a card, among those that differ if any does.

    A control and a generator that is there to be bad count only if there is no other sample; None if no sample has a
    score.
    """
    of_first = [score for score in scores if score.measure == scores[0].measure and not score.is_real]
    with_value = [score for score in of_first if score.value is not None]
    wanted = [score for score in with_value if not (score.baseline or score.control)] or with_value
    return max(wanted, key=lambda score: (score.verdict == DIFFERENT, _distance(score)), default=None)


def opened(sources: Sequence[Row], scores: Sequence[Score]) -> int:
    """The place of the source that a reader opens with: the `farthest`, else the first sample, else 0.

    Args:
        sources: the keys of each.
        scores: the card of the kind, by its first measure.
    """
    worst = farthest(scores)
    samples = [place for place, keys in enumerate(sources) if keys["generator"] != DATA]
    same = [n for n in samples if worst and all(str(sources[n][key]) == str(getattr(worst, key)) for key in GROUP)]
    return next(iter([*same, *samples]), 0)


def reader_html(name: str, reading: Reading, caller: Callable[[object], Markup]) -> Markup:
    """The documents of several sources as HTML; without JavaScript all of them are shown one after the other.

    Args:
        name: an element id that nothing else begins with.
        reading: what is shown.
        caller: gives the text of a document from what it shows.
    """
    options, shelves = [], []
    for place, shelf in enumerate(reading.shelves):
        options.append(Markup("<option{}>{}</option>").format(_flag("selected", place == reading.start), shelf.label))
        shelves.append(_shelf(f"{name}-{place}", reading.heads, shelf, caller))
    return Markup(
        '<div class="reading"><div class="sides"><div class="side" role="group" aria-label="Document">'
        '<div class="controls" hidden><label>Source <select data-part="source">{}</select></label>'
        '<label>Filter by name or words <input type="search" data-part="filter"></label>'
        '<button type="button" data-part="back">Previous</button><button type="button" data-part="next">Next</button>'
        '<button type="button" data-part="second">Open a second document</button></div>'
        '<p class="note" data-part="place" role="status" hidden></p>{}</div></div></div>'
    ).format(Markup("").join(options), Markup("\n").join(shelves))


def _shelf(name: str, heads: Sequence[str], shelf: Shelf, caller: Callable[[object], Markup]) -> Markup:
    ids = [f"{name}-{place}" for place in range(len(shelf.documents))]
    named = list(zip(ids, shelf.documents, strict=True))
    texts = [_article(where, document, caller) for where, document in named if document.shown is not None]
    table = _table(heads, shelf, named) if named else Markup("<p>No document of this source has a score.</p>")
    return Markup('<div class="shelf" data-corpus="{}"{}><h4>{}</h4>{}{}<div class="reader">{}</div></div>').format(
        shelf.keys["corpus"],
        _flag("data-real", shelf.is_real),
        shelf.label,
        Markup('<p class="note">{}</p>').format(shelf.note) if shelf.note else "",
        table,
        Markup("\n").join(texts),
    )


def _table(heads: Sequence[str], shelf: Shelf, named: Sequence[tuple[str, Document]]) -> Markup:
    widest = max((document.entries for document in shelf.documents), key=len)
    numeric = [isinstance(entry, tuple) for entry in widest] + [False] * (len(heads) - 1 - len(widest))
    top = [_head(head, number) for head, number in zip(heads, [False, *numeric], strict=True)]
    rows = [_row(where, document, len(heads) - 1) for where, document in named]
    caption = f"{plural(len(rows), 'document')} of {shelf.label}"
    return Markup(
        '<div class="scores"><table><caption><span class="heard">{}</span></caption>'
        "<thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>"
    ).format(caption, Markup("").join(top), Markup("\n").join(rows))


def _head(words: str, number: bool) -> Markup:
    return Markup('<th scope="col"{}>{}</th>').format(_flag('class="number"', number), words)


def _row(where: str, document: Document, columns: int) -> Markup:
    title = Markup('<a href="#{}">{}</a>').format(where, document.title)
    small = document.name
    if document.shown is None:
        title, small = Markup.escape(document.title), f"{small} text not shown".strip()
    title += Markup("<small>{}</small>").format(small) if small else ""
    cells = [_cell(entry) for entry in (*document.entries, *[""] * (columns - len(document.entries)))]
    return Markup('<tr><th scope="row">{}</th>{}</tr>').format(title, Markup("").join(cells))


def _cell(entry: Entry) -> Markup:
    if isinstance(entry, str):
        return Markup("<td>{}</td>").format(entry)
    words, value = entry
    sort_key = ("-" * (value < 0) + "Infinity") if math.isinf(value) else f"{value:.6g}"
    return Markup('<td class="number" data-value="{}">{}</td>').format(sort_key, words)


def _article(where: str, document: Document, caller: Callable[[object], Markup]) -> Markup:
    return Markup('<article id="{}"><h5>{}</h5>{}</article>').format(where, document.title, caller(document.shown))


def _flag(name: str, holds: bool) -> Markup:
    return Markup(f" {name}" if holds else "")


def _distance(score: Score) -> float:
    """How far a score is from real text's, in logarithms if it is compared by ratio; 0 if that is not known."""
    value, real = score.value, score.real.value if score.real else None
    if value is None or real is None or value == real:
        return 0.0
    if score.by_ratio and value > 0 and real > 0:
        return abs(math.log(value) - math.log(real))
    return abs(value - real)
