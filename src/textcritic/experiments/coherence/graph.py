"""The transition-error graph (model criticism paper, Figure 4): which section types follow which and should not."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path as Curve

from textcritic.measures.numbers import percent
from textcritic.report.drawings import WIDE
from textcritic.report.palette import BLUE, FAINT, GREEN, INK, MUTED, ORANGE, PAPER, RULE
from textcritic.report.style import new_figure

BEGIN, END = "begin", "end"
PITCH, TALL_PITCH = 0.56, 0.68  # inches between two section types; the latter if a name has two lines
CHARACTER = 0.083  # inches
LEAVE = 0.09  # inches above or below the middle of a box where arrows leave and arrive
NAME_WIDTH, NARROW_NAME_WIDTH = 26, 16  # characters of a line of a name
EDGES, NARROW_EDGES, LABELLED = 18, 10, 5
LONGEST_REACH = 2.3  # inches


@dataclass(frozen=True, slots=True)
class Edge:
    """A kind of transition: its share of all transitions of a sample, in [0, 1], and its `P` under the critic."""

    previous: str
    next: str
    share: float
    probability: float


def transition_graph(titles: Sequence[str], edges: Sequence[Edge], heaviest: float | None, width: float) -> Figure:
    """Draw section types one under another, in the order in which real documents use them, and the unlikely steps.

    A step forward runs down on the right, a step back runs up on the left, a repetition is a loop; the wider the line,
    the larger its share of the sample's steps. The most frequent steps carry that share.

    Args:
        titles: the section types to show, from top to bottom.
        edges: the transitions to draw, begin and end included, the commonest first; of many the first are drawn, and
            edges with an end that is not shown are left out.
        heaviest: the share that has the widest line, so that several figures can be compared; None: the largest share
            of `edges`.
        width: inches; in a narrow figure fewer are drawn.

    Returns:
        The figure; with no edge at all it says so.
    """
    narrow = width < WIDE
    edges = edges[: NARROW_EDGES if narrow else EDGES]
    touched = {edge.previous for edge in edges} | {edge.next for edge in edges}
    order = [BEGIN] * (BEGIN in touched) + list(titles) + [END] * (END in touched)
    characters = NARROW_NAME_WIDTH if narrow else NAME_WIDTH
    names = {title: fill(title, characters, max_lines=2, placeholder="…") for title in order}
    pitch = TALL_PITCH if any("\n" in name for name in names.values()) else PITCH
    place = {title: -pitch * row for row, title in enumerate(order)}
    drawn = sorted((e for e in edges if e.previous in place and e.next in place), key=lambda e: e.share)
    longest_line = max((len(line) for name in names.values() for line in name.split("\n")), default=4)
    box = 0.34 + CHARACTER * max(longest_line, 14)
    height = pitch * len(order) + 0.1
    foot = 0.62 if narrow else 0.4
    figure = new_figure(width, height + foot)
    axes = figure.add_axes((0, foot / (height + foot), 1, height / (height + foot)))
    axes.axis("off")
    full = heaviest or max((edge.share for edge in drawn), default=1.0)
    longest = max((abs(place[e.previous] - place[e.next]) for e in drawn), default=1.0) or 1.0
    back = any(place[e.next] > place[e.previous] for e in drawn)
    room = min((width - box - 0.24) / (2 if back else 1), LONGEST_REACH)
    # Without steps back the boxes are further left, and the steps forward have more room.
    left = width / 2 if back else (width - room + 0.3 - 0.42) / 2
    axes.set(xlim=(-left, width - left), ylim=(pitch / 2 - height, pitch / 2))
    arcs = [e for e in drawn if e.previous != e.next]
    labelled = arcs[-3 if narrow else -LABELLED :]
    plates: list[tuple[float, float]] = []
    for edge in reversed(drawn):
        weight = 1.0 + 4.0 * edge.share / full
        if edge.previous == edge.next:
            _draw_loop(axes, place[edge.previous], box / 2, 0.7 * weight)
        else:
            reach = 0.3 + (room - 0.3) * (abs(place[edge.previous] - place[edge.next]) / longest) ** 0.8
            apex = _draw_arc(axes, place[edge.previous], place[edge.next], box / 2, reach, weight)
            clear = all(abs(apex[0] - x) > 0.45 or abs(apex[1] - y) > 0.17 for x, y in plates)
            if edge in labelled and clear:
                plates.append(apex)
                _draw_label(axes, apex, percent(edge.share))
    repeated = {edge.previous: edge.share for edge in drawn if edge.previous == edge.next}
    for title, y in place.items():
        _draw_box(axes, names[title], y, box, repeated.get(title))
    if not drawn:
        axes.text(box / 2 + 0.2, place[order[0]], "no unlikely step\nbetween these", va="top", color=MUTED)
    _legend(figure, 2 if narrow else 3)
    return figure


def _draw_arc(axes: Axes, start: float, stop: float, edge_x: float, reach: float, weight: float) -> tuple[float, float]:
    """A half-oval from one box to another, down on the right, up on the left; returns its outermost point."""
    forward = stop < start
    side = 1 if forward else -1
    x, far = side * edge_x, side * (edge_x + reach * 4 / 3)
    top, bottom = start - side * LEAVE, stop + side * LEAVE
    curve = Curve([(x, top), (far, top), (far, bottom), (x, bottom)], [Curve.MOVETO] + [Curve.CURVE4] * 3)
    colour = BLUE if forward else GREEN
    axes.add_patch(_arrow(curve, weight, colour, 0.45 + 0.1 * weight))
    return side * (edge_x + reach), (top + bottom) / 2


def _draw_label(axes: Axes, place: tuple[float, float], label: str) -> None:
    plate = {"facecolor": PAPER, "edgecolor": "none", "boxstyle": "square,pad=0.12"}
    axes.text(*place, label, ha="center", va="center", fontsize=9, color=INK, bbox=plate, zorder=5)


def _draw_loop(axes: Axes, y: float, edge_x: float, weight: float) -> None:
    far = edge_x + 0.42
    curve = Curve(
        [(edge_x, y + LEAVE), (far, y + 2.6 * LEAVE), (far, y - 2.6 * LEAVE), (edge_x, y - LEAVE)],
        [Curve.MOVETO] + [Curve.CURVE4] * 3,
    )
    axes.add_patch(_arrow(curve, weight, ORANGE, 0.95))


def _arrow(curve: Curve, weight: float, colour: str, alpha: float) -> FancyArrowPatch:
    head = f"-|>,head_length={0.45 + 0.11 * weight:.2f},head_width={0.2 + 0.07 * weight:.2f}"
    return FancyArrowPatch(
        path=curve,
        arrowstyle=head,
        mutation_scale=10,
        linewidth=weight,
        color=colour,
        alpha=min(alpha, 1.0),
        capstyle="butt",
        joinstyle="miter",
        zorder=2,
    )


def _draw_box(axes: Axes, title: str, y: float, width: float, repeated: float | None) -> None:
    special = title in (BEGIN, END)
    outline = ORANGE if repeated is not None else RULE
    two_lines = "\n" in title
    height = (0.4 if repeated is not None else 0.3) + 0.16 * two_lines
    axes.add_patch(
        FancyBboxPatch(
            (-width / 2 + 0.06, y - height / 2 + 0.06),
            width - 0.12,
            height - 0.12,
            boxstyle="round,pad=0.06,rounding_size=0.1",
            facecolor="none" if special else FAINT,
            edgecolor=outline,
            linestyle="--" if special else "-",
            linewidth=1.0,
            zorder=3,
        )
    )
    shift = 0.075 if repeated is not None else 0
    axes.text(0, y + shift, title, ha="center", va="center", color=MUTED if special else INK, zorder=4)
    if repeated is not None:
        note = f"repeated {percent(repeated)}"
        axes.text(0, y - 0.085 - 0.08 * two_lines, note, ha="center", va="center", color=ORANGE, fontsize=9, zorder=4)


def _legend(figure: Figure, columns: int) -> None:
    kinds = ((BLUE, "unlikely step forward"), (GREEN, "unlikely step back"), (ORANGE, "repeated section"))
    handles = [Line2D([], [], color=colour, linewidth=3, label=name) for colour, name in kinds]
    figure.legend(handles=handles, loc="lower center", ncols=columns, fontsize=9, handlelength=1.4, columnspacing=1.6)
