"""Two files of documents in, one JSON object out: the command `textcritic topics`."""

import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from textcritic.corpora import clean_text
from textcritic.corpora.records import records
from textcritic.critics.ctm.model import CTM, FitOptions
from textcritic.critics.ctm.posterior import infer
from textcritic.critics.ctm.scoring import latent_nll, top_words
from textcritic.critics.ctm.train import fit_ctm
from textcritic.errors import TextcriticError
from textcritic.inference import bootstrap_interval, ratio_of_sums, with_ones
from textcritic.latents.bags import (
    Removed,
    VocabularyOptions,
    build_vocabulary,
    count_words,
    read_ldac,
)
from textcritic.runlog import Progress, log

LDAC, TEXT = (".dat", ".ldac"), (".jsonl", ".jsonl.gz", ".parquet", ".arrow")
TEXTS = ("text", "sections")  # the columns of a table of documents
# Documents whose posteriors are inferred between two reports of progress.
SLICE = 4096
TOP_WORDS = 10


@dataclass(frozen=True, eq=False)
class Documents:
    """Both files as counts over the words of the train file.

    Attributes:
        train: int32 CSR [documents, words]; every word occurs.
        test: int32 CSR [documents, words].
        words: the word of each column; None if no file gives them.
        unknown: tokens of the test file that are left out, because train does not have their word or it was removed.
        removed: words and tokens of train that were left out, by reason; None for LDA-C.
    """

    train: csr_matrix
    test: csr_matrix
    words: tuple[str, ...] | None
    unknown: int
    removed: Removed | None = None


@dataclass(frozen=True, slots=True)
class TopicFiles:
    """The two files of documents, and how they are read.

    Attributes:
        train: LDA-C (`.dat`, `.ldac`) or text (JSONL, Parquet, Arrow, see `records`); the model is fitted on it.
        test: a file of the same kind, which is scored.
        vocabulary: for LDA-C, a file with the words, one a line; None: words have no names.
        stop_words: for text, see `VocabularyOptions`; None: no word is left out.
        minimum_count: for text, see `VocabularyOptions`; None: 5.
    """

    train: str | os.PathLike[str]
    test: str | os.PathLike[str]
    vocabulary: str | os.PathLike[str] | None = None
    stop_words: str | None = None
    minimum_count: int | None = None


def topics_report(files: TopicFiles, fit: FitOptions, *, workers: int | None = None, resamples: int = 10_000) -> str:
    """Fit on one file, infer and score another: the JSON object that `textcritic topics --help` describes.

    Args:
        files: the files, and how they are read.
        fit: options of the fit; its seed is also the seed of the bootstrap.
        workers: CPU cores; None: all.
        resamples: of the bootstrap.

    Raises:
        TextcriticError: bad input, options that do not go with the files, no document of the test file with a word.
    """
    workers = workers or os.cpu_count() or 1
    with _progress_on_stderr():
        documents = _read(files)
        full = documents.test[documents.test.getnnz(axis=1) > 0]
        if not full.shape[0]:
            raise TextcriticError(
                f"{files.test}: no document has a word that {files.train} has; nothing is left to score"
            )
        try:
            fitted = fit_ctm(documents.train, fit, workers=workers)
        except TextcriticError as error:
            raise TextcriticError(f"{files.train}: {error}") from error
        critic = fitted.critic
        nll = dict(zip(("in_expectation", "at_mean"), _latent_nll(critic, full, workers), strict=True))
    intervals = {
        kind: bootstrap_interval(with_ones(values), ratio_of_sums, resamples=resamples, seed=fit.seed)
        for kind, values in nll.items()
    }
    result: dict[str, Any] = {
        "bound": [float(bound) for bound in fitted.bounds],
        "seconds": float(fitted.seconds),
        "converged": bool(fitted.converged),
        "latent_nll_mean": {kind: interval.estimate for kind, interval in intervals.items()},
        "ci95": {kind: [interval.low, interval.high] for kind, interval in intervals.items()},
        "n": full.shape[0],
        "empty": documents.test.shape[0] - full.shape[0],
        "tokens": int(full.sum()),
        "tokens_unknown": documents.unknown,
        "train": _size(documents),
        "topics": fit.num_topics,
        "top_words": None if documents.words is None else top_words(critic, documents.words, TOP_WORDS),
    }
    return json.dumps(result, allow_nan=False)


def _read(files: TopicFiles) -> Documents:
    train, test, vocabulary = Path(files.train), Path(files.test), files.vocabulary
    kinds = _kind(train), _kind(test)
    if kinds[0] != kinds[1]:
        raise TextcriticError(f"{test}: {kinds[1]}, while {train} is {kinds[0]}; give two files of one kind")
    if kinds[0] == "LDA-C":
        if files.stop_words is not None or files.minimum_count is not None:
            raise TextcriticError(f"{train}: --stop-words and --minimum-count are for text; LDA-C is counted already")
        return _read_counts(train, test, vocabulary)
    if vocabulary is not None:
        raise TextcriticError(f"{vocabulary}: --vocabulary is for LDA-C; text has the words itself")
    given = {"stop_words": files.stop_words, "minimum_count": files.minimum_count}
    options: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    return _read_texts(train, test, VocabularyOptions(**options))


def _kind(path: Path) -> str:
    if path.name.endswith(LDAC):
        return "LDA-C"
    if path.name.endswith(TEXT) or path.is_dir():
        return "text"
    raise TextcriticError(
        f"{path}: its name should end in {', '.join(LDAC)} (LDA-C) or {', '.join(TEXT)} (text), or be that of a folder"
    )


def _read_counts(train: Path, test: Path, vocabulary: str | os.PathLike[str] | None) -> Documents:
    words = None if vocabulary is None else _read_words(Path(vocabulary))
    counts, tested = (read_ldac(path, None if words is None else len(words)) for path in (train, test))
    known = np.unique(counts.indices)  # a word that TRAIN does not have has no probability
    chosen = None if words is None else tuple(words[word] for word in known)
    shared = _over(known, tested)
    return Documents(_over(known, counts), shared, chosen, int(tested.sum()) - int(shared.sum()))


def _over(known: npt.NDArray[np.int32], counts: csr_matrix) -> csr_matrix:
    """Counts over some words only, whose ids ascend; memory and time do not grow with the largest id."""
    kept = np.isin(counts.indices, known, kind="sort")
    indices = np.searchsorted(known, counts.indices[kept]).astype(np.int32)
    indptr = np.r_[0, np.cumsum(kept)][counts.indptr]
    return csr_matrix((counts.data[kept], indices, indptr), shape=(counts.shape[0], len(known)))


def _read_words(path: Path) -> tuple[str, ...]:
    try:
        lines = path.read_text(encoding="utf-8-sig").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise TextcriticError(f"{path}: not UTF-8; save the file as UTF-8, one word a line") from error
    except OSError as error:
        raise TextcriticError(f"{path}: cannot be read: {error.strerror or error}") from error
    if not lines:
        raise TextcriticError(f"{path}: there is no word in it; the first line should be the word with the id 0")
    return tuple(lines.split("\n"))


def _read_texts(train: Path, test: Path, options: VocabularyOptions) -> Documents:
    vocabulary, removed = build_vocabulary(_texts(train), options)
    lengths: list[int] = []

    def counted() -> Iterator[list[str]]:
        for tokens in _texts(test):
            lengths.append(len(tokens))
            yield tokens

    tested = count_words(counted(), vocabulary)
    unknown = sum(lengths) - int(tested.sum())
    return Documents(count_words(_texts(train), vocabulary), tested, vocabulary.words, unknown, removed)


def _texts(path: Path) -> Iterator[list[str]]:
    """Tokens of each document: `{"text": ...}` or `{"sections": [{"text": ...}, ...]}`; other keys are ignored."""
    found = False
    for _, unit, where, value in records(path, TEXTS, TEXTS):
        found = True
        parts = value.get("sections", [value]) if isinstance(value, dict) else None
        if not isinstance(parts, list) or not all(
            isinstance(part, dict) and isinstance(part.get("text"), str) for part in parts
        ):
            raise TextcriticError(
                f'{where}: a {unit} should be {{"text": "..."}} or {{"sections": [{{"text": "..."}}, ...]}}'
            )
        yield [token for part in parts for token in clean_text(part["text"]).split()]
    if not found:
        raise TextcriticError(f'{path}: there is no document in it; write one {{"text": "..."}} a line or row')


def _latent_nll(critic: CTM, counts: csr_matrix, workers: int) -> tuple[npt.NDArray[np.float64], ...]:
    """Latent NLL of each document, in expectation and at the mean: two arrays [documents]."""
    progress = Progress("inferring topics", counts.shape[0], "documents")
    parts = []
    for start in range(0, counts.shape[0], SLICE):
        rows = counts[start : start + SLICE]
        posterior = infer(critic, rows, workers=workers)
        parts.append(latent_nll(critic, posterior.means, posterior.variances))
        progress.advance(rows.shape[0])
    return tuple(np.concatenate(kind) for kind in zip(*parts, strict=True))


def _size(documents: Documents) -> dict[str, Any]:
    train = documents.train
    return {
        "documents": train.shape[0],
        "empty": int((train.getnnz(axis=1) == 0).sum()),
        "words": train.shape[1],
        "tokens": int(train.sum()),
        "removed": documents.removed,
    }


@contextmanager
def _progress_on_stderr() -> Iterator[None]:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("[topics] %(message)s"))
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
