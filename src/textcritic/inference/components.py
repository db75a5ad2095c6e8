"""Where the uncertainty of one number comes from: documents, drawing, training, as shares of its variance.

Draw j of training i gives `mean + T_i + D_ij + E_ij`. E is the choice of documents; its variance is the square of the
standard error within a draw. D is what draws of one training differ in beyond that, T what trainings differ in. This is
the nested analysis of variance with a known variance within (Searle, Casella and McCulloch 1992, section 3.6), on the
scale on which the number is compared: of perplexities the logarithm. Its intervals are those of generalised pivotal
quantities: each mean square is divided by draws of the chi-square distribution that it follows (Weerahandi, Journal of
the American Statistical Association 88, 1993; Burdick and Graybill 1992 have the problem).
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.inference.equivalence import HALF_WIDTH, Number
from textcritic.inference.trainings import Run

DOCUMENTS, DRAWING, TRAINING = "documents", "drawing", "training"
DRAWS = 20_000  # of the chi-square distributions


@dataclass(frozen=True, slots=True)
class Component:
    """One source of the variance of a number.

    Attributes:
        name: "documents", "drawing", "training", or a further one, such as "classifier".
        number: how many there are: draws that were measured, draws of the training with most, trainings, classifiers.
        variance: 0 or more, on the scale of the number; None: not estimable, as there is one of a thing.
        share: of the variance of one number, 0 to 1; None likewise, and where documents are all that is estimable.
        low, high: the 95% interval of the share.
    """

    name: str
    number: int
    variance: float | None = None
    share: float | None = None
    low: float | None = None
    high: float | None = None


def variance_components(
    runs: Sequence[Run], further: Mapping[str, Sequence[float]] | None = None, by_ratio: bool = False, seed: int = 1
) -> list[Component]:
    """The components of the variance of one number, from the innermost to the outermost.

    With one draw of each training, drawing is not estimable and is counted to training. Intervals hold for normal
    components and as many draws of each training; else they are approximate. Below 4 trainings they are very wide.

    Args:
        runs: (training, its number with a 95% interval over documents) of each draw.
        further: by name, the numbers of one draw under several of a thing, e.g. classifiers, all else being equal.
        by_ratio: on the log scale; numbers and ends are positive then.
        seed: of the draws of the chi-square distributions.

    Returns:
        "documents", "drawing", "training", then the further ones.

    Raises:
        TextcriticError: there is no run, or one has no finite number with an interval.
    """
    rng, further = np.random.default_rng(seed), further or {}
    by_training: dict[Hashable, list[float]] = {}
    errors = []
    for training, number in runs:
        value, error = _value_and_error(number, by_ratio)
        by_training.setdefault(training, []).append(value)
        errors.append(error)
    if not errors:
        raise TextcriticError("components of variance: no number; at least one is needed")
    documents = float(np.mean(np.square(errors)))
    draws, trainings = max(map(len, by_training.values())), len(by_training)
    within, between, draws_each = _mean_squares(list(by_training.values()), documents)
    drawn, trained = _pivots(*within, rng), _pivots(*between, rng)
    sources = {
        DOCUMENTS: (len(errors), np.full(DRAWS + 1, documents)),
        DRAWING: (draws, drawn - documents if draws > 1 else None),
        TRAINING: (trainings, (trained - drawn) / draws_each if trainings > 1 else None),
    }
    for name, values in further.items():
        scaled = np.log(values) if by_ratio else np.asarray(values, dtype=np.float64)
        square = float(scaled.var(ddof=1)) if len(values) > 1 else 0.0
        sources[name] = (len(values), _pivots(square, len(values) - 1, rng) if len(values) > 1 else None)
    return _shares(sources)


def _shares(sources: Mapping[str, tuple[int, npt.NDArray[np.float64] | None]]) -> list[Component]:
    """Components from their variances and pivots, [1 + DRAWS] each: the estimate comes first.

    In the interval of the documents' share, a component below 0 makes up for another above: else that share would be
    too small where it is nearly all.
    """
    signed = {name: pivots for name, (_, pivots) in sources.items() if pivots is not None}
    positive = {name: np.maximum(pivots, 0) for name, pivots in signed.items()}
    total = np.sum(list(positive.values()), axis=0)
    offset = np.maximum(np.sum(list(signed.values()), axis=0), signed[DOCUMENTS])
    components = []
    for name, (number, _) in sources.items():
        if name not in positive:
            components.append(Component(name, number))
        elif len(positive) == 1 or not total.all():
            components.append(Component(name, number, float(positive[name][0])))
        else:
            shares = positive[name] / (offset if name == DOCUMENTS else total)
            low, high = np.quantile(shares[1:], [0.025, 0.975])
            share = float(positive[name][0] / total[0])
            low, high = min(float(low), share), max(float(high), share)
            components.append(Component(name, number, float(positive[name][0]), share, low, high))
    return components


def _mean_squares(
    trainings: Sequence[Sequence[float]], documents: float
) -> tuple[tuple[float, int], tuple[float, int], float]:
    """(Mean square, degrees of freedom) within trainings and between them, and the draws of a training in the mean.

    With one draw each, the square within is that of documents, which is known.
    """
    counts = np.array([len(values) for values in trainings])
    means = np.array([np.mean(values) for values in trainings])
    total, freedom = int(counts.sum()), len(counts) - 1
    squares = sum(float(((np.array(values) - np.mean(values)) ** 2).sum()) for values in trainings)
    within = (squares / (total - len(counts)), total - len(counts)) if total > len(counts) else (documents, 0)
    if not freedom:
        return within, (0.0, 0), 1.0
    grand = float(counts @ means) / total
    between = float(counts @ (means - grand) ** 2) / freedom
    return within, (between, freedom), float(total - (counts**2).sum() / total) / freedom


def _pivots(square: float, freedom: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """A mean square, and behind it draws of what its expectation may be; itself where nothing is estimated."""
    if not freedom:
        return np.full(DRAWS + 1, square)
    return np.concatenate([[square], square * freedom / rng.chisquare(freedom, DRAWS)])


def _value_and_error(number: Number, by_ratio: bool) -> tuple[float, float]:
    """A number and its standard error, from its 95% interval; of the logarithm if by ratio."""
    parts = [number.value, number.low, number.high]
    ends = np.array([np.nan if part is None else part for part in parts], dtype=np.float64)
    if not np.isfinite(ends).all() or (by_ratio and ends.min() <= 0):
        raise TextcriticError(f"components of variance: {number.value} has no interval; each draw needs one")
    value, low, high = np.log(ends) if by_ratio else ends
    return float(value), float(high - low) / (2 * HALF_WIDTH)
