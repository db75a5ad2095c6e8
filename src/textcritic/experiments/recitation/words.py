"""What the numbers of recitation say, in words."""

from collections.abc import Sequence
from itertools import groupby

import pandas as pd

from textcritic.measures.card import Cell
from textcritic.measures.labels import corpus_name
from textcritic.measures.names import Names
from textcritic.measures.numbers import percent, plural
from textcritic.measures.score import DIFFERENT, HIGHER, LOWER, Score
from textcritic.plan.sources import GROUP, RUN, SAMPLE
from textcritic.report.cells import matching
from textcritic.report.section import Finding

SAID = {
    HIGHER: "It recites: it repeats its training text more than people repeat one another.",
    LOWER: "It repeats its training text less than people repeat one another.",
}


def cause(cell: Cell) -> str:
    """What is wrong with a sample, a clause: `98% of its runs of 13 words occur in the reference, real text 4.1%`."""
    first, value = cell.scores[0], cell.number.value
    real = None if first.real is None or first.real.value is None else first.real.value / 100
    return f"{percent(None if value is None else value / 100)} {first.copies}, real text {percent(real)}"


def directions(card: Sequence[Score], lengths: pd.DataFrame) -> list[Finding]:
    """For each sample that differs from real text: whether it recites or repeats too little, in plain words.

    Args:
        card: the scores of `RECITED`.
        lengths: as `rows.length_rows` makes them: a sample may be above real text for some n and below it for others.
    """
    several = len({score.corpus for score in card}) > 1
    points = []
    for (corpus, label), scores in groupby(card, key=lambda score: (score.corpus, score.label)):
        seeds = list(scores)
        ways = {score.way if score.verdict == DIFFERENT else "" for score in seeds}
        way = ways.pop()
        if ways or way not in SAID:
            continue
        about = f"{label}{f' on {corpus_name(corpus)}' if several else ''}"
        points.append(Finding(about, f"{SAID[way]}{_other_way(seeds, way, lengths)}"))
    return points


def _other_way(seeds: Sequence[Score], way: str, lengths: pd.DataFrame) -> str:
    """The n for which a sample is on the other side of real text: their 95% intervals do not overlap, for any seed."""
    table = lengths[lengths["corpus"] == seeds[0].corpus]
    real = table[table["source"] != SAMPLE].set_index("n")
    lengths_apart = set(real.index)
    for score in seeds:
        rows = matching(table, {key: getattr(score, key) for key in (*GROUP[1:], *RUN)}).set_index("n")
        below, above = (rows, real) if way == HIGHER else (real, rows)
        apart = above["ci_low"].reindex(real.index) > below["ci_high"].reindex(real.index)
        lengths_apart &= set(real.index[apart])
    if not lengths_apart:
        return ""
    first, last = min(lengths_apart), max(lengths_apart)
    reach = f"{first}" if first == last else f"{first} to {last}"
    return f" Of runs of {reach} words it repeats {'less' if way == HIGHER else 'more'} than people do."


def longest_findings(passages: pd.DataFrame, names: Names) -> list[Finding]:
    """The longest passage of all samples of each corpus, and the length of the longest one of real text."""
    points = []
    for corpus, table in passages.groupby("corpus", sort=False):
        where = f" on {corpus_name(corpus)}" if names.several_corpora else ""
        samples, real = table[table["source"] == SAMPLE], table[table["source"] != SAMPLE]
        if samples.empty:
            continue
        first = samples.loc[samples["words"].idxmax()]
        name = names.source(first[GROUP].to_dict() | {"source": SAMPLE}, corpus=False, seed=False)
        of_real = f" The longest of real text has {plural(int(real['words'].max()), 'word')}." if len(real) else ""
        says = (
            f"{plural(int(first['words']), 'word')} by {name}, in document {first['article']}, from training document "
            f"{first['train_article']}.{of_real}"
        )
        points.append(Finding(f"Longest passage{where}", says))
    return points
