"""The pages of every configuration key, and JSON schemas for editors, made of the models.

`python -m textcritic.plan.configdoc` writes docs/config and config/schemas/*.json. A registry file names its schema in
its first line, so that an editor that knows YAML completes keys and says what they mean.
"""

import json
from collections.abc import Iterator, Mapping

from textcritic.experiments import KINDS, kind_of
from textcritic.files import write_text
from textcritic.plan.entries import DRAFT, REGISTRIES, registry_schema
from textcritic.plan.entries.base import json_schema
from textcritic.plan.entries.config import Config, Study
from textcritic.plan.spec import SCHEMAS, Schema
from textcritic.values import JsonObject

PAGES = SCHEMAS.parents[1] / "docs/config"
MADE = (
    "Made by `python -m textcritic.plan.configdoc` from src/textcritic/plan/entries and the blocks of kinds in"
    " src/textcritic/experiments; change these, not this page."
)


def pages() -> dict[str, str]:
    """The pages, Markdown, by the names of their files: config.yaml, studies with all kinds, and each registry."""
    made = {"config.md": _page("config.yaml", json_schema(Config)), "studies.md": _studies()}
    return made | {f"{name}.md": _page(name, registry_schema(name)) for name in sorted(REGISTRIES)}


def schemas() -> dict[str, JsonObject]:
    """JSON schemas of whole files, by the names of theirs: of the configuration, of studies, and of each registry."""
    files = {f"{name}.json": _registry_file(name) for name in sorted(REGISTRIES)}
    study = json_schema(Study)
    kinds = [kind_of(name).rules() for name in KINDS]
    blocks = {**study["properties"]["experiments"], "items": {"oneOf": kinds}}
    whole = {**study, "properties": {**study["properties"], "experiments": blocks}}
    return files | {"config.json": {"$schema": DRAFT, **json_schema(Config)}, "study.json": {"$schema": DRAFT, **whole}}


def _registry_file(registry: str) -> JsonObject:
    entry = registry_schema(registry)
    about = {key: entry.pop(key) for key in ("$schema", "description")}
    return {**about, "type": "object", "additionalProperties": entry}


def _studies() -> str:
    """The page of a study's keys, and those of an experiment of each kind."""
    parts = [f"\n## An experiment of kind `{name}`\n\n{_keys(kind_of(name).rules(), '###')}" for name in KINDS]
    return _page("Studies and kinds of experiment", json_schema(Study)) + "".join(parts)


def _page(title: str, rules: Schema) -> str:
    return f"# {title}\n\n{MADE}\n\n{_keys(rules, '##')}"


def _keys(rules: Schema, level: str) -> str:
    """What a schema describes and a list of its keys; of several forms one list each, under headings of a level."""
    parts = [f"{_sentence(rules['description'])}\n"]
    branches = rules.get("oneOf", [rules])
    for branch in branches:
        if len(branches) > 1:
            parts.append(f"\n{level} {_sentence(branch['title']).rstrip('.')}\n")
        parts.append("\n" + "\n".join(_items(branch, "", "")) + "\n")
    return "".join(parts)


def _items(rules: Schema, prefix: str, indent: str) -> Iterator[str]:
    """A line for each key, with the keys of its mapping below it, further to the right."""
    required = set(rules.get("required", []))
    for key, sub in rules.get("properties", {}).items():
        name = f"{prefix}{key}"
        default = (
            "required" if key in required else f"default {_value(sub['default'])}" if "default" in sub else "no default"
        )
        yield f"{indent}- **`{name}`** ({_type(sub)}; {default}): {_sentence(sub.get('description', ''))}"
        for branch in sub.get("oneOf", [sub]):
            yield from _items(branch, f"{name}.", f"{indent}  ")
            if isinstance(branch.get("items"), Mapping):
                yield from _items(branch["items"], f"{name}[].", f"{indent}  ")


def _type(schema: Schema) -> str:
    if "oneOf" in schema:
        return " or ".join(
            f"`{branch['title']}`" if "{" in branch["title"] else branch["title"] for branch in schema["oneOf"]
        )
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    if schema.get("type") == "object":
        return "mapping"
    kind = schema.get("type", "anything")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _value(value: object) -> str:
    if value == "":
        return "empty"
    if value in ({}, []):
        return "none"
    if isinstance(value, list):
        return ", ".join(f"`{item}`" for item in value)
    return "`null`" if value is None else f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _sentence(text: str) -> str:
    words = " ".join(text.split())
    return words[:1].upper() + words[1:] + ("" if not words or words.endswith((".", ")")) else ".")


if __name__ == "__main__":
    PAGES.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        write_text(PAGES / name, text)
    for name, whole in schemas().items():
        write_text(SCHEMAS / name, json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
