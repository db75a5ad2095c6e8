"""MurmurHash3 of many strings at once."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Words32 = npt.NDArray[np.uint32]


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


# Numbers of bits, of a type that keeps words at 32.
_BITS = np.arange(33, dtype=np.uint32)


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
