"""What cross-fitting found of the sources of an experiment, as a file that its tables are made with."""

import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from textcritic.files import finite, read_json, write_json
from textcritic.inference import are_grouped, unit_of
from textcritic.measures.measure import Estimate, Scored


def write_crossed(path: str | os.PathLike[str], found: Mapping[str, Scored]) -> None:
    """Write what was found of each source, by the path of its scores."""
    write_json(path, {scores: _described(scored) for scores, scored in found.items()})


def read_crossed(path: str | os.PathLike[str] | None) -> dict[str, Scored]:
    """What `write_crossed` wrote; nothing where there is no file.

    Raises:
        TextcriticError: the file is missing or damaged.
    """
    said = {} if path is None else read_json(path)
    return {
        scores: Scored(
            documents=one["documents"],
            reasons=one["rejected"],
            more=one["more"],
            estimates={value: Estimate(**_numbers(said)) for value, said in one["estimates"].items()},
        )
        for scores, one in said.items()
    }


def with_crossed(scored: Scored, found: Scored | None) -> Scored:
    """A source as it was read from its scores, with what cross-fitting found of it in place of the same."""
    if found is None:
        return scored
    more = {**scored.more, **found.more}
    return replace(
        scored, documents=found.documents, reasons=found.reasons, more=more, groups=None, estimates=found.estimates
    )


def _described(scored: Scored) -> dict[str, Any]:
    grouped = are_grouped(scored.groups)
    units = {"groups": int(unit_of(scored.groups, scored.documents or 0).max()) + 1} if grouped else {}
    return {
        "documents": scored.documents,
        "rejected": dict(scored.reasons),
        "more": finite({**scored.more, **units}),
        "estimates": finite({value: asdict(estimate) for value, estimate in scored.estimates.items()}),
    }


def _numbers(said: Mapping[str, Any]) -> dict[str, Any]:
    """Infinite numbers as such again."""
    numbers = {key: float(value) if value in ("inf", "-inf") else value for key, value in said.items()}
    return numbers | {"without": tuple(said["without"])}
