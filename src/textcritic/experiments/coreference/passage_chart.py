"""A passage for print: its text, its chain, and the critic's view of one mention, set in lines without overlaps."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ft2font import LoadFlags
from matplotlib.patches import Rectangle

from textcritic.experiments.coreference.passages import Passage, Piece, Token, pieces
from textcritic.experiments.coreference.why import nats, written
from textcritic.report.palette import INK, MUTED
from textcritic.report.style import new_figure

# Colours of persons 0, 1, ... (Okabe and Ito's and two more); later persons are grey. The report's reader has the same
# colours in section.css.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#7a4fa3")
MARKED = "#b3261e"
SIZE, SMALL, TINY = 10.0, 9.0, 8.0  # points
LINE, PLAIN_LINE, GAP = 27.0, 13.5, 9.0  # points: of lines with numbers below, without, and between blocks
MISSING = "\N{WHITE SQUARE}"
INCH = 72.0


@dataclass(frozen=True, slots=True)
class Chunk:
    """Text that is set as one unit.

    Attributes:
        text: the text.
        space: whether there is a space before it, where a line may break.
        size: points.
        bold: whether it is bold.
        colour: of the text.
        person: number of the person whose colour is its background; None for none.
        number: set after it as a small subscript.
        below: small text below it.
        marked: whether it has a frame.
    """

    text: str
    space: bool = False
    size: float = SIZE
    bold: bool = False
    colour: str = INK
    person: int | None = None
    number: str = ""
    below: str = ""
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Caption:
    """The words around a passage: `title`, `about` above its text, and `says` below its chain."""

    title: str
    about: str
    says: Sequence[str]


def passage_chart(passage: Passage | None, marked: Token | None, caption: Caption, width: float) -> Figure:
    """A passage, the log P of each of its tokens, and the caption.

    Characters that the font does not have, such as emoji, are drawn as empty squares.

    Args:
        passage: None draws only the caption.
        marked: the token with a frame.
        caption: words around it.
        width: inches.
    """
    blocks = [_plain(caption.title, bold=True), _plain(caption.about, colour=MUTED, size=SMALL)]
    if passage is not None:
        blocks += [_text(passage, marked), _chain(passage, marked)]
    blocks += [_plain(line, size=SMALL) for line in caption.says]
    set_blocks = [_lines(block, width * INCH) for block in blocks]
    heights = [_height(block) for block in blocks]
    total = sum(h * len(lines) for h, lines in zip(heights, set_blocks, strict=True)) + GAP * (len(blocks) + 1)
    figure = new_figure(width, total / INCH)
    y = total - GAP
    for lines, height in zip(set_blocks, heights, strict=True):
        for line in lines:
            y -= height
            _draw(figure, line, y + height - PLAIN_LINE)
        y -= GAP
    return figure


def _text(passage: Passage, marked: Token | None) -> list[Chunk]:
    """The text of a passage, broken at white space; any white space becomes one space."""
    chunks: list[Chunk] = []
    spaced = False
    for piece in pieces(passage):
        words = piece.text.split()
        if not words:
            spaced = True
            continue
        for number, word in enumerate(words):
            space = (spaced or piece.text[0].isspace()) if number == 0 else True
            chunks.append(_worded(piece, word, space and bool(chunks), number == len(words) - 1, marked))
        spaced = piece.text[-1].isspace()
    return chunks


def _worded(piece: Piece, word: str, space: bool, last: bool, marked: Token | None) -> Chunk:
    chunk = Chunk(word, space, person=piece.person)
    if not piece.words:
        return chunk
    chunk = replace(chunk, bold=True, person=piece.words[-1].symbol.person)
    if not (piece.ends and last):
        return chunk
    places = [token.place for token in piece.ends]
    return replace(
        chunk,
        number=", ".join(str(token.symbol.person) for token in piece.ends),
        below=", ".join(nats(token.log_prob) for token in piece.ends),
        marked=marked is not None and marked.place in places,
    )


def _chain(passage: Passage, marked: Token | None) -> list[Chunk]:
    return [
        Chunk(
            written(token.symbol),
            bool(n),
            person=token.symbol.person,
            below=nats(token.log_prob),
            marked=marked is not None and token.place == marked.place,
        )
        for n, token in enumerate(passage.tokens)
    ]


def _plain(text: str, bold: bool = False, colour: str = INK, size: float = SIZE) -> list[Chunk]:
    return [Chunk(word, bool(n), size, bold, colour) for n, word in enumerate(text.split())]


def _height(block: Sequence[Chunk]) -> float:
    return LINE if any(chunk.below for chunk in block) else PLAIN_LINE


@dataclass(frozen=True, slots=True)
class _Placed:
    """A chunk at `x` of a line, both in points; `text` and `whole` are its widths without and with its number."""

    chunk: Chunk
    x: float
    text: float
    whole: float


def _lines(block: Sequence[Chunk], room: float) -> list[list[_Placed]]:
    """Chunks in lines of `room` points; chunks without a space between them stay together if they fit."""
    lines: list[list[_Placed]] = [[]]
    x = 0.0
    for group in _groups(block):
        sized = [part for chunk in group for part in _cut(chunk, room)]
        width = sum(_widths(chunk)[2] for chunk in sized)
        space = _width(" ", group[0].size, group[0].bold) if group[0].space and lines[-1] else 0.0
        if lines[-1] and x + space + width > room:
            lines.append([])
            x, space = 0.0, 0.0
        x += space
        for chunk in sized:
            text, whole, advance = _widths(chunk)
            if lines[-1] and x + advance > room:
                lines.append([])
                x = 0.0
            lines[-1].append(_Placed(chunk, x + (advance - whole) / 2, text, whole))
            x += advance
    return [line for line in lines if line]


def _groups(block: Sequence[Chunk]) -> Iterator[list[Chunk]]:
    group: list[Chunk] = []
    for chunk in block:
        if chunk.space and group:
            yield group
            group = []
        group.append(chunk)
    if group:
        yield group


def _cut(chunk: Chunk, room: float) -> list[Chunk]:
    """A chunk, or its parts if it is wider than a line; the last part has the number and the text below."""
    if _widths(chunk)[2] <= room or len(chunk.text) < 2:
        return [chunk]
    most = max(1, int(len(chunk.text) * 0.9 * room / _widths(chunk)[2]))
    first = replace(chunk, text=chunk.text[:most], number="", below="", marked=False)
    return [first, *_cut(replace(chunk, text=chunk.text[most:], space=False), room)]


def _widths(chunk: Chunk) -> tuple[float, float, float]:
    """Widths in points: of the text, of the text with its number, and of both with the text below."""
    text = _width(chunk.text, chunk.size, chunk.bold)
    whole = text + _width(chunk.number, TINY, True) + (1.5 if chunk.number else 0.0)
    return (
        text,
        whole,
        max(whole + 2.0 * (chunk.number != ""), _width(chunk.below, TINY, chunk.marked) + 4 * (chunk.below != "")),
    )


def _draw(figure: Figure, line: Sequence[_Placed], y: float) -> None:
    """Draw a line of text with its base line 3 points above `y`."""
    base = y + 3.0
    for placed in _merged(line):
        chunk, x = placed.chunk, placed.x
        if chunk.person is not None:
            _behind(figure, placed, y)
        if chunk.marked:
            _box(figure, (x - 1.5, y - 0.5, placed.whole + 3, 13.5), facecolor="none", edgecolor=MARKED, linewidth=1.2)
        middle = x + placed.text / 2
        _say(figure, chunk.text, (middle, base), _font(chunk.size, chunk.bold), chunk.colour)
        _say(figure, chunk.number, (x + (placed.text + placed.whole) / 2 + 0.5, base - 2.0), _font(TINY, True), INK)
        colour = MARKED if chunk.marked else MUTED
        _say(figure, chunk.below, (x + placed.whole / 2, y - 8.5), _font(TINY, chunk.marked), colour)


def _merged(line: Sequence[_Placed]) -> list[_Placed]:
    """Neighbouring plain words as one text, so that programs that read the figure find connected text."""
    merged: list[_Placed] = []
    for placed in line:
        last = merged[-1] if merged else None
        if last is None or not (_is_plain(last.chunk) and _is_plain(placed.chunk)):
            merged.append(placed)
            continue
        text = last.chunk.text + " " * placed.chunk.space + placed.chunk.text
        width = placed.x + placed.text - last.x
        merged[-1] = _Placed(replace(last.chunk, text=text), last.x, width, width)
    return merged


def _is_plain(chunk: Chunk) -> bool:
    return chunk.person is None and not chunk.below and not chunk.number


def _behind(figure: Figure, placed: _Placed, y: float) -> None:
    person = placed.chunk.person
    colour = COLOURS[person] if person is not None and 0 <= person < len(COLOURS) else MUTED
    strong = placed.chunk.bold or placed.chunk.below != ""
    _box(figure, (placed.x, y, placed.text, 12.5), facecolor=colour, alpha=0.32 if strong else 0.14, linewidth=0)
    _box(figure, (placed.x, y, placed.text, 1.3 if strong else 0.6), facecolor=colour, linewidth=0)


def _say(figure: Figure, text: str, place: tuple[float, float], font: FontProperties, colour: str) -> None:
    """Text centred at a place of its base line; in a viewer with another font both sides differ by the same width."""
    if text:
        x, y = np.array(place) / INCH / figure.get_size_inches()
        figure.text(
            x, y, _drawable(text), fontproperties=font, ha="center", va="baseline", parse_math=False, color=colour
        )


def _box(figure: Figure, box: tuple[float, float, float, float], **look: object) -> None:
    (x, y), (width, height) = np.array(box).reshape(2, 2) / INCH / figure.get_size_inches()
    figure.add_artist(Rectangle((x, y), width, height, transform=figure.transFigure, **look))  # type: ignore[arg-type]


def _width(text: str, size: float, bold: bool) -> float:
    """Points that a text takes up, white space at its ends included."""
    return (_inked(f"|{text}|", bold) - _inked("||", bold)) * size if text else 0.0


def _inked(text: str, bold: bool) -> float:
    """The width of a text from its first to its last ink, at a size of one point, without hinting."""
    font = get_font(findfont(_font(SIZE, bold)))
    font.set_size(INCH, 72)
    font.set_text(_drawable(text), 0.0, flags=LoadFlags.NO_HINTING)
    return float(font.get_width_height()[0]) / 64 / INCH


@cache
def _font(size: float, bold: bool) -> FontProperties:
    return FontProperties(family="DejaVu Sans", size=size, weight="bold" if bold else "normal")


@cache
def _known() -> Mapping[int, int]:
    return dict(get_font(findfont(_font(SIZE, False))).get_charmap())


def _drawable(text: str) -> str:
    return "".join(character if ord(character) in _known() else MISSING for character in text)
