"""Text with coreference in CoNLL-2012 columns as a corpus, so that a study may be made of it."""

import os
from collections.abc import Iterator
from pathlib import Path

from textcritic.corpora.articles import Article, Section
from textcritic.latents.mentions.conll import conll_documents, resolved_of

TITLE = "text"
"""The title of every article's one section."""


def conll_articles(path: str | os.PathLike[str], folder: str | None = None) -> Iterator[Article]:
    """Stream the documents of a file or an archive as articles with one section, its words with a space between them.

    Ids are those of `latents.mentions.conll`, so that a resolver of kind `given` finds the mentions in the same file.

    Args:
        path: of the file or archive.
        folder: of an archive: only files whose path has this folder in it.

    Raises:
        TextcriticError: as `conll_documents`.
    """
    for document in conll_documents([path], folder):
        yield Article(document.id, None, (Section(TITLE, resolved_of(document).text),), Path(path).name)
