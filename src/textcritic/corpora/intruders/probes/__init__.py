"""Linguistic probes: edits of one sentence that make a document less coherent (Shen et al. 2021, section 7).

Rules and word lists of our own; no tagger, no parser, no data to download.
"""

from collections.abc import Callable

from textcritic.corpora.intruders.probes.connectives import flip_connectives
from textcritic.corpora.intruders.probes.demonstratives import flip_demonstratives
from textcritic.corpora.intruders.probes.negation import negate
from textcritic.corpora.intruders.probes.numbers import exaggerate
from textcritic.corpora.intruders.probes.pronouns import downgrade_animacy, flip_gender, upgrade_animacy
from textcritic.corpora.intruders.probes.tense import to_future
from textcritic.corpora.intruders.probes.words import Refused
from textcritic.errors import TextcriticError

Probe = Callable[[str], str | Refused]
"""Edits a sentence, or says why it cannot; the same sentence always gives the same."""

PROBES: dict[str, Probe] = {
    "gender": flip_gender,
    "animacy-down": downgrade_animacy,
    "animacy-up": upgrade_animacy,
    "past-to-future": to_future,
    "conjunction": flip_connectives,
    "demonstrative": flip_demonstratives,
    "negation": negate,
    "number": exaggerate,
}
"""The eight edits, in the order of the paper's Table 7."""

__all__ = ["PROBES", "Probe", "Refused", "edited"]


def edited(probe: str, sentence: str) -> str | Refused:
    """The sentence as a probe edits it, or why it cannot.

    Raises:
        TextcriticError: there is no such probe.
    """
    if probe not in PROBES:
        raise TextcriticError(f"probe {probe!r}: unknown; use one of {', '.join(PROBES)}")
    return PROBES[probe](sentence)
