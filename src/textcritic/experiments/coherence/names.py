"""What the sources of the coherence experiment are called, and when a step counts as unlikely."""

from textcritic.experiments.coherence.files import DATA_GOLD, CoherenceFiles
from textcritic.measures.names import Names

UNLIKELY = 0.01
"""A step less probable than this under the critic is unlikely, wherever the word stands (paper, Table 12)."""
PAPER_FIGURES = 0.05
"""The same in the paper's Figures 1 and 4, which draw more steps."""


def names_of(experiment: CoherenceFiles) -> Names:
    """What samples and real text are called; real text with its own titles is `real text, gold titles`."""
    return Names.of(experiment.samples, {DATA_GOLD: "real text, gold titles"})
