"""Documents that belong together stay in one part of a split."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcritic.corpora.splits import random_parts

GROUPS = st.lists(st.sampled_from([None, None, "a", "b", "c", "d", "e"]), max_size=60)


@given(GROUPS, st.integers(0, 40), st.integers(0, 40), st.integers(0, 5))
def test_every_document_is_in_one_part_and_no_group_in_two(groups, first, second, seed):
    parts = random_parts(len(groups), [first, second], seed, groups)
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(groups)))
    of = [{groups[place] for place in part} - {None} for part in parts]
    assert all(not one & other for n, one in enumerate(of) for other in of[:n])
    again = random_parts(len(groups), [first, second], seed, groups)
    assert all((one == other).all() for one, other in zip(parts, again, strict=True))


@given(st.integers(0, 60), st.integers(0, 30), st.integers(0, 5))
def test_without_groups_parts_are_stretches_of_a_permutation(documents, size, seed):
    order = np.random.default_rng(seed).permutation(documents)
    expected = [order[:size], order[size : 2 * size], order[2 * size :]]
    for groups in (None, [None] * documents, [str(n) for n in range(documents)]):
        found = random_parts(documents, [size, size], seed, groups)
        assert [part.tolist() for part in found] == [sorted(part.tolist()) for part in expected]


@pytest.mark.parametrize("seed", range(20))
def test_shares_are_as_near_as_whole_groups_allow(seed):
    groups = [f"book {n}" for n in range(30) for _ in range(1 + 3 * n)]
    sizes = [round(0.1 * len(groups)), round(0.2 * len(groups))]
    parts = random_parts(len(groups), sizes, seed, groups)
    smallest = min(groups.count(groups[place]) for place in parts[2])
    assert abs(len(parts[1]) - sizes[1]) <= smallest / 2
    assert abs(len(parts[0]) - sizes[0]) <= max(smallest, min(groups.count(groups[place]) for place in parts[1])) / 2
    assert len({tuple(random_parts(len(groups), sizes, n, groups)[1]) for n in range(20)}) == 20
