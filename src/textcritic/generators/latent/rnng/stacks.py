"""What a shift-reduce parser's stack holds at each step of many trees, and which stacks and subtrees are the same.

All K trees of a sentence share its words, most share subtrees, and many share their first actions. A neural network
that reads stacks need compute each different subtree once, and each different stack once. Here these are found, before
any of its arithmetic, by sorting pairs of numbers.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from textcritic.corpora.structured.texts import REDUCE, SHIFT
from textcritic.errors import TextcriticError

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

PAD = -1
"""Pads the actions of the shorter trees."""


@dataclass(frozen=True)
class Steps:
    """What each action of trees does; all arrays are [trees, steps]. Each action puts one element on the stack.

    Attributes:
        actions: SHIFT, REDUCE, or PAD.
        before: how many elements are on the stack before the action.
        below: the step that made the element under the new one; -1: the bottom of the stack.
        left, right: of a REDUCE, the steps that made the two that it joins; else -1.
        start, end: the first and the last word of the new element.
        height: of the new element's subtree; 0: a word.
    """

    actions: Ints
    before: Ints
    below: Ints
    left: Ints
    right: Ints
    start: Ints
    end: Ints
    height: Ints

    @classmethod
    def of(cls, actions: Ints, words: Ints) -> "Steps":
        """Read trees.

        Args:
            actions: [trees, steps], PAD after the end of a tree.
            words: of each tree, [trees].

        Raises:
            TextcriticError: a row is not a binary tree over its words.
        """
        trees, length = actions.shape
        rows = np.arange(trees)
        stack = np.full((trees, int(words.max()) + 2), -1)
        height, shifted = np.zeros(trees, np.int64), np.zeros(trees, np.int64)
        columns = {name: np.full((length, trees), -1) for name in cls.__dataclass_fields__ if name != "actions"}
        possible = np.ones(trees, np.bool_)
        for step in range(length):
            shift, reduce = actions[:, step] == SHIFT, actions[:, step] == REDUCE
            active = shift | reduce
            possible &= ~(reduce & (height < 2)) & ~(shift & (shifted >= words))
            active, reduce = active & possible, reduce & possible
            now = {name: column[step] for name, column in columns.items()}
            now["before"][:] = height
            now["start"][active] = now["end"][active] = shifted[active]
            now["height"][active] = 0
            left, right = stack[rows, height - 1][reduce], stack[rows, height][reduce]
            at = rows[reduce]
            now["left"][reduce], now["right"][reduce] = left, right
            now["start"][reduce] = columns["start"][left, at]
            now["end"][reduce] = columns["end"][right, at]
            now["height"][reduce] = 1 + np.maximum(columns["height"][left, at], columns["height"][right, at])
            height = height + np.where(active, np.where(reduce, -1, 1), 0)
            shifted = shifted + (active & shift)
            now["below"][active] = stack[rows[active], height[active] - 1]
            stack[rows[active], height[active]] = step
        possible &= (height == 1) & (shifted == words) & ((actions != PAD).sum(axis=1) == 2 * words - 1)
        if not possible.all():
            row = int(np.flatnonzero(~possible)[0])
            raise TextcriticError(f"tree {row}: its actions are not a binary tree over {words[row]} words")
        return cls(actions, **{name: np.ascontiguousarray(column.T) for name, column in columns.items()})


@dataclass(frozen=True)
class Sharing:
    """The different subtrees and stacks of some trees.

    Subtrees are numbered: first the words of all texts, one text after the other, then those of height 1, and so on.
    Stacks are numbered: 0 is the empty one, then those of one element, and so on; a stack is the one below its top
    element, and the subtree on top.

    Attributes:
        subtrees: of each height from 1 on, the numbers of left and right subtree: ([n], [n]).
        stacks: of each size from 1 on, the number of the stack below among those one smaller, and the number of the
            subtree on top: ([n], [n]).
        stack: the number of the stack after each step, [trees, steps]; 0 for PAD.
    """

    subtrees: list[tuple[Ints, Ints]]
    stacks: list[tuple[Ints, Ints]]
    stack: Ints

    @classmethod
    def of(cls, steps: Steps, first_word: Ints) -> "Sharing":
        """Find them.

        Args:
            steps: of the trees.
            first_word: of each tree, the number of its text's first word among the words of all texts, [trees].
        """
        real = steps.actions != PAD
        subtree = np.where(real, first_word[:, None] + steps.start, 0)
        words = int((first_word + steps.end.max(axis=1)).max()) + 1
        subtrees: list[tuple[Ints, Ints]] = []
        total = words
        for height in range(1, int(steps.height.max()) + 1):
            rows, columns = np.nonzero(real & (steps.height == height))
            left = subtree[rows, steps.left[rows, columns]]
            right = subtree[rows, steps.right[rows, columns]]
            parts, subtree[rows, columns] = _pairs(left, right, total)
            subtrees.append(parts)
            total += len(parts[0])
        size = np.where(real, steps.before + np.where(steps.actions == SHIFT, 1, -1), 0)
        within = np.zeros_like(subtree)  # the number of the stack among those of its size
        stack = np.zeros_like(subtree)
        stacks: list[tuple[Ints, Ints]] = []
        total = 1
        for count in range(1, int(size.max()) + 1):
            rows, columns = np.nonzero(size == count)
            below = within[rows, steps.below[rows, columns]] if count > 1 else np.zeros_like(rows)
            parts, within[rows, columns] = _pairs(below, subtree[rows, columns], 0)
            stack[rows, columns] = total + within[rows, columns]
            stacks.append(parts)
            total += len(parts[0])
        return cls(subtrees, stacks, stack)


def actions_of(reduces: Ints) -> npt.NDArray[np.int8]:
    """The actions [trees, 2n - 1] of trees, from how many constituents end with each word [trees, n]."""
    trees, words = reduces.shape
    actions = np.full((trees, 2 * words - 1), REDUCE, np.int8)
    shifts = np.arange(words) + np.cumsum(reduces, axis=1) - reduces
    actions[np.arange(trees)[:, None], shifts] = SHIFT
    return actions


def _pairs(one: Ints, two: Ints, first: int) -> tuple[tuple[Ints, Ints], Ints]:
    """The different pairs, and the number of each pair among them, counted from `first`."""
    base = int(two.max()) + 1
    keys, inverse = np.unique(one * base + two, return_inverse=True)
    return (keys // base, keys % base), first + inverse
