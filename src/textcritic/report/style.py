"""One look for every figure: a restrained, colour-blind safe palette, readable type, the same files each run."""

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator
from matplotlib.transforms import Bbox
from matplotlib.typing import LineStyleType, RcKeyType

from textcritic.files import whole_file
from textcritic.measures.numbers import decimals
from textcritic.report.palette import BLUE, INK, MUTED, ORANGE, RULE
from textcritic.report.rehearsed import WORD, rehearsed

# Line styles of settings, in their order.
DASHES: tuple[LineStyleType, ...] = ("-", (0, (4, 1.6)), (0, (1.2, 1.2)))
FONT_SIZE = 10.0

# Only the opacity varies: empty cells take the colour of the page, full ones that of its scheme.
SEQUENTIAL = LinearSegmentedColormap.from_list("sequential", [to_rgba(BLUE, 0.03), to_rgba(BLUE)])
DIVERGING = LinearSegmentedColormap.from_list(
    "diverging",
    [
        (0.0, to_rgba(BLUE)),
        (0.25, to_rgba(BLUE, 0.45)),
        (0.5, to_rgba(BLUE, 0)),
        (0.5, to_rgba(ORANGE, 0)),
        (0.75, to_rgba(ORANGE, 0.45)),
        (1.0, to_rgba(ORANGE)),
    ],
)

RC: dict[RcKeyType, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": FONT_SIZE,
    "axes.titlesize": FONT_SIZE,
    "axes.titlepad": 7,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": FONT_SIZE,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": RULE,
    "axes.titlecolor": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.axisbelow": True,
    "grid.color": RULE,
    "grid.linewidth": 0.5,
    "grid.alpha": 0.6,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "textcritic",
    "pdf.fonttype": 42,
}


def new_figure(width: float, height: float) -> Figure:
    """A figure in the common style, sizes in inches, drawn without a display or global state.

    Call it, and draw, inside `with style():`, as `drawings.drawn` does.
    """
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def style() -> AbstractContextManager[None]:
    """Context in which the common style holds."""
    return mpl.rc_context(RC)


def save(figure: Figure, path: str | os.PathLike[str], formats: tuple[str, ...] = ("svg", "pdf")) -> list[Path]:
    """Write `path` in each format, the format's name appended to it, whole or not at all; returns the paths."""
    saved = []
    if rehearsed() and not any(text.get_text() == WORD for text in figure.texts):
        figure.text(
            0.5, 0.5, WORD, fontsize=34, color=ORANGE, alpha=0.3, rotation=20, ha="center", va="center", zorder=99
        )
    # For `bbox_inches="tight"` Matplotlib would draw everything once more. The sides are not cut: a page shows all
    # figures in one width, and so their letters in one size.
    box = figure.get_tightbbox().padded(0.06)
    box = Bbox.from_extents(min(box.x0, 0), box.y0, max(box.x1, figure.get_figwidth()), box.y1)
    for name in formats:
        target = Path(f"{os.fspath(path)}.{name}")
        metadata = {"CreationDate": None} if name == "pdf" else {"Date": None}
        with whole_file(target) as temporary, style():
            figure.savefig(temporary, format=name, metadata=metadata, bbox_inches=box)
        saved.append(target)
    return saved


def log_ticks(low: float, high: float) -> LogLocator:
    """Ticks of a logarithmic axis: a short one has some between powers of ten, a long one has space between them."""
    between = (1, 2, 5) if high < 50 * low else (1, 3) if high < 400 * low else (1,)
    return LogLocator(subs=between, numticks=10)


def tick_label(value: float, _: float = 0.0) -> str:
    """The number at a tick of an axis, for a formatter; zero as zero, which a sum of steps misses by 1e-17."""
    return decimals(value, 10).rstrip("0").rstrip(".")


def percent_label(value: float, _: float = 0.0) -> str:
    """The same for an axis of percentages, such as 2.5."""
    return f"{tick_label(value)}%"


def share_label(value: float, _: float = 0.0) -> str:
    """The same for an axis of shares, such as 0.025."""
    return percent_label(100 * value)
