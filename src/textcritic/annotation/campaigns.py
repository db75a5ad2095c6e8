"""Options of campaigns in the registry, which a schema cannot check alone."""

from datetime import date
from typing import TYPE_CHECKING

from textcritic.corpora.intruders.options import INTRUDERS
from textcritic.errors import TextcriticError
from textcritic.plan.checks.sources import check_runs, check_text
from textcritic.plan.entries import Campaign
from textcritic.plan.sources import sources_of

if TYPE_CHECKING:
    from textcritic.plan.registries import Registries


def check_campaign(name: str, registries: "Registries") -> None:
    """Check an entry of the campaigns registry, beyond its schema and what it names.

    Raises:
        TextcriticError: a sample of another corpus, one that is no text, or one twice; samples, training or titles
            for the task `intruder`; a corpus that does not fit the task; a title twice; a day that does not exist.
    """
    entry = registries.entry("campaigns", name)
    sources = sources_of(entry.sources)
    intruder = entry.task == "intruder"
    extractor = registries.entry("corpora", entry.corpus).extractor
    if intruder is not (extractor == INTRUDERS):
        fits = "needs a corpus with" if intruder else "is not for a corpus with"
        raise TextcriticError(f"corpus: the task {entry.task} {fits} the extractor {INTRUDERS}; choose another")
    for source in sources:
        if source.corpus != entry.corpus:
            raise TextcriticError(f"sources: a sample of {source.corpus}; the campaign is about {entry.corpus}")
        check_text(source, registries, "sources")
    check_runs(sources, registries, "sources")
    if len(set(sources)) < len(sources):
        raise TextcriticError("sources: a sample is listed twice")
    if intruder:
        _check_intruder(entry)
    if len(set(entry.titles)) < len(entry.titles):
        raise TextcriticError("titles: a title is listed twice")
    if entry.withdraw_until:
        try:
            date.fromisoformat(entry.withdraw_until)
        except ValueError as error:
            raise TextcriticError(
                f"withdraw_until: {entry.withdraw_until!r} is no day; write e.g. 2027-03-31"
            ) from error


def _check_intruder(entry: Campaign) -> None:
    for key in ("sources", "titles"):
        if getattr(entry, key):
            raise TextcriticError(f"{key}: has no effect on the task intruder; leave it out")
