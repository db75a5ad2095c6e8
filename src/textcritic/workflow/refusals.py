"""Faults that rules find while Snakemake plans: one line."""

from collections.abc import Callable
from typing import Any, NoReturn

from snakemake.exceptions import WorkflowError

from textcritic.errors import TextcriticError


def settled(step: Callable[[], Any]) -> Any:
    """What a step gives; its fault is one line of Snakemake's."""
    try:
        return step()
    except TextcriticError as error:
        raise WorkflowError(str(error)) from None


def refused(why: str) -> Callable[[Any], NoReturn]:
    """An input function of a rule whose output cannot be made: it says why, unless the output is there."""

    def refuse(wildcards: Any) -> NoReturn:
        raise WorkflowError(why)

    return refuse
