"""A sentence as words and marks; the closed classes of English words that the edits ask for."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# A number with its commas and point; a word with its hyphens and apostrophes; any other mark alone.
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*(?![\w.,]*[A-Za-z])|\w+(?:[-'’]\w+)*|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a probe cannot edit a sentence; `reason` is one of few, so that refusals can be counted."""

    reason: str


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a number or a mark: its text, and where it begins and ends in the sentence."""

    text: str
    start: int
    end: int

    @property
    def lower(self) -> str:
        """The text in lower case, with a plain apostrophe."""
        return self.text.lower().replace("’", "'")

    @property
    def is_word(self) -> bool:
        """Whether it is a word, and neither a number nor a mark."""
        return self.text[0].isalpha()

    @property
    def is_capital(self) -> bool:
        """Whether it begins with a capital letter."""
        return self.text[0].isupper()


def tokens_of(sentence: str) -> list[Token]:
    """The words, numbers and marks of a sentence, in order; spaces belong to none."""
    return [Token(match.group(), match.start(), match.end()) for match in _TOKEN.finditer(sentence)]


def rewritten(sentence: str, tokens: Sequence[Token], edits: Mapping[int, str]) -> str:
    """The sentence with other text in place of some tokens, by position; an empty text takes the space before it along.

    The first letter stays a capital where it was one; all other text stays as it is.
    """
    pieces, end = [], 0
    for position, token in enumerate(tokens):
        if position not in edits:
            continue
        text = edits[position]
        before = sentence[end : token.start]
        pieces += [before if text else before.rstrip(), _like(token.text, text) if text else ""]
        end = token.end
    return "".join([*pieces, sentence[end:]])


def _like(old: str, new: str) -> str:
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new[0].upper() + new[1:] if old[0].isupper() else new


def following(tokens: Sequence[Token], position: int) -> str:
    """The next token in lower case; empty at the end."""
    return tokens[position + 1].lower if position + 1 < len(tokens) else ""


def quoted(tokens: Sequence[Token]) -> list[bool]:
    """[tokens], whether each stands in double quotes, or in round or square brackets: titles and remarks, not the sentence itself."""
    inside, straight, depth = [], False, 0
    for token in tokens:
        if token.text == '"':
            straight = not straight
        elif token.text in "([“":
            depth += 1
        inside.append(straight or depth > 0)
        if token.text in ")]”":
            depth = max(0, depth - 1)
    return inside


PREPOSITIONS = frozenset(
    "about above across after against along alongside amid among amongst around as at before behind below beneath beside besides between beyond by despite"
    " down during except for from in inside into like near of off on onto out outside over past per since through throughout to toward towards under"
    " underneath until unto up upon via while with within without".split()
)
DETERMINERS = frozenset("a an the this these that those each every either neither some any no all both such another".split())
POSSESSIVES = frozenset("my your his her its our their whose".split())
SUBJECTS = frozenset("i you he she it we they who which there".split())
OBJECTS = frozenset("me him us them himself herself itself themselves".split())
COORDINATORS = frozenset("and or but nor yet".split())
SUBORDINATORS = frozenset(
    "after although as because before even if lest once since so than though till unless until when whenever where whereas wherever whether while why how"
    .split()
)
RELATIVES = frozenset("which who whom whose that where".split())
MODALS = frozenset("can could may might must shall should will would cannot".split())
BE = frozenset("am are be been being is was were".split())
HAVE = frozenset("has have had having".split())
DO = frozenset("do does did".split())
AUXILIARIES = BE | HAVE | DO | MODALS | {"get", "gets", "got", "getting", "gotten"}
ADVERBS = frozenset(
    "again ago ahead alike almost alone already also alternately always altogether anymore apart away back barely collectively consequently consistently"
    " currently early either else elsewhere ever explicitly first for fully further furthermore generally hardly hence here however immediately indeed instead"
    " just largely last later less likewise long mainly meanwhile mostly much nearly neither never nevertheless next nonetheless normally not notably now often"
    " once only otherwise overall over partly perhaps possibly presently primarily probably quite rarely rather recently regularly scarcely seldom simply"
    " simultaneously since sometimes soon still subsequently thereafter thereby therefore thereupon then there though thus today together too twice typically"
    " ultimately usually very well widely yet".split()
)
MONTHS = frozenset("january february march april may june july august september october november december".split())
ORDINALS = frozenset("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split())


def is_adverb(word: str) -> bool:
    """Whether a word in lower case may stand between subject and verb: an adverb of the list, or one in -ly."""
    return word in ADVERBS or (word.endswith("ly") and len(word) > 4 and word not in _NOT_ADVERBS)


_NOT_ADVERBS = frozenset("family assembly monopoly italy july anomaly butterfly supply reply apply multiply rely comply imply ally ugly early elderly".split())
