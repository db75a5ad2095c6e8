"""The recipe of a synthetic process: how large it is and how it is drawn (model criticism paper, appendix D)."""

import math
import string
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from textcritic.errors import TextcriticError
from textcritic.plan.checks.corpora import PROCESS, SPLITS
from textcritic.plan.entries.extraction import ProcessOptions

if TYPE_CHECKING:
    from textcritic.plan.registries import Registries

ALPHABET = string.ascii_letters


@dataclass(frozen=True)
class Recipe:
    """How a process is drawn; the defaults are the paper's.

    Attributes:
        states: Z.
        steps: M, sub-sequences in a sequence.
        subsequences: number of distinct sub-sequences, all states together.
        shortest: fewest tokens of a sub-sequence, its delimiter included.
        longest: most tokens of a sub-sequence, its delimiter included.
        letters: size of the alphabet, of `ALPHABET` from its beginning.
        transition_temperature: the standard normal logits of transitions are divided by it.
        emission_temperature: the same for emissions.
        seed: of all random numbers.

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


def check_process(name: str, registries: "Registries") -> None:
    """Check the recipe of an entry of the corpora registry, if it is a process; raises as `Recipe`."""
    entry = registries.entry("corpora", name)
    if entry.extractor == PROCESS:
        recipe_and_counts(entry.options.process)


def recipe_and_counts(options: ProcessOptions) -> tuple[Recipe, dict[str, int]]:
    """The recipe, and the number of sequences in each split, of a corpus' `options.process`; raises as `Recipe`."""
    recipe = Recipe(**{field.name: getattr(options, field.name) for field in fields(Recipe)})
    return recipe, {split: getattr(options, split) for split in SPLITS}
