"""The study of a smoke rehearsal: of the real one, as much as brings every rule about once."""

import json
from typing import Any

from textcritic.plan.experiment import schema_of
from textcritic.plan.missing import PARTS, Missing, without
from textcritic.plan.project import Project
from textcritic.plan.registries import Registries, named_in
from textcritic.plan.spec import schema
from textcritic.rehearsal.small import STUDY, capped

# Registries of which a study has one entry of each kind: what decides by which rules such an entry is made, a value or
# the keys of a mapping.
TELLING = {
    "corpora": ("extractor", "bring"),
    "generators": ("kind", "architecture", "init"),
    "critics": ("kind", "model", "test", "classifier"),
    "classifiers": ("kind",),
    "decodings": ("method", "stop"),
    "proposals": ("kind", "model.reads"),
}


# An extractor whose corpora come by the rules of another's, but for what they are made of.
SAME = {'"derived"': '"wikipedia"'}


def smoke_study(project: Project, study: str) -> dict[str, Any]:
    """The description of a study that names one entry of each kind, the first, and has few draws.

    Of numbered tables and figures the first of each recipe stays, where anything that it compares does.
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
    entry = registries.entry(registry, name)
    values = []
    for key in TELLING[registry]:
        value: Any = entry
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if key == "bring":
            value = value is not None  # whatever its words
        text = json.dumps(sorted(value) if isinstance(value, dict) else value)
        values.append(SAME.get(text, text))
    return (registry, *values)
