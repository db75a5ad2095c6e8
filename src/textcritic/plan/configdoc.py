"""The user's manual of every configuration key, from the schemas: `python -m textcritic.plan.configdoc` writes it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from textcritic.experiments import KINDS, kind_of
from textcritic.files import write_text
from textcritic.plan.experiment import schema_of
from textcritic.plan.registries import REGISTRIES
from textcritic.plan.spec import SCHEMAS, schema

MANUAL = SCHEMAS.parent / "README.md"
REGISTRY_ORDER = (
    "corpora", "encodings", "generators", "proposals", "decodings", "classifiers", "critics", "embedders", "hub",
    "downloads", "datasets",
)  # fmt: skip
INTRODUCTION = """# Configuration

Made from the schemas in `config/schemas` and of each kind of experiment by `python -m textcritic.plan.configdoc`;
change the schemas, not this page.

`config.yaml` names the studies to build. A study (`studies/`) is a list of experiments. An experiment names corpora,
generators, decodings and critics; each of these names is an entry of a registry (`registry/`). To use a file of your
own, pass `--configfile mine.yaml`: its keys are laid over those of `config.yaml`, lists replace lists. Your own entries
go into a registry folder of your own, added to `registry_folders`; a name is lower-case letters, digits and hyphens,
and stands in one folder only.

- YAML reads `5e-5` as text; write `5.0e-5`.
- An unknown key, a wrong type and an unknown name are refused before anything runs.
- Changing a value reruns just the stages that it reaches: `threads`, `gpu`, `mem_mb` and `runtime` reach none, a
  `label` only tables, figures and report.
- Paths of your own files are relative to the working directory, which `--directory` sets.
"""


def manual() -> str:
    """The whole page, Markdown."""
    parts = [INTRODUCTION]
    for heading, rules in _pages():
        parts.append(f"\n## {heading}\n\n{_sentence(rules['description'])}\n")
        branches = rules.get("oneOf", [rules])
        for branch in branches:
            if len(branches) > 1:
                parts.append(f"\n### {_sentence(branch['title']).rstrip('.')}\n")
            rows = [f"| `{key}` | {kind_} | {default} | {words} |" for key, kind_, default, words in _rows(branch, "")]
            parts.append("\n| key | type | default | what it is |\n|---|---|---|---|\n" + "\n".join(rows) + "\n")
    return "".join(parts)


def _pages() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Headings and schemas in the order of the manual."""
    yield "config/config.yaml", schema("config")
    yield "config/studies/{study}.yaml", schema("study")
    for kind in KINDS:
        yield f"An experiment of kind `{kind}`", schema(schema_of(kind_of(kind)))
    for registry in sorted(REGISTRIES, key=lambda name: (*REGISTRY_ORDER, name).index(name)):
        yield f"config/registry/{registry}.yaml", schema(registry)


def _rows(rules: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str, str, str]]:
    required = set(rules.get("required", []))
    for key, sub in rules.get("properties", {}).items():
        name = f"{prefix}{key}"
        default = "required" if key in required else _value(sub["default"]) if "default" in sub else "absent"
        words = _sentence(sub.get("description", "")).replace("|", "\\|")
        yield name, _type(sub), default, words
        for branch in sub.get("oneOf", [sub]):
            yield from _rows(branch, f"{name}.")
            if isinstance(branch.get("items"), Mapping):
                yield from _rows(branch["items"], f"{name}[].")


def _type(schema: Mapping[str, Any]) -> str:
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


def _value(value: Any) -> str:
    if value in ({}, []):
        return "none"
    if isinstance(value, list):
        return ", ".join(f"`{item}`" for item in value)
    return "`null`" if value is None else f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _sentence(text: str) -> str:
    words = " ".join(text.split())
    return words[:1].upper() + words[1:] + ("" if not words or words.endswith((".", ")")) else ".")


if __name__ == "__main__":
    write_text(Path(MANUAL), manual())
