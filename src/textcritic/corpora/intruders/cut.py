"""Documents of a few sentences, cut out of the articles of a corpus or of a sample (Shen et al. 2021, section 3.2)."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from textcritic.corpora.articles import Article, iter_articles
from textcritic.corpora.intruders.documents import Document, write_documents
from textcritic.corpora.intruders.options import ARTICLE, OPENING, PASSAGES, SECTION
from textcritic.corpora.intruders.sentences import splitter_of
from textcritic.corpora.intruders.similarity import Similarity
from textcritic.errors import TextcriticError
from textcritic.files import write_json
from textcritic.plan.entries.intruders import IntruderOptions
from textcritic.runlog import log

# Reasons why a text gives no document.
TOO_FEW = "too few sentences"
TOO_MANY = "too many sentences"
REST = "too few sentences at the end of a section"
NOT_DRAWN = "not among those that were drawn"
UNCHANGED = "changed too little in the later corpus"
ABSENT = "not in the later corpus"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which documents of a split are kept.

    Attributes:
        most: a random part of them, if there are more; None for all.
        later: Parquet files of later articles, see `changed_documents`; none where all are kept.
    """

    most: int | None = None
    later: tuple[str, ...] = ()


EVERY = Wanted()


def cut_corpus(
    articles_path: str | os.PathLike[str],
    out_path: str | os.PathLike[str],
    report_path: str | os.PathLike[str],
    options: IntruderOptions,
    wanted: Wanted = EVERY,
) -> None:
    """Write the documents of a split of a corpus, or of a sample.

    Args:
        articles_path: Parquet of articles.
        out_path: Parquet in `DOCUMENT_SCHEMA`; all documents are coherent.
        report_path: JSON with `documents`, and `left_out` {reason: texts}.
        options: of an intruder corpus.
        wanted: which of the documents.

    Raises:
        TextcriticError: a file is missing or damaged, two articles have one id, or no document is left.
    """
    left_out: Counter[str] = Counter()
    documents = list(cut_articles(iter_articles(articles_path), options, left_out))
    if documents and options.later and wanted.later:
        text_of = partial(_whole_text, options.document)
        documents = changed_documents(documents, wanted.later, text_of, options.later.similarity, left_out)
    if wanted.most is not None and len(documents) > wanted.most:
        left_out[NOT_DRAWN] += len(documents) - wanted.most
        rng = np.random.default_rng([options.seed, 5])
        documents = [documents[row] for row in np.sort(rng.permutation(len(documents))[: wanted.most])]
    if not documents:
        raise TextcriticError(
            f"{articles_path}: no text of it has {options.sentences.least} to {options.sentences.most}"
            f" sentences (left out: {dict(left_out)}); change options.sentences or options.document"
        )
    write_documents(out_path, documents, str(Path(articles_path)))
    write_json(report_path, {"documents": len(documents), "left_out": dict(left_out.most_common())})
    log.info("%s: %s documents; left out: %s", articles_path, f"{len(documents):,}", dict(left_out) or "none")


def cut_articles(articles: Iterable[Article], options: IntruderOptions, left_out: Counter[str]) -> Iterator[Document]:
    """The documents of articles.

    A text is the first section of an article (`opening`, the paper's Wikipedia documents), each section (`section`), or
    the whole article (`article`). It is a document if it has `least` to `most` sentences. With `random` a document is
    its first n sentences, n drawn from `least` to `most` for each (the paper's CNN documents); all of it where it has
    fewer than n, but at least `least`. `passages` cut each section into such documents, from its beginning to its end.

    Ids are those of articles, with a number behind `#` where an article can have several; then the article is the group
    of its documents, if it has no group itself.

    Args:
        articles: in any order; what is drawn depends on it.
        options: `document`, `sentences` and `seed` of an intruder corpus.
        left_out: counts the texts that give no document, by reason.

    Raises:
        TextcriticError: two articles have one id.
    """
    sentences, kind = options.sentences, options.document
    least, most = sentences.least, sentences.most
    split = splitter_of(sentences.by)
    rng = np.random.default_rng([options.seed, 1])
    seen: set[str] = set()
    for article in articles:
        if article.id in seen:
            raise TextcriticError(f"{article.source}: two articles have the id {article.id!r}; make ids unique")
        seen.add(article.id)
        number = 0
        for text in _texts(article, kind):
            cleaned = [" ".join(sentence.split()) for sentence in split(text)]
            for start, end in _pieces(len(cleaned), sentences.random, kind == PASSAGES, (least, most), rng):
                number += 1
                size = end - start
                if size < least:
                    left_out[REST if start else TOO_FEW] += 1
                elif size > most:
                    left_out[TOO_MANY] += 1
                else:
                    yield _document(article, number, tuple(cleaned[start:end]), kind)


def _whole_text(kind: str, article: Article) -> str:
    return "\n".join(_texts(article, kind))


def _texts(article: Article, kind: str) -> list[str]:
    texts = [section.text for section in article.sections]
    if kind == ARTICLE:
        return ["\n".join(texts)]
    return texts[:1] if kind == OPENING else texts


def _pieces(
    size: int, random: bool, passages: bool, bounds: tuple[int, int], rng: np.random.Generator
) -> Iterator[tuple[int, int]]:
    """First and last + 1 sentence of each document of a text of `size` sentences."""
    if not random:
        yield 0, size
        return
    start = 0
    while True:
        end = min(start + int(rng.integers(bounds[0], bounds[1], endpoint=True)), size)
        yield start, end
        start = end
        if not passages or start >= size:
            return


def _document(article: Article, number: int, sentences: tuple[str, ...], kind: str) -> Document:
    if kind not in (SECTION, PASSAGES):
        return Document(article.id, sentences, group=article.group, title=article.title)
    group = article.id if article.group is None else article.group
    return Document(f"{article.id}#{number}", sentences, group=group, title=article.title)


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
