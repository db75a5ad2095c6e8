"""Files of chains in, one JSON object out: the command `textcritic chains`."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from textcritic.critics.chains import Chains
from textcritic.critics.scores import document_columns, latent_nll, latent_ppl, rejections
from textcritic.critics.scoring import score_chains, unseen_transitions
from textcritic.critics.transitions import Mode, TransitionCritic
from textcritic.errors import TextcriticError
from textcritic.inference import bootstrap_interval, exp_ratio_of_sums


def chains_report(
    train: str | os.PathLike[str],
    test: str | os.PathLike[str],
    smoothing: float | None = None,
    mode: Mode = "paper",
    resamples: int = 10_000,
    seed: int = 1,
) -> str:
    """Fit on one file of chains, score another: the JSON object that `textcritic chains --help` describes.

    Raises:
        TextcriticError: a line of either file is bad, or no document of the test file can be scored.
    """
    train_chains, test_chains = Chains.of(read_chains(train)), Chains.of(read_chains(test))
    try:
        grid = None if smoothing is None else [smoothing]
        critic = TransitionCritic.fit(train_chains, mode=mode, grid=grid, seed=seed)
    except TextcriticError as error:
        raise TextcriticError(f"{train}: {error}") from error
    scores = score_chains(critic, np.arange(len(test_chains.lengths)).astype(str).tolist(), test_chains)
    try:
        columns = document_columns(scores)
    except TextcriticError as error:
        raise TextcriticError(f"{test}: {error}") from error
    unseen = unseen_transitions(scores, critic)
    result: dict[str, Any] = {"latent_ppl": None, "ci95": None, "latent_nll_mean": None}
    if not unseen:
        interval = bootstrap_interval(columns, exp_ratio_of_sums, resamples=resamples, seed=seed)
        nll = latent_nll(scores)
        result = {"latent_ppl": latent_ppl(scores), "ci95": [interval.low, interval.high], "latent_nll_mean": nll}
    reasons = rejections(scores)
    kept = ~scores["rejected"].to_numpy()
    steps = int(columns[:, 1].sum())
    result |= {
        "steps": steps,
        "n": len(columns),
        "rejected": sum(reasons.values()),
        "rejected_by_reason": reasons,
        "smoothing": critic.delta,
        "unseen_transitions": unseen,
        "skipped_transitions": int((test_chains.lengths[kept] + 1).sum()) - steps,
    }
    return json.dumps(result, allow_nan=False)


def read_chains(path: str | os.PathLike[str]) -> list[list[str]]:
    """Read JSONL with one `{"chain": [title, ...]}` a line; other keys are ignored.

    Raises:
        TextcriticError: no such file, or a line that is something else; the line is named.
    """
    chains = []
    try:
        with Path(path).open("rb") as handle:
            for number, line in enumerate(handle, start=1):
                try:
                    chains.append(_chain(line))
                except (ValueError, RecursionError) as error:
                    wanted = 'each line must be {"chain": ["title", ...]}'
                    raise TextcriticError(f"{path}:{number}: {_one_line(error)}; {wanted}") from error
    except OSError as error:
        raise TextcriticError(f"{path}: cannot be read: {error.strerror or error}") from error
    return chains


def _chain(line: bytes) -> list[str]:
    value = json.loads(line.decode("utf-8"))
    if not isinstance(value, dict) or "chain" not in value:
        raise ValueError('not an object with the key "chain"')
    chain = value["chain"]
    if not isinstance(chain, list) or not all(type(title) is str for title in chain):
        raise ValueError('"chain" is not a list of strings')
    if b"\\u" in line:
        "".join(chain).encode("utf-8")  # half of a surrogate pair is not text: UnicodeEncodeError is a ValueError
    return chain


def _one_line(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON ({error.msg}, column {error.colno})"
    if isinstance(error, UnicodeError):
        return "not UTF-8 text"
    return "nested too deep" if isinstance(error, RecursionError) else str(error)
