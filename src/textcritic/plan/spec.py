"""YAML in; and what a JSON schema says of each text of a value."""

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import yaml

from textcritic.errors import TextcriticError, first_line
from textcritic.place import workflow_folder

SCHEMAS = workflow_folder() / "config" / "schemas"

Schema: TypeAlias = Mapping[str, Any]
"""A JSON schema, or a part of one."""

MOST_VALUES, DEEPEST = 100_000, 100  # of one file of YAML


def load_yaml(path: Path) -> Any:
    """Read one YAML file.

    Raises:
        TextcriticError: the file is missing, cannot be read, is not YAML, repeats a key, has one that is not text, a
            number that is not finite, is nested deeper than `DEEPEST`, or has more values than `MOST_VALUES`.
    """
    try:
        value = yaml.load(path.read_text(encoding="utf-8"), _UniqueKeyLoader)
        _require_usual(value, path)
        return value
    except FileNotFoundError as error:
        raise TextcriticError(f"{path}: no such file") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise TextcriticError(f"{path}, line {line}: not valid YAML: {error.problem}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise TextcriticError(f"{path}: not a UTF-8 text file of YAML; save it as UTF-8") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits
        what = "nested too deep" if isinstance(error, RecursionError) else first_line(error)
        raise TextcriticError(f"{path}: a value that Python cannot hold: {what}") from error
    except OSError as error:
        raise TextcriticError(f"{path}: cannot be read: {error.strerror or error}") from error


def _require_usual(value: object, path: Path) -> None:
    """See that numbers are finite, and that anchors (`&name`, `*name`) make neither a loop nor a bomb of a file."""
    waiting, seen = [(value, 0)], 0
    while waiting:
        (one, depth), seen = waiting.pop(), seen + 1
        if depth > DEEPEST:
            raise TextcriticError(f"{path}: values are nested too deep, or an anchor holds itself; write it flatter")
        if seen > MOST_VALUES:
            raise TextcriticError(f"{path}: anchors make more than {MOST_VALUES:,} values of it; write them out")
        parts = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        waiting += [(part, depth + 1) for part in parts]
    _require_finite(value, str(path))


def leaves(value: object, rules: Schema, where: str = "") -> Iterator[tuple[str, str, Schema]]:
    """Every text in a value, with the dotted key where it stands and the part of the schema that describes it.

    Args:
        value: validated, with defaults.
        rules: its schema.
        where: the dotted key of `value` itself.
    """
    if isinstance(value, str):
        yield where, value, rules
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item, rules.get("items", {}), where)
    elif isinstance(value, dict):
        for branch in branches(rules, value):
            properties, others = branch.get("properties", {}), branch.get("additionalProperties")
            any_key = {key: others for key in value if key not in properties} if isinstance(others, dict) else {}
            for key, sub in {**properties, **any_key}.items():
                if key in value:
                    parts = [part for part in branches(sub, value[key]) if "items" in part] or [sub]
                    for part in parts if isinstance(value[key], list) else [sub]:
                        yield from leaves(value[key], part, f"{where}.{key}" if where else key)


def laid_over(base: object, over: object) -> Any:
    """Mappings are merged key by key; anything else takes the place of what was there."""
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    return base | {key: laid_over(base.get(key), value) for key, value in over.items()}


def as_described(value: Any, rules: Schema) -> Any:
    """A value with texts read as YAML where its schema allows no text: Snakemake's `--config` has nothing but texts."""
    forms = [rules, *rules.get("oneOf", ()), *rules.get("anyOf", ())]
    if isinstance(value, dict):
        return {key: as_described(item, _forms_of(key, forms)) for key, item in value.items()}
    if isinstance(value, list):
        return [as_described(item, {"oneOf": [form["items"] for form in forms if "items" in form]}) for item in value]
    if not isinstance(value, str) or any(_is_text(form, value) for form in forms):
        return value
    with suppress(yaml.YAMLError):
        return yaml.load(value, yaml.SafeLoader)
    return value


if TYPE_CHECKING:
    _Loader = yaml.SafeLoader
else:  # the parser in C, where PyYAML has it, reads a configuration in less than half the time
    _Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _UniqueKeyLoader(_Loader):
    """Refuses a key that occurs twice, as YAML demands and PyYAML does not."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            fault = "is not text; put it in quotes" if not isinstance(key, str) else "is there twice" * (key in seen)
            if fault:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key!r:.40} {fault}", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


# A day is text, with or without quotes.
_UniqueKeyLoader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in known if tag != "tag:yaml.org,2002:timestamp"]
    for first, known in _Loader.yaml_implicit_resolvers.items()
}


def _forms_of(key: str, forms: list[Schema]) -> Schema:
    """All that a schema says of a key, in whichever of its forms."""
    named = [form["properties"][key] for form in forms if key in form.get("properties", {})]
    others = [form["additionalProperties"] for form in forms if isinstance(form.get("additionalProperties"), dict)]
    return {"oneOf": [part for sub in named or others for part in (sub, *sub.get("oneOf", ()), *sub.get("anyOf", ()))]}


def _is_text(form: Schema, value: str) -> bool:
    """Whether a form allows a text; one that says nothing but its forms allows none by itself."""
    kinds = form.get("type", [])
    return "string" in (kinds if isinstance(kinds, list) else [kinds]) or value in [
        form.get("const"),
        *form.get("enum", ()),
    ]


def branches(schema: Schema, value: object) -> Iterator[Schema]:
    """The parts of a schema that apply to a right `value`: itself and, of a oneOf, the branch that the value fits."""
    yield schema
    yield from (branch for branch in schema.get("oneOf", ()) if _fits(branch, value))


def _fits(branch: Schema, value: object) -> bool:
    """Whether a value has the type of a branch and, of a mapping, the keys."""
    kind = branch.get("type")
    if isinstance(value, dict):
        keys, properties = set(value), branch.get("properties", {})
        of_kind = properties.get("kind", {}).get("const", value.get("kind")) == value.get("kind")
        known = branch.get("additionalProperties") is not False or keys <= set(properties)
        return kind == "object" and of_kind and known and keys >= set(branch.get("required", ()))
    return kind == ("array" if isinstance(value, list) else "null" if value is None else "string")


def _require_finite(value: object, where: str) -> None:
    """See that all numbers are finite, which the limits of a schema do not; the error names the keys to a number."""
    if isinstance(value, float) and not math.isfinite(value):
        raise TextcriticError(f"{where}: {value} should be a finite number")
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        _require_finite(part, f"{where}: {key}")
