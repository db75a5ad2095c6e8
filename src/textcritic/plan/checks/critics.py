"""What options of critics may be, where fits, Python functions and the command line share it."""

from typing import TYPE_CHECKING, Literal

from textcritic.errors import TextcriticError

if TYPE_CHECKING:  # the command line reads this module: it loads no pydantic
    from textcritic.plan.registries import Registries

# Of a critic of mentions: how much of a count goes to lower orders, and tokens of a window at most.
Discount = Literal["kneser-ney", "as_released", "modified"]
DISCOUNTS: tuple[Discount, ...] = ("kneser-ney", "as_released", "modified")
MAXIMUM_ORDER = 9

# A correlated topic model is fitted from so many starts; the best fit is kept.
PARTS = 5
MOST = 1_000
"""Of cross-fitting: parts of real text, and the documents above which one split is as good, and cheaper."""
STARTS = 4


def check_embedder(name: str, registries: "Registries") -> None:
    """Check an entry of the embedders registry.

    Raises:
        TextcriticError: its generator is not a transformer, which alone has hidden states that we read.
    """
    from textcritic.plan.entries import GeneratorEmbedder

    entry = registries.entry("embedders", name)
    if isinstance(entry, GeneratorEmbedder):
        kind = registries.entry("generators", entry.generator).kind
        if kind != "causal":
            raise TextcriticError(f"generator: {entry.generator} is of kind {kind}; name one of kind causal")
