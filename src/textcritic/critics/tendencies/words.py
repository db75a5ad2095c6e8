"""Words: what is known of a token from its letters alone, found once for each distinct one; and lists of stop words."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.critics.tendencies.tokens import bytes_of, categories, code_points
from textcritic.errors import TextcriticError
from textcritic.latents.bags.vocabulary import stop_word_list
from textcritic.plan.checks.tendencies import ENGLISH, LANGUAGES, NO_STOP_WORDS

ENGLISH_FILE = Path(__file__).with_name("english_stop_words.txt")
# What a character is, as bits.
SYMBOL, OF_SYMBOLS, LETTER, END = 1, 2, 4, 8

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Words:
    """The words of some distinct tokens, and what is known of both.

    Attributes:
        words: distinct words, an Arrow array of strings [words].
        of_types: int32 [types], the word of each token, as a position in `words`.
        stop: bool [words], those that the list of stop words has.
        symbol: bool [words], those of punctuation, symbols and numbers only.
        attached: bool [types], letters with a mark such as a comma behind them, which a tokenizer would have cut off.
        upper: bool [types], tokens that lower case changes.
    """

    words: pa.StringArray
    of_types: npt.NDArray[np.int32]
    stop: Flags
    symbol: Flags
    attached: Flags
    upper: Flags


def words_of(types: pa.StringArray, lower_case: bool, stop_words: frozenset[str]) -> Words:
    """The words of distinct tokens.

    Args:
        types: distinct tokens, strings of one character or more [types].
        lower_case: whether tokens that differ in case are one word.
        stop_words: in lower case; an apostrophe of either shape is that of the list.
    """
    lower = _lower(types)
    encoded = (lower if lower_case else types).dictionary_encode()
    words = encoded.dictionary
    straight = pc.replace_substring(lower if not lower_case else words, "’", "'")
    return Words(
        words,
        encoded.indices.to_numpy(),
        _numpy(pc.is_in(straight, pa.array(sorted(stop_words), pa.string()))),
        symbols(words),
        attached(types),
        _numpy(pc.not_equal(lower, types)),
    )


def symbols(tokens: pa.StringArray) -> Flags:
    """Which tokens have only punctuation, symbols and numbers, by Unicode category (paper, section 5.4): bool [tokens].

    The marks and format characters that emoji are joined with may be among them. Tokens have one character or more.
    """
    kinds, starts, _ = _kinds_of(tokens)
    every, some = np.bitwise_and.reduceat(kinds, starts), np.bitwise_or.reduceat(kinds, starts)
    found: Flags = (every & OF_SYMBOLS != 0) & (some & SYMBOL != 0)
    return found


def attached(tokens: pa.StringArray) -> Flags:
    """Which tokens are letters and marks with one of `, . ; : ! ? )` behind them: bool [tokens]."""
    kinds, starts, lengths = _kinds_of(tokens)
    letters = np.add.reduceat((kinds & LETTER != 0).astype(np.int64), starts)
    found: Flags = (kinds[starts + lengths - 1] & END != 0) & (letters == lengths - 1) & (lengths > 1)
    return found


def stop_words_of(name: str) -> frozenset[str]:
    """The stop words that `CountOptions.stop_words` names, in lower case.

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


def _lower(tokens: pa.StringArray) -> pa.StringArray:
    """The tokens in lower case: those in ASCII by Arrow, the others by Python, which knows all of Unicode."""
    others = pc.invert(pc.string_is_ascii(tokens))
    lower = [token.lower() for token in tokens.filter(others).to_pylist()]
    return pc.replace_with_mask(pc.ascii_lower(tokens), others, pa.array(lower, pa.string()))


def _kinds_of(tokens: pa.StringArray) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The kinds of all characters, where those of each token begin, and how many it has."""
    lengths = pc.utf8_length(tokens).to_numpy().astype(np.int64)
    return _kinds()[code_points(bytes_of(tokens)[0])], np.cumsum(lengths) - lengths, lengths


@cache
def _kinds() -> npt.NDArray[np.uint8]:
    """What each code point may be part of, as bits: [code points]."""
    by_category = dict.fromkeys("PSN", SYMBOL | OF_SYMBOLS) | {"L": LETTER, "M": LETTER | OF_SYMBOLS, "Cf": OF_SYMBOLS}
    kinds = np.array([by_category.get(c, by_category.get(c[0], 0)) for c in categories()], np.uint8)
    kinds[[ord(mark) for mark in ",.;:!?)"]] |= END
    return kinds


def _numpy(flags: pa.BooleanArray) -> Flags:
    found: Flags = flags.to_numpy(zero_copy_only=False)
    return found
