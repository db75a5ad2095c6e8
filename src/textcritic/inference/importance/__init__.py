"""Importance sampling: what log weights of draws say of a latent language model's perplexity, and how surely."""

from textcritic.inference.importance.advice import Advice, advice
from textcritic.inference.importance.better import (
    jackknife_log_likelihoods,
    mixture_weights,
    pareto_smoothed_log_likelihoods,
)
from textcritic.inference.importance.estimates import (
    Band,
    Curve,
    Curves,
    RunningEstimates,
    beam_perplexity,
    corpus_log_likelihood,
    corpus_over_pairings,
    corpus_perplexity,
    curves,
    group_perplexities,
    instance_perplexity,
    log_likelihoods,
    perplexity,
)
from textcritic.inference.importance.intervals import (
    COVERS,
    Intervals,
    TruthBound,
    for_truth,
    intervals,
    over_draws,
    over_instances,
)
from textcritic.inference.importance.lengths import why_none
from textcritic.inference.importance.reverse import Gap, gap
from textcritic.inference.importance.tails import effective_sample_sizes, pareto_k, pareto_smoothed
from textcritic.inference.importance.weights import ExactWeights, LogWeights

__all__ = [
    "COVERS",
    "Advice",
    "Band",
    "Curve",
    "Curves",
    "ExactWeights",
    "Gap",
    "Intervals",
    "LogWeights",
    "RunningEstimates",
    "TruthBound",
    "advice",
    "beam_perplexity",
    "corpus_log_likelihood",
    "corpus_over_pairings",
    "corpus_perplexity",
    "curves",
    "effective_sample_sizes",
    "for_truth",
    "gap",
    "group_perplexities",
    "instance_perplexity",
    "intervals",
    "jackknife_log_likelihoods",
    "log_likelihoods",
    "mixture_weights",
    "over_draws",
    "over_instances",
    "pareto_k",
    "pareto_smoothed",
    "pareto_smoothed_log_likelihoods",
    "perplexity",
    "why_none",
]
