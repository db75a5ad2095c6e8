"""Options of the vocabulary of a topic model: which words it sees."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from textcritic.errors import TextcriticError, suggestion
from textcritic.plan.checks.words import SPACES, check_words
from textcritic.plan.entries import Ctm, Lda

if TYPE_CHECKING:
    from textcritic.plan.registries import Registries

NO_STOP_WORDS, ENGLISH = "none", "english"
STOP_LISTS = (NO_STOP_WORDS, ENGLISH)
"""Names of lists of stop words, which may be given in place of a file."""

Mode = Literal["paper", "as_released"]


@dataclass(frozen=True)
class VocabularyOptions:
    """Which words are left out: by the paper's rule, and where the paper says nothing (*) by its released code.

    Attributes:
        stop_words: `none`; `english`, the 318 of scikit-learn; or the path of a file with one word a line. A word is
            compared in lower case. * The released code has a list of 524 words, as has MALLET.
        lowercase: whether tokens are lower-cased first. * They are not.
        maximum_share: of the documents of train; words in more of them are left out.
        mode: `paper` leaves out words in more than that share of documents, `as_released` those in just that share too.
        minimum_count: fewest tokens in train. * 5.
        placeholders: a word that contains one of these, in any case, is left out.
        words: how words are found before in writing without spaces, see `plan.checks.words.HOW`.

    Raises:
        TextcriticError: a value out of range.
    """

    stop_words: str = NO_STOP_WORDS
    lowercase: bool = False
    maximum_share: float = 0.5
    mode: Mode = "paper"
    minimum_count: int = 5
    placeholders: Sequence[str] = ("xmath",)
    words: str = SPACES

    def __post_init__(self) -> None:
        object.__setattr__(self, "placeholders", tuple(self.placeholders))
        check_words(self.words)
        if not 0 < self.maximum_share <= 1:
            raise TextcriticError(
                f"maximum_share: {self.maximum_share} is not possible; give a share of documents above 0 and at most 1"
            )
        if self.mode not in ("paper", "as_released"):
            raise TextcriticError(f"mode: {self.mode!r}: use paper or as_released")
        if self.minimum_count < 1:
            raise TextcriticError(f"minimum_count: {self.minimum_count}: give a whole number from 1 upwards")
        if "" in self.placeholders:
            raise TextcriticError("placeholders: an empty one is in every word; leave it out")

    def most_documents(self, documents: int) -> int:
        """The largest document frequency that a word may have, of so many documents."""
        limit = Fraction(str(self.maximum_share)) * documents  # exact: 0.7 of 10 documents are 7
        return math.floor(limit) if self.mode == "paper" else math.ceil(limit) - 1


def check_vocabulary(name: str, registries: "Registries") -> None:
    """Check the vocabulary of an entry of the critics registry, if it has one; raises as `VocabularyOptions`."""
    entry = registries.entry("critics", name)
    if isinstance(entry, Ctm | Lda):
        try:
            VocabularyOptions(**entry.vocabulary.plain())
        except TextcriticError as error:
            raise TextcriticError(f"vocabulary: {error}") from error


def require_stop_words(name: str, here: Path) -> None:
    """Check that `VocabularyOptions.stop_words` names a list or a file that exists.

    Args:
        name: the option.
        here: the working directory, which relative paths are relative to.

    Raises:
        TextcriticError: it is neither.
    """
    if name in STOP_LISTS or (here / name).is_file():
        return
    hint = suggestion(name, STOP_LISTS, f"give {', '.join(STOP_LISTS)} or a file with one word a line")
    raise TextcriticError(f"stop_words: there is no file {name!r} in {here}; {hint}")
