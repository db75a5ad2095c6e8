"""Groups of unequal size are put together to groups of about one size."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from textcritic.errors import TextcriticError
from textcritic.inference.group_sizes import balanced_groups, exchangeable_groups


def groups(documents):
    """A word for each group, as often as the group has documents: what is added up can be seen."""
    return csr_matrix(np.diag(documents))


def together(first, second, seed=1):
    width = max(len(first), len(second))
    matrices = [csr_matrix(np.pad(groups(own).toarray(), ((0, 0), (0, width - len(own))))) for own in (first, second)]
    return exchangeable_groups(*matrices, (first, second), np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([50] * 20, [50] * 7, (20, 7)),
        ([55] * 20, [50] * 10, (20, 10)),  # 10% is left to the regression
        ([100] * 20, [50] * 20, (20, 10)),
        ([50] * 20, [100] * 20, (10, 20)),
        ([20] * 21, [30] * 20, (7, 10)),  # 3 of the first are 2 of the second
        ([10_000] * 100, [100] * 100, (100, 1)),
        ([2, 2, 1, 1], [1, 1, 1, 1], (2, 1)),  # 2 of the first are 3 of the second, and one is left over
    ],
)
def test_as_few_as_possible_are_added_up(first, second, expected):
    one, two = together(first, second)
    assert (one.matrix.shape[0], two.matrix.shape[0]) == (len(one.documents), len(two.documents)) == expected
    for given, found in ((first, one), (second, two)):
        assert found.matrix.sum(axis=1).ravel().tolist()[0] == found.documents.tolist()
        # No group is there twice, and fewer are left out than are added up.
        assert (found.matrix.toarray()[:, : len(given)].sum(axis=0) <= given).all()
        (added,) = set(np.diff(found.matrix.indptr))
        assert np.count_nonzero(found.matrix.sum(axis=0)) == added * len(found.documents)
        assert len(given) - added * len(found.documents) < added


def test_groups_are_added_up_at_random():
    one, same, other = (together([100] * 10, [50] * 20, seed)[1].matrix.toarray() for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_groups_of_about_the_same_size_stay_as_they_are():
    first, second = groups([50, 51, 50]), groups([52, 51, 51])
    one, two = exchangeable_groups(first, second, ([50, 51, 50], [52, 51, 51]), np.random.default_rng(1))
    assert one.matrix is first
    assert two.matrix is second
    assert exchangeable_groups(first, second, None, np.random.default_rng(1))[0].documents.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        ([10] * 4, [10] * 5 + [0], "6 sizes of 6 groups"),
        ([10, 12, 10], [10] * 3, "of 10 to 12 documents in one set"),
        ([1000, 1000], [10] * 3, "needs three groups of about as many documents"),
        ([1], [1], "needs three groups of about as many documents"),
    ],
)
def test_sizes_that_cannot_be_exchanged(first, second, says):
    with pytest.raises(TextcriticError, match=says):
        together(first, second)


def test_every_group_has_a_size():
    some = groups([5, 5])
    with pytest.raises(TextcriticError, match="1 sizes of 2 groups; give the documents in each"):
        exchangeable_groups(some, some, ([5], [5, 5]), np.random.default_rng(1))


def test_of_the_set_with_more_groups_as_many_are_drawn_each_time_anew():
    first, second = groups([5] * 4), csr_matrix(np.pad(np.diag([5] * 4), ((0, 6), (0, 0))) + np.arange(10)[:, None])
    found = balanced_groups(first, second, ([5] * 4, [5] * 10), 20, seed=3)
    assert len(found) == 20
    rows = second.toarray().tolist()
    drawn = [[rows.index(row) for row in other.toarray().tolist()] for _, other, _ in found]
    assert all(np.array_equal(one.toarray(), first.toarray()) for one, _, _ in found), "the set with fewer stays"
    assert all(sorted(set(some)) == some and len(some) == 4 for some in drawn), "none is there twice"
    assert len({tuple(some) for some in drawn}) > 10
    assert {place for some in drawn for place in some} == set(range(10))
    turned = balanced_groups(second, first, ([5] * 10, [5] * 4), 2)
    assert [(one.shape, other.shape) for one, other, _ in turned] == [((4, 4), (4, 4))] * 2
    assert [[size.tolist() for size in sizes] for *_, sizes in turned] == [[[5] * 4, [5] * 4]] * 2


def test_of_as_many_groups_on_both_sides_there_is_nothing_to_draw():
    first, second = groups([5] * 6), groups([5] * 6)
    assert balanced_groups(first, second, None, 20) == []
    added = balanced_groups(first, second, ([5] * 6, [10] * 6), 20)
    assert [(one.shape, other.shape) for one, other, _ in added] == [((3, 6), (3, 6))] * 20
    assert len({str(one.toarray()) for one, _, _ in added}) > 5, "each adds up other pairs"
