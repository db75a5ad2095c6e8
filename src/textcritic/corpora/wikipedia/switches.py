"""Switches of a page in any language, such as `__NOTOC__` and `__KEIN_INHALTSVERZEICHNIS__`."""

import re

_SWITCHES = (
    "notoc|forcetoc|toc|noeditsection|newsectionlink|nonewsectionlink|nogallery|hiddencat|expectunusedcategory|"
    "expectunusedtemplate|noindex|index|nocontentconvert|nocc|notitleconvert|notc|staticredirect|disambig|"
    "archivedtalk|notalk|start|end"
)
_PART = r"[^\W\d_][^\s_!-@\[-`{-~]*+"  # a letter first; the marks of Indian vowels are none
_NAME = rf"{_PART}(?:_{_PART})*"
_SWITCH = re.compile(
    rf"__(?:{_SWITCHES})__|^__{_NAME}__$|(?<![0-9A-Za-z_])__(?P<name>{_NAME})__(?!_)", re.IGNORECASE | re.MULTILINE
)
# Names in programs that look like a switch.
_IN_PROGRAMS = (
    "BASE_FILE CLASS COUNTER CPLUSPLUS DATA DATE DIR FILE FUNC FUNCTION GNUC LINE METHOD NAMESPACE PACKAGE "
    "PRETTY_FUNCTION STDC STDC_VERSION SUB TIME TIMESTAMP TRAIT VA_ARGS VERSION"
)
_PROGRAMS = frozenset(_IN_PROGRAMS.split())


def without_switches(text: str) -> str:
    """The text without switches: the English ones, any that is alone on a line, and names in capitals.

    Elsewhere a name stays if it is in small letters (`__init__`), next to letters or of a programming language.
    """
    return _SWITCH.sub(_instead, text)


def _instead(switch: re.Match[str]) -> str:
    name = switch["name"]
    return switch[0] if name and (name != name.upper() or name in _PROGRAMS) else ""
