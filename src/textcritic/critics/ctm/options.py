"""How a correlated topic model is fitted."""

from dataclasses import dataclass

from textcritic.errors import TextcriticError


@dataclass(frozen=True, slots=True)
class FitOptions:
    """How a model is fitted.

    Attributes:
        num_topics: K, from 2.
        iterations: passes over the documents, at most.
        tolerance: EM has converged when the bound changes by less than this, relative to its size; 1e-3 as in the
            settings that come with Blei's code.
        shrinkage: from 0 to 1, by how much covariances between topics are shrunk after each M-step (towards the
            diagonal; Schaefer and Strimmer 2005, target D). With any, the bound may fall a little.
        minibatch: documents in a step of stochastic EM (Cappe and Moulines 2009), for corpora too large to be passed
            over many times; None is batch EM.
        seed: of the start, and of the order of minibatches. On a CPU the same seed gives the same model to the last
            bit; on a GPU sums are made in any order.
    """

    num_topics: int
    iterations: int = 1000
    tolerance: float = 1e-3
    shrinkage: float = 0.0
    minibatch: int | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        if self.num_topics < 2:
            raise TextcriticError(f"topics: {self.num_topics}; there must be 2 or more")
        if self.iterations < 1 or not self.tolerance >= 0 or not 0 <= self.shrinkage <= 1:
            raise TextcriticError("iterations must be 1 or more, tolerance 0 or more, and shrinkage from 0 to 1")
        if self.minibatch is not None and self.minibatch < 2:
            raise TextcriticError(f"minibatch: {self.minibatch}; a step needs 2 documents or more")
        if self.seed < 0:
            raise TextcriticError(f"seed: {self.seed}; it must be 0 or more")
