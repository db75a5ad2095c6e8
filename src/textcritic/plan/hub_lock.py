"""Commits of models and data sets of the Hugging Face hub whose entries name a branch or a tag: `hub.lock`.

`textcritic lock` looks them up and writes that file into the working directory. A commit takes the place of the
revision of its entry, so that it decides results as if the registry had it (see `plan.overlay`).
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from textcritic.digests import is_commit
from textcritic.errors import TextcriticError, suggestion
from textcritic.files import whole_file
from textcritic.plan.entries import Dataset, HubModel
from textcritic.plan.entries.downloads import Lock, Pin
from textcritic.plan.registries import Overlay, Registries
from textcritic.plan.spec import load_yaml
from textcritic.values import JsonObject

LOCK = Path("hub.lock")
# Registries of what lies on the hub.
ON_HUB = ("hub", "datasets")
HEADING = "# Commits of the Hugging Face hub, looked up by `textcritic lock`; keep this file with your results.\n"

Use = tuple[str, str]


def no_commit(entry: HubModel | Dataset) -> str:
    """Why what an entry of the hub names cannot be fetched; "" if it names a commit."""
    if is_commit(entry.revision):
        return ""
    return f"the commit of its revision {entry.revision} is not known (textcritic lock)"


def on_hub(registries: Registries, use: Use) -> HubModel | Dataset:
    """An entry of the registry hub or datasets; raises as `Registries.entry`."""
    registry, name = use
    return registries.entry("datasets", name) if registry == "datasets" else registries.entry("hub", name)


def read_lock(here: Path) -> dict[Use, Pin]:
    """The pins of a working directory by registry and entry.

    Raises:
        TextcriticError: the file is damaged; the line names the key.
    """
    if not (here / LOCK).is_file():
        return {}
    lock = Lock.read(load_yaml(here / LOCK) or {}, str(LOCK))
    return {(registry, name): pin for registry in ON_HUB for name, pin in getattr(lock, registry).items()}


def write_lock(here: Path, pins: Mapping[Use, Pin]) -> None:
    """Write the pins of a working directory, in one order; the file is left alone where they are what it says."""
    payload: dict[str, JsonObject] = {}
    for registry, name in sorted(pins):
        payload.setdefault(registry, {})[name] = pins[registry, name].plain()
    if read_lock(here) != pins:
        with whole_file(here / LOCK) as path:
            path.write_text(HEADING + yaml.safe_dump(payload, sort_keys=False), encoding="utf-8")


def commits(pins: Mapping[Use, Pin], registries: Registries) -> Overlay:
    """The pins as values laid over entries. A pin of an entry whose revision is a commit has no effect.

    Raises:
        TextcriticError: a pin is of no entry, or of another repository or revision than its entry.
    """
    values: dict[str, dict[str, dict[str, str]]] = {}
    for (registry, name), pin in pins.items():
        entries = registries.entries[registry]
        where = f"{LOCK}: {registry}.{name}"
        if name not in entries:
            hint = suggestion(name, entries, "delete it there")
            raise TextcriticError(f"{where}: the {registry} registry has no such entry; {hint}")
        entry = on_hub(registries, (registry, name))
        if is_commit(entry.revision):
            continue
        for key, pinned, named in (
            ("repository", pin.repository, entry.repository),
            ("revision", pin.revision, entry.revision),
        ):
            if pinned != named:
                raise TextcriticError(
                    f"{where}: {key}: is {pinned}, and {named} in its entry; `textcritic lock {name}` looks its commit"
                    " up again"
                )
        values.setdefault(registry, {})[name] = {"revision": pin.commit}
    return Overlay(str(LOCK), values)


def unlocked(registries: Registries, uses: Iterable[Use]) -> list[Use]:
    """Of these entries, and of all that they name, those of the hub whose commit is not known."""
    used = registries.closure(uses)
    return [
        (registry, name)
        for registry in ON_HUB
        for name, entry in used.get(registry, {}).items()
        if not is_commit(entry["revision"])
    ]
