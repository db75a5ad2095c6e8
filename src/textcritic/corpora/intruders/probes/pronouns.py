"""The edits of pronouns: gender flip, animacy downgrade and animacy upgrade (Shen et al. 2021, section 7.1)."""

from collections.abc import Sequence

from textcritic.corpora.intruders.probes.verb_forms import base_of, base_of_third
from textcritic.corpora.intruders.probes.word_lists import word_class
from textcritic.corpora.intruders.probes.words import (
    AUXILIARIES,
    BE,
    COORDINATORS,
    DETERMINERS,
    DO,
    MODALS,
    OBJECTS,
    ORDINALS,
    POSSESSIVES,
    PREPOSITIONS,
    RELATIVES,
    SUBJECTS,
    SUBORDINATORS,
    Refused,
    Token,
    following,
    is_adverb,
    random_of,
    rewritten,
    tokens_of,
)

NO_PERSON = Refused("no pronoun of a man or a woman")
NO_THING = Refused("no pronoun of a thing")
BOTH = Refused("names both genders in one breath, as in `he or she`")
EXPLETIVE = Refused("its only `it` stands for no thing, as in `it is said that`")

_MEN = {"he": "she", "him": "her", "himself": "herself", "his": "her"}
_WOMEN = {"she": "he", "herself": "himself", "hers": "his", "her": "his"}
_SHORT = ("'s", "'d", "'ll")


def flip_gender(sentence: str) -> str | Refused:
    """She for he, him for her and so on, all pronouns of the sentence; names and nouns stay.

    `her` becomes `his` before a noun phrase and `him` elsewhere; `his` becomes `hers` where no noun phrase follows.
    """
    tokens = tokens_of(sentence)
    if _both_in_one_breath(tokens):
        return BOTH
    edits = {}
    for position in range(len(tokens)):
        word, ending = _apart(tokens, position)
        new = (_MEN | _WOMEN).get(word)
        if new is None:
            continue
        if word == "her" and not _is_possessive(tokens, position):
            new = "him"
        if word == "his" and not _starts_noun_phrase(tokens, position + 1):
            new = "hers"
        edits[position] = new + ending
    return rewritten(sentence, tokens, edits) if edits else NO_PERSON


def downgrade_animacy(sentence: str) -> str | Refused:
    """It for he, she, him and her; its for his and her as possessives; itself for himself and herself."""
    tokens = tokens_of(sentence)
    if _both_in_one_breath(tokens):
        return BOTH
    edits = {}
    for position in range(len(tokens)):
        word, ending = _apart(tokens, position)
        if word in ("he", "she", "him"):
            edits[position] = "it" + ending
        elif word == "her":
            edits[position] = "its" if _is_possessive(tokens, position) else "it"
        elif word in ("his", "hers"):
            edits[position] = "its"
        elif word in ("himself", "herself"):
            edits[position] = "itself"
    return rewritten(sentence, tokens, edits) if edits else NO_PERSON


def upgrade_animacy(sentence: str, gender: str | None = None) -> str | Refused:
    """He or she for it, him or her where it is an object, his or her for its; one gender in a whole sentence.

    An `it` that refers to nothing (`it is said that`, `it was not until`) stays.

    Args:
        sentence: to edit.
        gender: `he` or `she`; without it a draw that the sentence seeds. (The published probes have `she` in the first
            half of each file and `he` in the second.)
    """
    tokens = tokens_of(sentence)
    she = (gender or random_of("animacy-up", sentence).choice(["he", "she"])) == "she"
    forms = ("she", "her", "her", "herself") if she else ("he", "him", "his", "himself")
    subject, as_object, possessive, reflexive = forms
    edits, expletive = {}, False
    for position in range(len(tokens)):
        word, ending = _apart(tokens, position)
        if word == "it" and _is_expletive(tokens, position):
            expletive = True
        elif word == "it":
            edits[position] = subject + ending if ending or _is_subject(tokens, position) else as_object
        elif word == "its":
            edits[position] = possessive
        elif word == "itself":
            edits[position] = reflexive
    if not edits:
        return EXPLETIVE if expletive else NO_THING
    return rewritten(sentence, tokens, edits)


_SAID = word_class("said")
_JUDGED = word_class("judged")
_WHEN = word_class("when")
_SEEMS = word_class("seems")
_WEATHER = word_class("weather")
_IDIOMS = ("came to pass", "come to pass", "cometh to pass", "go well with", "goes well with", "be well with")
_DEGREES = frozenset(["not", "more", "most", "also", "less"])


def _apart(tokens: Sequence[Token], position: int) -> tuple[str, str]:
    """A word in lower case, and the contracted verb behind it as written; nothing of an abbreviation or "[t]he"."""
    token = tokens[position]
    glued = position > 0 and tokens[position - 1].text == "]" and tokens[position - 1].end == token.start
    if glued or (len(token.text) > 1 and token.text.isupper()):
        return "", ""
    word = token.lower
    short = next((one for one in _SHORT if word.endswith(one)), "")
    return word.removesuffix(short), token.text[len(token.text) - len(short) :]


def _both_in_one_breath(tokens: Sequence[Token]) -> bool:
    words = [token.lower for token in tokens]
    triples = zip(words, words[1:], words[2:], strict=False)
    return any(
        middle in ("or", "/") and ((one in _MEN and other in _WOMEN) or (one in _WOMEN and other in _MEN))
        for one, middle, other in triples
    )


def _is_possessive(tokens: Sequence[Token], position: int) -> bool:
    """Whether `her` at a position is the possessive, judged by the words before and after it."""
    if not _starts_noun_phrase(tokens, position + 1):
        return False
    before, after = (tokens[position - 1].lower if position else ""), tokens[position + 1]
    if before in _NAMING:  # named her Miss Ohio; named her son
        return not (after.is_capital or after.text in "\"“'")
    if before in _GIVING and (after.is_capital or after.text[0].isdigit()):  # earned her Grammy nominations
        return after.lower in _HERS_BEFORE
    return not (before in _LETTING and after.lower in _BARE | _STATES)  # helped her win, made her rich


def _starts_noun_phrase(tokens: Sequence[Token], position: int) -> bool:
    """Whether a noun phrase without a determiner can begin at a position, as it does behind a possessive."""
    if position >= len(tokens):
        return False
    token, after = tokens[position], following(tokens, position)
    word = token.lower
    if not (token.is_word or token.text[0].isdigit()):
        return token.text in "\"“‘'&$" and position + 1 < len(tokens)
    if token.is_capital:
        return True
    if word in _NOT_NOUNS:
        return False
    if is_adverb(word) or word in ORDINALS:
        return bool(after) and after not in _NOT_NOUNS and (after[0].isalnum() or after[0] in '"“')
    return True


_NOT_NOUNS = (
    (PREPOSITIONS - {"past", "inside", "outside", "near"})
    | (DETERMINERS - {"no", "both", "all"})
    | {"all", "both"}
    | POSSESSIVES
    | SUBJECTS
    | OBJECTS
    | COORDINATORS
    | (SUBORDINATORS - {"even", "if"})
    | (AUXILIARIES - {"may", "might", "can", "will", "must", "being"})
    | RELATIVES
    | word_class("behind_object")
)
_GIVING = word_class("giving")
_NAMING = word_class("naming")
_LETTING = word_class("letting")
_BARE = word_class("bare")
_STATES = word_class("states")
_HERS_BEFORE = word_class("hers_before")


def _is_subject(tokens: Sequence[Token], position: int) -> bool:
    """Whether `it` at a position is a subject: a finite verb follows, or an auxiliary comes before it (was it)."""
    before = tokens[position - 1].lower if position else ""
    if before in BE | DO | MODALS:
        return True
    place = position + 1
    while place < len(tokens) and is_adverb(tokens[place].lower):
        place += 1
    if place >= len(tokens):
        return False
    word = tokens[place].lower
    if before in PREPOSITIONS - SUBORDINATORS - {"for", "than", "like"}:
        return False
    if word in AUXILIARIES or word.endswith("n't") or base_of(word) or base_of_third(word):
        return not (before and base_of_third(before) and word not in AUXILIARIES)
    return position == 0 or before in SUBORDINATORS | {"that", "which"}


def _is_expletive(tokens: Sequence[Token], position: int) -> bool:
    """Whether `it` at a position refers to nothing: it is said that, it was not until 1960 that, it seems that."""
    first, *words = [token.lower for token in tokens[position + 1 : position + 9]] or [""]
    rest = [word for word in words if not is_adverb(word) and word not in _DEGREES]
    if any(phrase in " ".join([first, *words[:5]]) for phrase in _IDIOMS):
        return True
    if first in ("can", "may", "should", "could", "has", "had", "must"):
        return rest[:1] in (["be"], ["been"]) and rest[1:2] != [] and rest[1] in _SAID and rest[2:3] == ["that"]
    if first not in ("is", "was") or not rest:
        return first in _WEATHER or (first in _SEEMS and "that" in words[:2])
    if rest[0] in _SAID:
        return rest[1:2] in (["that"], ["how"], ["whether"])
    if rest[0] in _JUDGED:
        return rest[1:2] in (["to"], ["that"], ["for"], ["if"], ["whether"])
    if rest[0] in _WHEN:
        return "that" in rest or any(word in SUBJECTS - {"there", "which", "who"} for word in rest[1:])
    return rest[0] in ("until", "here", "there")
