"""A synthetic process that is known exactly: the data of section 3 of the model criticism paper (appendix D)."""

import math
import os
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
import numpy.typing as npt

from textcritic.corpora.synthetic.recipe import ALPHABET, check_recipe
from textcritic.errors import TextcriticError
from textcritic.files import arrays_of, write_arrays
from textcritic.plan.entries.extraction import ProcessOptions

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

DELIMITER = " "
SEQUENCES_AT_ONCE = 16_384
KINDS = {"i": "int64", "f": "float64"}


@dataclass(frozen=True, eq=False)
class Process:
    """A chain of M states: each state emits one sub-sequence of letters, and each sub-sequence belongs to one state.

    State 0 is also the auxiliary state before the first one: its row of the transition matrix is the initial
    distribution, and there it emits nothing. Only M says when a sequence ends.

    Attributes:
        subsequences: [S] distinct strings of letters, without the delimiter that follows each of them in a text.
        owner: int64 [S], the one state that emits each.
        emission: float64 [S], P(sub-sequence | its owner).
        transition: float64 [Z, Z], row i the probabilities of the state after state i.
        steps: M.
        letters: the alphabet.

    Raises:
        TextcriticError: the parts do not match, or a state owns no sub-sequence.
    """

    subsequences: tuple[str, ...]
    owner: Ints
    emission: Floats
    transition: Floats
    steps: int
    letters: str = ALPHABET

    def __post_init__(self) -> None:
        fault = self._fault()
        if fault:
            raise TextcriticError(f"process: {fault}")

    @classmethod
    def draw(cls, recipe: ProcessOptions) -> "Process":
        """Draw a process; sub-sequences, owners and logits are those of the released code with the recipe's seed.

        Raises:
            TextcriticError: as `check_recipe`, or a state owns no sub-sequence.
        """
        check_recipe(recipe)
        return cls(*_draw_parameters(recipe), recipe.steps, ALPHABET[: recipe.letters])

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Process":
        """Read process.npz.

        Raises:
            TextcriticError: the file is missing, not whole, or not a process.
        """
        with arrays_of(path, "not a whole process; delete it and rerun the rule that makes it") as arrays:
            subsequences = tuple(map(str, arrays["subsequences"].tolist()))
            owner, emission, transition = (arrays[key] for key in ("owner", "emission", "transition"))
            steps, letters = int(arrays["steps"]), str(arrays["letters"])
        try:
            return cls(subsequences, owner, emission, transition, steps, letters)
        except TextcriticError as error:
            raise TextcriticError(f"{path}: {error}; delete it and rerun the rule that makes it") from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write process.npz, whole or not at all."""
        arrays = {"subsequences": np.array(self.subsequences), "owner": self.owner, "emission": self.emission}
        arrays |= {"transition": self.transition, "steps": np.array(self.steps), "letters": np.array(self.letters)}
        write_arrays(path, arrays)

    @property
    def initial(self) -> Floats:
        """Probabilities of the first state, float64 [Z]."""
        return self.transition[0]

    @cached_property
    def lengths(self) -> Ints:
        """Tokens of each sub-sequence, the delimiter included: int64 [S]."""
        return np.array([len(letters) + 1 for letters in self.subsequences])

    @cached_property
    def state_of(self) -> dict[str, int]:
        """The posterior: the one state that emits a sub-sequence, given without its delimiter."""
        return dict(zip(self.subsequences, self.owner.tolist(), strict=True))

    def latent_ppl(self, as_released: bool = False) -> float:
        """Expected Latent PPL of the process itself, exactly: exp(E[-log P(states)] / M), by dynamic programming.

        A step is a transition, the first from the initial distribution; there are M of them.

        Args:
            as_released: with running totals in float32, as in the released code, which moves the seventh digit.
        """
        entropy = _row_entropies(self.transition)
        steps = (visits @ entropy for visits in self.visits()[:-1])
        if as_released:
            total = np.float32(0)
            for nats in steps:
                total += np.float32(nats)
            return math.exp(total * np.float32(1 / self.steps))
        return math.exp(math.fsum(steps) / self.steps)

    def word_ppl(self) -> float:
        """Perplexity a token of a model that knows the process, exactly: exp(E[nats] / E[tokens]) of a sequence.

        Nats are those of states and sub-sequences, tokens are letters and delimiters; the end of text does not count.
        """
        visits = self.visits()
        before, emitting = visits[:-1].sum(axis=0), visits[1:].sum(axis=0)
        emitted = np.bincount(self.owner, _nats(self.emission), len(emitting))
        nats = before @ _row_entropies(self.transition) + emitting @ emitted
        return math.exp(nats / self.expected_tokens())

    def expected_tokens(self) -> float:
        """Expected number of letters and delimiters in a sequence, exactly."""
        emitting = self.visits()[1:].sum(axis=0)
        return float(emitting @ np.bincount(self.owner, self.emission * self.lengths, len(emitting)))

    def sample(self, count: int, seed: int) -> tuple[Ints, Ints]:
        """Draw sequences; sequence i depends only on the seed and on i, not on how many are drawn.

        Returns:
            states [count, M] and the numbers of the sub-sequences that they emit [count, M].
        """
        rng = np.random.default_rng(seed)
        states, emitted = np.empty((2, count, self.steps), np.int64)
        by_owner = np.argsort(self.owner, kind="stable")
        next_state = InverseCdf(self.transition.ravel(), np.repeat(np.arange(len(self.transition)), len(self.initial)))
        next_emitted = InverseCdf(self.emission[by_owner], self.owner[by_owner])
        for first in range(0, count, SEQUENCES_AT_ONCE):
            block = slice(first, min(first + SEQUENCES_AT_ONCE, count))
            uniforms = rng.random((block.stop - first, self.steps, 2))
            state = np.zeros(block.stop - first, np.int64)
            for step in range(self.steps):
                states[block, step] = state = next_state(state, uniforms[:, step, 0]) % len(self.transition)
            emitted[block] = by_owner[next_emitted(states[block], uniforms[:, :, 1])]
        return states, emitted

    def nll(self, states: Ints, emitted: Ints) -> tuple[Floats, Floats]:
        """Nats of each transition, the first from the initial distribution, and of each emission: [N, M] both."""
        before = np.pad(states[:, :-1], ((0, 0), (1, 0)))
        with np.errstate(divide="ignore"):
            return -np.log(self.transition[before, states]), -np.log(self.emission)[emitted]

    def visits(self) -> Floats:
        """Probability of each state at each step, from the auxiliary state on: [M + 1, Z]."""
        visits = np.zeros((self.steps + 1, len(self.transition)))
        visits[0, 0] = 1
        for step in range(self.steps):
            visits[step + 1] = visits[step] @ self.transition
        return visits

    def _fault(self) -> str | None:
        """What is wrong, in words; None if nothing is."""
        size, states = len(self.subsequences), self.transition.shape[0] if self.transition.ndim else 0
        if self.steps < 1 or not states:
            return f"steps: {self.steps}, states: {states}; at least 1 of both"
        parts = {"owner": ("i", (size,)), "emission": ("f", (size,)), "transition": ("f", (states, states))}
        for key, (kind, shape) in parts.items():
            array = getattr(self, key)
            if array.shape != shape or array.dtype.kind != kind:
                return f"{key}: {array.dtype} of shape {array.shape} should be {KINDS[kind]} of shape {shape}"
        if size and not 0 <= self.owner.min() <= self.owner.max() < states:
            return f"owner: a state beyond the {states} that there are"
        _require_owners(self.owner, states)
        sums = {"transition": self.transition.sum(axis=1), "emission": np.bincount(self.owner, self.emission)}
        for key, sum_of_state in sums.items():
            if getattr(self, key).min() < 0 or not np.allclose(sum_of_state, 1, rtol=0, atol=1e-6):
                return f"{key}: should be probabilities that sum to 1 for each state"
        if DELIMITER in self.letters or len(set(self.letters)) < len(self.letters):
            return f"letters: {self.letters!r} should be distinct and without the delimiter {DELIMITER!r}"
        alphabet = set(self.letters)
        for letters, count in Counter(self.subsequences).items():
            if count > 1 or not letters or not alphabet.issuperset(letters):
                return f"subsequences: {letters!r} should occur once and be made of letters"
        return None


class InverseCdf:
    """Draws from many discrete distributions at once: one sorted array, distribution r between r and r + 1.

    Args:
        probabilities: of all distributions, one after the other; each is divided by its sum.
        rows: the distribution that each belongs to, 0, 0, ..., 1, 1, ...; every number occurs.
    """

    def __init__(self, probabilities: Floats, rows: Ints) -> None:
        first = np.searchsorted(rows, np.arange(rows[-1] + 2))
        cumulative = np.cumsum(probabilities)
        below = np.concatenate([[0], cumulative])[first]
        within = (cumulative - below[rows]) / np.diff(below)[rows]
        self.cumulative = rows + within.clip(0, 1)
        # The largest uniform for which row + uniform is still below the end of the row.
        self.limit = 1 - np.spacing(float(len(first)))

    def __call__(self, rows: Ints, uniforms: Floats) -> Ints:
        """Positions in the array of probabilities, never of a 0: one for each distribution and uniform in [0, 1)."""
        positions: Ints = np.searchsorted(self.cumulative, rows + np.minimum(uniforms, self.limit), side="right")
        return positions


def _nats(probabilities: Floats) -> Floats:
    """-p log p, 0 where p is 0."""
    return -probabilities * np.log(np.where(probabilities > 0, probabilities, 1))


def _row_entropies(transition: Floats) -> Floats:
    return _nats(transition).sum(axis=1)


def _draw_parameters(
    recipe: ProcessOptions,
) -> tuple[tuple[str, ...], Ints, Floats, Floats]:
    """Sub-sequences [S], their owners [S], emission [S] and transition [Z, Z] probabilities, as `Process` has them.

    Python's generator gives the sub-sequences (a length, then its letters; a repeated one is drawn again with a new
    length). PyTorch's CPU generator gives the owners, the transition logits and the emission logits, in this
    order. Logits are float32 as released; probabilities are normalised in float64, so that rows sum to 1.

    Raises:
        TextcriticError: a state owns no sub-sequence.
    """
    import torch  # here, because jobs that only read a process do not need it

    generator = torch.Generator().manual_seed(recipe.seed)
    size = (recipe.states, recipe.subsequences)
    owner = torch.randint(0, recipe.states, size[1:], generator=generator).numpy()
    _require_owners(owner, recipe.states)
    transition = torch.randn((recipe.states, recipe.states), generator=generator) / recipe.transition_temperature
    emission = (torch.randn(size, generator=generator) / recipe.emission_temperature).numpy()
    own = emission[owner, np.arange(len(owner))].astype(np.float64)
    subsequences = tuple(islice(_distinct(_subsequences(recipe)), recipe.subsequences))
    return subsequences, owner, _softmax_by_owner(own, owner), transition.double().softmax(-1).numpy()


def _require_owners(owner: Ints, states: int) -> None:
    """Check that every state can emit something.

    Raises:
        TextcriticError: a state owns no sub-sequence.
    """
    empty = np.flatnonzero(np.bincount(owner, minlength=states) == 0)
    if len(empty):
        raise TextcriticError(
            f"process: state {empty[0]} owns no sub-sequence ({len(empty)} of {states} states do), so it can emit "
            f"nothing; give more subsequences (there are {len(owner):,}), fewer states or another seed"
        )


def _subsequences(recipe: ProcessOptions) -> Iterator[str]:
    """An endless stream of sub-sequences, without their delimiters; some repeat."""
    rng = random.Random(recipe.seed)
    alphabet = ALPHABET[: recipe.letters]
    while True:
        length = rng.randint(recipe.shortest, recipe.longest)
        yield "".join(rng.choice(alphabet) for _ in range(length - 1))


def _distinct(items: Iterator[str]) -> Iterator[str]:
    seen = set()
    for item in items:
        if item not in seen:
            seen.add(item)
            yield item


def _softmax_by_owner(logits: Floats, owner: Ints) -> Floats:
    largest = np.full(owner.max() + 1, -np.inf)
    np.maximum.at(largest, owner, logits)
    weights = np.exp(logits - largest[owner])
    return weights / np.bincount(owner, weights)[owner]
