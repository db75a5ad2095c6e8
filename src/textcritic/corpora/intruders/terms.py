"""The terms by which documents are compared: hashed unigrams and bigrams, as in DrQA's retriever (Chen et al. 2017).

All is counted many documents at a time: a Python loop looks at each token once, to number it.
"""

import re
import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

Integers = npt.NDArray[np.int64]
Words32 = npt.NDArray[np.uint32]
BUCKETS = 1 << 24
"""Terms are hashed into so many buckets."""

# Function words of English, with what an apostrophe leaves of them, and the quotation marks of treebanks.
_FUNCTION_WORDS = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it
its itself they them their theirs themselves what which who whom this that these those am is are was were be been
being have has had having do does did doing a an the and but if or because as until while of at by for with about
against between into through during before after above below to from up down in out on off over under again further
then once here there when where why how all any both each few more most other some such no nor not only own same so
than too very s t can will just don should now d ll m o re ve y ain aren couldn didn doesn hadn hasn haven isn ma
mightn mustn needn shan shouldn wasn weren won wouldn 'll 're 've n't 's 'd 'm '' ``
"""
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
# Numbers of bits, of a type that keeps words at 32.
_BITS = np.arange(33, dtype=np.uint32)


def count_terms(texts: Sequence[str]) -> sparse.csr_array:
    """How often each document has the terms of each bucket.

    A text is normalised (NFD) and cut into runs of letters, digits and marks, and single other characters that are not
    white space. Terms are the tokens in lower case, and pairs of neighbours with a space between them; a term with a
    stop word or a punctuation mark in it is left out. Its bucket is MurmurHash3 (32 bits, seed 0, of its UTF-8)
    modulo `BUCKETS`.

    Returns:
        int32 [documents, BUCKETS], indices sorted, without zeros.
    """
    vocabulary = _Vocabulary()
    numbers, sizes = array("q"), np.empty(len(texts), np.int64)
    for number, text in enumerate(texts):
        tokens = tokens_of(text)
        sizes[number] = len(tokens)
        numbers.extend(map(vocabulary.__getitem__, tokens))
    token = np.array(numbers, np.int64)
    document = np.repeat(np.arange(len(texts), dtype=np.int64), sizes)
    words, counted = Strings.of(vocabulary.words), np.array(vocabulary.counted, bool)
    single = counted[token]
    pair = single[:-1] & single[1:] & (document[:-1] == document[1:])
    pairs, place = np.unique(token[:-1][pair] * len(counted) + token[1:][pair], return_inverse=True)
    of_pairs = words.joined(pairs // max(len(counted), 1), pairs % max(len(counted), 1))
    bucket = np.concatenate([murmur3(words)[token[single]], murmur3(of_pairs)[place]]) & (BUCKETS - 1)
    row = np.concatenate([document[single], document[:-1][pair]])
    cells, counts = np.unique(row * BUCKETS + bucket, return_counts=True)
    starts = np.searchsorted(cells, np.arange(len(texts) + 1) * BUCKETS)
    columns = (cells & (BUCKETS - 1)).astype(np.int32)
    return sparse.csr_array((counts.astype(np.int32), columns, starts), shape=(len(texts), BUCKETS))


def tokens_of(text: str) -> list[str]:
    """The tokens of a text, as they are written but for their normal form; see `count_terms`."""
    if text.isascii():
        return _RUNS.findall(text)
    runs = _RUNS.findall(unicodedata.normalize("NFD", text))
    # Few runs have other characters than ASCII.
    return [token for run in runs for token in ((run,) if run.isascii() else _cut(run))]


class _Vocabulary(dict[str, int]):
    """Numbers tokens as they come, whatever their case, and knows which of them count."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.counted: list[bool] = []
        self._lowered: dict[str, int] = {}

    def __missing__(self, token: str) -> int:
        word = token.lower()
        number = self._lowered.setdefault(word, len(self.words))
        if number == len(self.words):
            self.words.append(word)
            mark = all(unicodedata.category(letter)[0] == "P" for letter in word)
            self.counted.append(not mark and word not in STOP_WORDS)
        self[token] = number
        return number


# Of ASCII the tokens, and runs of letters, digits and all other characters.
_RUNS = re.compile("[0-9A-Za-z\u0080-\U0010ffff]+|[!-~]")


def _cut(run: str) -> Iterator[str]:
    """The tokens of a run: letters, digits and marks together, others alone, but not white space or controls."""
    start = 0
    for place, letter in enumerate(run):
        kind = unicodedata.category(letter)[0]
        if kind not in "LNM":
            if start < place:
                yield run[start:place]
            if kind not in "ZC":
                yield letter
            start = place + 1
    if start < len(run):
        yield run[start:]


def murmur3(strings: "Strings") -> Words32:
    """MurmurHash3 of each byte string: the variant for x86 with 32 bits, seed 0 (Appleby 2011, public domain).

    Returns:
        uint32 [strings].
    """
    state = np.zeros(len(strings.sizes), np.uint32)
    padded = np.concatenate([strings.bytes, np.zeros(4, np.uint8)]).astype(np.uint32)
    # The four bytes from each place on, as a little-endian number.
    words = padded[:-3] | padded[1:-2] << _BITS[8] | padded[2:-1] << _BITS[16] | padded[3:] << _BITS[24]
    blocks = strings.sizes // 4
    order = np.argsort(-blocks, kind="stable")
    longest_first, starts = blocks[order], strings.starts[order]
    mixed = state[order]
    for block in range(int(longest_first[0]) if len(order) else 0):
        active = int(np.searchsorted(-longest_first, -block))
        part = mixed[:active] ^ _scrambled(words[starts[:active] + 4 * block])
        mixed[:active] = _rotated(part, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    state[order] = mixed
    rest = strings.sizes % 4
    tail = words[np.minimum(strings.starts + 4 * blocks, len(words) - 1)]
    state ^= _scrambled(tail & ((np.uint32(1) << (8 * rest).astype(np.uint32)) - np.uint32(1)))
    state ^= strings.sizes.astype(np.uint32)
    state = (state ^ state >> _BITS[16]) * np.uint32(0x85EBCA6B)
    state = (state ^ state >> _BITS[13]) * np.uint32(0xC2B2AE35)
    return state ^ state >> _BITS[16]


def _scrambled(word: Words32) -> Words32:
    return _rotated(word * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)


def _rotated(word: Words32, by: int) -> Words32:
    return word << _BITS[by] | word >> _BITS[32 - by]


class Strings:
    """Byte strings of several lengths, one after the other.

    Attributes:
        bytes: uint8, of all strings.
        starts, sizes: int64 [strings], where each begins and how long it is.
    """

    def __init__(self, bytes_: npt.NDArray[np.uint8], sizes: Integers) -> None:
        self.bytes, self.sizes = bytes_, sizes
        self.starts = np.cumsum(sizes) - sizes

    @classmethod
    def of(cls, strings: Iterable[str]) -> "Strings":
        """UTF-8 of strings."""
        encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
        sizes = np.array([len(string) for string in encoded], np.int64)
        return cls(np.frombuffer(b"".join(encoded), np.uint8), sizes)

    def joined(self, first: Integers, second: Integers) -> "Strings":
        """Pairs of strings with a space between them."""
        before, after = self.sizes[first], self.sizes[second]
        pairs = Strings(np.empty(0, np.uint8), before + 1 + after)
        pairs.bytes = np.full(int(pairs.sizes.sum()), ord(" "), np.uint8)
        for strings, sizes, place in ((first, before, pairs.starts), (second, after, pairs.starts + before + 1)):
            within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            pairs.bytes[np.repeat(place, sizes) + within] = self.bytes[np.repeat(self.starts[strings], sizes) + within]
        return pairs
