"""The result of `textcritic.topics`: for the fit, and for each test set."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textcritic.api.results import Table
from textcritic.api.scored import ByLabel
from textcritic.api.topics_numbers import MEASURE, TopicNumbers
from textcritic.inference import Interval, Number
from textcritic.measures.score import Score
from textcritic.values import JsonObject

if TYPE_CHECKING:
    from textcritic.api.page import Part


@dataclass(frozen=True, kw_only=True)
class TopicsOfSet:
    """The result for one test set.

    Attributes:
        latent_nll: mean of `-log p(topic coefficients)` of a document under the fit of the highest bound, with its 95%
            interval over documents: "in_expectation" under its posterior, as the paper defines it; "at_mean", at the
            posterior's mean, as its released code has it.
        reasons: why there is no interval, by the kinds of `latent_nll`; None where there is one.
        over_starts: least and greatest Latent NLL over the fits from all starts, by the kinds of `latent_nll`: how much
            it depends on the start, which the interval of `latent_nll` does not include.
        over_fits: its mean over these fits, with a 95% interval for documents and starts (`inference.with_fits`).
        n: documents scored.
        empty: documents without a word that the train set has.
        tokens: with words that the train set has.
        tokens_unknown: with other words.
    """

    latent_nll: Mapping[str, Number]
    reasons: Mapping[str, str | None]
    over_starts: Mapping[str, tuple[float, float]]
    over_fits: Mapping[str, Interval]
    n: int
    empty: int
    tokens: int
    tokens_unknown: int

    def described(self) -> JsonObject:
        """As JSON has it."""
        return {
            "latent_nll_mean": {kind: found.value for kind, found in self.latent_nll.items()},
            "ci95": {kind: [found.low, found.high] for kind, found in self.latent_nll.items()},
            "ci95_reason": self.reasons,
            "over_starts": self.over_starts,
            "over_fits": {
                kind: {
                    "mean": found.estimate,
                    "ci95": [found.low, found.high],
                    "ci95_reason": found.reason or None,
                }
                for kind, found in self.over_fits.items()
            },
            **{name: getattr(self, name) for name in ("n", "empty", "tokens", "tokens_unknown")},
        }


@dataclass(frozen=True, repr=False, kw_only=True)
class TopicsResult(ByLabel[TopicsOfSet]):
    """What `topics` gives; `scores` has the Latent NLL of each test set, in expectation.

    If there is one test set, the attributes of `TopicsOfSet` are there too; if there are several, `by_label` has them.

    Attributes:
        bound: evidence lower bound of the train set in each iteration of the fit that is kept, before its M-step, nats.
        seconds: how long the fits took.
        starts: last bounds of the fits from all starts, first that of the fit that is kept; empty if the critic was
            read from a folder.
        converged: whether the kept fit ended by the tolerance.
        train: how many documents, empty documents, words and tokens, and the words that were left out, by reason; None
            if the critic was read from a folder.
        num_topics: K.
        top_words: the ten most probable words of each topic; None if it is not known which words the ids mean.
        against_first: if several numbers of topics were given, the Latent NLL of the other test sets, tested against
            the first test set as if it were real text (it has that name in these scores).
        search: the result for each of several numbers of topics; None if one number was given.
    """

    bound: tuple[float, ...]
    seconds: float
    converged: bool
    starts: tuple[float, ...]
    train: JsonObject | None
    num_topics: int
    top_words: Sequence[Sequence[str]] | None
    against_first: tuple[Score, ...]
    search: TopicNumbers | None = None

    def tables(self) -> Iterator[Table]:
        """The blocks, and what each number of topics says."""
        yield from super().tables()
        if self.search:
            yield self.search.table()

    def to_json(self) -> str:
        """The object that `textcritic topics` prints: of one test set; of several, by label under `samples`."""
        samples = {label: one.described() for label, one in self.by_label.items()}
        value = {
            "bound": self.bound,
            "seconds": self.seconds,
            "converged": self.converged,
            "starts": self.starts,
            **({"samples": samples} if len(samples) > 1 else self.only.described()),
            "train": self.train,
            "topics": self.num_topics,
            "top_words": self.top_words,
            **({"search": self.search.described()} if self.search else {}),
        }
        return json.dumps(value, allow_nan=False)

    def _more_parts(self) -> Iterator["Part"]:
        if self.search:
            from textcritic.api.page import Part
            from textcritic.report.picture import marks_picture  # matplotlib is loaded for this alone

            yield Part(*self.search.table(), self.search.sentence, marks_picture(*self.search.drawn()))

    def _under(self, name: str) -> str:
        return self.search.sentence if self.search and name == MEASURE else super()._under(name)
