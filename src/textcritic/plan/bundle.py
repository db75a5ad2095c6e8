"""Which files a table, a figure or a section is made of, as typed dataclasses that travel to jobs as text."""

import json
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Self, Union, get_args, get_origin, get_type_hints

from textcritic.errors import TextcriticError
from textcritic.values import JsonObject


class Files:
    """Base of frozen dataclasses whose leaves of type `Path` are the files that a job reads.

    Fields may be text, numbers, truth values, paths, mappings of JSON values, other `Files`, tuples of these, or None.
    """

    __slots__ = ()

    def paths(self) -> list[str]:
        """Its files, each once, in the order of the fields: a rule's `input`."""
        return list(dict.fromkeys(str(path) for path in _paths(self)))

    def to_json(self) -> str:
        """One canonical string, the same for what is equal."""
        return json.dumps(_plain(self), sort_keys=True, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The inverse of `to_json`."""
        made: Self = _typed(cls, json.loads(text))
        return made

    def require(self) -> None:
        """See that all files are there.

        Raises:
            TextcriticError: one is not; the line names it.
        """
        for path in self.paths():
            if not Path(path).exists():
                raise TextcriticError(f"{path}: no such file; run the rule that makes it")


@dataclass(frozen=True, slots=True)
class Nothing(Files):
    """What a table of published values alone is made of: all else that it compares is missing."""


def split_request(payload: JsonObject) -> dict[str, str]:
    """What a job is told, as several canonical texts: the `params` of its rule.

    Snakemake prints the whole text of each one that has changed, so what is often changed is in a short one of its own:
    `labels` (by registry, those of generators out of the files) and `settings` (numbers). The others are `files` and,
    for all else, `job`.
    """
    generators: dict[str, str] = {}
    files = _without_labels(payload["files"], generators)
    settings = {key: value for key, value in files.items() if not isinstance(value, (dict, list, str))}
    parts = {
        "job": {key: value for key, value in payload.items() if key not in ("files", "labels")},
        "labels": {**payload["labels"], "generators": generators},
        "settings": settings,
        "files": {key: value for key, value in files.items() if key not in settings},
    }
    return {name: json.dumps(part, sort_keys=True, ensure_ascii=False) for name, part in parts.items()}


def join_request(texts: Mapping[str, str]) -> JsonObject:
    """The inverse of `split_request`."""
    job, labels, settings, files = (json.loads(texts[name]) for name in ("job", "labels", "settings", "files"))
    generators = labels.pop("generators")
    return {**job, "labels": labels, "files": _with_labels({**files, **settings}, generators)}


def _without_labels(value: object, labels: dict[str, str]) -> Any:
    """A JSON value with None for the label of each generator that is put into `labels`."""
    if isinstance(value, list):
        return [_without_labels(item, labels) for item in value]
    if not isinstance(value, dict):
        return value
    made = {key: _without_labels(item, labels) for key, item in value.items()}
    label, generator = made.get("label"), made.get("generator")
    if label and generator and labels.setdefault(generator, label) == label:
        made["label"] = None
    return made


def _with_labels(value: object, labels: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_with_labels(item, labels) for item in value]
    if not isinstance(value, dict):
        return value
    made = {key: _with_labels(item, labels) for key, item in value.items()}
    if "label" in made and made["label"] is None:
        made["label"] = labels.get(made.get("generator", ""))
    return made


def _paths(value: object) -> Iterator[Path]:
    if isinstance(value, Path):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from _paths(getattr(value, field.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from _paths(item)


def _plain(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _typed(kind: Any, value: Any) -> Any:
    """A JSON value as the annotation of its field says."""
    if get_origin(kind) in (Union, types.UnionType):
        (kind,) = (choice for choice in get_args(kind) if choice is not type(None)) if value is not None else (None,)
    if value is None or kind is Any or get_origin(kind) is Mapping or get_origin(kind) is dict:
        return value
    if get_origin(kind) is tuple:
        items = get_args(kind)
        kinds = items[:1] * len(value) if items[-1] is Ellipsis else items
        return tuple(_typed(item_kind, item) for item_kind, item in zip(kinds, value, strict=True))
    if is_dataclass(kind):
        hints = _hints_of(kind)
        return kind(**{name: _typed(hints[name], item) for name, item in value.items()})  # type: ignore[operator]
    return Path(value) if kind is Path else value


def _hints_of(kind: Any) -> dict[str, Any]:
    """The annotations of a dataclass, with the classes that it gives to a generic base."""
    given: dict[Any, Any] = {}
    for base in getattr(kind, "__orig_bases__", ()):
        given |= dict(zip(getattr(get_origin(base), "__parameters__", ()), get_args(base), strict=False))
    hints = get_type_hints(kind)
    for name, hint in hints.items():
        if parameters := getattr(hint, "__parameters__", ()):
            hints[name] = hint[tuple(given[parameter] for parameter in parameters)]
    return hints
