"""The linguistic edits of intruder corpora, as the corpora registry asks for them."""

from typing import TYPE_CHECKING

from textcritic.errors import TextcriticError

if TYPE_CHECKING:
    from textcritic.plan.registries import Registries

INTRUDERS = "intruders"


def check_probes(name: str, registries: "Registries") -> None:
    """Check that an entry of the corpora registry asks for edits only where there are intruders.

    Raises:
        TextcriticError: it has `probes.documents`, but its extractor is not `intruders`.
    """
    entry = registries.entry("corpora", name)
    if entry["extractor"] != INTRUDERS and entry["probes"]["documents"] is not None:
        raise TextcriticError(
            f"probes.documents: is for the extractor {INTRUDERS}; this entry's is {entry['extractor']}; leave it out"
        )
