"""The jobs: index the train split of a corpus, and look its test split or a sample up."""

import os
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from textcritic.corpora import article_groups
from textcritic.corpora.articles import ARTICLE_SCHEMA, iter_batches, num_articles
from textcritic.critics.recitation.index import IndexFiles, TrainIndex, index_articles
from textcritic.critics.recitation.scoring import RECITATION_SCHEMA, score_documents
from textcritic.critics.scores import rejected_rows, unread, with_groups
from textcritic.critics.tendencies.job import texts_of
from textcritic.critics.tendencies.tokens import CHUNK_BYTES, chunks
from textcritic.errors import TextcriticError
from textcritic.files import whole_file
from textcritic.plan.entries import Recitation
from textcritic.runlog import Progress, log

Path = str | os.PathLike[str]
TEXTS_SCHEMA = pa.schema([ARTICLE_SCHEMA.field(name) for name in ("id", "sections")])


def index_train(articles: Path, files: IndexFiles, entry: Recitation) -> None:
    """Index the documents of a Parquet file of articles; the text of a document is that of its sections, in order.

    Titles are not read: a sample that was drawn without them is looked up in the same text as one with them.

    Args:
        articles: the train split.
        files: to be written.
        entry: how documents are cut into words.

    Raises:
        TextcriticError: the file is missing or not whole, or a text is not UTF-8.
    """
    index = index_articles(documents_of(articles, "indexing"), entry)
    log.info("%s words, %s of them distinct", f"{int(index.lengths.sum()):,}", f"{len(index.words):,}")
    index.save(files)


def score_recitation(index: TrainIndex, articles: Path, scores: Path, rejected: Path | None = None) -> None:
    """Look the documents of a Parquet file of articles up, and write `RECITATION_SCHEMA`.

    Memory is that of the index and of a chunk of documents, whatever their number.

    Args:
        index: of the train split.
        articles: a split or a sample.
        scores: Parquet file to write.
        rejected: texts of the sample that did not parse (id, text, why), which get a row in the scores; None: none.

    Raises:
        TextcriticError: a file is missing or not whole, or there are neither articles nor rejected texts.
    """
    unparsed = unread(rejected)
    if not num_articles(articles) + len(unparsed):
        raise TextcriticError(f"{articles}: holds no articles; nothing can be looked up")
    with whole_file(scores) as temporary, pq.ParquetWriter(temporary, RECITATION_SCHEMA, compression="zstd") as writer:
        groups = article_groups(articles)
        for ids, texts in documents_of(articles, "looking up"):
            writer.write_table(with_groups(score_texts(index, ids, texts), groups))
        writer.write_table(rejected_rows(unparsed, RECITATION_SCHEMA, {}))


def score_texts(index: TrainIndex, ids: pa.StringArray, texts: pa.StringArray) -> pa.Table:
    """Look documents up, some megabytes of text at a time: `RECITATION_SCHEMA`; raises as `score_documents`."""
    tables, first = [RECITATION_SCHEMA.empty_table()], 0
    for some in chunks([texts], CHUNK_BYTES):
        tables.append(score_documents(index, ids.slice(first, len(some)), some))
        first += len(some)
    return pa.concat_tables(tables)


def documents_of(articles: Path, what: str) -> Iterator[tuple[pa.StringArray, pa.StringArray]]:
    """Ids and texts of the articles of a file, with progress."""
    progress = Progress(what, num_articles(articles), "documents")
    for batch in iter_batches(articles, TEXTS_SCHEMA):
        yield batch.column("id"), texts_of(batch)
        progress.advance(len(batch))
