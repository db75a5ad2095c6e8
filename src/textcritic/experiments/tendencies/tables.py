"""Tables of statistical tendencies: what samples keep, values, distances, means, disputed details, sizes."""

from functools import cached_property

import pandas as pd

from textcritic.experiments.tendencies.files import TendenciesFiles
from textcritic.experiments.tendencies.rows import (
    audit_rows,
    distance_rows,
    mean_rows,
    model_rows,
    size_rows,
    tendency_rows,
    value_rows,
)
from textcritic.experiments.tendencies.sheets import (
    audit_sheet,
    distances_sheet,
    means_sheet,
    models_sheet,
    sizes_sheet,
    tendencies_sheet,
    values_sheet,
)
from textcritic.experiments.tendencies.statistics import REAL
from textcritic.report.names import DATA, Names
from textcritic.report.published import Published
from textcritic.report.tables import Table

TEXT = ("tendency", "distance", "statistic", "verdict", "way", "why", "switch", "option", "published_note")
"""Columns that are text."""
LAWS = ("zipf_own", "zipf_real", "rank", "unigram_max")
EMPIRICAL = ("length_ks", "stopwords_ks", "symbols_ks")
OF_REAL = ("s", "heaps_beta", "heaps_alpha", "heaps_bigram_beta", "heaps_bigram_alpha", "length_mean", "stopwords_mean")
COEFFICIENTS = ("s", "heaps_beta")


class Tables:
    """The tables of one experiment.

    Args:
        files: what they are made of.
        published: values that stand beside ours.
    """

    def __init__(self, files: TendenciesFiles, published: Published) -> None:
        self.files, self.published = files, published

    @cached_property
    def names(self) -> Names:
        """What the sources are called."""
        return Names.of(self.files.samples, REAL)

    def tendencies(self) -> Table:
        """Whether each sample keeps to each tendency."""
        rows = tendency_rows(self.files, self.names)
        return Table(tendencies_sheet(rows, self.names), rows)

    def values(self) -> Table:
        """What is estimated on each source."""
        rows = self._values
        return Table(values_sheet(rows, self.names), rows)

    def distances(self) -> Table:
        """How far each source is from laws and from real text."""
        rows = self._distances
        return Table(distances_sheet(rows, self.names), rows)

    def means(self) -> Table:
        """Differences of means (paper, Table 6)."""
        rows = mean_rows(self.files, self.names, self.published)
        return Table(means_sheet(rows, self.names), rows)

    def audit(self) -> Table:
        """What each disputed detail does to the number."""
        rows = audit_rows(self.files, self.names)
        return Table(audit_sheet(rows, self.names, bool(self.published.values)), rows)

    def sizes(self) -> Table:
        """Estimates by number of documents."""
        rows = size_rows(self.files, self.names)
        return Table(sizes_sheet(rows, self.names), rows)

    def models(self) -> Table:
        """The generators (paper, Table 1)."""
        rows = model_rows(self.files, self.published)
        return Table(models_sheet(rows, "models"), rows)

    def laws(self) -> Table:
        """Distances of ranks and words (paper, Table 2)."""
        return self._some_distances(LAWS)

    def distributions(self) -> Table:
        """Distances of lengths, stop words and symbols (paper, Table 3)."""
        return self._some_distances(EMPIRICAL)

    def real(self) -> Table:
        """Statistics of real text (paper, Table 4)."""
        only = (*OF_REAL, "symbols_mean")
        rows = self._values[(self._values["source"] == DATA) & self._values["statistic"].isin(only)]
        return Table(values_sheet(rows, self.names, "real", only), rows)

    def coefficients(self) -> Table:
        """Coefficients of Zipf's and Heaps' laws (paper, Table 5)."""
        rows = self._values[self._values["statistic"].isin(COEFFICIENTS)]
        return Table(values_sheet(rows, self.names, "coefficients", COEFFICIENTS), rows)

    @cached_property
    def _values(self) -> pd.DataFrame:
        return value_rows(self.files, self.names, self.published)

    @cached_property
    def _distances(self) -> pd.DataFrame:
        return distance_rows(self.files, self.names, self.published)

    def _some_distances(self, only: tuple[str, ...]) -> Table:
        rows = self._distances[self._distances["statistic"].isin(only)]
        return Table(distances_sheet(rows, self.names, "distances", only), rows)


TABLES = {
    "tendencies": Tables.tendencies,
    "tendencies-values": Tables.values,
    "tendencies-distances": Tables.distances,
    "tendencies-means": Tables.means,
    "tendencies-audit": Tables.audit,
    "tendencies-sizes": Tables.sizes,
}
PAPER_TABLES = {
    "models": Tables.models,
    "laws": Tables.laws,
    "distributions": Tables.distributions,
    "real": Tables.real,
    "coefficients": Tables.coefficients,
    "means": Tables.means,
}
