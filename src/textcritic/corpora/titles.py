"""Section titles in one standard form (model criticism paper, appendix E)."""

import re
import string
from collections.abc import Callable
from functools import cache

from textcritic.errors import TextcriticError
from textcritic.plan.entries.corpora import TitleOptions

_NUMBER = re.compile(r"\d+")
_EDGES = string.punctuation + "–—…“”‘’•·"


class Titles:
    """Standardises titles: lower case, no numbers, no punctuation around words, lemmas and standard spellings per word.

    Args:
        options: `lemmatise` replaces each word by its WordNet noun lemma (NLTK), as the paper does. A word's `spelling`
            is looked up as written and again after lemmatisation; `{"acknowledgement": "acknowledgment", "&": "and"}`.
            The paper's own map is not published. The titles to `drop` are standardised before they are compared.

    Raises:
        TextcriticError: `lemmatise` is on and WordNet's data are not installed.
    """

    def __init__(self, options: TitleOptions) -> None:
        self._lemma = _wordnet() if options.lemmatise else str
        self._spelling = {word.lower(): standard.lower() for word, standard in options.spelling.items()}
        self._known: dict[str, str] = {}
        self.drop = frozenset(self.standardise(title) for title in options.drop)

    def standardise(self, title: str) -> str:
        """The standard form of a title; empty if nothing is left, and never with a colon or a line break in it."""
        if title not in self._known:
            words = (self._word(word) for word in _NUMBER.sub("", title.lower()).replace(":", " ").split())
            self._known[title] = " ".join(word for word in words if word)
        return self._known[title]

    def _word(self, word: str) -> str:
        if word in self._spelling:
            return self._spelling[word]
        bare = word.strip(_EDGES)
        lemma = self._lemma(bare) if bare else ""
        return self._spelling.get(lemma, lemma)


class TitlesAsBuilt:
    """Replaces `Titles` in a derived corpus: the titles of its base are in standard form, and none is dropped."""

    drop: frozenset[str] = frozenset()

    def standardise(self, title: str) -> str:
        """The title, unchanged."""
        return title


def require_wordnet() -> None:
    """See that titles can be lemmatised, before hours of work whose result is lemmatised last.

    Raises:
        TextcriticError: WordNet's data are not installed.
    """
    _wordnet()


@cache
def _wordnet() -> Callable[[str], str]:
    from nltk.stem import WordNetLemmatizer  # nltk takes half a second to import, and only this option needs it

    lemmatise: Callable[[str], str] = WordNetLemmatizer().lemmatize
    try:
        lemmatise("sections")
    except LookupError as error:
        raise TextcriticError(
            "titles.lemmatise: the WordNet data of NLTK are not installed; run `python -m nltk.downloader wordnet`, "
            "or set NLTK_DATA to the folder that holds corpora/wordnet"
        ) from error
    return lemmatise
