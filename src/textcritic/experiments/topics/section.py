"""The section of the report on topics."""

from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd

from textcritic.critics.ctm.model import CTM
from textcritic.errors import TextcriticError
from textcritic.experiments.topics.figures import CHART, COVARIANCES, SPREAD
from textcritic.experiments.topics.files import Fitted, TopicsFiles
from textcritic.experiments.topics.outliers import STRONG
from textcritic.experiments.topics.power import STUDY
from textcritic.experiments.topics.rows import DISTANCE, GAP, topic_names
from textcritic.experiments.topics.words import cause, topic_doubts
from textcritic.files import read_json
from textcritic.measures.causes import comparisons
from textcritic.measures.labels import corpus_name
from textcritic.measures.names import Names
from textcritic.measures.numbers import count, missing, number, percent, plural
from textcritic.measures.phrases import vocabulary_facts
from textcritic.report.cells import unscored_sheet
from textcritic.report.power import power_findings
from textcritic.report.reader import Document, Reading, shelves_of
from textcritic.report.section import Finding, Place, Section, said_of
from textcritic.values import Row

LEFT_OUT = ("topics-left-out", "Documents without a Latent NLL, by reason")
HEADS = ("Document", "Latent NLL", "Words", "Stronger than usual")
MOST_OPEN = 25  # topics; with more, the table is folded


def section(topics: TopicsFiles, tables: Mapping[str, pd.DataFrame], place: Place) -> Section:
    """The section, its findings and its lines, as `plan.experiment` says."""
    names, rows, outliers = Names.of(topics.samples), tables["topics"], tables["topic-outliers"]
    words = {fitted.corpus: topic_names(fitted) for fitted in topics.data}
    baseline = any(sample.baseline for sample in topics.samples)
    noticed = power_findings(tables[STUDY.name], STUDY)
    card = place.card(rows, (GAP, DISTANCE), names.source)
    variables = {
        "facts": [fact for fitted in topics.data for fact in _facts(fitted, names)],
        "chart": CHART,
        "spread": SPREAD,
        "baseline": baseline,
        "unscored": bool(rows["latent_nll"].isna().any()),
        "several_seeds": bool(names.seeded),
        "heatmaps": [_heatmap(fitted, names) for fitted in topics.data],
        "papers": place.numbered("nll", "outliers"),
        "left_out": place.sheet(unscored_sheet(rows, names, *LEFT_OUT)) if rows["rejected"].sum() else None,
        "many": int(tables["topic-words"]["topic"].max()) > MOST_OPEN,
        "reading": Reading.of(HEADS, shelves_of(outliers, names, partial(_outlier, topics=words)), card),
        "power": STUDY.name,
        "noticed": [finding.says for finding in noticed],
    }
    return Section(
        title="Topics",
        html=place.render("section.html.j2", variables),
        question="Do the same topics go together as in real text?",
        card=card,
        findings=(*said_of(card), *_unconverged(topics, names), *topic_doubts(rows, names), *noticed),
        tests=comparisons(card, partial(cause, words=tables["topic-words"])),
        definitions=place.definitions([] if baseline else ["Shuffled words"]),
        style=place.text("section.css"),
    )


def _unconverged(topics: TopicsFiles, names: Names) -> list[Finding]:
    """A finding for each corpus with fits that have not converged."""
    findings = []
    for fitted in topics.data:
        starts = read_json(fitted.training).get("starts", [])
        left = sum(not start["converged"] for start in starts)
        if left:
            about = f"Fit{f' ({corpus_name(fitted.corpus)})' if names.several_corpora else ''}"
            says = f"{left} of {len(starts)} fits of the topic model stopped before they converged: after more "
            findings.append(Finding(about, says + "iterations the numbers would change; raise `iterations`."))
    return findings


def _facts(fitted: Fitted, names: Names) -> list[tuple[str, str]]:
    vocabulary, training = read_json(fitted.vocabulary_counts), read_json(fitted.training)
    where = f" ({corpus_name(fitted.corpus)})" if names.several_corpora else ""
    try:
        words = vocabulary_facts(vocabulary, where)
        bound = training["bounds"][-1]
        how = f"{count(training['iterations'])} iterations of EM"
        how += "" if training["converged"] else ", which had not converged"
        if "read" in training:
            how = f"read from {training['read']}, fitted by ctm-c"
        fit = (
            f"{CTM.load(fitted.critic).num_topics} topics; {plural(training['documents'], 'document')}, "
            f"{count(training['empty'])} of them without a word of the vocabulary; "
            f"{how}; bound {number(bound)} "
            f"nats, {number(bound / max(training['tokens'], 1))} a token.{_starts(training['starts'])}"
        )
    except (KeyError, TypeError, IndexError) as error:
        raise TextcriticError(
            f"{fitted.vocabulary_counts} or {fitted.training}: no {error} in it; delete both and rerun their rules"
        ) from error
    return [*words, (f"Fit{where}", fit)]


def _starts(starts: Sequence[Row]) -> str:
    """The number of starts, and the bounds of their fits."""
    if len(starts) < 2:
        return ""
    bounds = sorted(start["bound"] for start in starts)
    return f" The best of {count(len(starts))} starts; the others ended at {', '.join(map(number, bounds[:-1]))}."


def _heatmap(fitted: Fitted, names: Names) -> dict[str, str]:
    return {
        "name": f"{COVARIANCES}.{fitted.corpus}",
        "corpus": corpus_name(fitted.corpus) if names.several_corpora else "",
    }


def _outlier(row: Row, topics: Mapping[str, Sequence[str]]) -> Document:
    nll, strong = number(row["nll"]), _strong(row, topics[row["corpus"]])
    words = (
        f"Latent NLL {nll} in expectation, {number(row['nll_at_mean'])} at the mean; "
        f"{plural(row['words'], 'word')} of the vocabulary."
    )
    shown = {"words": words, "topics": strong, "text": row["text"]}
    entries = ((nll, row["nll"]), (count(row["words"]), row["words"]), strong[0] if strong else "")
    return Document(str(row["article"]), entries, shown)


def _strong(row: Row, names: Sequence[str]) -> list[str]:
    """The topics of an outlier that are stronger than in real text: `3: array · axis: 41%, usually 5.0%`."""
    strong = []
    for topic, share, usual in ([row[column] for column in three] for three in STRONG):
        if not missing(topic) and share > usual:
            strong.append(f"{names[int(topic) - 1]}: {percent(share)}, usually {percent(usual)}")
    return strong
