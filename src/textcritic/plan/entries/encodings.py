"""Entries of the registry `encodings`."""

from typing import Literal

from textcritic.plan.entries.base import Entry, key, optional
from textcritic.plan.entries.parts import BroughtPath, HubName

SYMBOLS = "symbols"
"""The tokenizer of the sequences of a synthetic process."""
SUBWORDS = "subwords"
"""The tokenizer of parallel corpora; all others but `SYMBOLS` are for text."""
WORDS = "words"
"""The tokenizer of whole words; it has no special tokens but the end of text."""


class TrainedSize(Entry):
    """Of a tokenizer that is trained on the train split."""

    vocabulary: int = key("entries of the tokenizer", ge=300)


class Trained(Entry, title="{train: {vocabulary: N}}"):
    """A byte-level BPE trained on the corpus."""

    train: TrainedSize = key("train it on the train split")


class TokenizerOfHub(Entry, title="{hub: NAME}"):
    """The tokenizer of a model in the hub registry."""

    hub: HubName = key("an entry of the hub registry")


class TokenizerOfFolder(Entry, title="{folder: PATH}"):
    """A tokenizer saved in a local folder."""

    folder: BroughtPath = key("a tokenizer saved by transformers, relative to the working directory")


class NoOptions(Entry):
    """There is nothing to choose."""


class Symbols(Entry, title="{symbols: {}}"):
    """A token for each letter of a synthetic process."""

    symbols: NoOptions = key("the process gives its letters, so there is nothing to choose")


class SubwordsSize(Entry):
    """Of subwords that are learnt on the train split."""

    vocabulary: int = key(
        "entries of the tokenizer: special tokens, characters and merged pairs; the characters of the text must fit",
        ge=16,
    )


class Subwords(Entry, title="{subwords: {vocabulary: N}}"):
    """Byte-pair encoding inside words."""

    subwords: SubwordsSize = key("learn it on the train split")


class WordsKept(Entry):
    """Which words of the train split are kept."""

    vocabulary: int | None = optional(
        "entries of the tokenizer: the end of text, `<unk>`, a line break, a blank line, and the commonest"
        " words; of equally common ones those first by code points",
        ge=5,
    )
    minimum_count: int | None = optional("all words that occur so many times or more", ge=1)


class WholeWords(Entry, title="{words: {...}}"):
    """Whole words."""

    words: WordsKept = key("which words of the train split, by one of the two keys")


class Encoding(Entry):
    """How text becomes tokens."""

    tokenizer: Trained | TokenizerOfHub | TokenizerOfFolder | Symbols | Subwords | WholeWords = key("the tokenizer")
    boundary: Literal["single", "as_released"] = key(
        "what separates two articles: `single`, one end-of-text token (the paper's text), or `as_released`,"
        " end-of-text, line break, end-of-text (the released code)",
        "single",
    )

    @property
    def reads(self) -> str:
        """What it makes tokens of: `symbols` of a process, `subwords` of parallel corpora, `words`, or `text`."""
        forms = {Symbols: SYMBOLS, Subwords: SUBWORDS, WholeWords: WORDS}
        return forms.get(type(self.tokenizer), "text")

    @property
    def vocabulary(self) -> int | None:
        """Entries of a tokenizer that is made here, where the entry says how many."""
        match self.tokenizer:
            case Trained(train=size) | Subwords(subwords=size) | WholeWords(words=size):
                return size.vocabulary
            case _:
                return None
