"""Specifications: YAML in, validated against a schema, filled with defaults, and back out as one canonical string.

A schema is a file of config/schemas, by its name, or any other file, by its path. Some keywords are our own: `$ref`
names a file of config/schemas that stands here, with the keys beside it laid over it; `registry` says that a value
is the name of an entry of that registry, `besides` which values are not; `checks` names functions (see
`plan.registries`); `extractors` says which corpora have an option (see `plan.checks.corpora`).

A rule passes the canonical string of the registry entry it depends on as a parameter: keys sorted, values equal to the
schema's default left out. So neither reordered keys nor a new default in the schema make jobs run again.
"""

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.exceptions import relevance

from textcritic.errors import TextcriticError, first_line, suggestion
from textcritic.place import workflow_folder

SCHEMAS = workflow_folder() / "config" / "schemas"

MOST_VALUES, DEEPEST = 100_000, 100  # of one file of YAML
# The types of JSON schemas, as people who write YAML call them.
TYPES = {
    "array": "a list",
    "object": "a mapping of keys to values",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


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


def _require_usual(value: Any, path: Path) -> None:
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


def complete(value: Any, kind: str | Path, source: str) -> Any:
    """Validate `value` against a schema and fill in the schema's defaults; `value` is not changed.

    Args:
        value: content of the YAML.
        kind: the schema.
        source: where it came from (a file, or file and entry), for the error line.

    Raises:
        TextcriticError: an unknown key, a wrong type, a missing key, a value out of range; the line names the key.
    """
    branch = _schema_of_kind(schema(kind), value, source)
    problem = max(Draft202012Validator(branch).iter_errors(value), key=relevance, default=None)
    if problem is not None:
        raise TextcriticError(f"{source}: {_explain(problem)}")
    _require_finite(value, source)
    return _with_defaults(value, branch)


def canonical(value: Any, kind: str) -> str:
    """The one string for an entry: JSON with sorted keys and without values that equal the schema's defaults."""
    return json.dumps(_without_defaults(value, schema(kind)), sort_keys=True, ensure_ascii=False)


def restore(text: str, kind: str) -> Any:
    """The inverse of `canonical`: the entry with all its defaults."""
    return complete(json.loads(text), kind, f"specification of kind {kind}")


@cache
def schema(kind: str | Path) -> dict[str, Any]:
    """A schema with every `$ref` in it filled in.

    Args:
        kind: the name of a file of config/schemas, without .yaml, or the path of any other.

    Raises:
        TextcriticError: no such file, or one that it refers to; it is not YAML.
    """
    path = kind if isinstance(kind, Path) else SCHEMAS / f"{kind}.yaml"
    filled: dict[str, Any] = _filled_in(load_yaml(path))
    return filled


def leaves(value: Any, rules: Mapping[str, Any], where: str = "") -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
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
        for branch in _branches(rules, value):
            properties, others = branch.get("properties", {}), branch.get("additionalProperties")
            any_key = {key: others for key in value if key not in properties} if isinstance(others, dict) else {}
            for key, sub in {**properties, **any_key}.items():
                if key in value:
                    parts = [part for part in _branches(sub, value[key]) if "items" in part] or [sub]
                    for part in parts if isinstance(value[key], list) else [sub]:
                        yield from leaves(value[key], part, f"{where}.{key}" if where else key)


def laid_over(base: Any, over: Any) -> Any:
    """Mappings are merged key by key; anything else takes the place of what was there."""
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    return base | {key: laid_over(base.get(key), value) for key, value in over.items()}


def as_described(value: Any, rules: Mapping[str, Any]) -> Any:
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


# The parser in C, where PyYAML has it, reads a configuration in less than half the time.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _UniqueKeyLoader(_Loader):
    """Refuses a key that occurs twice, as YAML demands and PyYAML does not."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            fault = "is not text; put it in quotes" if not isinstance(key, str) else "stands twice" * (key in seen)
            if fault:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key!r:.40} {fault}", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


# A day is text, with or without quotes.
_UniqueKeyLoader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in known if tag != "tag:yaml.org,2002:timestamp"]
    for first, known in _Loader.yaml_implicit_resolvers.items()
}


def _filled_in(node: Any) -> Any:
    if isinstance(node, list):
        return [_filled_in(item) for item in node]
    if not isinstance(node, dict):
        return node
    filled = {key: _filled_in(value) for key, value in node.items() if key != "$ref"}
    return laid_over(_filled_in(load_yaml(SCHEMAS / node["$ref"])), filled) if "$ref" in node else filled


def _forms_of(key: str, forms: list[Mapping[str, Any]]) -> dict[str, Any]:
    """All that a schema says of a key, in whichever of its forms."""
    named = [form["properties"][key] for form in forms if key in form.get("properties", {})]
    others = [form["additionalProperties"] for form in forms if isinstance(form.get("additionalProperties"), dict)]
    return {"oneOf": [part for sub in named or others for part in (sub, *sub.get("oneOf", ()), *sub.get("anyOf", ()))]}


def _is_text(form: Mapping[str, Any], value: str) -> bool:
    """Whether a form allows a text; one that says nothing but its forms allows none by itself."""
    kinds = form.get("type", [])
    return "string" in (kinds if isinstance(kinds, list) else [kinds]) or value in [
        form.get("const"),
        *form.get("enum", ()),
    ]


def _schema_of_kind(schema: dict[str, Any], value: Any, source: str) -> dict[str, Any]:
    """The branch for this entry, in a registry whose entries differ by `kind`, so that messages are clear."""
    kinds = [(branch["properties"]["kind"], branch) for branch in schema.get("oneOf", [])]
    if not kinds:
        return schema
    branches = {rule["const"]: branch for rule, branch in kinds}
    default = next((rule["default"] for rule, _ in kinds if "default" in rule), None)
    kind = value.get("kind", default) if isinstance(value, dict) else None
    if kind not in branches:
        raise TextcriticError(f"{source}: kind: {kind!r} is not one of {', '.join(branches)}")
    return branches[kind]


def _branches(schema: Mapping[str, Any], value: Any) -> Iterator[Mapping[str, Any]]:
    """The parts of a schema that apply to `value`: itself and, of a oneOf, the branch that the value matches."""
    yield schema
    for branch in schema.get("oneOf", []):
        if Draft202012Validator(branch).is_valid(value):
            yield branch


def _with_defaults(value: Any, schema: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_with_defaults(item, schema.get("items", {})) for item in value]
    if not isinstance(value, dict):
        return value
    filled = dict(value)
    for branch in _branches(schema, value):
        for key, sub in branch.get("properties", {}).items():
            if key not in filled and "default" in sub:
                filled[key] = deepcopy(sub["default"])
            if key in filled:
                filled[key] = _with_defaults(filled[key], sub)
    return filled


def _without_defaults(value: Any, schema: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_without_defaults(item, schema.get("items", {})) for item in value]
    if not isinstance(value, dict):
        return value
    kept = dict(value)
    for branch in _branches(schema, value):
        for key, sub in branch.get("properties", {}).items():
            if key not in kept:
                continue
            if "default" in sub and kept[key] == _with_defaults(sub["default"], sub):
                del kept[key]
            else:
                kept[key] = _without_defaults(kept[key], sub)
    return kept


def _explain(problem: ValidationError) -> str:
    """One line: the key, what is wrong, what would be right."""
    where = ".".join(str(part) for part in problem.absolute_path)
    at = f"{where}: " if where else ""
    value: Any = problem.instance
    rule: Any = problem.validator_value
    schema: Any = problem.schema
    if problem.validator == "additionalProperties":
        known = sorted(schema.get("properties", {}))
        unknown = sorted(set(value) - set(known))[0]
        hint = suggestion(unknown, known, f"known keys are {', '.join(known)}")
        return f"{at}unknown key {unknown!r}; {hint}"
    if problem.validator == "required":
        missing = next(key for key in rule if key not in value)
        return f"{at}the key {missing!r} is missing; {schema['properties'][missing].get('description', '')}"
    if problem.validator == "type":
        hint = ""
        if isinstance(value, str) and rule in ("number", "integer") and _reads_as_number(value):
            number = float(value)
            if rule == "integer" and number.is_integer():
                number = int(number)
            hint = (
                f"; YAML reads it as text, write {number!r} without quotes"
                if "e" not in value.lower()
                else (f"; YAML reads it as text, write the mantissa with a dot: {_dotted(value)}")
            )
        if rule == "array" and isinstance(value, str | int | float):
            hint = f"; write [{value}]"
        wanted = " or ".join(TYPES[name] for name in (rule if isinstance(rule, list) else [rule]))
        return f"{at}{value!r} should be {wanted}{hint}"
    if problem.validator == "enum":
        return f"{at}{value!r} is not one of {', '.join(map(str, rule))}"
    if problem.validator == "pattern" and rule == r"\S":
        return f"{at}is empty; write some words, or leave the key out"
    if problem.validator in ("oneOf", "anyOf"):
        choices = " or ".join(branch.get("title", "?") for branch in rule)
        return f"{at}{json.dumps(value, default=str)} is not {choices}"
    return f"{at}{problem.message}"


def _require_finite(value: Any, where: str) -> None:
    """See that all numbers are finite, which the limits of a schema do not; the error names the keys to a number."""
    if isinstance(value, float) and not math.isfinite(value):
        raise TextcriticError(f"{where}: {value} should be a finite number")
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        _require_finite(part, f"{where}: {key}")


def _reads_as_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _dotted(text: str) -> str:
    """`5e-5` as YAML 1.1 needs it: `5.0e-5`."""
    mantissa, exponent = text.lower().split("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{exponent if exponent[0] in '+-' else '+' + exponent}"
