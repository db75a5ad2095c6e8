"""Figures of mixed languages: how much each source mixes, the simplex (paper, Figure 7), refinement, power."""

from collections.abc import Iterator, Mapping

import pandas as pd
from matplotlib.figure import Figure

from textcritic.experiments.mixing.curves import power_chart, refined, refinement_chart
from textcritic.experiments.mixing.files import MixingFiles, RealText
from textcritic.experiments.mixing.rows import MIXED, REAL, Compared
from textcritic.experiments.mixing.simplex import Panel, simplex_chart
from textcritic.measures.names import Names
from textcritic.report.charts import interval_chart, marks_of
from textcritic.report.drawings import NARROW

CHART, SIMPLEX, REFINEMENT, POWER = "mixing", "mixing-simplex", "mixing-refinement", "mixing-power"


def figures(files: MixingFiles, rows: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, Figure, Figure]]:
    """mixing, mixing-simplex.{corpus}, mixing-refinement and mixing-power: name, wide figure, narrow figure.

    mixing-refinement is drawn if there is a generator with several numbers of iterations, mixing-power if there is a
    corpus of artificial languages.
    """
    names, table = Names.of(files.samples, REAL), rows["mixing"]
    marks = {corpus: marks_of(of, names, MIXED) for corpus, of in table.groupby("corpus", sort=False)}
    quantity = "words of another language, in percent"
    yield CHART, interval_chart(marks, quantity=quantity), interval_chart(marks, NARROW, quantity)
    for real in files.data:
        yield f"{SIMPLEX}.{real.corpus}", *_simplex(real, files, names)
    if len(refined(table)):
        yield REFINEMENT, refinement_chart(table, names), refinement_chart(table, names, NARROW)
    if len(rows["mixing-power"]):
        yield POWER, power_chart(rows["mixing-power"]), power_chart(rows["mixing-power"], NARROW)


def simplex(files: MixingFiles, _: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, Figure, Figure]]:
    """simplex.{corpus} (paper, Figure 7): posterior draws of real translations and of samples."""
    names = Names.of(files.samples, REAL)
    return ((f"simplex.{real.corpus}", *_simplex(real, files, names)) for real in files.data)


FIGURES = {"figures": figures, "simplex": simplex}


def _simplex(real: RealText, files: MixingFiles, names: Names) -> tuple[Figure, Figure]:
    """Wide and narrow; the first of the posterior draws of each sentence."""
    one = Compared.of(real, files)
    corners = [one.name(topic) for topic in one.order]
    panels = [
        Panel(
            names.source(source.files.keys, corpus=False, seed=False),
            source.posteriors.draws[:, 0][:, one.order],
            corners,
        )
        for source in one.sources
        if source.files in files.shown(real)
    ]
    return simplex_chart(panels), simplex_chart(panels, NARROW)
