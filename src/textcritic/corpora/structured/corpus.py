"""A corpus of texts with structure, for latent language models: read from files or drawn, split, written, counted."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from textcritic.corpora.splits import random_parts
from textcritic.corpora.structured.texts import Structured, write_structured
from textcritic.errors import TextcriticError
from textcritic.files import write_json
from textcritic.plan.checks.corpora import LINKS, MENTIONS, SPLITS, TREES, given_paths
from textcritic.runlog import log, versions

Read = Callable[[str, Counter[str]], Iterator[Structured]]
"""Reads a file; counts what it leaves out by reason."""
Draw = Callable[[int, int], list[Structured]]
"""Draws so many texts from what is known, by a seed."""

TOO_SHORT = "fewer tokens than `shortest`"
Splits = Mapping[str, Sequence[Structured]]


def build_structured(name: str, entry: Mapping[str, Any], folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Write train.parquet, validation.parquet, test.parquet and statistics.json; of links also the folder knowledge.

    Texts that are drawn come one after the other, train first. Files are split as the entry says: one for each split,
    or a list whose texts are split at random, groups as wholes. The graph of `knowledge` is made from the links of all
    splits, as a model can choose only among entities and edges that are in it.

    Args:
        name: of the corpus.
        entry: `extractor`, `options` and `splits` of the registry, with all defaults.
        folder: of the corpus.

    Returns:
        What statistics.json says: `corpus`, `splits` {split: {`articles`, `tokens`, `longest`, `mentions`}}, `skipped`
        {reason: n}, `provenance`.

    Raises:
        TextcriticError: a file is missing or damaged, two texts have one id, or a split ends up empty.
    """
    skipped: Counter[str] = Counter()
    splits = _drawn(entry) if entry["options"].get("made") else _read(entry, skipped)
    splits = {split: _long_enough(texts, entry["options"]["shortest"], skipped) for split, texts in splits.items()}
    _check(name, splits, skipped)
    place = Path(folder)
    source = "drawn" if entry["options"].get("made") else "files"
    for split, texts in splits.items():
        write_structured(place / f"{split}.parquet", texts, source)
    if entry["extractor"] == LINKS:
        from textcritic.corpora.structured.links import write_knowledge

        write_knowledge([text for texts in splits.values() for text in texts], place / "knowledge")
    statistics = {
        "corpus": name,
        "splits": {split: _counts(texts) for split, texts in splits.items()},
        "skipped": dict(skipped.most_common()),
        "provenance": {"extractor": entry["extractor"], "built_with": versions("textcritic", "numpy")},
    }
    write_json(place / "statistics.json", statistics)
    log.info("%s: %s; left out: %s", name, _sizes(splits), dict(skipped) or "none")
    return statistics


def _drawn(entry: Mapping[str, Any]) -> dict[str, list[Structured]]:
    sizes = entry["options"]["made"]
    texts = _draw_of(entry["extractor"])(sum(sizes[split] for split in SPLITS), sizes["seed"])
    splits, start = {}, 0
    for split in SPLITS:
        splits[split] = texts[start : start + sizes[split]]
        start += sizes[split]
    return splits


def _read(entry: Mapping[str, Any], skipped: Counter[str]) -> dict[str, list[Structured]]:
    read, given = _read_of(entry), given_paths(entry["options"])
    if given[0][0] is not None:
        return {str(split): list(read(str(path), skipped)) for split, path in given}
    texts = [text for _, path in given for text in read(str(path), skipped)]
    shares = entry["splits"]
    sizes = [round(shares[split] * len(texts)) for split in ("validation", "test")]
    parts = random_parts(len(texts), sizes, shares["seed"], [text.group for text in texts])
    return {
        split: [texts[row] for row in rows] for split, rows in zip(SPLITS, (parts[2], parts[0], parts[1]), strict=True)
    }


def _long_enough(texts: Sequence[Structured], shortest: int, skipped: Counter[str]) -> list[Structured]:
    kept = [text for text in texts if len(text.tokens) >= shortest]
    if len(kept) < len(texts):
        skipped[TOO_SHORT] += len(texts) - len(kept)
    return kept


def _check(name: str, splits: Splits, skipped: Mapping[str, int]) -> None:
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


def _sizes(splits: Splits) -> str:
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


def _read_of(entry: Mapping[str, Any]) -> Read:
    options = entry["options"]
    longest = options["longest"]
    if entry["extractor"] == TREES:
        from textcritic.corpora.structured.trees import read_trees

        return read_trees
    if entry["extractor"] == MENTIONS:
        from textcritic.corpora.structured.mentions import EntityTexts, read_mentions

        texts = EntityTexts(
            longest, options["longest_mention"], options["lower"], options["markers"], options.get("folder")
        )
        return lambda path, skipped: read_mentions(path, skipped, texts)
    from textcritic.corpora.structured.links import read_links

    return lambda path, skipped: read_links(path, skipped, longest or sys.maxsize)
