"""Near-duplicate documents: Jaccard similarity of word shingles, with MinHash to find the pairs worth checking."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

SHINGLE = 3
# Two documents of similarity s share a band with probability 1 - (1 - s^4)^32: 0.98 at 0.6, 1 - 5e-8 at 0.8.
BANDS, ROWS = 32, 4

_WORD = re.compile(r"\w+")
_ODD = np.uint64(0x9E3779B97F4A7C15)


def near_duplicates(texts: Sequence[str], threshold: float) -> list[int | None]:
    """For each text, None if it stays, else the index of the earlier text that stays and that it nearly repeats.

    Similarity is the Jaccard index of the sets of three-word shingles (lower-cased; shorter texts are one shingle).
    Candidate pairs come from MinHash bands (Broder 1997; 128 hashes, fixed seed) and each is checked exactly, so
    what is reported is always a near-duplicate, and one of similarity 0.8 is missed once in twenty million.

    Args:
        texts: documents; earlier ones are kept in favour of later ones.
        threshold: the least similarity of a near-duplicate, 0 to 1.
    """
    shingles = _shingle_sets(texts)
    duplicate_of: list[int | None] = [None] * len(texts)
    for later, earlier in sorted((max(pair), min(pair)) for pair in _candidates(shingles)):
        if duplicate_of[later] is None and duplicate_of[earlier] is None:
            shared = len(np.intersect1d(shingles[later], shingles[earlier], assume_unique=True))
            if shared >= threshold * (len(shingles[later]) + len(shingles[earlier]) - shared):
                duplicate_of[later] = earlier
    return duplicate_of


def _shingle_sets(texts: Sequence[str]) -> list[NDArray[np.uint64]]:
    """Sorted distinct 64-bit shingle hashes of each text."""
    vocabulary: dict[str, int] = defaultdict(lambda: len(vocabulary))
    sets = []
    for text in texts:
        words = np.array([vocabulary[word] for word in _WORD.findall(text.lower())], dtype=np.uint64)
        count = max(1, len(words) - SHINGLE + 1)
        hashed = np.zeros(count, dtype=np.uint64)
        for offset in range(min(SHINGLE, len(words))):
            hashed = _mix(hashed + words[offset : offset + count] + np.uint64(1))
        sets.append(np.unique(hashed))
    return sets


def _candidates(shingles: list[NDArray[np.uint64]]) -> set[tuple[int, int]]:
    """Pairs of documents whose MinHash signatures agree on at least one band."""
    pairs: set[tuple[int, int]] = set()
    if not shingles:
        return pairs
    flat = np.concatenate(shingles)
    starts = np.cumsum([0, *(len(one) for one in shingles[:-1])])
    seeds = iter(np.random.default_rng(0).integers(1, 2**63, size=BANDS * ROWS, dtype=np.uint64))
    for _ in range(BANDS):
        band = np.stack([np.minimum.reduceat(_mix(flat ^ next(seeds)), starts) for _ in range(ROWS)], axis=1)
        pairs.update(_pairs_of_equal_rows(band))
    return pairs


def _pairs_of_equal_rows(band: NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
    buckets: dict[bytes, list[int]] = defaultdict(list)
    for index, row in enumerate(band):
        buckets[row.tobytes()].append(index)
    for members in buckets.values():
        yield from combinations(members, 2)


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A bijective 64-bit scrambler: multiply by an odd constant and fold the high bits down, twice."""
    mixed = values * _ODD
    mixed ^= mixed >> np.uint64(29)
    mixed *= _ODD
    mixed ^= mixed >> np.uint64(32)
    return mixed
