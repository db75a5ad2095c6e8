"""Noun phrases whose head is a noun for people: "the old man", "his mother", "the son of a prophet"."""

from dataclasses import dataclass

from textcritic.latents.resolvers.language import FEMALE, Language, Noun
from textcritic.latents.resolvers.text import Words

# How many words before a noun its determiner is looked for.
REACH = 5
# Words behind "of" that are taken in.
JOINED = 3
# How many words before a pronoun are searched for things that it may mean.
NEAR = 20


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun with the words before it, from the determiner on.

    Attributes:
        noun, word: the head, in lower case.
        first, head: words; the phrase ends with its head.
        definite: whether its determiner says that it is known already; a possessor does.
        owner: the word at which its possessor ends ("his" in "his mother"), or -1.
    """

    noun: Noun
    word: str
    first: int
    head: int
    definite: bool = False
    owner: int = -1


def noun_phrase(head: int, words: Words, language: Language) -> NounPhrase | None:
    """The phrase whose head is the noun for people at `head`; None where there is none, or it is no mention.

    A noun in the singular needs a determiner or a possessor, or a capital letter inside the sentence ("Mother").
    """
    word = words.lowered[head]
    noun = language.noun(word)
    if noun is None or _is_modifier(head, words, language):
        return None
    opening = words.sentences[words.sentence[head]][0]
    start, least = head - 1, max(opening, head - REACH)
    while start >= least:
        before = words.lowered[start]
        if before in language.determiners:
            if noun.plural and before in language["clause_words"]:
                return None
            first = _first_determiner(start, least, words, language)
            owner = first if _owns(words.lowered[first], language) else -1
            definite = owner >= 0 or language.determiners[words.lowered[first]]
            return NounPhrase(noun, word, first, head, definite, owner)
        if before in language.pronouns:
            return NounPhrase(noun, word, start, head, True, start) if _owns(before, language) else None
        if before in language["possessive_endings"]:
            return NounPhrase(noun, word, start - 1, head, True, start - 1) if start > opening else None
        if before in language["function_words"] and before not in language["inside_phrases"]:
            break
        if not (before[0].isalpha() or (before == "," and start < head - 1)):
            break
        start -= 1
    capital = language.capitals_mark_names and words.words[head][0].isupper() and head > opening
    if start == head - 1 and (noun.plural or (capital and words.lowered[start] not in language.determiners)):
        return NounPhrase(noun, word, head, head, capital and not noun.plural)
    return None


def joined_end(last: int, closing: int, words: Words, language: Language) -> int:
    """The end of what "of" joins to a phrase that ends at `last`; `last` where there is none."""
    lowered = words.lowered
    if last >= closing or lowered[last] not in language["links"]:
        return last
    index = last + 1
    while index < closing and (_determines(lowered[index], language) or lowered[index] in language["inside_phrases"]):
        index += 1
    first, limit = index, min(closing, index + JOINED)
    while index < limit and lowered[index][0].isalpha() and lowered[index] not in language.function_words_and_pronouns:
        if index > first and language.is_verb(words.words[index]):
            break
        index += 1
    return index if index > first else last


def may_be_thing(place: int, words: Words, language: Language) -> bool:
    """Whether the pronoun at `place` may mean a thing near it: apples ("they"), or a ship ("she").

    A noun like "apples" is recognised by its plural ending and the word before it; nouns for people do not count.
    """
    pronoun, before = language.pronouns[words.lowered[place]], range(max(1, place - NEAR), place)
    if pronoun.gender == FEMALE:
        after = words.lowered[place + 1 : place + 2 + REACH]
        predicate = after[1:] if after and after[0] in language["copulas"] else []
        ships = language["feminine_things"]
        return any(words.lowered[index] in ships for index in before) or any(word in ships for word in predicate)
    for index in before if pronoun.plural else ():
        word = words.words[index]
        if word.islower() and word.endswith(language.plural_endings) and word not in language.nouns:
            determiner = words.lowered[index - 1]
            if (
                _determines(determiner, language)
                or determiner in language["places_follow"]
                or determiner in language["links"]
            ):
                return True
    return False


def _is_modifier(head: int, words: Words, language: Language) -> bool:
    """Whether the noun only modifies the noun after it: "the boy king", "his native land"."""
    if head + 1 >= len(words.words):
        return False
    after = words.lowered[head + 1]
    if after in language.nouns:
        return words.words[head + 1].islower()
    if words.lowered[head] not in language["also_adjectives"]:
        return False
    return after[0].isalpha() and after not in language.function_words_and_pronouns and not language.is_verb(after)


def _first_determiner(start: int, least: int, words: Words, language: Language) -> int:
    """The first word of "the two", "all the", "his three", whose last word is at `start`."""
    while start > least:
        before = words.lowered[start - 1]
        if before in language["clause_words"]:
            break
        if not (before in language.determiners or words.lowered[start] in language["inside_phrases"]):
            break
        if not _determines(before, language):
            break
        start -= 1
    return start


def _determines(word: str, language: Language) -> bool:
    return word in language.determiners or _owns(word, language)


def _owns(word: str, language: Language) -> bool:
    pronoun = language.pronouns.get(word)
    return pronoun is not None and "possessive" in pronoun.cases
