"""Models that Blei's C code (ctm-c, which the model criticism paper used) has fitted, read from the files it writes."""

import math
import os
import warnings
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from textcritic.critics.ctm.model import CTM, NEVER, Array
from textcritic.errors import TextcriticError

# What a folder must have: numbers, row after row, with six decimals.
MEAN, COVARIANCE, TOPICS = "final-mu.dat", "final-cov.dat", "final-log-beta.dat"
FILES = (MEAN, COVARIANCE, TOPICS)
# Looked at if they are there: `num_topics K` and `num_terms V`; the inverse of the covariance.
SIZES, PRECISION = "final-param.txt", "final-inv-cov.dat"
# By how much the probabilities of a topic's words may miss 1, and entries of covariance times precision those of I.
ROUNDING, INVERSE = 1e-3, 0.05


def read_released(folder: str | os.PathLike[str]) -> CTM:
    """Read `final-mu.dat`, `final-cov.dat` and `final-log-beta.dat` as a critic.

    Means are [K - 1], covariances [K - 1, K - 1] and log probabilities [K, V], as here: the last topic's coefficient
    is 0. The files have six decimals, so the topics are scaled to add up to 1 again. A word that a topic never
    emits has the log probability -1000 there and that of `model.NEVER` here. `final-param.txt` and `final-inv-cov.dat`
    are compared with the others if they are there.

    Raises:
        TextcriticError: a file is missing, has something that is not a number, or as many numbers as do not go with the
            other files; the covariance is not positive definite, or not that of the precision.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise TextcriticError(f"{folder}: not a folder; give one with ctm-c's {', '.join(FILES)}")
    mean = _numbers(folder / MEAN)
    topics = len(mean) + 1
    covariance = _square(folder / COVARIANCE, topics)
    log_topics = _numbers(folder / TOPICS)
    if len(log_topics) % topics:
        raise TextcriticError(
            f"{folder / TOPICS}: {len(log_topics):,} numbers, which are not rows of {topics} topics; {MEAN} has"
            f" {topics - 1} numbers, one less than topics"
        )
    log_topics = log_topics.reshape(topics, -1)
    _check_sizes(folder / SIZES, log_topics.shape)
    _check_precision(folder, covariance)
    sums = logsumexp(log_topics, axis=1)
    wrong = ~(np.abs(sums) < ROUNDING)
    if wrong.any():
        raise TextcriticError(
            f"{folder / TOPICS}: the probabilities of topic {wrong.argmax() + 1} add up to"
            f" {math.exp(sums[wrong.argmax()]):.4g}, not 1; the file should have natural logarithms, topic after topic"
        )
    try:
        return CTM(np.maximum(log_topics - sums[:, None], math.log(NEVER)), mean, (covariance + covariance.T) / 2)
    except TextcriticError as error:
        raise TextcriticError(f"{folder}: {error}") from error


def _numbers(path: Path) -> Array:
    """Every number of a file, whatever its lines."""
    if not path.is_file():
        raise TextcriticError(f"{path}: no such file; of ctm-c's files, {', '.join(FILES)} are needed")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # what follows the last number
            numbers: Array = np.fromfile(path, np.float64, sep=" ")
    except (ValueError, DeprecationWarning, OSError) as error:
        raise TextcriticError(f"{path}{_first_wrong(path)}") from error
    if not len(numbers):
        raise TextcriticError(f"{path}: there is no number in it")
    if not np.isfinite(numbers).all():
        raise TextcriticError(f"{path}: number {int(np.isfinite(numbers).argmin()) + 1} is not finite")
    return numbers


def _first_wrong(path: Path) -> str:
    """The line of the first word that is not a number."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            for word in line.split():
                try:
                    float(word)
                except ValueError:
                    return f":{number}: {word[:20].decode('ascii', 'replace')!r} is not a number"
    return ": cannot be read as numbers"


def _square(path: Path, topics: int) -> Array:
    numbers, size = _numbers(path), topics - 1
    if len(numbers) != size * size:
        raise TextcriticError(f"{path}: {len(numbers):,} numbers; {MEAN} has {size}, so it must have {size * size:,}")
    return numbers.reshape(size, size)


def _check_sizes(path: Path, shape: tuple[int, ...]) -> None:
    if not path.is_file():
        return
    lines = (line.split() for line in path.read_text(encoding="ascii", errors="replace").splitlines())
    given = {words[0]: words[1] for words in lines if len(words) > 1}
    for name, size in zip(("num_topics", "num_terms"), shape, strict=True):
        if given.get(name, str(size)) != str(size):
            raise TextcriticError(
                f"{path}: {name} is {given[name]}, but by {TOPICS} and {MEAN} it is {size:,}; the files are of"
                " different fits"
            )


def _check_precision(folder: Path, covariance: npt.NDArray[np.float64]) -> None:
    path = folder / PRECISION
    if path.is_file():
        product = covariance @ _square(path, len(covariance) + 1)
        if not np.abs(product - np.eye(len(covariance))).max() < INVERSE:
            raise TextcriticError(f"{path}: not the inverse of {COVARIANCE}; the files are of different fits")
