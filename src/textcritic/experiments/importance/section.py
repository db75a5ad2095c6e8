"""The section of the report on importance sampling."""

from collections.abc import Mapping

import pandas as pd

from textcritic.corpora.structured.texts import read_structured
from textcritic.experiments.importance.figures import CURVES, EFFECTIVE
from textcritic.experiments.importance.files import ImportanceFiles
from textcritic.experiments.importance.names import ImportanceNames
from textcritic.experiments.importance.states import example_of
from textcritic.experiments.importance.words import findings, lines
from textcritic.measures.labels import corpus_name
from textcritic.measures.numbers import number
from textcritic.report.section import Place, Section
from textcritic.values import Row

TITLE = "Perplexity of latent language models"
KINDS = {
    "trees": "A sentence and its binary tree. A model of trees writes each word with all parts of the tree in view.",
    "mentions": (
        "A text with its states below: t, whether a token is in a mention; e, which entity it is; l, how many tokens "
        "of the mention are left, this one included."
    ),
    "links": (
        "A text with its states below: t, new or related to an earlier entity; s, the entity that it follows from; "
        "r, the relation; o, the entity itself."
    ),
}


def section(files: ImportanceFiles, tables: Mapping[str, pd.DataFrame], place: Place) -> Section:
    """The section, its findings and lines, as `plan.experiment` says."""
    names, rows = ImportanceNames.of(files), tables["estimates"]
    points = findings(rows, names)
    variables = {
        "said": points,
        "advice": [_advice(row, names, n) for n, row in enumerate(rows[rows["proposal"] != ""].to_dict("records"))],
        "chart": CURVES if files.weighed else None,
        "effective": EFFECTIVE,
        "known": bool(rows.loc[rows["proposal"] != "", "exact"].notna().any()),
        "beside": bool(rows["ratio"].notna().any()),
        "examples": _examples(files),
        "bounds": bool(files.beams),
        "papers": place.numbered("estimates", "beams"),
        "pickers": [
            {"key": str(n), "label": names.estimate(row)}
            for n, row in enumerate(rows[rows["proposal"] != ""].to_dict("records"))
        ],
    }
    return Section(
        title=TITLE,
        html=place.render("section.html.j2", variables),
        question="Can the perplexity of a model with hidden structure be trusted?",
        findings=tuple(points),
        definitions=place.definitions(),
        lines=tuple(lines(rows, names)),
    )


def _advice(row: Row, names: ImportanceNames, number_of: int) -> Row:
    """The advice on one estimate, as the template shows it."""
    others = {"jackknife": row["jackknife"], "Pareto smoothing": row["pareto"]}
    return {
        "key": str(number_of),
        "label": names.estimate(row),
        "sentences": f"{row['advice']} {row['gap_says']}".rstrip(),
        "others": {name: number(value) for name, value in others.items()},
        "ppl": number(row["ppl"]),
    }


def _examples(files: ImportanceFiles) -> list[dict[str, str]]:
    """For each corpus with structure: its figure and what it shows."""
    shown = []
    for texts in files.texts:
        example = example_of(read_structured(texts.test)) if texts.structured else None
        if example is None:
            continue
        linked = any(mention.edges for mention in example.mentions)
        kind = "trees" if example.actions else "links" if linked else "mentions"
        shown.append({"corpus": corpus_name(texts.corpus), "figure": f"states-{texts.corpus}", "words": KINDS[kind]})
    return shown
