"""Groups of documents of two sets, put together so that they can be exchanged: of about the same size."""

from math import ceil, comb
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# Groups are of one size if the larger ones have at most this many times the documents of the smaller ones; of about one
# size, which will do where it leaves enough splits and nothing closer does, up to the second number.
SAME, ALIKE = 1.01, 1.1
ENOUGH_SPLITS = 1000

Sizes: TypeAlias = tuple[npt.ArrayLike, npt.ArrayLike]


def exchangeable_groups(
    first: "csr_matrix", second: "csr_matrix", sizes: Sizes | None, rng: np.random.Generator
) -> tuple["csr_matrix", "csr_matrix"]:
    """The groups of two sets, some added up so that all have about as many documents.

    Exchanging groups of different size would not keep the sizes of the sets, and distances by chance depend on these:
    the smaller set decides. If a groups of the first set have as many documents as b groups of the second, for small
    integers a and b, random groups are added up, a of the first and b of the second set each. Those that are left over
    are left out: fewer than a, and than b. Sizes that differ by up to 1% count as equal; where that would leave fewer
    than 1,000 splits, by up to 10%, and the test is approximate. Larger groups have fewer splits, and p-values that
    cannot be as small. To lose nothing, count both sets in groups of one size.

    Args:
        first: [groups of the first set, words].
        second: [groups of the second set, words].
        sizes: documents in each group of both sets; None: all have as many.
        rng: chooses the groups that are added up.

    Returns:
        Both matrices: themselves where the groups are of about the same size.

    Raises:
        TextcriticError: a number of sizes that is not that of the groups, sizes below 1, groups of one set that differ
            by more than 10%, or sets so different that fewer than three groups remain.
    """
    if sizes is None:
        return first, second
    means = []
    for matrix, given in zip((first, second), sizes, strict=True):
        documents = np.asarray(given, dtype=np.float64)
        if documents.shape != (matrix.shape[0],) or not (documents >= 1).all():
            raise TextcriticError(
                f"groups: {documents.size} sizes of {matrix.shape[0]} groups; give the documents in each, at least 1"
            )
        # Random division makes groups equal up to one document: of 3 documents in 2 groups one has twice the other.
        if documents.max() > max(ALIKE * documents.min(), documents.min() + 1):
            raise TextcriticError(
                f"groups: of {documents.min():g} to {documents.max():g} documents in one set; divide it at random into "
                "groups of equal size"
            )
        means.append(documents.mean())
    added = _added_up(means[0], means[1], (first.shape[0], second.shape[0]))
    return _together(first, added[0], rng), _together(second, added[1], rng)


def _added_up(first: float, second: float, groups: tuple[int, int]) -> tuple[int, int]:
    """How many groups of each set are added up; the fewest that give groups of about the same size."""
    choices = []
    for ones in range(1, groups[0] + 1):
        same = ones * first / second
        for twos in {int(same), ceil(same)} & set(range(1, groups[1] + 1)):
            left = groups[0] // ones, groups[1] // twos
            unlike = max(SAME, same / twos, twos / same)
            if unlike <= ALIKE and sum(left) > 2:
                choices.append((-min(comb(sum(left), left[0]), ENOUGH_SPLITS), unlike, ones, twos))
    if not choices:
        raise TextcriticError(
            f"groups: {groups[0]} of {first:g} documents and {groups[1]} of {second:g}; they cannot be put together to "
            "groups of one size; count both sets in groups of the same size"
        )
    return min(choices)[2:]


def _together(matrix: "csr_matrix", number: int, rng: np.random.Generator) -> "csr_matrix":
    """Random `number` groups added up each; those left over are left out."""
    if number == 1:
        return matrix
    from scipy.sparse import csr_matrix

    groups = matrix.shape[0] // number
    chosen = rng.permutation(matrix.shape[0])[: groups * number]
    rows = np.repeat(np.arange(groups), number)
    return csr_matrix((np.ones(len(chosen), matrix.dtype), (rows, chosen)), shape=(groups, matrix.shape[0])) @ matrix
