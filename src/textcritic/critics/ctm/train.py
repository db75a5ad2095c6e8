"""The job that fits a topic model on a corpus whose words are counted."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from textcritic.critics.ctm.fit import fit_ctm
from textcritic.critics.ctm.options import FitOptions
from textcritic.errors import TextcriticError
from textcritic.files import write_json
from textcritic.latents.bags import open_counts
from textcritic.runlog import log


def train_topics(
    counts: str | os.PathLike[str],
    entry: Mapping[str, Any],
    critic_path: str | os.PathLike[str],
    training_path: str | os.PathLike[str],
    *,
    state: Path,
    version: int = 1,
    threads: int = 1,
) -> None:
    """Fit a model on the counts of a train split, and write it with a record of the fit.

    On a GPU if torch sees one, else on `threads` cores.

    Args:
        counts: folder, see `latents.bags.open_counts`.
        entry: of the critics registry: `topics`, `seed`, `iterations`, `tolerance`, `shrinkage`, `minibatch`.
        critic_path: critic.npz.
        training_path: training.json: bounds (nats, one an iteration), seconds, converged, documents, empty, words,
            tokens, and the options.
        state: folder of checkpoints; a killed job goes on from there, and it is removed once the fit is written.
        version: of the stage; a fit of another is not gone on with.
        threads: CPU threads.

    Raises:
        TextcriticError: as `fit_ctm` and `open_counts`, with the folder's name.
    """
    options = FitOptions(
        num_topics=entry["topics"],
        **{key: entry[key] for key in ("iterations", "tolerance", "shrinkage", "minibatch", "seed")},
    )
    matrix = open_counts(counts).matrix
    device = "cuda" if torch.cuda.is_available() else "cpu"
    log.info("%d documents, %d words, %d topics, on %s", *matrix.shape, options.num_topics, device)
    try:
        fit = fit_ctm(
            matrix, options, state=state / f"version{version}", workers=threads if device == "cpu" else 1, device=device
        )
    except TextcriticError as error:
        raise TextcriticError(f"{counts}: {error}") from error
    if not fit.converged:
        log.warning("not converged after %d iterations; see `tolerance` and `iterations`", len(fit.bounds))
    fit.critic.save(critic_path)
    record = {
        "bounds": fit.bounds,
        "seconds": fit.seconds,
        "iterations": len(fit.bounds),
        "converged": fit.converged,
        "documents": fit.documents,
        "empty": fit.empty,
        "words": matrix.shape[1],
        "tokens": int(matrix.sum()),
        "options": asdict(options),
    }
    write_json(training_path, record)
    shutil.rmtree(state, ignore_errors=True)
