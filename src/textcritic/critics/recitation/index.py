"""Training text that texts can be looked up in: its words, its documents, and a suffix array of them."""

import os
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.corpora.readers.characters import straightened
from textcritic.corpora.words import segmented_texts
from textcritic.critics.recitation.suffixes import END, Found, Suffixes, suffix_array
from textcritic.critics.tendencies.tokens import Tokens, chunks, tokenize
from textcritic.critics.tendencies.words import words_of
from textcritic.errors import TextcriticError
from textcritic.files import read_table, write_table
from textcritic.plan.entries import Recitation

Lengths = npt.NDArray[np.int64]


def words_in(texts: pa.StringArray, entry: Recitation) -> tuple[pa.DictionaryArray, Lengths]:
    """The words of all texts, one text after the other, and how many each has; raises as `tokenize`."""
    tokens = tokens_in(texts, entry)
    words = words_of(tokens.types, entry.lower_case, frozenset())
    return pa.DictionaryArray.from_arrays(words.of_types[tokens.ids], words.words), tokens.lengths


def tokens_in(texts: pa.StringArray, entry: Recitation) -> Tokens:
    """The tokens of texts, in their original form except for quotes."""
    spaced = segmented_texts(straightened(texts) if entry.straight_quotes else texts, entry.words)
    return tokenize(spaced, entry.tokenizer)


@dataclass(frozen=True, slots=True)
class IndexFiles:
    """The files of an index: the suffix array (npz), `word` and `id`, `words` of each document (Parquet)."""

    suffixes: str | os.PathLike[str]
    words: str | os.PathLike[str]
    documents: str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class TrainIndex:
    """Training text that texts can be looked up in.

    Attributes:
        suffixes: of all documents; word w has the number w + 1 there.
        words: distinct words, strings [words].
        ids: of the documents, strings [D].
        lengths: int64 [D], words of each document.
        entry: how documents were cut into words, and texts must be.
    """

    suffixes: Suffixes
    words: pa.StringArray
    ids: pa.StringArray
    lengths: Lengths
    entry: Recitation

    def found(self, texts: pa.StringArray, sizes: list[int]) -> tuple[Lengths, Found]:
        """The words of each text [T], and which stretches of them the training text has, see `Suffixes.found`."""
        words, lengths = words_in(texts, self.entry)
        numbers = pc.index_in(words.dictionary, self.words).fill_null(-2).to_numpy() + 1
        of_texts = numbers.astype(np.int32)[words.indices.to_numpy()]
        return lengths, self.suffixes.found(of_texts, lengths, sizes)

    def where(self, places: Lengths) -> tuple[pa.StringArray, Lengths]:
        """The document of each place and the word of it, from 0; null and -1 where there is no place."""
        starts = np.cumsum(self.lengths + 1) - (self.lengths + 1)
        document = np.searchsorted(starts, places, side="right") - 1
        nowhere = places < 0
        words = np.where(nowhere, -1, places - starts[document]) if len(starts) else np.full(len(places), -1)
        return self.ids.take(pa.array(document, mask=nowhere)), words

    def save(self, files: IndexFiles) -> None:
        """Write the three files, each whole or not at all."""
        self.suffixes.save(files.suffixes)
        write_table(files.words, pa.table({"word": self.words}))
        write_table(files.documents, pa.table({"id": self.ids, "words": self.lengths}))

    @classmethod
    def load(cls, files: IndexFiles, entry: Recitation) -> "TrainIndex":
        """Read what `save` wrote.

        Raises:
            TextcriticError: a file is missing or damaged, or they do not belong together.
        """
        suffixes = Suffixes.load(files.suffixes)
        words, documents = read_table(files.words), read_table(files.documents)
        ids, lengths = documents["id"].combine_chunks(), documents["words"].to_numpy()
        if (lengths + 1).sum() != len(suffixes.tokens) or suffixes.tokens.max(initial=END) > len(words):
            raise TextcriticError(
                f"{files.suffixes}: not made from the text of {files.words} and {files.documents}; delete them and "
                "rerun the rule that makes them"
            )
        return cls(suffixes, words["word"].combine_chunks(), ids, lengths, entry)


def index_articles(batches: Iterable[tuple[pa.StringArray, pa.StringArray]], entry: Recitation) -> TrainIndex:
    """Index documents. Some 40 bytes a word are needed for it, and 8 afterwards: 4 GB for 100 million words.

    Args:
        batches: (ids, texts) of documents.
        entry: how they are cut into words.

    Raises:
        TextcriticError: a text is not UTF-8, or there are too many words.
    """
    pieces, lengths, ids = [], [np.zeros(0, np.int64)], [pa.array([], pa.string())]
    for names, texts in batches:
        ids.append(names.cast(pa.string()))
        for some in chunks([texts]):
            words, of_each = words_in(some, entry)
            pieces.append(words)
            lengths.append(of_each)
    empty = pa.array([], pa.string()).dictionary_encode()
    joined = pa.chunked_array([empty, *pieces]).unify_dictionaries().combine_chunks()
    joined = joined.chunk(0) if isinstance(joined, pa.ChunkedArray) else joined
    of_documents = np.concatenate(lengths)
    ends = np.cumsum(of_documents + 1) - 1
    tokens = np.full(int((of_documents + 1).sum()), END, np.int32)
    is_word = np.ones(len(tokens), np.bool_)
    is_word[ends] = False
    tokens[is_word] = joined.indices.to_numpy()
    tokens[is_word] += 1
    distinct = joined.dictionary
    pieces.clear()
    del joined, is_word  # with the pieces 9 bytes a word, while the most memory is needed
    return TrainIndex(Suffixes(tokens, suffix_array(tokens)), distinct, pa.concat_arrays(ids), of_documents, entry)
