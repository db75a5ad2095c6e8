"""Streams cut into lists."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """The items in order, `size` of them in each list, fewer in the last one; none is read before its list is."""
    stream = iter(items)
    while some := list(islice(stream, size)):
        yield some
