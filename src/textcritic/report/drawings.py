"""Figures as files, each in a wide form and in a narrow one for phones; one function draws both."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

from matplotlib.figure import Figure

from textcritic.files import read_json
from textcritic.report.style import save, style
from textcritic.values import Row

WIDE, NARROW = 8.2, 3.7  # inches
Draw: TypeAlias = Callable[[float], Figure]
"""Draws a figure in a width: `WIDE` or `NARROW`."""
Drawing: TypeAlias = tuple[str, Draw]
"""The name of a figure, and what draws it. The caller sets the common style."""


def drawn(draw: Draw, width: float) -> Figure:
    """A figure in the common style."""
    with style():
        return draw(width)


def write_figures(drawings: Iterable[Drawing], folder: str | Path, pdf: bool = True) -> list[Path]:
    """Write figures, each as .svg, .narrow.svg and maybe .pdf; returns the paths."""
    written: list[Path] = []
    for name, draw in drawings:
        written += save(drawn(draw, WIDE), Path(folder) / name, ("svg", "pdf") if pdf else ("svg",))
        written += save(drawn(draw, NARROW), Path(folder) / f"{name}.narrow", ("svg",))
    return written


def curves_of(training: Iterable[tuple[str, Path | None]]) -> dict[str, list[Row]]:
    """The training curves of generators that were trained in steps.

    Args:
        training: of each generator its name, and its training.json if it has one.
    """
    curves = {name: read_json(path).get("curve", []) for name, path in training if path is not None}
    return {name: curve for name, curve in curves.items() if len(curve) > 1}
