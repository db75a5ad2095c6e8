"""Which entities are people, where neither the annotation nor the resolver says so: by the words of their mentions."""

import re
from collections import Counter
from itertools import dropwhile, takewhile

from textcritic.latents.resolvers.language import Language
from textcritic.latents.resolvers.mention import Mention, Resolved

_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")


def people_of(document: Resolved, language: Language) -> frozenset[int]:
    """The entities of a document that are people.

    If the mentions of an entity say whether it is a person (`Mention.person`), it is people if one of them says so.
    Otherwise one rule decides, for human annotation (LitBank and OntoGUM do not give the kinds of their entities in
    these columns) and for a resolver: an entity is people if more of its mentions are words of people than are "it",
    "its" or "itself". Words of people are a pronoun with a gender or of the first or second person ("she", "I", "you";
    not "they"), a name after a title of address ("Mrs. Todd"), a name that begins with a given name ("John Thornton"),
    and a phrase whose head is a noun for people ("the old man"). A name alone that is not in the data file of the
    language ("Ahab") is people only if a pronoun is linked to it.

    Args:
        document: with its mentions.
        language: of its words.
    """
    marked = {mention.entity for mention in document.mentions if mention.person}
    unmarked = {mention.entity for mention in document.mentions} - {
        mention.entity for mention in document.mentions if mention.person is not None
    }
    votes: Counter[int] = Counter()
    for mention in document.mentions:
        if mention.entity in unmarked:
            words = words_of(document, mention)
            if len(words) == 1 and words[0].lower() in language["thing_pronouns"]:
                votes[mention.entity] -= 1
            elif _of_a_person(document, mention, words, language):
                votes[mention.entity] += 1
    return frozenset(marked | {entity for entity, vote in votes.items() if vote > 0})


def pronoun_of(document: Resolved, mention: Mention, language: Language) -> str | None:
    """The personal pronoun that a mention is, in lower case; None for any other."""
    word = document.text[mention.start : mention.end].lower()
    return word if word in language.pronouns else None


def is_nominal(document: Resolved, mention: Mention, language: Language) -> bool:
    """Whether the head of a mention is a name or a noun: no pronoun, and no other function word ("it", "who")."""
    head = document.text[mention.head_start : mention.head_end].lower()
    return head not in language.pronouns and head not in language["function_words"]


def words_of(document: Resolved, mention: Mention) -> list[str]:
    """The words of a mention, as they are written, without signs."""
    return _WORD.findall(document.text[mention.start : mention.end])


def _of_a_person(document: Resolved, mention: Mention, words: list[str], language: Language) -> bool:
    if not words:
        return False
    pronoun = language.pronouns.get(words[0].lower()) if len(words) == 1 else None
    if pronoun is not None:
        return pronoun.gender is not None or pronoun.person != 3
    head = document.text[mention.head_start : mention.head_end]
    if head.lower() in language.nouns:
        return True
    # A name: words with a capital letter up to the head ("Gordon 's Diary" is none), titles first.
    name = list(takewhile(lambda word: word[0].isupper() or word.lower() in language["particles"], words))
    named = list(dropwhile(lambda word: word.lower() in language.titles, name))
    if head not in named:
        return False
    return len(named) < len(name) or named[0].lower() in language.given_names
