"""Forms of English verbs, by lists and spelling rules of our own: base, past, participle, third person."""

import re
from functools import cache, lru_cache

from textcritic.corpora.intruders.probes.word_lists import IRREGULAR, REGULAR, lines_of, word_class, word_list

VOWELS = "aeiou"
WORDS_KEPT = 1 << 16
"""Words whose forms are remembered."""
_TOO_SHORT = frozenset(["ed", "bed", "red", "ied", "eed"])


@lru_cache(WORDS_KEPT)
def base_of(word: str) -> str | None:
    """The base form of a past form or past participle, such as "go" for "went"; None where the word is neither.

    Words in -ed that are no verb of the list are taken for one, as "to X" can be made of most words.
    """
    irregular = _irregular()
    listed = irregular.get(word) or _prefixed(word)
    if listed:
        return listed
    short = word.rpartition("-")[2] in _TOO_SHORT
    if word.endswith("ed") and not short and word not in _NOT_PAST and word.replace("-", "").isalpha():
        base = _regular(word)
        return base if len(word) > 4 or base in _bases() else None
    return None


def is_past_only(word: str) -> bool:
    """Whether a past form cannot be a participle: went, but neither made nor worked."""
    return word in _past_only()


@lru_cache(WORDS_KEPT)
def is_past(word: str) -> bool:
    """Whether a word can be a past form: went, made, worked; not gone."""
    return word in _pasts() or (base_of(word) is not None and word not in _irregular())


def is_participle(word: str) -> bool:
    """Whether a word can be a past participle: gone, made, worked."""
    return base_of(word) is not None and not is_past_only(word)


@lru_cache(WORDS_KEPT)
def base_of_third(word: str) -> str | None:
    """The base form of a listed verb in the third person, "work" for "works" and "worketh"; else None."""
    if word.endswith("eth"):
        return next((base for base in (word[:-3], word[:-2]) if base in _bases()), None)
    return _third().get(word)


def is_base(word: str) -> bool:
    """Whether a word is the base form of a verb that is listed."""
    return word in _bases()


def third_person(base: str) -> str:
    """The third person of a base form: works, goes, studies, has, is."""
    if base in ("be", "have"):
        return {"be": "is", "have": "has"}[base]
    if base.endswith(("s", "x", "z", "ch", "sh")) or base in ("go", "do", "undergo", "forgo", "veto", "echo"):
        return base + "es"
    if base.endswith("y") and base[-2:-1] not in VOWELS:
        return base[:-1] + "ies"
    return base + "s"


def _regular(word: str) -> str:
    stem = word[:-2]
    head, _, last = stem.rpartition("-")
    if head:
        inner = _regular(last + "ed")
        return f"{head}-{inner}"
    for candidate in (stem, stem + "e", *([stem[:-1]] if stem[-1:] == stem[-2:-1] else []), stem[:-1] + "y"):
        if candidate in _bases() and _past_of(candidate) == word:
            return candidate
    for prefix in _PREFIXES:
        rest = stem.removeprefix(prefix)
        if rest != stem and len(rest) > 2 and (base := _regular(rest + "ed")) in _bases():
            return prefix + base
    if stem.endswith("e"):
        return stem + "e"
    if stem.endswith("i"):
        return stem[:-1] + ("ie" if len(stem) <= 2 else "y")
    if stem[-1:] == stem[-2:-1] and stem[-1] not in "sfzleo" and len(stem) > 3:
        return stem[:-1]
    if stem.endswith("ll") and stem.endswith(_DOUBLED_L):
        return stem[:-1]
    return stem + "e" if _drops_e(stem) else stem


def _past_of(base: str) -> str:
    """The regular past of a listed verb, without doubling where the spelling does not say so."""
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in VOWELS:
        return base[:-1] + "ied"
    if re.fullmatch(r".*[^aeiou][aeiou][bdgklmnprt]", base) and base not in _UNDOUBLED and _stressed_last(base):
        return base + base[-1] + "ed"
    return base + "ed"


def _stressed_last(base: str) -> bool:
    one_syllable = len(re.findall(r"[aeiouy]+", base)) == 1
    return one_syllable or base.endswith(_DOUBLING)


_DOUBLING = word_list("doubling")
_UNDOUBLED = word_class("undoubled")
_DOUBLED_L = word_list("doubled_l")


def _drops_e(stem: str) -> bool:
    """Whether the base of a verb in -ed that is not listed ends in e, by the letters before the ending."""
    if stem.endswith(("ss", "zz", "ocus", "bias", "canvas", "collar", "pillar", "ruin")):
        return False
    if re.search(r"([bcdfgkpstz]l|[cvuzs]|[dlr]g|[aeu]g|[aeiu]ng)$", stem):
        return True
    if re.search(r"[aeiou]{2}[a-z]$", stem) and not re.search(r"(ui|ua|ia|io|eu)[a-z]$", stem):
        return False
    if re.search(
        r"[aeiouy]([bk]|[au]t|[aiou]d|[aiouy]p|[aiu]m|[aiu]r|[iu]n|[aiou]l)$|(at|ad|id|ud|od|ap|ip|im|am|um|ir|ur|ar|in|un|il|ul|al|ol|ut)$",
        stem,
    ):
        return True
    return stem.endswith(_E_LOST)


# Ends of stems that lose an e where other stems with these letters do not: completed, voted, ignored, phoned.
_E_LOST = word_list("e_lost")
_NOT_PAST = word_class("not_past")


@cache
def _bases() -> frozenset[str]:
    regular = {word for line in lines_of(REGULAR) for word in line.split()}
    return frozenset(regular | {line.split()[0] for line in lines_of(IRREGULAR)})


@cache
def _third() -> dict[str, str]:
    return {third_person(base): base for base in _bases()}


@cache
def _irregular() -> dict[str, str]:
    bases: dict[str, str] = {}
    for line in lines_of(IRREGULAR):
        base, past, participle = line.split()
        for form in (*past.split("/"), *participle.split("/")):
            if form not in _ALSO_BASE:
                bases.setdefault(form, base)
    return bases


@cache
def _past_only() -> frozenset[str]:
    forms = [line.split() for line in lines_of(IRREGULAR)]
    participles = {form for _, _, cell in forms for form in cell.split("/")}
    return frozenset(_pasts() - participles - {"showed", "proved", "sewed", "sowed", "swelled", "strewed"})


@cache
def _pasts() -> frozenset[str]:
    return frozenset(form for line in lines_of(IRREGULAR) for form in line.split()[1].split("/"))


# Forms that are also the past of another verb ("to found", "to wind", "to lie"), or a noun far more often.
_ALSO_BASE = frozenset(["wound"])
_PREFIXES = ("re-", "co-", "re", "over", "under", "out", "mis", "un", "inter", "pre-", "pre")


def _prefixed(word: str) -> str | None:
    for prefix in _PREFIXES:
        rest = word.removeprefix(prefix)
        if rest != word and len(rest) > 3 and rest in _irregular() and word not in _PREFIX_TRAPS:
            return prefix + _irregular()[rest]
    return None


_PREFIX_TRAPS = word_class("prefix_traps")
