"""The tables of topics, for reading: Latent NLL (paper, Table 9), topics' words, and outliers (Table 14)."""

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pandas as pd

from textcritic.critics.ctm.scoring import EMPTY
from textcritic.experiments.topics.rows import AT_MEAN, DISTANCE, DOT, GAP, NLL
from textcritic.measures.labels import corpus_name
from textcritic.measures.measure import Measure
from textcritic.measures.names import Names
from textcritic.measures.numbers import NONE, count, interval, number, percent
from textcritic.measures.phrases import SPREAD
from textcritic.measures.rows import in_groups
from textcritic.measures.scored import reasons_over_seeds
from textcritic.plan.sources import GROUP
from textcritic.report.cells import matching, measure_cell, spread, unique
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Sheet

STARTS_OF = {"latent_nll": "starts", "latent_nll_at_mean": "at_mean_starts"}
MEASURED = (("measured", "distance"), ("by chance", "distance_by_chance"))
BOTH = (
    "In expectation: over the whole posterior of a document's topics, which is the paper's definition. At the mean: of "
    "the posterior's mean alone, as the released code has it"
)


def topics_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """Latent NLL of real text and of each sample, how long documents are, what was left out, covariances apart."""
    nll = ("Latent NLL, in expectation", "Latent NLL, at the mean")
    heads = ("Source", *nll, GAP.name, "Words a document", "Left out", DISTANCE.name)
    body = []
    for _, group in _sources(rows):
        name = Cell(names.source(group.iloc[0].to_dict(), seed=False), heading=True)
        cells = [nll_cell(group, NLL), nll_cell(group, AT_MEAN), _gap(group)]
        body.append([name, *cells, Cell(number(words_per_document(group))), _left_out(group), _distance(group)])
    published = (
        "; published values, by a critic of as many topics, are of that, and under them stands ours minus theirs"
    )
    published = published if rows["published"].notna().any() else ""
    remarks = [
        f"{_critics(rows)} Nats per document. {BOTH}{published}. Both are under the fit of the highest bound. Under "
        f"each value: {SPREAD}, its range over the starts of the fit, the p-value against real text, and how many "
        "documents it is of.",
        *remarks_of(__file__, "topics"),
        *_starts(rows),
    ]
    return Sheet("topics", "Latent NLL under the topic model", [[Cell(head) for head in heads]], body, remarks=remarks)


def paper_topics_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """The same in the paper's shape (Table 9): rows metric by model, columns corpora."""
    corpora = unique(rows["corpus"])
    models = rows.drop_duplicates(["source", *GROUP[1:]])[["source", *GROUP[1:]]].to_dict("records")
    body: list[list[Cell]] = []
    for metric, measure in (("Latent NLL, at the mean", AT_MEAN), ("Latent NLL, in expectation", NLL)):
        for place, model in enumerate(models):
            found = [matching(rows, {"corpus": corpus, **model}) for corpus in corpora]
            first = next(group for group in found if len(group)).iloc[0].to_dict()
            name = Cell(names.source(first, corpus=False, seed=False))
            cells = [nll_cell(group, measure) for group in found]
            body.append([Cell("" if place else metric, heading=not place), name, *cells])
    header = [[Cell("Metric"), Cell("Model"), *(Cell(corpus_name(corpus)) for corpus in corpora)]]
    seeds = sorted(set(rows["seed"].dropna()))
    published = " The published values are of the mean, one run of each, by critics of as many topics."
    published = published if rows["published"].notna().any() else ""
    remarks = [
        f"{_critics(rows)} Nats per document. {BOTH}.{published} Under each value: {SPREAD}, the p-value "
        "against real text, and how many documents it is of. "
        f"Ours: {'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))}.",
    ]
    return Sheet("topics", "", header, body, stubs=2, remarks=remarks)


def nll_cell(group: pd.DataFrame, measure: Measure) -> Cell:
    """A Latent NLL of one source, the mean over those of its seeds of which something could be scored."""
    cell, known = measure_cell(group, measure), group[group[measure.value].notna()] if len(group) else group
    if known.empty:
        return replace(cell, notes=("nothing could be scored",) if len(group) else ())
    first = len(spread(known, measure))
    notes = [*cell.notes[:first], *over_starts(known, STARTS_OF[measure.value]), *cell.notes[first:]]
    notes.append(f"{count(known['documents'].sum())} documents{in_groups(known)}")
    if len(known) < len(group):
        notes.append(f"{len(known)} of {len(group)} seeds")
    return replace(cell, notes=tuple(notes))


def over_starts(known: pd.DataFrame, prefix: str) -> list[str]:
    """The spread of a value over the starts of the fit, the widest of several seeds; nothing of one start."""
    starts = known["starts"].dropna()
    low, high = (known[f"{prefix}_{end}"] for end in ("low", "high"))
    if starts.empty or starts.max() < 2 or low.isna().all():
        return []
    widest = (high - low).idxmax()
    return [f"{count(starts.max())} starts: {interval(low[widest], high[widest])}"]


def words_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """Each topic's words, the commonest topic of real text first, and its share in real text and in each sample."""
    labels = unique(_label(row, names) for row in rows.to_dict("records"))
    several = rows["corpus"].nunique() > 1
    body: list[list[Cell]] = []
    for (corpus, topic), group in rows.groupby(["corpus", "topic"], sort=False):
        shares = {_label(row, names): percent(row["share"]) for row in group.to_dict("records")}
        name = f"{corpus_name(corpus)}: {topic}" if several else str(topic)
        words = DOT.join(str(group["words"].iloc[0]).split())
        body.append([Cell(name, (words,), heading=True), *(Cell(shares.get(label, NONE)) for label in labels)])
    heads = [Cell("Topic, likeliest words"), *map(Cell, labels)]
    remarks = ["Shares: means over documents. Of samples with several seeds, those of the first."]
    return Sheet("topic-words", "Topics and their shares", [heads], body, remarks=remarks)


def outliers_sheet(rows: pd.DataFrame, names: Names, at_mean: bool = False) -> Sheet:
    """The least likely documents of each source with an excerpt (paper, Table 14).

    Args:
        rows: as `rows.outlier_rows` makes them.
        names: of the study's topics.
        at_mean: whether they are ranked by the NLL at the mean.
    """
    column = "nll_at_mean" if at_mean else "nll"
    body = []
    for _, group in _sources(rows):
        body.append([Cell(names.source(group.iloc[0].to_dict(), seed=False), span=3, heading=True)])
        for row in group.to_dict("records"):
            body.append([Cell(number(row[column])), Cell(count(row["words"])), Cell(row["text"], words=True)])
    header = [[Cell("Latent NLL"), Cell("Words"), Cell("Excerpt", words=True)]]
    kind = "at the mean" if at_mean else "in expectation"
    remarks = [*remarks_of(__file__, "outliers", kind=kind)]
    return Sheet("topic-outliers", "Documents of the least usual topics", header, body, remarks=remarks, prose=True)


def words_per_document(group: pd.DataFrame) -> float:
    """Mean over the documents of all seeds; NaN where nothing could be scored."""
    known = group[group["words_per_document"].notna()]
    documents = known["documents"].astype(float)
    return float((known["words_per_document"] * documents).sum() / documents.sum()) if len(known) else math.nan


def _gap(group: pd.DataFrame) -> Cell:
    cell, known = measure_cell(group, GAP), group[group[GAP.value].notna()]
    if known.empty:
        return cell
    return replace(cell, notes=(*cell.notes, *over_starts(known, "gap_starts")))


def _starts(rows: pd.DataFrame) -> list[str]:
    if not rows["starts"].max() > 1:
        return ["The critic has one start: no interval holds what another start would have given."]
    return [
        f"The critic is the best of {count(rows['starts'].max())} fits from different starts, by its bound. The "
        "interval of a Latent NLL is about which documents there are, its range over starts about which of the fits "
        "one happens to have: where the range is wider, the level says little, and the difference from real text is "
        "the number to read."
    ]


def _critics(rows: pd.DataFrame) -> str:
    """How large the models are."""
    sizes = {
        row["corpus"]: f"{count(row['topics'])} topics, {count(row['vocabulary'])} words"
        for row in rows.to_dict("records")
    }
    described = [f"{corpus_name(corpus)} {size}" if len(sizes) > 1 else size for corpus, size in sizes.items()]
    return f"The {'critics' if len(sizes) > 1 else 'critic'}: {'; '.join(described)}."


def _sources(rows: pd.DataFrame) -> Iterable[tuple[Any, pd.DataFrame]]:
    return rows.groupby(["source", *GROUP], sort=False)


def _label(row: dict[str, Any], names: Names) -> str:
    return names.source(row, corpus=False, seed=False)


def _left_out(group: pd.DataFrame) -> Cell:
    reasons = reasons_over_seeds(group)
    rejected = int(group["rejected"].sum())
    drawn = rejected + int(group["documents"].sum())
    if not rejected:
        return Cell("0", (f"of {count(drawn)}",))
    empty = reasons.get(EMPTY, 0)
    notes = [f"{count(rejected)} of {count(drawn)}", *[f"empty: {count(empty)}"] * bool(empty)]
    return Cell(percent(rejected / drawn), (*notes, *[f"not read: {count(rejected - empty)}"] * (rejected > empty)))


def _distance(group: pd.DataFrame) -> Cell:
    cell, known = measure_cell(group, DISTANCE), group[group[DISTANCE.value].notna()]
    if known.empty:
        return cell
    *doubt, worst = cell.notes
    measured = [f"{words} {number(known[name].mean())}" for words, name in MEASURED]
    return replace(cell, notes=(*doubt, *over_starts(known, "distance_starts"), *measured, worst))
