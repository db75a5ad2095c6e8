"""Two measures of plain text that need no real text to learn from: repeated runs of words, and unfinished documents.

They are written like a user's measures: `criticise(..., metrics=["textcritic.critics.plain:repeated"])`.
"""

import re
import unicodedata
from functools import cache
from typing import Protocol

from textcritic.corpora.words import UNSPACED, marks
from textcritic.measures.own import LeftOut, left_out, measure

RUN = 4  # words
# The ellipsis, and what has the property Sentence_Terminal of Unicode, which Python does not know: hexadecimal.
SENTENCE_MARKS = """
21 2E 3F 589 61D-61F 6D4 700-702 7F9 837 839 83D-83E 964-965 104A-104B 1362 1367-1368 166E 1735-1736 17D4-17D5
1803 1809 1944-1945 1AA8-1AAB 1B4E-1B4F 1B5A-1B5B 1B5E-1B5F 1B7D-1B7F 1C3B-1C3C 1C7E-1C7F 2024 2026 203C-203D
2047-2049 2CF9-2CFB 2E2E 2E3C 2E53-2E54 2E60-2E61 3002 A4FF A60E-A60F A6F3 A6F7 A876-A877 A8CE-A8CF A92F
A9C8-A9C9 AA5D-AA5F AAF0-AAF1 ABEB FE12 FE15-FE16 FE52 FE56-FE57 FF01 FF0E FF1F FF61 10A56-10A57 10F55-10F59
10F86-10F89 11047-11048 110BE-110C1 11141-11143 111C5-111C6 111CD 111DE-111DF 11238-11239 1123B-1123C 112A9
113D4-113D5 1144B-1144C 115C2-115C3 115C9-115D7 11641-11642 1173C-1173E 11944 11946 11A42-11A43 11A9B-11A9C
11C41-11C42 11EF7-11EF8 11F43-11F44 16A6E-16A6F 16AF5 16B37-16B38 16B44 16D6E-16D6F 16E98 1BC9F 1DA88
"""
FOOTNOTE = re.compile(r"(\[\d+\]|[\u00b9\u00b2\u00b3\u2070-\u2079\u2020\u2021*])\Z")
# Categories of closing brackets and quotes; of the initial ones some languages make closing ones. And plain quotes.
CLOSING, PLAIN = ("Pe", "Pf", "Pi"), "\"'"


class Text(Protocol):
    """A document, as far as these measures look at it."""

    @property
    def text(self) -> str:
        """All of it."""


@measure(
    title=f"Repeated {RUN}-grams",
    unit="%",
    statistic="ratio",
    means=f"runs of {RUN} words that the same document had before",
)
def repeated(document: Text) -> tuple[float, float] | LeftOut:
    """Runs of four words that the document had before, times 100, and all of its runs; letter case does not count."""
    words = words_of(document.text)
    if len(words) <= RUN:
        return left_out(f"fewer than {RUN + 1} words")
    runs = [*zip(*(words[place:] for place in range(RUN)), strict=False)]
    return 100.0 * (len(runs) - len(set(runs))), float(len(runs))


@measure(title="Unfinished", unit="%", means="documents that do not end with the end of a sentence")
def unfinished(document: Text) -> float | LeftOut:
    """100 if the document does not end with a sentence mark, else 0; Thai and Lao have none, and are unfinished.

    Closing quotes, brackets and footnote marks such as [1] may follow the mark.
    """
    rest = document.text.strip()
    if not rest:
        return left_out("no text")
    while rest != (shorter := _without_last_sign(rest)):
        rest = shorter
    return 0.0 if rest[-1:] in _sentence_marks() else 100.0


def words_of(text: str) -> list[str]:
    """The words of a text in lower case: runs of letters, marks and digits; of scripts without spaces, letters."""
    return _words().findall(unicodedata.normalize("NFC", text).lower())


def _without_last_sign(text: str) -> str:
    """A text without the footnote mark, or the closing quote or bracket, at its end."""
    shorter = FOOTNOTE.sub("", text)
    if shorter == text and text and (text[-1] in PLAIN or unicodedata.category(text[-1]) in CLOSING):
        shorter = text[:-1]
    return shorter.rstrip()


@cache
def _words() -> re.Pattern[str]:
    # There are many marks: they are looked for at the end of a run of letters, not after each letter.
    letters = rf"[^\W_{UNSPACED}]"
    run = rf"{letters}+(?:[{marks()}\u200c\u200d]+{letters}*)*"
    return re.compile(rf"{run}(?:['\u2019-]{run})*|[{UNSPACED}][{marks()}]*")


@cache
def _sentence_marks() -> frozenset[str]:
    ends = (part.partition("-")[::2] for part in SENTENCE_MARKS.split())
    return frozenset(chr(code) for low, high in ends for code in range(int(low, 16), int(high or low, 16) + 1))
