"""SVG files put into a page: small, with ids of their own, and colours that follow its light and dark schemes."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from markupsafe import Markup

from textcritic.errors import TextcriticError
from textcritic.report.palette import BLUE, FAINT, GREEN, INK, MUTED, ORANGE, PAPER, RULE

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
SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
HREF = f"{{{XLINK}}}href"
LONG = 200
"""Characters of a path from which on it is a curve of many points, which tenths of a point draw well enough."""

ET.register_namespace("", SVG)
ET.register_namespace("xlink", XLINK)


def inline_svg(path: Path, key: str, description: str) -> str:
    """The SVG element of a file, for an HTML page.

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
    if "<svg" not in text:
        raise TextcriticError(f"{path}: not an SVG file; delete it and make the study's figures again")
    try:
        root = ET.fromstring(text)
        box = _shorter("viewBox", root.attrib["viewBox"])
    except (ET.ParseError, KeyError) as error:
        raise TextcriticError(f"{path}: not a whole SVG file; delete it and make the study's figures again") from error
    _drop(root)
    _name(root, key)
    text = "".join(ET.tostring(child, encoding="unicode") for child in root)
    text = text.replace(f' xmlns="{SVG}"', "").replace(f' xmlns:xlink="{XLINK}"', "")
    for colour, variable in VARIABLES.items():
        text = text.replace(colour, f"var({variable})")
    head = f'<svg xmlns="{SVG}" xmlns:xlink="{XLINK}" viewBox="{box}" role="img" aria-label="{escape(description)}">'
    return f"{head}{text}</svg>"


def inline_forms(path: Path, key: str, description: str) -> Markup:
    """The wide and the narrow form of a figure, one of which the page shows.

    Args:
        path: as `drawings.write_figures` wrote it, without its suffix.
        key: as of `inline_svg`.
        description: as of `inline_svg`.

    Raises:
        TextcriticError: as `inline_svg`.
    """
    wide = inline_svg(path.with_name(f"{path.name}.svg"), f"{key}-w", description)
    narrow = inline_svg(path.with_name(f"{path.name}.narrow.svg"), f"{key}-n", description)
    return Markup(f'<div class="wide">{wide}</div><div class="narrow">{narrow}</div>')


def shared_styles(parts: Sequence[str]) -> tuple[list[str], str]:
    """The same parts of a page with a class in place of each style of their SVG elements, and these classes.

    Matplotlib writes the style of every line and every word out in full, which is a third of a figure.
    """
    classes: dict[str, str] = {}

    def classed(attribute: re.Match[str]) -> str:
        name = classes.setdefault(attribute.group(1), f"s{len(classes):x}")
        return f' class="{name}"'

    def of_svg(svg: re.Match[str]) -> str:
        return re.sub(r' style="([^"]*)"', classed, svg.group())

    pages = [re.sub(r"<svg .*?</svg>", of_svg, html, flags=re.S) for html in parts]
    return pages, "\n".join(f"svg .{name} {{ {style} }}" for style, name in classes.items())


def _drop(parent: ET.Element) -> None:
    """Take out what draws nothing: metadata, styles, empty groups, groups around nothing but others, white space."""
    parent.text = (parent.text or "") if _is_text(parent) else None
    kept: list[ET.Element] = []
    for child in parent:
        tag = child.tag.removeprefix(f"{{{SVG}}}")
        if tag in ("metadata", "style", "title"):
            continue
        _drop(child)
        if not _is_text(parent):
            child.tail = None
        bare = tag == "g" and not set(child.attrib) - {"id"}
        if tag in ("g", "defs") and not len(child):
            continue
        kept += child if bare else [child]
    parent[:] = kept
    for name, value in parent.attrib.items():
        parent.attrib[name] = _shorter(name, value)
    if re.fullmatch(r"rotate\(-?0(\.0*)? [^)]*\)", parent.attrib.get("transform", "")):
        del parent.attrib["transform"]


def _is_text(element: ET.Element) -> bool:
    return element.tag in (f"{{{SVG}}}text", f"{{{SVG}}}tspan")


def _shorter(name: str, value: str) -> str:
    """A value with its coordinates cut to hundredths of a point, which are finer than any screen; curves to tenths."""
    if name == "d":
        value = re.sub(r"\s*([A-Za-z])\s*", r"\1", value.strip())
        value = re.sub(r"(\.\d)\d+", r"\1", value) if len(value) > LONG else value
        return re.sub(r"(\.\d\d)\d+", r"\1", value)
    return value if name == HREF else re.sub(r"(\d\.\d\d)\d+", r"\1", value)


def _name(root: ET.Element, key: str) -> None:
    """Keep the ids that something refers to, and make them the figure's own."""
    used = set(_references(root))
    new = {name: f"{key}-{number:x}" for number, name in enumerate(sorted(used))}
    for element in root.iter():
        if (name := element.attrib.pop("id", None)) in new:
            element.attrib["id"] = new[name]
        for attribute, value in element.attrib.items():
            if attribute == HREF and value.startswith("#"):
                element.attrib[attribute] = f"#{new[value[1:]]}"
            elif "url(#" in value:
                element.attrib[attribute] = re.sub(r"url\(#([^)]*)\)", lambda m: f"url(#{new[m[1]]})", value)


def _references(root: ET.Element) -> Iterable[str]:
    for element in root.iter():
        for attribute, value in element.attrib.items():
            if attribute == HREF and value.startswith("#"):
                yield value[1:]
            yield from re.findall(r"url\(#([^)]*)\)", value)
