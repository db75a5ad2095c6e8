"""The jobs of the rules fit_lda and infer_data_mixing: a model of a corpus, and the posteriors of every document."""

import os
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq
from scipy.sparse import csr_matrix

from textcritic.corpora import article_groups, iter_articles
from textcritic.critics.lda.fit import EVERY, fit_lda
from textcritic.critics.lda.model import LDA
from textcritic.critics.lda.posterior import infer
from textcritic.critics.lda.posteriors import Posteriors
from textcritic.critics.lda.scoring import score_lda
from textcritic.critics.scores import unread, with_groups
from textcritic.errors import TextcriticError
from textcritic.files import write_json, write_table
from textcritic.latents.bags import Vocabulary, count_articles, open_counts, require_words
from textcritic.plan.entries import Lda
from textcritic.runlog import Progress, log, versions

FITTED_BY = ("beta", "alpha", "optimise_every", "burn_in", "iterations", "starts", "seed")
"""Keys of an entry of the critics registry that decide the fit, except `topics` and `vocabulary`."""


@dataclass(frozen=True, slots=True)
class InferFiles:
    """The files of one inference.

    Attributes:
        articles: a corpus split or a sample.
        vocabulary: Parquet file of the critic's words.
        critic: critic.npz.
        posteriors: .npz to write, see `Posteriors`.
        scores: Parquet file to write, in `LDA_SCORES_SCHEMA`.
        rejected: texts of the sample that did not parse (id, text, why), which get a row in the scores; None: none.
    """

    articles: str | os.PathLike[str]
    vocabulary: str | os.PathLike[str]
    critic: str | os.PathLike[str]
    posteriors: str | os.PathLike[str]
    scores: str | os.PathLike[str]
    rejected: str | os.PathLike[str] | None = None


def train_lda(
    counts: str | os.PathLike[str],
    critic: str | os.PathLike[str],
    training: str | os.PathLike[str],
    entry: Lda,
    threads: int = 1,
) -> None:
    """Fit a model on the counts of a train split, and write it with a record of the fit.

    Args:
        counts: folder of the counts, see `latents.bags.open_counts`.
        critic: critic.npz to write.
        training: JSON to write: `log_probs`, nats a token, of the chain that is kept, a value each `every` sweeps;
            `starts`, the last of each chain, and `kept`, the number of that one from 0; `convergence`, see
            `Convergence.record`; alpha; seconds; documents,
            empty, words, tokens; versions; and the options.
        entry: how it is fitted.
        threads: CPU threads; at most one a start is used.

    Raises:
        TextcriticError: as `fit_lda` and `open_counts`, with the folder's name.
    """
    matrix = open_counts(counts).matrix
    log.info("%d documents, %d words, %d topics", *matrix.shape, entry.topics)
    try:
        fit = fit_lda(matrix, entry, workers=threads)
    except TextcriticError as error:
        raise TextcriticError(f"{counts}: {error}") from error
    fit.critic.save(critic)
    record = {
        "log_probs": fit.log_probs[fit.kept],
        "every": EVERY,
        "starts": [chain[-1] for chain in fit.log_probs],
        "kept": fit.kept,
        "convergence": fit.convergence.record(),
        "alpha": fit.critic.alpha.tolist(),
        "seconds": fit.seconds,
        "documents": fit.documents,
        "empty": fit.empty,
        "words": matrix.shape[1],
        "tokens": int(matrix.sum()),
        "versions": versions("tomotopy"),
        "options": {"num_topics": entry.topics} | {key: getattr(entry, key) for key in FITTED_BY},
    }
    write_json(training, record)


def infer_mixing(files: InferFiles, entry: Lda) -> None:
    """Draw the posteriors of articles, and score them.

    Args:
        files: what is read and written.
        entry: how posteriors are drawn.

    Raises:
        TextcriticError: a file is missing or not whole, critic and vocabulary do not belong together, or there are
            neither articles nor rejected texts.
    """
    critic, vocabulary = LDA.load(files.critic), Vocabulary.load(files.vocabulary)
    require_words(files.critic, critic.num_words, files.vocabulary, vocabulary)
    rejected = unread(files.rejected)
    parts: list[Posteriors] = []
    scores = []
    done = 0
    progress = Progress(
        f"drawing shares of {critic.num_topics} topics", pq.read_metadata(files.articles).num_rows, "documents"
    )
    for counts in count_articles(iter_articles(files.articles), vocabulary):
        posterior = infer(critic, counts.matrix, entry, first=done)
        parts.append(Posteriors.of(counts.ids, posterior))
        scores.append(score_lda(counts.ids, posterior))
        done += len(counts.ids)
        progress.advance(len(counts.ids))
    if not done + len(rejected):
        raise TextcriticError(f"{files.articles}: holds no articles; nothing can be inferred")
    none = infer(critic, csr_matrix((0, critic.num_words)), entry)
    parts.append(Posteriors.of(pa.array([], pa.string()), none))
    scores.append(score_lda([], none, rejected))
    Posteriors.joined(parts).save(files.posteriors)
    write_table(files.scores, with_groups(pa.concat_tables(scores), article_groups(files.articles)))
