"""The jobs: fit the critic of the order of sentences on the train split, and score real text or a sample."""

import os
from collections.abc import Iterator, Sequence

import pyarrow as pa

from textcritic.corpora import article_groups, iter_articles
from textcritic.corpora.articles import num_articles
from textcritic.critics.order.critic import OrderCritic
from textcritic.critics.order.scoring import ORDER_SCHEMA, score_documents
from textcritic.critics.order.sentences import Sentences, sentences_of
from textcritic.critics.scores import rejected_rows, unread
from textcritic.errors import TextcriticError
from textcritic.files import write_table
from textcritic.runlog import log

Path = str | os.PathLike[str]


def fit_order(articles: Path, critic: Path) -> None:
    """Fit on the documents of a Parquet file of articles, and write `critic.npz`. Titles are not read.

    Raises:
        TextcriticError: the file is missing or not whole, or no document has two sentences in a section.
    """
    _, sentences = read_sentences([articles])
    try:
        OrderCritic.fit(sentences).save(critic)
    except TextcriticError as error:
        raise TextcriticError(f"{articles}: {error}") from error
    log.info("%s documents, %s sentences", f"{len(sentences.total):,}", f"{len(sentences.number):,}")


def score_order(critic: OrderCritic, articles: Path, scores: Path, rejected: Path | None = None) -> None:
    """Score the documents of a Parquet file of articles, and write `ORDER_SCHEMA`.

    Args:
        critic: fitted on the train split.
        articles: a split or a sample.
        scores: Parquet file to write.
        rejected: texts of the sample that did not parse (id, text, why), which get a row in the scores; None: none.

    Raises:
        TextcriticError: a file is missing or not whole, or there are neither articles nor rejected texts.
    """
    unparsed = unread(rejected)
    if not num_articles(articles) + len(unparsed):
        raise TextcriticError(f"{articles}: holds no articles; there is no order to score")
    ids, sentences = read_sentences([articles])
    scored = score_documents(critic, ids, sentences, article_groups(articles)["group"].to_pylist())
    write_table(scores, pa.concat_tables([scored, rejected_rows(unparsed, ORDER_SCHEMA, {})]))


def read_sentences(paths: Sequence[Path]) -> tuple[list[str], Sentences]:
    """Ids and sentences of the articles of some files."""
    ids: list[str] = []

    def documents() -> Iterator[list[str]]:
        for path in paths:
            for article in iter_articles(path):
                ids.append(article.id)
                yield [section.text for section in article.sections]

    sentences = sentences_of(documents())
    return ids, sentences
