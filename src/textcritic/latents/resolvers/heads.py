"""The head of a mention, its main word, found from its words alone."""

from collections.abc import Sequence

from textcritic.latents.resolvers.language import load_language

_STOPS = frozenset({",", ";", ":", "(", "-LRB-", "[", "-LSB-", "--", "–", "—", '"', "``", "''", "“", "”"})


def head_word(words: Sequence[str], first: int, last: int, language: str = "en") -> int:
    """The head of a mention without syntax: the last word before the first one that begins a modifier.

    That is a comma or another sign, a preposition, a conjunction or a relative word (`head_ends` of the language); one
    at the beginning of the mention is passed over, and a possessive `'s` at its end is no head. The head of "the old
    man in the corner, who ..." is "man".

    Args:
        words: of the text.
        first: of the mention's words.
        last: of the mention's words.
        language: of the words.

    Returns:
        the index of the head among `words`.
    """
    known = load_language(language)
    ends, possessives = known["head_ends"], known["possessive_endings"]
    while last > first and (words[last].lower() in possessives or words[last] in _STOPS):
        last -= 1
    start = first
    while start < last and words[start] in _STOPS:
        start += 1
    for word in range(start + 1, last + 1):
        if words[word].lower() in ends or words[word] in _STOPS:
            return word - 1
    return last
