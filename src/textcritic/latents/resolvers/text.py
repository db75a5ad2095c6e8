"""Sentences and words of a text, with their characters.

Ordinary text and text with spaces between its tokens, as in CoNLL files (" . ", " 's", "wo n't"), give the same words.
"""

import re
from dataclasses import dataclass
from functools import cache

from textcritic.latents.resolvers.language import Language

OPENING_QUOTES = ("“", "``", "«", "„")
CLOSING_QUOTES = ("”", "''", "»")
STRAIGHT_QUOTE = '"'
_CLOSED_BY = {
    "“": ("”",), "``": ("''",), "«": ("»",), "„": ("“", "”"), "‘": ("’",), STRAIGHT_QUOTE: (STRAIGHT_QUOTE,)
}  # fmt: skip
_MARKS_OF_QUOTES = frozenset(_CLOSED_BY).union(*_CLOSED_BY.values())
# Marks that open in one language and close in another: „so“, »so«.
_EITHER = frozenset(("“", "«", "‘"))
_CLOSERS = frozenset((*CLOSING_QUOTES, STRAIGHT_QUOTE, "'", "’", ")", "]", "}"))


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text, punctuation marks included; a blank line is a separate word.

    Attributes:
        text: of the article.
        words: as they are written.
        lowered: in lower case.
        spans: (start, end) characters of each.
        sentence: index of the sentence of each word; a blank line belongs to the sentence before it.
        sentences: (first, last + 1) words of each sentence, without blank lines.
        quotations: (opening mark, closing mark + 1) of each.
    """

    text: str
    words: list[str]
    lowered: list[str]
    spans: list[tuple[int, int]]
    sentence: list[int]
    sentences: list[tuple[int, int]]
    quotations: list[tuple[int, int]]

    def sentence_spans(self) -> tuple[tuple[int, int], ...]:
        """(start, end) characters of each sentence."""
        return tuple((self.spans[first][0], self.spans[last - 1][1]) for first, last in self.sentences)


def split_words(text: str, language: Language) -> Words:
    """The words and sentences of a text, in time linear in its length.

    A sentence ends at a full stop, question or exclamation mark (and the quotation marks and brackets that close
    behind it) unless a lower-case letter follows. One behind an abbreviation, a title, a degree or an initial ends
    none, unless a word such as "Then" or "He" follows. A sentence always ends at a blank line.

    Args:
        text: any text.
        language: its abbreviations and titles.
    """
    spans = [match.span() for match in _pattern(language.degrees).finditer(text)]
    words = [text[start:end] for start, end in spans]
    sentences: list[tuple[int, int]] = []
    sentence: list[int] = []
    first = 0
    for end in _ends(words, spans, language):
        last = end
        # Blank lines are at the edges of a sentence alone, because each ends one.
        while last > first and words[last - 1][0] == "\n":
            last -= 1
        if last > first:
            sentences.append((first, last))
        sentence.extend([max(len(sentences) - 1, 0)] * (end - len(sentence)))
        first = end
    return Words(text, words, [word.lower() for word in words], spans, sentence, sentences, _quotations(words))


def _ends(words: list[str], spans: list[tuple[int, int]], language: Language) -> list[int]:
    """Where sentences end: the index of the first word of the next one, at last the number of words."""
    ends = []
    quoted, seen, size = False, 0, len(words)
    for index in [index for index, word in enumerate(words) if word[0] in ".!?…\n" or _is_dotted(word)]:
        if _is_dotted(words[index]):
            if words[index + 1 : index + 2] and _opens_next(words[index + 1], language):
                ends.append(index + 1)
            continue
        if words[index][0] == "\n":
            ends.append(index + 1)
            quoted, seen = False, index
            continue
        if words[index] == "." and _ends_nothing(words, index, language):
            continue
        # A straight quotation mark closes if the number of such marks before it is odd.
        quoted ^= words[seen:index].count(STRAIGHT_QUOTE) % 2 == 1
        seen = index
        after = index + 1
        while after < size and _closes(after, words, spans) and (words[after] != STRAIGHT_QUOTE or quoted):
            quoted ^= words[after] == STRAIGHT_QUOTE
            after += 1
            seen = after
        if after < size and not words[after][0].islower() and words[after][0] not in ",;:.!?…\n":
            ends.append(after)
    if size and (not ends or ends[-1] < size):
        ends.append(size)
    return ends


def _is_dotted(word: str) -> bool:
    """Whether a word is a degree with its full stop, such as M.D."""
    return len(word) > 1 and word[-1] == "." and word[0].isalpha()


def _opens_next(word: str, language: Language) -> bool:
    """Whether a word behind an abbreviation begins a sentence: a function word or pronoun with a capital letter."""
    return word[0].isupper() and word.lower() in language.function_words_and_pronouns


def _closes(index: int, words: list[str], spans: list[tuple[int, int]]) -> bool:
    """Whether a mark behind the end of a sentence belongs to it; one that may open, too, if no space is before it."""
    if words[index] in _CLOSERS:
        return True
    return words[index] in _EITHER and spans[index][0] == spans[index - 1][1]


def _quotations(words: list[str]) -> list[tuple[int, int]]:
    """Where quotations are; a blank line or the same opening mark again ends one too."""
    quotations, opened = [], -1
    for index in [index for index, word in enumerate(words) if word in _MARKS_OF_QUOTES or word[0] == "\n"]:
        word = words[index]
        if opened >= 0:
            mark = words[opened]
            closes = word in _CLOSED_BY[mark]
            if not closes and word != mark and word[0] != "\n":
                continue
            quotations.append((opened, index + closes))
            opened = index if word == mark and not closes else -1
        elif word in _CLOSED_BY:
            opened = index
    if opened >= 0:
        quotations.append((opened, len(words)))
    return quotations


def _ends_nothing(words: list[str], dot: int, language: Language) -> bool:
    """Whether the full stop at `dot` belongs to the abbreviation, title or initial before it."""
    before = words[dot - 1].lower() if dot else ""
    after = words[dot + 1] if dot + 1 < len(words) else ""
    if before in language.titles:
        return True
    initial = len(before) == 1 and before.isalpha() and before not in language.pronouns
    # Such a word may end a sentence; then a function word with a capital letter often begins the next one.
    return (initial or before in language["abbreviations"]) and after.lower() not in language["function_words"]


# Combining marks are no letters to `re`.
_MARKS = "[\\u0300-\\u036f\\u0591-\\u05c7\\u064b-\\u065f\\u0900-\\u0903\\u093a-\\u094f\\u200c\\u200d]"
_WORD = rf"[^\W_]+(?:{_MARKS}+[^\W_]*)*"
_REST = rf"""
    {_WORD}(?:-{_WORD}|['’](?:t\b|(?=[A-Z]){_WORD}))*
    | [''’](?:s|ll|re|ve|d|m|em|t|S|LL|RE|VE|D|M|T)\b   # what is joined to a word with an apostrophe
    | \n[^\S\n]*\n\s*                                   # a blank line
    | [.!?…]+ | `` | \'\' | -- | [^\w\s] | _
    """


@cache
def _pattern(degrees: frozenset[str]) -> re.Pattern[str]:
    """The pattern of words; a degree with full stops is one word: after a comma, or after a word if no name follows it.

    "K.C. Jones" has no degree.
    """
    dotted = "|".join(re.escape(one) for one in sorted(degrees, key=lambda one: (-len(one), one)) if "." in one)
    degree = rf"(?:(?<=,\ )(?:{dotted})|(?<=[^\W_]\ )(?:{dotted})(?!\s+[A-Z][a-z]))(?![\w.])|"
    return re.compile((degree if dotted else "") + _REST, re.VERBOSE)
