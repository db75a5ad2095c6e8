"""A synthetic process as a corpus: its sequences as articles, a section for each sub-sequence, and their numbers."""

import os
from collections.abc import Iterator, Mapping
from itertools import accumulate

import numpy as np
import pyarrow as pa

from textcritic.corpora.articles import ARTICLE_SCHEMA, ROWS_PER_GROUP, write_batches
from textcritic.corpora.synthetic.process import Floats, Ints, Process
from textcritic.files import write_json
from textcritic.inference import bootstrap_interval, exp_ratio_of_sums
from textcritic.plan.checks.corpora import SPLITS
from textcritic.plan.entries.extraction import ProcessOptions
from textcritic.runlog import log
from textcritic.values import JsonObject


def write_process_corpus(recipe: ProcessOptions, paths: Mapping[str, str | os.PathLike[str]]) -> JsonObject:
    """Draw a process and sequences of it, and write both; the seed of the recipe decides everything.

    An article is a sequence. It has a section for each sub-sequence, whose title is the name of the state (`"17"`) and
    whose text is the letters; a language model sees a delimiter after each, see `generators.symbols`. Splits are taken
    by position: train first, then validation, then test, as in the released code.

    Args:
        recipe: of the process and its sequences.
        paths: files to write: train, validation, test (Parquet in the corpus schema), process (npz) and statistics
            (JSON, see `process_statistics`).

    Returns:
        The content of `paths["statistics"]`.

    Raises:
        TextcriticError: as `Process.draw`.
    """
    process = Process.draw(recipe)
    *stops, total = accumulate((recipe.train, recipe.validation, recipe.test))
    states, emitted = process.sample(total, recipe.seed)
    parts = dict(zip(SPLITS, zip(np.split(states, stops), np.split(emitted, stops), strict=True), strict=True))
    of_process = {key: value for key, value in recipe.plain().items() if key not in SPLITS}
    statistics = {**process_statistics(process, parts), "recipe": of_process}
    for split, (split_states, split_emitted) in parts.items():
        log.info("writing %s: %s sequences", split, f"{len(split_states):,}")
        write_batches(paths[split], _batches(process, split, split_states, split_emitted), ARTICLE_SCHEMA)
    process.save(paths["process"])
    write_json(paths["statistics"], statistics)
    return statistics


def process_statistics(process: Process, parts: Mapping[str, tuple[Ints, Ints]]) -> JsonObject:
    """Sizes of a process and its sequences, and what they measure.

    Args:
        process: the process.
        parts: states [N, M] and sub-sequences [N, M] of each split.

    Returns:
        `states`, `steps`, `subsequences` (how many there are); by split `articles` and `tokens` (letters and
        delimiters, no end of text); `sequence_tokens` of all splits: `mean`, `shortest`, `longest`; `latent_ppl` and
        `word_ppl`: `exact`, and of the `n` sequences of test `test` with `ci95` (document bootstrap), the former with
        `as_released`, see `Process.latent_ppl`; `train_subsequences`, how many sub-sequences occur in train;
        `unseen_in_test`, those of test that never occur in train: `types` and `occurrences`.
    """
    tokens = {split: process.lengths[emitted].sum(axis=1) for split, (_, emitted) in parts.items()}
    every = np.concatenate(list(tokens.values()))
    state_nll, emission_nll = (nats.sum(axis=1) for nats in process.nll(*parts["test"]))
    steps = np.full(len(state_nll), process.steps)
    in_train, in_test = (np.bincount(parts[split][1].ravel(), minlength=len(process.owner)) for split in SPLITS[::2])
    unseen = (in_train == 0) & (in_test > 0)
    return {
        "states": len(process.transition),
        "steps": process.steps,
        "subsequences": len(process.subsequences),
        "articles": {split: len(lengths) for split, lengths in tokens.items()},
        "tokens": {split: int(lengths.sum()) for split, lengths in tokens.items()},
        "sequence_tokens": {"mean": float(every.mean()), "shortest": int(every.min()), "longest": int(every.max())},
        "latent_ppl": {
            "exact": process.latent_ppl(),
            "as_released": process.latent_ppl(as_released=True),
            **_measured(state_nll, steps),
        },
        "word_ppl": {"exact": process.word_ppl(), **_measured(state_nll + emission_nll, tokens["test"])},
        "train_subsequences": int((in_train > 0).sum()),
        "unseen_in_test": {"types": int(unseen.sum()), "occurrences": int(in_test[unseen].sum())},
    }


def _measured(nats: Floats, units: Ints) -> JsonObject:
    interval = bootstrap_interval(np.stack([nats, units], axis=1), exp_ratio_of_sums)
    return {"test": interval.estimate, "ci95": [interval.low, interval.high], "n": len(nats)}


def _batches(process: Process, split: str, states: Ints, emitted: Ints) -> Iterator[pa.RecordBatch]:
    """The articles of a split, made as arrays, without a Python object for each section."""
    names = pa.array(map(str, range(len(process.transition))), pa.string())
    texts = pa.array(process.subsequences, pa.string())
    sections_type = ARTICLE_SCHEMA.field("sections").type
    for first in range(0, len(states), ROWS_PER_GROUP):
        rows = np.arange(first, min(first + ROWS_PER_GROUP, len(states)))
        sections = pa.StructArray.from_arrays(
            [names.take(pa.array(states[rows].ravel())), texts.take(pa.array(emitted[rows].ravel()))],
            fields=list(sections_type.value_type),
        )
        offsets = np.arange(len(rows) + 1, dtype=np.int32) * process.steps
        columns = [
            pa.array([f"{split}-{row}" for row in rows]),
            pa.nulls(len(rows), pa.string()),
            pa.ListArray.from_arrays(pa.array(offsets), sections, type=sections_type),
            pa.array(np.full(len(rows), "process", object), pa.string()),
            pa.nulls(len(rows), pa.string()),
        ]
        yield pa.record_batch(columns, schema=ARTICLE_SCHEMA)
