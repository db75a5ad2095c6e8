"""Several numbers of topics: which of them is taken, and whether the verdicts depend on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textcritic.api.options import AUTO
from textcritic.api.results import Table
from textcritic.critics.ctm.counted import Counted
from textcritic.critics.ctm.held_out import HeldOut
from textcritic.errors import TextcriticError
from textcritic.inference import Interval
from textcritic.measures.numbers import interval, number
from textcritic.measures.score import Score
from textcritic.plan.checks.critics import PARTS
from textcritic.values import JsonObject

if TYPE_CHECKING:
    from textcritic.report.charts import Mark

SEARCHED = (5, 10, 20, 50)
"""Numbers of topics that `auto` chooses from; of few documents those that can be fitted."""
MEASURE = "How many topics"
QUANTITY = "log-likelihood of a held-out word (nats)"


@dataclass(frozen=True)
class TopicNumbers:
    """What was found with each number of topics.

    Attributes:
        held_out: the result for each number of topics, ascending.
        scores: with each number, the Latent NLL of the test sets if there are several, tested against the first set.
        documents: held-out documents, all of train with two tokens or more of the vocabulary.
        tokens: how many tokens were predicted, half of each document's tokens.
        unknown: how many were not, because no document of the other parts has their word.
    """

    held_out: tuple[HeldOut, ...]
    scores: Mapping[int, tuple[Score, ...]]
    documents: int
    tokens: int
    unknown: int

    @property
    def taken(self) -> HeldOut:
        """The number that is taken."""
        return next(one for one in self.held_out if one.taken)

    @property
    def best(self) -> HeldOut:
        """The number of the highest likelihood."""
        return max(self.held_out, key=lambda one: one.log_likelihood.estimate)

    def verdicts(self, k: int) -> dict[str, str]:
        """Whether each set but the first differs from the first with k topics, by label."""
        return {one.source: one.verdict for one in self.scores[k] if not one.is_real}

    def changing(self) -> list[str]:
        """The sets whose verdict depends on the number of topics."""
        found = [self.verdicts(one.num_topics) for one in self.held_out]
        return [label for label in found[0] if len({verdicts[label] for verdicts in found}) > 1]

    @property
    def sentence(self) -> str:
        """What the table says."""
        taken, best = self.taken.num_topics, self.best.num_topics
        why = "the highest likelihood" if taken == best else f"the smallest number that may be as good as {best}"
        sentences = [f"{taken} topics are taken: {why}."]
        if self.verdicts(taken):
            changing = ", ".join(self.changing())
            sentences.append("Verdicts: whether the Latent NLL of a set differs from that of the first set.")
            sentences.append(
                f"That of {changing} changes with the number." if changing else "None changes with the number."
            )
        left_out = f"; {self.unknown:,} with words of no other part are left out" if self.unknown else ""
        sentences.append(
            f"Of each of {self.documents:,} texts, half of the words are read and the other half predicted, by models"
            f" that were fitted on {PARTS - 1} of {PARTS} parts of the texts, without this one: {self.tokens:,}"
            f" words{left_out}. Intervals: 95%, over texts."
        )
        return " ".join(sentences)

    def table(self) -> Table:
        """The table that is printed: one row for each number of topics."""
        labels = list(self.verdicts(self.taken.num_topics))
        heads = ("topics", "nats a word", "95% interval", "below the best", "95% interval", *labels, "taken")
        rows = [
            (
                str(one.num_topics),
                *_with_interval(one.log_likelihood),
                *(("–", "") if one is self.best else _with_interval(one.below_best)),
                *(self.verdicts(one.num_topics)[label] for label in labels),
                "taken" if one.taken else "",
            )
            for one in self.held_out
        ]
        return MEASURE, QUANTITY, heads, [*rows]

    def drawn(self) -> "tuple[list[Mark], str, str, str]":
        """What `report.picture.marks_picture` draws: the likelihood of each number."""
        from textcritic.report.charts import Mark  # matplotlib is loaded for this alone

        marks = [
            Mark(
                f"{one.num_topics} topics",
                (one.log_likelihood.estimate,),
                (one.log_likelihood.ends,),
                "taken" if one.taken else "",
                setting="w-title",
            )
            for one in self.held_out
        ]
        each = ", ".join(f"{one.num_topics} topics {number(one.log_likelihood.estimate)}" for one in self.held_out)
        return marks, QUANTITY, "topics-numbers", f"{QUANTITY} by number of topics: {each}."

    def described(self) -> JsonObject:
        """As JSON has it."""
        return {
            "taken": self.taken.num_topics,
            "documents": self.documents,
            "tokens": self.tokens,
            "tokens_unknown": self.unknown,
            "numbers": [
                {
                    "topics": one.num_topics,
                    "log_likelihood": one.log_likelihood.estimate,
                    "ci95": [one.log_likelihood.low, one.log_likelihood.high],
                    "below_best": one.below_best.estimate,
                    "below_best_ci95": [one.below_best.low, one.below_best.high],
                    "samples": {
                        score.source: {"latent_nll_mean": score.value, "p": score.p, "verdict": score.verdict}
                        for score in self.scores[one.num_topics]
                        if not score.is_real
                    },
                }
                for one in self.held_out
            ],
        }


def numbers_of(asked: int | str | Sequence[int], train: Counted) -> tuple[int, ...]:
    """The numbers of topics to try, ascending; with `auto` those of `SEARCHED` that the documents allow.

    Raises:
        TextcriticError: there are too few documents for `auto`.
    """
    if isinstance(asked, int):
        return (asked,)
    if asked != AUTO:
        return tuple(sorted({int(one) for one in asked}))
    documents = train.filled.shape[0]
    fitting = tuple(k for k in SEARCHED if k <= documents * (PARTS - 1) // PARTS // 2)
    if not fitting:
        raise TextcriticError(
            f"num_topics: auto, and {documents:,} documents have words; it needs"
            f" {-(-2 * SEARCHED[0] * PARTS // (PARTS - 1)):,}"
        )
    return fitting


def _with_interval(one: Interval) -> tuple[str, str]:
    return number(one.estimate), one.reason or interval(one.low, one.high)
