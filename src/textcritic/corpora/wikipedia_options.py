"""The options of a Wikipedia dump's entry, apart from its extractor: the workflow is configured without any parser."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from textcritic.errors import TextcriticError

WIKIPEDIA = "wikipedia"
"""The extractor's name."""


def check_dump(options: Mapping[str, Any]) -> None:
    """See that the options of a registry entry make sense to the extractor `wikipedia`.

    Raises:
        TextcriticError: no list of files; a title to skip that is no regular expression.
    """
    if not isinstance(options.get("paths"), list):
        raise TextcriticError("options.paths: should be a list, the files of the dump in order")
    titles_to_skip(options["skip_titles"])


def titles_to_skip(expressions: Sequence[str]) -> list[re.Pattern[str]]:
    """Compile regular expressions.

    Raises:
        TextcriticError: one is none.
    """
    compiled = []
    for expression in expressions:
        try:
            compiled.append(re.compile(expression))
        except re.error as error:
            raise TextcriticError(
                f"options.skip_titles: {expression!r} is not a regular expression ({error})"
            ) from error
    return compiled
