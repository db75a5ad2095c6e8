"""Text with coreference in CoNLL-2012 columns, as LitBank, OntoGUM, OntoNotes and most tools write it.

A document stands between `#begin document` and `#end document`; a word has a line, an empty line ends a sentence. The
last column holds brackets: `(3` opens a mention of entity 3 at this word, `3)` closes one, `(3)` is a mention of one
word; `|` may stand between them. Pradhan et al. 2012, section 4, has the whole format. Lines that begin with `#` are
comments. CoNLL-U is read too, with its brackets under `Entity=` in the last column, as GUM and CorefUD are published.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path, PurePosixPath

from textcritic.corpora.articles import Article, Section
from textcritic.corpora.readers.archives import texts_of
from textcritic.errors import TextcriticError

_NOUNS = ("NN", "NNP", "NNPS", "NNS", "NX", "PRP")
_SECOND = (("NP",), ("$", "ADJP", "PRN"), ("CD",), ("JJ", "JJS", "RB", "QP", "PRP$", "DT", "WP", "WDT"))

SUFFIX, SUFFIX_U = ".conll", ".conllu"
SHORT, MINIMAL, FULL = 3, 5, 12
"""Columns of a line: number, word, entities (OntoGUM); document, part, number, word, entities; and the whole format."""
UNIVERSAL = 10
"""Columns of CoNLL-U, parted by tabs; the last one holds `Name=value` with `|` between them."""

ESCAPES = {
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}", "``": '"', "''": '"',
}  # fmt: skip
"""Words of the Penn Treebank for signs of the text."""
TITLE = "text"
"""The title of every article's one section."""
PART = "#"
"""Stands in an id between the name of a document and the number of its part."""
_BEGIN = re.compile(r"#\s*begin document\b\s*(.*)")
_NAME = re.compile(r"\((.*)\)\s*(?:;\s*part\s+(\d+))?\s*")
_END = re.compile(r"#\s*end document\b")
_BRACKET = re.compile(r"\(([^()|]+)(\))?|([^()|]+)\)")
_NEW = re.compile(r"#\s*newdoc\b(?:\s+id\s*=\s*(.*))?")
_FIELDS = re.compile(r"#\s*global\.Entity\s*=\s*(\S+)")
_ENTITY_ID = ("eid", "GRP")  # what the field of the entity's name is called
_PART = re.compile(r"(.*)\[(\d+)/\d+\]")
# The number of a line that is no word: a range of words that are written as one (1-2), or an empty node (8.1).
_RANGE, _EMPTY = re.compile(r"\d+-\d+"), re.compile(r"\d+\.\d+")
_NONE = frozenset({"", "-", "_", "*"})
_ENDS = frozenset(".!?")
_CLOSING = frozenset({"''", "”", "’", "'", ")", "-RRB-", "]"})


@dataclass(frozen=True, slots=True)
class ConllDocument:
    """A document as its file has it.

    Attributes:
        id: its name; the file's name where it has none; `name#2` for its part 2 (the one of part 0 is the plain name).
        where: file and line of its begin, for messages.
        words: its words, with escapes of the Penn Treebank.
        lines: the line of each word, from 1.
        sentences: (first, last) word of each sentence.
        mentions: (first word, last word, head word by the parse or None, entity) in the order of the text, the longer
            one first.
    """

    id: str
    where: str
    words: tuple[str, ...]
    lines: tuple[int, ...]
    sentences: tuple[tuple[int, int], ...]
    mentions: tuple[tuple[int, int, int | None, str], ...]


def conll_documents(paths: Iterable[str | os.PathLike[str]], folder: str | None = None) -> Iterator[ConllDocument]:
    """Stream the documents of files in CoNLL columns, in order; those of an archive in the order of their names.

    Columns may be parted by tabs or by spaces. A file without any empty line has no sentences (OntoGUM's has none):
    there a sentence ends after `.`, `!` or `?` and the quotes or brackets that close there. A line whose word has no
    letters (OntoGUM has one) is passed over, and so are ranges and empty nodes. Of a mention in several pieces, as
    CoNLL-U has them, the first one counts. Mentions may cross, nest, overlap and share a span. A mention has a head
    where the column of the parse is filled and has the mention as a constituent, see `parse_heads`.

    Args:
        paths: files, plain or gzipped, or .tar.gz archives, of which files named .conll or .conllu are read as they
            are.
        folder: of archives: only files whose path has this folder in it.

    Raises:
        TextcriticError: a file that is missing, cut, not UTF-8, or holds no document; a line with another number of
            columns; a bracket that is unreadable, never opened or never closed; a name that occurs twice. The message
            has file and line.
    """
    seen: dict[str, str] = {}
    for path in paths:
        for where, text in texts_of(path, (SUFFIX, SUFFIX_U), folder):
            for document in (_universal if _is_universal(text) else _documents)(where, text):
                if document.id in seen:
                    raise TextcriticError(
                        f"{document.where}: document '{document.id}' is in {seen[document.id]} too; "
                        "give each document its own name"
                    )
                seen[document.id] = document.where
                yield document


def conll_articles(path: str | os.PathLike[str], folder: str | None = None) -> Iterator[Article]:
    """Stream the documents of a file or an archive as articles with one section, see `written_out`.

    Ids are those of `conll_documents`, so that a resolver of kind `given` finds the mentions in the same file. The
    parts of one document are a group.

    Args:
        path: of the file or archive.
        folder: of an archive: only files whose path has this folder in it.

    Raises:
        TextcriticError: as `conll_documents`.
    """
    for document in conll_documents([path], folder):
        sections = (Section(TITLE, written_out(document)[0]),)
        yield Article(document.id, None, sections, Path(path).name, document.id.partition(PART)[0])


def written_out(document: ConllDocument) -> tuple[str, list[tuple[int, int]]]:
    """The document as text: a space between words, a line a sentence, signs for the escapes of the treebank.

    Returns:
        The text, and (start, end) characters of each word.
    """
    pieces, spans, at = [], [], 0
    for first, last in document.sentences:
        for word in range(first, last + 1):
            shown = plain(document.words[word])
            spans.append((at, at + len(shown)))
            pieces.append(shown + ("\n" if word == last else " "))
            at += len(shown) + 1
    return "".join(pieces)[:-1], spans


def plain(word: str) -> str:
    """The signs of the text that a word stands for: `-LRB-` is a bracket."""
    return ESCAPES.get(word, word)


def _documents(where: str, text: str) -> Iterator[ConllDocument]:
    reader: _Reader | None = None
    found = 0
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        at = f"{where}:{number}"
        if begin := _BEGIN.match(line):
            if reader:
                raise TextcriticError(f"{at}: a document begins, but that of {reader.where} has no `#end document`")
            found += 1
            reader = _Reader(_name(begin[1].strip(), where, found), at)
        elif _END.match(line):
            if not reader:
                raise TextcriticError(f"{at}: `#end document` without a `#begin document` before it")
            yield reader.document()
            reader = None
        elif reader:
            reader.read(line, number, at)
        elif line.strip() and not line.startswith("#"):
            raise TextcriticError(f"{at}: a line outside of a document; it should stand after `#begin document (name)`")
    if reader:
        raise TextcriticError(f"{reader.where}: the document has no `#end document`; the file is cut")
    if not found:
        raise TextcriticError(
            f"{where}: there is no document in it; one begins with `#begin document (name); part 000`"
        )


def _is_universal(text: str) -> bool:
    """Whether a text is CoNLL-U, by its first line that is no comment."""
    lines = (line for line in text.split("\n") if line.strip())
    first = next((line for line in lines if not line.startswith("#") or _BEGIN.match(line)), "")
    return first.count("\t") == UNIVERSAL - 1 and not first.startswith("#")


def _universal(where: str, text: str) -> Iterator[ConllDocument]:
    """The documents of a text in CoNLL-U."""
    reader: _Reader | None = None
    found, place = 0, 0
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        at = f"{where}:{number}"
        if fields := _FIELDS.match(line):
            names = fields[1].split("-")
            place = next((names.index(name) for name in _ENTITY_ID if name in names), 0)
        elif new := _NEW.fullmatch(line.strip()):
            if reader and reader.rows:
                yield reader.document()
            found += 1
            reader = _Reader(_name((new[1] or "").strip(), where, found), at)
        elif line.startswith("#"):
            continue
        elif line.strip():
            found += not found
            reader = reader or _Reader(_name("", where, found), at)
            cells = line.split("\t")
            if len(cells) != UNIVERSAL:
                raise TextcriticError(f"{at}: {len(cells)} columns; CoNLL-U has {UNIVERSAL}, parted by tabs")
            reader.read_cells([cells[0], cells[1], _brackets_of(cells[9], place)], number, at)
        elif reader:
            reader.read("", number, at)
    if reader:
        yield reader.document()


def _brackets_of(misc: str, place: int) -> str:
    """The brackets of a word of CoNLL-U as those of the other formats, with the names of entities alone."""
    value = next((part.removeprefix("Entity=") for part in misc.split("|") if part.startswith("Entity=")), "")
    brackets = []
    for opened, closes, closed in _BRACKET.findall(value):
        fields = (opened or closed).split("-")
        name = fields[place] if opened and place < len(fields) else fields[0]
        if piece := _PART.fullmatch(name):
            if piece[2] != "1":
                continue
            name = piece[1]
        brackets.append(f"({name}{closes}" if opened else f"{name})")
    return "".join(brackets) or "_"


def _name(given: str, where: str, number: int) -> str:
    """The name of a document, by what its first line says; without a name that of the file, numbered from 2 on."""
    match = _NAME.fullmatch(given)
    name, part = (match[1], int(match[2] or 0)) if match else (given, 0)
    if not name:
        part = number if number > 1 else 0
        name = (
            PurePosixPath(where.rpartition(":")[2] or where)
            .name.removesuffix(".gz")
            .removesuffix(SUFFIX_U)
            .removesuffix(SUFFIX)
        )
    return f"{name}{PART}{part}" if part else name


class _Reader:
    """Reads the lines of a document."""

    def __init__(self, name: str, where: str) -> None:
        self.name, self.where, self.file = name, where, where.rpartition(":")[0]
        self.rows: list[list[str]] = []
        self.lines: list[int] = []
        self.starts: list[int] = [0]
        self.open: dict[str, list[int]] = {}
        self.spans: dict[tuple[int, int, str], None] = {}

    def read(self, line: str, number: int, at: str) -> None:
        """Read a line: a word, the end of a sentence, or a comment."""
        if not line.strip():
            if self.starts[-1] < len(self.rows):
                self.starts.append(len(self.rows))
            return
        cells = line.split("\t") if "\t" in line else [cell for cell in line.split(" ") if cell]
        # The name of a document may begin with #; then its word has a number.
        if not line.startswith("#") or (len(cells) in (MINIMAL, *range(FULL, len(cells) + 1)) and cells[2].isdecimal()):
            self.read_cells(cells, number, at)

    def read_cells(self, cells: list[str], number: int, at: str) -> None:
        """Read the columns of a word."""
        self._check_columns(cells, at)
        brackets = self._brackets(cells[-1].strip(" "), at)
        name = cells[0] if len(cells) == SHORT else cells[2]
        if _RANGE.fullmatch(name) or _EMPTY.fullmatch(name):
            opened = sum(bool(one) and not closes for one, closes, _ in brackets)
            if opened != sum(bool(closed) for _, _, closed in brackets):
                raise TextcriticError(f"{at}: a mention begins or ends at {name}, which is no word; give it to a word")
            return
        if not self._word(cells).strip():
            if brackets:
                raise TextcriticError(f"{at}: a mention begins or ends at a word without letters; the word is missing")
            return
        for bracket in brackets:
            self._bracket(bracket, at)
        self.rows.append(cells)
        self.lines.append(number)

    def document(self) -> ConllDocument:
        """What was read, when the document ends."""
        for entity, opened in self.open.items():
            if opened:
                raise TextcriticError(
                    f"{self.file}:{self.lines[opened[-1]]}: bracket `({entity}` of document '{self.name}' is never "
                    f"closed; a line `{entity})` is missing"
                )
        if not self.rows:
            raise TextcriticError(f"{self.where}: document '{self.name}' has no words; the file is cut")
        words = tuple(self._word(row) for row in self.rows)
        sentences = self._sentences(words)
        spans = sorted(self.spans, key=lambda span: (span[0], -span[1]))
        heads = self._heads(words, sentences)
        mentions = tuple((first, last, heads.get((first, last)), entity) for first, last, entity in spans)
        return ConllDocument(self.name, self.where, words, tuple(self.lines), sentences, mentions)

    def _check_columns(self, cells: list[str], at: str) -> None:
        count = len(cells)
        inside = self.starts[-1] < len(self.rows)
        if inside and count != len(self.rows[-1]):
            raise TextcriticError(
                f"{at}: {count} columns, the line before has {len(self.rows[-1])}; the lines of a "
                "sentence have equally many"
            )
        if count not in (SHORT, MINIMAL) and count < FULL:
            raise TextcriticError(
                f"{at}: {count} columns; CoNLL-2012 has {FULL} or more. Also read: {MINIMAL} (document, part, number, "
                f"word, entities) and {SHORT} (number, word, entities)"
            )

    @staticmethod
    def _word(cells: list[str]) -> str:
        return cells[1] if len(cells) == SHORT else cells[3]

    @staticmethod
    def _brackets(cell: str, at: str) -> list[tuple[str, str, str]]:
        if cell in _NONE:
            return []
        rest = _BRACKET.sub("", cell).replace("|", "")
        if rest:
            raise TextcriticError(f"{at}: {cell!r} in the last column; it should be brackets such as (3, 3), (3) or -")
        return _BRACKET.findall(cell)

    def _bracket(self, bracket: tuple[str, str, str], at: str) -> None:
        opened, closes, closed = bracket
        word = len(self.rows)
        if closed:
            waiting = self.open.get(closed)
            if not waiting:
                raise TextcriticError(
                    f"{at}: bracket `{closed})` closes a mention that was never opened by `({closed}`"
                )
            self.spans[waiting.pop(), word, closed] = None
        elif closes:
            self.spans[word, word, opened] = None
        else:
            self.open.setdefault(opened, []).append(word)

    def _sentences(self, words: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
        starts = [start for start in self.starts if start < len(words)]
        if len(starts) == 1:
            starts = _ends_by_signs(words)
        return tuple((start, end - 1) for start, end in zip(starts, [*starts[1:], len(words)], strict=True))

    def _heads(self, words: tuple[str, ...], sentences: tuple[tuple[int, int], ...]) -> dict[tuple[int, int], int]:
        """Heads by the parse, of the spans that are constituents."""
        heads: dict[tuple[int, int], int] = {}
        for first, last in sentences:
            rows = self.rows[first : last + 1]
            if len(rows[0]) >= FULL and any("(" in row[5] for row in rows):
                found = parse_heads([row[5] for row in rows], [row[4] for row in rows])
                heads.update({(first + start, first + end): first + head for (start, end), head in found.items()})
        return heads


def _ends_by_signs(words: tuple[str, ...]) -> list[int]:
    """Starts of sentences of a document without empty lines."""
    starts, ended, quoted = [0], False, False
    for number, word in enumerate(words):
        # A straight quote closes where one is open.
        closing = word in _CLOSING or (word == '"' and quoted)
        if ended and not closing and word not in _ENDS:
            starts.append(number)
            ended = False
        ended = ended or word in _ENDS
        quoted ^= word == '"'
    return starts


def parse_heads(bits: Sequence[str], tags: Sequence[str]) -> dict[tuple[int, int], int]:
    """Heads of the constituents of a sentence by rules for noun phrases (Collins 1999, appendix A).

    The head is that of the last child that is a noun; else of the first noun phrase; else of the last adjective phrase,
    number, or adjective; else the last word.

    Args:
        bits: of each word, the column of the parse: `(NP*`, `*`, `*)`.
        tags: of each word, its part of speech.

    Returns:
        {(first word, last word): head}; empty if the brackets do not fit together.
    """
    try:
        return _Tree(bits, tags).heads
    except (IndexError, ValueError):
        return {}


class _Tree:
    """Reads a bracketed sentence and gives each constituent its head as it closes."""

    def __init__(self, bits: Sequence[str], tags: Sequence[str]) -> None:
        self.heads: dict[tuple[int, int], int] = {}
        # Each open constituent: label, first word, children as (label, head).
        stack: list[tuple[str, int, list[tuple[str, int]]]] = [("", 0, [])]
        for word, bit in zip(count(), bits):
            opening, star, closing = bit.partition("*")
            if not star:
                raise ValueError(bit)
            for label in opening.replace("(", " ").split():
                stack.append((label.partition("-")[0], word, []))
            stack[-1][2].append((tags[word], word))
            for _ in range(closing.count(")")):
                label, first, children = stack.pop()
                head = _head(children)
                # A constituent in one of the same words has the same head, unless it is larger.
                self.heads[first, word] = head
                stack[-1][2].append((label, head))
        if len(stack) != 1:
            raise ValueError("brackets")


def _head(children: Sequence[tuple[str, int]]) -> int:
    last = [child for child in children if child[0] != "POS"] or list(children)
    for label, head in reversed(last):
        if label in _NOUNS:
            return head
    for number, labels in enumerate(_SECOND):
        for label, head in last if number == 0 else reversed(last):
            if label in labels:
                return head
    return last[-1][1]
