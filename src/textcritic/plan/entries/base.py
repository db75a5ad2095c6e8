"""What an entry is: a pydantic model whose fields are the keys of the YAML.

The fields are the one description of an entry: type, default, limits and meaning of each key. Made of them are the JSON
schema, from which error lines, docs/config and the completion in editors come; and the value itself is what travels to
jobs and through all rooms.

A key that has no default and may be missing is declared by `optional`, and is None where it is missing; all others by
`key`. Own keywords of the JSON schema: `registry`, the value is the name of an entry of that registry, `besides` which
values are not; `brought`, the path of a file that users bring; `extractors`, which corpora have an option.
"""

import inspect
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Self, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, ValidationError, WrapValidator, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined, core_schema

from textcritic.errors import TextcriticError
from textcritic.plan.spec import Schema
from textcritic.values import JsonObject

# pydantic's names of limits, and those of JSON schemas for numbers and texts, lists, mappings.
_LIMITS: Mapping[str, Mapping[str, str]] = {
    "string": {"min_length": "minLength"},
    "array": {"min_length": "minItems"},
    "object": {"min_length": "minProperties"},
    "integer": {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"},
    "number": {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"},
}
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
_KNOWN = ("ge", "gt", "le", "lt", "min_length")


def key(description: str, default: Any = PydanticUndefined, *, alias: str | None = None, **about: Any) -> Any:
    """A key of an entry.

    Args:
        description: what it means, for error lines, documentation and editors.
        default: its value where it is missing; a class stands for its own defaults. Without it the key is required.
        alias: its name in YAML, where that is no name of Python's.
        about: limits, by pydantic's names (`ge`, `gt`, `le`, `lt`, `min_length`), and own keywords of the schema.
    """
    limits: JsonObject = {name: about[name] for name in _KNOWN if name in about}
    made = {"default_factory": default} if isinstance(default, type) else {"default": default}
    return Field(description=description, alias=alias, json_schema_extra=about, **made, **limits)


def optional(description: str, **about: Any) -> Any:
    """A key without a default that may be missing, and then is None; YAML cannot say null. Arguments: see `key`."""
    return key(description, None, absent=True, **about)


def limits(**about: Any) -> Any:
    """Limits of the items of a list or a mapping, for `Annotated`; or the `title` of one of several forms."""
    return Field(json_schema_extra=about, **{name: about[name] for name in _KNOWN if name in about})


@dataclass(frozen=True, slots=True)
class Keywords:
    """Own keywords of the schema of a type, for `Annotated`."""

    words: tuple[tuple[str, object], ...]


def names(registry: str, *besides: str) -> Keywords:
    """The value is the name of an entry of a registry, but for the values `besides`."""
    words: list[tuple[str, object]] = [("registry", registry)]
    return Keywords(tuple(words + ([("besides", list(besides))] if besides else [])))


@dataclass(frozen=True, slots=True)
class Rule:
    """A keyword of JSON schemas that pydantic checks by a function, for `Annotated`: `pattern` or `uniqueItems`."""

    keyword: str
    value: Any

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def _checked(self, value: Any) -> Any:
        if not self.holds(value):
            raise ValueError(f"breaks the rule {self.keyword}: {self.value}")
        return value

    def holds(self, value: Any) -> bool:
        """Whether a value keeps the rule."""
        import re

        if self.value is True:
            return all(item not in value[:place] for place, item in enumerate(value))
        return re.search(self.value, value) is not None

    def lay(self, form: JsonObject) -> None:
        """Lay the keyword over a form."""
        form[self.keyword] = self.value


def pattern(expression: str) -> Rule:
    """The text has a match of a regular expression."""
    return Rule("pattern", expression)


def _as_written(value: object, handler: Callable[[object], object]) -> object:
    handler(value)
    return value


Number = Annotated[float, WrapValidator(_as_written)]
"""A number; 1 stays 1 and does not become 1.0, so that an entry is written as it was read."""
Unique = Rule("uniqueItems", True)
"""No item of a list twice."""


class Entry(BaseModel):
    """An entry of a registry, or a mapping inside one; it cannot be changed. Unknown keys are refused."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        protected_namespaces=(),
        defer_build=True,
    )
    schema_words: ClassVar[Schema] = {}
    """Keywords of the JSON schema beyond those of the fields."""
    bases_first: ClassVar[bool] = False
    """Whether the keys of its bases come first in the schema; one that it declares once more stays among them."""

    @model_validator(mode="before")
    @classmethod
    def _no_null_for_what_may_be_missing(cls, value: object) -> object:
        if isinstance(value, dict) and None in value.values():
            for name, info in cls.model_fields.items():
                if _about(info).get("absent") and name in value and value[name] is None:
                    raise ValueError(f"{name} is null; leave it out")
        return value

    @classmethod
    def read(cls, value: object, where: str) -> Self:
        """An entry from YAML or JSON.

        Args:
            value: the mapping.
            where: file and entry, which the error line begins with.

        Raises:
            TextcriticError: an unknown key, a wrong type, a missing key, a value out of range; the line names the key.
        """
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            from textcritic.plan.explain import refusal  # loads jsonschema, for error lines alone

            raise TextcriticError(f"{where}: {refusal(value, json_schema(cls)) or _first(error)}") from error

    @classmethod
    def restore(cls, text: str) -> Self:
        """The inverse of `canonical`."""
        return cls.read(json.loads(text), f"specification of {cls.__name__}")

    def changed(self, **values: object) -> Self:
        """The same with other values of some keys; raises as `read`."""
        return self.read({**self.plain(), **values}, type(self).__name__)

    def plain(self) -> JsonObject:
        """Mappings, lists, texts and numbers, with all defaults; without the keys that are missing."""
        return {name: _plain(value) for name, value in self._present()}

    def canonical(self, *keys: str, without: Collection[str] = ()) -> str:
        """The one text for an entry: JSON with sorted keys and without values that are defaults.

        Args:
            keys: only these top-level keys; none: all.
            without: dotted keys that are left out.
        """
        decided = self.decided(without)
        kept = {name: value for name, value in decided.items() if not keys or name in keys}
        return json.dumps(kept, sort_keys=True, ensure_ascii=False)

    def decided(self, without: Collection[str] = (), at: str = "") -> JsonObject:
        """Values that are no defaults. A mapping with a key that is left out stays, if only as an empty one."""
        defaults = {_name(name, info): _default(info) for name, info in type(self).model_fields.items()}
        decided = {}
        for name, value in self._present():
            place = f"{at}{name}"
            shortened = isinstance(value, Entry) and any(f"{place}.{key}" in without for key in dict(value._present()))
            if place in without or (defaults.get(name, PydanticUndefined) == value and not shortened):
                continue
            decided[name] = value.decided(without, f"{place}.") if isinstance(value, Entry) else _items(value)
        return decided

    def _present(self) -> Iterator[tuple[str, Any]]:
        for name, info in type(self).model_fields.items():
            value = getattr(self, name)
            if value is not None or not _about(info).get("absent"):
                yield _name(name, info), value
        yield from (self.__pydantic_extra__ or {}).items()


def _items(value: object) -> object:
    """A value with the entries in its lists and mappings without their defaults."""
    if isinstance(value, Entry):
        return value.decided()
    if isinstance(value, dict):
        return {name: _items(item) for name, item in value.items()}
    return [_items(item) for item in value] if isinstance(value, list) else value


def _plain(value: object) -> object:
    if isinstance(value, Entry):
        return value.plain()
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


@cache
def json_schema(model: type[Entry]) -> JsonObject:
    """The JSON schema of a model, with its keys in the order of the source, those of its bases last."""
    fields = {_name(name, model.model_fields[name]): model.model_fields[name] for name in _order(model)}
    required = [name for name, info in fields.items() if info.is_required()]
    return {
        **({"title": model.model_config["title"]} if model.model_config.get("title") else {}),
        "type": "object",
        **({"additionalProperties": False} if model.model_config["extra"] == "forbid" else {}),
        **({"required": required} if required else {}),
        **({"properties": {name: _of_field(info) for name, info in fields.items()}} if fields else {}),
        **model.schema_words,
    }


def _first(error: ValidationError) -> str:
    """The first fault of a value that its JSON schema does not refuse: 8.0 for a whole number, an infinite number."""
    fault = error.errors()[0]
    at = ".".join(map(str, fault["loc"]))
    wanted = {"int_type": "a whole number", "finite_number": "a finite number"}.get(fault["type"])
    says = f"{fault['input']!r} should be {wanted}" if wanted else fault["msg"].removeprefix("Value error, ")
    return f"{at}: {says}" if at else says


def _order(model: type[Entry]) -> list[str]:
    if model.bases_first:
        return list(model.model_fields)
    own = (name for base in model.__mro__ for name in inspect.get_annotations(base))
    return [name for name in dict.fromkeys(own) if name in model.model_fields]


def _name(name: str, info: FieldInfo) -> str:
    return info.alias or name


def _about(info: FieldInfo) -> JsonObject:
    about = info.json_schema_extra
    return about if isinstance(about, dict) else {}


def _default(info: FieldInfo) -> Any:
    return info.get_default(call_default_factory=True)


def _of_field(info: FieldInfo) -> JsonObject:
    about = _about(info)
    form = _of_type(info.annotation, bool(about.get("absent")))
    _lay(form, [*info.metadata, info])
    form["description"] = info.description
    if not info.is_required() and not about.get("absent"):
        default = _default(info)
        form["default"] = default.decided() if isinstance(default, Entry) else default
    return form


def _lay(form: JsonObject, metadata: Any) -> None:
    """Lay the keywords of metadata over a form, limits by the names that JSON schemas have for its type."""
    kinds = form.get("type")
    names_of = _LIMITS.get(kinds[0] if isinstance(kinds, list) else kinds or "", {})
    for item in metadata:
        if isinstance(item, Keywords):
            form.update(item.words)
        elif isinstance(item, Rule):
            item.lay(form)
        elif isinstance(item, FieldInfo):
            words = {names_of.get(word, word): value for word, value in _about(item).items() if word != "absent"}
            form.update(words)


def _of_type(kind: Any, absent: bool = False) -> JsonObject:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        form = _of_type(arguments[0])
        _lay(form, arguments[1:])
        return form
    if origin is Literal:
        return {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
    if origin in (Union, UnionType):
        return _of_union([part for part in arguments if not (absent and part is NoneType)])
    if origin in (list, Sequence):
        return {"type": "array", "items": _of_type(arguments[0])}
    if origin is dict:
        return {"type": "object", **({} if arguments[1] is Any else {"additionalProperties": _of_type(arguments[1])})}
    if isinstance(kind, type) and issubclass(kind, Entry):
        return dict(json_schema(kind))
    return {"type": _TYPES[kind]}


def _of_union(parts: list[Any]) -> JsonObject:
    """One form or null, or several forms with titles."""
    forms = [_of_type(part) for part in parts]
    if all("title" in form for form in forms):
        return {"oneOf": forms}
    form = next(form for form in forms if form != {"type": "null"})
    return {**form, "type": [form["type"], "null"]} if len(forms) > 1 else form
