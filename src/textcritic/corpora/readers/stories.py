"""News stories as in the CNN and Daily Mail data (Hermann et al. 2015): a file a story, its highlights behind it."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from textcritic.corpora.articles import Article, Section
from textcritic.corpora.readers.archives import texts_of
from textcritic.errors import TextcriticError

SUFFIX = ".story"
HIGHLIGHT = "@highlight"
"""The line before each highlight; the story is what comes before the first such line."""
TITLE = "story"
"""The title of every article's one section."""
NO_TEXT = "no text before the highlights"


def read_stories(path: Path, skipped: Counter[str]) -> Iterator[Article]:
    """Stream stories in the order of their names.

    Args:
        path: a .tar.gz archive or a folder with files named .story, or one such file.
        skipped: counts stories that are highlights alone, by reason.

    Yields:
        Articles with one section, a paragraph a line; the id is the file's name without .story.

    Raises:
        TextcriticError: nothing is there, or it is cut, not UTF-8, or has no story.
    """
    files = sorted(path.rglob(f"*{SUFFIX}")) if path.is_dir() else [path]
    if not files:
        raise TextcriticError(f"{path}: there is no file *{SUFFIX} in the folder")
    for file in files:
        for where, text in texts_of(file, (SUFFIX,)):
            lines = [" ".join(line.split()) for line in text.splitlines()]
            end = lines.index(HIGHLIGHT) if HIGHLIGHT in lines else len(lines)
            paragraphs = list(filter(None, lines[:end]))
            if not paragraphs:
                skipped[NO_TEXT] += 1
                continue
            name = PurePosixPath(where).name.removesuffix(SUFFIX)
            yield Article(name, None, (Section(TITLE, "\n".join(paragraphs)),), path.name)
