"""What is counted of a set of documents: of each one, and of each word in groups of documents."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_matrix

from textcritic.errors import TextcriticError
from textcritic.files import arrays_of, write_arrays

LENGTH, TYPES, BIGRAMS, STOPWORDS, SYMBOLS = range(5)
"""Columns of `Counts.documents`: tokens, distinct words, distinct bigrams, stop words, symbols."""
PAIRS = 1 << 16
"""Kinds of bigrams, see `Counts.pairs`."""
NOT_COUNTED = -1
"""Stop words of each document where there is no list of them."""
OF_WORDS = ("matrix", "segment_sums", "segment_squares")
"""Matrices with a column each word."""
TOTALS = ("segments", "recurrence", "attached", "upper")
"""Numbers of groups that are not of words."""
# The separator of words in the file; neither tokenizer leaves it in a token.
SEPARATOR = "\n"
OTHERWISE = "not a file of counts; delete it and rerun the rule that makes it"
# Arrays of a file that are there as they are in memory.
PLAIN = ("documents", "group", "unit", "segments", "recurrence", "lags", "attached", "upper")
# Shares of tokens that differ by more than this, and by more than this factor, are not due to one way of cutting text.
DIFFERENCE, RATIO = 0.01, 10
# Words with an apostrophe inside, and what is cut off of them: a difference of both, in opposite ways, may be smaller.
# `n't` is a token of some tokenizers, so that there are two letters before.
WITHIN, BEFORE, CUT = r"\pL\pL['’]\pL", "^['’]", 0.002
# Parts of words as subword-nmt, byte-level BPE (Ġ, ġ in lower case), SentencePiece and WordPiece mark them. The
# tokenizer `words` makes @ and ▁ tokens by themselves.
PART = r"@@$|^@$|^[Ġġ▁]|^##\pL"

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Counts:
    """What is counted of D documents, which are divided at random into G groups of equal size, up to one.

    Documents are exchangeable, and so are groups of them: every statistic of words can be resampled by group. A
    document without a token counts, with a length of 0.

    Attributes:
        words: Arrow array of strings [types], by descending count, then by code point.
        documents: int32 [D, 5], see `LENGTH`, `TYPES`, `BIGRAMS`, `STOPWORDS` and `SYMBOLS`. A bigram is two
            neighbouring tokens of a document. Stop words are `NOT_COUNTED` with the option `stop_words: none`.
        group: int32 [D], from 0.
        unit: int32 [D], a number that documents which belong together share (`inference.unit_of`); groups are made of
            whole units.
        matrix: int64 CSR [G, types], tokens of each word.
        pairs: int64 CSR [G, PAIRS], bigrams of each kind. A kind is a hash of both words, so that memory does not grow
            with the number of different bigrams. A frequent bigram has a kind almost to itself.
        segments: int64 [G], how many segments: pieces of `window` tokens (see the options), cut from the begin of each
            document.
        segment_sums: int64 CSR [G, types], sums over segments of the count of each word.
        segment_squares: int64 CSR [G, types], sums over segments of the square of this count.
        recurrence: int64 [G, lags, 2], how many pairs of tokens of one document there are at each distance, and in how
            many of these pairs both tokens are the same word.
        lags: int64 [lags], these distances: 1, 2, 4, ...
        attached: int64 [G], how many tokens are like `word,`, see `words.attached`.
        upper: int64 [G], how many tokens are changed by lower case.
    """

    words: pa.StringArray
    documents: npt.NDArray[np.int32]
    group: npt.NDArray[np.int32]
    unit: npt.NDArray[np.int32]
    matrix: csr_matrix
    pairs: csr_matrix
    segments: Numbers
    segment_sums: csr_matrix
    segment_squares: csr_matrix
    recurrence: Numbers
    lags: Numbers
    attached: Numbers
    upper: Numbers

    @property
    def groups(self) -> int:
        """G, the number of groups."""
        return len(self.segments)

    @property
    def empty(self) -> int:
        """Documents without a token."""
        return int((self.column(LENGTH) == 0).sum())

    @cached_property
    def tokens(self) -> int:
        """Tokens of all documents."""
        return int(self.column(LENGTH).sum(dtype=np.int64))

    @cached_property
    def units(self) -> int:
        """How many units the documents are in."""
        return len(np.unique(self.unit))

    def one_of_each(self) -> "Counts":
        """The numbers of one document of each unit alone, at random: for tests that take documents as independent.

        Words, segments and recurrence stay those of all documents.
        """
        if self.units == len(self.unit):
            return self
        order = np.random.default_rng(1).permutation(len(self.unit))
        places = np.sort(order[np.unique(self.unit[order], return_index=True)[1]])
        return replace(self, documents=self.documents[places], group=self.group[places], unit=self.unit[places])

    def unigrams(self) -> Numbers:
        """Tokens of each word: int64 [types], descending."""
        return np.bincount(self.matrix.indices, self.matrix.data, len(self.words)).astype(np.int64)

    def column(self, name: int) -> npt.NDArray[np.int32]:
        """One number of each document: int32 [D]; `name` is `LENGTH`, `TYPES`, `BIGRAMS`, `STOPWORDS` or `SYMBOLS`."""
        column: npt.NDArray[np.int32] = self.documents[:, name]
        return column

    def take(self, groups: Sequence[int]) -> "Counts":
        """The counts of some groups alone, which are numbered from 0 in the order given.

        Raises:
            TextcriticError: a group that does not exist, or one that is named twice.
        """
        rows = np.asarray(groups, np.int64).reshape(-1)
        if len(np.unique(rows)) < len(rows) or (rows < 0).any() or (rows >= self.groups).any():
            raise TextcriticError(f"groups: {list(groups)}: give each of 0 to {self.groups - 1} once at most")
        number = np.full(self.groups, -1, np.int32)
        number[rows] = np.arange(len(rows))
        kept = number[self.group] >= 0
        of_groups = {
            field.name: getattr(self, field.name)[rows]
            for field in fields(self)
            if field.name not in ("words", "documents", "group", "unit", "lags")
        }
        of_groups |= {"documents": self.documents[kept], "unit": self.unit[kept]}
        return ordered(replace(self, group=number[self.group[kept]], **of_groups))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write as .npz, whole or not at all."""
        one_list = pa.ListArray.from_arrays([0, len(self.words)], self.words)
        arrays = {name: getattr(self, name) for name in PLAIN}
        arrays["words"] = np.frombuffer(pc.binary_join(one_list, SEPARATOR)[0].as_buffer(), np.uint8)
        arrays["types"] = np.array(len(self.words))
        # The sums and squares of a word are in the same places.
        for name, matrix in (("matrix", self.matrix), ("segment", self.segment_sums)):
            arrays |= {f"{name}_indptr": matrix.indptr, f"{name}_indices": matrix.indices.astype(np.int32)}
        arrays |= {"pairs_indptr": self.pairs.indptr, "pairs_indices": self.pairs.indices.astype(np.uint16)}
        for name in ("matrix", "segment_sums", "segment_squares", "pairs"):
            arrays[name] = _narrow(getattr(self, name).data)
        write_arrays(path, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote.

        Raises:
            TextcriticError: the file is missing, truncated, or something else.
        """
        with arrays_of(path, OTHERWISE) as arrays:
            plain = {name: arrays[name] for name in PLAIN}
            shape = len(plain["segments"]), int(arrays["types"])
            text = arrays["words"].tobytes().decode()
            words = pa.array(text.split(SEPARATOR) if shape[1] else [], pa.string())
            matrices = {}
            for name in ("matrix", "segment_sums", "segment_squares", "pairs"):
                places = name.split("_")[0]
                indices = arrays[f"{places}_indices"].astype(np.int32)
                row = arrays[name].astype(np.int64), indices, arrays[f"{places}_indptr"]
                matrices[name] = csr_matrix(row, shape=(shape[0], PAIRS) if name == "pairs" else shape)
                matrices[name].check_format()
            if len(words) != shape[1] or {len(plain[name]) for name in ("group", "unit")} != {len(plain["documents"])}:
                raise ValueError("arrays that do not belong together")
        return cls(words=words, **plain, **matrices)


def merge(parts: Sequence[Counts]) -> Counts:
    """The counts of several sets of documents with the same groups, e.g. of shards, in the order of the parts.

    Raises:
        TextcriticError: there is no part, or the parts differ in their number of groups or in their lags.
    """
    return ordered(added(parts))


def tokenisation_fault(real: Counts, sample: Counts) -> str | None:
    """A sentence on a sign that real text and a sample were cut into tokens in different ways; None without a sign.

    The share of tokens that are marked as parts of words, such as `extra@@` or `Ġword`, differs tenfold and by more
    than a percentage point; or that of tokens with a mark behind their letters, such as `word,`; or, where words are
    not counted in lower case, that of tokens with an upper-case letter; or that of tokens such as `it's`, where the
    other set has more that begin with an apostrophe, as of `it 's`.
    """
    both = real, sample
    attached, upper = ([_share(c, getattr(c, name).sum()) for c in both] for name in ("attached", "upper"))
    parts, within, before = ([_share(c, _having(c, form)) for c in both] for form in (PART, WITHIN, BEFORE))
    cased = any(pc.any(pc.not_equal(pc.utf8_lower(c.words), c.words)).as_py() for c in both)
    cut = (within[0] - within[1]) * (before[0] - before[1]) < 0
    remedy = "cut both with the same tokenizer"
    joined = "put the parts together again, and cut both with the same tokenizer"
    fault = _differ(parts, "are marked as parts of words, as in extra@@ ordinary or Ġword", joined)
    fault = fault or _differ(attached, "are letters with a mark such as a comma behind them", remedy)
    if cased and not fault:
        fault = _differ(upper, "have an upper-case letter", "count both in lower case")
    if cut and not fault and abs(before[0] - before[1]) > CUT:
        fault = _differ(within, "have an apostrophe inside, such as it's", remedy, CUT)
    return fault


def _differ(shares: Sequence[float], what: str, remedy: str, most: float = DIFFERENCE) -> str | None:
    low, high = sorted(shares)
    if high - low <= most or high <= RATIO * low:
        return None
    one, other = (f"{100 * share:.1f}%" for share in shares)
    return f"{one} of the tokens of the real text {what}, and {other} of the sample; {remedy}"


def _having(counts: Counts, form: str) -> int:
    """Tokens of words of some form, a regular expression."""
    return int(counts.unigrams()[pc.match_substring_regex(counts.words, form).to_numpy(zero_copy_only=False)].sum())


def _share(counts: Counts, tokens: int) -> float:
    return float(tokens) / max(counts.tokens, 1)


def added(parts: Sequence[Counts]) -> Counts:
    """The same with words in no particular order."""
    if not parts:
        raise TextcriticError("counts: there is no part to put together; give one or more")
    for part in parts:
        if part.groups != parts[0].groups or not np.array_equal(part.lags, parts[0].lags):
            raise TextcriticError(
                f"counts: parts of {parts[0].groups} and of {part.groups} groups, with {len(parts[0].lags)} and "
                f"{len(part.lags)} lags; count both with the same options"
            )
    if len(parts) == 1:
        return parts[0]
    words = pa.concat_arrays([part.words for part in parts]).dictionary_encode()
    places = np.split(words.indices.to_numpy(), np.cumsum([len(part.words) for part in parts])[:-1])
    matrices = {
        name: _added([getattr(part, name) for part in parts], places, len(words.dictionary)) for name in OF_WORDS
    }
    totals = {name: np.sum([getattr(part, name) for part in parts], axis=0) for name in TOTALS}
    return Counts(
        words=words.dictionary,
        documents=np.concatenate([part.documents for part in parts]),
        group=np.concatenate([part.group for part in parts]),
        unit=np.concatenate([part.unit for part in parts]),
        lags=parts[0].lags,
        pairs=sum(part.pairs for part in parts),
        **matrices,
        **totals,
    )


def ordered(counts: Counts) -> Counts:
    """The same counts with words by descending count, then by code point; words without a token are left out."""
    totals = counts.unigrams()
    table = pa.table({"word": counts.words, "count": totals})
    order = pc.sort_indices(table, [("count", "descending"), ("word", "ascending")]).to_numpy().astype(np.int64)
    order = order[: int((totals > 0).sum())]
    places = np.zeros(len(totals), np.int32)
    places[order] = np.arange(len(order))
    matrices = {name: _moved(getattr(counts, name), places, len(order)) for name in OF_WORDS}
    return replace(counts, words=counts.words.take(pa.array(order)), **matrices)


def sums_by_group(matrix: csr_matrix, group: npt.NDArray[np.int32], groups: int) -> csr_matrix:
    """The sums of rows of a matrix by the group of each: int64 CSR [G, columns]."""
    indptr = np.append(0, np.cumsum(np.bincount(group, minlength=groups)))
    rows = np.argsort(group, kind="stable")
    return csr_matrix((np.ones(len(rows), np.int64), rows, indptr), shape=(groups, len(group))) @ matrix


def _added(matrices: Sequence[csr_matrix], places: Sequence[npt.NDArray[np.int32]], types: int) -> csr_matrix:
    """The sum of matrices whose columns are moved to other places: one product, which needs nothing sorted."""
    groups = matrices[0].shape[0]
    ends = np.cumsum([0, *(matrix.nnz for matrix in matrices)])
    stacked = csr_matrix(
        (
            np.concatenate([matrix.data for matrix in matrices]),
            np.concatenate([place[matrix.indices] for matrix, place in zip(matrices, places, strict=True)]),
            np.concatenate([[0], *(matrix.indptr[1:] + end for matrix, end in zip(matrices, ends[:-1], strict=True))]),
        ),
        shape=(len(matrices) * groups, types),
    )
    return sums_by_group(stacked, np.tile(np.arange(groups, dtype=np.int32), len(matrices)), groups)


def _moved(matrix: csr_matrix, places: npt.NDArray[np.int32], types: int) -> csr_matrix:
    """The matrix with columns moved to other places, and those of each row in order."""
    indices = places[matrix.indices]
    # NumPy sorts the columns of a row four times as fast as SciPy.
    rows = [start + np.argsort(indices[start:stop]) for start, stop in pairwise(matrix.indptr.tolist())]
    order = np.concatenate([np.zeros(0, np.int64), *rows])
    return csr_matrix((matrix.data[order], indices[order], matrix.indptr), shape=(matrix.shape[0], types))


def _narrow(values: Numbers) -> np.ndarray:
    """The values in 32 bits, if they fit."""
    return values.astype(np.int32) if values.max(initial=0) < 2**31 else values
