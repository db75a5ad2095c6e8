"""Words: what is known of a token from its letters alone, found once for each distinct one; and lists of stop words."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.corpora.unicode import by_category, of_categories
from textcritic.critics.tendencies.options import ENGLISH, LANGUAGES, NO_STOP_WORDS
from textcritic.critics.tendencies.tokens import bytes_of, code_points
from textcritic.errors import TextcriticError
from textcritic.latents.bags.vocabulary import stop_word_list

ENGLISH_FILE = Path(__file__).with_name("english_stop_words.txt")
STOP, SYMBOL, ATTACHED, UPPER = 1, 2, 4, 8
"""What a token is, as bits, see `Words.forms`."""
# What a character is, as bits.
# Lower case changes `CASED` ones, which are not in ASCII.
SOME_SYMBOL, OF_SYMBOLS, LETTER, END, CASED = 1, 2, 4, 8, 16
# Categories of characters that lower case changes: letters, Roman numerals, and letters in circles.
CAPITALS = ("Lu", "Lt", "Nl", "So")

Forms = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Words:
    """The words of some types of tokens, and what is known of each type.

    Attributes:
        words: distinct words, an Arrow array of strings [words].
        of_types: int32 [types], the word of each type, as a position in `words`.
        forms: uint8 [types], what each type is, as bits. `STOP`: the list of stop words has it. `SYMBOL`: it has only
            punctuation, symbols and numbers, by Unicode category (paper, section 5.4), and the marks and format
            characters that emoji are joined with. `ATTACHED`: letters and marks with one of `, . ; : ! ? )` behind
            them, which a tokenizer would have cut off. `UPPER`: lower case changes it.
    """

    words: pa.StringArray
    of_types: npt.NDArray[np.int32]
    forms: Forms


def words_of(types: pa.StringArray, lower_case: bool, stop_words: frozenset[str]) -> Words:
    """The words of types of tokens.

    Args:
        types: strings of one character or more [types].
        lower_case: whether tokens that differ in case are one word.
        stop_words: in lower case; an apostrophe of either shape is that of the list.
    """
    lengths = pc.utf8_length(types).to_numpy().astype(np.int64)
    starts, last = np.cumsum(lengths) - lengths, np.cumsum(lengths) - 1
    kinds = _kinds()[code_points(bytes_of(types)[0])]
    some = np.bitwise_or.reduceat(kinds, starts)
    attached = (kinds[last] & END != 0) & (lengths > 1)
    # The mark at the end is allowed: whether it is a letter matters for `ATTACHED` alone.
    kinds[last] |= LETTER
    every = np.bitwise_and.reduceat(kinds, starts)
    lower = _lower(types, some & CASED != 0)
    words = (lower if lower_case else types).dictionary_encode()
    forms = np.zeros(len(types), np.uint8)
    for form, have in (
        (STOP, pc.is_in(pc.replace_substring(lower, "’", "'"), pa.array(sorted(stop_words), pa.string()))),
        (SYMBOL, (every & OF_SYMBOLS != 0) & (some & SOME_SYMBOL != 0)),
        (ATTACHED, attached & (every & LETTER != 0)),
        (UPPER, pc.not_equal(lower, types)),
    ):
        forms[np.asarray(have)] |= form
    return Words(words.dictionary, words.indices.to_numpy(), forms)


def stop_words_of(name: str) -> frozenset[str]:
    """The stop words that `Tendencies.stop_words` names, in lower case.

    Lists of languages but English are those of NLTK's corpus `stopwords`, where its data are installed. The workflow
    fetches them, and gives the file.

    Raises:
        TextcriticError: there is no such list or file, or it is not UTF-8, or has a line of several words.
    """
    if name == ENGLISH:
        lines = ENGLISH_FILE.read_text(encoding="utf-8").splitlines()
        return frozenset(line for line in lines if not line.startswith("#"))
    if name not in LANGUAGES:
        return stop_word_list(name)
    import nltk  # here: its import takes half a second

    try:
        return stop_word_list(str(nltk.data.find(f"corpora/stopwords/{name}")))
    except LookupError as error:
        raise TextcriticError(
            f"stop_words: NLTK's list for {name!r} is not installed; run `python -m nltk.downloader stopwords`, give a "
            f"file with one word a line, or use `stop_words: {NO_STOP_WORDS}`"
        ) from error


def _lower(tokens: pa.StringArray, cased: npt.NDArray[np.bool_]) -> pa.StringArray:
    """The tokens in lower case: by Python, which knows all of Unicode, if they are `cased`, the others by Arrow."""
    mask = pa.array(cased)
    lower = [token.lower() for token in tokens.filter(mask).to_pylist()]
    return pc.replace_with_mask(pc.ascii_lower(tokens), mask, pa.array(lower, pa.string()))


@cache
def _kinds() -> npt.NDArray[np.uint8]:
    """What each code point may be part of, as bits: [code points]."""
    symbols = dict.fromkeys("PSN", SOME_SYMBOL | OF_SYMBOLS)
    kinds = by_category({**symbols, "L": LETTER, "M": LETTER | OF_SYMBOLS, "Cf": OF_SYMBOLS})
    kinds[[ord(mark) for mark in ",.;:!?)"]] |= END
    capitals = [code for code in of_categories(CAPITALS).tolist() if chr(code).lower() != chr(code)]
    kinds[[code for code in capitals if code > 127]] |= CASED
    return kinds
