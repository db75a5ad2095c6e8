"""Which articles have changed so much that nobody can look up their sentences (Shen et al. 2021, section 3.2)."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from textcritic.corpora.articles import Article, iter_articles
from textcritic.corpora.intruders.documents import Document
from textcritic.corpora.intruders.similarity import Similarity
from textcritic.errors import TextcriticError

UNCHANGED = "changed too little in the later corpus"
ABSENT = "not in the later corpus"


def changed_documents(
    documents: Sequence[Document],
    later: Iterable[str | os.PathLike[str]],
    text_of: Callable[[Article], str],
    bound: float,
    left_out: Counter[str],
) -> list[Document]:
    """The documents whose article's later text is like them by less than a bound.

    Alike is what `similarity.Similarity` says, with the words counted in `documents`. The paper compares the summary
    sections of 37 old dumps with the online ones, and takes what is below the average of all, 0.72.

    Args:
        documents: whose ids are those of articles.
        later: Parquet files of the later articles; one is the same if it has the same id, or else the same title.
        text_of: the text of a later article.
        bound: a TF-IDF cosine.
        left_out: counts those that go, by reason: what changed too little, and what is not there any more.

    Raises:
        TextcriticError: a file is missing or damaged, or not one of the documents is there.
    """
    paths = [str(path) for path in later]
    by_id, by_title = _later_texts(documents, paths, text_of)
    texts = [by_id.get(document.id, by_title.get(document.title or "")) for document in documents]
    if not any(text is not None for text in texts):
        raise TextcriticError(
            f"options.intruders.later: not one of {len(documents):,} documents, such as {documents[0].id!r}, has its id"
            f" or title in {', '.join(paths)}; name a corpus of the same articles"
        )
    own = [" ".join(document.sentences) for document in documents]
    alike = Similarity(own).of(own, [text or "" for text in texts])
    kept = []
    for document, text, cosine in zip(documents, texts, alike.tolist(), strict=True):
        if text is None:
            left_out[ABSENT] += 1
        elif cosine >= bound:
            left_out[UNCHANGED] += 1
        else:
            kept.append(document)
    return kept


def _later_texts(
    documents: Sequence[Document], paths: Iterable[str], text_of: Callable[[Article], str]
) -> tuple[dict[str, str], dict[str, str]]:
    """The later texts of articles, by id and by title; only of those that the documents have."""
    ids, titles = {document.id for document in documents}, {document.title for document in documents} - {None}
    by_id, by_title = {}, {}
    for path in paths:
        for article in iter_articles(path):
            if article.id in ids or article.title in titles:
                text = text_of(article)
                by_id[article.id] = text
                by_title[article.title or ""] = text
    by_title.pop("", None)
    return by_id, by_title
