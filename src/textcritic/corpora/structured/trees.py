"""Trees in Penn brackets, as the Penn Treebank, GUM and most parsers write them: `(S (NP (DT the) (NN dog)) (VP ...))`.

What is read are binary trees without labels (Kim et al. 2019, section 3). Nodes with one child vanish. A node with
children A, B, C becomes (A (B C)): all its REDUCEs come where its bracket closes, as in the reader of the released
code (harvardnlp/urnng, `get_nonbinary_spans`).
"""

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from textcritic.corpora.readers.archives import texts_of
from textcritic.corpora.structured.texts import REDUCE, SHIFT, Structured
from textcritic.errors import TextcriticError

SUFFIXES = (".ptb", ".mrg", ".parse")
TRACE = "-NONE-"
TRACES, EMPTY, NO_WORDS = "traces", "empty leaves", "trees without words"
_TOKEN = re.compile(r"[()]|[^\s()]+")


def read_trees(path: str | os.PathLike[str], skipped: Counter[str]) -> Iterator[Structured]:
    """Stream the trees of a file or an archive as binary trees; those of an archive in order of its files' names.

    A file has any number of trees, each on any number of lines; brackets around whole trees, `( (S ...) )`, do not
    matter. The first thing in a bracket is its label, unless it is a bracket itself; labels and their function tags are
    not kept. Words stay as they are: `-LRB-` is not changed. A sentence of one word is one SHIFT; urnng's evaluation
    passes over those and does not count them (facts: T), which is up to the caller.

    Args:
        path: a file, plain or gzipped, or a .tar.gz archive; from an archive, .ptb, .mrg and .parse files are read.
        skipped: takes up how many traces (`-NONE-`) and leaves without a word were removed, and how many trees were
            left out because no word remained.

    Yields:
        Trees; the group is the name of their file without its ending, the id `GROUP#NUMBER` (within the file, from 1).

    Raises:
        TextcriticError: a file that is missing, cut or not UTF-8, or holds no tree; a bracket that is never opened or
            never closed; a word outside of brackets. The line has file and line.
    """
    seen: dict[str, str] = {}
    for where, text in texts_of(path, SUFFIXES):
        group = _group(where)
        if group in seen:
            raise TextcriticError(f"{where}: the name '{group}' is that of {seen[group]} too; give each its own")
        seen[group] = where
        number = 0
        for number, tree in enumerate(_trees(where, text, skipped), 1):
            if tree.words:
                yield Structured(f"{group}#{number}", tuple(tree.words), tuple(tree.actions), group=group)
            else:
                skipped[NO_WORDS] += 1
        if not number:
            raise TextcriticError(f"{where}: there is no tree in it; one is written as (S (NP (PRP It)) (VP (VBZ is)))")


def _group(where: str) -> str:
    name = PurePosixPath(where.rpartition(":")[2] or where).name.removesuffix(".gz")
    return name.rpartition(".")[0] or name


def _trees(where: str, text: str, skipped: Counter[str]) -> "Iterator[_Tree]":
    tree: _Tree | None = None
    for number, line in enumerate(text.split("\n"), 1):
        for token in _TOKEN.findall(line):
            if token == "(":
                tree = tree or _Tree(number)
                if tree.open:
                    tree.open[-1].label = tree.open[-1].label or ""
                    tree.open[-1].filled = True
                tree.open.append(_Bracket())
            elif not tree:
                what = "a bracket closes that was not opened" if token == ")" else f"'{token}' is outside of a tree"
                raise TextcriticError(f"{where}:{number}: {what}; a tree is written as (S (NP (PRP It)) (VP (VBZ is)))")
            elif token == ")":
                tree.close(skipped)
                if not tree.open:
                    yield tree
                    tree = None
            else:
                tree.word(token, skipped)
    if tree:
        raise TextcriticError(
            f"{where}:{tree.line}: the tree that begins here has {len(tree.open)} brackets open at the end"
        )


@dataclass(slots=True)
class _Tree:
    """A tree that is being read.

    Attributes:
        line: where it begins.
        words: so far.
        actions: so far.
        open: its open brackets, the innermost last.
    """

    line: int
    words: list[str] = field(default_factory=list)
    actions: list[int] = field(default_factory=list)
    open: "list[_Bracket]" = field(default_factory=list)

    def word(self, word: str, skipped: Counter[str]) -> None:
        """A label or a word."""
        bracket = self.open[-1]
        if bracket.label is None:
            bracket.label = word
            return
        bracket.filled = True
        if bracket.label == TRACE:
            skipped[TRACES] += 1
            return
        self.words.append(word)
        self.actions.append(SHIFT)
        bracket.children += 1

    def close(self, skipped: Counter[str]) -> None:
        """The innermost bracket closes."""
        bracket = self.open.pop()
        if not bracket.filled:
            skipped[EMPTY] += 1
        self.actions += [REDUCE] * (bracket.children - 1)
        if self.open:
            self.open[-1].children += bracket.children > 0


@dataclass(slots=True)
class _Bracket:
    """An open bracket: its label (None: not read yet), whether anything follows it, and its children with words."""

    label: str | None = None
    filled: bool = False
    children: int = 0
