"""Tokens as Moses makes them: punctuation and words apart, by language, with nothing escaped."""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

ENGLISH = "en"
_SOFT_HYPHEN = "\u00ad"


@dataclass(frozen=True, slots=True)
class MosesOptions:
    """What is done to a sentence, in this order.

    Attributes:
        replace_unicode: full-width and other punctuation becomes ASCII (`replace-unicode-punctuation.perl`).
        normalise: punctuation is normalised (`normalize-punctuation.perl`).
        printable: a character that is not printed becomes a space (`remove-non-printing-char.perl`); a soft hyphen
            goes, unlike there, because the script would make two words of one.
        tokenise: words and punctuation are set apart (`tokenizer.perl -no-escape`); False: white space alone does it.
        lowercase: all is put into lower case.
        unaccent: accents go: all marks that canonical decomposition (NFD) sets apart from their letters.
        protected: regular expressions of what stays one token.
    """

    replace_unicode: bool = False
    normalise: bool = False
    printable: bool = False
    tokenise: bool = True
    lowercase: bool = False
    unaccent: bool = False
    protected: tuple[str, ...] = ()


def moses(language: str, options: MosesOptions) -> Callable[[str], str]:
    """A function that gives the tokens of a sentence, joined by single spaces; an empty text has none.

    The work is done by sacremoses, the Python port of Moses' scripts. A language whose abbreviations Moses does not
    know is treated as English.

    Args:
        language: code of two letters, e.g. `de`.
        options: what is done.
    """
    from sacremoses import MosesPunctNormalizer, MosesTokenizer  # few jobs need it

    normaliser: Any = MosesPunctNormalizer(language)
    tokeniser: Any = MosesTokenizer(language) if options.tokenise else None
    protected = list(options.protected) or None

    def tokens(text: str) -> str:
        if options.replace_unicode and not text.isascii():
            text = normaliser.replace_unicode_punct(text)
        if options.normalise:
            text = normaliser.normalize(text)
        if options.printable and not text.isprintable():
            text = "".join(
                " " if unicodedata.category(char).startswith("C") else char for char in text.replace(_SOFT_HYPHEN, "")
            )
        if tokeniser:
            text = tokeniser.tokenize(text, escape=False, return_str=True, protected_patterns=protected)
        text = text.lower() if options.lowercase else text
        if options.unaccent and not text.isascii():
            text = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
        return " ".join(text.split())

    return tokens
