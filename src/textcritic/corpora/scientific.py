"""PubMed and arXiv articles in the JSON-lines format of Cohan et al. 2018 (NAACL, arXiv 1804.05685)."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from textcritic.corpora.articles import Article, Section
from textcritic.corpora.jsonl import json_lines
from textcritic.corpora.layout import clean_text
from textcritic.errors import TextcriticError

UNEVEN = "section_names and sections differ in length"


def read_scientific(
    path: str | os.PathLike[str], keep_abstract: bool = False, skipped: Counter[str] | None = None
) -> Iterator[Article]:
    """Stream the articles of one split: sections are lists of sentences, joined by spaces, under `section_names`.

    Args:
        path: `train.txt`, `val.txt` or `test.txt` as published, plain or gzipped.
        keep_abstract: put the abstract first, as a section `abstract`; the paper counts the body's sections only.
        skipped: counts records with unequal numbers of names and sections, which are left out.

    Raises:
        TextcriticError: a line is not JSON or lacks a key, naming file and line.
    """
    skipped = Counter() if skipped is None else skipped
    for number, record in json_lines(path):
        where = f"{path}:{number}"
        names, sections = _strings(record, "section_names", where), _sentences(record, where)
        if len(names) != len(sections):
            skipped[UNEVEN] += 1
            continue
        body = tuple(Section(name, _joined(text)) for name, text in zip(names, sections, strict=True))
        if keep_abstract:
            body = (Section("abstract", _joined(_strings(record, "abstract_text", where))), *body)
        identifier = record.get("article_id")
        if not isinstance(identifier, str):
            raise TextcriticError(f"{where}: `article_id` is missing or not a string; give the file as published")
        yield Article(identifier, None, body, Path(path).name)


def _joined(sentences: list[str]) -> str:
    return clean_text(" ".join(text for s in sentences if (text := s.removeprefix("<S>").removesuffix("</S>").strip())))


def _strings(record: Any, key: str, where: str) -> list[str]:
    value = record.get(key) if isinstance(record, dict) else None
    if not _is_strings(value):
        raise TextcriticError(f"{where}: `{key}` is missing or not a list of strings; give the file as published")
    return value  # type: ignore[return-value]


def _sentences(record: Any, where: str) -> list[list[str]]:
    value = record.get("sections") if isinstance(record, dict) else None
    if not (isinstance(value, list) and all(_is_strings(section) for section in value)):
        raise TextcriticError(
            f"{where}: `sections` is missing or not a list of lists of strings; give the file as published"
        )
    return value


def _is_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
