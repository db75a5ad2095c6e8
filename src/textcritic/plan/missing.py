"""Files that a user must bring and that are not there: what is made of them is left out of a study, and the rest built.

An entry is missing if a file that it names is not there, nor what was made of it; or if it names an entry that is
missing. Decided once, when Snakemake starts: jobs read `results/studies/{study}/missing.json`.
"""

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from textcritic.errors import listed
from textcritic.files import read_json, write_json
from textcritic.plan.checks.corpora import SPLITS
from textcritic.plan.entries import Dataset, Entry, HubModel
from textcritic.plan.hub_lock import no_commit
from textcritic.plan.registries import Registries, download_of
from textcritic.plan.spec import Schema
from textcritic.values import JsonObject

REFUSE = "refuse"
# The numbered parts of a block, and the lists of what each compares.
PARTS, AXES = ("tables", "figures"), ("corpora", "generators")
# What was made of an entry's files, so that they are needed no more: of a corpus all of these, of others any.
CORPUS = tuple(f"results/corpora/{{name}}/{split}.parquet" for split in SPLITS)
MADE: Mapping[str, str] = {
    "annotations": "results/annotations/{name}/*",
    "classifiers": "results/classifiers/*/*{name}*/**/model",
    "critics": "results/*/{name}/*/*/model",
    "embedders": "results/features/{name}/*/*",
    "datasets": "results/raw/datasets/{name}",
    "encodings": "results/encodings/*/{name}/tokenizer",
    "generators": "results/*/*/*/{name}/*",
    "hub": "results/raw/hub/{name}",
}

Use = tuple[str, str]
Reasons = dict[str, str]


class Missing:
    """What cannot be had in a working directory.

    Args:
        registries: all entries.
        here: the working directory.
        decided: what is missing, by `registry.name`, as decided before; None: it is decided now.
    """

    def __init__(self, registries: Registries, here: Path, decided: Mapping[str, str] | None = None) -> None:
        self.registries, self._here, self._decided = registries, here, decided
        self._known: dict[Use, str] = {}

    def why(self, registry: str, name: str) -> str:
        """Why an entry cannot be had, in words that follow its name; "" if it can."""
        if self._decided is not None:
            return self._decided.get(f"{registry}.{name}", "")
        use = (registry, name)
        if use not in self._known:
            self._known[use] = ""
            self._known[use] = self._decide(registry, name)
        return self._known[use]

    def of(self, uses: Iterable[Use]) -> Reasons:
        """Of these entries those that are missing, by `registry.name`, with the reason."""
        return {f"{registry}.{name}": why for registry, name in uses if (why := self.why(registry, name))}

    def gone(self) -> dict[str, str]:
        """The files and folders that entries name, no rule makes and are not there, each with a line that says so.

        An entry of which something was made is not missing; but more may be asked of it than that. Nothing where it was
        decided before what is missing.
        """
        if self._decided is not None:
            return {}
        return {
            path: f"{self.registries.where(registry, name)}: {key}: {fault} ({_bring(entry)})"
            for registry, entries in self.registries.entries.items()
            for name, entry in entries.items()
            for key, path in self.brought(registry, name)
            if (fault := self._fault([path]))
        }

    def _decide(self, registry: str, name: str) -> str:
        if name not in self.registries.entries.get(registry, ()) or self._made(registry, name):
            return ""
        entry = self.registries.entry(registry, name)
        if isinstance(entry, HubModel | Dataset) and (why := no_commit(entry)):
            return why
        if fault := self._fault([path for _, path in self.brought(registry, name)]):
            return f"{fault} ({_bring(entry)})"
        named = self.registries.references(registry, name)
        return next((f"needs {other}: {why}" for _, target, other in named if (why := self.why(target, other))), "")

    def _fault(self, brought: Iterable[str]) -> str:
        """Which of these files and folders are not there, or empty; "" if none is."""
        paths = list(dict.fromkeys(brought))
        gone = [path for path in paths if not (self._here / path).exists()]
        empty = [path for path in paths if path not in gone and _is_empty(self._here / path)]
        faults = [f"there is no {listed(gone)}"] * bool(gone) + [f"nothing is in {listed(empty)}"] * bool(empty)
        return " and ".join(faults)

    def brought(self, registry: str, name: str) -> Iterator[tuple[str, str]]:
        """The files and folders that an entry names and no rule makes, each after its key."""
        for key, text, about in self.registries.texts(registry, name):
            own = about.get("registry") == "downloads" and download_of(text) is None
            if (own or about.get("brought")) and ("/" in text or "." in text) and Path(text).parts[0] != "results":
                yield key, text

    def _made(self, registry: str, name: str) -> bool:
        if registry == "corpora":
            return all((self._here / path.format(name=name)).exists() for path in CORPUS)
        return registry in MADE and any(True for _ in self._here.glob(MADE[registry].format(name=name)))


def _bring(entry: Entry) -> str:
    """How to get the files that an entry names."""
    return getattr(entry, "bring", None) or "put it there"


def _is_empty(path: Path) -> bool:
    return not (any(path.iterdir()) if path.is_dir() else path.stat().st_size)


def recorded(here: Path, studies: Iterable[str]) -> dict[str, str] | None:
    """What was missing when the run started; None where that was not written."""
    paths = [here / f"results/studies/{study}/missing.json" for study in studies]
    if not all(path.is_file() for path in paths):
        return None
    return {use: why for path in paths for use, why in read_json(path, "start Snakemake again").items()}


def record(here: Path, study: str, reasons: Reasons) -> None:
    """Write what is missing of a study, if that is not what stands there."""
    path = here / f"results/studies/{study}/missing.json"
    if not path.is_file() or read_json(path, "delete it") != reasons:
        write_json(path, reasons)


def without(block: JsonObject, rules: Schema, missing: Missing) -> JsonObject | None:
    """A block of a study without what is missing; None if nothing is left that it could compare.

    A name goes out of its list; a list of names that is empty then takes the item along that it belongs to, and a
    numbered table or figure is left out if all that it compares is.

    Args:
        block: with all defaults.
        rules: its schema.
        missing: what cannot be had.
    """
    rest = {key: value for key, value in block.items() if key not in PARTS}
    left: JsonObject | None = _without(rest, rules, missing, whole=True)
    if left is None or left == rest:
        return left if left is None else dict(block)
    gone = {*_texts(rest)} - {*_texts(left)}
    for key in [key for key in PARTS if key in block]:
        parts = [
            (part, {axis: [name for name in part[axis] if name not in gone] for axis in AXES}) for part in block[key]
        ]
        left[key] = [part | kept for part, kept in parts if all(kept[axis] or not part[axis] for axis in AXES)]
    return left


def _without(value: object, rules: Schema, missing: Missing, whole: bool = False) -> Any:
    """A value without what is missing; None where nothing is left of it."""
    if isinstance(value, str):
        return None if "registry" in rules and missing.why(rules["registry"], value) else value
    if isinstance(value, list):
        kept = [
            item for item in (_without(item, rules.get("items", {}), missing) for item in value) if item is not None
        ]
        return kept if kept or not value else None
    if not isinstance(value, dict):
        return value
    left = dict(value)
    for key, sub in rules.get("properties", {}).items():
        if value.get(key) is None:
            continue
        left[key] = _without(value[key], sub, missing)
        if left[key] is None:
            if "default" not in sub or (isinstance(value[key], list) and not whole):
                return None
            left[key] = deepcopy(sub["default"])
    return left


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(item)
