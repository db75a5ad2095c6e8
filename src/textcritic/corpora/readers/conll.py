"""Text with coreference in columns: CoNLL-U, see `conllu`, or CoNLL-2012, as LitBank, OntoGUM and most tools write it.

A document is between `#begin document` and `#end document`; a word has a line, an empty line ends a sentence. The
last column holds brackets: `(3` opens a mention of entity 3 at this word, `3)` closes one, `(3)` is a mention of one
word; `|` may separate them. Pradhan et al. 2012, section 4, has the whole format.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path

from textcritic.corpora.articles import Article, Section
from textcritic.corpora.readers.archives import texts_of
from textcritic.corpora.readers.conll_document import PART, SUFFIXES, ConllDocument, file_name
from textcritic.corpora.readers.conllu import conllu_documents, is_conllu
from textcritic.errors import TextcriticError

_NOUNS = ("NN", "NNP", "NNPS", "NNS", "NX", "PRP")
_SECOND = (("NP",), ("$", "ADJP", "PRN"), ("CD",), ("JJ", "JJS", "RB", "QP", "PRP$", "DT", "WP", "WDT"))

SHORT, MINIMAL, FULL = 3, 5, 12
"""Columns of a line: number, word, entities (OntoGUM); document, part, number, word, entities; and the whole format."""

ESCAPES = {
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}", "``": '"', "''": '"',
}  # fmt: skip
"""Words of the Penn Treebank for signs of the text."""
TITLE = "text"
"""The title of every article's one section."""
_BEGIN = re.compile(r"#\s*begin document\b\s*(.*)")
_NAME = re.compile(r"\((.*)\)\s*(?:;\s*part\s+(\d{1,9}))?\s*")
_END = re.compile(r"#\s*end document\b")
_BRACKET = re.compile(r"\(([^()|]+)(\))?|(?<![^()|])([^()|]+)\)")
_NONE = frozenset({"", "-", "_", "*"})
_NO_WORD = re.compile(r"\d+[-.]\d+")  # the number of a token of several words, or of a node without one
_ENDS = frozenset(".!?")
_CLOSING = frozenset({"''", "”", "’", "'", ")", "-RRB-", "]"})


def conll_documents(paths: Iterable[str | os.PathLike[str]], folder: str | None = None) -> Iterator[ConllDocument]:
    """Stream the documents of files in CoNLL columns, in order; those of an archive in the order of their names.

    Files in CoNLL-U are recognised by their ten columns, see `conllu`. Otherwise tabs or spaces separate the columns;
    lines that begin with `#` are comments, and those of several words (`1-2`) or of none (`8.1`) are passed over. A
    file without any empty line has no sentences (OntoGUM's has none): there a sentence ends after `.`, `!` or `?` and
    the quotes or brackets that close there. A line whose word has no letters (OntoGUM has one) is passed over. Mentions
    may cross, nest, overlap and share a span. A mention has a head where the column of the parse is filled and has the
    mention as a constituent, see `parse_heads`.

    Args:
        paths: files, plain or gzipped, or .tar.gz archives; from an archive, files named .conll or .conllu are read.
        folder: of archives: only files whose path has this folder in it.

    Raises:
        TextcriticError: a file that is missing, cut, not UTF-8, or holds no document; a line with another number of
            columns; a bracket that is unreadable, never opened or never closed; a name that occurs twice. The message
            has file and line.
    """
    seen: dict[str, str] = {}
    for path in paths:
        for where, text in texts_of(path, SUFFIXES, folder):
            documents = conllu_documents if is_conllu(where, text) else _documents
            for document in documents(where, text):
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
    """The document as text: as it was written if the file says so, else one sentence a line, with spaces between words.

    In the second case the treebank's escapes are replaced by the characters that they encode, see `plain`.

    Returns:
        The text, and (start, end) characters of each word.
    """
    if document.spans:
        return document.text, list(document.spans)
    pieces, spans, at = [], [], 0
    for first, last in document.sentences:
        for word in range(first, last + 1):
            shown = plain(document.words[word])
            spans.append((at, at + len(shown)))
            pieces.append(shown + ("\n" if word == last else " "))
            at += len(shown) + 1
    return "".join(pieces)[:-1], spans


def plain(word: str) -> str:
    """The word without the escapes of the treebank: `-LRB-` becomes an opening bracket."""
    return ESCAPES.get(word, word)


def _documents(where: str, text: str) -> Iterator[ConllDocument]:
    reader: _Reader | None = None
    count = 0
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        at = f"{where}:{number}"
        if begin := _BEGIN.match(line):
            if reader:
                raise TextcriticError(f"{at}: a document begins, but that of {reader.where} has no `#end document`")
            count += 1
            reader = _Reader(_name(begin[1].strip(), where, count), at)
        elif _END.match(line):
            if not reader:
                raise TextcriticError(f"{at}: `#end document` without a `#begin document` before it")
            yield reader.document()
            reader = None
        elif reader:
            reader.read(line, number, at)
        elif line.strip() and not line.startswith("#"):
            raise TextcriticError(f"{at}: a line outside of a document; it should come after `#begin document (name)`")
    if reader:
        raise TextcriticError(f"{reader.where}: the document has no `#end document`; the file is cut")
    if not count:
        raise TextcriticError(
            f"{where}: there is no document in it; one begins with `#begin document (name); part 000`"
        )


def _name(given: str, where: str, number: int) -> str:
    """The name of a document, by what its first line says; without a name that of the file, numbered from 2 on."""
    match = _NAME.fullmatch(given)
    name, part = (match[1], int(match[2] or 0)) if match else (given, 0)
    if not name:
        return file_name(where, number)
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
        if line.startswith("#") and self._is_comment(cells, "\t" in line, at):
            return
        self._check_columns(cells, at)
        brackets = self._brackets(cells[-1].strip(" "), at)
        place = cells[0 if len(cells) == SHORT else 2]
        if _NO_WORD.fullmatch(place):
            alone = "." in place and all(one and closes for one, closes, _ in brackets)  # mentions of this node alone
            if brackets and not alone:
                raise TextcriticError(f"{at}: a mention begins or ends at {place}, which is no word; give it to a word")
            return
        if len(cells) < FULL and not place.isdecimal():
            raise TextcriticError(
                f"{at}: {place!r} where the number of the word should be; a comment begins with #, in a line of its own"
            )
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

    def _is_comment(self, cells: list[str], tabs: bool, at: str) -> bool:
        """Whether a line that begins with `#` is one; not if it is the document's name, in full columns."""
        full = len(cells) == MINIMAL or len(cells) >= FULL
        if full and (cells[0] == self.rows[-1][0] if self.rows else self.name.startswith(cells[0])):
            return False
        if tabs and (len(cells) == len(self.rows[-1]) if self.rows else full):
            raise TextcriticError(
                f"{at}: begins with `#` as a comment does, and has {len(cells)} columns as words have; "
                "write comments without tabs"
            )
        return True

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
                of_sentence = parse_heads([row[5] for row in rows], [row[4] for row in rows])
                heads.update({(first + start, first + end): first + head for (start, end), head in of_sentence.items()})
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
