"""What a value of JSON, Parquet or Arrow is, in messages."""

import difflib
import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b

from textcritic.errors import TextcriticError


def text_or(value: object, default: str | None, key: str, where: str) -> str | None:
    """A string, or the default for null; any other value is an error that names `where` and `key`."""
    if value is None:
        return default
    if not isinstance(value, str):
        raise TextcriticError(f"{where}: `{key}` is {kind_of(value)}; it should be a string or be left out")
    return value


def name_or(value: object, default: str | None, key: str, where: str) -> str | None:
    """An id or the name of a group: a string or a whole number; the default for null and for an empty string."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text_or(value, default, key, where) or default


def group_of(value: Mapping[str, object], where: str) -> str | None:
    """What a document belongs to: its `group`; else its `pair`; else its `doc_id` with its `prompt`.

    A `doc_id` alone is the number of a line, which two tasks share; answers to one prompt have both. A prompt may be a
    text or a chat; an empty one counts as none.
    """
    named = name_or(value.get("group"), None, "group", where) or name_or(value.get("pair"), None, "pair", where)
    prompt, number = value.get("prompt"), value.get("doc_id")
    if named is not None or not prompt or number is None:
        return named
    digest = blake2b(json.dumps(prompt, sort_keys=True, default=str).encode(), digest_size=4).hexdigest()
    return f"{name_or(number, None, 'doc_id', where)} {digest}"


def lacks(value: Mapping[str, object], key: str) -> str:
    """Words for an object without a key, and for the one that may be this key misspelt."""
    close = close_to(key, map(str, value))
    return f"there is no `{key}`" + (f", but there is `{close[0]}`" if close else "")


def close_to(key: str, names: Iterable[str]) -> list[str]:
    """The name that may be this key misspelt, or with capitals or blanks; none if there is none."""
    by_plain_name = {name.strip().casefold(): name for name in names}
    return [by_plain_name[close] for close in difflib.get_close_matches(key.casefold(), by_plain_name, 1)]


def kind_of(value: object) -> str:
    """The type of a value, in the words of JSON where these have one."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a truth value"
    names = {str: "a string", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), f"of type {type(value).__name__}")
