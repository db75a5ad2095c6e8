"""Tokens as Moses makes them: punctuation and words apart, by language, with nothing escaped."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

ENGLISH = "en"


@dataclass(frozen=True, slots=True)
class MosesOptions:
    """What is done to a sentence, in this order.

    Attributes:
        normalise: punctuation is normalised (`normalize-punctuation.perl`).
        tokenise: words and punctuation are set apart (`tokenizer.perl -no-escape`); False: white space alone does it.
        lowercase: all is put into lower case.
        protected: regular expressions of what stays one token.
    """

    normalise: bool = False
    tokenise: bool = True
    lowercase: bool = False
    protected: tuple[str, ...] = ()


def moses(language: str, options: MosesOptions) -> Callable[[str], str]:
    """A function that gives the tokens of a sentence, joined by single spaces; an empty text has none.

    The work is done by sacremoses, the Python port of Moses' scripts. A language whose abbreviations Moses does not
    know is treated as English.

    Args:
        language: code of two letters, e.g. `de`.
        options: what is done.
    """
    from sacremoses import MosesPunctNormalizer, MosesTokenizer  # only jobs that build parallel corpora need it

    normaliser: Any = MosesPunctNormalizer(language) if options.normalise else None
    tokeniser: Any = MosesTokenizer(language) if options.tokenise else None
    protected = list(options.protected) or None

    def tokens(text: str) -> str:
        if normaliser:
            text = normaliser.normalize(text)
        if tokeniser:
            text = tokeniser.tokenize(text, escape=False, return_str=True, protected_patterns=protected)
        return " ".join((text.lower() if options.lowercase else text).split())

    return tokens
