"""How a synthetic process is drawn: its parameters, by the model criticism paper's released recipe (appendix D)."""

import math
import random
import string
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError

ALPHABET = string.ascii_letters


@dataclass(frozen=True)
class Recipe:
    """How a process is drawn; the defaults are the paper's.

    Attributes:
        states: Z.
        steps: M, sub-sequences in a sequence.
        subsequences: how many distinct ones there are, all states together.
        shortest: fewest tokens of a sub-sequence, its delimiter included.
        longest: most tokens of a sub-sequence, its delimiter included.
        letters: size of the alphabet, of `ALPHABET` from its beginning.
        transition_temperature: what standard normal logits are divided by.
        emission_temperature: likewise.
        seed: of everything.

    Raises:
        TextcriticError: a value out of range, or values that contradict each other; the line names the key.
    """

    states: int = 256
    steps: int = 50
    subsequences: int = 10_000
    shortest: int = 4
    longest: int = 11
    letters: int = 52
    transition_temperature: float = 0.5
    emission_temperature: float = 0.3
    seed: int = 1234

    def __post_init__(self) -> None:
        least = {"states": 2, "steps": 1, "shortest": 2, "longest": self.shortest, "letters": 1, "seed": 0}
        least["subsequences"] = self.states
        because = {
            "shortest": ", a letter and the delimiter",
            "longest": ", the shortest",
            "subsequences": ", one for each state",
        }
        for key, bound in least.items():
            value = getattr(self, key)
            if value < bound:
                raise TextcriticError(f"process: {key}: {value} is too few; at least {bound}{because.get(key, '')}")
        if self.letters > len(ALPHABET):
            raise TextcriticError(f"process: letters: {self.letters} is too many; there are {len(ALPHABET)}")
        for key in ("transition_temperature", "emission_temperature"):
            value = getattr(self, key)
            if not 0 < value < math.inf:
                raise TextcriticError(f"process: {key}: {value} should be a positive number, e.g. 0.5")
        distinct = sum(self.letters ** (length - 1) for length in range(self.shortest, self.longest + 1))
        if self.subsequences > distinct:
            raise TextcriticError(
                f"process: subsequences: {self.subsequences:,} are more than the {distinct:,} that differ, of "
                f"{self.shortest} to {self.longest} tokens and {self.letters} letters; ask for fewer, or give more "
                "letters or a larger longest"
            )


def draw_parameters(
    recipe: Recipe,
) -> tuple[tuple[str, ...], npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Sub-sequences [S], their owners [S], emission [S] and transition [Z, Z] probabilities, as `Process` has them.

    Python's generator gives the sub-sequences (a length, then its letters; one that is there already is drawn again,
    length and all). PyTorch's CPU generator gives the owners, the transition logits and the emission logits, in this
    order. Logits are float32 as released; probabilities are normalised in float64, so that rows sum to 1.

    Raises:
        TextcriticError: a state owns no sub-sequence.
    """
    import torch  # here, because what only reads a process should start without it

    generator = torch.Generator().manual_seed(recipe.seed)
    size = (recipe.states, recipe.subsequences)
    owner = torch.randint(0, recipe.states, size[1:], generator=generator).numpy()
    require_owners(owner, recipe.states)
    transition = torch.randn((recipe.states, recipe.states), generator=generator) / recipe.transition_temperature
    emission = (torch.randn(size, generator=generator) / recipe.emission_temperature).numpy()
    own = emission[owner, np.arange(len(owner))].astype(np.float64)
    subsequences = tuple(islice(_distinct(_subsequences(recipe)), recipe.subsequences))
    return subsequences, owner, _softmax_by_owner(own, owner), transition.double().softmax(-1).numpy()


def require_owners(owner: npt.NDArray[np.int64], states: int) -> None:
    """Make sure that every state can emit something.

    Raises:
        TextcriticError: a state owns no sub-sequence.
    """
    empty = np.flatnonzero(np.bincount(owner, minlength=states) == 0)
    if len(empty):
        raise TextcriticError(
            f"process: state {empty[0]} owns no sub-sequence ({len(empty)} of {states} states do), so it can emit "
            f"nothing; give more subsequences (there are {len(owner):,}), fewer states or another seed"
        )


def _subsequences(recipe: Recipe) -> Iterator[str]:
    """Endlessly many, without their delimiters."""
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


def _softmax_by_owner(logits: npt.NDArray[np.float64], owner: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    largest = np.full(owner.max() + 1, -np.inf)
    np.maximum.at(largest, owner, logits)
    weights = np.exp(logits - largest[owner])
    return weights / np.bincount(owner, weights)[owner]
