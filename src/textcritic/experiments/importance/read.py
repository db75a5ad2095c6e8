"""Reads weights, exact values and groups of texts, and checks that they are of the same texts."""

from dataclasses import dataclass

from textcritic.corpora import article_groups
from textcritic.errors import TextcriticError
from textcritic.experiments.importance.files import Exact, Texts, Weighed
from textcritic.inference import Groups
from textcritic.inference.importance import LogWeights


@dataclass(frozen=True, slots=True)
class Known:
    """Log p of each text by a model for which it can be computed exactly.

    Attributes:
        exact: the file that it was read from, and its model.
        weights: with K = 1.
    """

    exact: Exact
    weights: LogWeights


def read_weights(weighed: Weighed) -> LogWeights:
    """The weights of all shards together, without the two log probabilities whose differences they are.

    Raises:
        TextcriticError: a shard is missing or damaged, or of other texts than the first.
    """
    shards = []
    for path in weighed.shards:
        read = LogWeights.read(path)
        shards.append(LogWeights(read.ids, read.log_weights, read.tokens))
    try:
        return shards[0].joined(shards[1:])
    except TextcriticError as error:
        raise TextcriticError(f"{weighed.shards[0]}: {error}") from error


def matching(known: Known, weights: LogWeights) -> LogWeights:
    """The exact values, in the order of the weights' texts."""
    try:
        if set(known.weights.ids) != set(weights.ids):
            weights.check_same_texts(known.weights, "the exact values")
    except TextcriticError as error:
        raise TextcriticError(f"{known.exact.weights}: {error}") from error
    if known.weights.ids == weights.ids:
        return known.weights
    place = {name: row for row, name in enumerate(known.weights.ids)}
    rows = [place[name] for name in weights.ids]
    return LogWeights(weights.ids, known.weights.log_weights[rows], known.weights.tokens[rows])


def groups_of(texts: Texts, weights: LogWeights) -> Groups:
    """The group of each text, in the order of the weights; None for a text that is alone."""
    table = article_groups(texts.test)
    by_id: dict[str, str | None] = dict(zip(table["id"].to_pylist(), table["group"].to_pylist(), strict=True))
    missing = next((name for name in weights.ids if name not in by_id), None)
    if missing is not None:
        raise TextcriticError(f"{texts.test}: has no text {missing!r}; delete the weights of its corpus and rerun")
    return [by_id[name] for name in weights.ids]
