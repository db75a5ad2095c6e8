"""How many articles, answers and hours it takes before people are asked.

A model of answers: the log-odds that an annotator calls an article coherent are those of the system, plus a normal
number of the article, plus one of the annotator. The variance of a share follows without simulation. The default
spreads are assumptions (1.5 between articles, 0.5 between annotators); a pilot shows one's own.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from textcritic.errors import TextcriticError
from textcritic.inference.crossed import LEAST_ARTICLES, LEAST_OF_DIFFERENCE
from textcritic.inference.equivalence import ALPHA
from textcritic.inference.shares import share_interval

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
Z = 1.959964
"""Of a two-sided test at 5%."""
MOST_ARTICLES = 1_000_000
STUDIES, FEWEST_STUDIES, MOST_ANSWERS, CHUNK_ANSWERS = 4_000, 200, 40_000_000, 2_000_000
"""That are simulated; answers of all of them, and in memory at a time, at most."""
GUESSES = (1_000, 2_000, STUDIES)
"""Studies that are simulated of each guess of a number of articles."""


@dataclass(frozen=True, slots=True)
class Design:
    """A collection of answers on one system.

    Attributes:
        articles: of the system.
        answers: on each article, each of another annotator.
        annotators: who share all answers evenly.
        minutes: an answer takes.
        between_articles, between_annotators: standard deviations of the log-odds.
    """

    articles: int = 100
    answers: int = 1
    annotators: int = 8
    minutes: float = 7.0
    between_articles: float = 1.5
    between_annotators: float = 0.5

    def __post_init__(self) -> None:
        """Raises TextcriticError where a number makes no sense."""
        if self.articles < 2 or self.annotators < 2 or not 1 <= self.answers <= self.annotators:
            raise TextcriticError(
                f"plan: {self.articles} articles, {self.answers} answers an article, {self.annotators} annotators; give"
                " at least 2 articles and 2 annotators, and no more answers an article than annotators"
            )
        if self.minutes <= 0 or self.between_articles < 0 or self.between_annotators < 0:
            raise TextcriticError("plan: minutes must be above 0, and spreads must not be negative")

    @property
    def hours(self) -> float:
        """Of all annotators together."""
        return self.articles * self.answers * self.minutes / 60


def standard_error(design: Design, share: float) -> float:
    """Of the share of answers that call an article coherent, for other articles and other annotators.

    Args:
        design: see `Design`.
        share: that is expected, in (0, 1).
    """
    return math.sqrt(sum(_variances(design, share)))


def half_width(design: Design, share: float) -> float:
    """Half of the 95% interval that `crossed.share` would give: Student's, with Satterthwaite's degrees of freedom."""
    from scipy.special import stdtrit  # takes long to load

    by_article, by_annotator = _variances(design, share)
    variance = by_article + by_annotator
    shares = by_article**2 / (design.articles - 1) + by_annotator**2 / (design.annotators - 1)
    return float(stdtrit(variance**2 / shares, 0.975)) * math.sqrt(variance)


@dataclass(frozen=True, slots=True)
class Power:
    """How often a test notices a difference, of so many simulated collections, with a 95% interval of that share."""

    power: float
    low: float
    high: float
    studies: int


def simulated_power(design: Design, first: float, second: float, studies: int = STUDIES, seed: int = 1) -> Power:
    """How often `crossed.share_difference` notices the difference of two systems at 5%, by simulation.

    Answers are drawn by the model of this module, and tested as the answers of people are. A formula with normal
    quantiles promises 4 to 11 points too much, as annotators are few.

    Args:
        design: of each system; the annotators are the same, and share the answers on each in turn.
        first: share of the first.
        second: share of the second.
        studies: that are simulated; fewer of very large designs, see `MOST_ANSWERS`.
        seed: of `numpy.random.default_rng`.
    """
    middles = [log_odds(design, share) for share in (first, second)]
    number = design.articles * design.answers
    studies = max(min(studies, MOST_ANSWERS // (2 * number)), FEWEST_STUDIES)
    rng, each, hits = np.random.default_rng(seed), max(1, CHUNK_ANSWERS // (2 * number)), 0
    for start in range(0, studies, each):
        some = min(each, studies - start)
        people = rng.normal(0, design.between_annotators, (some, min(design.annotators, number)))
        values = [_answers(design, middle, people, rng) for middle in middles]
        hits += int((_p_values(design, *values) < ALPHA).sum())
    low, high = share_interval(hits, studies)
    return Power(hits / studies, float(low), float(high), studies)


def _annotator_of(design: Design) -> np.ndarray:
    """Who gives each answer on one system: [articles, answers]."""
    answers = np.arange(design.articles * design.answers) % design.annotators
    return answers.reshape(design.articles, design.answers)


def _answers(design: Design, middle: float, people: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Answers on one system: 1 or 0, [studies, articles, answers]; `people` are the annotators' spreads."""
    texts = rng.normal(middle, design.between_articles, (len(people), design.articles, 1))
    chances = _logistic(texts + people[:, _annotator_of(design)])
    return (rng.random(chances.shape) < chances).astype(np.float64)


def _p_values(design: Design, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The p-value of `crossed.share_difference` for many studies at once: [studies]. It is 1 where there is no test."""
    from scipy.special import stdtr  # takes long to load

    number, texts = design.articles * design.answers, 2 * design.articles
    people = min(design.annotators, number)
    means = [values.mean(axis=(1, 2), keepdims=True) for values in (first, second)]
    moved = np.stack([first - means[0], means[1] - second], axis=1) / number  # [studies, systems, articles, answers]
    gap = np.abs(means[0] - means[1])[:, 0, 0]
    variance = by_article = (moved.sum(axis=3) ** 2).sum(axis=(1, 2)) * texts / (texts - 1)
    freedom = np.full(len(gap), texts - 1.0)
    if people >= LEAST_OF_DIFFERENCE:
        turns = np.zeros((len(gap), -(-number // people) * people))  # annotators answer in turn
        turns[:, :number] = moved.sum(axis=1).reshape(len(gap), number)
        sums = turns.reshape(len(gap), -1, people).sum(axis=1)
        both = (moved**2).sum(axis=(1, 2, 3)) * 2 * number / (2 * number - 1)
        by_annotator = np.maximum((sums**2).sum(axis=1) * people / (people - 1) - both, 0) * people / (people - 1)
        variance = by_article + by_annotator
        with np.errstate(invalid="ignore", divide="ignore"):
            freedom = variance**2 / (by_article**2 / (texts - 1) + by_annotator**2 / (people - 1))
    if texts < LEAST_ARTICLES:
        return np.ones(len(gap))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(variance > 0, 2 * stdtr(freedom, -gap / np.sqrt(variance)), 1.0)


def articles_for_width(design: Design, share: float, width: float) -> int | None:
    """The fewest articles whose interval has half this width; None where these annotators are too few for any number.

    Args:
        design: its number of articles is not read.
        share: that is expected.
        width: half of the interval.

    Raises:
        TextcriticError: a width or a share that is not in (0, 1).
    """
    if not 0 < width < 1:
        raise TextcriticError(f"plan: half an interval of {width:g}; give a number between 0 and 1")
    return _fewest(design, lambda with_so_many: half_width(with_so_many, share) <= width)


@lru_cache
def articles_for_power(design: Design, first: float, second: float, wanted: float = 0.8) -> int | None:
    """The fewest articles of each system with which the test has this power; None where no number has; as above.

    Found by simulation: the formula's number is a first guess, and the square root of the number is about linear in
    the distance of the test's statistic from its threshold.
    """
    from scipy.special import ndtri

    if first == second:
        raise TextcriticError("plan: both systems have the same share; give two that differ")
    if not 0 < wanted < 1:
        raise TextcriticError(f"plan: a power of {wanted:g}; give a number between 0 and 1")
    number = _fewest(design, lambda with_so_many: _power_of_formula(with_so_many, first, second) >= wanted)
    for studies in GUESSES:
        if number is None or number >= MOST_ARTICLES:
            return None
        got = simulated_power(replace(design, articles=number), first, second, studies).power
        reach = [float(ndtri(min(max(share, 0.03), 0.999))) + Z for share in (wanted, got)]
        number = max(LEAST_ARTICLES // 2, math.ceil(number * (reach[0] / max(reach[1], 0.1)) ** 2))
    return number


def _fewest(design: Design, enough: Callable[[Design], bool]) -> int | None:
    low, high = 2, MOST_ARTICLES
    if not enough(replace(design, articles=high)):
        return None
    while low < high:
        middle = (low + high) // 2
        if enough(replace(design, articles=middle)):
            high = middle
        else:
            low = middle + 1
    return low


def _variances(design: Design, share: float) -> tuple[float, float]:
    """Of the mean of all answers: what articles and answers themselves make of it, and what annotators do."""
    number = design.articles * design.answers
    each, chance = number / design.annotators, share * (1 - share)
    middle = log_odds(design, share)
    of_article = _shared(middle, middle, design.between_articles, design.between_annotators)
    of_annotator = _shared(middle, middle, design.between_annotators, design.between_articles)
    return (chance + of_article * (design.answers - 1)) / number, of_annotator * max(each - 1, 0) / number


def _power_of_formula(design: Design, first: float, second: float) -> float:
    """What the power would be if the test took normal quantiles and knew the variance."""
    from scipy.special import ndtr

    gap = abs(first - second) / math.sqrt(_variance_of_difference(design, first, second))
    return float(ndtr(gap - Z) + ndtr(-gap - Z))


def _variance_of_difference(design: Design, first: float, second: float) -> float:
    ends = [log_odds(design, share) for share in (first, second)]
    together = _shared(ends[0], ends[1], design.between_annotators, design.between_articles)
    apart = sum(_variances(design, first)) + sum(_variances(design, second))
    return apart - 2 * together / design.annotators


def log_odds(design: Design, share: float) -> float:
    """The system's, that gives the share over all articles and annotators."""
    if not 0 < share < 1:
        raise TextcriticError(f"plan: a share of {share:g}; give a number between 0 and 1")
    return _middle(math.hypot(design.between_articles, design.between_annotators), share)


# Asked for the same few spreads and shares at every number of articles that is tried.
@lru_cache
def _middle(spread: float, share: float) -> float:
    low, high = -40.0, 40.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _mean(middle, spread) < share else (low, middle)
    return (low + high) / 2


def _mean(middle: float, spread: float) -> float:
    return float(WEIGHTS @ _logistic(middle + spread * NODES))


@lru_cache
def _shared(first: float, second: float, common: float, other: float) -> float:
    """Covariance of two answers that have the number with spread `common` in common."""
    inner = [
        (_logistic(middle + common * NODES[:, None] + other * NODES[None]) @ WEIGHTS) for middle in (first, second)
    ]
    means = [float(WEIGHTS @ part) for part in inner]
    return float(WEIGHTS @ (inner[0] * inner[1])) - means[0] * means[1]


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))
