"""The published documents with intruders, official_wikipedia.jsonl and official_cnn.jsonl (Shen et al. 2021).

We have never seen these files: the authors' repository names them, and our copy of it is without them. We
know their README, and the probe files, which have the same keys. So the keys are read as the README says, every line is
checked, and the number of documents is compared with the paper's.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from textcritic.corpora.intruders.build import IN_TWO_SPLITS, describe, without_shared_texts
from textcritic.corpora.intruders.documents import Document, write_documents
from textcritic.corpora.intruders.sentences import PUNKT, splitter_of
from textcritic.corpora.readers.jsonl import json_lines
from textcritic.corpora.splits import random_parts
from textcritic.errors import TextcriticError
from textcritic.files import write_json
from textcritic.plan.entries.corpora import Corpus
from textcritic.runlog import log, versions
from textcritic.values import JsonObject

COUNTS = {"official_wikipedia.jsonl": 106_352, "official_cnn.jsonl": 72_670}
"""How many documents each file has by Table 1 of the paper."""
KEYS = ("file_id", "ctx", "to_be_replaced", "replace_with", "sen_position", "train")
COHERENT = -1
"""What `sen_position` is where no sentence was replaced."""

# Reasons why a line is no document.
ABSENT = "neither to_be_replaced nor replace_with stands in ctx"
ELSEWHERE = "the sentence is at another place when ctx is cut"
TOO_SHORT = "one sentence"


def build_official(
    name: str, official: str | os.PathLike[str], entry: Corpus, folder: str | os.PathLike[str]
) -> JsonObject:
    """Write train.parquet, validation.parquet, test.parquet and statistics.json of a published file.

    `train` says of each document whether it is for training; a random part of these is the validation split. As the
    README has it, `ctx` is the text before anything was replaced, and `replace_with` takes the place of
    `to_be_replaced`. In some probe files `ctx` has the intruder already; so where `to_be_replaced` is not in it and
    `replace_with` is, it is taken unchanged. The other sentences are cut by Punkt, which the probe files agree with.
    A document whose sentence is then not at `sen_position` is left out and counted. So is a training document whose
    text is in a later split too (`build.without_shared_texts`). Which document an intruder came from is not known.

    Args:
        name: of the corpus.
        official: the published file.
        entry: of the corpus; the share `splits.validation` and the seed are read.
        folder: of the corpus.

    Returns:
        What statistics.json says, see `build.build_intruders`; `left_out` is of all splits together, `all`.

    Raises:
        TextcriticError: the file is missing or not JSON lines, a key is missing or of another type, an id occurs twice,
            a split is empty, or a file that is called as the published one has not as many documents as the paper says.
    """
    path = Path(official)
    left_out: Counter[str] = Counter()
    loaded = list(read_official(path, left_out))
    _check_count(path, len(loaded) + left_out.total())
    trained = [document for document, train in loaded if train]
    size = round(entry.splits.validation * len(trained))
    validation, train = random_parts(len(trained), [size], entry.options.intruders.seed)
    every = {
        "train": [trained[row] for row in train],
        "validation": [trained[row] for row in validation],
        "test": [document for document, train in loaded if not train],
    }
    splits = without_shared_texts(every)
    left_out[IN_TWO_SPLITS] = sum(map(len, every.values())) - sum(map(len, splits.values()))
    left_out += Counter()  # without what there is none of
    for split, documents in splits.items():
        if not documents:
            raise TextcriticError(f"{path}: no document is left for {split}; left out: {dict(left_out) or 'none'}")
        write_documents(Path(folder) / f"{split}.parquet", documents, path.name)
    statistics = {
        "corpus": name,
        "splits": {split: describe(documents) for split, documents in splits.items()},
        "all": describe([document for documents in splits.values() for document in documents]),
        "left_out": {"all": dict(left_out.most_common())},
        "provenance": {"official": path.name, "built_with": versions("textcritic", "nltk")},
    }
    write_json(Path(folder) / "statistics.json", statistics)
    log.info("%s: %s documents; left out: %s", name, f"{sum(map(len, splits.values())):,}", dict(left_out) or "none")
    return statistics


def read_official(path: Path, left_out: Counter[str]) -> Iterator[tuple[Document, bool]]:
    """Each document of a published file, and whether it is for training; see `build_official`."""
    split, seen = splitter_of(PUNKT), dict[str, int]()
    for line, value in json_lines(path):
        where = f"{path}:{line}"
        item = _checked(value, where)
        document = str(item["file_id"])
        if document in seen:
            raise TextcriticError(
                f"{where}: file_id {document!r} is in line {seen[document]} too; ids should be unique"
            )
        seen[document] = line
        position = _whole(item["sen_position"], "sen_position", where)
        train = _whole(item["train"], "train", where) == 1
        if position == COHERENT:
            before, after = item["ctx"], ""
        elif position < 1:
            raise TextcriticError(
                f"{where}: sen_position: {position} should be -1, or 1 or more: the opening sentence stays"
            )
        else:
            parts = _around(item)
            if parts is None:
                left_out[ABSENT] += 1
                continue
            before, after = parts
        own = [] if position == COHERENT else [item["replace_with"]]
        first = split(before)
        sentences = tuple(" ".join(sentence.split()) for sentence in (*first, *own, *split(after)))
        if len(sentences) < 2:
            left_out[TOO_SHORT] += 1
        elif own and len(first) != position:
            left_out[ELSEWHERE] += 1
        else:
            replaced = item["to_be_replaced"] if own else None
            yield Document(document, sentences, position if own else None, replaced=replaced, group=document), train


def _around(item: Mapping[str, str]) -> tuple[str, str] | None:
    """The text before and behind the sentence that was, or is to be, replaced; None where there is none."""
    for sentence in (item["to_be_replaced"], item["replace_with"]):
        before, found, after = item["ctx"].partition(sentence)
        if sentence and found:
            return before, after
    return None


def _checked(value: object, where: str) -> JsonObject:
    if not isinstance(value, dict):
        raise TextcriticError(f"{where}: should be an object with the keys {', '.join(KEYS)}")
    for key in KEYS:
        if key not in value:
            raise TextcriticError(f"{where}: the key '{key}' is missing; the README of the data has {', '.join(KEYS)}")
    position = value["sen_position"]
    for key in ("ctx",) if str(position) == str(COHERENT) else ("ctx", "to_be_replaced", "replace_with"):
        if not isinstance(value[key], str) or not value[key].strip():
            raise TextcriticError(f"{where}: {key}: {value[key]!r} should be text")
    if not isinstance(value["file_id"], int | str) or isinstance(value["file_id"], bool):
        raise TextcriticError(f"{where}: file_id: {value['file_id']!r} should be a number or text")
    return value


def _whole(value: object, key: str, where: str) -> int:
    """A whole number, which some files have as text."""
    try:
        return int(str(value))
    except ValueError as error:
        raise TextcriticError(f"{where}: {key}: {value!r} should be a whole number") from error


def _check_count(path: Path, documents: int) -> None:
    wanted = COUNTS.get(path.name)
    if wanted is None:
        log.warning("%s: is not called %s, so that its count is not checked", path, " or ".join(COUNTS))
    elif documents != wanted:
        raise TextcriticError(
            f"{path}: has {documents:,} documents, and {wanted:,} by Table 1 of the paper; fetch it again, or give it"
            " another name if it is a part"
        )
