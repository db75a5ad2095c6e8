"""The job of rule infer_topics: the posterior over topic coefficients of every document of a file, and its score."""

import os
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from textcritic.corpora import iter_articles
from textcritic.critics.ctm.model import CTM
from textcritic.critics.ctm.posterior import Posterior, infer
from textcritic.critics.ctm.scoring import TOPIC_SCORES_SCHEMA, score_topics, unparsed
from textcritic.errors import TextcriticError
from textcritic.files import read_table, whole_file
from textcritic.latents.bags import Counts, Vocabulary, count_articles
from textcritic.runlog import Progress

TOPICS_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("words", pa.int64()),
        ("tokens", pa.int64()),
        ("mean", pa.list_(pa.float64())),
        ("variance", pa.list_(pa.float64())),
        ("bound", pa.float64()),
    ]
)
# Documents whose posteriors are in memory: 100 topics take 8 MB.
CHUNK_DOCUMENTS = 5000


def project_articles(
    articles_path: str | os.PathLike[str],
    rejected_path: str | os.PathLike[str] | None,
    vocabulary_path: str | os.PathLike[str],
    critic_path: str | os.PathLike[str],
    topics_path: str | os.PathLike[str],
    scores_path: str | os.PathLike[str],
    threads: int = 1,
) -> None:
    """Infer the topics of articles and score them; memory is that of a chunk of documents, whatever their number.

    Args:
        articles_path: a corpus split or a sample.
        rejected_path: texts of the sample that did not parse (id, text, why), carried into the scores; None: none.
        vocabulary_path: Parquet file of the critic's words.
        critic_path: critic.npz.
        topics_path: Parquet file to write, in `TOPICS_SCHEMA`: means and variances [K - 1], null where a document
            has no word of the vocabulary.
        scores_path: Parquet file to write, in `TOPIC_SCORES_SCHEMA`.
        threads: of the inference.

    Raises:
        TextcriticError: a file is missing or not whole, critic and vocabulary do not belong together, or there are
            neither articles nor rejected texts.
    """
    critic, vocabulary = CTM.load(critic_path), Vocabulary.load(vocabulary_path)
    if critic.num_words != len(vocabulary):
        raise TextcriticError(
            f"{critic_path}: a critic of {critic.num_words:,} words, and {vocabulary_path} has {len(vocabulary):,}; "
            "delete both and rerun the rules that make them"
        )
    rejected = [] if rejected_path is None else read_table(rejected_path).select(["id", "why"]).to_pylist()
    with (
        whole_file(topics_path) as topics_file,
        whole_file(scores_path) as scores_file,
        pq.ParquetWriter(topics_file, TOPICS_SCHEMA, compression="zstd") as topics_writer,
        pq.ParquetWriter(scores_file, TOPIC_SCORES_SCHEMA, compression="zstd") as scores_writer,
    ):
        documents = 0
        progress: Progress | None = None
        for counts in _chunks(count_articles(iter_articles(articles_path), vocabulary)):
            progress = progress or Progress(
                f"inferring {critic.num_topics} topics", pq.read_metadata(articles_path).num_rows, "documents"
            )
            posterior = infer(critic, counts.matrix, workers=threads)
            topics = topics_table(counts, posterior)
            topics_writer.write_table(topics)
            scores_writer.write_table(score_topics(critic, topics))
            documents += topics.num_rows
            progress.advance(topics.num_rows)
        if not documents + len(rejected):
            raise TextcriticError(f"{articles_path}: holds no articles; nothing can be inferred")
        scores_writer.write_table(unparsed([(row["id"], row["why"]) for row in rejected]))


def topics_table(counts: Counts, posterior: Posterior) -> pa.Table:
    """Posteriors of documents as a table, schema `TOPICS_SCHEMA`."""
    words = np.asarray(posterior.words, dtype=np.int64)
    columns = [
        counts.ids,
        pa.array(words),
        pa.array(counts.tokens),
        _lists(posterior.means, words > 0),
        _lists(posterior.variances, words > 0),
        pa.array(posterior.bounds),
    ]
    return pa.table(columns, schema=TOPICS_SCHEMA)


def _chunks(blocks: Iterator[Counts]) -> Iterator[Counts]:
    """The same documents, `CHUNK_DOCUMENTS` at a time at most."""
    for block in blocks:
        for start in range(0, len(block.ids), CHUNK_DOCUMENTS):
            rows = slice(start, start + CHUNK_DOCUMENTS)
            yield Counts(block.ids[rows], block.tokens[rows], block.matrix[rows])


def _lists(values: np.ndarray, filled: np.ndarray) -> pa.Array:
    """Rows [documents, k] as lists of k, null where they are not filled."""
    offsets = np.concatenate([[0], np.cumsum(filled * values.shape[1])]).astype(np.int32)
    flat = pa.array(np.ascontiguousarray(values[filled], dtype=np.float64).ravel())
    return pa.ListArray.from_arrays(pa.array(offsets), flat, mask=pa.array(~filled))
