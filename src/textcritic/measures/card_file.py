"""The scores of experiments as files: section.json has them under "card" as numbers, and they are read back here."""

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import UnionType
from typing import get_args, get_origin, get_type_hints

from textcritic.errors import TextcriticError
from textcritic.files import finite, lacking, read_json
from textcritic.inference import Number
from textcritic.measures.score import Score
from textcritic.values import JsonObject

KINDS = get_type_hints(Score)


def card_to_json(scores: Sequence[Score]) -> list[JsonObject]:
    """Scores as section.json holds them: infinite values are the text "inf", and the verdict is there for readers."""
    return [finite(_plain(score)) | {"verdict": score.verdict} for score in scores]


def _plain(score: Score) -> JsonObject:
    """The attributes of a score; a number whose `Number.without` is empty is written without that key."""
    payload = asdict(score)
    for number in (payload["number"], payload["real"]):
        if number is not None and not number["without"]:
            del number["without"]
    return payload


def read_card(folder: str | os.PathLike[str]) -> dict[str, tuple[Score, ...]]:
    """The scores of each experiment of a study, in the study's order; empty for an experiment without scores.

    Args:
        folder: `results/studies/{study}`.

    Raises:
        TextcriticError: the study has not been built, or a file is damaged.
    """
    return {name: scores_from_json(read_facts(path), path) for name, path in sections_of(folder).items()}


def sections_of(folder: str | os.PathLike[str]) -> dict[str, Path]:
    """section.json of each experiment of a study by its name, in the study's order as its manifest has it.

    Args:
        folder: `results/studies/{study}`.

    Raises:
        TextcriticError: the study has not been built, or its manifest is damaged.
    """
    sections = {path.parent.name: path for path in sorted(Path(folder).glob("*/section.json"))}
    if Path(folder).is_dir() and not os.access(folder, os.R_OK | os.X_OK):
        raise TextcriticError(f"{folder}: cannot be read: Permission denied")
    if not sections:
        raise TextcriticError(
            f"{folder}: no results of a study here; name its folder, or the one that --output named, or build it first"
        )
    manifest = Path(folder) / "manifest.json"
    order = _object(manifest, {"experiments"})["experiments"] if manifest.is_file() else []
    return {name: sections[name] for name in order if name in sections} or sections


def read_facts(path: str | os.PathLike[str]) -> JsonObject:
    """The content of section.json of an experiment.

    Raises:
        TextcriticError: the file is missing or is something else.
    """
    return _object(path, {"title", "lines"})


def scores_from_json(facts: JsonObject, path: str | os.PathLike[str]) -> tuple[Score, ...]:
    """The card of a section.json.

    Args:
        facts: what the file says.
        path: of the file, for the error line.

    Raises:
        TextcriticError: the card is not as `card_to_json` writes it.
    """
    with lacking(path, "card"):
        return tuple(_read_score(payload) for payload in facts.get("card", ()))


def _object(path: str | os.PathLike[str], keys: set[str]) -> JsonObject:
    payload = read_json(path)
    if not isinstance(payload, dict) or not keys <= payload.keys():
        raise TextcriticError(f"{path}: lacks {', '.join(sorted(keys))}; delete it and rerun the rule that makes it")
    return payload


def _read_score(payload: JsonObject) -> Score:
    plain = {key: value for key, value in payload.items() if key not in {"number", "real", "verdict"}}
    for key, value in plain.items():
        hint = KINDS[key]
        kinds = tuple(get_origin(kind) or kind for kind in (get_args(hint) if isinstance(hint, UnionType) else [hint]))
        if not isinstance(value, (*kinds, int) if float in kinds else kinds):
            raise TypeError(f"{key}: {value!r:.40}")
    real = None if payload["real"] is None else _read_number(payload["real"])
    return Score(**plain, number=_read_number(payload["number"]), real=real)


def _read_number(payload: JsonObject) -> Number:
    without = tuple(map(float, payload.get("without", ())))
    ends = {key: None if value is None else float(value) for key, value in payload.items() if key != "without"}
    return Number(**ends, without=without)
