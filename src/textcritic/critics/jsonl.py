"""Files of chains in, one JSON object out: the command `textcritic chains`."""

import json
import os
from typing import Any

import numpy as np

from textcritic.corpora.records import records
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
    """Read `{"chain": [title, ...]}` a line of JSON lines or a row of Parquet or Arrow; other keys are ignored.

    Raises:
        TextcriticError: as `records`, or a line or row that is something else, which is named.
    """
    return [_chain(record.value, record.where) for record in records(path, ["chain"], ["chain"])]


def _chain(value: Any, where: str) -> list[str]:
    if not isinstance(value, dict) or "chain" not in value:
        fault = 'not an object with the key "chain"'
    elif not isinstance(value["chain"], list) or not all(type(title) is str for title in value["chain"]):
        fault = '"chain" is not a list of strings'
    else:
        chain: list[str] = value["chain"]
        return chain
    raise TextcriticError(f'{where}: {fault}; each line must be {{"chain": ["title", ...]}}')
