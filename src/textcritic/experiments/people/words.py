"""Findings and warnings about what people say, in words, and the entry of a campaign that asks them."""

import pandas as pd

from textcritic.experiments.people.annotators import EVERYTHING
from textcritic.experiments.people.files import PeopleFiles
from textcritic.experiments.people.rows import OURS, PUBLISHED
from textcritic.inference.crossed import LEAST_ANNOTATORS
from textcritic.measures.labels import corpus_name
from textcritic.measures.numbers import decimals, listed, missing, plural
from textcritic.report.section import Finding


def warnings(metrics: pd.DataFrame, annotators: pd.DataFrame) -> tuple[str, ...]:
    """What a reader has to know before any number: too few annotators, and who may click at random."""
    sentences = []
    if metrics["of_these"].fillna(False).any():
        most = int(metrics["annotators"].max())
        sentences.append(
            f"At most {plural(most, 'annotator')} judged a system: too few ({LEAST_ANNOTATORS} are needed) for"
            " intervals of shares that hold for other annotators. The intervals are of these annotators."
        )
    doubted = annotators[(annotators["annotator"] != EVERYTHING) & (annotators["flagged"] != "")]
    if len(doubted):
        sentences.append(
            f"{plural(len(doubted), 'annotator')} may have clicked at random; nobody was left out. See the table of"
            " annotators."
        )
    return tuple(sentences)


def findings(correlations: pd.DataFrame, articles: pd.DataFrame) -> list[Finding]:
    """Which metric orders systems as people do, and whether scores predict what people say of one article."""
    points = []
    for (corpus, whose), rows in correlations.groupby(["corpus", "whose"], sort=False):
        widest = rows[~rows["with_real"]]
        parts = [
            f"{metric} {group['as_people'].iloc[0]} of {group['pairs'].iloc[0]}"
            for metric, group in widest.groupby("metric", sort=False)
        ]
        source = {PUBLISHED: "In the published values", OURS: "In our values"}[str(whose)]
        if not parts:
            continue
        systems = int(widest["systems"].max())
        says = f"{source} metrics order pairs of {systems} systems as people do: {listed(parts)}."
        points.append(Finding(f"Metrics and people on {corpus_name(corpus)}", says))
    for row in articles[articles["score"] == "nll"].to_dict("records"):
        if not missing(row["area"]) and not missing(row["ci_low"]):
            ends = f"{decimals(row['ci_low'], 2)} to {decimals(row['ci_high'], 2)}"
            says = (
                "Of two articles of one system, one called coherent and one not, the Latent NLL of the latter is higher"
                f" with a probability of {decimals(row['area'], 2)} ({ends}; 0.5 is chance)."
            )
            points.append(Finding(f"Single articles of {corpus_name(row['corpus'])}", says))
    return points


def lines(correlations: pd.DataFrame) -> list[str]:
    """What `textcritic show` says."""
    return [finding.says for finding in findings(correlations, pd.DataFrame({"score": []}))]


def campaign_of(files: PeopleFiles) -> str:
    """An entry for the registry of campaigns that asks about the sources of the experiment."""
    corpus = files.data[0].corpus
    blocks = [
        f"    - {{corpora: [{corpus}], settings: [{s.setting}], generators: [{s.generator}], decodings: [{s.decoding}]"
        f"{'' if s.from_file else f', seeds: [{s.seed}], draws: [{s.draw}]'}}}"
        for s in files.samples
        if s.corpus == corpus
    ]
    head = ["my-campaign:", f"  corpus: {corpus}", "  contact: YOUR NAME, YOUR ADDRESS", "  sources:"]
    return "\n".join([*head, *blocks])
