"""Figures as files, each wide and narrow, and the training curves that several kinds draw."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from textcritic.files import read_json
from textcritic.report.style import save

WIDE, NARROW = 6.4, 3.7  # inches


def write_figures(figures: Iterable[tuple[str, Figure, Figure]], folder: str | Path, pdf: bool = True) -> list[Path]:
    """Write figures, each (name, wide one, narrow one), as .svg, .narrow.svg and maybe .pdf; returns the paths."""
    written: list[Path] = []
    for name, wide, narrow in figures:
        written += save(wide, Path(folder) / name, ("svg", "pdf") if pdf else ("svg",))
        written += save(narrow, Path(folder) / f"{name}.narrow", ("svg",))
    return written


def curves_of(training: Iterable[tuple[str, Path | None]]) -> dict[str, Any]:
    """The training curves of generators that were trained in steps.

    Args:
        training: of each generator its name, and its training.json if it has one.
    """
    curves = {name: read_json(path).get("curve", []) for name, path in training if path is not None}
    return {name: curve for name, curve in curves.items() if len(curve) > 1}
