"""Groups of documents of two sets, put together so that they can be exchanged: of about the same size."""

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.inference.statistics import Array

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# Groups are of about one size if the larger ones have at most this many times the documents of the smaller ones.
ALIKE = 1.1

Sizes: TypeAlias = tuple[npt.ArrayLike, npt.ArrayLike]
BothGroups: TypeAlias = tuple["csr_matrix", "csr_matrix", Sizes]
"""Groups of the first set, of the second, and the documents in each, in the mean."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of documents of one set: counts of each word [groups, words], documents in each group [groups]."""

    matrix: "csr_matrix"
    documents: Array


def exchangeable_groups(
    first: "csr_matrix", second: "csr_matrix", sizes: Sizes | None, rng: np.random.Generator
) -> tuple[Groups, Groups]:
    """The groups of two sets, some added up so that all have about as many documents.

    Exchanging groups of different size would not keep the sizes of the sets, and distances by chance depend on these:
    the smaller set decides. If a groups of the first set have about as many documents as b groups of the second, for
    small integers a and b, random groups are added up, a of the first and b of the second set each. Those that are left
    over are left out: fewer than a, and than b. Up to 10% of difference may remain. Larger groups have fewer splits,
    and p-values that cannot be as small. To lose nothing, count both sets in groups of one size.

    Args:
        first: [groups of the first set, words].
        second: [groups of the second set, words].
        sizes: documents in each group of both sets; None: all have as many.
        rng: chooses the groups that are added up.

    Returns:
        Of both sets: as given where the groups are of about the same size, or `sizes` is None.

    Raises:
        TextcriticError: a number of sizes that is not that of the groups, sizes below 1, groups of one set that differ
            by more than 10%, or sets so different that fewer than three groups remain.
    """
    if sizes is None:
        sizes = np.ones(first.shape[0]), np.ones(second.shape[0])
    given = []
    for matrix, size in zip((first, second), sizes, strict=True):
        documents = np.asarray(size, dtype=np.float64)
        if documents.shape != (matrix.shape[0],) or not (documents >= 1).all():
            raise TextcriticError(
                f"groups: {documents.size} sizes of {matrix.shape[0]} groups; give the documents in each, at least 1"
            )
        if not are_alike(documents):
            raise TextcriticError(
                f"groups: of {documents.min():g} to {documents.max():g} documents in one set; divide it at random into "
                "groups of equal size"
            )
        given.append(Groups(matrix, documents))
    added = _added_up(*given)
    return _together(given[0], added[0], rng), _together(given[1], added[1], rng)


def are_alike(documents: npt.ArrayLike) -> bool:
    """Whether groups of so many documents each can be exchanged: of one size but for 10%, or for one document.

    Random division makes groups equal up to one document: of 3 documents in 2 groups one has twice the other.
    """
    sizes = np.asarray(documents, dtype=np.float64)
    return bool(sizes.max() <= max(ALIKE * sizes.min(), sizes.min() + 1))


def balanced_groups(
    first: "csr_matrix", second: "csr_matrix", sizes: Sizes | None, drawings: int, seed: int = 1
) -> list[BothGroups]:
    """As many groups of both sets, to be exchanged: all of the set that has fewer, random ones of the other.

    Where groups have to be added up, chance decides which ones, again in each drawing.

    Groups of documents that belong together differ more than groups of single ones, so that they are not exchangeable.
    An exchange keeps the spread of a difference of means all the same where both sets have as many groups (Romano, JASA
    85, 1990): it is V/n + W/n, and that of the exchanged ones is twice (V + W)/2n.

    Args:
        first: [groups of the first set, words].
        second: [groups of the second set, words].
        sizes: documents in each group of both sets; None: all have as many.
        drawings: how often groups are drawn.
        seed: of the drawings.

    Returns:
        One a drawing; none where both sets have as many groups, of about one size: there is nothing to draw.

    Raises:
        TextcriticError: as `exchangeable_groups`.
    """
    found: list[BothGroups] = []
    for drawing in range(drawings):
        rng = np.random.default_rng([seed, drawing])
        both = exchangeable_groups(first, second, sizes, rng)
        numbers = [len(groups.documents) for groups in both]
        if numbers[0] == numbers[1] and both[0].matrix is first and both[1].matrix is second:
            return []
        rows = [np.sort(rng.permutation(number)[: min(numbers)]) for number in numbers]
        one, two = (groups.matrix[some] for groups, some in zip(both, rows, strict=True))
        first_size, second_size = (np.full(min(numbers), groups.documents.mean()) for groups in both)
        found.append((one, two, (first_size, second_size)))
    return found


def _added_up(first: Groups, second: Groups) -> tuple[int, int]:
    """How many groups of each set are added up; the fewest that give groups of about the same size."""
    own, other = len(first.documents), len(second.documents)
    sizes = first.documents.mean(), second.documents.mean()
    for ones in range(1, own + 1):
        same = ones * sizes[0] / sizes[1]
        for twos in (int(same), ceil(same)):
            alike = 0 < twos <= other and max(same / twos, twos / same) <= ALIKE
            if alike and own // ones + other // twos > 2:
                return ones, twos
    raise TextcriticError(
        f"groups: the test needs three groups of about as many documents, and one set has {own} of {sizes[0]:,.0f}, "
        f"the other {other} of {sizes[1]:,.0f}; give more groups, or groups of about one size"
    )


def _together(groups: Groups, number: int, rng: np.random.Generator) -> Groups:
    """Random `number` groups added up each; those left over are left out."""
    if number == 1:
        return groups
    from scipy.sparse import csr_matrix

    large = len(groups.documents) // number
    chosen = rng.permutation(len(groups.documents))[: large * number]
    entries = np.ones(len(chosen), groups.matrix.dtype), (np.repeat(np.arange(large), number), chosen)
    add = csr_matrix(entries, shape=(large, len(groups.documents)))
    return Groups(add @ groups.matrix, add @ groups.documents)
