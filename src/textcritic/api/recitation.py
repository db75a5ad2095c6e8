"""`textcritic.recitation`: how much of samples is in the text that their model was trained on, word for word."""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from textcritic.api.declare import takes
from textcritic.api.documents import Documents, Given, texts_of
from textcritic.api.options import RecitationOptions
from textcritic.api.scored import Described, as_share, facts_of_groups, resampling, with_given_groups
from textcritic.api.sets import labelled
from textcritic.batches import batched
from textcritic.critics.recitation import LENGTHS, MAIN_LENGTH, TrainIndex, index_articles, score_texts
from textcritic.critics.recitation.scoring import counts_of
from textcritic.errors import TextcriticError, named
from textcritic.experiments.recitation.rows import RECITED, read_scored
from textcritic.measures.measure import Scored
from textcritic.measures.memory import REAL, scores_of_sets
from textcritic.measures.score import Score
from textcritic.plan.entries import Recitation
from textcritic.values import JsonObject, Row

BATCH = 4096  # documents of an array


class RecitationResult(Described):
    """What `recitation` gives; `scores` has the share of 13-grams of real text and of each sample."""


@takes(RecitationOptions)
def recitation(real: Given, samples: Given, *, options: RecitationOptions) -> RecitationResult:
    """Measure how much of samples is in the training text of their model, word for word (McCoy et al. 2023, RAVEN).

    The number is the share of all runs of 13 words that some training text has. Samples are compared with real texts
    that the model was not trained on, because people repeat one another too. Higher: the model recites. Lower: it
    repeats less than people do. The command `textcritic recitation` prints the same numbers.

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
    documents = texts_of(real, "real", options.reading).cut_by(options.words)
    entry = Recitation(
        kind="recitation",
        tokenizer=options.tokenizer,
        lower_case=options.lower_case,
        straight_quotes=True,
        words=documents.words,
    )
    index = index_articles(_batches(texts_of(options.train, "train", options.reading)), entry)
    of_real = _scored(index, documents)
    drawn = {
        label: texts_of(given, name, options.reading).cut_by(options.words, documents.words)
        for label, name, given in labelled(samples)
    }
    found = {label: _scored(index, sample) for label, sample in drawn.items()}
    every = {REAL: of_real} | found
    read = {label: _read(one, documents.name if label == REAL else label) for label, one in every.items()}
    scores = scores_of_sets(read, [RECITED], resampling(options))
    described = [_described(one, score) for one, score in zip(every.values(), scores, strict=True)]
    words = f"{len(index.ids):,} documents, {int(index.lengths.sum()):,} words, {len(index.words):,} of them distinct"
    return RecitationResult(
        title="How much is in the training text, word for word",
        scores=scores,
        facts=(
            ("Training text", words),
            ("Interval and test", f"95%; over documents, {options.resamples:,} resamples, seed {options.seed}"),
            *facts_of_groups({label: one.groups for label, one in read.items()}),
        ),
        real=described[0],
        samples=dict(zip(found, described[1:], strict=True)),
    )


def _batches(documents: Documents) -> Iterator[tuple[pa.StringArray, pa.StringArray]]:
    """Ids, which are the numbers of the documents from 0, and texts."""
    every = ("\n".join(parts) for parts in documents.texts())
    first = 0
    for batch in batched(every, BATCH):
        ids = [str(number) for number in range(first, first + len(batch))]
        yield pa.array(ids, pa.string()), pa.array(batch, pa.string())
        first += len(batch)


def _scored(index: TrainIndex, documents: Documents) -> pa.Table:
    groups: list[str | None] = []
    with named(documents.name):
        batches = _batches(documents.noting(groups))
        scores = pa.concat_tables([score_texts(index, ids, texts) for ids, texts in batches])
    return with_given_groups(scores, groups)


def _read(scores: pa.Table, name: str) -> Scored:
    """What the scores of a set say.

    Raises:
        TextcriticError: no text is long enough; the line begins with the name.
    """
    read = read_scored(scores)
    if not read.documents:
        raise TextcriticError(f"{name}: no text has {MAIN_LENGTH} words; give longer ones")
    return read


def _described(scores: pa.Table, score: Score) -> JsonObject:
    """What is printed of one set."""
    by_length = {n: counts_of(scores, n).sum(axis=0).tolist() for n in LENGTHS}
    longest: Sequence[Row] = scores.sort_by([("longest", "descending")]).slice(0, 1).to_pylist()
    passage = {
        "words": longest[0]["longest"],
        "document": int(longest[0]["id"]),
        "begin": longest[0]["begin"],
        "train_document": None if longest[0]["train_id"] is None else int(longest[0]["train_id"]),
        "train_begin": longest[0]["train_begin"],
    }
    return {
        "recited": {name: as_share(getattr(score, name)) for name in ("value", "low", "high")}
        | {"p": score.p, "reason": score.because or None},
        "n": score.n,
        "rejected": score.rejected,
        "rejected_by_reason": dict(score.rejected_by_reason),
        "seen": {str(n): seen for n, (seen, _) in by_length.items()},
        "all": {str(n): every for n, (_, every) in by_length.items()},
        "longest": passage,
    }
