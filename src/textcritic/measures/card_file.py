"""The scores of experiments as files: section.json has them under "card" as numbers, and they are read back here."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from textcritic.errors import TextcriticError
from textcritic.files import finite, read_json
from textcritic.inference import Number
from textcritic.measures.score import Score

KINDS = get_type_hints(Score)


def card_to_json(scores: Sequence[Score]) -> list[dict[str, Any]]:
    """Scores as section.json holds them: infinite values are the text "inf", and the verdict is there for readers."""
    return [finite(_plain(score)) | {"verdict": score.verdict} for score in scores]


def _plain(score: Score) -> dict[str, Any]:
    """Its attributes; numbers without `Number.without` where nothing is known of that."""
    said = asdict(score)
    for number in (said["number"], said["real"]):
        if number is not None and not number["without"]:
            del number["without"]
    return said


def read_card(folder: str | os.PathLike[str]) -> dict[str, tuple[Score, ...]]:
    """The scores of each experiment of a study, in the study's order; none of an experiment that puts none there.

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
    found = {path.parent.name: path for path in sorted(Path(folder).glob("*/section.json"))}
    if Path(folder).is_dir() and not os.access(folder, os.R_OK | os.X_OK):
        raise TextcriticError(f"{folder}: cannot be read: Permission denied")
    if not found:
        raise TextcriticError(
            f"{folder}: no results of a study here; name its folder, or the one that --output named, or build it first"
        )
    manifest = Path(folder) / "manifest.json"
    order = _object(manifest, {"experiments"})["experiments"] if manifest.is_file() else []
    return {name: found[name] for name in order if name in found} or found


def read_facts(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What section.json of an experiment says.

    Raises:
        TextcriticError: the file is missing or is something else.
    """
    return _object(path, {"title", "lines"})


def scores_from_json(facts: Mapping[str, Any], path: str | os.PathLike[str]) -> tuple[Score, ...]:
    """The card of a section.json.

    Args:
        facts: what the file says.
        path: of the file, for the error line.

    Raises:
        TextcriticError: the card is not as `card_to_json` writes it.
    """
    try:
        return tuple(_read_score(said) for said in facts.get("card", ()))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise TextcriticError(f"{path}: no card in it ({error}); delete it and rerun its rule") from error


def _object(path: str | os.PathLike[str], keys: set[str]) -> dict[str, Any]:
    said = read_json(path)
    if not isinstance(said, dict) or not keys <= said.keys():
        raise TextcriticError(f"{path}: lacks {', '.join(sorted(keys))}; delete it and rerun the rule that makes it")
    return said


def _read_score(said: Mapping[str, Any]) -> Score:
    plain = {key: value for key, value in said.items() if key not in {"number", "real", "verdict"}}
    for key, value in plain.items():
        known = KINDS[key]
        kinds = tuple(
            get_origin(kind) or kind for kind in (get_args(known) if isinstance(known, UnionType) else [known])
        )
        if not isinstance(value, (*kinds, int) if float in kinds else kinds):
            raise TypeError(f"{key}: {value!r:.40}")
    real = None if said["real"] is None else _read_number(said["real"])
    return Score(**plain, number=_read_number(said["number"]), real=real)


def _read_number(said: Mapping[str, Any]) -> Number:
    without = tuple(map(float, said.get("without", ())))
    ends = {key: None if value is None else float(value) for key, value in said.items() if key != "without"}
    return Number(**ends, without=without)
