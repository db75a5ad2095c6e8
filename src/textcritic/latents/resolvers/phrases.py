"""What refers to people in the words of an article: names, nouns for people with a determiner, and pronouns."""

from dataclasses import dataclass
from operator import attrgetter

from textcritic.latents.resolvers.language import Language
from textcritic.latents.resolvers.names import Name, find_names
from textcritic.latents.resolvers.nouns import NounPhrase, joined_end, noun_phrase
from textcritic.latents.resolvers.text import Words

NAME, NOUN, PRONOUN = 0, 1, 2
SUBJECT, OBJECT, POSSESSIVE = 0, 1, 2


@dataclass(slots=True, eq=False)
class Phrase:
    """A stretch of words that refers to one person or several.

    Attributes:
        kind: `NAME`, `NOUN` or `PRONOUN`.
        first, last: its words, the last one not included.
        head: its head word.
        gender: male, female or None.
        plural: whether it refers to several.
        role: `SUBJECT`, `OBJECT` or `POSSESSIVE`.
        quote: number of the quotation that it is in, or -1.
        parts: the words of a name; of a noun the noun; of a pronoun the pronoun; in lower case.
        title: of a name, see `names.Name`.
        definite: of a noun: whether its determiner says that it is known already.
        about: of a noun, the words between its determiner and it, and what "of" joins to it.
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
    quote: int = -1
    title: str | None = None
    definite: bool = False
    about: tuple[str, ...] = ()
    owner: int = -1
    reflexive: bool = False
    person: int = 3

    @property
    def quoted(self) -> bool:
        """Whether it is inside quotation marks."""
        return self.quote >= 0


def find_phrases(words: Words, language: Language) -> list[Phrase]:
    """Names, nouns for people and pronouns of all persons, sorted by their ends, inner ones first.

    Args:
        words: of an article.
        language: its data.
    """
    phrases = [_of_name(name, words) for name in find_names(words, language)]
    inside = {index for phrase in phrases for index in range(phrase.first, phrase.last)}
    starts = {phrase.first: phrase for phrase in phrases}
    pronouns, nouns = language.pronouns, language.nouns
    for index, word in enumerate(words.lowered):
        if word in pronouns:
            if index not in inside and not _is_numeral(index, words, language):
                phrases.append(_of_pronoun(index, words, language))
        elif (word in nouns or "-" in word) and index not in inside:
            noun, name = noun_phrase(index, words, language), starts.get(index + 1)
            if noun is None:
                if name is not None and word == name.title:
                    name.first = index
            elif not _joined(noun, name):
                phrases.append(_of_noun(noun, words))
    phrases.sort(key=attrgetter("head"))
    ends = {phrase.last: phrase for phrase in phrases}
    for phrase in phrases:
        _widen(phrase, ends, words, language)
    _mark_quotes(phrases, words)
    for phrase in phrases:
        if phrase.kind != PRONOUN:
            phrase.role = _role(phrase, words, language)
    # What is inside a phrase comes before it: "his" before "his mother", "Jesse" before "the son of Jesse".
    phrases.sort(key=lambda phrase: (phrase.last, -phrase.first))
    return phrases


def agree(one: str | None, other: str | None) -> bool:
    """Whether two genders can be those of one person."""
    return one is None or other is None or one == other


def _joined(noun: NounPhrase, name: Phrase | None) -> bool:
    """Make one phrase of "his sister" and the name behind it, with the name as its head, if they agree."""
    if name is None or noun.noun.plural or not agree(name.gender, noun.noun.gender):
        return False
    name.first, name.owner, name.gender = noun.first, noun.owner, name.gender or noun.noun.gender
    return True


def _widen(phrase: Phrase, ends: dict[int, Phrase], words: Words, language: Language) -> None:
    """Take in the possessor before a noun, and what "of" joins to it."""
    if phrase.kind == NOUN:
        closing = words.sentences[words.sentence[phrase.head]][1]
        owner = ends.get(phrase.owner + 1)
        if owner is not None and owner.kind != PRONOUN:
            phrase.first = owner.first
        last = phrase.last
        phrase.last = joined_end(last, closing, words, language)
        phrase.about += tuple(words.lowered[last : phrase.last])


def _of_name(name: Name, words: Words) -> Phrase:
    head = name.last - 1
    while head > name.first and not words.words[head][0].isalnum():
        head -= 1
    return Phrase(NAME, name.first, name.last, head, name.gender, False, name.parts, title=name.title)


def _of_pronoun(index: int, words: Words, language: Language) -> Phrase:
    lowered = words.lowered
    entry = language.pronouns[lowered[index]]
    if "subject" in entry.cases:
        role = SUBJECT
    elif entry.cases == {"object", "possessive"}:
        # "her" is possessive if a noun or an adjective follows.
        after = lowered[index + 1] if index + 1 < len(lowered) else ""
        noun = after[:1].isalnum() and (after not in language["function_words"] or after in language["inside_phrases"])
        role = POSSESSIVE if noun else OBJECT
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


def _is_numeral(index: int, words: Words, language: Language) -> bool:
    """Whether a pronoun of one letter is a number, by the name or heading before it: "Chapter I", "Charles I"."""
    if len(words.words[index]) > 1 or index == words.sentences[words.sentence[index]][0]:
        return False
    before = words.lowered[index - 1]
    if not words.words[index - 1][0].isupper() or before in language["function_words"]:
        return False
    if before in language.given_names:
        return True
    after = words.words[index + 1] if index + 1 < len(words.words) else "."
    return not after[0].islower() or (after in language["function_words"] and after not in language["auxiliaries"])


def _of_noun(nominal: NounPhrase, words: Words) -> Phrase:
    head, noun = nominal.head, nominal.noun
    return Phrase(
        NOUN,
        nominal.first,
        head + 1,
        head,
        noun.gender,
        noun.plural,
        (nominal.word,),
        definite=nominal.definite,
        about=tuple(words.lowered[nominal.first + 1 : head]),
        owner=nominal.owner,
    )


def _mark_quotes(phrases: list[Phrase], words: Words) -> None:
    """Set `quote`; `phrases` are sorted by their heads."""
    quotations, place = words.quotations, 0
    for phrase in phrases:
        while place < len(quotations) and quotations[place][1] <= phrase.head:
            place += 1
        if place < len(quotations) and quotations[place][0] < phrase.head:
            phrase.quote = place


def _role(phrase: Phrase, words: Words, language: Language) -> int:
    """Whether a name or noun is the subject of a verb, by the words around it."""
    lowered = words.lowered
    after = lowered[phrase.last] if phrase.last < len(lowered) else ""
    if after in language["possessive_endings"] and after != "'":
        return POSSESSIVE
    before = lowered[phrase.first - 1] if phrase.first else "."
    subject = not before[0].isalnum() or before in language["clause_words"] or language.is_verb(after)
    return SUBJECT if subject else OBJECT
