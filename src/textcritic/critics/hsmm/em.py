"""Expectation maximisation: exact expected counts of all training sequences, then the model that they ask for."""

import math
from typing import Any

import numpy as np

from textcritic.critics.hsmm.lattice import Lattice
from textcritic.critics.hsmm.model import HSMM
from textcritic.critics.hsmm.recursion import Counts, expected_counts
from textcritic.critics.hsmm.smoothing import estimate
from textcritic.critics.hsmm.text import Advance, Settings, Text, sparse_lattices


class EM:
    """A training by expectation maximisation; one round is one exact pass over the text.

    Args:
        model: to begin with, on its device.
        text: the training text.
        settings: of the training.
    """

    def __init__(self, model: HSMM, text: Text, settings: Settings) -> None:
        self.model, self.settings = model, settings
        self.rounds, self.round_sequences, self.tokens = settings.iterations, len(text), len(text.tokens)
        self.unigrams = np.bincount(text.tokens, minlength=model.lexicon.vocabulary)
        self.training = self.lattices(text)
        self.loss = math.inf

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
        self.model = estimate(counts, self.model.lexicon, self.unigrams, self.settings.transition_prior)
        return -total / self.tokens

    def heed(self, loss: float) -> bool:
        """Take note of a validation loss; true when it has stopped falling."""
        settled = self.loss - loss < self.settings.tolerance
        self.loss = loss
        return settled

    def state(self) -> dict[str, Any]:
        """What a checkpoint holds besides the model."""
        return {"loss": self.loss}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `state` with its model."""
        self.loss = state["loss"]
