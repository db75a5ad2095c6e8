"""What the sources of the coherence experiment are called, and when a step counts as unlikely."""

from textcritic.experiments.coherence.files import DATA_GOLD, CoherenceFiles
from textcritic.measures.names import Names

TABLE_THRESHOLD = 0.01  # a step less probable is unlikely in Table 12
GRAPH_THRESHOLD = 0.05  # and in Figures 1 and 4


def names_of(experiment: CoherenceFiles) -> Names:
    """Names of the samples, and of real text by how its titles are known."""
    return Names.of(experiment.samples, {DATA_GOLD: "real text, gold titles"})
