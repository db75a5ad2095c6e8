"""Expectation maximisation: exact expected counts of all training sequences, then the model that they make likeliest.

That model is smoothed: it gives a little weight to what was not seen.
"""

import math

import numpy as np
import torch

from textcritic.generators.hsmm.lattice import Lattice
from textcritic.generators.hsmm.lexicon import Lexicon
from textcritic.generators.hsmm.model import HSMM
from textcritic.generators.hsmm.recursion import Counts, expected_counts
from textcritic.generators.hsmm.text import Advance, Text, sparse_lattices
from textcritic.plan.entries import Hsmm
from textcritic.plan.entries.generators import HsmmTraining
from textcritic.training.checkpoint import State

EVENT_PRIOR = 0.5  # added to each state's first, last and inner segments
MOST_SPARE = 0.5  # however little the text repeats itself


class EM:
    """A training by expectation maximisation; one round is one exact pass over the text.

    Args:
        model: to begin with, on its device.
        text: the training text.
        entry: how it is trained.
    """

    def __init__(self, model: HSMM, text: Text, entry: Hsmm) -> None:
        self.model, self.how = model, entry.training
        self.tokens = len(text.tokens)
        self.unigrams = np.bincount(text.tokens, minlength=model.lexicon.vocabulary)
        self.training = self.lattices(text)
        self.loss = math.inf

    @staticmethod
    def plan(training: HsmmTraining, sequences: int) -> tuple[int, int]:
        """The number of rounds, and of sequences in a round, for a text of `sequences` sequences."""
        return training.iterations, sequences

    def lattices(self, text: Text) -> list[Lattice]:
        """What a round, and a validation, sums over."""
        return sparse_lattices(text, self.model.lexicon, self.unigrams)

    def round(self, advance: Advance) -> float:
        """One iteration; returns the loss before it, in nats per token, the end of sequences not modelled.

        Args:
            advance: called with the number of sequences done after each batch.
        """
        counts, total = Counts.zeros(self.model), 0.0
        for lattice in self.training:
            moved = lattice.to(self.model.initial.device)
            value = expected_counts(self.model, moved, into=counts).log_marginal
            total += float(value[moved.parsable].sum())
            advance(int(lattice.parsable.sum()))
        self.model = estimate(counts, self.model.lexicon, self.unigrams, self.how.transition_prior)
        return -total / self.tokens

    def after_validation(self, loss: float) -> bool:
        """Whether the validation loss has stopped falling, which ends the training."""
        settled = self.loss - loss < self.how.tolerance
        self.loss = loss
        return settled

    def state(self) -> State:
        """What a checkpoint holds besides the model."""
        return {"loss": self.loss}

    def restore(self, state: State) -> None:
        """Go on from a `state` with its model."""
        self.loss = state["loss"]


def estimate(counts: Counts, lexicon: Lexicon, unigrams: np.ndarray, prior: float, spare: float | None = None) -> HSMM:
    """The model that makes expected counts likeliest, smoothed.

    With `prior` 0 and `spare` 0 this is the M step of expectation maximisation, under which the likelihood never falls
    (initial states and ends are smoothed by `EVENT_PRIOR` only if `prior` is not 0).

    Args:
        counts: of K states and R rows.
        lexicon: R rows, the first V of them the single tokens if `spare` is not 0.
        unigrams: how often each token occurs [V].
        prior: for each state, transitions that are added to a row, spread as the states follow any state.
        spare: share of each state's emissions that goes to single tokens, in proportion to how often they occur: unseen
            segments are spelled with these. None: the share of segments that occurred once (Good 1953).
    """
    event = EVENT_PRIOR if prior else 0.0
    follows = counts.transition.sum(dim=0) + event
    transition = counts.transition + prior * len(follows) * (follows / follows.sum())
    initial = counts.initial + event
    end = (counts.end + event) / (counts.end + counts.proceed + 2 * event).clamp_min(1e-30)
    dtype = counts.emission.dtype
    return HSMM(
        lexicon,
        _emission(counts.emission, unigrams, spare),
        _normalised(transition, 1).to(dtype),
        _normalised(initial, 0).to(dtype),
        end.to(dtype),
    )


def once_share(emission: torch.Tensor) -> float:
    """The share of segments whose row is expected at most 1.5 times: about that of segments never seen before.

    As if there were at least one such segment; at most `MOST_SPARE`.

    Args:
        emission: expected counts [R, K], not all 0.
    """
    rows = emission.sum(dim=1, dtype=torch.float64)
    return min(max(float(rows[rows <= 1.5].sum()), 1.0) / float(rows.sum()), MOST_SPARE)


def _emission(counts: torch.Tensor, unigrams: np.ndarray, spare: float | None) -> torch.Tensor:
    spare = once_share(counts) if spare is None else spare
    size = counts.sum(dim=0, dtype=torch.float64)
    scale = torch.where(size > 0, (1 - spare) / size, 0).to(counts.dtype)
    emission = counts * scale
    if spare:
        share = torch.from_numpy((unigrams + 1) / (unigrams + 1).sum()).to(counts)
        # A state that nothing is expected of emits single tokens alone, so that its column is a distribution too.
        spelt = torch.where(size > 0, size.new_tensor(spare), 1).to(counts.dtype)
        emission[: len(share)] += share[:, None] * spelt
    return emission


def _normalised(table: torch.Tensor, dim: int) -> torch.Tensor:
    total = table.sum(dim=dim, keepdim=True)
    return torch.where(total > 0, table / total.clamp_min(1e-300), 1 / table.shape[dim])
