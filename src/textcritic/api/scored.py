"""What the functions of one critic have in common: results by set, Latent PPL, and words on draws and groups.

Similar names: `critics.scores` has the scores of documents, which are read here; `measures.score` has the numbers that
results and the scorecard show; `measures.scored` is for the tables of a study.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pyarrow as pa

from textcritic.api.options import Drawn
from textcritic.api.results import Result
from textcritic.critics.scores import document_columns
from textcritic.errors import TextcriticError, listed, named
from textcritic.inference import LEAST_UNITS, Groups, are_grouped, unit_of
from textcritic.measures.measure import Measure, Resampling, Scored
from textcritic.measures.memory import REAL, scores_of_sets
from textcritic.measures.score import Score
from textcritic.values import JsonObject

OfSet = TypeVar("OfSet")


@dataclass(frozen=True, repr=False, kw_only=True)
class ByLabel(Result, Generic[OfSet]):
    """A critic's result on one or several sets of documents; with one set, the result has that set's attributes too.

    Attributes:
        by_label: the result for each set.
    """

    by_label: Mapping[str, OfSet]

    @property
    def only(self) -> OfSet:
        """The result for the set, if there is only one.

        Raises:
            TextcriticError: there are several.
        """
        return self._only("only")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not any(hasattr(one, name) for one in self.by_label.values()):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self._only(name), name)

    def _only(self, name: str) -> OfSet:
        if len(self.by_label) > 1:
            raise TextcriticError(
                f"{name}: exists for one set only, and there are {len(self.by_label)} ({listed([*self.by_label])}); "
                "use `by_label[LABEL]`"
            )
        return next(iter(self.by_label.values()))


@dataclass(frozen=True, kw_only=True)
class OneLatentPpl:
    """The Latent PPL of one set of documents.

    Attributes:
        score: of the Latent PPL.
        latent_nll_mean: mean NLL of a document, nats; infinite if a step has probability 0.
    """

    score: Score
    latent_nll_mean: float

    @property
    def latent_ppl(self) -> float:
        """exp(sum of NLL / sum of steps), pooled over the documents scored."""
        assert self.score.value is not None, "a set without a document is refused"
        return self.score.value

    @property
    def ci95(self) -> tuple[float, float] | None:
        """95% studentised bootstrap; None where the Latent PPL is infinite, or documents are fewer than 20."""
        low, high = self.score.low, self.score.high
        return None if low is None or high is None else (low, high)

    @property
    def n(self) -> int:
        """Documents scored."""
        return self.score.n or 0

    def head(self) -> JsonObject:
        """What the command prints first; infinite values are null."""
        finite = math.isfinite(self.latent_ppl)
        return {
            "latent_ppl": self.latent_ppl if finite else None,
            "ci95": list(self.ci95) if self.ci95 else None,
            "ci95_reason": reason_of(self.score),
            "latent_nll_mean": self.latent_nll_mean if finite else None,
        }


def reason_of(score: Score) -> str | None:
    """Why a score has no interval, for JSON; None if it has an interval."""
    return score.because or None if score.low is None else None


def resampling(options: Drawn) -> Resampling:
    """How intervals and tests draw."""
    return Resampling(options.resamples, options.seed)


def latent_ppl_of(
    sets: Mapping[str, pa.Table],
    read: Callable[[pa.Table], Scored],
    measure: Measure,
    options: Drawn,
    names: Mapping[str, str] | None = None,
) -> tuple[tuple[Score, ...], tuple[tuple[str, str], ...]]:
    """The Latent PPL of each set of scored chains, samples against real text; and the facts about groups.

    Args:
        sets: scores by the label of the set; the label of real text is `REAL`.
        read: makes a `Scored` of the scores of a set.
        measure: the Latent PPL of this critic.
        options: how intervals and tests draw.
        names: by label, the name of a set in errors; by default the label.

    Raises:
        TextcriticError: no document of a set is left; the line begins with its name.
    """
    found, called = {}, {REAL: "reference", **(names or {})}
    for label, scores in sets.items():
        with named(called.get(label, label)):
            document_columns(scores)
            found[label] = read(scores)
    of_groups = facts_of_groups({label: one.groups for label, one in found.items()})
    return scores_of_sets(found, [measure], resampling(options)), of_groups


def as_share(percent: float | None) -> float | None:
    """Convert a share in percent, as in scores, to a share of 1, as in JSON."""
    return None if percent is None else percent / 100


def facts_of_draws(options: Drawn) -> tuple[tuple[str, str], ...]:
    """How interval and p-value were computed, in words."""
    drawn = f"{options.resamples:,} resamples, seed {options.seed}"
    return (
        ("Interval", f"95%, studentised bootstrap over documents, {drawn}"),
        ("p-value", "two-sided permutation test of log Latent PPL against held-out real text"),
    )


def facts_of_groups(sets: Mapping[str, Groups]) -> tuple[tuple[str, str], ...]:
    """How documents that belong together were treated, in words; empty if there are none.

    Args:
        sets: the groups of the documents scored, by label.
    """
    counts = {label: (len(groups or ()), _units(groups)) for label, groups in sets.items() if are_grouped(groups)}
    if not counts:
        return ()
    words = "; ".join(f"{label}: {n:,} documents in {units:,} groups" for label, (n, units) in counts.items())
    few = min(units for _, units in counts.values()) < LEAST_UNITS
    test = f"fewer than {LEAST_UNITS} groups have no test" if few else "the test is Student's, with groups as units"
    return (("Groups", f"{words}; documents of a group count as one, and {test}"),)


def with_given_groups(scores: pa.Table, groups: Groups) -> pa.Table:
    """Scores of documents with the groups that they were given with, in the same order."""
    if groups is None:
        return scores
    place = scores.column_names.index("group")
    return scores.set_column(place, scores.schema.field(place), pa.array(groups, pa.string()))


def _units(groups: Groups) -> int:
    return int(unit_of(groups, len(groups or ())).max(initial=-1)) + 1
