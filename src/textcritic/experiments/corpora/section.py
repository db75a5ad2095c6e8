"""The section of the report on corpora."""

from collections.abc import Iterator, Mapping

import pandas as pd

from textcritic.experiments.corpora.figures import CHART
from textcritic.experiments.corpora.files import CorporaFiles, Corpus
from textcritic.experiments.corpora.rows import audits
from textcritic.experiments.corpora.words import shared_words
from textcritic.files import read_json
from textcritic.measures.labels import corpus_name
from textcritic.measures.numbers import count, plural
from textcritic.report.section import Place, Section


def section(experiment: CorporaFiles, tables: Mapping[str, pd.DataFrame], place: Place) -> Section:
    """The section; it has no findings, as `plan.experiment` says."""
    shared = [words for corpus in experiment.data for words in shared_words(corpus.corpus, tables["shared-text"])]
    variables = {
        "audited": any(corpus.audit is not None for corpus in experiment.data),
        "chart": CHART,
        "papers": place.numbered("statistics"),
        "shared": shared,
        "examples": list(_examples(experiment)),
        "units": [f"{corpus_name(corpus.corpus)}: section lengths in {_unit(corpus)}." for corpus in experiment.data],
    }
    return Section(
        title="The real text",
        html=place.render("section.html.j2", variables),
        question="What is the text that samples are compared with, and what was left out of it?",
        definitions=place.definitions(),
        lines=(*(_line(corpus, tables["left-out"]) for corpus in experiment.data), *shared),
    )


def _unit(corpus: Corpus) -> str:
    unit = read_json(corpus.statistics).get("length_unit")
    return "words" if unit == "words" else f"tokens of {unit}"


def _examples(experiment: CorporaFiles) -> Iterator[dict[str, str]]:
    """Articles on which the two parsers differ: corpus, title, both texts and the names of the parsers."""
    for corpus, audit in audits(experiment.data):
        for switch in audit["switches"]:
            if switch["switch"] == "parser":
                parsers = {"first": switch["here"], "second": switch["other"]}
                for example in switch["examples"]:
                    yield {**example, "corpus": corpus_name(corpus), **parsers}


def _line(corpus: Corpus, left_out: pd.DataFrame) -> str:
    splits = read_json(corpus.statistics)["splits"].items()
    articles = ", ".join(f"{count(split['articles'])} {name}" for name, split in splits)
    lost = int(left_out.loc[left_out["corpus"] == corpus.corpus, "articles"].sum())
    return f"Corpus {corpus_name(corpus.corpus)}: {articles}; {plural(lost, 'article')} left out"
