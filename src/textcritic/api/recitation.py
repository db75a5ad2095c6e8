"""`textcritic.recitation`: how much of samples stands word for word in the text that their model was trained on."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from textcritic.api.criticise import labelled
from textcritic.api.declare import takes
from textcritic.api.documents import Documents, Given, texts_of
from textcritic.api.options import RecitationOptions
from textcritic.api.results import REAL, Result, Score
from textcritic.api.scored import facts_of_groups, with_given_groups
from textcritic.critics import rejections
from textcritic.critics.recitation import LENGTHS, MAIN_LENGTH, Cutting, TrainIndex, index_articles, score_texts
from textcritic.critics.recitation.scoring import counts_of, long_enough
from textcritic.critics.scores import groups_of
from textcritic.errors import TextcriticError, named
from textcritic.inference import bootstrap_interval, ratio_of_sums, two_sample_test, unit_sums

BATCH = 4096  # documents of an array


@dataclass(frozen=True, repr=False, kw_only=True)
class RecitationResult(Result):
    """What `recitation` gives; `scores` has the share of 13-grams of real text and of each sample.

    Attributes:
        real: what was found of the real texts, as `to_json` has it.
        samples: likewise of each sample, by label.
    """

    real: Mapping[str, Any]
    samples: Mapping[str, Mapping[str, Any]]

    def to_json(self) -> str:
        """The object that `textcritic recitation` prints."""
        return json.dumps({"real": self.real, "samples": self.samples}, allow_nan=False, ensure_ascii=False)


@takes(RecitationOptions)
def recitation(real: Given, samples: Given, *, options: RecitationOptions) -> RecitationResult:
    """Say how much of samples stands word for word in the training text of their model (McCoy et al. 2023, RAVEN).

    The number is the share of all runs of 13 words that some training text has. Real texts that the model was not
    trained on are the yardstick, as people repeat one another too. Higher: the model recites. Lower: it repeats less
    than people do. What is computed is what the command `textcritic recitation` prints.

    Args:
        real: texts that the model was not trained on, or articles, whose sections are put together, in any form that
            `documents_of` takes.
        samples: what a model wrote, in any of these forms; a dict of them by label; or a list of `Path`s.
        options: see below.

    Raises:
        TextcriticError: bad input, in one line that names the argument and the item; `train` is not given, or a set has
            no text of 13 words.
    """
    if options.train is None:
        raise TextcriticError("train: give the texts that the model was trained on")
    index = index_articles(_batches(texts_of(options.train, "train")), Cutting(options.tokenizer, options.lower_case))
    documents = texts_of(real, "real")
    of_real = _scored(index, documents)
    found = {label: _scored(index, texts_of(given, name)) for label, name, given in labelled(samples)}
    scores = [_score(REAL, of_real, None, documents.name, options)]
    scores += [_score(label, one, of_real, label, options) for label, one in found.items()]
    of_groups = {label: groups_of(long_enough(one, MAIN_LENGTH)) for label, one in ({REAL: of_real} | found).items()}
    said = [_described(one, score) for one, score in zip((of_real, *found.values()), scores, strict=True)]
    words = f"{len(index.ids):,} documents, {int(index.lengths.sum()):,} words, {len(index.words):,} of them distinct"
    return RecitationResult(
        title="How much stands word for word in the training text",
        scores=tuple(scores),
        facts=(
            ("Training text", words),
            ("Interval and test", f"95%; over documents, {options.resamples:,} resamples, seed {options.seed}"),
            *facts_of_groups(of_groups),
        ),
        real=said[0],
        samples=dict(zip(found, said[1:], strict=True)),
    )


def _batches(documents: Documents) -> Iterator[tuple[pa.StringArray, pa.StringArray]]:
    """Ids, which are the numbers of the documents from 0, and texts."""
    every = ("\n".join(parts) for parts in documents.texts())
    first = 0
    for batch in iter(lambda: list(islice(every, BATCH)), []):
        ids = [str(number) for number in range(first, first + len(batch))]
        yield pa.array(ids, pa.string()), pa.array(batch, pa.string())
        first += len(batch)


def _scored(index: TrainIndex, documents: Documents) -> pa.Table:
    groups: list[str | None] = []
    with named(documents.name):
        batches = _batches(documents.noting(groups))
        scores = pa.concat_tables([score_texts(index, ids, texts) for ids, texts in batches])
    return with_given_groups(scores, groups)


def _counts(scores: pa.Table, name: str) -> np.ndarray:
    """(n-grams seen, all) of the documents with so many words: [documents, 2]."""
    counts = counts_of(scores, MAIN_LENGTH).astype(np.float64)
    if not len(counts):
        raise TextcriticError(f"{name}: no text has {MAIN_LENGTH} words; give longer ones")
    return counts


def _score(label: str, scores: pa.Table, real: pa.Table | None, name: str, options: RecitationOptions) -> Score:
    counts, groups = _counts(scores, name), groups_of(long_enough(scores, MAIN_LENGTH))
    units = unit_sums(counts, groups)
    interval = bootstrap_interval(units, ratio_of_sums, options.resamples, seed=options.seed).of_share()
    p = None
    if real is not None:
        pair = groups, groups_of(long_enough(real, MAIN_LENGTH))
        of_real = counts_of(real, MAIN_LENGTH)
        p = two_sample_test(counts, of_real, ratio_of_sums, pair, options.resamples, options.seed).p
    reasons = rejections(scores)
    if short := scores.num_rows - sum(reasons.values()) - len(counts):
        reasons[f"fewer than {MAIN_LENGTH} words"] = short
    values = (interval.estimate, interval.low, interval.high, p, len(counts))
    return Score(label, "recited", *values, sum(reasons.values()), reasons)


def _described(scores: pa.Table, score: Score) -> dict[str, Any]:
    """What is printed of one set."""
    by_length = {n: counts_of(scores, n).sum(axis=0).tolist() for n in LENGTHS}
    longest: Sequence[Mapping[str, Any]] = scores.sort_by([("longest", "descending")]).slice(0, 1).to_pylist()
    passage = {
        "words": longest[0]["longest"],
        "document": int(longest[0]["id"]),
        "begin": longest[0]["begin"],
        "train_document": None if longest[0]["train_id"] is None else int(longest[0]["train_id"]),
        "train_begin": longest[0]["train_begin"],
    }
    return {
        "recited": {"value": score.value, "low": score.low, "high": score.high, "p": score.p},
        "n": score.n,
        "rejected": score.rejected,
        "rejected_by_reason": score.rejected_by_reason,
        "seen": {str(n): seen for n, (seen, _) in by_length.items()},
        "all": {str(n): every for n, (_, every) in by_length.items()},
        "longest": passage,
    }
