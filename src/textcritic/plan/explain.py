"""Why a value of YAML is refused: one line with the key, what is wrong, and what would be right."""

import json
import math
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.exceptions import relevance

from textcritic.errors import suggestion
from textcritic.plan.spec import Schema

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

BOUNDS = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "more than", "exclusiveMaximum": "less than"}


def refusal(value: object, schema: Schema) -> str | None:
    """Why a value does not fit a schema, the fault that is nearest to its root; None if it fits."""
    problem = max(Draft202012Validator(schema).iter_errors(value), key=relevance, default=None)
    return None if problem is None else _explain(problem)


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
    if schema.get("type") == "string" and "title" in schema and problem.validator in ("type", "pattern"):
        return f"{at}{json.dumps(value)} is not {schema['title']}"
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
    if problem.validator in BOUNDS:
        return f"{at}{value!r} should be {BOUNDS[problem.validator]} {rule}"
    if problem.validator == "const":
        return f"{at}{value!r} should be {rule!r}"
    if problem.validator == "pattern" and rule == r"\S":
        return f"{at}is empty; write some words, or leave the key out"
    if problem.validator in ("oneOf", "anyOf"):
        choices = " or ".join(branch.get("title", "?") for branch in rule)
        return f"{at}{json.dumps(value, default=str)} is not {choices}"
    return f"{at}{problem.message}"


def _reads_as_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _dotted(text: str) -> str:
    """`5e-5` as YAML 1.1 needs it: `5.0e-5`."""
    mantissa, exponent = text.lower().split("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{exponent if exponent[0] in '+-' else '+' + exponent}"
