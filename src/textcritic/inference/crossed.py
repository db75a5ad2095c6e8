"""Shares of answers with two crossed clusters: each annotator answers on many articles, each article has many answers.

The variance is that of clustering by annotators, plus that of clustering by articles, less that of both together
(Cameron, Gelbach and Miller 2011); the degrees of freedom of t are Satterthwaite's, of a part with as many as there are
articles and a part with as many as there are annotators. As annotators are few, their part is taken G / (G - 1) times
once more, as the jackknife has it (MacKinnon, Nielsen and Webb 2023). How often such intervals cover is in
docs/results/annotation.md.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.inference.statistics import Array

LEAST_ANNOTATORS = 8
"""With fewer, the interval of a share that is to hold for other annotators covers less than 93%: of 5 annotators 92% to
94%, of 3 89% to 91%."""
LEAST_OF_DIFFERENCE = 3
"""The same of a difference between systems, in which an annotator's strictness cancels out: of 3 annotators 95%."""
LEAST_ARTICLES = 20
TOO_FEW_ARTICLES = f"no interval of fewer than {LEAST_ARTICLES} articles"


@dataclass(frozen=True)
class Share:
    """A share of answers, or the difference of two, with its interval.

    Attributes:
        value: in [0, 1], of a difference in [-1, 1].
        low, high: its 95% interval; None where there is none.
        answers, articles, annotators: it is made of.
        of_these: whether the interval is of these annotators alone, as they are too few to speak for others.
        reason: why there is no interval; "".
        p: of a difference, or an area: two-sided, that there is none; None without an interval.
    """

    value: float
    low: float | None
    high: float | None
    answers: int
    articles: int
    annotators: int
    of_these: bool
    reason: str = ""
    p: float | None = None


@dataclass(frozen=True, eq=False)
class Crossed:
    """Answers of annotators on articles, all [answers]: the answer 1 or 0, who gave it, and on which article."""

    values: Array
    annotators: Sequence[Hashable]
    articles: Sequence[Hashable]

    def __post_init__(self) -> None:
        """Raises TextcriticError where lengths differ or there is no answer."""
        if not len(self.values) == len(self.annotators) == len(self.articles) or not len(self.values):
            raise TextcriticError(
                f"share of answers: {len(self.values)} answers of {len(self.annotators)} annotators on"
                f" {len(self.articles)} articles; give one of each to every answer, and one answer at least"
            )


def share(answers: Crossed, least_annotators: int = LEAST_ANNOTATORS) -> Share:
    """The share of answers that are 1, with its interval; `least_annotators` as in the module's constant."""
    values = np.asarray(answers.values, dtype=np.float64)
    mean = float(values.mean())
    interval = _interval(mean, (values - mean) / len(values), answers.annotators, answers.articles, least_annotators)
    return _within(replace(interval, p=None), 0.0, 1.0)


def share_difference(first: Crossed, second: Crossed, least_annotators: int = LEAST_OF_DIFFERENCE) -> Share:
    """The share of the first less that of the second; annotators and articles may be of both."""
    sides = [np.asarray(side.values, dtype=np.float64) for side in (first, second)]
    means = [float(side.mean()) for side in sides]
    moved = [(side - mean) / len(side) for side, mean in zip(sides, means, strict=True)]
    who = [*first.annotators, *second.annotators]
    what = [*first.articles, *second.articles]
    interval = _interval(means[0] - means[1], np.concatenate([moved[0], -moved[1]]), who, what, least_annotators)
    return _within(interval, -1.0, 1.0)


def area(
    scores: npt.ArrayLike, answers: Crossed, systems: Sequence[Hashable], least: int = LEAST_ANNOTATORS
) -> Share | None:
    """How well a score of articles tells answers apart within systems: the area under the ROC curve, less one half.

    Of a pair of answers on articles of one system, one 1 and the other 0, it is the probability that the article of
    the 0 has the higher score; ties count one half. Systems count by their pairs. The variance is that of placement
    values (DeLong, DeLong and Clarke-Pearson 1988), summed over the clusters.

    Args:
        scores: [answers], of the article of each answer; infinite ones are the highest.
        answers: 1 is the better answer.
        systems: [answers], which system wrote the article.
        least: with fewer annotators the interval is of these annotators.

    Returns:
        None where no system has both answers.
    """
    values, points = np.asarray(answers.values, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    system, moved, parts = _numbers(systems), np.zeros(len(values)), []
    for one in range(int(system.max()) + 1):
        bad, good = (np.flatnonzero((system == one) & (values == answer)) for answer in (0, 1))
        if len(bad) and len(good):
            above = (points[bad, None] > points[good]) + 0.5 * (points[bad, None] == points[good])
            parts.append((float(above.mean()), len(bad) * len(good)))
            moved[bad] = (above.mean(axis=1) - above.mean()) * len(good)
            moved[good] = (above.mean(axis=0) - above.mean()) * len(bad)
    pairs = sum(number for _, number in parts)
    if not pairs:
        return None
    value = sum(mean * number for mean, number in parts) / pairs - 0.5
    return _within(_interval(value, moved / pairs, answers.annotators, answers.articles, least), -0.5, 0.5)


def _interval(
    value: float, moved: Array, annotators: Sequence[Hashable], articles: Sequence[Hashable], least: int
) -> Share:
    """Of a statistic from what each answer moves it by, [answers], which sums to 0."""
    from scipy.special import stdtr, stdtrit  # takes long to load

    who, what = _numbers(annotators), _numbers(articles)
    people, texts = int(who.max()) + 1, int(what.max()) + 1
    of_these = people < least
    if texts < LEAST_ARTICLES:
        return Share(value, None, None, len(moved), texts, people, of_these, TOO_FEW_ARTICLES)
    by_article = _variance(moved, what)
    variance, freedom = by_article, float(texts - 1)
    if not of_these:
        both = _variance(moved, _numbers(list(zip(who.tolist(), what.tolist(), strict=True))))
        by_annotator = max(_variance(moved, who) - both, 0.0) * people / (people - 1)
        variance += by_annotator
        if variance > 0:
            freedom = variance**2 / (by_article**2 / (texts - 1) + by_annotator**2 / (people - 1))
    if not variance > 0:
        return Share(value, None, None, len(moved), texts, people, of_these, "no interval, as all answers are alike")
    reach = float(stdtrit(freedom, 0.975)) * float(np.sqrt(variance))
    p = 2 * float(stdtr(freedom, -abs(value) / np.sqrt(variance)))
    return Share(value, value - reach, value + reach, len(moved), texts, people, of_these, p=p)


def _variance(moved: Array, cluster: npt.NDArray[np.int64]) -> float:
    """Of the sum over clusters, times G / (G - 1)."""
    sums = np.bincount(cluster, weights=moved)
    return float((sums**2).sum() * len(sums) / max(len(sums) - 1, 1))


def _numbers(names: Sequence[Hashable]) -> npt.NDArray[np.int64]:
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)


def _within(interval: Share, least: float, most: float) -> Share:
    if interval.low is None or interval.high is None:
        return interval
    return replace(interval, low=max(interval.low, least), high=min(interval.high, most))
