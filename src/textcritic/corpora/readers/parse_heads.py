"""Heads of noun phrases by a parse in brackets."""

from collections.abc import Sequence
from itertools import count

_NOUNS = ("NN", "NNP", "NNPS", "NNS", "NX", "PRP")
_SECOND = (("NP",), ("$", "ADJP", "PRN"), ("CD",), ("JJ", "JJS", "RB", "QP", "PRP$", "DT", "WP", "WDT"))


def parse_heads(bits: Sequence[str], tags: Sequence[str]) -> dict[tuple[int, int], int]:
    """Heads of the constituents of a sentence by rules for noun phrases (Collins 1999, appendix A).

    The head is that of the last child that is a noun; else of the first noun phrase; else of the last adjective phrase,
    number, or adjective; else the last word.

    Args:
        bits: of each word, the column of the parse: `(NP*`, `*`, `*)`.
        tags: of each word, its part of speech.

    Returns:
        {(first word, last word): head}; empty if the brackets do not fit together.
    """
    try:
        return _Tree(bits, tags).heads
    except (IndexError, ValueError):
        return {}


class _Tree:
    """Reads a bracketed sentence and gives each constituent its head as it closes."""

    def __init__(self, bits: Sequence[str], tags: Sequence[str]) -> None:
        self.heads: dict[tuple[int, int], int] = {}
        # Each open constituent: label, first word, children as (label, head).
        stack: list[tuple[str, int, list[tuple[str, int]]]] = [("", 0, [])]
        for word, bit in zip(count(), bits):
            opening, star, closing = bit.partition("*")
            if not star:
                raise ValueError(bit)
            for label in opening.replace("(", " ").split():
                stack.append((label.partition("-")[0], word, []))
            stack[-1][2].append((tags[word], word))
            for _ in range(closing.count(")")):
                label, first, children = stack.pop()
                head = _head(children)
                # A constituent in one of the same words has the same head, unless it is larger.
                self.heads[first, word] = head
                stack[-1][2].append((label, head))
        if len(stack) != 1:
            raise ValueError("brackets")


def _head(children: Sequence[tuple[str, int]]) -> int:
    last = [child for child in children if child[0] != "POS"] or list(children)
    for label, head in reversed(last):
        if label in _NOUNS:
            return head
    for number, labels in enumerate(_SECOND):
        for label, head in last if number == 0 else reversed(last):
            if label in labels:
                return head
    return last[-1][1]
