"""Two ways to judge the same documents: which of them is right more often (McNemar 1947)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.inference.clusters import Groups, are_grouped, unit_sums
from textcritic.inference.paired import paired_permutation_test
from textcritic.inference.statistics import ratio_of_sums, with_ones


@dataclass(frozen=True)
class McNemarTest:
    """How many documents the first alone and the second alone judged right, and the two-sided p-value."""

    first_alone: int
    second_alone: int
    p: float


def mcnemar_test(
    first: npt.ArrayLike, second: npt.ArrayLike, groups: Groups = None, resamples: int = 10_000, seed: int = 1
) -> McNemarTest:
    """McNemar's exact test of two judges of the same documents, as of accuracy.

    Documents that both or neither judged right say nothing of a difference. Of the others each judge is alone right in
    half under the null hypothesis: p is binomial. It is the test of all exchanges of the two judges' answers to a
    document; where documents belong together, the answers to a whole group are exchanged (`paired_permutation_test`).

    Args:
        first: [documents], whether the first judged each right.
        second: [documents], the same of the second.
        groups: of the documents.
        resamples: exchanges of groups.
        seed: of these.

    Raises:
        TextcriticError: no documents, or another number of them on one side.
    """
    one, two = np.asarray(first, bool), np.asarray(second, bool)
    if one.ndim != 1 or one.shape != two.shape or not len(one):
        raise TextcriticError(f"McNemar's test: {one.shape} and {two.shape} documents; give the same ones twice")
    alone = int((one & ~two).sum()), int((two & ~one).sum())
    if are_grouped(groups):
        sums, other_sums = (unit_sums(with_ones(right), groups) for right in (one, two))
        return McNemarTest(*alone, paired_permutation_test(sums, other_sums, ratio_of_sums, resamples, seed).p)
    return McNemarTest(*alone, _binomial(min(alone), sum(alone)))


def _binomial(fewer: int, trials: int) -> float:
    """Two-sided p of so few heads in fair trials."""
    if not trials:
        return 1.0
    from scipy.special import bdtr  # takes long to load, and few jobs need it

    return min(1.0, 2 * float(bdtr(fewer, trials, 0.5)))
