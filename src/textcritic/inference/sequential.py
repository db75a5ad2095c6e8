"""Sequential Monte Carlo: an unbiased estimate of p(x) from particles that grow step by step, for any latent model.

Del Moral 2004, Feynman-Kac Formulae, section 7.4.2; Doucet and Johansen 2011, section 3.5, for the particle filter. A
particle is a latent state z_1..t. At step t each is extended by a draw from q and weighed by the increment
log p(x_t, z_t | before) - log q(z_t | before). Where few particles carry most of the weight, all are drawn again in
proportion to their weights, so that no work goes into those that are lost.

With one particle, or without resampling, it is importance sampling.
"""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.inference.statistics import Array

Ints = npt.NDArray[np.int64]
P = TypeVar("P")


class StepModel(Protocol[P]):
    """What a latent language model is to the particle filter: N texts, K particles of each, in one object P.

    `steps` is the number of steps of the longest text; a text that has ended has increments of 0.
    """

    @property
    def steps(self) -> int:
        """Number of steps."""
        ...

    def begin(self, particles: int) -> P:
        """K = `particles` empty latent states of each text."""
        ...

    def propose(self, step: int, particles: P, rng: np.random.Generator) -> tuple[P, Array]:
        """The particles with one step more, and the log increment of each, log p - log q in nats [N, K].

        Minus infinity: the particle is not possible. The increments of all steps must sum to log p(x, z) - log q(z);
        what they are before the end only decides which particles survive, not whether the estimate is unbiased.
        """
        ...

    def select(self, particles: P, ancestors: Ints) -> P:
        """Particle [n, k] of the result is particle [n, ancestors[n, k]]: ancestors are int64 [N, K]."""
        ...


@dataclass(frozen=True)
class Filtered:
    """What a particle filter estimates of N texts.

    Attributes:
        log_increments: the log of the estimate of p(x_t | x_<t) at each step [N, steps], in nats: token-level estimates
            where a step is a token. Each is biased by itself; their sum over the steps is `log_p_hat`, the same number.
        effective: effective sample size after each step, before particles are drawn again [N, steps].
        resampled: whether they were then drawn again, bool [N, steps].
    """

    log_increments: Array
    effective: Array
    resampled: npt.NDArray[np.bool_]

    @property
    def log_p_hat(self) -> Array:
        """Log p-hat(x) of each text in nats [N]; p-hat is unbiased, so that this is too low in the mean."""
        total: Array = self.log_increments.sum(axis=1)
        return total


def particle_filter(
    model: StepModel[P],
    particles: int,
    rng: np.random.Generator,
    threshold: float = 0.5,
    scheme: Literal["systematic", "multinomial"] = "systematic",
) -> Filtered:
    """Estimate log p(x) of N texts with K particles each.

    Args:
        model: proposes and weighs.
        particles: K.
        rng: of proposals and resampling.
        threshold: a text's particles are drawn again when their effective sample size is below `threshold` K; 0: never.
        scheme: how; systematic draws have less noise.

    Raises:
        TextcriticError: K is below 1, a threshold outside [0, 1], an unknown scheme, an increment that is NaN or plus
            infinity or of the wrong shape, or a text that no particle can go on with.
    """
    _check(particles, threshold, scheme)
    state = model.begin(particles)
    log_weight = np.empty((0, particles))
    columns: list[tuple[Array, Array, npt.NDArray[np.bool_]]] = []
    for step in range(model.steps):
        state, increments = model.propose(step, state, rng)
        if not step:
            log_weight = np.full(increments.shape, -np.log(particles))
        _check_increments(increments, step, particles)
        log_weight = log_weight + increments
        log_sum = np.logaddexp.reduce(log_weight, axis=1)
        lost = np.flatnonzero(~np.isfinite(log_sum))
        if len(lost):
            raise TextcriticError(
                f"text {lost[0]}, step {step}: all {particles} particles are impossible; give more particles, or a "
                "proposal that reads more of the text"
            )
        log_weight = log_weight - log_sum[:, None]  # normalised
        effective = np.exp(-np.logaddexp.reduce(2 * log_weight, axis=1))
        again = (effective < threshold * particles) & (step < model.steps - 1)
        columns.append((log_sum, effective, again))
        if again.any():
            ancestors = np.tile(np.arange(particles), (len(log_weight), 1))
            ancestors[again] = resample(np.exp(log_weight[again]), rng, scheme)
            state = model.select(state, ancestors)
            log_weight[again] = -np.log(particles)
    increments, effective, resampled = (np.stack(part, axis=1) for part in zip(*columns, strict=True))
    return Filtered(increments, effective, resampled)


def resample(
    weights: Array, rng: np.random.Generator, scheme: Literal["systematic", "multinomial"] = "systematic"
) -> Ints:
    """Ancestors drawn in proportion to weights [N, K]: int64 [N, K], ascending in each row; each row sums to 1.

    A particle has K times its weight of descendants in the mean, and by the systematic scheme never one more or less.
    """
    texts, particles = weights.shape
    if scheme == "systematic":
        points = (np.arange(particles) + rng.random((texts, 1))) / particles
    else:
        points = np.sort(rng.random((texts, particles)), axis=1)
    cumulative = weights.cumsum(axis=1)
    # One sorted array: row n between n and n + 1. A point beyond its row's last weight by rounding stays in the row.
    flat = (cumulative / cumulative[:, -1:] + np.arange(texts)[:, None]).ravel()
    rows = np.arange(texts)[:, None]
    below = np.minimum(points, 1 - np.spacing(float(texts)))
    ancestors: Ints = np.searchsorted(flat, (rows + below).ravel(), side="right").reshape(points.shape)
    return ancestors - rows * particles


def _check(particles: int, threshold: float, scheme: str) -> None:
    if particles < 1:
        raise TextcriticError(f"particles: {particles} are too few; give at least 1")
    if not 0 <= threshold <= 1:
        raise TextcriticError(f"threshold: {threshold} is not a share of the particles; give a number from 0 to 1")
    if scheme not in ("systematic", "multinomial"):
        raise TextcriticError(f"scheme: {scheme!r} is unknown; give systematic or multinomial")


def _check_increments(increments: Array, step: int, particles: int) -> None:
    if increments.ndim != 2 or increments.shape[1] != particles:
        raise TextcriticError(f"step {step}: increments of shape {increments.shape}; give [texts, {particles}]")
    wrong = np.argwhere(np.isnan(increments) | (increments == np.inf))
    if len(wrong):
        text, particle = wrong[0]
        raise TextcriticError(
            f"text {text}, particle {particle}, step {step}: the log increment is {increments[text, particle]}; give a "
            "number, or minus infinity for what is not possible"
        )
