"""Recitation in long format: the share of n-grams that occur in the training text, and the longest copied passages."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa

from textcritic.corpora import some_articles
from textcritic.corpora.readers.characters import straight
from textcritic.critics import rejections
from textcritic.critics.recitation.index import tokens_in
from textcritic.critics.recitation.scoring import LENGTHS, MAIN_LENGTH, RECITATION_SCHEMA, counts_of, long_enough
from textcritic.critics.scores import groups_of
from textcritic.experiments.recitation.files import Documents, RecitationFiles
from textcritic.measures.material import Material
from textcritic.measures.measure import Resampling, Scored
from textcritic.measures.own import Declared
from textcritic.measures.own_rows import Measured, measure_of, scored_of
from textcritic.measures.rows import columns_of, completed, estimated, source_rows
from textcritic.measures.scored import RECIPE, source_scores
from textcritic.plan.entries import Recitation
from textcritic.plan.sources import KEYS, RUN
from textcritic.values import Row

MOST_PASSAGES = 5  # of each source
LONGEST_SHOWN, AROUND = 80, 15  # words of a passage that are shown, and words before and after it
GAP = " […] "

COLUMNS = (
    "label", "recited", "ci_low", "ci_high", "p_value", "ngrams", "longest", "longest_median", "documents", "rejected",
    "groups", "rejected_share", "rejected_by_reason", *RECIPE,
)  # fmt: skip
WHOLE = ("ngrams", "longest", "documents", "groups", "rejected", "seeds")
RECITED = measure_of(
    Declared(
        f"Recited {MAIN_LENGTH}-grams",
        unit="%",
        statistic="ratio",
        means=f"runs of {MAIN_LENGTH} words that occur word for word in the training text",
    ),
    "recited",
    section="values",
    whole=100,
    copies=f"of its runs of {MAIN_LENGTH} words occur in the reference",
)
"""The share of a source's n-grams that occur in the training text: sums of (seen, all) over documents."""
OF_LENGTH = replace(RECITED, value="share", p="")
"""The same for another n. It is not tested: the shares of the 13 values of n are nearly the same quantity."""
PASSAGE_COLUMNS = (
    "label", "rank", "article", "words", "begin", "train_article", "train_begin", "before", "passage", "after"
)  # fmt: skip
PASSAGE_TEXT = ("article", "train_article", "before", "passage", "after")


def recitation_rows(material: Material[RecitationFiles]) -> pd.DataFrame:
    """How much of each source occurs in the training text, one row a source.

    Columns: those of `rows.source_rows`; `recited`, percent of its 13-grams that occur in the training text;
    `ngrams`, how many it has; `longest`, words of the longest passage from the training text in any document, and
    `longest_median`, the median over documents; `scored.RECIPE`. Documents with fewer than 13 words count only for
    `longest` and `longest_median`.

    Raises:
        TextcriticError: a file is missing or damaged, or no real document has so many words.
    """
    return completed(source_rows(material, read_source, [RECITED]), COLUMNS, [RECITED], WHOLE)


def length_rows(material: Material[RecitationFiles]) -> pd.DataFrame:
    """The share for each n: one row for each source and n.

    Columns: the keys; `label`; `n`; `share`, percent of the n-grams that occur in the training text, with its 95%
    interval `ci_low`, `ci_high`; `ngrams`, how many there are; `documents` with n words or more.
    """
    rows, resampling = [], Resampling(material.files.resamples)
    for _, sources in material.files.groups():
        for source in sources:
            scores = source_scores(source, RECITATION_SCHEMA.names)
            start = material.start(source)
            for n in LENGTHS:
                counts = counts_of(scores, n).astype(np.float64)
                scored = scored_of(OF_LENGTH, Measured.of_documents(counts, groups_of(long_enough(scores, n))))
                row = {"n": n, "ngrams": int(counts[:, 1].sum()), "documents": len(counts)}
                rows.append(start | row | columns_of(OF_LENGTH, estimated(OF_LENGTH, scored, None, resampling)))
    columns = [*KEYS, "label", "n", "share", "ci_low", "ci_high", "ngrams", "documents"]
    return pd.DataFrame(rows).reindex(columns=columns).astype(dict.fromkeys(RUN, "Int64"))


def passage_rows(material: Material[RecitationFiles]) -> pd.DataFrame:
    """The longest passages that each source has from the training text, of the first seed: one row for each.

    Columns: the keys; `label`; `rank` from 1; `article`, where it was found; `words` of the passage and `begin`, its
    first word there, from 0; `train_article`, one training document that has it too, and `train_begin`, its first word
    there; `passage`, its text, without the middle if it is long; `before` and `after`, some words around it. Each
    passage of a source is from another article and another training document.
    """
    rows = []
    entry = Recitation.read({"kind": "recitation", **material.files.cutting}, "cutting")
    for real in material.files.data:
        for source in material.files.shown(real):
            start = material.start(source, seed=False)
            chosen = _longest(source_scores(source, RECITATION_SCHEMA.names))
            articles = some_articles(source.articles, [score["id"] for score in chosen])
            for rank, score in enumerate(chosen, start=1):
                row = {"rank": rank, "article": score["id"], "words": score["longest"], "begin": score["begin"]}
                row |= {"train_article": score["train_id"], "train_begin": score["train_begin"]}
                rows.append(start | row | quoted(articles[score["id"]].text, score["begin"], score["longest"], entry))
    return pd.DataFrame(rows).reindex(columns=[*KEYS, *PASSAGE_COLUMNS]).astype(dict.fromkeys(RUN, "Int64"))


def read_source(source: Documents, _: Scored | None) -> Scored:
    """One source, see `read_scored`."""
    return read_scored(source_scores(source, RECITATION_SCHEMA.names))


def read_scored(scores: pa.Table) -> Scored:
    """One set of scores: (n-grams seen, all n-grams) of its documents, and its longest passages."""
    counts = counts_of(scores, MAIN_LENGTH).astype(np.float64)
    longest = scores["longest"].drop_null().to_numpy()
    reasons = rejections(scores)
    if short := len(longest) - len(counts):
        reasons[f"fewer than {MAIN_LENGTH} words"] = short
    more: dict[str, object] = {"ngrams": int(counts[:, 1].sum())}
    if len(longest):
        more |= {"longest": int(longest.max()), "longest_median": float(np.median(longest))}
    groups = groups_of(long_enough(scores, MAIN_LENGTH))
    return scored_of(RECITED, Measured.of_documents(counts, groups, reasons), more)


def spans_of(text: str, entry: Recitation) -> list[tuple[int, int]]:
    """The characters (start, end) of each word of a text, in order; between them there is white space alone."""
    tokens = tokens_in(pa.array([text], pa.string()), entry)
    text = straight(text) if entry.straight_quotes else text  # as long as before
    spans, end = [], 0
    for word in tokens.types.take(pa.array(tokens.ids)).to_pylist():
        start = text.index(word, end)
        end = start + len(word)
        spans.append((start, end))
    return spans


def _longest(scores: pa.Table) -> list[Row]:
    """Scores of the documents with the longest passages, each passage from another training document."""
    names = ("id", "longest", "begin", "train_id", "train_begin")
    table = scores.select(names).filter(scores["train_id"].is_valid())
    ranked = table.sort_by([("longest", "descending"), ("id", "ascending")]).to_pylist()
    first: dict[str, Row] = {}
    for score in ranked:
        first.setdefault(score["train_id"], score)
        if len(first) == MOST_PASSAGES:
            break
    return list(first.values())


def quoted(text: str, begin: int, words: int, entry: Recitation) -> dict[str, str]:
    """A passage as it is written, and the words around it."""
    spans, end = spans_of(text, entry), begin + words
    first, last = spans[begin][0], spans[end - 1][1]
    passage = text[first:last]
    if words > LONGEST_SHOWN:
        half = LONGEST_SHOWN // 2
        passage = f"{text[first : spans[begin + half - 1][1]]}{GAP}{text[spans[end - half][0] : last]}"
    before = text[spans[max(begin - AROUND, 0)][0] : first]
    after = text[last : spans[min(end + AROUND, len(spans)) - 1][1]]
    return {"before": before, "passage": passage, "after": after}
