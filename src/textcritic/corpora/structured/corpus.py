"""A corpus of texts with structure, for latent language models: read from files or drawn, split, written, counted."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path

from textcritic.corpora.splits import random_parts
from textcritic.corpora.structured.texts import Structured, write_structured
from textcritic.errors import TextcriticError
from textcritic.files import write_json
from textcritic.plan.checks.corpora import LINKS, MENTIONS, SPLITS, TREES, given_paths
from textcritic.plan.entries.corpora import Corpus
from textcritic.plan.entries.extraction import MadeTexts
from textcritic.runlog import log, versions
from textcritic.values import JsonObject

Read = Callable[[str, Counter[str]], Iterator[Structured]]
"""Reads a file; counts what it leaves out by reason."""
Draw = Callable[[int, int], list[Structured]]
"""Draws so many texts from what is known, by a seed."""

TOO_SHORT = "fewer tokens than `shortest`"
Parts = Mapping[str, Sequence[Structured]]


def build_structured(name: str, entry: Corpus, folder: str | os.PathLike[str]) -> JsonObject:
    """Write train.parquet, validation.parquet, test.parquet and statistics.json; of links also the folder knowledge.

    Texts that are drawn come one after the other, train first. Files are split as the entry says: one for each split,
    or a list whose texts are split at random, groups as wholes. The graph of `knowledge` is made from the links of all
    splits, as a model can choose only among entities and edges that are in it.

    Args:
        name: of the corpus.
        entry: whose `extractor`, `options` and `splits` are read.
        folder: of the corpus.

    Returns:
        What statistics.json says: `corpus`, `splits` {split: {`articles`, `tokens`, `longest`, `mentions`}}, `skipped`
        {reason: n}, `provenance`.

    Raises:
        TextcriticError: a file is missing or damaged, two texts have one id, or a split ends up empty.
    """
    skipped: Counter[str] = Counter()
    made = entry.options.made
    splits = _drawn(entry.extractor, made) if made else _read(entry, skipped)
    splits = {split: _long_enough(texts, entry.options.shortest, skipped) for split, texts in splits.items()}
    _check(name, splits, skipped)
    place = Path(folder)
    source = "drawn" if made else "files"
    for split, texts in splits.items():
        write_structured(place / f"{split}.parquet", texts, source)
    if entry.extractor == LINKS:
        from textcritic.corpora.structured.links import write_knowledge

        write_knowledge([text for texts in splits.values() for text in texts], place / "knowledge")
    statistics = {
        "corpus": name,
        "splits": {split: _counts(texts) for split, texts in splits.items()},
        "skipped": dict(skipped.most_common()),
        "provenance": {"extractor": entry.extractor, "built_with": versions("textcritic", "numpy")},
    }
    write_json(place / "statistics.json", statistics)
    log.info("%s: %s; left out: %s", name, _sizes(splits), dict(skipped) or "none")
    return statistics


def _drawn(extractor: str, sizes: MadeTexts) -> dict[str, list[Structured]]:
    ends = list(accumulate((sizes.train, sizes.validation, sizes.test), initial=0))
    texts = _draw_of(extractor)(ends[-1], sizes.seed)
    return {split: texts[start:end] for split, (start, end) in zip(SPLITS, pairwise(ends), strict=True)}


def _read(entry: Corpus, skipped: Counter[str]) -> dict[str, list[Structured]]:
    read, given = _read_of(entry), given_paths(entry.options)
    if given[0][0] is not None:
        return {str(split): list(read(str(path), skipped)) for split, path in given}
    texts = [text for _, path in given for text in read(str(path), skipped)]
    sizes = [round(share * len(texts)) for share in (entry.splits.validation, entry.splits.test)]
    parts = random_parts(len(texts), sizes, entry.splits.seed, [text.group for text in texts])
    return {
        split: [texts[row] for row in rows] for split, rows in zip(SPLITS, (parts[2], parts[0], parts[1]), strict=True)
    }


def _long_enough(texts: Sequence[Structured], shortest: int, skipped: Counter[str]) -> list[Structured]:
    kept = [text for text in texts if len(text.tokens) >= shortest]
    if len(kept) < len(texts):
        skipped[TOO_SHORT] += len(texts) - len(kept)
    return kept


def _check(name: str, splits: Parts, skipped: Mapping[str, int]) -> None:
    for split, texts in splits.items():
        if not texts:
            why = f"; left out: {dict(skipped)}" if skipped else ""
            raise TextcriticError(f"{name}: no text is left for {split}{why}; give more texts, or a larger share")
    seen: set[str] = set()
    for text in (text for texts in splits.values() for text in texts):
        if text.id in seen:
            raise TextcriticError(f"{name}: two texts have the id {text.id!r}; give each file once")
        seen.add(text.id)


def _counts(texts: Sequence[Structured]) -> dict[str, int]:
    lengths = [len(text.tokens) for text in texts]
    mentions = sum(len(text.mentions) for text in texts)
    return {"articles": len(texts), "tokens": sum(lengths), "longest": max(lengths), "mentions": mentions}


def _sizes(splits: Parts) -> str:
    return ", ".join(f"{split} {len(texts):,}" for split, texts in splits.items())


def _draw_of(extractor: str) -> Draw:
    """What draws texts for an extractor; imported here, as each needs much that the others do not."""
    if extractor == TREES:
        from textcritic.corpora.synthetic.grammar import draw_trees

        return draw_trees
    if extractor == MENTIONS:
        from textcritic.corpora.synthetic.entities import draw_entity_texts

        return draw_entity_texts
    from textcritic.corpora.synthetic.links import draw_linked_texts

    return draw_linked_texts


def _read_of(entry: Corpus) -> Read:
    if entry.extractor == TREES:
        from textcritic.corpora.structured.trees import read_trees

        return read_trees
    if entry.extractor == MENTIONS:
        from textcritic.corpora.structured.mentions import read_mentions

        return lambda path, skipped: read_mentions(path, skipped, entry.options)
    from textcritic.corpora.structured.links import read_links

    return lambda path, skipped: read_links(path, skipped, entry.options.longest or sys.maxsize)
