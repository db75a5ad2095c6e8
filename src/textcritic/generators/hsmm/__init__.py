"""The hidden semi-Markov language model: states that emit whole segments, trained and used exactly."""

from textcritic.generators.hsmm.lattice import Lattice
from textcritic.generators.hsmm.lexicon import Lexicon
from textcritic.generators.hsmm.model import HSMM
from textcritic.generators.hsmm.recursion import Counts, expected_counts, log_marginal, log_marginal_of_logs
from textcritic.generators.hsmm.sample import Drawn, draw

__all__ = [
    "HSMM",
    "Counts",
    "Drawn",
    "Lattice",
    "Lexicon",
    "draw",
    "expected_counts",
    "log_marginal",
    "log_marginal_of_logs",
]
