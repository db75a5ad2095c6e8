"""Prose of a kind of experiment: Markdown pages in its folder, `definitions.md` and `remarks.md` (under its tables)."""

from functools import cache
from pathlib import Path

HEADING = "## "


def definitions(folder: Path, **values: object) -> list[tuple[str, str]]:
    """(term, what it means) in the order of definitions.md; see `remarks_of` for `values`."""
    return [(term, " ".join(paragraphs).format(**values)) for term, paragraphs in _page(folder / "definitions.md")]


def remarks_of(module: str, *headings: str, **values: object) -> list[str]:
    """The paragraphs under some headings of remarks.md.

    Args:
        module: `__file__` of a module in the folder of the kind.
        headings: those that are wanted, in this order.
        values: what takes the place of `{name}` in the text.

    Raises:
        KeyError: the page has no such heading, or its text names a value that is not given.
    """
    page = dict(_page(Path(module).parent / "remarks.md"))
    return [paragraph.format(**values) for heading in headings for paragraph in page[heading]]


@cache
def _page(path: Path) -> list[tuple[str, list[str]]]:
    """(heading, paragraphs) of a page, each paragraph on one line."""
    _, *parts = f"\n{path.read_text(encoding='utf-8')}".split(f"\n{HEADING}")
    headed = (part.partition("\n") for part in parts)
    return [
        (heading.strip(), [" ".join(text.split()) for text in body.strip().split("\n\n")])
        for heading, _, body in headed
    ]
