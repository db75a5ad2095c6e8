"""The tables of topics, for reading: Latent NLL (paper, Table 9), topics' words, and outliers (Table 14)."""

import math
from dataclasses import replace

import pandas as pd

from textcritic.critics.ctm.scoring import EMPTY
from textcritic.experiments.topics.rows import AT_MEAN, DISTANCE, DOT, GAP, NLL
from textcritic.measures.labels import corpus_name, of_corpus
from textcritic.measures.measure import Measure
from textcritic.measures.names import Names
from textcritic.measures.numbers import NONE, count, interval, number, percent
from textcritic.measures.rows import in_groups
from textcritic.measures.scored import reasons_over_seeds
from textcritic.plan.sources import GROUP
from textcritic.report.cells import Column, by_source, interval_note, matching, measure_cell, measure_sheet, unique
from textcritic.report.prose import remarks_of
from textcritic.report.reader import texts_sheet
from textcritic.report.sheet import Cell, Line, Sheet, plain_sheet, unrepeated
from textcritic.values import Row

STARTS_OF = {"latent_nll": "starts", "latent_nll_at_mean": "at_mean_starts"}
MEASURED = (("measured", "distance"), ("by chance", "distance_by_chance"))


def topics_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """Latent NLL of real text and of each sample, the length of documents, what was left out, covariance distances."""
    columns: dict[str, Column] = {
        "Latent NLL, in expectation": lambda group: nll_cell(group, NLL),
        "Latent NLL, at the mean": lambda group: nll_cell(group, AT_MEAN),
        GAP.name: _gap,
        "Words a document": lambda group: number(words_per_document(group)),
        "Left out": _left_out,
        DISTANCE.name: _distance,
    }
    several, published = rows["starts"].max() > 1, bool(rows["published"].notna().any())
    remarks = remarks_of(
        __file__,
        *("both", *["both: published"] * published, "topics", "starts" if several else "one start"),
        critics=_critics(rows),
        starts=count(rows["starts"].max()) if several else "",
    )
    return measure_sheet(("topics", "Latent NLL under the topic model"), rows, names, columns, remarks)


def paper_topics_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """The same in the paper's shape (Table 9): rows metric by model, columns corpora."""
    corpora = unique(rows["corpus"])
    models = rows.drop_duplicates(["source", *GROUP[1:]])[["source", *GROUP[1:]]].to_dict("records")
    body: list[Line] = []
    for metric, measure in (("Latent NLL, at the mean", AT_MEAN), ("Latent NLL, in expectation", NLL)):
        for model in models:
            by_corpus = [matching(rows, {"corpus": corpus, **model}) for corpus in corpora]
            first = next(group for group in by_corpus if len(group)).iloc[0].to_dict()
            name = names.source(first, corpus=False, seed=False)
            body.append([metric, name, *(nll_cell(group, measure) for group in by_corpus)])
    published = bool(rows["published"].notna().any())
    seeds = sorted(set(rows["seed"].dropna()))
    ours = f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))}"
    headings = ("both", *["paper: published"] * published, "paper")
    remarks = remarks_of(__file__, *headings, critics=_critics(rows), seeds=ours)
    heads = ["Metric", "Model", *map(corpus_name, corpora)]
    return plain_sheet("topics", "", heads, unrepeated(body), remarks, stubs=2)


def nll_cell(group: pd.DataFrame, measure: Measure) -> Cell:
    """A Latent NLL of one source, the mean over its seeds with a scored document."""
    cell, scored = measure_cell(group, measure), group[group[measure.value].notna()] if len(group) else group
    if scored.empty:
        return replace(cell, notes=("nothing could be scored",) if len(group) else ())
    first = len(interval_note(scored, measure))
    notes = [*cell.notes[:first], *over_starts(scored, STARTS_OF[measure.value]), *cell.notes[first:]]
    notes.append(f"{count(scored['documents'].sum())} documents{in_groups(scored)}")
    if len(scored) < len(group):
        notes.append(f"{len(scored)} of {len(group)} seeds")
    return replace(cell, notes=tuple(notes))


def over_starts(scored: pd.DataFrame, prefix: str) -> list[str]:
    """The range of a value over the starts of the fit, the widest of several seeds; nothing if there is one start."""
    starts = scored["starts"].dropna()
    low, high = (scored[f"{prefix}_{end}"] for end in ("low", "high"))
    if starts.empty or starts.max() < 2 or low.isna().all():
        return []
    widest = (high - low).idxmax()
    return [f"{count(starts.max())} starts: {interval(low[widest], high[widest])}"]


def words_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """Each topic's words, the commonest topic of real text first, and its share in real text and in each sample."""
    labels = unique(_label(row, names) for row in rows.to_dict("records"))
    body: list[Line] = []
    for (corpus, topic), group in rows.groupby(["corpus", "topic"], sort=False):
        shares = {_label(row, names): percent(row["share"]) for row in group.to_dict("records")}
        name = of_corpus(rows, corpus, str(topic))
        words = DOT.join(str(group["words"].iloc[0]).split())
        body.append([Cell(name, (words,), heading=True), *(shares.get(label, NONE) for label in labels)])
    remarks = remarks_of(__file__, "words")
    return plain_sheet("topic-words", "Topics and their shares", ["Topic, likeliest words", *labels], body, remarks)


def outliers_sheet(rows: pd.DataFrame, names: Names, at_mean: bool = False) -> Sheet:
    """The least likely documents of each source with an excerpt (paper, Table 14).

    Args:
        rows: as `rows.outlier_rows` makes them.
        names: of the study's topics.
        at_mean: whether they are ranked by the NLL at the mean.
    """
    column, kind = ("nll_at_mean", "at the mean") if at_mean else ("nll", "in expectation")
    heading = ("topic-outliers", "Documents with the least usual topics")
    numbers = {"Latent NLL": lambda row: number(row[column]), "Words": lambda row: count(row["words"])}
    remarks = remarks_of(__file__, "outliers", kind=kind)
    return texts_sheet(heading, by_source(rows, names), numbers, {"Excerpt": "text"}, remarks)


def words_per_document(group: pd.DataFrame) -> float:
    """Mean over the documents of all seeds; NaN if nothing could be scored."""
    scored = group[group["words_per_document"].notna()]
    documents = scored["documents"].astype(float)
    return float((scored["words_per_document"] * documents).sum() / documents.sum()) if len(scored) else math.nan


def _gap(group: pd.DataFrame) -> Cell:
    cell, scored = measure_cell(group, GAP), group[group[GAP.value].notna()]
    if scored.empty:
        return cell
    return replace(cell, notes=(*cell.notes, *over_starts(scored, "gap_starts")))


def _critics(rows: pd.DataFrame) -> str:
    """How large the models are."""
    sizes = {
        row["corpus"]: f"{count(row['topics'])} topics, {count(row['vocabulary'])} words"
        for row in rows.to_dict("records")
    }
    described = [f"{corpus_name(corpus)} {size}" if len(sizes) > 1 else size for corpus, size in sizes.items()]
    return f"The {'critics' if len(sizes) > 1 else 'critic'}: {'; '.join(described)}."


def _label(row: Row, names: Names) -> str:
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
    cell, scored = measure_cell(group, DISTANCE), group[group[DISTANCE.value].notna()]
    if scored.empty:
        return cell
    *doubt, worst = cell.notes
    measured = [f"{words} {number(scored[name].mean())}" for words, name in MEASURED]
    return replace(cell, notes=(*doubt, *over_starts(scored, "distance_starts"), *measured, worst))
