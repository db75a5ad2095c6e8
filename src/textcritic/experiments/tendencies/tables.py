"""Tables of statistical tendencies: verdicts, values, distances, means, disputed details, sizes."""

from collections.abc import Callable, Sequence
from functools import partial

from textcritic.experiments.tendencies.files import TendenciesFiles
from textcritic.experiments.tendencies.rows import (
    audit_rows,
    distance_rows,
    mean_rows,
    model_rows,
    sample_rows,
    size_rows,
    tendency_rows,
    value_rows,
)
from textcritic.experiments.tendencies.sheets import (
    audit_sheet,
    distances_sheet,
    means_sheet,
    models_sheet,
    samples_sheet,
    sizes_sheet,
    tendencies_sheet,
    values_sheet,
)
from textcritic.experiments.tendencies.statistics import REAL
from textcritic.measures.material import Material
from textcritic.measures.names import names_of
from textcritic.plan.sources import DATA
from textcritic.report.tables import Table, recipe

TEXT = ("tendency", "distance", "statistic", "verdict", "way", "why", "switch", "option", "published_note", "text")
"""Columns that are text."""
LAWS = ("zipf_own", "zipf_real", "rank", "unigram_max")
EMPIRICAL = ("length_ks", "stopwords_ks", "symbols_ks")
OF_REAL = ("s", "heaps_beta", "heaps_alpha", "heaps_bigram_beta", "heaps_bigram_alpha", "length_mean", "stopwords_mean")
NAMES = partial(names_of, real=REAL)
COEFFICIENTS = ("s", "heaps_beta")


def audit(material: Material[TendenciesFiles]) -> Table:
    """How each disputed detail changes the number."""
    rows = material.get(audit_rows)
    return Table(audit_sheet(rows, material.names, bool(material.published.values)), rows)


def some_distances(only: Sequence[str]) -> Callable[[Material[TendenciesFiles]], Table]:
    """Distances by some of the statistics (paper, Tables 2 and 3)."""

    def table(material: Material[TendenciesFiles]) -> Table:
        rows = material.get(distance_rows)
        rows = rows[rows["statistic"].isin(only)]
        return Table(distances_sheet(rows, material.names, "distances", only), rows)

    return table


def real(material: Material[TendenciesFiles]) -> Table:
    """Statistics of real text (paper, Table 4)."""
    rows, only = material.get(value_rows), (*OF_REAL, "symbols_mean")
    rows = rows[(rows["source"] == DATA) & rows["statistic"].isin(only)]
    return Table(values_sheet(rows, material.names, "real", only), rows)


def coefficients(material: Material[TendenciesFiles]) -> Table:
    """Coefficients of Zipf's and Heaps' laws (paper, Table 5)."""
    rows = material.get(value_rows)
    rows = rows[rows["statistic"].isin(COEFFICIENTS)]
    return Table(values_sheet(rows, material.names, "coefficients", COEFFICIENTS), rows)


TABLES = {
    "tendencies": recipe(tendency_rows, tendencies_sheet),
    "tendencies-values": recipe(value_rows, values_sheet),
    "tendencies-distances": recipe(distance_rows, distances_sheet),
    "tendencies-means": recipe(mean_rows, means_sheet),
    "tendencies-audit": audit,
    "tendencies-sizes": recipe(size_rows, sizes_sheet),
}
PAPER_TABLES = {
    "models": recipe(model_rows, lambda rows, _: models_sheet(rows, "models")),
    "laws": some_distances(LAWS),
    "distributions": some_distances(EMPIRICAL),
    "real": real,
    "coefficients": coefficients,
    "means": recipe(mean_rows, means_sheet),
    "samples": recipe(sample_rows, samples_sheet),
}
