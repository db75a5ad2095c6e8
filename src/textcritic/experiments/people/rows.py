"""Perplexity, MAUVE, Latent PPL and people in long format, and how far the first three agree with the last."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from textcritic.critics import document_columns, groups_of, rejections
from textcritic.critics.mauve import Mauve
from textcritic.experiments.people.files import PeopleFiles, RealText, Sample
from textcritic.experiments.people.read import collected, crossed
from textcritic.inference import over_runs
from textcritic.inference.association import KINDS, Correlation, correlation, pairs_ordered_alike
from textcritic.inference.crossed import Crossed, share, share_difference
from textcritic.measures.material import Material
from textcritic.measures.measure import LATENT_PPL, Estimate, Measure, Resampling, Scored
from textcritic.measures.numbers import missing
from textcritic.measures.rows import completed, source_rows
from textcritic.measures.scored import RECIPE, perplexity_of, runs_of, source_scores
from textcritic.plan.sources import DATA, GROUP, SAMPLE
from textcritic.report.cells import PERPLEXITY
from textcritic.values import Row

TEXTS = ("ppl_unit", "ppl_infinite_because", "infinite_because", "mauve_why", "coherent_why", "latent_ppl_why")


def mauve_estimate(scored: Scored, real: Scored | None, _: Resampling) -> Estimate:
    """As the job computed it; real text has the value of two samples of real text, and no test."""
    mauve: Mauve | None = scored.data.get("mauve")
    if mauve is None:
        return Estimate()
    p = None if real is None else mauve.p
    if mauve.value is None:
        return Estimate(reason=mauve.reason)
    more: dict[str, object] = {"mauve_documents": mauve.documents, "mauve_buckets": mauve.buckets}
    more["mauve_library"] = mauve.by_seed[0]
    more["mauve_sd"] = float(np.std(mauve.by_seed, ddof=1)) if mauve.by_seed[1:] else None
    return Estimate(mauve.value, mauve.low, mauve.high, p, more, mauve.reason)


def coherent_estimate(scored: Scored, real: Scored | None, _: Resampling) -> Estimate:
    """The share of answers that call an article coherent; tested against the share of real text."""
    answers: Crossed | None = scored.data.get("coherent")
    if answers is None:
        return Estimate(more={"answers": 0})
    coherent = share(answers)
    of_real: Crossed | None = real.data.get("coherent") if real is not None else None
    p = None if of_real is None else share_difference(answers, of_real).p
    more = {"answers": coherent.answers, "articles": coherent.articles, "annotators": coherent.annotators}
    more |= {"of_these": coherent.of_these}
    return Estimate(coherent.value, coherent.low, coherent.high, p, more, coherent.reason)


MAUVE = Measure(
    name="MAUVE",
    means="how much a sample and real text overlap, from 0 to 1, as a language model sees them",
    value="mauve",
    low="mauve_low",
    high="mauve_high",
    p="mauve_p",
    section="metrics",
    estimate=mauve_estimate,
    metric="mauve",
    published="mauve_published",
    difference="mauve_difference",
)
COHERENT = Measure(
    name="Called coherent, %",
    means="answers of people who find the order of sections coherent",
    value="coherent",
    low="coherent_low",
    high="coherent_high",
    p="coherent_p",
    section="metrics",
    estimate=coherent_estimate,
    whole=100,
    metric="human",
    published="coherent_published",
    difference="coherent_difference",
)
PPL = replace(LATENT_PPL, section="metrics")
MEASURES = (MAUVE, PERPLEXITY, PPL, COHERENT)
COLUMNS = (
    "label", *(column for m in MEASURES for column in (m.value, m.low, m.high)), "mauve_p", "p_value", "coherent_p",
    "mauve_library", "mauve_sd", "mauve_documents", "mauve_buckets", "answers", "articles", "annotators", "of_these",
    "documents", "groups", "rejected", "rejected_share", "rejected_by_reason", *RECIPE, "ppl_unit",
    "ppl_infinite_because", *(column for m in MEASURES for column in (m.published, m.difference)),
)  # fmt: skip
WHOLE = ("documents", "groups", "rejected", "answers", "articles", "annotators", "mauve_documents", "mauve_buckets")
METRICS = {"ppl_all": "Perplexity", "mauve": "MAUVE", "latent_ppl": "Latent PPL"}
BETTER = {"ppl_all": -1, "mauve": 1, "latent_ppl": -1}
"""1 if more of a metric is taken as better, -1 if less is."""
CORRELATIONS = (
    "corpus", "whose", "metric", "systems", "with_real", "kind", "value", "ci_low", "ci_high", "p_value",
    "smallest_p", "as_people", "pairs",
)  # fmt: skip
CORRELATION_TEXT = ("whose", "metric", "kind")
OURS, PUBLISHED = "ours", "published"
LEAST_SYSTEMS = 3


def metric_rows(material: Material[PeopleFiles]) -> pd.DataFrame:
    """Every metric of every source, and what people say (paper, Table 4), one row a source.

    Columns: those of `rows.source_rows` for MAUVE, perplexity, Latent PPL and the share of answers that call an
    article coherent (percent); `mauve_library`, MAUVE with the first seed of k-means, as the library's own call gives
    it, `mauve_sd` over seeds, `mauve_documents` and `mauve_buckets` of each side; `answers`, `articles` and
    `annotators`; `of_these`, whether the interval of the share is of these annotators; `scored.RECIPE` of MAUVE.

    Raises:
        TextcriticError: a file is missing or damaged, or answers do not belong to their articles.
    """
    answers = material.get(collected)

    def read(source: RealText | Sample, _: Scored | None) -> Scored:
        scores = source_scores(source)
        columns = document_columns(scores)
        data: dict[str, object] = {"latent_ppl": columns}
        if source.mauve is not None:
            data["mauve"] = Mauve.load(source.mauve)
        if judged := answers.of(source):
            data["coherent"] = crossed(judged)
        more = perplexity_of(source.perplexity) if isinstance(source, Sample) else {}
        return Scored(data, len(columns), rejections(scores), more, groups_of(scores))

    rows = completed(source_rows(material, read, MEASURES), _distinct(COLUMNS), MEASURES, WHOLE, TEXTS)
    # The paper prints shares, and we percentages.
    rows["coherent_published"] *= 100
    rows["coherent_difference"] = rows["coherent"] - rows["coherent_published"]
    return rows.astype({"of_these": "boolean"})


def correlation_rows(material: Material[PeopleFiles]) -> pd.DataFrame:
    """How far each metric agrees with people over systems: of the published values, and of ours.

    Columns: corpus, `whose` (published or ours), `metric`, how many `systems`, `with_real` (whether real text is one of
    them), `kind` of correlation, `value` with its interval and exact permutation p, `smallest_p` that a rank
    correlation of so many systems can have, and `as_people`, how many of the `pairs` of systems the metric orders as
    people do.
    """
    rows: list[Row] = []
    for corpus, systems in material.get(metric_rows).groupby("corpus", sort=False):
        for whose, points in ((PUBLISHED, _published(systems)), (OURS, _ours(systems))):
            for metric in METRICS:
                for with_real in (False, True):
                    rows += _correlations({"corpus": corpus, "whose": whose}, points, metric, with_real)
    return pd.DataFrame(rows, columns=list(CORRELATIONS)).astype({"with_real": bool})


def difference_rows(material: Material[PeopleFiles]) -> pd.DataFrame:
    """Differences between sources in the share called coherent, each pair of a corpus, in percentage points.

    Columns: corpus, `first` and `second` in words, `difference` with `ci_low` and `ci_high`, `p_value`, `answers`,
    `annotators`, `of_these`, `why` there is no interval.
    """
    answers, rows = material.get(collected), []
    for real in material.files.data:
        asked = [(source, judged) for source in material.files.of(real) if (judged := answers.of(source))]
        for n, (one, first) in enumerate(asked):
            for other, second in asked[n + 1 :]:
                difference = share_difference(crossed(first), crossed(second))
                names = [material.names.source(source.keys, corpus=False) for source in (one, other)]
                ends = {"difference": difference.value, "ci_low": difference.low, "ci_high": difference.high}
                row = {"corpus": real.corpus, "first": names[0], "second": names[1]}
                row |= {key: None if value is None else 100 * value for key, value in ends.items()}
                row |= {"p_value": difference.p, "answers": difference.answers, "annotators": difference.annotators}
                rows.append(row | {"of_these": difference.of_these, "why": difference.reason})
    columns = ("corpus", "first", "second", "difference", "ci_low", "ci_high", "p_value", "answers", "annotators")
    return pd.DataFrame(rows, columns=[*columns, "of_these", "why"])


def _published(rows: pd.DataFrame) -> list[Row]:
    """The published values of each system, once, the real text last."""
    columns = {"ppl_all": "ppl_published", "mauve": "mauve_published", "latent_ppl": "published"}
    points: list[Row] = []
    for real, row in _systems(rows):
        values = {metric: row[column].iloc[0] for metric, column in columns.items()}
        points.append(values | {"people": row["coherent_published"].iloc[0], "real": real})
    return points


def _ours(rows: pd.DataFrame) -> list[Row]:
    """Our values of each system: the mean over its trainings."""
    points: list[Row] = []
    for real, group in _systems(rows):
        measures = {"ppl_all": PERPLEXITY, "mauve": MAUVE, "latent_ppl": PPL, "people": COHERENT}
        values: dict[str, object] = {"real": real}
        for metric, measure in measures.items():
            measured = group[group[measure.value].notna()]
            values[metric] = over_runs(runs_of(measured, measure), measure.by_ratio).mean if len(measured) else None
        points.append(values)
    return points


def _systems(rows: pd.DataFrame) -> Iterator[tuple[bool, pd.DataFrame]]:
    samples = rows[rows["source"] == SAMPLE]
    yield from ((False, group) for _, group in samples.groupby(GROUP, sort=False))
    yield from ((True, group) for _, group in rows[rows["source"] == DATA].groupby(GROUP, sort=False))


def _correlations(start: Row, points: Sequence[Row], metric: str, with_real: bool) -> Iterator[Row]:
    """The rows of one metric; none for fewer than three systems, and none `with_real` if real text has no value."""
    measured = [p for p in points if not missing(p[metric]) and np.isfinite(p[metric]) and not missing(p["people"])]
    kept = [point for point in measured if with_real or not point["real"]]
    if len(kept) < LEAST_SYSTEMS or (with_real and not any(point["real"] for point in kept)):
        return
    values, people = ([point[key] for point in kept] for key in (metric, "people"))
    alike, pairs = pairs_ordered_alike(BETTER[metric] * np.array(values), people)
    for kind in KINDS:
        result: Correlation = correlation(values, people, kind)
        row = {"metric": METRICS[metric], "systems": len(kept), "with_real": with_real, "kind": kind}
        row |= {"value": result.value, "ci_low": result.low, "ci_high": result.high, "p_value": result.p}
        yield {**start, **row, "smallest_p": result.smallest_p, "as_people": alike, "pairs": pairs}


def _distinct(columns: Sequence[str]) -> list[str]:
    return [column for column in dict.fromkeys(columns) if column]


def has_answers(rows: pd.DataFrame) -> bool:
    """Whether somebody has answered about a source of the table of metrics."""
    return bool(rows["answers"].fillna(0).sum())
