"""What a wiki calls its namespaces: the names in the head of a dump, MediaWiki's aliases, and those of an option."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from textcritic.values import JsonObject

FILES, CATEGORIES, OTHERS = "file", "category", "other"
"""Keys of the option `namespace_aliases`."""

# Codes that a dump may have in place of those of MediaWiki's message files.
_CODES = {
    **{"als": "gsw", "bat-smg": "sgs", "cbk": "cbk-zam", "egl": "eml", "jv-x-bms": "map-bms", "nap-x-tara": "roa-tara"},
    **{"no": "nb", "nrf": "nrm", "simple": "en"},
}
_IDS = {"6": FILES, "14": CATEGORIES}
_NO_NAMES: Mapping[str, Sequence[str]] = {}


@dataclass(frozen=True)
class Namespaces:
    """A wiki's prefixes of page titles, in lower case: local names, their aliases, and the English ones.

    Attributes:
        media: files (file, image).
        category: categories.
        others: all the rest (talk, user, template, portal), and media, which links to a file and shows the link's text.
        words: what tells that a link with an unknown prefix is a picture (thumb, right; `$1px` for its width).
    """

    media: frozenset[str]
    category: frozenset[str]
    others: frozenset[str]
    words: frozenset[str] = frozenset()

    @property
    def all(self) -> frozenset[str]:
        """Prefixes of the titles of pages that are not articles."""
        return self.media | self.category | self.others

    def more(self, aliases: Mapping[str, Iterable[str]]) -> "Namespaces":
        """With further names of files, categories and others, as written."""
        named = {kind: frozenset(map(normal, aliases.get(kind, ()))) for kind in (FILES, CATEGORIES, OTHERS)}
        media, category = self.media | named[FILES], self.category | named[CATEGORIES]
        return Namespaces(media, category, (self.others | named[OTHERS]) - media - category, self.words)


def namespaces_of(language: str, names: Iterable[tuple[str, str]]) -> Namespaces:
    """The namespaces of a wiki.

    Args:
        language: `xml:lang` of the dump; MediaWiki's names of this language, of those that it falls back on, and of
            English are added to the wiki's own. Unknown or empty: English alone.
        names: (number of the namespace, local name) as the head of the dump has them.
    """
    own: dict[str, set[str]] = {FILES: set(), CATEGORIES: set(), OTHERS: {"media", "project", "project talk"}}
    for number, name in names:
        if name and number != "0":
            own[_IDS.get(number, OTHERS)].add(name)
    tables = [_languages()[code] for code in _chain(language)]
    words = frozenset(word for table in tables for word in table.get("words", ()))
    empty = Namespaces(frozenset(), frozenset(), frozenset(), words)
    # The wiki's own names decide where one of them is an alias of another kind in a language that it falls back on.
    own_names = {kind: frozenset(map(normal, local)) for kind, local in own.items()}
    taken = frozenset().union(*own_names.values())
    aliases = {
        kind: {normal(name) for table in tables for name in table.get(key, ())} - taken
        for kind, key in ((FILES, "media"), (CATEGORIES, "category"), (OTHERS, "others"))
    }
    return empty.more({kind: own_names[kind] | aliases[kind] for kind in own_names})


def normal(prefix: str) -> str:
    """A prefix of a title as it is compared: lower case, single spaces, no marks of the writing direction."""
    if not prefix.isascii():
        prefix = prefix.translate(_MARKS)
    return " ".join(prefix.lower().replace("_", " ").split())


_MARKS = dict.fromkeys([0x200E, 0x200F, *range(0x202A, 0x202F)])


def _chain(language: str) -> list[str]:
    """The language and those that it falls back on, first its own; English is always the last."""
    known, language = _languages(), language.lower()
    code = next((c for c in (language, _CODES.get(language), language.partition("-")[0]) if c in known), None)
    codes = [code] if code else []
    for read in codes:  # grows while it is read
        codes += [further for further in known[read].get("fallback", ()) if further in known and further not in codes]
    return [read for read in codes if read != "en"] + ["en"]


@cache
def _languages() -> dict[str, JsonObject]:
    text = files("textcritic.corpora.wikipedia").joinpath("mediawiki.json").read_text("utf-8")
    languages: dict[str, JsonObject] = json.loads(text)["languages"]
    return languages
