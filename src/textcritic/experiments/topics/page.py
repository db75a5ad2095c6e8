"""The section of the report on topics: what its part of the template needs."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from markupsafe import Markup

from textcritic.critics.ctm.model import CTM
from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.report.inputs import Study
from textcritic.report.numbers import count, missing, number, percent, plural
from textcritic.report.sheet import to_html
from textcritic.report.sources import GROUP, Names
from textcritic.report.topics.inputs import TopicFiles, Topics
from textcritic.report.topics.make import CHART, COVARIANCES, SPREAD
from textcritic.report.topics.outliers import STRONG
from textcritic.report.topics.rows import topic_names
from textcritic.report.topics.sheets import left_out_sheet
from textcritic.report.topics.words import DEFINITIONS, SHUFFLED, topic_findings

MOST_OPEN = 25  # topics, of more of which the table has to be opened


def topics_section(topics: Topics | None, study: Study, tables: Mapping[str, pd.DataFrame]) -> dict[str, Any] | None:
    """The variables of templates/topics.html.j2; None where the study has no topics.

    Args:
        topics: as they were read.
        study: the whole study.
        tables: the rows of topics.csv, topic-words.csv and topic-outliers.csv.

    Raises:
        TextcriticError: a file is missing or damaged.
    """
    if topics is None:
        return None
    names, rows, outliers = Names.of(topics.samples), tables["topics"], tables["topic-outliers"]
    words = {files.corpus: topic_names(files) for files in topics.data}
    baseline = any(sample.baseline for sample in topics.samples)
    by_source = outliers.groupby(["source", *GROUP], sort=False)
    shown = [_outliers(str(n), group, names, words) for n, (_, group) in enumerate(by_source)]
    return {
        "findings": topic_findings(rows, names),
        "definitions": [pair for pair in DEFINITIONS if baseline or pair[0] != SHUFFLED],
        "facts": [fact for files in topics.data for fact in _facts(files, names)],
        "chart": CHART,
        "spread": SPREAD,
        "baseline": baseline,
        "unscored": bool(rows["latent_nll"].isna().any()),
        "several_seeds": bool(names.seeded),
        "heatmaps": [_heatmap(files, names) for files in topics.data],
        "papers": [table.name for table in study.tables if table.kind in ("topics", "outliers")],
        "left_out": Markup(to_html(left_out_sheet(rows, names))) if rows["rejected"].sum() else None,
        "many": int(tables["topic-words"]["topic"].max()) > MOST_OPEN,
        "outliers": shown,
        "pickers": [{"key": source["key"], "label": source["label"]} for source in shown],
    }


def _facts(files: TopicFiles, names: Names) -> list[tuple[str, str]]:
    vocabulary, training = read_json(files.vocabulary_counts), read_json(files.training)
    where = f" ({files.corpus})" if names.several_corpora else ""
    try:
        removed = "; ".join(
            f"{reason}: {plural(found['words'], 'word')}, {count(found['tokens'])} tokens"
            for reason, found in vocabulary["removed"].items()
            if found["words"]
        )
        kept = f"{plural(vocabulary['words'], 'word')}, {count(vocabulary['tokens'])} tokens of the training text."
        bound = training["bounds"][-1]
        fit = (
            f"{CTM.load(files.critic).num_topics} topics; {plural(training['documents'], 'document')}, "
            f"{count(training['empty'])} of them without a word of the vocabulary; {count(training['iterations'])} "
            f"iterations of EM{'' if training['converged'] else ', which had not converged'}; bound {number(bound)} "
            f"nats, {number(bound / max(training['tokens'], 1))} a token."
        )
    except (KeyError, TypeError, IndexError) as error:
        raise TextcriticError(
            f"{files.vocabulary_counts} or {files.training}: no {error} in it; delete both and rerun their rules"
        ) from error
    return [(f"Vocabulary{where}", kept), (f"Left out of it{where}", f"{removed or 'nothing'}."), (f"Fit{where}", fit)]


def _heatmap(files: TopicFiles, names: Names) -> dict[str, str]:
    return {"name": f"{COVARIANCES}.{files.corpus}", "corpus": files.corpus if names.several_corpora else ""}


def _outliers(key: str, group: pd.DataFrame, names: Names, topics: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    documents = [
        {
            "key": f"{key}-{row['rank']}",
            "label": f"{row['rank']}: {number(row['nll'])} nats",
            "words": f"Latent NLL {number(row['nll'])} in expectation, {number(row['nll_at_mean'])} at the mean; "
            f"{plural(row['words'], 'word')} of the vocabulary. Article {row['article']}.",
            "topics": _strong(row, topics[row["corpus"]]),
            "text": row["text"],
        }
        for row in group.to_dict("records")
    ]
    return {"key": key, "label": names.source(group.iloc[0].to_dict(), seed=False), "documents": documents}


def _strong(row: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """The topics of an outlier that are stronger than in real text: `3: array · axis: 41%, usually 5.0%`."""
    found = []
    for topic, share, usual in ([row[column] for column in columns] for columns in STRONG):
        if not missing(topic) and share > usual:
            found.append(f"{names[int(topic) - 1]}: {percent(share)}, usually {percent(usual)}")
    return found
