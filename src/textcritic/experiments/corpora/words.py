"""What the terms of corpora mean, and what their splits share, in words."""

import pandas as pd

from textcritic.critics.recitation.scoring import MAIN_LENGTH
from textcritic.measures.labels import corpus_name
from textcritic.measures.numbers import count, percent


def shared_words(corpus: str, shared: pd.DataFrame) -> list[str]:
    """What the test split of a corpus shares with its train split, in words; nothing without text.

    Args:
        corpus: its name.
        shared: as `rows.shared_rows` makes them.
    """
    rows = shared[(shared["corpus"] == corpus) & (shared["split"] == "test")].set_index("metric")
    grams, half, copies = (rows.loc[name] for name in (f"ngrams_{MAIN_LENGTH}", "more_than_half", "copies"))
    if not grams["all"]:
        return []
    of_grams, of_halves = (percent(row["value"] / row["all"]) for row in (grams, half))
    copied = int(copies["value"])
    exact = f"{count(copied)} {'is' if copied == 1 else 'are'}" if copied else "none is"
    return [
        f"{corpus_name(corpus)}: of the runs of {MAIN_LENGTH} words of the test documents, {of_grams} occur word for "
        f"word in the training documents too. {of_halves} of the test documents share more than half of theirs; "
        f"{exact} an exact copy."
    ]
