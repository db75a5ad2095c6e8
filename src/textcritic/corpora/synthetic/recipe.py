"""What the recipe of a synthetic process must fulfil (model criticism paper, appendix D)."""

import string
from typing import TYPE_CHECKING

from textcritic.errors import TextcriticError
from textcritic.plan.checks.corpora import PROCESS
from textcritic.plan.entries.extraction import ProcessOptions

if TYPE_CHECKING:
    from textcritic.plan.registries import Registries

ALPHABET = string.ascii_letters


def check_process(name: str, registries: "Registries") -> None:
    """Check the recipe of an entry of the corpora registry, if it is a process; raises as `check_recipe`."""
    entry = registries.entry("corpora", name)
    if entry.extractor == PROCESS:
        check_recipe(entry.options.process)


def check_recipe(recipe: ProcessOptions) -> None:
    """See that the sizes of a process do not contradict each other.

    Raises:
        TextcriticError: they do; the line names the key.
    """
    least = {"longest": (recipe.shortest, "the shortest"), "subsequences": (recipe.states, "one for each state")}
    for key, (bound, because) in least.items():
        value = getattr(recipe, key)
        if value < bound:
            raise TextcriticError(f"process: {key}: {value} is too few; at least {bound}, {because}")
    distinct = sum(recipe.letters ** (length - 1) for length in range(recipe.shortest, recipe.longest + 1))
    if recipe.subsequences > distinct:
        raise TextcriticError(
            f"process: subsequences: {recipe.subsequences:,} are more than the {distinct:,} that differ, of "
            f"{recipe.shortest} to {recipe.longest} tokens and {recipe.letters} letters; ask for fewer, or give more "
            "letters or a larger longest"
        )
