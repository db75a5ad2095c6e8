"""What the numbers of a topic model say, in words."""

import pandas as pd

from textcritic.experiments.topics.rows import DOT, GAP, NAMING
from textcritic.experiments.topics.sheets import words_per_document
from textcritic.inference import ALPHA
from textcritic.measures.card import Cell
from textcritic.measures.labels import corpus_name
from textcritic.measures.names import Names
from textcritic.measures.numbers import number, percent
from textcritic.measures.score import HIGHER
from textcritic.plan.sources import DATA, GROUP, SAMPLE
from textcritic.report.cells import matching
from textcritic.report.section import Finding
from textcritic.values import Row

LIKE = 0.05  # a difference in length below this share of the length of real documents is not mentioned


def cause(cell: Cell, words: pd.DataFrame) -> str:
    """What is wrong with a sample, a clause; it names the topic whose share is most above real text's.

    Args:
        cell: how far its Latent NLL or its covariances are from real text's.
        words: as `rows.word_rows` makes them.
    """
    first, value = cell.scores[0], number(cell.number.value)
    if first.key != GAP.known_as:
        return f"its topics go together in other ways: distance of their covariances {value}, real text 0"
    way, side = ("more", "above") if cell.way == HIGHER else ("less", "below")
    far = f"{number(abs(cell.number.value or 0.0))} nats a document {side} real text"
    says = f"its mixtures of topics are {way} surprising: {far}"
    own = matching(words, {key: getattr(first, key) for key in GROUP}).drop_duplicates("topic").set_index("topic")
    real = words[(words["corpus"] == first.corpus) & (words["source"] == DATA)].set_index("topic")["share"]
    above = (own["share"] - real).dropna()
    if above.empty or above.max() <= 0:
        return says
    topic = above.idxmax()
    named = DOT.join(own["words"][topic].split()[:NAMING])
    return f"{says}; the topic “{named}” takes {percent(own['share'][topic])}, in real text {percent(real[topic])}"


def topic_doubts(rows: pd.DataFrame, names: Names) -> list[Finding]:
    """What makes the scores of a sample doubtful: other starts of the fit, documents of another length.

    Args:
        rows: as `rows.topic_rows` makes them.
        names: of the sources.
    """
    points = []
    for corpus, table in rows.groupby("corpus", sort=False):
        real = table[table["source"] == DATA].iloc[0].to_dict()
        where = f" on {corpus_name(corpus)}" if names.several_corpora else ""
        for _, group in table[table["source"] == SAMPLE].groupby(GROUP, sort=False):
            name = names.source(group.iloc[0].to_dict(), corpus=False, seed=False)
            scored = group[group["latent_nll"].notna()]
            doubts = [_starts(scored), _length(scored, real)] if len(scored) else []
            points += [Finding(f"{name}{where}", doubt) for doubt in doubts if doubt]
    return points


def _starts(scored: pd.DataFrame) -> str:
    """A doubt if a sample is above real text under one start of the fit and below it under another."""
    low, high = scored["gap_starts_low"].min(), scored["gap_starts_high"].max()
    if not (scored["starts"].max() > 1 and low < 0 < high):
        return ""
    return (
        f"its Latent NLL is up to {number(-low)} nats lower than real text's under one start of the fit, and up to "
        f"{number(high)} nats higher under another, so the sign of the difference depends on the start."
    )


def _length(scored: pd.DataFrame, real: Row) -> str:
    """A doubt if documents are longer or shorter and this can explain the sign of the Latent NLL's difference."""
    gap = scored["latent_nll"].mean() - real["latent_nll"]
    of_sample, of_real = words_per_document(scored), real["words_per_document"]
    if scored["p_value"].max() >= ALPHA or abs(of_sample / of_real - 1) < LIKE or (of_sample > of_real) != (gap > 0):
        return ""
    way, higher = ("longer", "higher") if gap > 0 else ("shorter", "lower")
    return (
        f"its documents are {way} than real ones ({number(of_sample)} words of the vocabulary; real text has "
        f"{number(of_real)}), which can be part of the reason why its Latent NLL is {higher}."
    )
