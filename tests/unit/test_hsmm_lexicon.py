"""The n-grams that a hidden semi-Markov model may emit, and the lattice of segmentations into them."""

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_hsmm import flat, row_numbers, segmentations

from textcritic.errors import TextcriticError
from textcritic.generators.hsmm import Lattice, Lexicon

CORPORA = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=12), min_size=1, max_size=8)


def windows(sequences, n):
    return Counter(tuple(s[i : i + n]) for s in sequences for i in range(len(s) - n + 1))


def expected_grams(sequences, n, most_common):
    """The most common, ties to the first, in order."""
    counted = sorted(windows(sequences, n).items(), key=lambda item: (-item[1], item[0]))
    return dict(sorted(counted[:most_common]))


@settings(max_examples=50, deadline=None)
@given(CORPORA, st.integers(1, 5), st.integers(1, 6))
def test_count_equals_a_counter(sequences, longest, most_common):
    lexicon = Lexicon.count(*flat(sequences), 4, longest, most_common)
    expected = [expected_grams(sequences, n, most_common) for n in range(1, longest + 1)]
    assert [list(grams) for grams in expected] == grams_by_length(lexicon)
    assert lexicon.counts.tolist() == [count for grams in expected for count in grams.values()]
    assert np.diff(lexicon.row_offsets).tolist() == [0, *map(len, expected)]
    assert lexicon.lengths.tolist() == [n for n, grams in enumerate(expected, start=1) for _ in grams]


def grams_by_length(lexicon):
    grams = list(row_numbers(lexicon))
    offsets = lexicon.row_offsets
    return [grams[offsets[n] : offsets[n + 1]] for n in range(1, lexicon.longest + 1)]


@settings(max_examples=50, deadline=None)
@given(CORPORA, CORPORA)
def test_rows_of_windows(train, sequences):
    lexicon = Lexicon.count(*flat(train), 4, 3, 5)
    numbers = row_numbers(lexicon)
    found = lexicon.rows(*flat(sequences))
    assert found.dtype == np.int32
    expected = [
        [numbers.get(tuple(s[end + 1 - n : end + 1]), -1) if n <= end + 1 else -1 for n in (1, 2, 3)]
        for s in sequences
        for end in range(len(s))
    ]
    assert found.tolist() == expected


def test_the_largest_codes_fit():
    """53 symbols and 11 tokens, as in the paper, need the 64th bit."""
    tokens = np.array([52] * 11 + [51] + [0] * 10)
    lexicon = Lexicon.count(tokens, np.array([0, 11, 22]), 53, 11)
    assert int(lexicon.codes[10][-1]) == 53**11 - 1 > 2**63
    assert list(row_numbers(lexicon))[-2:] == [(51, *[0] * 10), (52,) * 11]
    assert lexicon.rows(tokens, np.array([0, 11, 22]))[[10, 21], 10].tolist() == [len(lexicon) - 1, len(lexicon) - 2]


def test_select_keeps_the_order():
    tokens, offsets = flat([[0, 1, 0, 0, 1, 1, 0, 1], [1, 1, 1]])
    lexicon = Lexicon.count(tokens, offsets, 2, 3)
    keep = np.arange(len(lexicon)) % 3 != 1
    smaller = lexicon.select(keep)
    grams = list(row_numbers(lexicon))
    assert list(row_numbers(smaller)) == [gram for gram, kept in zip(grams, keep, strict=True) if kept]
    assert smaller.counts.tolist() == lexicon.counts[keep].tolist()
    number = np.where(keep, np.cumsum(keep) - 1, -1)
    rows = lexicon.rows(tokens, offsets)
    assert (smaller.rows(tokens, offsets) == np.where(rows >= 0, number[rows], -1)).all()
    with pytest.raises(TextcriticError, match="a bool for each"):
        lexicon.select(keep[1:])


TOKENS = np.array([0, 1, 2, 0])


@pytest.mark.parametrize(
    ("tokens", "offsets", "vocabulary", "longest", "most_common", "message"),
    [
        (TOKENS, [0, 4], 2, 2, 9, "sequence 0, token 2: symbol 2 is unknown; the vocabulary is 0 to 1"),
        (TOKENS - 1, [0, 4], 3, 2, 9, "sequence 0, token 0: symbol -1 is unknown"),
        (TOKENS, [0, 2, 2, 4], 3, 2, 9, "sequence 1 is empty; give at least one token"),
        (TOKENS, [0, 2], 3, 2, 9, "offsets: do not cut 4 tokens"),
        (TOKENS, [0], 3, 2, 9, "offsets: do not cut"),
        (TOKENS, [0, 3, 2, 4], 3, 2, 9, "offsets: do not cut"),
        (TOKENS + 0.5, [0, 4], 3, 2, 9, "tokens: are float64; give integers"),
        (TOKENS, [0.0, 4.0], 3, 2, 9, "offsets: are float64; give integers"),
        (TOKENS, [0, 4], 57, 11, 9, "11-grams of 57 symbols do not fit in 64 bits"),
        (TOKENS, [0, 4], 3, 0, 9, "both numbers must be at least 1"),
        (TOKENS, [0, 4], 3, 2, 0, "most_common: 0 is not possible"),
    ],
)
def test_bad_input(tokens, offsets, vocabulary, longest, most_common, message):
    with pytest.raises(TextcriticError, match=message):
        Lexicon.count(tokens, np.array(offsets), vocabulary, longest, most_common)


def test_bad_sequences_have_no_rows():
    lexicon = Lexicon.count(TOKENS, np.array([0, 4]), 3, 2)
    with pytest.raises(TextcriticError, match="sequence 1, token 0: symbol 7 is unknown"):
        lexicon.rows(np.array([0, 7]), np.array([0, 1, 2]))
    with pytest.raises(TextcriticError, match="sequence 1 is empty"):
        lexicon.rows(np.array([0]), np.array([0, 1, 1]))


def test_sequences_shorter_than_the_longest_segment():
    lexicon = Lexicon.count(np.array([0, 1]), np.array([0, 1, 2]), 2, 4)
    assert [len(codes) for codes in lexicon.codes] == [2, 0, 0, 0]
    assert lexicon.rows(np.array([1]), np.array([0, 1])).tolist() == [[1, -1, -1, -1]]


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([[1, 0]], "length 1 are not sorted"),
        ([[0, 0]], "length 1 are not sorted"),
        ([[0], [4]], "length 2 is not a 2-gram of 2 symbols"),
    ],
)
def test_broken_lexicons(codes, message):
    codes = tuple(np.array(part, np.uint64) for part in codes)
    with pytest.raises(TextcriticError, match=message):
        Lexicon(2, codes, np.zeros(sum(map(len, codes)), np.int64))


@settings(max_examples=50, deadline=None)
@given(CORPORA, CORPORA, st.integers(0, 100))
def test_a_lattice_has_the_segments_of_all_segmentations(train, sequences, seed):
    lexicon = Lexicon.count(*flat(train), 4, 3)
    lexicon = lexicon.select(np.random.default_rng(seed).random(len(lexicon)) < 0.7)
    numbers = row_numbers(lexicon)
    everything = [list(segmentations(numbers, sequence)) for sequence in sequences]
    tokens, offsets = flat(sequences)
    lattice = Lattice.build(lexicon.rows(tokens, offsets), offsets)
    assert lattice.parsable.tolist() == [bool(found) for found in everything]
    assert lattice.tokens.tolist() == [len(sequence) for sequence in sequences]

    begin, end = lattice.position[lattice.start], lattice.position[lattice.end]
    assert torch.equal(lattice.sequence[lattice.start], lattice.sequence[lattice.end])
    columns = lattice.sequence[lattice.end], begin, end, lattice.rows[lattice.row]
    arcs = list(zip(*(column.tolist() for column in columns), strict=True))
    assert len(set(arcs)) == len(arcs)
    assert set(arcs) == {(i, *arc) for i, found in enumerate(everything) for path in found for arc in path}

    parsable = [i for i, found in enumerate(everything) if found]
    assert lattice.sequence[lattice.begins].tolist() == parsable
    assert lattice.sequence[lattice.ends].tolist() == parsable
    assert lattice.position[lattice.ends].tolist() == [len(sequences[i]) for i in parsable]
    assert_in_order(lattice)


def assert_in_order(lattice):
    """Arcs lead from lower to higher levels, no level is empty, and the stops cut nodes and arcs by level."""
    level = torch.bucketize(torch.arange(len(lattice.sequence)), torch.tensor(lattice.node_stops), right=True) - 1
    assert (level[lattice.start] < level[lattice.end]).all()
    assert (level.diff() >= 0).all()
    assert (lattice.end.diff() >= 0).all()
    assert (lattice.start[lattice.by_start].diff() >= 0).all()
    for number in range(lattice.levels if len(level) else 0):
        nodes = slice(lattice.node_stops[number], lattice.node_stops[number + 1])
        assert nodes.start < nodes.stop
        ending = lattice.end[lattice.arc_stops[number] : lattice.arc_stops[number + 1]]
        assert torch.equal(ending, lattice.end[(lattice.end >= nodes.start) & (lattice.end < nodes.stop)])
        leaving = lattice.by_start[lattice.leaving_stops[number] : lattice.leaving_stops[number + 1]]
        assert len(leaving) == int((level[lattice.start] == number).sum())
        assert (level[lattice.start[leaving]] == number).all()


def test_a_batch_of_some_sequences():
    tokens, offsets = flat([[0, 1], [1, 0, 1], [1], [0, 0, 0, 1]])
    lexicon = Lexicon.count(tokens, offsets, 2, 2)
    rows = lexicon.rows(tokens, offsets)
    some = Lattice.build(rows, offsets, np.array([3, 1]))
    tokens, offsets = flat([[0, 0, 0, 1], [1, 0, 1]])
    alone = Lattice.build(lexicon.rows(tokens, offsets), offsets)
    for name in ("tokens", "rows", "sequence", "position", "start", "end", "row"):
        assert torch.equal(getattr(some, name), getattr(alone, name))


def test_certain_segmentations_need_one_level_a_segment():
    segments = [[1, 2, 3, 0], [2, 0], [3, 3, 0]]
    sequences = [[t for s in order for t in segments[s]] for order in ([0, 1, 2], [2, 2, 0], [1, 1])]
    lexicon = Lexicon.count(*flat(segments), 4, 4)
    keep = [gram in set(map(tuple, segments)) for gram in row_numbers(lexicon)]
    lexicon = lexicon.select(np.array(keep))
    tokens, offsets = flat(sequences)
    lattice = Lattice.build(lexicon.rows(tokens, offsets), offsets)
    assert lattice.levels == 4
    assert len(lattice.row) == 8


@pytest.mark.parametrize(
    ("offsets", "sequences", "message"),
    [
        ([0, 2, 2, 4], None, "sequence 1 is empty"),
        ([0, 4], [], "a batch without sequences has no lattice"),
        ([0, 3], None, "offsets: do not cut the rows of 4 tokens into sequences; give 0 ... 4"),
        ([1, 4], None, "offsets: do not cut"),
        ([0, 3, 2, 4], None, "offsets: do not cut"),
        ([0, 2, 4], [0, 2], "sequence 2 is not there; the sequences are 0 to 1"),
        ([0, 2, 4], [-1], "sequence -1 is not there"),
    ],
)
def test_lattices_of_bad_input(offsets, sequences, message):
    rows = np.zeros((4, 1), np.int32)
    with pytest.raises(TextcriticError, match=message):
        Lattice.build(rows, np.array(offsets), None if sequences is None else np.array(sequences, int))
