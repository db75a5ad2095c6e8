"""The words of a language that show who is meant: pronouns by gender, titles, names, nouns for people.

They are in a data file; the comments in `languages/en.yaml` explain its keys. It is read at the first use and kept.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unicodedata import category, normalize

import yaml

from textcritic.errors import TextcriticError
from textcritic.values import JsonObject

FOLDER = Path(__file__).parent / "languages"

MALE, FEMALE, NEITHER = "male", "female", "neither"
CASES = ("subject", "object", "possessive", "own")


@dataclass(frozen=True, slots=True)
class Pronoun:
    """A pronoun.

    Attributes:
        gender: male, female, or None where the word does not show it.
        plural: whether it refers to several.
        person: 1, 2 or 3.
        cases: those of `CASES` that its form can be.
        reflexive: whether it refers to the subject of its clause.
        quoted: whether it means nobody outside quotation marks ("thou" in old texts, which often have none).
    """

    gender: str | None
    plural: bool
    person: int
    cases: frozenset[str]
    reflexive: bool
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun for people: its gender, None where the word does not show it, and whether it refers to several."""

    gender: str | None
    plural: bool


@dataclass(frozen=True, slots=True, repr=False)
class Language:
    """The data file of a language; all words are in lower case, except those of `capitalised`.

    Attributes:
        file: that it was read from.
        capitals_mark_names: whether a capital letter inside a sentence marks a name.
        pronouns, nouns: by the word.
        titles, given_names: the gender of each, None where the word does not show it.
        same_name: the common form of each form of a name.
        determiners: whether what follows each of them is known already.
        others: the lists of `LISTS`.
        degrees: what people put behind their names, as it is written; a file may have none.
        verb_endings, plural_endings: those of `others`, in order.
        function_words_and_pronouns: of `others` and `pronouns`.
    """

    file: str
    capitals_mark_names: bool
    pronouns: Mapping[str, Pronoun]
    titles: Mapping[str, str | None]
    given_names: Mapping[str, str | None]
    same_name: Mapping[str, str]
    nouns: Mapping[str, Noun]
    determiners: Mapping[str, bool]
    others: Mapping[str, frozenset[str]]
    degrees: frozenset[str]
    verb_endings: tuple[str, ...]
    plural_endings: tuple[str, ...]
    function_words_and_pronouns: frozenset[str]

    def __repr__(self) -> str:
        return f"Language({self.file!r})"

    def __getitem__(self, name: str) -> frozenset[str]:
        """One of `LISTS`."""
        return self.others[name]

    def noun(self, word: str) -> Noun | None:
        """The noun for people that a word in lower case is, or ends with behind a hyphen; None for any other."""
        noun = self.nouns.get(word)
        return self.nouns.get(word.rpartition("-")[2]) if noun is None and "-" in word else noun

    def is_verb(self, word: str) -> bool:
        """Whether a word, as it is written, is one of the verbs that are known, or ends like one."""
        others = self.others
        if word in others["verbs"] or word in others["auxiliaries"]:
            return True
        return word.endswith(self.verb_endings) and word.islower()


class GivenNames(dict[str, str | None]):
    """Given names, in lower case, and their genders; looked up without accents, and by what is before a hyphen, too."""

    def __contains__(self, word: object) -> bool:
        return self.form_of(word) is not None

    def get(self, word: str, default: Any = None) -> Any:
        """The gender; `default` where the name is not known."""
        form = self.form_of(word)
        return default if form is None else self[form]

    def form_of(self, word: object) -> str | None:
        """The form of a name that is listed; None where there is none."""
        if dict.__contains__(self, word):
            return str(word)
        if not isinstance(word, str) or (word.isascii() and "-" not in word):
            return None
        plain = "".join(sign for sign in normalize("NFD", word) if category(sign) != "Mn")
        return next((form for form in (plain, plain.partition("-")[0]) if dict.__contains__(self, form)), None)


LISTS = (
    "abbreviations", "possessive_endings", "conjunctions", "particles", "function_words", "inside_phrases",
    "places_follow", "clause_words", "verbs_of_speech", "auxiliaries", "copulas", "verb_endings", "verbs",
    "also_adjectives", "links", "plural_endings", "capitalised", "head_ends", "thing_pronouns",
    "feminine_things", "subordinate",
)  # fmt: skip
_GENDERS: Mapping[str, str | None] = {MALE: MALE, FEMALE: FEMALE, NEITHER: None}
_NOUNS = {f"{gender}{plural}": gender for gender in _GENDERS for plural in ("", " plural")}
_KEYS = ("capitals_mark_names", "pronouns", "titles", "given_names", "same_names", "nouns", "determiners", *LISTS)


@cache
def load_language(name: str = "en") -> Language:
    """The data of a language; read once in a process, for English in about 10 ms.

    Args:
        name: `en`, or the path of a file.

    Raises:
        TextcriticError: there is no such file, or it is not of this form; the line names the file and the key.
    """
    shipped = FOLDER / f"{name}.yaml"
    path = shipped if name.isalpha() and shipped.is_file() else Path(name)
    try:
        loaded = yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (OSError, UnicodeDecodeError) as error:
        known = ", ".join(sorted(file.stem for file in FOLDER.glob("*.yaml")))
        raise TextcriticError(f"language {name!r}: neither one of {known} nor a file that can be read") from error
    except yaml.YAMLError as error:
        raise TextcriticError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    return _Reader(path).language(loaded)


@dataclass(frozen=True)
class _Reader:
    """Checks what is in a file; each error is a line that names the file and the key."""

    path: Path

    def language(self, data: object) -> Language:
        data = self.table(data, "the file", _KEYS, ("degrees",))
        if not isinstance(data["capitals_mark_names"], bool):
            raise self.error("capitals_mark_names", "should be true or false")
        nouns = self.by_list(data, "nouns", tuple(_NOUNS))
        definite = self.by_list(data, "determiners", ("definite", "indefinite"))
        others = {key: frozenset(self.words(data[key], key, lower=key != "capitalised")) for key in LISTS}
        pronouns = self.pronouns(data["pronouns"])
        return Language(
            file=str(self.path),
            capitals_mark_names=data["capitals_mark_names"],
            pronouns=pronouns,
            titles=self.genders(data, "titles"),
            given_names=GivenNames(self.genders(data, "given_names")),
            degrees=frozenset(self.words(data.get("degrees", ""), "degrees", lower=False)),
            same_name=self.same_names(data["same_names"]),
            nouns=MappingProxyType(
                {word: Noun(_GENDERS[_NOUNS[kind]], kind.endswith("plural")) for word, kind in nouns.items()}
            ),
            determiners=MappingProxyType({word: kind == "definite" for word, kind in definite.items()}),
            others=MappingProxyType(others),
            verb_endings=tuple(sorted(others["verb_endings"])),
            plural_endings=tuple(sorted(others["plural_endings"])),
            function_words_and_pronouns=others["function_words"] | frozenset(pronouns),
        )

    def pronouns(self, data: object) -> Mapping[str, Pronoun]:
        if not isinstance(data, dict) or not data:
            raise self.error("pronouns", "should be a table with a pronoun in each line")
        return MappingProxyType({str(word).lower(): self.pronoun(word, entry) for word, entry in data.items()})

    def pronoun(self, word: object, entry: object) -> Pronoun:
        key = f"pronouns.{word}"
        if not isinstance(word, str):
            raise self.error(key, "should be a word; put quotes around it")
        entry = self.table(entry, key, ("gender", "number", "person", "case"), ("reflexive", "quoted"))
        cases = self.words(entry["case"], f"{key}.case")
        for part, value, allowed in (
            ("gender", entry["gender"], tuple(_GENDERS)),
            ("number", entry["number"], ("singular", "plural")),
            ("person", entry["person"], (1, 2, 3)),
            *((flag, entry.get(flag, False), (True, False)) for flag in ("reflexive", "quoted")),
            *(("case", case, CASES) for case in cases),
        ):
            if value not in allowed:
                raise self.error(f"{key}.{part}", f"{value!r} should be one of {', '.join(map(str, allowed))}")
        return Pronoun(
            _GENDERS[entry["gender"]],
            entry["number"] == "plural",
            entry["person"],
            frozenset(cases),
            entry.get("reflexive", False),
            entry.get("quoted", False),
        )

    def genders(self, data: JsonObject, key: str) -> Mapping[str, str | None]:
        words = self.by_list(data, key, tuple(_GENDERS))
        return MappingProxyType({word: _GENDERS[gender] for word, gender in words.items()})

    def same_names(self, groups: object) -> Mapping[str, str]:
        if not isinstance(groups, list):
            raise self.error("same_names", "should be a list")
        same: dict[str, str] = {}
        for number, group in enumerate(groups, 1):
            words = self.words(group, f"same_names, item {number}")
            for word in words:
                if same.setdefault(word, words[0]) != words[0]:
                    raise self.error(f"same_names, item {number}", f"{word!r} is in two items")
        return MappingProxyType(same)

    def by_list(self, data: JsonObject, key: str, parts: tuple[str, ...]) -> dict[str, str]:
        """The list that each word of a table of lists is in."""
        table = self.table(data[key], key, parts)
        list_of: dict[str, str] = {}
        for part in parts:
            for word in self.words(table[part], f"{key}.{part}"):
                if list_of.setdefault(word, part) != part:
                    raise self.error(f"{key}.{part}", f"{word!r} is in {key}.{list_of[word]} too")
        return list_of

    def words(self, value: object, key: str, lower: bool = True) -> list[str]:
        if not isinstance(value, str):
            raise self.error(key, "should be one text of words with spaces between them")
        return (value.lower() if lower else value).split()

    def table(self, value: object, key: str, needed: Iterable[str], allowed: Iterable[str] = ()) -> JsonObject:
        if not isinstance(value, dict):
            raise self.error(key, "should be a table")
        for missing in needed:
            if missing not in value:
                raise self.error(key, f"{missing!r} is missing")
        for extra in value:
            if extra not in (*needed, *allowed):
                raise self.error(key, f"{extra!r} is no key of it; they are {', '.join((*needed, *allowed))}")
        return value

    def error(self, key: str, should: str) -> TextcriticError:
        return TextcriticError(f"{self.path}: {key}: {should}")
