"""The linguistic edits of intruder corpora, as the corpora registry asks for them."""

from typing import TYPE_CHECKING

from textcritic.errors import TextcriticError
from textcritic.plan.checks.intruders import INTRUDERS, has_intruders

if TYPE_CHECKING:
    from textcritic.plan.registries import Registries


def check_probes(name: str, registries: "Registries") -> None:
    """Check that an entry of the corpora registry asks for edits only where there are intruders.

    Raises:
        TextcriticError: it has `probes.documents`, but its extractor is not `intruders`.
    """
    entry = registries.entry("corpora", name)
    if not has_intruders(entry) and entry["probes"]["documents"] is not None:
        raise TextcriticError(
            f"probes.documents: is for the extractor {INTRUDERS}; this entry's is {entry['extractor']}; leave it out"
        )
