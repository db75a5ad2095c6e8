"""Who says "I" in a quotation, and who is "you" there: by the words beside it ("said John") and by turns."""

from collections.abc import Sequence
from typing import TypeVar

from textcritic.latents.resolvers.language import Language
from textcritic.latents.resolvers.phrases import PRONOUN, SUBJECT, Phrase
from textcritic.latents.resolvers.text import Words

# Words between a quotation and the phrase that says it.
REACH = 3
# Words between two quotations, so that they are of one speaker if nothing else is known.
PAUSE = 15
# Words between the beginnings of two quotations of one conversation.
CONVERSATION = 200

Spans = Sequence[tuple[int, int]]
Person = TypeVar("Person")


def said_by(quotations: Spans, phrases: Sequence[Phrase], words: Words, language: Language) -> list[Phrase | None]:
    """Of each quotation the phrase that stands for its speaker, by a verb of speech beside it; None without one.

    Args:
        quotations: of `Words.quotations`.
        phrases: of the article.
        words: of the article.
        language: its verbs of speech.
    """
    outside = sorted((phrase for phrase in phrases if phrase.quote < 0), key=lambda phrase: phrase.head)
    says = [phrase for phrase in outside if _says(phrase, words, language)]
    found: list[Phrase | None] = []
    place = 0
    for first, last in quotations:
        while place < len(says) and says[place].head < first:
            place += 1
        behind = says[place] if place < len(says) else None
        before = says[place - 1] if place else None
        if behind is not None and behind.first <= last + REACH and "." not in words.words[last : behind.first]:
            found.append(behind)
        elif before is not None and words.sentence[before.head] == words.sentence[first]:
            found.append(before)
        else:
            found.append(None)
    return found


def by_turns(known: Sequence[Person | None], quotations: Spans) -> list[tuple[Person | int, Person | int]]:
    """The speaker of each quotation, and to whom it is said; a number stands for somebody unknown.

    Of quotations without a word between them, every other one is of one speaker. Quotations with a few words between
    them are of one speaker too, unless the words say otherwise.

    Args:
        known: the speaker of each quotation where the words beside it tell.
        quotations: of `Words.quotations`.
    """
    speakers: list[Person | int] = []
    for number, (first, _) in enumerate(quotations):
        speaker: Person | int | None = known[number]
        gap = first - quotations[number - 1][1] if number else PAUSE
        if speaker is None and gap == 0 and number > 1 and speakers[-2] != speakers[-1]:
            speaker = speakers[-2] if first < quotations[number - 2][1] + CONVERSATION else None
        elif speaker is None and 0 < gap < PAUSE:
            speaker = speakers[-1]
        speakers.append(number if speaker is None else speaker)
    return [(speaker, _spoken_to(number, speakers, quotations)) for number, speaker in enumerate(speakers)]


def _spoken_to(number: int, speakers: Sequence[Person | int], quotations: Spans) -> Person | int:
    """The speaker of the nearest quotation of another one, the two before and behind it; a number if there is none."""
    for other in (number - 1, number + 1, number - 2, number + 2):
        if 0 <= other < len(speakers) and speakers[other] != speakers[number]:
            if abs(quotations[other][0] - quotations[number][0]) < CONVERSATION:
                return speakers[other]
    return -1 - number


def _says(phrase: Phrase, words: Words, language: Language) -> bool:
    """Whether a phrase is the subject of a verb of speech beside it."""
    if phrase.kind == PRONOUN and phrase.role != SUBJECT:
        return False
    verbs, lowered = language["verbs_of_speech"], words.lowered
    after = lowered[phrase.last] if phrase.last < len(lowered) else ""
    return after in verbs or (phrase.first > 0 and lowered[phrase.first - 1] in verbs)
