"""Words: what is known of a token from its letters alone, found once for each distinct one; and lists of stop words."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.errors import TextcriticError
from textcritic.latents.bags.vocabulary import stop_word_list
from textcritic.options.tendencies import ENGLISH, LANGUAGES, NO_STOP_WORDS

ENGLISH_FILE = Path(__file__).with_name("english_stop_words.txt")
ASCII_SYMBOLS = r"^[!-@\[-`{-~]+$"
ASCII_ATTACHED = r"^[A-Za-z]+[,.;:!?)]$"

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
    lower = _with_others(pc.ascii_lower(types), types, str.lower)
    encoded = (lower if lower_case else types).dictionary_encode()
    words = encoded.dictionary
    straight = pc.replace_substring(lower if not lower_case else words, "’", "'")
    return Words(
        words,
        encoded.indices.to_numpy(),
        _numpy(pc.is_in(straight, pa.array(sorted(stop_words), pa.string()))),
        _numpy(_with_others(pc.match_substring_regex(words, ASCII_SYMBOLS), words, is_symbol)),
        _numpy(_with_others(pc.match_substring_regex(types, ASCII_ATTACHED), types, is_attached)),
        _numpy(pc.not_equal(lower, types)),
    )


def is_symbol(token: str) -> bool:
    """Whether a token has only punctuation, symbols and numbers, by Unicode category (paper, section 5.4).

    The marks and format characters that emoji are joined with may be among them.
    """
    kinds = {unicodedata.category(character) for character in token}
    return any(k[0] in "PSN" for k in kinds) and all(k[0] in "PSNM" or k == "Cf" for k in kinds)


def is_attached(token: str) -> bool:
    """Whether a token is letters and marks with one of `, . ; : ! ? )` behind them."""
    return bool(re.fullmatch(r".+[,.;:!?)]", token)) and all(unicodedata.category(c)[0] in "LM" for c in token[:-1])


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


def _with_others(of_ascii: pa.Array, strings: pa.StringArray, function: Callable[[str], object]) -> pa.Array:
    """What Arrow found of strings in ASCII, and of the others what Python knows of Unicode."""
    others = pc.invert(pc.string_is_ascii(strings))
    values = [function(text) for text in strings.filter(others).to_pylist()]
    return pc.replace_with_mask(of_ascii, others, pa.array(values, of_ascii.type))


def _numpy(flags: pa.BooleanArray) -> Flags:
    found: Flags = flags.to_numpy(zero_copy_only=False)
    return found
