"""SVG files put into a page: no prolog, ids of their own, and colours that follow the page's light and dark schemes."""

import re
from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.report.style import BLUE, FAINT, GREEN, INK, MUTED, ORANGE, PAPER, RULE

VARIABLES = {
    INK: "--ink",
    MUTED: "--muted",
    RULE: "--rule",
    FAINT: "--faint",
    PAPER: "--card",
    BLUE: "--blue",
    ORANGE: "--orange",
    GREEN: "--green",
}


def inline_svg(path: Path, key: str, description: str) -> str:
    """The SVG element of a file, to stand in an HTML page.

    Args:
        path: an SVG file that `style.save` wrote.
        key: unique in the page; it starts every id, so that two figures do not share one.
        description: what the figure shows, for those who do not see it.

    Raises:
        TextcriticError: the file is missing or is not an SVG.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise TextcriticError(f"{path}: no such file; make the figures of the experiment first") from error
    start = text.find("<svg")
    if start < 0:
        raise TextcriticError(f"{path}: not an SVG file; delete it and make the study's figures again")
    text = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>", "", text[start:], flags=re.S)
    text = re.sub(r'\bid="', f'id="{key}-', text)
    text = re.sub(r"url\(#", f"url(#{key}-", text)
    text = re.sub(r'xlink:href="#', f'xlink:href="#{key}-', text)
    text = re.sub(r"<[^>]*>", _rounded, text)
    for colour, variable in VARIABLES.items():
        text = text.replace(colour, f"var({variable})")
    opening = re.search(r"<svg[^>]*>", text)
    box = re.search(r'viewBox="[^"]*"', text)
    if opening is None or box is None:
        raise TextcriticError(f"{path}: not a whole SVG file; delete it and make the study's figures again")
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {box.group()} '
        f'role="img" aria-label="{_attribute(description)}">'
    )
    return head + text[opening.end() :].strip()


def _rounded(tag: re.Match[str]) -> str:
    """A tag with its coordinates cut to hundredths of a point, which are finer than any screen."""
    return re.sub(r"(\d\.\d\d)\d+", r"\1", tag.group())


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
