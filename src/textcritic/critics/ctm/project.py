"""The job of rule infer_topics: the posterior over topic coefficients of every document of a file, and its score."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from textcritic.corpora import article_groups, iter_articles
from textcritic.critics.ctm.model import CTM, load_critics
from textcritic.critics.ctm.posterior import Posterior, infer
from textcritic.critics.ctm.scoring import TOPIC_SCORES_SCHEMA, score_topics, unparsed
from textcritic.critics.scores import unread, with_groups
from textcritic.errors import TextcriticError
from textcritic.files import whole_file
from textcritic.latents.bags import Counts, Vocabulary, count_articles, require_words
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
STARTS_SCHEMA = pa.schema(
    [
        ("start", pa.int64()),
        *(TOPICS_SCHEMA.field(name) for name in ("id", "words", "mean", "variance")),
        *(TOPIC_SCORES_SCHEMA.field(name) for name in ("nll", "nll_at_mean")),
    ]
)
# Documents whose posteriors are in memory: 100 topics take 8 MB.
CHUNK_DOCUMENTS = 5000


@dataclass(frozen=True, slots=True)
class ProjectedFiles:
    """The files of one projection.

    Attributes:
        articles: a corpus split or a sample.
        vocabulary: Parquet file of the critic's words.
        critic: critic.npz.
        topics: Parquet file to write, in `TOPICS_SCHEMA`: means and variances [K - 1], null where a document has no
            word of the vocabulary.
        scores: Parquet file to write, in `TOPIC_SCORES_SCHEMA`.
        rejected: texts of the sample that did not parse (id, text, why), which get a row in the scores; None: none.
        starts: starts.npz, the models of the other starts of the fit; None: there are none.
        of_starts: Parquet file to write, in `STARTS_SCHEMA`: posteriors and scores of the documents with words under
            each of these, `start` from 2; None: it is not written.
    """

    articles: str | os.PathLike[str]
    vocabulary: str | os.PathLike[str]
    critic: str | os.PathLike[str]
    topics: str | os.PathLike[str]
    scores: str | os.PathLike[str]
    rejected: str | os.PathLike[str] | None = None
    starts: str | os.PathLike[str] | None = None
    of_starts: str | os.PathLike[str] | None = None


def project_articles(files: ProjectedFiles, threads: int = 1) -> None:
    """Infer the topics of articles and score them, under the models of the other starts too.

    Memory is that of a chunk of documents, whatever their number.

    Args:
        files: what is read and written.
        threads: CPU threads of the inference.

    Raises:
        TextcriticError: a file is missing or not whole, critic and vocabulary do not belong together, or there are
            neither articles nor rejected texts.
    """
    critic, vocabulary = CTM.load(files.critic), Vocabulary.load(files.vocabulary)
    others = [] if files.starts is None else load_critics(files.starts)
    for path, one in [(files.critic, critic), *((files.starts, other) for other in others)]:
        require_words(str(path), one.num_words, files.vocabulary, vocabulary)
    rejected = unread(files.rejected)
    with ExitStack() as stack:
        topics_writer, scores_writer = (
            stack.enter_context(_written(path, schema))
            for path, schema in ((files.topics, TOPICS_SCHEMA), (files.scores, TOPIC_SCORES_SCHEMA))
        )
        starts_writer = files.of_starts and stack.enter_context(_written(files.of_starts, STARTS_SCHEMA))
        documents, groups = 0, article_groups(files.articles)
        progress: Progress | None = None
        for counts in _chunks(count_articles(iter_articles(files.articles), vocabulary)):
            progress = progress or Progress(
                f"inferring {critic.num_topics} topics", pq.read_metadata(files.articles).num_rows, "documents"
            )
            posterior = infer(critic, counts.matrix, workers=threads)
            topics = topics_table(counts, posterior)
            topics_writer.write_table(topics)
            scores_writer.write_table(with_groups(score_topics(critic, topics), groups))
            if starts_writer:
                for number, other in enumerate(others, start=2):
                    starts_writer.write_table(_of_start(number, other, counts, threads))
            documents += topics.num_rows
            progress.advance(topics.num_rows)
        if not documents + len(rejected):
            raise TextcriticError(f"{files.articles}: holds no articles; nothing can be inferred")
        scores_writer.write_table(unparsed(rejected))


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


def _of_start(number: int, critic: CTM, counts: Counts, threads: int) -> pa.Table:
    """Posteriors and scores under the model of another start, schema `STARTS_SCHEMA`."""
    topics = topics_table(counts, infer(critic, counts.matrix, workers=threads))
    scores = score_topics(critic, topics)
    topics = topics.append_column("start", pa.array(np.full(topics.num_rows, number)))
    for name in ("nll", "nll_at_mean"):
        topics = topics.append_column(name, scores[name])
    return topics.filter(pc.greater(topics["words"], 0)).select(STARTS_SCHEMA.names)


@contextmanager
def _written(path: str | os.PathLike[str], schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    with whole_file(path) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        yield writer


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
