"""Power of the test of topics: how often it notices words of another topic in real documents."""

import os
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, vstack

from textcritic.corpora import iter_articles
from textcritic.critics.ctm.model import CTM
from textcritic.critics.ctm.posterior import infer
from textcritic.critics.ctm.scoring import FOREIGN, latent_nll
from textcritic.critics.power import power_table
from textcritic.files import write_table
from textcritic.inference import PowerOptions, power_rows, with_ones
from textcritic.latents.bags import Vocabulary, count_articles, require_words

VERSIONS = 3
"""Versions of each document with different foreign words; all are inferred, and each repetition draws one."""


@dataclass(frozen=True, slots=True)
class PowerFiles:
    """The files of one study of power.

    Attributes:
        articles: a test split.
        vocabulary: Parquet file of the critic's words.
        critic: critic.npz, fitted on the train split.
        power: Parquet to write, in `critics.power.POWER_SCHEMA`.
    """

    articles: str | os.PathLike[str]
    vocabulary: str | os.PathLike[str]
    critic: str | os.PathLike[str]
    power: str | os.PathLike[str]


def measure_topic_power(files: PowerFiles, options: PowerOptions, threads: int = 1) -> None:
    """The job: how often a permutation test of mean Latent NLL notices documents with words of another topic.

    Half of the words of a document are replaced by words of another random document (`with_foreign_words`), and its
    posterior is inferred from these. Documents without two words of the vocabulary are left out.

    Args:
        files: what is read and written. The table has no rows where there are too few documents.
        options: what is tried; `shares` of the documents have the fault.
        threads: CPU threads of the inference.

    Raises:
        TextcriticError: a file is missing or not whole, critic and vocabulary do not belong together, or no
            repetitions.
    """
    critic, vocabulary = CTM.load(files.critic), Vocabulary.load(files.vocabulary)
    require_words(files.critic, critic.num_words, files.vocabulary, vocabulary)
    rng = np.random.default_rng(options.seed)
    blocks = [counts.matrix for counts in count_articles(iter_articles(files.articles), vocabulary)]
    every = vstack([csr_matrix((0, len(vocabulary)), dtype=np.int32), *blocks], format="csr")
    every = every[np.asarray(every.sum(axis=1)).ravel() > 1]
    counts = every[options.some(every.shape[0], rng)]
    rows = []
    if options.tried() and options.sizes(counts.shape[0]):
        plain, *faulty = (
            with_ones(_nll(critic, matrix, threads))
            for matrix in (counts, *(with_foreign_words(counts, rng) for _ in range(VERSIONS)))
        )
        rows = [{"kind": FOREIGN, **row} for row in power_rows(plain, np.stack(faulty), options)]
    write_table(files.power, power_table(rows))


def with_foreign_words(counts: csr_matrix, rng: np.random.Generator) -> csr_matrix:
    """The same documents, half of the words of each replaced by words of another of them: int32 [documents, words].

    The half that stays is drawn without replacement; the others are drawn from the other document's words with
    replacement, so that no document gets longer or shorter. Of an odd number of words one more stays.

    Args:
        counts: of two documents or more, each of two words or more: [documents, words].
        rng: of the draws.
    """
    documents = counts.shape[0]
    others = (np.arange(documents) + rng.integers(1, documents, documents)) % documents
    rows = [_mixed(counts, int(own), int(other), rng) for own, other in enumerate(others)]
    words, numbers = (np.concatenate(column) for column in zip(*rows, strict=True))
    starts = np.concatenate([[0], np.cumsum([len(row[0]) for row in rows])])
    mixed = csr_matrix((numbers.astype(np.int32), words, starts), shape=counts.shape)
    mixed.sum_duplicates()
    return mixed


def _mixed(
    counts: csr_matrix, own: int, other: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Words of one document with its foreign ones, and how often each is there; a word can be twice among them."""
    (words, numbers), (foreign, shares) = (
        (counts.indices[part], counts.data[part])
        for part in (slice(*counts.indptr[row : row + 2]) for row in (own, other))
    )
    total = int(numbers.sum())
    kept = rng.multivariate_hypergeometric(numbers, total - total // 2)
    drawn = rng.multinomial(total // 2, shares / shares.sum())
    stay, come = kept > 0, drawn > 0
    return np.concatenate([words[stay], foreign[come]]), np.concatenate([kept[stay], drawn[come]])


def _nll(critic: CTM, counts: csr_matrix, threads: int) -> npt.NDArray[np.float64]:
    """Latent NLL of each document in expectation, nats: [documents]."""
    posterior = infer(critic, counts, workers=threads)
    return latent_nll(critic, posterior.means, posterior.variances)[0]
