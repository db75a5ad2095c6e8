"""Templates that stand for words of a sentence: which of their arguments are shown, and how.

Without them "It has {{convert|12|km}} of track" loses its number. Numbers are shown as they are written: nothing is
converted or rounded. Every other template is left out, as `markup` says.
"""

import re
from collections.abc import Mapping

# What is shown of a template, by its name in lower case: {1} is its first unnamed argument, {-1} the last one, {u} the
# argument `u`; what is in square brackets is left out if one of its arguments is not there.
SHOWN: Mapping[str, str] = {
    # Numbers with units, in English, French, Spanish, Italian and German.
    "convert": "{1}[ {2}]", "cvt": "{1}[ {2}]", "val": "{1}[ ± {2}][ {u}][ {ul}]", "unité": "{1}[ {2}]",
    "unidad": "{1}[ {2}]", "unità": "{1}[ {2}]", "m": "{1}[ {u}]", "formatnum": "{1}", "nombre": "{1}[ {2}]",
    "num": "{1}[ {2}]", "zahl": "{1}", "frac": "{1}[/{2}]", "fraction": "{1}[/{2}]", "sfrac": "{1}[/{2}]",
    "ordinal": "{1}", "us$": "US${1}", "usd": "US${1}", "£": "£{1}", "gbp": "£{1}", "€": "€{1}", "euro": "€{1}",
    "inr": "₹{1}", "¥": "¥{1}", "jpy": "¥{1}",
    # Dates.
    "circa": "c. {1}[ – {2}]", "c.": "c. {1}[ – {2}]", "ca.": "c. {1}[ – {2}]", "as of": "As of {1}[ {2}][ {3}]",
    "date": "{1}[ {2}][ {3}]", "fl.": "fl. {1}", "floruit": "fl. {1}",
    # Words of other languages.
    "lang": "{2}", "langue": "{2}", "lang-x": "{1}", "transl": "{-1}", "transliteration": "{-1}",
    "nihongo": "{1}[ ({2}[, {3}])]",
    "nihongo2": "{1}", "nihongo3": "{1}[ ({2}[, {3}])]", "zh": "{c}", "korean": "{hangul}",
    # Words as they are, in another form.
    "nowrap": "{1}", "nobr": "{1}", "nobreak": "{1}", "nbsp": " ", "small": "{1}", "big": "{1}", "abbr": "{1}",
    "abbreviation": "{1}", "tooltip": "{1}", "smallcaps": "{1}", "sc": "{1}", "visible anchor": "{1}", "sup": "{1}",
    "sub": "{1}", "code": "{1}", "strong": "{1}", "em": "{1}", "ill": "{1}", "interlanguage link": "{1}",
    "linktext": "{1}", "ship": "{1} {2}", "uss": "USS {1}", "hms": "HMS {1}", "ss": "SS {1}", "rms": "RMS {1}",
    # Signs.
    "ndash": "–", "en dash": "–", "mdash": "—", "em dash": "—", "snd": " – ", "spaced ndash": " – ",
}  # fmt: skip
# Of these {1} and {2} are put together first: `5|to|10|km` is `5 to 10|km`, and `5|ft|10|in` is `5 ft 10|in`.
RANGED = frozenset({"convert", "cvt"})
BETWEEN = {
    "to": " to ", "-": "–", "–": "–", "and": " and ", "or": " or ", "x": " × ", "×": " × ", "by": " by ",
    "+/-": " ± ", "±": " ± ",
}  # fmt: skip
UNITS = {
    "sqmi": "sq mi", "sqft": "sq ft", "sqin": "sq in", "sqkm": "km²", "km2": "km²", "m2": "m²", "cm2": "cm²",
    "m3": "m³", "cuft": "cu ft", "cumi": "cu mi", "C": "°C", "F": "°F", "C-change": "°C", "F-change": "°F",
    "acre": "acres", "usgal": "US gal", "impgal": "imp gal",
}  # fmt: skip
LONGEST = 500  # characters of a template that is looked at
_BARS = re.compile(r"\|(?![^\[\]]{0,200}\]\])")  # not those of links
_PLACE = re.compile(r"\{([^{}]+)\}")
_INNER = re.compile(r"\{\{(?!\{)[^{}<]*+\}\}(?!\})")
_NUMBER = re.compile(r"[\d.,+−-]+")
_NAMED = re.compile(r"\s*([\w .-]{1,40}?)\s*=(.*)", re.DOTALL)


def shown(template: str) -> str | None:
    """The wikitext that a template shows; None if it is not one of `SHOWN`, or has no such argument.

    Args:
        template: from its first brace to its last one; templates inside it are looked up as well.
    """
    if len(template) > LONGEST:
        return None
    name = _name(template)
    if name not in SHOWN and not name.startswith("lang-"):
        return None
    inside = template[2:-2]
    for _ in range(3):
        if "{{" not in inside:
            break
        inside = _INNER.sub(lambda inner: shown(inner[0]) or "", inside)
    if "<" in inside or "{{" in inside:
        return None
    unnamed, named = _arguments(name, inside)
    if name in RANGED:
        unnamed = _ranged(unnamed)
    pattern = SHOWN.get(name) or SHOWN["lang-x"]
    known = named | {str(n): part for n, part in enumerate(unnamed, 1)} | ({"-1": unnamed[-1]} if unnamed else {})
    while (optional := re.search(r"\[([^\[\]]*)\]", pattern)) is not None:
        kept = optional[1] if all(known.get(place) for place in _PLACE.findall(optional[1])) else ""
        pattern = pattern[: optional.start()] + kept + pattern[optional.end() :]
    if not all(known.get(place) for place in _PLACE.findall(pattern)):
        return None
    return _PLACE.sub(lambda place: known[place[1]], pattern)


def _name(template: str) -> str:
    """The name of a template in lower case; `formatnum` has a colon behind it."""
    head = re.split(r"[|}]", template[2:LONGEST], maxsplit=1)[0]
    if head.strip().lower().startswith("formatnum:"):
        return "formatnum"
    return " ".join(head.replace("_", " ").split()).lower()


def _arguments(name: str, inside: str) -> tuple[list[str], dict[str, str]]:
    """The unnamed arguments, where `2=` names the second, and the named ones."""
    if name == "formatnum":
        return [inside.partition(":")[2].split("|")[0].strip()], {}
    unnamed: dict[int, str] = {}
    named: dict[str, str] = {}
    place = 0
    for part in _BARS.split(inside)[1:]:
        found = _NAMED.fullmatch(part)
        if found and found[1].isascii() and found[1].isdecimal():
            unnamed[int(found[1][:2])] = found[2].strip()
        elif found:
            named[found[1]] = found[2].strip()
        else:
            place += 1
            unnamed[place] = part.strip()
    return [unnamed.get(n, "") for n in range(1, max(unnamed, default=0) + 1)], named


def _ranged(arguments: list[str]) -> list[str]:
    """A number, or several as one, and their unit."""
    value, rest = arguments[:1], arguments[1:]
    while len(rest) > 1 and rest[0].lower() in BETWEEN:
        value = [value[0] + BETWEEN[rest[0].lower()] + rest[1]]
        rest = rest[2:]
    if len(rest) > 2 and _NUMBER.fullmatch(rest[1]) and not _NUMBER.fullmatch(rest[2]):  # two units: feet and inches
        value, rest = [f"{value[0]} {UNITS.get(rest[0], rest[0])} {rest[1]}"], rest[2:]
    return value + [UNITS.get(unit, unit) for unit in rest[:1]]
