"""Names of the sources of the coherence experiment, and the threshold of unlikely steps."""

from textcritic.experiments.coherence.files import DATA_GOLD, CoherenceFiles
from textcritic.measures.names import Names

UNLIKELY = 0.01
"""“Unlikely” always means a step less probable than this under the critic (paper, Table 12)."""
PAPER_FIGURES = 0.05
"""The same in the paper's Figures 1 and 4, which draw more steps."""


def names_of(experiment: CoherenceFiles) -> Names:
    """What samples and real text are called; real text with its own titles is `real text, gold titles`."""
    return Names.of(experiment.samples, {DATA_GOLD: "real text, gold titles"})
