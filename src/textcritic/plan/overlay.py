"""JsonObject of one's own laid over registry entries, and the results that stand there made with other values.

Results lie under the names of entries. So when the values of an entry change, what was made with the old ones must be
made again, or the new ones need another folder: nothing under one name is made by two recipes. `results/overlay.json`
records the entries that were overlaid when the last run started, with all that decides their results.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from textcritic.errors import TextcriticError, listed
from textcritic.files import read_json, write_json
from textcritic.plan.entries import Entry
from textcritic.plan.hub_lock import LOCK
from textcritic.plan.registries import WITHOUT_EFFECT, Overlay, Registries, deciding
from textcritic.plan.spec import load_yaml
from textcritic.values import JsonObject

LOCAL = Path("config/local.yaml")
RECORD = Path("results/overlay.json")
# Registries whose names stand in paths below results/raw alone, and folders of results without names of entries.
RAW = ("hub", "downloads", "datasets")
NOT_MADE_OF_ENTRIES = ("studies", "logs", "benchmarks")
# Folders inside results that hold no result: the state of a training that goes on.
NO_RESULT = "checkpoints"

Use = tuple[str, str]


@dataclass(frozen=True, slots=True)
class OtherRecipe:
    """An entry whose results stand, made with other values than it has now.

    Attributes:
        registry, name: the entry.
        values: what differs, in words.
        files: how many files were made with the old values, by the folder of results that they are in.
    """

    registry: str
    name: str
    values: str
    files: Mapping[str, int]

    def __str__(self) -> str:
        places = listed([f"{count} in results/{folder}" for folder, count in sorted(self.files.items())])
        return (
            f"{self.registry}: {self.name} is another recipe than that of the results here ({self.values}):"
            f" files that would be made again: {places}"
        )


def overlays(values: JsonObject, here: Path) -> list[Overlay]:
    """What is laid over the registries, in this order: config/local.yaml of the working directory, then the key
    `registry` of the configuration.

    Raises:
        TextcriticError: the file is not YAML, or not a mapping.
    """
    found = []
    if (here / LOCAL).is_file():
        local = load_yaml(here / LOCAL) or {}
        if not isinstance(local, dict):
            raise TextcriticError(f"{LOCAL}: is not a mapping; write `generators: {{NAME: {{KEY: VALUE}}}}`")
        found.append(Overlay(str(LOCAL), local))
    return [*found, Overlay("config: registry", values)] if values else found


class Recipes:
    """The values that registry entries have now, beside those of the results in a working directory.

    Args:
        registries: with what is laid over them.
        here: the working directory.
        accepted: names of entries, separated by commas, whose results may be made again.
    """

    def __init__(self, registries: Registries, here: Path, accepted: str = "") -> None:
        self._registries, self._record = registries, here / RECORD
        self._results, self._accepted = here / "results", [name.strip() for name in accepted.split(",")]

    def said(self) -> list[str]:
        """A line for each overlaid entry, and for each whose results stand with other values."""
        registries, lines = self._registries, []
        for (registry, name), where in registries.overlaid().items():
            if where != str(LOCK):
                before, now = registries.plain(registry, name).plain(), registries.entry(registry, name).plain()
                lines.append(f"{where}: {registry}.{name}: {_differences(before, now)}")
        return [*lines, *(str(other) for other in self.others())]

    def others(self) -> list[OtherRecipe]:
        """The entries whose results stand, made with other values."""
        others = []
        for use, values in self._changed().items():
            if files := self._made_of(use):
                others.append(OtherRecipe(*use, values, files))
        return others

    def begin(self) -> None:
        """Called when a run starts, before its first job: record what is overlaid.

        Raises:
            TextcriticError: results stand that were made with other values, and that is not accepted.
        """
        refused = [other for other in self.others() if other.name not in self._accepted]
        if refused:
            names = ",".join(dict.fromkeys(other.name for other in refused))
            raise TextcriticError(
                f"{'; '.join(map(str, refused))}; to make them again, add `--config accept={names}` (`--accept {names}`"
                " to a command of textcritic); to keep them, use another folder: --directory FOLDER"
            )
        if self._now() != self._recorded():
            write_json(self._record, self._now())

    def check(self) -> None:
        """Called by each job: see that the values are still those with which its run started.

        Raises:
            TextcriticError: they are not; the line names the entry and the values.
        """
        for (registry, name), values in self._changed().items():
            raise TextcriticError(f"{registry}: {name} has changed since this run started ({values}); start it again")

    def laid_over(self, uses: Mapping[str, JsonObject]) -> dict[str, str]:
        """For the manifest: what was changed, of entries in use, of the values that decide what comes out.

        Args:
            uses: entries by registry, see `Registries.closure`.
        """
        now = self._now()
        return {
            f"{registry}.{name}": _differences(deciding(self._registries.plain(registry, name).plain()), entry)
            for registry, entries in uses.items()
            for name, entry in entries.items()
            if f"{registry}.{name}" in now
        }

    def _now(self) -> JsonObject:
        """What decides the results of the overlaid entries that differ in it from their registry files."""
        return {
            f"{registry}.{name}": entry
            for registry, name in self._registries.overlaid()
            if (entry := self._entry(registry, name)) != self._plain(registry, name)
        }

    def _recorded(self) -> JsonObject:
        return dict(read_json(self._record, "delete it")) if self._record.is_file() else {}

    def _changed(self) -> dict[Use, str]:
        """What differs of entries from the recorded values, or, where none are, from those of the registry files."""
        now, recorded, changed = self._now(), self._recorded(), {}
        for key in sorted({*now, *recorded}):
            registry, _, name = key.partition(".")
            if name in self._registries.entries.get(registry, ()):
                new = self._entry(registry, name)
                old = recorded.get(key, self._plain(registry, name))
                if old != new:
                    read = self._registries.about[registry].read
                    whole = [read(values, f"{RECORD}: {key}").plain() for values in (old, new)]
                    changed[registry, name] = _differences(*whole)
        return changed

    def _entry(self, registry: str, name: str) -> JsonObject:
        return _deciding(self._registries.entry(registry, name))

    def _plain(self, registry: str, name: str) -> JsonObject:
        return _deciding(self._registries.plain(registry, name))

    def _made_of(self, use: Use) -> Counter[str]:
        """How many files of each folder of results are made of an entry, by its name or that of one that names it."""
        uses = self._registries.dependents(use)
        raw = {name for registry, name in uses if registry in RAW}
        other = {name for registry, name in uses if registry not in RAW}
        found: Counter[str] = Counter()
        for parts in _files(self._results):
            if {*parts[1:-1], Path(parts[-1]).stem} & (raw if parts[0] == "raw" else other):
                found[parts[0]] += 1
        return found


def _files(results: Path) -> Iterator[tuple[str, ...]]:
    """The parts of the path of each result, below `results`."""
    for folder in sorted(results.iterdir()) if results.is_dir() else ():
        if folder.name not in NOT_MADE_OF_ENTRIES:
            for place, folders, names in os.walk(folder):
                folders[:] = [name for name in folders if name != NO_RESULT]
                for name in names:
                    yield (Path(place) / name).relative_to(results).parts


def _deciding(entry: Entry) -> JsonObject:
    """What of an entry decides results and is no default: a default that a later version adds changes nothing."""
    return dict(json.loads(entry.canonical(without=WITHOUT_EFFECT)))


def _differences(old: JsonObject, new: JsonObject) -> str:
    """The values that are not the same: `training.batch_size: 4, was 8`."""
    before, after = dict(_flat(old)), dict(_flat(new))
    keys = sorted({*before, *after})
    lines = [
        f"{key}: {_value(after, key)}, was {_value(before, key)}" for key in keys if before.get(key) != after.get(key)
    ]
    return "; ".join(lines) or "the same values"


def _flat(value: JsonObject, prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, item in value.items():
        if isinstance(item, dict) and item:
            yield from _flat(item, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", item


def _value(values: JsonObject, key: str) -> str:
    return json.dumps(values[key], ensure_ascii=False) if key in values else "not there"
