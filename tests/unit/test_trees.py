"""The reader of Penn brackets."""

import gzip
import io
import tarfile
from collections import Counter

import pytest
from samples import LARGE

from textcritic.corpora.structured.texts import Structured
from textcritic.corpora.structured.trees import read_trees
from textcritic.errors import TextcriticError

S, R = 0, 1
GUM = LARGE / "trees/gum-const.tar.gz"


def read(tmp_path, text, name="doc.mrg"):
    path = tmp_path / name
    path.write_text(text)
    skipped = Counter()
    return list(read_trees(path, skipped)), dict(skipped)


def archive(path, files):
    with tarfile.open(path, "w:gz") as out:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            out.addfile(info, io.BytesIO(text.encode()))


@pytest.mark.parametrize(
    ("brackets", "words", "actions"),
    [
        ("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))", "the dog barks", (S, S, R, S, R)),
        ("( (S (NP-SBJ-1 (PRP It)) (VP (VBZ is) (ADJP-PRD (JJ old)))) )", "It is old", (S, S, S, R, R)),
        # Four children of one node: (A (B (C D))).
        ("(S (A a) (B b) (C c) (D d))", "a b c d", (S, S, S, S, R, R, R)),
        # The same inside: ((a (b c)) d).
        ("(S (X (A a) (B b) (C c)) (D d))", "a b c d", (S, S, S, R, R, S, R)),
        ("(ROOT (NP (NN Respect)))", "Respect", (S,)),
        ("(ROOT (S (NP (NP (NNP Ann))) (VP (VP (VBZ is)))))", "Ann is", (S, S, R)),
        ("(S\n  (NP (-LRB- -LRB-)\n (NN x))\n\n (. .))", "-LRB- x .", (S, S, R, S, R)),
        ("((NN a) (NN b))", "a b", (S, S, R)),
        ("(S (NP the dog) (VP barks))", "the dog barks", (S, S, R, S, R)),
    ],
)
def test_one_tree(tmp_path, brackets, words, actions):
    trees, skipped = read(tmp_path, brackets)
    assert trees == [Structured("doc#1", tuple(words.split()), actions, group="doc")]
    assert not skipped


def test_traces_and_empty_leaves_are_removed_and_counted(tmp_path):
    text = """(S (NP-SBJ (-NONE- *)) (VP (VB Go) (NP (NN home)) (SBAR (-NONE- 0) (S (-NONE- *T*-1)))))
    (S (NP (NN)) (VP (VBZ is) ()))
    (S (NP (-NONE- *)))
    (NP (NN end))"""
    trees, skipped = read(tmp_path, text)
    assert [(tree.id, tree.tokens, tree.actions) for tree in trees] == [
        ("doc#1", ("Go", "home"), (S, S, R)),
        ("doc#2", ("is",), (S,)),
        ("doc#4", ("end",), (S,)),
    ]
    assert skipped == {"traces": 4, "empty leaves": 2, "trees without words": 1}


def test_an_archive_has_a_group_for_each_file(tmp_path):
    path = tmp_path / "trees.tar.gz"
    files = {
        "x/two.parse": "(A (B b))(A (B c))",
        "x/one.ptb": "(A (B a))",
        "x/readme.txt": "nothing",
        "x/.hid.ptb": "(",
    }
    archive(path, files)
    trees = list(read_trees(path, Counter()))
    assert [(tree.id, tree.group, tree.tokens) for tree in trees] == [
        ("one#1", "one", ("a",)),
        ("two#1", "two", ("b",)),
        ("two#2", "two", ("c",)),
    ]


def test_a_gzipped_file(tmp_path):
    path = tmp_path / "wsj_0001.mrg.gz"
    path.write_bytes(gzip.compress(b"(A (B a))"))
    (tree,) = read_trees(path, Counter())
    assert (tree.id, tree.group) == ("wsj_0001#1", "wsj_0001")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (NP (NN a))\n(S (NN b))\n", r"doc.mrg:1: the tree that begins here has 1 brackets open at the end"),
        ("(S (NN a))\n)\n", r"doc.mrg:2: a bracket closes that was not opened"),
        ("(S (NN a))\n\nword (S (NN b))", r"doc.mrg:3: 'word' is outside of a tree"),
        ("  \n", r"doc.mrg: there is no tree in it; one is written as"),
    ],
)
def test_bad_brackets(tmp_path, text, message):
    with pytest.raises(TextcriticError, match=message):
        read(tmp_path, text)


def test_bad_files(tmp_path):
    with pytest.raises(TextcriticError, match=r"none.mrg: no such file"):
        list(read_trees(tmp_path / "none.mrg", Counter()))
    (tmp_path / "latin.mrg").write_bytes(b"(A (B a))\n(A (B \xe9))")
    with pytest.raises(TextcriticError, match=r"latin.mrg:2: not UTF-8"):
        list(read_trees(tmp_path / "latin.mrg", Counter()))
    archive(tmp_path / "same.tar.gz", {"x/one.ptb": "(A (B a))", "y/one.ptb": "(A (B a))"})
    with pytest.raises(TextcriticError, match=r"y/one.ptb: the name 'one' is that of .*x/one.ptb too"):
        list(read_trees(tmp_path / "same.tar.gz", Counter()))
    archive(tmp_path / "other.tar.gz", {"x/one.txt": "(A (B a))"})
    with pytest.raises(TextcriticError, match=r"there is no file \*.ptb or \*.mrg or \*.parse in the archive"):
        list(read_trees(tmp_path / "other.tar.gz", Counter()))


@pytest.mark.large
def test_gum():
    skipped = Counter()
    trees = list(read_trees(GUM, skipped))
    assert len({tree.group for tree in trees}) == 108
    assert (len(trees), sum(len(tree.tokens) for tree in trees), dict(skipped)) == (4636, 98363, {})
