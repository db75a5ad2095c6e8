"""The words that a topic model sees: white-space tokens, filtered as the model criticism paper and its code do."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import Self, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from textcritic.corpora import Article
from textcritic.corpora.words import SPACES, segmented
from textcritic.errors import TextcriticError
from textcritic.files import read_table, write_table
from textcritic.plan.checks.vocabulary import ENGLISH, NO_STOP_WORDS
from textcritic.plan.entries.critics import VocabularyOptions

VOCABULARY_SCHEMA = pa.schema([("word", pa.string()), ("count", pa.int64()), ("documents", pa.int64())])
# Tokens that are counted at a time: each takes 4 bytes as a number, and about 30 while they are sorted.
BATCH_TOKENS = 1 << 20

Ids = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.int64]
Removed = dict[str, dict[str, int]]
"""Numbers of "words" (types) and "tokens" of train that were left out, by reason."""
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The V words that are kept, the most frequent in train first (ties: by first appearance); ids are positions.

    Attributes:
        words: the words.
        counts: int64 [V], tokens of each in train.
        documents: int64 [V], documents of train with it.
        lowercase: whether tokens are lower-cased before they are looked up.
        spaced: how words are found in writing without spaces, see `plan.checks.words.HOW`.
    """

    words: tuple[str, ...]
    counts: Numbers
    documents: Numbers
    lowercase: bool = False
    spaced: str = SPACES

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def index(self) -> dict[str, int]:
        """Ids by word."""
        return {word: number for number, word in enumerate(self.words)}

    def encode(self, tokens: Sequence[str]) -> Ids:
        """The id of each token, -1 where it is not in the vocabulary: int32 [tokens]."""
        cased = map(str.lower, tokens) if self.lowercase else tokens
        return np.fromiter(map(self.index.get, cased, repeat(-1)), np.int32, len(tokens))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write as Parquet (`word`, `count`, `documents`; row = id), whole or not at all."""
        table = pa.table([pa.array(self.words, pa.string()), self.counts, self.documents], VOCABULARY_SCHEMA)
        spaced = {} if self.spaced == SPACES else {"spaced": self.spaced}
        write_table(path, table.replace_schema_metadata({"lowercase": str(self.lowercase)} | spaced))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote.

        Raises:
            TextcriticError: the file is missing, truncated, or something else.
        """
        table = read_table(path)
        if not table.schema.equals(VOCABULARY_SCHEMA) or b"lowercase" not in (table.schema.metadata or {}):
            raise TextcriticError(f"{path}: not a vocabulary; delete it and rerun the rule that makes it")
        counts, documents = (table[name].to_numpy() for name in ("count", "documents"))
        lowercase = table.schema.metadata[b"lowercase"] == b"True"
        spaced = table.schema.metadata.get(b"spaced", SPACES.encode()).decode()
        return cls(tuple(table["word"].to_pylist()), counts, documents, lowercase, spaced)


def require_words(
    critic: str | os.PathLike[str], words: int, path: str | os.PathLike[str], vocabulary: Vocabulary
) -> None:
    """See that a critic of so many words has those of a vocabulary; the files are for the message.

    Raises:
        TextcriticError: the vocabulary has another number of words.
    """
    if words != len(vocabulary):
        raise TextcriticError(
            f"{critic}: the critic knows {words:,} words, but the vocabulary {path} has {len(vocabulary):,}; "
            "delete both and rerun the rules that make them"
        )


def tokens_of(article: Article, spaced: str = SPACES) -> list[str]:
    """White-space tokens of all sections, titles not included, in order; see `Vocabulary.spaced`."""
    return [token for section in article.sections for token in segmented(section.text, spaced).split()]


def read_words(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The words of a file, one a line; the first is that of id 0.

    Raises:
        TextcriticError: the file is missing, not UTF-8 or empty.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise TextcriticError(f"{path}: not UTF-8; save the file as UTF-8, one word a line") from error
    except OSError as error:
        raise TextcriticError(f"{path}: cannot be read: {error.strerror or error}") from error
    if not lines:
        raise TextcriticError(f"{path}: there is no word in it; the first line should be the word with the id 0")
    return tuple(line.removesuffix("\r") for line in lines.split("\n"))


def vocabulary_of(
    words: Sequence[str], documents: Iterable[Sequence[str]], lowercase: bool = False, spaced: str = SPACES
) -> Vocabulary:
    """Given words as a vocabulary, with how often each occurs in some documents; the ids are those of the words.

    Raises:
        TextcriticError: a word is there twice.
    """
    first: dict[str, int] = {}
    for number, word in enumerate(words):
        if first.setdefault(word, number) != number:
            raise TextcriticError(f"words: {word!r} has two ids, {first[word]} and {number}; each word has one")
    none = np.zeros(len(words), np.int64)
    vocabulary = Vocabulary(tuple(words), none, none, lowercase)
    counts, frequencies = none.copy(), none.copy()
    for tokens in documents:
        ids = vocabulary.encode(tokens)
        known, times = np.unique(ids[ids >= 0], return_counts=True)
        counts[known] += times
        frequencies[known] += 1
    return Vocabulary(vocabulary.words, counts, frequencies, lowercase, spaced)


def build_vocabulary(
    documents: Iterable[Sequence[str]], options: VocabularyOptions, name: str = "vocabulary"
) -> tuple[Vocabulary, Removed]:
    """The vocabulary of some documents, each a sequence of tokens, and the words that were left out.

    Documents are streamed; in memory are the distinct words and `BATCH_TOKENS` tokens as numbers. A word that several
    rules leave out is counted under the first of: "stop word", "in more than 50% of documents" (as released: "in at
    least 50% of documents"), "placeholder", "fewer than 5 times", with the numbers of the options.

    Args:
        documents: tokens of each.
        options: which words are left out.
        name: of the documents, for errors.

    Raises:
        TextcriticError: no word is left, or the file of stop words is missing or bad.
    """
    stop_words = stop_word_list(options.stop_words)
    words, counts, frequencies, number = _tally(documents, options.lowercase)
    is_stop, is_placeholder = np.zeros((2, len(words)), dtype=bool)
    forbidden = [placeholder.lower() for placeholder in options.placeholders]
    for position, word in enumerate(words):
        lower = word.lower()
        is_stop[position] = lower in stop_words
        is_placeholder[position] = any(piece in lower for piece in forbidden)
    bound = "more than" if options.mode == "paper" else "at least"
    rules = {
        "stop word": is_stop,
        f"in {bound} {100 * options.maximum_share:g}% of documents": frequencies > options.most_documents(number),
        "placeholder": is_placeholder,
        f"fewer than {options.minimum_count} times": counts < options.minimum_count,
    }
    kept, removed = np.ones(len(words), dtype=bool), {}
    for reason, applies in rules.items():
        out = kept & applies
        removed[reason] = {"words": int(out.sum()), "tokens": int(counts[out].sum())}
        kept &= ~out
    order = np.flatnonzero(kept)
    order = order[np.argsort(-counts[order], kind="stable")]  # positions are in order of first appearance
    if not len(order):
        why = ", ".join(f"{reason}: {n['words']}" for reason, n in removed.items() if n["words"])
        raise TextcriticError(
            f"{name}: no word is left of the {len(words)} of {number} document{'s' * (number != 1)} "
            f"({why or 'there is none'}); give more text, or relax the vocabulary's options"
        )
    chosen = tuple(words[position] for position in order)
    return Vocabulary(chosen, counts[order], frequencies[order], options.lowercase, options.words), removed


def stop_word_list(name: str) -> frozenset[str]:
    """The stop words, in lower case, that `VocabularyOptions.stop_words` names.

    Raises:
        TextcriticError: a file that is missing, not UTF-8, or has a line of several words.
    """
    if name == NO_STOP_WORDS:
        return frozenset()
    if name == ENGLISH:
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # here: its import takes a second

        return frozenset(ENGLISH_STOP_WORDS)
    try:
        lines = Path(name).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise TextcriticError(f"{name}: not UTF-8; save the file as UTF-8, one stop word a line") from error
    except OSError as error:
        raise TextcriticError(
            f"{name}: stop words cannot be read: {error.strerror or error}; give {NO_STOP_WORDS}, {ENGLISH} or a file "
            "with one word a line"
        ) from error
    for number, line in enumerate(lines, start=1):
        if len(line.split()) > 1:
            raise TextcriticError(f"{name}:{number}: {line.strip()!r} is more than one word; give one stop word a line")
    return frozenset(line.strip().lower() for line in lines if line.strip())


def batches(items: Iterable[T], size: Callable[[T], int]) -> Iterator[list[T]]:
    """Cut a stream into lists whose sizes add up to `BATCH_TOKENS` or a little more; the last may be smaller."""
    batch: list[T] = []
    total = 0
    for item in items:
        batch.append(item)
        total += size(item) + 1  # so that a million empty documents make batches too
        if total >= BATCH_TOKENS:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


def _tally(documents: Iterable[Sequence[str]], lowercase: bool) -> tuple[list[str], Numbers, Numbers, int]:
    """All words by first appearance, their counts and document frequencies (int64), and the number of documents."""
    ids: defaultdict[str, int] = defaultdict()
    ids.default_factory = ids.__len__  # a new word gets the next id
    number = 0
    totals = np.zeros((2, 1024), dtype=np.int64)

    def encode(tokens: Sequence[str]) -> Ids:
        cased = map(str.lower, tokens) if lowercase else tokens
        return np.fromiter(map(ids.__getitem__, cased), np.int32, len(tokens))

    for batch in batches(map(encode, documents), len):
        number += len(batch)
        flat = np.concatenate(batch).astype(np.int64)
        if not len(flat):
            continue
        if len(ids) > totals.shape[1]:
            totals = np.pad(totals, ((0, 0), (0, 2 * len(ids) - totals.shape[1])))
        rows = np.repeat(np.arange(len(batch)), [len(document) for document in batch])
        pairs, repeats = np.unique(flat * len(batch) + rows, return_counts=True)
        types, starts, documents_of = np.unique(pairs // len(batch), return_index=True, return_counts=True)
        totals[0, types] += np.add.reduceat(repeats, starts)
        totals[1, types] += documents_of
    counts, frequencies = totals[:, : len(ids)]
    return list(ids), counts, frequencies, number
