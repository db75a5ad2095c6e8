"""Options of resolvers and of annotated text in the registry, which a schema cannot check alone."""

import re
from typing import TYPE_CHECKING

from textcritic.errors import TextcriticError

if TYPE_CHECKING:
    from textcritic.plan.registries import Registries


def check_resolver(name: str, registries: "Registries") -> None:
    """Check an entry of the resolvers registry, beyond its schema and what it names.

    Raises:
        TextcriticError: `opening.matches` is not a regular expression.
    """
    opening = registries.entry("resolvers", name).opening
    pattern = opening.matches if opening else ""
    try:
        re.compile(pattern)
    except re.error as error:
        raise TextcriticError(f"opening.matches: {pattern!r} is not a regular expression ({error})") from error


def check_annotations(name: str, registries: "Registries") -> None:
    """Check an entry of the annotations registry.

    Raises:
        TextcriticError: `folder` stands beside files in columns, of which none can be an archive.
    """
    entry = registries.entry("annotations", name)
    if entry.folder and all(path.removesuffix(".gz").endswith((".conll", ".conllu")) for path in entry.files):
        raise TextcriticError("folder: has no effect without a .tar.gz archive; leave it out")
