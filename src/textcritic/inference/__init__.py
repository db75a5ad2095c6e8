"""The only place where uncertainty is computed: bootstrap intervals, permutation tests, spread over seeds."""

from textcritic.inference.bootstrap import Interval, bootstrap_difference, bootstrap_interval
from textcritic.inference.categorical import (
    DISTANCES,
    WordDistance,
    chi_square,
    half_l1,
    max_difference,
)
from textcritic.inference.covariances import (
    CovarianceTest,
    aggregated_covariance,
    centred_covariance,
    corrected_covariance_distance,
    covariance_distance,
    covariance_test,
)
from textcritic.inference.differences import DifferenceTest, difference_test
from textcritic.inference.discrete import (
    KsTest,
    MeanTest,
    ks_distance,
    ks_fit_test,
    ks_interval,
    ks_test,
    mean_test,
)
from textcritic.inference.energy import EnergyTest, energy_distance, energy_test
from textcritic.inference.groups import (
    GroupTest,
    JackknifeEstimate,
    distance_intervals,
    group_jackknife,
    group_permutation,
)
from textcritic.inference.histograms import Histogram, quantile
from textcritic.inference.jackknife import GROUPS, document_groups, jackknife_variance, t_interval
from textcritic.inference.permutation import ALPHA, PermutationTest, permutation_p_values, permutation_test
from textcritic.inference.ranks import rank_interval, rank_permutation
from textcritic.inference.shares import share_interval
from textcritic.inference.statistics import Statistic, exp_ratio_of_sums, ratio_of_sums, seed_summary, with_ones
from textcritic.inference.strata import (
    StrataDifference,
    StrataTest,
    strata_difference,
    strata_distance,
    strata_test,
)

__all__ = [
    "ALPHA",
    "DISTANCES",
    "GROUPS",
    "CovarianceTest",
    "DifferenceTest",
    "EnergyTest",
    "GroupTest",
    "Histogram",
    "Interval",
    "JackknifeEstimate",
    "KsTest",
    "MeanTest",
    "PermutationTest",
    "Statistic",
    "StrataDifference",
    "StrataTest",
    "WordDistance",
    "aggregated_covariance",
    "bootstrap_difference",
    "bootstrap_interval",
    "centred_covariance",
    "chi_square",
    "corrected_covariance_distance",
    "covariance_distance",
    "covariance_test",
    "difference_test",
    "distance_intervals",
    "document_groups",
    "energy_distance",
    "energy_test",
    "exp_ratio_of_sums",
    "group_jackknife",
    "group_permutation",
    "half_l1",
    "jackknife_variance",
    "ks_distance",
    "ks_fit_test",
    "ks_interval",
    "ks_test",
    "max_difference",
    "mean_test",
    "permutation_p_values",
    "permutation_test",
    "quantile",
    "rank_interval",
    "rank_permutation",
    "ratio_of_sums",
    "seed_summary",
    "share_interval",
    "strata_difference",
    "strata_distance",
    "strata_test",
    "t_interval",
    "with_ones",
]
