"""The hidden semi-Markov language model: states that emit whole segments, trained and used exactly."""

from textcritic.critics.hsmm.draw import Drawn, draw
from textcritic.critics.hsmm.lattice import Lattice
from textcritic.critics.hsmm.lexicon import Lexicon
from textcritic.critics.hsmm.model import HSMM
from textcritic.critics.hsmm.recursion import (
    Counts,
    expected_counts,
    log_marginal,
    log_marginal_of_logs,
    segment_posterior,
)
from textcritic.critics.hsmm.viterbi import Segmentation, viterbi

__all__ = [
    "HSMM",
    "Counts",
    "Drawn",
    "Lattice",
    "Lexicon",
    "Segmentation",
    "draw",
    "expected_counts",
    "log_marginal",
    "log_marginal_of_logs",
    "segment_posterior",
    "viterbi",
]
