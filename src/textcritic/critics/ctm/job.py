"""The job of rule fit_topics: a topic model of a corpus, the best of several starts, and a record of all of them."""

import os
from dataclasses import dataclass
from pathlib import Path

from textcritic.critics.ctm.model import save_critics
from textcritic.critics.ctm.posterior import infer
from textcritic.critics.ctm.released import read_released
from textcritic.critics.ctm.starts import fit_starts
from textcritic.errors import TextcriticError
from textcritic.files import write_json
from textcritic.latents.bags import open_counts
from textcritic.plan.entries import Ctm
from textcritic.runlog import FINISHED, log

# Documents whose posteriors are in memory.
SLICE = 5000


@dataclass(frozen=True, slots=True)
class FitFiles:
    """The files of one fit.

    Attributes:
        counts: folder of the counts of the train split, see `latents.bags.open_counts`.
        critic: critic.npz, to be written.
        starts: starts.npz, to be written: the models of the other starts, see `model.load_critics`.
        training: training.json, to be written: bounds (nats, one an iteration), iterations and converged of the fit
            that is kept; seconds of all; documents, empty, words, tokens; starts, as `Fits.record`; and the options.
        state: folder of checkpoints; a killed job continues from there, until another job reads the fit; see
            `runlog.taken`.
    """

    counts: str | os.PathLike[str]
    critic: str | os.PathLike[str]
    starts: str | os.PathLike[str]
    training: str | os.PathLike[str]
    state: Path


def train_topics(files: FitFiles, entry: Ctm, *, version: int = 1, threads: int = 1) -> None:
    """Fit a model on the counts of a train split from several starts, and write it with a record of the fits.

    Args:
        files: what is read and written.
        entry: how it is fitted, or which files of ctm-c are read instead.
        version: version of the stage; a fit that another version began is not continued.
        threads: CPU threads.

    Raises:
        TextcriticError: as `fit_starts` and `open_counts`, with the folder's name.
    """
    if entry.fitted is not None:
        _read_fitted(files, entry.fitted.folder, threads)
        return
    matrix = open_counts(files.counts).matrix
    log.info("%d documents, %d words, %d topics", *matrix.shape, entry.topics)
    (files.state / FINISHED).unlink(missing_ok=True)
    try:
        state = files.state / f"version{version}"
        fits = fit_starts(matrix, entry, state=state, workers=threads)
    except TextcriticError as error:
        raise TextcriticError(f"{files.counts}: {error}") from error
    fit, ended = fits.best, sum(one.converged for one in fits.fits)
    if ended < len(fits.fits):
        left = len(fits.fits) - ended
        log.warning("%d of %d starts not converged; see `tolerance` and `iterations`", left, len(fits.fits))
    fit.critic.save(files.critic)
    save_critics(files.starts, fits.others)
    record = {
        "bounds": fit.bounds,
        "seconds": fits.seconds,
        "iterations": len(fit.bounds),
        "converged": fit.converged,
        "documents": fit.documents,
        "empty": fit.empty,
        "words": matrix.shape[1],
        "tokens": int(matrix.sum()),
        "starts": fits.record(),
        "options": {
            "num_topics": entry.topics,
            "iterations": entry.iterations,
            "tolerance": entry.tolerance,
            "seed": entry.seed,
        },
    }
    write_json(files.training, record)
    (files.state / FINISHED).touch()


def _read_fitted(files: FitFiles, folder: str, threads: int) -> None:
    """Write a model that ctm-c has fitted as ours, with the bound of the train split under it."""
    critic, matrix = read_released(folder), open_counts(files.counts).matrix
    if critic.num_words != matrix.shape[1]:
        raise TextcriticError(
            f"{folder}: {critic.num_words:,} words, and its vocabulary has {matrix.shape[1]:,}; they must be the same"
        )
    bound, filled = 0.0, matrix.getnnz(axis=1) > 0
    for begin in range(0, matrix.shape[0], SLICE):
        posterior = infer(critic, matrix[begin : begin + SLICE], workers=threads)
        bound += float(posterior.bounds[filled[begin : begin + SLICE]].sum())
    critic.save(files.critic)
    save_critics(files.starts, [])
    record = {
        "read": folder,
        "bounds": [bound],
        "seconds": 0.0,
        "iterations": 0,
        "converged": True,
        "documents": int(filled.sum()),
        "empty": int((~filled).sum()),
        "words": matrix.shape[1],
        "tokens": int(matrix.sum()),
        "starts": [],
    }
    write_json(files.training, record)
