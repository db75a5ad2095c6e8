"""An option is declared once: from it a function has its signature and help, a command its arguments, both ranges."""

import functools
import inspect
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import Field, dataclass, field, fields
from typing import Any, Generic, ParamSpec, Protocol, TypeGuard, TypeVar, cast

from textcritic.errors import TextcriticError, suggestion
from textcritic.extras import needing_extras
from textcritic.runlog import progress_on_stderr

LARGEST = 10**15 - 1  # of whole numbers: enough for every option
SHOWN = 20  # characters of a bad value that a message repeats

P = ParamSpec("P")
Chosen = TypeVar("Chosen")
R = TypeVar("R", covariant=True)
Value = TypeVar("Value", covariant=True)


@dataclass(frozen=True, slots=True)
class Values(Generic[Value]):
    """What an option may be.

    Attributes:
        words: the values in words, such as "a whole number from 1 upwards".
        metavar: what a command's help calls a value.
        read: makes a value of a command's word; raises ValueError where it cannot.
        holds: whether any object is such a value.
    """

    words: str
    metavar: str
    read: Callable[[str], Value]
    holds: Callable[[object], bool]

    def fault(self, value: object) -> str:
        """What is wrong with a value, in words; an empty string if the value is allowed."""
        if self.holds(value):
            return ""
        shown = repr(value) if len(repr(value)) <= SHOWN else f"{repr(value)[:SHOWN]}..."
        large = isinstance(value, int) and value > LARGEST
        return f"{shown} is not {self.words}{', of 15 digits at most' if large else ''}"


def whole(least: int, most: int = LARGEST) -> Values[int]:
    """Whole numbers from `least` to `most`."""
    words = f"a whole number from {least} {'upwards' if most == LARGEST else f'to {most:,}'}"
    return Values(words, "N", _whole, lambda value: type(value) is int and least <= value <= most)


def one_of(names: tuple[str, ...]) -> Values[str]:
    """One of some words."""
    return Values(
        f"one of {', '.join(names)}", "|".join(names), str, lambda value: isinstance(value, str) and value in names
    )


def or_several(one: Values[object], word: str) -> Values[object]:
    """One of some values, several of them with commas between, or a word."""

    def read(text: str) -> object:
        found = [one.read(part.strip()) for part in text.split(",")] if text != word else [word]
        return found[0] if len(found) == 1 else tuple(found)

    def holds(value: object) -> bool:
        return value == word or (
            len(value) > 0 and all(map(one.holds, value)) if isinstance(value, list | tuple) else one.holds(value)
        )

    return Values(f"{one.words}, several of them, or {word}", f"{one.metavar}|{one.metavar},...|{word}", read, holds)


FROM_ZERO = Values(
    "a finite number from 0 upwards",
    "X",
    float,
    lambda value: _is_number(value) and math.isfinite(value) and value >= 0,
)
SHARE = Values("a number above 0 and below 1", "SHARE", float, lambda value: _is_number(value) and 0 < value < 1)
TRUTH = Values("True or False", "", str, lambda value: isinstance(value, bool))
ANYTHING = Values("", "", str, lambda value: True)


def option(
    default: object,
    help: str,
    values: Values[object] | None = None,
    *,
    metavar: str = "",
    flag: str = "",
    none: str = "",
) -> Any:
    """A field of a dataclass of options; a default of True or False makes a flag, a tuple one that is repeated.

    Args:
        default: the default value of the field.
        help: what the option does; for a default of True, what happens if it is switched off. The default is added.
        values: what it may be; None: True or False, or anything.
        metavar: what a command's help calls its value; by default as `values` has it.
        flag: the option of the command, without `--`, if it is not the name.
        none: what people write on the command line for None.
    """
    known = values or (TRUTH if isinstance(default, bool) else ANYTHING)
    about = {"help": help, "values": known, "metavar": metavar or known.metavar, "flag": flag, "none": none}
    return field(default=default, metadata=about)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of a function and of its command, each a field made by `option`.

    Raises:
        TextcriticError: a value out of range, with the name of the option.
    """

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            parts = value if isinstance(value, list | tuple) else [value]
            if any(isinstance(part, str) and not part for part in parts):
                raise TextcriticError(f"{one.name}: is empty; give {one.metadata['metavar'] or 'a value'}")
            if value is not one.default and (fault := one.metadata["values"].fault(value)):
                raise TextcriticError(f"{one.name}: {fault}")

    def asked(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        given = {one.name: (getattr(self, one.name), one.default) for one in fields(self)}
        return {
            name: value
            for name, (value, default) in given.items()
            if type(value) is not type(default) or value != default
        }

    def part(self, options: Callable[..., Chosen]) -> Chosen:
        """Those of them that another class of options has."""
        return options(**{one.name: getattr(self, one.name) for one in fields(options)})  # type: ignore[arg-type]


class Function(Protocol[P, R]):
    """A function of one or two sets of documents with options, as type checkers see it."""

    def __call__(self, real: object, samples: object = ..., /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call it."""


def takes(options: Callable[P, object]) -> Callable[[Callable[..., R]], Function[P, R]]:
    """Give a function the fields of a dataclass of options as its keywords; it gets them as `options`.

    None means the default. The signature and the help of the function list the options. While the function runs, it
    writes its progress to stderr.

    Raises:
        TypeError: (when the function is called) there is no option of this name; it names the nearest.
        TextcriticError: likewise, a value is out of range.
    """

    def decorate(function: Callable[..., R]) -> Function[P, R]:
        plain, keywords = inspect.signature(function), inspect.signature(options).parameters
        documents = [one for name, one in plain.parameters.items() if name != "options"]
        signature = plain.replace(parameters=[*documents, *keywords.values()])

        @functools.wraps(function)
        def called(*args: object, **given: object) -> R:
            for name in given:
                if name not in signature.parameters:
                    hint = suggestion(name, keywords, ", ".join(keywords))
                    raise TypeError(f"{function.__name__}() has no option {name!r}; {hint}")
            bound = signature.bind(*args, **given).arguments
            chosen = {name: bound.pop(name) for name in keywords if name in bound}
            asked = {name: value for name, value in chosen.items() if value is not None}
            name = function.__name__.removeprefix("compare_")
            with progress_on_stderr(name), needing_extras(name):
                return function(**bound, options=options(**asked))  # type: ignore[call-arg]

        known = fields(cast(type[Options], options))
        listed = "".join(
            f"    {one.name}: {'if False, ' if one.default is True else ''}{described(one)}\n" for one in known
        )
        called.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n\nOptions:\n{listed}"
        called.__signature__ = signature  # type: ignore[attr-defined]
        return called

    return decorate


def described(one: Field[object]) -> str:
    """What an option does, with its default."""
    plain = one.default in (None, ()) or isinstance(one.default, bool)
    return str(one.metadata["help"]) + ("" if plain else f" (default {one.default})")


def in_order(options: type[Options]) -> Iterator[tuple[type, Field[object]]]:
    """Each option with the class that first declares it; those of a class before those of its bases."""
    bases = options.__mro__
    known = {one.name: one for one in fields(options)}
    for place, base in enumerate(bases):
        later = {name for other in bases[place + 1 :] for name in inspect.get_annotations(other)}
        yield from ((base, known[name]) for name in inspect.get_annotations(base) if name in known.keys() - later)


def _whole(text: str) -> int:
    if not re.fullmatch("-?[0-9]{1,4000}", text):  # Python reads no more than 4,300 digits
        raise ValueError(text)
    return int(text)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
