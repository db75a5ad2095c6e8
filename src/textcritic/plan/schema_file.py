"""Blocks of a kind of experiment from outside that describes them by a file, schema.yaml, and not by a model.

It is a JSON schema with the keywords of our own that `plan.entries.base` lists. `$ref: shared/NAME.yaml` in it stands
for what our kinds share (`name`, `sources`, `tables`, `figures`, `power`); the keys next to it are laid over that.
"""

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from textcritic.errors import TextcriticError
from textcritic.plan.entries.base import json_schema, key
from textcritic.plan.entries.blocks import FIGURES, SAMPLES, TABLES, Block, Figure, Power, Table
from textcritic.plan.entries.parts import SourceBlock
from textcritic.plan.spec import Schema, branches, laid_over, load_yaml
from textcritic.values import JsonObject


class MappingBlock(dict[str, Any]):
    """A block as a mapping, with all defaults. What every experiment reads of its block can be read as of a model."""

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(name)
        return self[name]

    def plain(self) -> JsonObject:
        """The mapping, as `Entry.plain` gives it."""
        return dict(self)


class _Shared(Block):
    """What schema files name by `$ref`."""

    sources: list[SourceBlock] = SAMPLES
    tables: list[Table] = TABLES
    figures: list[Figure] = FIGURES
    power: Power = key(
        "real text into which a fault is put on purpose, to see from which share on the test notices it;"
        " `{shares: []}` leaves it out",
        Power,
    )


def read_block(value: object, path: Path, where: str) -> MappingBlock:
    """Check a block against a schema file and fill in the schema's defaults; `value` is not changed.

    Args:
        value: content of the YAML.
        path: the schema file.
        where: file and block, for the error line.

    Raises:
        TextcriticError: an unknown key, a wrong type, a missing key, a value out of range; the line names the key.
    """
    from textcritic.plan.explain import refusal

    if why := refusal(value, schema(path)):
        raise TextcriticError(f"{where}: {why}")
    return MappingBlock(_with_defaults(value, schema(path)))


@cache
def schema(path: Path) -> JsonObject:
    """A schema file with every `$ref` in it filled in.

    Raises:
        TextcriticError: no such file; it is not YAML; it refers to what is not shared.
    """
    filled: JsonObject = _filled_in(load_yaml(path), path)
    return filled


def _filled_in(node: object, path: Path) -> Any:
    if isinstance(node, list):
        return [_filled_in(item, path) for item in node]
    if not isinstance(node, dict):
        return node
    filled = {name: _filled_in(value, path) for name, value in node.items() if name != "$ref"}
    if "$ref" not in node:
        return filled
    shared = {f"shared/{name}.yaml": part for name, part in json_schema(_Shared)["properties"].items()}
    if node["$ref"] not in shared:
        raise TextcriticError(f"{path}: $ref: there is no {node['$ref']}; known are {', '.join(shared)}")
    return laid_over(deepcopy(shared[node["$ref"]]), filled)


def _with_defaults(value: object, rules: Schema) -> Any:
    if isinstance(value, list):
        return [_with_defaults(item, rules.get("items", {})) for item in value]
    if not isinstance(value, dict):
        return value
    filled = dict(value)
    for branch in branches(rules, value):
        for name, sub in branch.get("properties", {}).items():
            if name not in filled and "default" in sub:
                filled[name] = deepcopy(sub["default"])
            if name in filled:
                filled[name] = _with_defaults(filled[name], sub)
    return filled
