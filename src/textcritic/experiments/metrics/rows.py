"""Measures of one's own in long format: a row for each measure and source, and the most extreme documents."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pandas as pd
import pyarrow as pa

from textcritic.corpora import SPLITS, Article, some_articles
from textcritic.critics.own import OWN_SCHEMA, declaration_of, measured_of
from textcritic.errors import TextcriticError
from textcritic.experiments.metrics.files import Measured, MetricsFiles, RealText
from textcritic.inference import Number, gap
from textcritic.measures.material import Material
from textcritic.measures.measure import Measure, Scored
from textcritic.measures.numbers import missing
from textcritic.measures.own import Declared
from textcritic.measures.own_rows import measure_of, scored_of
from textcritic.measures.rows import completed, source_rows
from textcritic.measures.scored import RECIPE, source_scores
from textcritic.plan.sources import DATA, KEYS, RUN
from textcritic.values import Row

DECLARED = ("metric", "title", "aim", "unit", "of", "statistic", "needs", "means")
COLUMNS = (
    *DECLARED, "label", "value", "ci_low", "ci_high", "p_value", "noticeable", "documents", "rejected", "groups",
    "rejected_share", "rejected_by_reason", "sections_left_out", *RECIPE,
)  # fmt: skip
WHOLE = ("documents", "rejected", "groups", "seeds", "sections_left_out")
TEXTS = (*DECLARED, "article", "beginning", "which")
EXTREMES = 3  # documents with the highest, and with the lowest values of each source
BEGINNING = 300  # characters of their text
Source = RealText | Measured


def metric_rows(material: Material[MetricsFiles]) -> pd.DataFrame:
    """A row for each measure and source.

    Columns: those of `rows.source_rows`; `DECLARED`, what the measure is; `value`; `noticeable`, the smallest
    difference from real text that would be noticed in 80% of cases; `sections_left_out`, sections without a number in
    documents that have others; `scored.RECIPE`.

    Raises:
        TextcriticError: a file is missing or damaged, two measures have one title, or no real document was measured.
    """
    tables = []
    for name, declared, files in _each(material.files):
        measure = measure_of(declared)
        rows = source_rows(
            Material(files, names=material.names, paired=material.paired), partial(_read, measure), [measure]
        )
        table = completed(list(_with_noticeable(rows)), COLUMNS, [measure], WHOLE, TEXTS)
        of_it = {key: getattr(declared, key) for key in DECLARED[1:]} | {"needs": ", ".join(declared.needs)}
        tables.append(table.assign(metric=name, **of_it))
    return pd.concat(tables, ignore_index=True).astype(dict.fromkeys(WHOLE, "Int64"))


def document_rows(material: Material[MetricsFiles]) -> pd.DataFrame:
    """The documents of each source (of the first training and draw) with the highest and the lowest values.

    Columns: the keys; `metric`, `title`; `label`; `which`, "highest" or "lowest"; `rank` from 1; `article`; `value`, of
    several sections their mean; `beginning` of its text.
    """
    rows = []
    for name, declared, files in _each(material.files):
        for real in files.data:
            for source in files.shown(real):
                start = {**material.start(source, seed=False), "metric": name, "title": declared.name}
                rows += [{**start, **row} for row in _extremes(source)]
    columns = [*KEYS, "metric", "title", "label", "which", "rank", "article", "value", "beginning"]
    return pd.DataFrame(rows).reindex(columns=columns).astype(dict.fromkeys((*RUN, "rank"), "Int64"))


def measures_of(rows: pd.DataFrame) -> dict[str, Measure]:
    """The measures of a table that `metric_rows` made, by their names, `module:function`."""
    first = rows.drop_duplicates("metric").to_dict("records")
    return {
        row["metric"]: measure_of(_declared(row), key=row["metric"].partition(":")[2], section="values")
        for row in first
    }


def _each(files: MetricsFiles) -> Iterator[tuple[str, Declared, MetricsFiles]]:
    """Each measure: its name, its declaration, and the files with its scores."""
    titles: dict[str, str] = {}
    for number, name in enumerate(files.metrics):
        chosen = files.by(number)
        path = chosen.data[0].scores
        declared = declaration_of(source_scores(chosen.data[0], OWN_SCHEMA.names), path)
        if declared.name in titles:
            raise TextcriticError(
                f"{path}: {titles[declared.name]} and {name} have the same title {declared.name!r}; change one of them"
            )
        titles[declared.name] = name
        yield name, declared, chosen


def _read(measure: Measure, source: Source, _: Scored | None) -> Scored:
    scores = source_scores(source, OWN_SCHEMA.names)
    lost = sum(scores["sections_left_out"].drop_null().to_pylist())
    return scored_of(measure, measured_of(scores), {"sections_left_out": lost})


def _declared(row: Row) -> Declared:
    needs = tuple(filter(None, row["needs"].split(", ")))
    return Declared(**{key: row[key] for key in DECLARED[1:]} | {"needs": needs})


def _with_noticeable(rows: Sequence[Row]) -> Iterator[Row]:
    """The rows with the smallest difference from the real text of their corpus that would be noticed."""
    real: dict[str, Number] = {}
    for row in rows:
        value, low, high = (None if missing(row.get(key)) else row[key] for key in ("value", "ci_low", "ci_high"))
        number, apart = Number(value, low, high), None
        if row["source"] == DATA:
            real[row["corpus"]] = number
        elif number.low is not None and (reference := real[row["corpus"]]).low is not None:
            apart = gap(number, reference)
        yield row if apart is None else {**row, "noticeable": apart.noticeable}


def _articles(path: Path, ids: set[str]) -> dict[str, Article]:
    """Articles of a sample, or of the test split; those that it lacks are read from the other splits."""
    articles = some_articles(path, ids)
    for split in SPLITS:
        if others := ids - articles.keys():
            articles |= some_articles(path.with_name(f"{split}.parquet"), others)
    return articles


def _extremes(source: Source) -> Iterator[Row]:
    scores = source_scores(source, OWN_SCHEMA.names)
    sums = measured_of(scores).sums()
    kept = scores.filter(pa.array([not one for one in scores["rejected"].to_pylist()], pa.bool_()))
    values = dict(zip(kept["id"].to_pylist(), (float(top / bottom) for top, bottom in sums), strict=True))
    ranked = sorted(values, key=lambda name: (-values[name], name))
    chosen = {"highest": ranked[:EXTREMES], "lowest": ranked[EXTREMES:][::-1][:EXTREMES]}
    articles = _articles(source.articles, {name for names in chosen.values() for name in names})
    for which, names in chosen.items():
        for rank, name in enumerate(names, 1):
            text = " ".join(articles[name].text.split())
            shown = text if len(text) <= BEGINNING else f"{text[:BEGINNING]}…"
            yield {"which": which, "rank": rank, "article": name, "value": values[name], "beginning": shown}
