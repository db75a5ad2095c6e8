"""The results of cross-fitting for the sources of an experiment, in a file from which its tables are made."""

import os
from collections.abc import Mapping
from dataclasses import asdict, replace

from textcritic.files import finite, read_json, write_json
from textcritic.inference import are_grouped, unit_of
from textcritic.measures.measure import Estimate, Scored
from textcritic.values import JsonObject


def write_crossed(path: str | os.PathLike[str], found: Mapping[str, Scored]) -> None:
    """Write the results of cross-fitting for each source, by the path of its scores."""
    write_json(path, {scores: _described(scored) for scores, scored in found.items()})


def read_crossed(path: str | os.PathLike[str] | None) -> dict[str, Scored]:
    """What `write_crossed` wrote; empty if `path` is None.

    Raises:
        TextcriticError: the file is missing or damaged.
    """
    loaded = {} if path is None else read_json(path)
    return {
        scores: Scored(
            documents=source["documents"],
            reasons=source["rejected"],
            more=source["more"],
            estimates={value: Estimate(**_numbers(estimate)) for value, estimate in source["estimates"].items()},
        )
        for scores, source in loaded.items()
    }


def with_crossed(scored: Scored, found: Scored | None) -> Scored:
    """A source as it was read from its scores, with the results of cross-fitting in place of its own."""
    if found is None:
        return scored
    more = {**scored.more, **found.more}
    return replace(
        scored, documents=found.documents, reasons=found.reasons, more=more, groups=None, estimates=found.estimates
    )


def _described(scored: Scored) -> JsonObject:
    grouped = are_grouped(scored.groups)
    units = {"groups": int(unit_of(scored.groups, scored.documents or 0).max()) + 1} if grouped else {}
    return {
        "documents": scored.documents,
        "rejected": dict(scored.reasons),
        "more": finite({**scored.more, **units}),
        "estimates": finite({value: asdict(estimate) for value, estimate in scored.estimates.items()}),
    }


def _numbers(estimate: JsonObject) -> JsonObject:
    """The attributes of an `Estimate` as `_described` wrote them; infinite numbers are floats again."""
    numbers = {key: float(value) if value in ("inf", "-inf") else value for key, value in estimate.items()}
    return numbers | {"without": tuple(estimate["without"])}
