"""Throughput of GPUs: the peak of a data sheet, and the share of it that a training reaches."""

from collections.abc import Mapping
from dataclasses import dataclass

from textcritic.errors import TextcriticError, suggestion


@dataclass(frozen=True, slots=True)
class Card:
    """A kind of GPU.

    Args:
        name: as people call it.
        peak: bf16 operations a second, dense, by its data sheet; fp16 where it has no bf16.
        share: of the peak that a training reaches.
        exact: fp32 operations a second, without tensor cores.
        source: of peak and share.
    """

    name: str
    peak: float
    share: float
    exact: float
    source: str

    def seconds(self, operations: float, exact: bool = False) -> float:
        """Seconds of one card, in bf16 or, `exact`, in fp32."""
        return operations / (self.exact * EXACT_SHARE if exact else self.peak * self.share)


# H200: GPT-2 small in bf16, 8 blocks a step, 15.2% (docs/results/runs.md, On a GPU). Others were never measured.
CARDS: Mapping[str, Card] = {
    "v100": Card("V100", 125e12, 0.30, 15.7e12, "data sheet of the V100; share assumed"),
    "a100": Card("A100", 312e12, 0.40, 19.5e12, "data sheet of the A100; share assumed"),
    "a40": Card("A40", 150e12, 0.40, 37.4e12, "data sheet of the A40; share assumed"),
    "l40s": Card("L40S", 362e12, 0.30, 91.6e12, "data sheet of the L40S; share assumed"),
    "h100": Card("H100", 989e12, 0.152, 67e12, "data sheet of the H100; share of the H200"),
    "h200": Card("H200", 989e12, 0.152, 67e12, "data sheet of the H200; share measured, docs/results/runs.md"),
}
USUAL = "a100"
EXACT_SHARE = 0.6  # of the peak in fp32, assumed


def card_named(name: str) -> Card:
    """A card by its name, or by the name that its driver gives.

    Raises:
        TextcriticError: it is not in the table.
    """
    words = name.lower().replace("-", " ").split()
    found = next((card for key, card in CARDS.items() if key in words), None)
    if found is None:
        raise TextcriticError(f"--card: {name!r} is not known; {suggestion(name, CARDS, 'known: ' + ', '.join(CARDS))}")
    return found
