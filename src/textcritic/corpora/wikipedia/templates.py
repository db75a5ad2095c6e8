"""Inline templates that show their arguments: numbers with units, words of other languages.

Other templates are cut, because the page does not hold the text that they show. `templates.json` lists, by the name of
a template, the forms that it may have. Used is the first form whose places are all filled and whose conditions hold
(regular expressions that arguments must match). `{1}` is the first argument, `{u|ul}` the first of two that is given,
`{2 unit}` a unit by its sign, and `[...]` is there if all places in it are filled. Nothing is computed:
`{{convert|12|km|mi}}` is 12 km.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import count

from textcritic.corpora.wikipedia.gaps import GAP
from textcritic.values import JsonObject

SHOWN, NAMES, UNITS = "shown", "names", "units"
_UNIT = " unit"  # behind the name of an argument in a place
LONGEST = 2000
"""Characters of a template that is shown at most; what is longer is no number or name."""
_LANGUAGE = "lang-"  # the name of a template goes on with a language
_START = re.compile(r"\{\{\s*+([^|{}<>:]{0,60}+)([:|}])")
_BARS = re.compile(r"\|(?![^\[\]]{0,200}\]\])")  # not those of links
_NAMED = re.compile(r"\s*([^<>\[\]{}|=]*?)\s*=(.*)", re.DOTALL)
_PLACE = re.compile(r"\{([^{}]+)\}")
_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
_MARK = re.compile(r"\0(\d+)\0")
_NOTHING = f"{GAP}'\" \t\n"


def shows(wikitext: str, start: int = 0) -> bool:
    """Whether the template that starts here with `{{` is one of those that show their arguments."""
    name = _START.match(wikitext, start)
    return name is not None and _forms(name[1], name[2] == ":") is not None


def shown_source(template: str) -> str | None:
    """What a reader sees of a template, `{{...}}` without other templates in it; None: not its arguments."""
    if len(template) > LONGEST:
        return None
    first, *parts = _BARS.split(template[2:-2])
    arguments = [(named[1], named[2]) if (named := _NAMED.fullmatch(part)) else (None, part) for part in parts]
    return shown(first, arguments)


def shown(name: str, arguments: Iterable[tuple[str | None, str]]) -> str | None:
    """What a reader sees of a template on one line; None: not its arguments.

    Args:
        name: as written; of a parser function with its first argument, `formatnum:12`.
        arguments: name, None for those without one, and value of each.
    """
    name, colon, value = name.partition(":")
    forms = _forms(name, bool(colon))
    if forms is None:
        return None
    values = {"1": value} if colon else {}
    places = count(2 if colon else 1)
    for key, argument in arguments:
        values[str(next(places)) if key is None else key] = argument
    values = {key: " ".join(argument.split()) for key, argument in values.items() if argument.strip(_NOTHING)}
    for form in forms:
        conditions = all(re.fullmatch(form[key], values.get(key, "")) for key in form if key != SHOWN)
        if conditions and (text := _filled(form[SHOWN], values)):
            return text
    return None


def _forms(name: str, function: bool) -> Sequence[Mapping[str, str]] | None:
    """The forms of a template, or of a parser function, which has a colon behind its name."""
    table = _table()
    name = " ".join(name.replace("_", " ").split()).lower()
    name = table[NAMES].get(name, name)
    if function and name != "formatnum":
        return None
    found = table.get(_LANGUAGE if name.startswith(_LANGUAGE) else name)
    return found if isinstance(found, list) else None


def _filled(form: str, values: Mapping[str, str]) -> str | None:
    """The form with values in its places; None if one that is needed has none."""
    groups: list[str] = []  # replaced by marks, so that brackets in values do not count as the form's
    while group := _OPTIONAL.search(form):
        groups.append(_with_values(group[1], values) or "")
        form = f"{form[: group.start()]}\0{len(groups) - 1}\0{form[group.end() :]}"
    text = _with_values(form, values)
    while text and "\0" in text:
        text = _MARK.sub(lambda mark: groups[int(mark[1])], text)
    return text


def _with_values(form: str, values: Mapping[str, str]) -> str | None:
    given: dict[str, str] = {}
    for place in _PLACE.findall(form):
        value = next((values[key] for key in place.removesuffix(_UNIT).split("|") if key in values), None)
        if value is None:
            return None
        given[place] = _table()[UNITS].get(value, value) if place.endswith(_UNIT) else value
    return _PLACE.sub(lambda place: given[place[1]], form)


@cache
def _table() -> JsonObject:
    table: JsonObject = json.loads(files("textcritic.corpora.wikipedia").joinpath("templates.json").read_text("utf-8"))
    return table
