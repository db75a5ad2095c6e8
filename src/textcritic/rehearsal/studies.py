"""The study of a smoke rehearsal: as much of the real one as runs every rule about once."""

import json
from typing import Any

from textcritic.plan.experiment import schema_of
from textcritic.plan.missing import PARTS, Missing, without
from textcritic.plan.project import Project
from textcritic.plan.registries import Registries, named_in
from textcritic.plan.spec import schema
from textcritic.rehearsal.small import STUDY, capped

# A study has one entry of each kind from these registries. The kind is given by the keys of an entry that decide which
# rules make it: by their values, or by the keys of a mapping.
TELLING = {
    "corpora": ("extractor", "bring"),
    "generators": ("kind", "architecture", "init"),
    "critics": ("kind", "model", "test", "classifier"),
    "classifiers": ("kind",),
    "decodings": ("method", "stop"),
    "proposals": ("kind", "model.reads"),
}


# An extractor whose corpora are made by the rules of another one, from other files.
SAME = {'"derived"': '"wikipedia"'}


def smoke_study(project: Project, study: str) -> dict[str, Any]:
    """The description of a study that names one entry of each kind, the first, and has few draws.

    The first numbered table or figure of each recipe stays, if anything that it compares stays.
    """
    whole = project.studies[study]
    blocks = whole.description["experiments"]
    first: dict[tuple[str, ...], str] = {}
    dropped: dict[str, str] = {}
    for block in blocks:
        for _, registry, name in named_in(block, schema(schema_of(project.kind(block["kind"])))):
            if registry in TELLING and first.setdefault(_likeness(project.registries, registry, name), name) != name:
                dropped[f"{registry}.{name}"] = "alike"
    left = []
    for block in blocks:
        kind = project.kind(block["kind"])
        kept = without(block, schema(schema_of(kind)), Missing(project.registries, project.here, dropped))
        if kept:
            kept = {key: value for key, value in kind.mended(kept).items() if key in block}
            parts = {
                key: list({part["of"]: part for part in reversed(kept[key])}.values()) for key in PARTS if key in kept
            }
            left.append({key: _fewer(value) for key, value in kept.items()} | capped(kept, STUDY) | parts)
    return {**whole.description, "experiments": left}


def _fewer(value: Any) -> Any:
    """Two of a list of temperatures or beams: the first, and 1 or the second."""
    numbers = isinstance(value, list) and all(isinstance(item, int | float) for item in value)
    return [value[0], 1 if 1 in value[1:] else value[1]] if numbers and len(value) > 2 else value


def _likeness(registries: Registries, registry: str, name: str) -> tuple[str, ...]:
    entry = registries.entry(registry, name).plain()
    values = []
    for key in TELLING[registry]:
        value: Any = entry
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if key == "bring":
            value = value is not None  # the words do not matter
        text = json.dumps(sorted(value) if isinstance(value, dict) else value)
        values.append(SAME.get(text, text))
    return (registry, *values)
