"""Whether texts of unequal length are enough for an interval over texts."""

import numpy as np

from textcritic.inference.bootstrap import LEAST_UNITS, TOO_FEW
from textcritic.inference.statistics import Array

LEAST_EFFECTIVE = 30
LARGEST_SHARE = 0.2
EQUAL = 0.9  # of the number of texts: with so large an effective number their lengths are nearly equal
UNCOVERED = 0.4  # of the share outside an interval, for texts of unequal length
UNKNOWN = "the tokens of each text are not known, only their sum"
TOO_FEW_LONG = "too few long texts for an interval"


def why_none(tokens: Array) -> str:
    """Why there is no interval over texts of so many tokens, [N] or their total []; nothing where there may be one.

    A perplexity weighs a text by its length. Where few long ones decide, intervals over texts are too narrow
    (docs/results/importance.md): the effective number of texts, `(sum T)^2 / sum T^2`, must be 30, and no text have
    over a fifth of all tokens.
    """
    if tokens.ndim == 0:
        return UNKNOWN
    if len(tokens) < LEAST_UNITS:
        return TOO_FEW
    few = effective_texts(tokens) < LEAST_EFFECTIVE or tokens.max() > LARGEST_SHARE * tokens.sum()
    return TOO_FEW_LONG if few else ""


def level_of(tokens: Array, level: float) -> float:
    """The level at which a studentised bootstrap over texts holds `level`: 98% for 95% where their lengths are unequal.

    With lengths from a lognormal distribution and heavy-tailed losses an interval at 95% holds in 88 to 94%.
    """
    unequal = effective_texts(tokens) < EQUAL * len(tokens)
    return 1 - UNCOVERED * (1 - level) if unequal else level


def effective_texts(tokens: Array) -> float:
    """`(sum T)^2 / sum T^2`: as many texts of equal length would weigh so evenly."""
    return float(tokens.sum() ** 2 / np.square(tokens).sum())
