"""Text with coreference in CoNLL-U columns, as GUM and CorefUD are published.

A word is a line of ten tab-separated columns, an empty line ends a sentence, `# newdoc` begins a document. `Entity=`
in the last column holds brackets: `(e1-person-2` opens a mention of entity e1 at this word, `e1)` closes one. The line
`# global.Entity = eid-etype-head-other` names the fields between the hyphens. `(e1[1/2]` opens the first of the two
pieces of a mention. Nedoluzhko et al. 2022 (LREC) describe the format.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from textcritic.corpora.readers.conll_document import ConllDocument, file_name
from textcritic.errors import TextcriticError
from textcritic.runlog import log

COLUMNS = 10
_ID, _FORM, _HEAD, _MISC = 0, 1, 6, 9
_ENTITY_FIELDS = ("eid", "GRP")  # what CorefUD and GUM call the field that names the entity
_FIRST_LINE = re.compile(r"^(?!#)[^\n]*\S[^\n]*", re.MULTILINE)
_NEWDOC = re.compile(r"#\s*newdoc\b(?:\s+id)?\s*=?\s*(.*?)\s*")
_NEWPAR = re.compile(r"#\s*newpar\b")
_GLOBAL = re.compile(r"#\s*global\.Entity\s*=\s*(\S+)\s*")
_NUMBER = re.compile(r"[1-9]\d{0,8}")
_RANGE = re.compile(r"([1-9]\d{0,8})-([1-9]\d{0,8})")
_EMPTY = re.compile(r"\d+\.[1-9]\d*")
_BRACKET = re.compile(r"\(([^()]+)(\))?|(?<![^()])([^()]+)\)")
_PIECE = re.compile(r"(.+)\[([1-9]\d{0,8})/([1-9]\d{0,8})\]")
_UNWRITTEN = "mentions, of words that are not written, are left out"
_PIECES = "mentions are in several pieces; of each, the piece with the head is kept"


def is_conllu(where: str, text: str) -> bool:
    """Whether a file is CoNLL-U: by its name, or by ten columns in its first line that is no comment."""
    first = _FIRST_LINE.search(text)
    cells = first[0].split("\t") if first else []
    columns = len(cells) == COLUMNS and any(kind.fullmatch(cells[_ID]) for kind in (_NUMBER, _RANGE, _EMPTY))
    named = where.removesuffix(".gz").endswith(".conllu")
    return (columns or named) and not re.search(r"^#\s*begin document\b", text, re.MULTILINE)


def conllu_documents(where: str, text: str) -> Iterator[ConllDocument]:
    """The documents of a file in CoNLL-U; without `# newdoc` the file is one.

    Sentences are lines of the text, or paragraphs are where the file has `# newpar`. A mention has the head that its
    bracket names, else the word whose governor is outside. Empty nodes (`8.1`) are no words.

    Args:
        where: the file, for messages.
        text: of the file.

    Raises:
        TextcriticError: as `conll.conll_documents`; or mentions whose entities are not named.
    """
    reader: _Reader | None = None
    fields: tuple[str, ...] = ("eid",)
    found, noted = 0, Counter[str]()
    for number, line in enumerate(text.split("\n"), 1):
        line, at = line.rstrip("\r"), f"{where}:{number}"
        newdoc = _NEWDOC.fullmatch(line)
        if newdoc or (reader is None and line.strip() and not line.startswith("#")):
            if reader:
                yield reader.document(noted)
            found += 1
            reader = _Reader((newdoc[1] if newdoc else "") or file_name(where, found), at, fields)
        if declared := _GLOBAL.fullmatch(line):
            fields = tuple(declared[1].split("-"))
            if not set(_ENTITY_FIELDS) & set(fields):
                raise TextcriticError(f"{at}: no field of {declared[1]!r} names the entity; one should be eid or GRP")
            if reader:
                reader.fields = fields
        elif reader and line.startswith("#"):
            reader.paragraph = reader.paragraph or bool(_NEWPAR.match(line))
        elif reader:
            reader.read(line, number, at)
    if not reader:
        raise TextcriticError(f"{where}: there is no document in it; CoNLL-U has {COLUMNS} columns, separated by tabs")
    yield reader.document(noted)
    if not noted["mentions"]:
        log.warning("%s: no word has `Entity=` in its last column: documents without mentions", where)
    for what in (_UNWRITTEN, _PIECES):
        if noted[what]:
            log.warning("%s: %s %s", where, noted[what], what)


@dataclass(slots=True)
class _Mention:
    """A mention: its entity, its head by the bracket (from 1; 0: none), and (first, last) node of each piece."""

    entity: str
    head: int
    line: int
    size: int = 1
    pieces: list[tuple[int, int]] = field(default_factory=list)


class _Reader:
    """Reads the lines of a document."""

    def __init__(self, name: str, where: str, fields: tuple[str, ...]) -> None:
        self.name, self.where, self.file, self.fields = name, where, where.rpartition(":")[0], fields
        self.paragraph = False  # whether the next sentence begins one
        self._words: list[str] = []
        self._lines: list[int] = []
        self._governors: list[int] = []  # of each word another word; -1 of a root; the word itself: not known
        self._nodes: list[int | None] = []  # of each node its word; an empty one has none
        self._starts: list[int] = [0]
        self._tokens: list[tuple[str, int, str]] = []  # as it is written, number of its words, what follows it
        self._paragraphs: set[int] = set()  # sentences that begin one
        self._covered = 0  # the words up to here are in a token
        self._opened: dict[tuple[str, int], list[tuple[_Mention, int]]] = {}
        self._partial: dict[tuple[str, int], list[_Mention]] = {}  # mentions with pieces that are still to be read
        self._mentions: list[_Mention] = []

    def read(self, line: str, number: int, at: str) -> None:
        """Read a line that is no comment: a token, a word, an empty node, or the end of a sentence."""
        if not line.strip():
            self._end_sentence(at)
            return
        cells = line.split("\t")
        if len(cells) != COLUMNS:
            raise TextcriticError(f"{at}: {len(cells)} columns; CoNLL-U has {COLUMNS}, separated by tabs")
        cells[_FORM] = cells[_FORM].strip()
        if not cells[_FORM]:
            raise TextcriticError(f"{at}: word {cells[_ID]} is empty")
        misc = cells[_MISC].split("|")
        brackets = "".join(item.removeprefix("Entity=") for item in misc if item.startswith("Entity="))
        follows = "" if "SpaceAfter=No" in misc else " "
        if span := _RANGE.fullmatch(cells[_ID]):
            first, last = int(span[1]), int(span[2])
            if brackets or first != self._next or last < first or self._covered > len(self._words):
                wrong = "a mention should be at one of its words" if brackets else "its words should follow, in order"
                raise TextcriticError(f"{at}: token {cells[_ID]} of several words: {wrong}")
            self._tokens.append((cells[_FORM], last - first + 1, follows))
            self._covered = self._starts[-1] + last
            return
        if not _EMPTY.fullmatch(cells[_ID]):
            if cells[_ID] != str(self._next):
                raise TextcriticError(f"{at}: word {cells[_ID]!r}; the sentence goes on with number {self._next}")
            self._word(cells, number, follows)
        else:
            self._nodes.append(None)
        if _BRACKET.sub("", brackets):
            raise TextcriticError(
                f"{at}: Entity={brackets[:60]}; it should be brackets such as (e1-person, e1) or (e1)"
            )
        for opened, closes, closed in _BRACKET.findall(brackets):
            if opened:
                self._open(opened, number, at)
            if closes or closed:
                self._close(opened or closed, at)

    def document(self, noted: Counter[str]) -> ConllDocument:
        """What was read, when the document ends; `noted` counts mentions, and those that are not read as they are."""
        self._end_sentence(self.where)
        for mention in [mention for waiting in self._opened.values() for mention, _ in waiting] + self._mentions:
            if len(mention.pieces) < mention.size:
                raise TextcriticError(
                    f"{self.file}:{mention.line}: bracket `({mention.entity}` of document '{self.name}' is never "
                    f"closed; a bracket `{mention.entity})` is missing"
                )
        if not self._words:
            raise TextcriticError(f"{self.where}: document '{self.name}' has no words; the file is cut")
        ends = [*self._starts[1:], len(self._words)]
        sentences = tuple((a, b - 1) for a, b in zip(self._starts, ends, strict=True) if a < b)
        noted["mentions"] += len(self._mentions)
        spans: dict[tuple[int, int, str], int | None] = {}  # of doubled brackets one
        for mention in self._mentions:
            if span := self._span(mention, noted):
                spans.setdefault(*span)
        ordered = sorted(spans, key=lambda span: (span[0], -span[1]))
        mentions = tuple((first, last, spans[first, last, entity], entity) for first, last, entity in ordered)
        return ConllDocument(
            self.name, self.where, tuple(self._words), tuple(self._lines), sentences, mentions, *self._written()
        )

    @property
    def _next(self) -> int:
        return len(self._words) - self._starts[-1] + 1

    def _end_sentence(self, at: str) -> None:
        if self._covered > len(self._words):
            raise TextcriticError(f"{at}: the sentence ends before the words of its last token")
        if self._starts[-1] < len(self._words):
            self._starts.append(len(self._words))

    def _word(self, cells: list[str], number: int, follows: str) -> None:
        if self.paragraph:
            self._paragraphs.add(self._starts[-1])
            self.paragraph = False
        if len(self._words) >= self._covered:
            self._tokens.append((cells[_FORM], 1, follows))
            self._covered = len(self._words) + 1
        self._nodes.append(len(self._words))
        self._words.append(cells[_FORM])
        self._lines.append(number)
        governor = self._starts[-1] + int(cells[_HEAD]) - 1 if _NUMBER.fullmatch(cells[_HEAD]) else len(self._words) - 1
        self._governors.append(-1 if cells[_HEAD] == "0" else governor)

    def _entity(self, bracket: str) -> tuple[str, int, int, int]:
        """The entity that a bracket names, its head (0: none), number and count of its pieces."""
        parts = bracket.split("-", len(self.fields) - 1)
        place = next(self.fields.index(name) for name in _ENTITY_FIELDS if name in self.fields)
        entity = parts[place if len(parts) > place else 0]
        if len(self.fields) == 1:  # nothing says what else is there
            entity = entity.partition("-")[0]
        heads = [part for name, part in zip(self.fields, parts, strict=False) if name in ("head", "minspan", "MIN")]
        head = int(heads[0]) if heads and _NUMBER.fullmatch(heads[0]) else 0
        piece = _PIECE.fullmatch(entity)
        return (piece[1], head, int(piece[2]), int(piece[3])) if piece else (entity, head, 1, 1)

    def _open(self, bracket: str, number: int, at: str) -> None:
        entity, head, piece, size = self._entity(bracket)
        if piece == 1:
            mention = _Mention(entity, head, number, size)
            if size > 1:
                self._mentions.append(mention)
                self._partial.setdefault((entity, size), []).append(mention)
        else:
            pending = (m for m in self._partial.get((entity, size), ()) if len(m.pieces) == piece - 1)
            begun = next(pending, None)
            if not 1 < piece <= size or not begun:
                raise TextcriticError(f"{at}: `({bracket}` is piece {piece} of a mention; piece {piece - 1} is missing")
            mention = begun
        self._opened.setdefault((entity, piece if size > 1 else 0), []).append((mention, len(self._nodes) - 1))

    def _close(self, bracket: str, at: str) -> None:
        entity, _, piece, size = self._entity(bracket)
        waiting = self._opened.get((entity, piece if size > 1 else 0))
        if not waiting:
            raise TextcriticError(f"{at}: bracket `{bracket})` closes a mention that was never opened")
        mention, first = waiting.pop()
        mention.pieces.append((first, len(self._nodes) - 1))
        if mention.size == 1:
            self._mentions.append(mention)
        elif len(mention.pieces) == mention.size:
            self._partial[entity, size].remove(mention)

    def _span(self, mention: _Mention, noted: Counter[str]) -> tuple[tuple[int, int, str], int | None] | None:
        """A mention by its words, and its head; None: it has no words."""
        nodes = [self._nodes[node] for first, last in mention.pieces for node in range(first, last + 1)]
        pieces = [
            [word for word in self._nodes[first : last + 1] if word is not None] for first, last in mention.pieces
        ]
        pieces = [piece for piece in pieces if piece]
        if not pieces:
            noted[_UNWRITTEN] += 1
            return None
        inside = {word for piece in pieces for word in piece}
        head = nodes[mention.head - 1] if 0 < mention.head <= len(nodes) else None
        if head is None:
            outside = (word for word in sorted(inside) if self._governors[word] not in inside)
            head = next(outside, None)
        kept = next((piece for piece in pieces if head in piece), pieces[0])
        noted[_PIECES] += len(pieces) > 1
        return (kept[0], kept[-1], mention.entity), head

    def _written(self) -> tuple[str, tuple[tuple[int, int], ...]]:
        """The text as it was written, and the characters of each word."""
        text, spans = list[str](), list[tuple[int, int]]()
        at, starts = 0, set(self._starts)
        for form, size, follows in self._tokens:
            first = len(spans)
            parts = self._words[first : first + size]
            whole = "".join(parts) != form
            for part in parts:
                start = at if whole else spans[-1][1] if len(spans) > first else at
                spans.append((start, start + len(form if whole else part)))
            if len(spans) in starts and (len(spans) in self._paragraphs or not self._paragraphs):
                follows = "\n"
            text += (form, follows)
            at += len(form) + len(follows)
        return "".join(text).rstrip(), tuple(spans)
