"""Faults that rules find while Snakemake plans: one line."""

from collections.abc import Callable
from typing import TypeVar

from snakemake.exceptions import WorkflowError

from textcritic.errors import TextcriticError

Given = TypeVar("Given")


def settled(step: Callable[[], Given]) -> Given:
    """What a step gives; its fault is one line of Snakemake's."""
    try:
        return step()
    except TextcriticError as error:
        raise WorkflowError(str(error)) from None


def refused(why: str, about: str = "") -> list[str]:
    """For input functions: no input, or, where there is a reason, an error; Snakemake takes what is there already.

    Args:
        why: the reason; "" for none.
        about: what the line begins with.
    """
    if why:
        raise WorkflowError(f"{about}: {why}" if about else why)
    return []
