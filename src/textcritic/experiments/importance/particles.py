"""Estimates by particle filters, for the rows of importance sampling with the same proposal."""

from textcritic.errors import TextcriticError
from textcritic.experiments.importance.files import ImportanceFiles, Weighed
from textcritic.experiments.importance.intervals import over_texts
from textcritic.inference import Groups
from textcritic.inference.importance import LogWeights, instance_perplexity, log_likelihoods
from textcritic.values import Row

TEMPERATURE = 1.0
"""The temperature at which a particle filter uses its proposal, and so the temperature of its row in the table."""


def by_particles(files: ImportanceFiles, weighed: Weighed, weights: LogWeights, groups: Groups) -> Row:
    """The columns `particles`, `smc`, `smc_low` and `smc_high` of an estimate; none if there is no filter.

    Args:
        files: of the experiment.
        weighed: the estimate.
        weights: its weights, of the same texts.
        groups: of the texts.

    Raises:
        TextcriticError: the file is missing or damaged, or of other texts.
    """
    keys = ("corpus", "generator", "proposal", "seed")
    own = [one for one in files.filtered if all(getattr(one, key) == getattr(weighed, key) for key in keys)]
    if weighed.temperature != TEMPERATURE or not own:
        return {}
    log_p = LogWeights.read(own[0].weights)
    try:
        weights.check_same_texts(log_p, "the estimates of a particle filter")
    except TextcriticError as error:
        raise TextcriticError(f"{own[0].weights}: {error}") from error
    others = over_texts(-log_likelihoods(log_p), log_p.tokens, groups, files.resamples)
    interval = {"smc_low": others.low, "smc_high": others.high}
    return {"particles": own[0].particles, "smc": instance_perplexity(log_p), **interval}
