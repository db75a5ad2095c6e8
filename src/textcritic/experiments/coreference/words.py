"""Findings about coreference, in words."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from textcritic.critics.mentions import BOS
from textcritic.experiments.coreference.passages import Symbol
from textcritic.experiments.coreference.shares import SHARE
from textcritic.experiments.coreference.why import is_label, written
from textcritic.measures.card import Block, Cell, scorecard
from textcritic.measures.causes import clause
from textcritic.measures.names import Names
from textcritic.measures.numbers import percent
from textcritic.measures.score import HIGHER, scores_of
from textcritic.measures.sentences import sentences
from textcritic.plan.sources import GROUP
from textcritic.report.section import Finding
from textcritic.values import Row

WORTH_NAMING = 0.05
"""The smallest share of a difference for which a single window counts as an explanation."""


UNLIKELY = replace(SHARE, name="Unlikely mentions, %", whole=100)


def unlikely(shares: pd.DataFrame, names: Names) -> tuple[Block, ...]:
    """The shares of unlikely mentions, as `shares.share_rows` makes them, as a scorecard of their own in percent."""
    percents = shares.assign(**{name: 100 * shares[name] for name in (SHARE.value, SHARE.low, SHARE.high)})
    return scorecard({"": scores_of(percents, UNLIKELY, names.source)}, {"": ""})


def findings(blocks: Sequence[Block], ngrams: pd.DataFrame, names: Names) -> tuple[Finding, ...]:
    """The findings, the strongest first.

    Args:
        blocks: of the unlikely mentions, see `unlikely`.
        ngrams: as `ngrams.contribution_rows` makes them.
        names: of the sources.
    """
    points = [_of_window(row, names) for row in ngrams[ngrams["rank"] == 1].to_dict("records")]
    points = [finding for finding in points if finding.says]
    points += [Finding(sentence.about, sentence.says, sentence.strength) for sentence in sentences(blocks)]
    return tuple(sorted(points, key=lambda finding: -finding.strength))


def cause(cell: Cell, blocks: Sequence[Block]) -> str:
    """What is wrong with a sample, a clause: its Latent PPL, and how many of its mentions are unlikely if more are.

    Args:
        cell: its Latent PPL.
        blocks: as `unlikely` makes them.
    """
    source = tuple(getattr(cell.scores[0], key) for key in GROUP)
    for block in blocks:
        (column,) = block.columns
        real = block.real(column)
        for row in block.rows:
            if real is not None and column in row.cells and row.source == source:
                own, of_real = row.cells[column], real.cells[column]
                if own.way == HIGHER and cell.way == HIGHER:
                    shares = f"{_share(own)} of its mentions of people are unlikely, real text {_share(of_real)}"
                    return f"{clause(cell)}; {shares}"
    return clause(cell)


def _share(cell: Cell) -> str:
    """A share that is given in percent."""
    return percent(None if cell.number.value is None else cell.number.value / 100)


def window_in_words(window: Sequence[str]) -> str:
    """What the last token of a window is, in plain words: `“he” for the person of the mention before`."""
    *context, last = (_symbol(token) for token in window)
    if last.person is None:
        return "the start of a sentence"
    what = "a name or noun" if is_label(last) else f"“{last.name}”"
    before = [symbol.person for symbol in context if symbol.person is not None]
    if last.person not in before:
        return f"{what} for a person who is not in sight"
    return f"{what} for {'the person of the mention before' if before[-1] == last.person else 'a person in sight'}"


def _symbol(token: str) -> Symbol:
    """A token of a window as `critics.mentions` writes it: `MALE:0`, `.`, `<bos>`."""
    name, _, label = token.rpartition(":")
    return Symbol(name, int(label)) if name else Symbol(token)


def _of_window(row: Row, names: Names) -> Finding:
    """The window that contributes most to the difference of a sample, and its share of the difference.

    Empty if chance may explain the window, or if the whole sample is not less likely than real text.
    """
    share = row["of_difference"]
    if not row["contribution_low"] > 0 or not share > 0:
        return Finding("", "")
    window = row["window"].split(" ")
    tokens = " ".join(written(_symbol(token)) for token in window if token != BOS)
    what = (
        f"{window_in_words(window)}, in the window “{tokens}”{' at the start of a text' * (BOS in window)} "
        f"({_percent(row['percent'])} of the sample’s windows, {_percent(row['real_percent'])} of those of real text)"
    )
    source = names.source(row)
    if share < WORTH_NAMING:
        says = f"No single window explains the difference of {source} from real text. What adds most to it is {what}:"
        return Finding("", f"{says} {percent(share)} of the difference.")
    return Finding(
        "",
        f"What adds most to the difference of {source} from real text is {what}: {percent(share)} of the difference.",
    )


def _percent(value: float) -> str:
    return percent(value / 100)
