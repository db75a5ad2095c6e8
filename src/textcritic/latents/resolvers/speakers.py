"""Who says "I" in a quotation, and who is "you" there: by the words next to it ("said John"), and by turns."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from textcritic.latents.resolvers.language import Language
from textcritic.latents.resolvers.phrases import PRONOUN, SUBJECT, Phrase
from textcritic.latents.resolvers.text import Words

# Words between a quotation and the phrase that says it.
REACH = 3
# Two quotations with fewer words between them have one speaker if nothing else is known.
PAUSE = 15
# Words between the beginnings of two quotations of one conversation.
CONVERSATION = 200
# How many quotations back to look for another speaker, who answers.
TURNS = 4

Spans = Sequence[tuple[int, int]]
Person = TypeVar("Person")


def said_by(quotations: Spans, phrases: Sequence[Phrase], words: Words, language: Language) -> list[Phrase | None]:
    """The phrase that names the speaker of each quotation: one next to a verb of speech; None if there is none.

    Args:
        quotations: of `Words`.
        phrases: of the article.
        words: of the article.
        language: its verbs of speech.
    """
    outside = sorted((phrase for phrase in phrases if phrase.quote < 0), key=lambda phrase: phrase.head)
    says = [phrase for phrase in outside if _says(phrase, words, language)]
    speakers: list[Phrase | None] = []
    place = 0
    for first, last in quotations:
        while place < len(says) and says[place].head < first:
            place += 1
        behind = says[place] if place < len(says) else None
        before = says[place - 1] if place else None
        same = before is not None and words.sentence[before.head] == words.sentence[first]
        if same and words.words[first - 1] in (",", ":"):
            speakers.append(before)
        elif behind is not None and behind.first <= last + REACH and "." not in words.words[last : behind.first]:
            speakers.append(behind)
        elif same:
            speakers.append(before)
        else:
            speakers.append(None)
    return speakers


def by_turns(known: Sequence[Person | None], quotations: Spans) -> list[tuple[Person | int, Person | int]]:
    """The speaker of each quotation, and whom it addresses; an unknown person is a number.

    If there is no word between two quotations, the second one answers the first. Quotations with a few words between
    them have one speaker, unless `known` says otherwise. The person addressed is the other speaker of the nearest
    quotation that has one.

    Args:
        known: the speaker of each quotation, None where the words next to it do not say.
        quotations: of `Words`.
    """
    speakers: list[Person | int] = []
    for number, (first, _) in enumerate(quotations):
        speaker: Person | int | None = known[number]
        gap = first - quotations[number - 1][1] if number else PAUSE
        if speaker is None and gap == 0:
            speaker = _other(range(number - 1, number - 1 - TURNS, -1), number - 1, speakers, quotations)
        elif speaker is None and gap < PAUSE:
            speaker = speakers[-1]
        speakers.append(number if speaker is None else speaker)
    pairs: list[tuple[Person | int, Person | int]] = []
    for number, own in enumerate(speakers):
        other = _other((number - 1, number + 1, number - 2, number + 2), number, speakers, quotations)
        pairs.append((own, -1 - number if other is None else other))
    return pairs


def _other(
    places: Iterable[int], number: int, speakers: Sequence[Person | int], quotations: Spans
) -> Person | int | None:
    """The first speaker at `places` who is not that of quotation `number` and speaks near it; None without one."""
    for place in places:
        if not 0 <= place < len(speakers) or speakers[place] == speakers[number]:
            continue
        if abs(quotations[place][0] - quotations[number][0]) < CONVERSATION:
            return speakers[place]
    return None


def _says(phrase: Phrase, words: Words, language: Language) -> bool:
    """Whether a phrase is the subject of a verb of speech next to it."""
    if phrase.kind == PRONOUN and phrase.role != SUBJECT:
        return False
    verbs, lowered = language["verbs_of_speech"], words.lowered
    after = lowered[phrase.last] if phrase.last < len(lowered) else ""
    return after in verbs or (phrase.first > 0 and lowered[phrase.first - 1] in verbs)
