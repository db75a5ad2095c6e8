"""The only place where uncertainty is computed: bootstrap intervals, permutation tests, spread over trainings."""

from textcritic.inference.annealed import Annealable, annealed_weights, powers_of, reversed_weights, upper_bound
from textcritic.inference.bootstrap import LEAST_UNITS, Interval, bootstrap_difference, bootstrap_interval, linearised
from textcritic.inference.categorical import (
    DISTANCES,
    WordDistance,
    chi_square,
    half_l1,
    max_difference,
)
from textcritic.inference.clusters import (
    ClusterTest,
    Groups,
    are_grouped,
    cluster_test,
    one_of_each,
    two_sample_test,
    unit_of,
    unit_sums,
)
from textcritic.inference.components import Component, variance_components
from textcritic.inference.covariances import (
    CovarianceTest,
    aggregated_covariance,
    centred_covariance,
    corrected_covariance_distance,
    covariance_distance,
    covariance_test,
)
from textcritic.inference.differences import DifferenceTest, group_difference
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
from textcritic.inference.equivalence import (
    ALPHA,
    DIFFERENT,
    MARGIN,
    SAME,
    UNCLEAR,
    Gap,
    Number,
    gap,
    limit_of,
    verdict,
)
from textcritic.inference.fits import with_fits
from textcritic.inference.groups import (
    GroupTest,
    JackknifeEstimate,
    group_jackknife,
    group_permutation,
    largest_difference_interval,
)
from textcritic.inference.histograms import Histogram, quantile
from textcritic.inference.holm import holm
from textcritic.inference.jackknife import GROUPS, document_groups, jackknife_variance, t_interval
from textcritic.inference.mcnemar import McNemarTest, mcnemar_test
from textcritic.inference.medians import above, median_interval
from textcritic.inference.nearness import Nearness, distance, nearest, nearness
from textcritic.inference.paired import paired_permutation_test
from textcritic.inference.permutation import PermutationTest, permutation_p_values, permutation_test
from textcritic.inference.power import POWER_COLUMNS, PowerDraws, PowerOptions, noticed, power_rows
from textcritic.inference.ranking import RANKINGS, ranking_interval
from textcritic.inference.ranks import RankTest, rank_interval, rank_permutation
from textcritic.inference.sequential import Filtered, StepModel, particle_filter, resample
from textcritic.inference.shares import share_interval
from textcritic.inference.standardised import StandardisedShare, Trials, standardised_share
from textcritic.inference.statistics import Statistic, exp_ratio_of_sums, ratio_of_sums, with_ones
from textcritic.inference.strata import (
    StrataDifference,
    StrataTest,
    strata_difference,
    strata_distance,
    strata_test,
)
from textcritic.inference.trainings import (
    Recipe,
    by_training,
    over_runs,
    over_trainings,
    recipes_p,
    runs_p,
    trainings_p,
)

__all__ = [
    "ALPHA",
    "DIFFERENT",
    "DISTANCES",
    "GROUPS",
    "LEAST_UNITS",
    "MARGIN",
    "POWER_COLUMNS",
    "RANKINGS",
    "SAME",
    "UNCLEAR",
    "Annealable",
    "ClusterTest",
    "Component",
    "CovarianceTest",
    "DifferenceTest",
    "EnergyTest",
    "Filtered",
    "Gap",
    "GroupTest",
    "Groups",
    "Histogram",
    "Interval",
    "JackknifeEstimate",
    "KsTest",
    "McNemarTest",
    "MeanTest",
    "Nearness",
    "Number",
    "PermutationTest",
    "PowerDraws",
    "PowerOptions",
    "RankTest",
    "Recipe",
    "StandardisedShare",
    "Statistic",
    "StepModel",
    "StrataDifference",
    "StrataTest",
    "Trials",
    "WordDistance",
    "above",
    "aggregated_covariance",
    "annealed_weights",
    "are_grouped",
    "bootstrap_difference",
    "bootstrap_interval",
    "by_training",
    "centred_covariance",
    "chi_square",
    "cluster_test",
    "corrected_covariance_distance",
    "covariance_distance",
    "covariance_test",
    "distance",
    "document_groups",
    "energy_distance",
    "energy_test",
    "exp_ratio_of_sums",
    "gap",
    "group_difference",
    "group_jackknife",
    "group_permutation",
    "half_l1",
    "holm",
    "jackknife_variance",
    "ks_distance",
    "ks_fit_test",
    "ks_interval",
    "ks_test",
    "largest_difference_interval",
    "limit_of",
    "linearised",
    "max_difference",
    "mcnemar_test",
    "mean_test",
    "median_interval",
    "nearest",
    "nearness",
    "noticed",
    "one_of_each",
    "over_runs",
    "over_trainings",
    "paired_permutation_test",
    "particle_filter",
    "permutation_p_values",
    "permutation_test",
    "power_rows",
    "powers_of",
    "quantile",
    "rank_interval",
    "rank_permutation",
    "ranking_interval",
    "ratio_of_sums",
    "recipes_p",
    "resample",
    "reversed_weights",
    "runs_p",
    "share_interval",
    "standardised_share",
    "strata_difference",
    "strata_distance",
    "strata_test",
    "t_interval",
    "trainings_p",
    "two_sample_test",
    "unit_of",
    "unit_sums",
    "upper_bound",
    "variance_components",
    "verdict",
    "with_fits",
    "with_ones",
]
