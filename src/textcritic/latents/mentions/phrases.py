"""What stands for people in the words of an article: names, nouns for people with a determiner, and pronouns."""

from dataclasses import dataclass
from operator import attrgetter

from textcritic.latents.mentions.language import Language, Noun
from textcritic.latents.mentions.names import Name, find_names
from textcritic.latents.mentions.text import CLOSING_QUOTES, OPENING_QUOTES, STRAIGHT_QUOTE, Words

NAME, NOUN, PRONOUN = 0, 1, 2
SUBJECT, OBJECT, POSSESSIVE = 0, 1, 2
# Words before a noun in which its determiner is looked for.
REACH = 5


@dataclass(slots=True, eq=False)
class Phrase:
    """A stretch of words that stands for a person or persons.

    Attributes:
        kind: `NAME`, `NOUN` or `PRONOUN`.
        first, last: its words, the last one not included.
        head: its head word.
        gender: male, female or None.
        plural: whether it stands for several.
        role: `SUBJECT`, `OBJECT` or `POSSESSIVE`.
        quoted: whether it is inside quotation marks.
        parts: the words of a name; of a noun the noun; of a pronoun the pronoun; in lower case.
        title: of a name, see `names.Name`.
        definite: of a noun: whether its determiner says that it is known already.
        owner: of a noun: the word at which its possessor ends ("his" in "his mother"), or -1.
        reflexive, person: of a pronoun.
    """

    kind: int
    first: int
    last: int
    head: int
    gender: str | None
    plural: bool
    parts: tuple[str, ...]
    role: int = OBJECT
    quoted: bool = False
    title: str | None = None
    definite: bool = False
    owner: int = -1
    reflexive: bool = False
    person: int = 3


def find_phrases(words: Words, language: Language) -> list[Phrase]:
    """Names, nouns for people and pronouns, sorted by their heads; pronouns of all persons.

    Args:
        words: of an article.
        language: its data.
    """
    names = find_names(words, language)
    phrases = [_of_name(name, words) for name in names]
    inside = {index for name in names for index in range(name.first, name.last)}
    starts = {phrase.first: phrase for phrase in phrases}
    lowered = [word.lower() for word in words.words]
    pronouns, nouns = language.pronouns, language.nouns
    for index, word in enumerate(lowered):
        if word in pronouns:
            if index not in inside:
                phrases.append(_of_pronoun(index, lowered, words, language))
        elif word in nouns and index not in inside:
            noun = _of_noun(index, lowered, words, language)
            if noun is not None:
                named = starts.get(noun.last)
                if named is not None and not noun.plural and _agree(named.gender, noun.gender):
                    # "his sister Mary": one mention, with the name as its head.
                    named.first, named.owner = noun.first, noun.owner
                    named.gender = named.gender or noun.gender
                else:
                    phrases.append(noun)
    phrases.sort(key=attrgetter("head"))
    _mark_quotes(phrases, words)
    for phrase in phrases:
        if phrase.kind != PRONOUN:
            phrase.role = _role(phrase, lowered, words, language)
    return phrases


def _agree(one: str | None, other: str | None) -> bool:
    return one is None or other is None or one == other


def _of_name(name: Name, words: Words) -> Phrase:
    head = name.last - 1
    while head > name.first and not words.words[head][0].isalnum():
        head -= 1
    return Phrase(NAME, name.first, name.last, head, name.gender, False, name.parts, title=name.title)


def _of_pronoun(index: int, lowered: list[str], words: Words, language: Language) -> Phrase:
    entry = language.pronouns[lowered[index]]
    if "subject" in entry.cases:
        role = SUBJECT
    elif entry.cases == {"object", "possessive"}:
        # "her" is possessive if a noun or an adjective follows.
        after = lowered[index + 1] if index + 1 < len(lowered) else ""
        free = not after[:1].isalnum() or after in language["function_words"] - language["inside_phrases"]
        role = OBJECT if free else POSSESSIVE
    else:
        role = OBJECT if "object" in entry.cases else POSSESSIVE
    return Phrase(
        PRONOUN,
        index,
        index + 1,
        index,
        entry.gender,
        entry.plural,
        (lowered[index],),
        role=role,
        reflexive=entry.reflexive,
        person=entry.person,
    )


def _of_noun(index: int, lowered: list[str], words: Words, language: Language) -> Phrase | None:
    """The phrase whose head is the noun at `index`: from its determiner on; None where it has none."""
    noun = language.nouns[lowered[index]]
    after = index + 1
    if after < len(lowered) and lowered[after] in language.nouns and words.words[after].islower():
        return None
    opening = words.sentences[words.sentence[index]][0]
    start = index - 1
    least = max(opening, index - REACH)
    while start >= least:
        word = lowered[start]
        if word in language.determiners:
            definite = language.determiners[word]
            return _noun(noun, start, index, lowered, definite, -1)
        pronoun = language.pronouns.get(word)
        if pronoun is not None:
            owns = "possessive" in pronoun.cases
            return _noun(noun, start, index, lowered, True, start) if owns else None
        if word in language["possessive_endings"]:
            return _noun(noun, start, index, lowered, True, start - 1)
        if word in language["function_words"] and word not in language["inside_phrases"]:
            return None
        if not (word[0].isalpha() or (word == "," and start < index - 1)):
            return None
        start -= 1
    return None


def _noun(noun: Noun, start: int, index: int, lowered: list[str], definite: bool, owner: int) -> Phrase:
    return Phrase(
        NOUN, start, index + 1, index, noun.gender, noun.plural, (lowered[index],), definite=definite, owner=owner
    )


def _mark_quotes(phrases: list[Phrase], words: Words) -> None:
    """Set `quoted`; a straight quotation mark opens and closes in turn, and a blank line ends all quotations."""
    written = words.words
    marks = [
        index
        for index, word in enumerate(written)
        if word in (STRAIGHT_QUOTE, *OPENING_QUOTES, *CLOSING_QUOTES) or word[0] == "\n"
    ]
    place, inside = 0, False
    for phrase in phrases:
        while place < len(marks) and marks[place] < phrase.head:
            mark = written[marks[place]]
            inside = not inside if mark == STRAIGHT_QUOTE else mark in OPENING_QUOTES
            place += 1
        phrase.quoted = inside


def _role(phrase: Phrase, lowered: list[str], words: Words, language: Language) -> int:
    """Whether a name or noun is the subject of a verb, by the words around it."""
    after = lowered[phrase.last] if phrase.last < len(lowered) else ""
    if after in language["possessive_endings"] and after != "'":
        return POSSESSIVE
    first = phrase.first
    if first == words.sentences[words.sentence[phrase.head]][0]:
        return SUBJECT
    before = lowered[first - 1]
    verb = language.is_verb(after)
    if before in language["verbs_of_speech"]:
        return SUBJECT if not verb and not after[:1].isalpha() else OBJECT
    if not before[0].isalnum() or before in language["clause_words"]:
        return SUBJECT
    return SUBJECT if verb and before not in language["function_words"] else OBJECT
