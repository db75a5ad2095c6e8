"""The only place where uncertainty is computed: bootstrap intervals, permutation tests, spread over seeds."""

from textcritic.inference.bootstrap import Interval, bootstrap_difference, bootstrap_interval
from textcritic.inference.covariances import (
    CovarianceTest,
    aggregated_covariance,
    centred_covariance,
    corrected_covariance_distance,
    covariance_distance,
    covariance_test,
)
from textcritic.inference.energy import EnergyTest, energy_distance, energy_test
from textcritic.inference.jackknife import GROUPS, document_groups, jackknife_variance, t_interval
from textcritic.inference.permutation import PermutationTest, permutation_p_values, permutation_test
from textcritic.inference.shares import share_interval
from textcritic.inference.statistics import exp_ratio_of_sums, ratio_of_sums, seed_summary, with_ones

__all__ = [
    "GROUPS",
    "CovarianceTest",
    "EnergyTest",
    "Interval",
    "PermutationTest",
    "aggregated_covariance",
    "bootstrap_difference",
    "bootstrap_interval",
    "centred_covariance",
    "corrected_covariance_distance",
    "covariance_distance",
    "covariance_test",
    "document_groups",
    "energy_distance",
    "energy_test",
    "exp_ratio_of_sums",
    "jackknife_variance",
    "permutation_p_values",
    "permutation_test",
    "ratio_of_sums",
    "seed_summary",
    "share_interval",
    "t_interval",
    "with_ones",
]
