"""The figures of intruder sentences: detectors, difficulty, people (paper, Figures 2 and 3), edits, generated text."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from matplotlib.typing import LineStyleType

from textcritic.experiments.intruders.files import IntruderFiles
from textcritic.experiments.intruders.generated import measures_of
from textcritic.experiments.intruders.names import PROBES, IntruderNames, probe_name
from textcritic.experiments.intruders.people import by_people_rows, right_rows
from textcritic.measures.labels import corpus_name
from textcritic.measures.material import Material
from textcritic.measures.numbers import decimals
from textcritic.report.cells import unique
from textcritic.report.charts import CHARACTER, LEGEND_CHARACTER, legend_above, measure_figure, stacked_panels
from textcritic.report.drawings import WIDE, Drawing
from textcritic.report.palette import BLUE, INK, LINE_COLOURS, MUTED, ORANGE
from textcritic.report.style import DASHES, percent_label

Drawn = Iterator[Drawing]
HEIGHT = 2.7  # inches
LEFT, RIGHT = 0.8, 0.15
ROW = 0.3  # inches of a detector
DETECTORS, DIFFICULTY, VOTES, BY_PEOPLE, EDITS = "detectors", "difficulty", "people", "by-people", "edits"


def figures(files: IntruderFiles, rows: Mapping[str, pd.DataFrame]) -> Drawn:
    """A chart for each question that the experiment has data for."""
    names = IntruderNames.of(files)
    detectors = rows["detectors"]
    if len(detectors):
        yield DETECTORS, partial(detectors_chart, detectors, names)
    ranked = rows["difficulty"]
    ranked = ranked[ranked["by"] == "rank"].astype({"level": str})  # a table of numbers alone is read as numbers
    if ranked["level"].nunique() > 1:
        yield DIFFICULTY, partial(difficulty_chart, ranked, names)
    right = rows["right-people"]
    if len(right):
        yield VOTES, partial(people_chart, right)
    if len(rows["by-people"]):
        yield BY_PEOPLE, partial(by_people_chart, rows["by-people"])
    edits = rows["probe-effects"]
    edits = at_home(edits[edits["where"] == "intruder"])
    if len(edits):
        yield EDITS, partial(edits_chart, edits, names)
    for number, measure in enumerate(measures_of(files)):
        yield measure_figure(f"generated-{number}", rows["generated"], names.samples, measure)


def people_figure(files: IntruderFiles, rows: Mapping[str, pd.DataFrame]) -> Drawn:
    """Figure 2: how many people were right."""
    yield VOTES, partial(people_chart, right_rows(Material(files)))


def right_figure(files: IntruderFiles, rows: Mapping[str, pd.DataFrame]) -> Drawn:
    """Figure 3: detectors by the number of people who were right; nothing if no votes are about our documents."""
    table = by_people_rows(Material(files, None, IntruderNames.of(files)))
    if len(table):
        yield BY_PEOPLE, partial(by_people_chart, table)


FIGURES = {"figures": figures, "people": people_figure, "right": right_figure}


def detectors_chart(table: pd.DataFrame, names: IntruderNames, width: float) -> Figure:
    """Accuracy and F1 of each detector with their intervals, a panel for each corpus, from the best F1 down."""
    panels = [(corpus, _by_detector(rows, names, width * 0.5)) for corpus, rows in table.groupby("corpus", sort=False)]
    left = _left(label for _, rows in panels for label in rows["name"])
    heights = [max(1.0, ROW * len(rows) + 0.2) for _, rows in panels]
    figure, places = stacked_panels(width, heights, left, RIGHT + 0.15)
    for axes, (corpus, rows) in zip(places, panels, strict=True):
        y = np.arange(len(rows))[::-1]
        for name, colour, shift, marker in (("accuracy", BLUE, 0.12, "o"), ("f1", ORANGE, -0.12, "D")):
            low, high = rows[f"{name}_low"].fillna(rows[name]), rows[f"{name}_high"].fillna(rows[name])
            axes.hlines(y + shift, low, high, color=colour, linewidth=1.4)
            axes.plot(rows[name], y + shift, marker, color=colour, markersize=4.5, linestyle="none")
        axes.set_yticks(y, rows["name"])
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.set_xlim(-1.5, 101.5)
        axes.grid(axis="x")
        axes.xaxis.set_major_formatter(percent_label)
        axes.set_title(f"Documents of {corpus_name(corpus)}" if len(panels) > 1 else "")
    dots = (("Accuracy of documents", BLUE, "o"), ("F1 of sentences", ORANGE, "D"))
    handles = [Line2D([], [], color=colour, marker=mark, linewidth=1.4) for _, colour, mark in dots]
    legend_above(figure, handles, [name for name, *_ in dots])
    return figure


def difficulty_chart(table: pd.DataFrame, names: IntruderNames, width: float) -> Figure:
    """The share of documents in which the intruder has the highest score, by the retrieval rank of its source.

    If each corpus has intruders of only one rank, the ranks are of different corpora, each judged by its own detectors.
    """
    order = sorted(unique(table["level"]), key=_place)
    if (table.groupby("corpus")["level"].nunique() == 1).all():
        own = table[table["trained"] == table["corpus"]]
        labels = [names.detector(row, trained=False) for row in own.to_dict("records")]
        table = own.assign(name=labels, corpus="")
    else:
        table = table.assign(name=_long(table, names))
    return _lines(table, order, ("highest",), width, "place of the source document")


def people_chart(table: pd.DataFrame, width: float) -> Figure:
    """Figure 2: the share of documents by the number of people who were right."""
    panels = list(table.groupby("corpus", sort=False))
    places_shown = 0 if width < WIDE else 1
    figure, places = stacked_panels(width, [HEIGHT] * len(panels), LEFT, RIGHT)
    for axes, (corpus, rows) in zip(places, panels, strict=True):
        for column, colour, shift in (("share", ORANGE, -0.2), ("incoherent_share", BLUE, 0.2)):
            bars = axes.bar(rows["right"] + shift, rows[column], 0.38, color=colour)
            axes.bar_label(bars, [decimals(value, places_shown) for value in rows[column]], fontsize=8.5, padding=2)
        axes.set_xlabel("people who were right")
        axes.yaxis.set_major_formatter(percent_label)
        axes.yaxis.set_major_locator(MaxNLocator(5))
        axes.margins(y=0.15)
        axes.set_title(corpus_name(corpus) if len(panels) > 1 else "")
    names = ["of all documents", "of documents with an intruder"]
    legend_above(figure, [Patch(color=ORANGE), Patch(color=BLUE)], names)
    return figure


def by_people_chart(table: pd.DataFrame, width: float) -> Figure:
    """Figure 3: accuracy (lines) and F1 (dashes) of detectors by the number of people who were right."""
    table = at_home(table)
    levels = [str(one) for one in sorted(table["right"].unique())]
    table = table.assign(level=table["right"].astype(str), name=table["label"])
    return _lines(table, levels, ("accuracy", "f1"), width, "people who were right")


def edits_chart(table: pd.DataFrame, names: IntruderNames, width: float) -> Figure:
    """F1 before and after each edit, an arrow each; a panel for each detector that finds any intruder."""
    some = table.groupby(["corpus", "detector"])["edited_f1"].transform("max") > 0
    table = table[some] if some.any() else table
    table = table.assign(name=_at_home(table, names))
    panels, order = list(table.groupby("name", sort=False)), [p for p in PROBES if p in set(table["probe"])]
    order += [probe for probe in unique(table["probe"]) if probe not in order]
    left = _left(map(probe_name, order))
    figure, places = stacked_panels(width, [max(0.8, 0.24 * len(order))] * len(panels), left, RIGHT + 0.15, foot=0.3)
    for axes, (name, rows) in zip(places, panels, strict=True):
        means = rows.groupby("probe")[["base_f1", "edited_f1"]].mean().reindex(order)
        y = np.arange(len(order))[::-1]
        for place, (before, after) in zip(y, means.to_numpy(), strict=True):
            if math.isfinite(before) and math.isfinite(after):
                arrow = {"arrowstyle": "-|>", "color": BLUE if after >= before else ORANGE, "linewidth": 1.4}
                axes.annotate("", (after, place), (before, place), arrowprops=arrow)
                axes.plot([before], [place], "o", color=MUTED, markersize=3.5)
        axes.set_yticks(y, [probe_name(probe) for probe in order])
        axes.set_ylim(-0.6, len(order) - 0.4)
        axes.set_xlim(-2, 102)
        axes.xaxis.set_major_formatter(percent_label)
        axes.grid(axis="x")
        axes.set_title(name)
    places[-1].set_xlabel("F1 of the intruder’s sentence,\nbefore (dot) and after the edit (arrow)")
    return figure


def _lines(table: pd.DataFrame, levels: Sequence[str], values: Sequence[str], width: float, x: str) -> Figure:
    """A line for each name and value over levels, with its band; a panel for each corpus."""
    panels = list(table.groupby("corpus", sort=False))
    colours = {label: LINE_COLOURS[n % len(LINE_COLOURS)] for n, label in enumerate(unique(table["name"]))}
    # Of two values the second is dashed; of one, the lines whose colour another has.
    again = [DASHES[n // len(LINE_COLOURS) % len(DASHES)] for n in range(len(colours))]
    dashes = {name: DASHES if len(values) > 1 else [dash] for name, dash in zip(colours, again, strict=True)}
    figure, places = stacked_panels(width, [HEIGHT] * len(panels), LEFT, RIGHT)
    for axes, (corpus, rows) in zip(places, panels, strict=True):
        for name, group in rows.groupby("name", sort=False):
            line = group.drop_duplicates("level").set_index("level").reindex(levels)
            for value, dash in zip(values, dashes[name], strict=False):
                _line(axes, line, value, colours[name], dash)
        if "chance" in rows:
            guessed = rows.drop_duplicates("level").set_index("level")["chance"].reindex(levels)
            axes.plot(range(len(levels)), guessed, color=MUTED, linestyle=(0, (1, 1.5)), linewidth=1.2)
        axes.set_xticks(range(len(levels)), levels)
        axes.set_ylim(-2, 102)
        axes.yaxis.set_major_formatter(percent_label)
        axes.grid(axis="y")
        axes.set_xlabel(x)
        axes.set_title(corpus_name(corpus) if len(panels) > 1 else "")
    handles = [Line2D([], [], color=colours[name], linestyle=dashes[name][0], linewidth=1.6) for name in colours]
    labels = list(colours)
    if len(values) > 1:
        handles += [Line2D([], [], color=INK, linestyle=dash) for dash in DASHES[:2]]
        labels += ["accuracy", "F1"]
    legend_above(figure, handles, labels)
    return figure


def _place(level: str) -> tuple[bool, int]:
    """The order of places: numbers, then words."""
    return not level.isdigit(), int(level) if level.isdigit() else 0


def _line(axes: Axes, points: pd.DataFrame, value: str, colour: str, dashes: LineStyleType) -> None:
    x = np.arange(len(points))
    low, high = points[f"{value}_low"].astype(float), points[f"{value}_high"].astype(float)
    axes.fill_between(x, low, high, color=colour, alpha=0.1, linewidth=0)
    y = points[value].astype(float)
    axes.plot(x, y, marker="o", markersize=3, linewidth=1.4, color=colour, linestyle=dashes)


def _by_detector(rows: pd.DataFrame, names: IntruderNames, room: float) -> pd.DataFrame:
    """A row for each detector, the mean of its trainings; people last. Its `name` fits in `room`, inches."""
    columns = [f"{name}{end}" for name in ("accuracy", "f1") for end in ("", "_low", "_high")]
    keys = ["trained", "detector", "label"]
    means = rows.groupby(keys, sort=False)[columns].mean().reset_index()
    means["name"] = [_cut(label, room) for label in _long(means, names)]
    return means.sort_values("f1", ascending=False, kind="stable", na_position="last")


def at_home(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of detectors that were trained on the corpus that they judge, and of people."""
    own = rows[(rows["trained"] == rows["corpus"]) | (rows["trained"] == "")]
    return own if len(own) else rows


def _at_home(rows: pd.DataFrame, names: IntruderNames) -> list[str]:
    """Labels of detectors, with their corpus if there are several."""
    several = rows["corpus"].nunique() > 1
    pairs = ((row["corpus"], names.detector(row, trained=False)) for row in rows.to_dict("records"))
    return [f"{label} on {corpus_name(corpus)}" if several else label for corpus, label in pairs]


def _long(rows: pd.DataFrame, names: IntruderNames) -> list[str]:
    return [names.detector(row) for row in rows.to_dict("records")]


def _left(labels: Iterable[str]) -> float:
    """Inches that labels left of a chart need."""
    return 0.25 + CHARACTER * max(len(line) for label in labels for line in label.split("\n"))


def _cut(label: str, left: float) -> str:
    """A label of at most two lines that fits left of a chart."""
    room = max(12, int((left - 0.2) / LEGEND_CHARACTER))
    if len(label) <= room:
        return label
    at = label.rfind(" ", 0, room + 1)
    return f"{label[:at]}\n{label[at + 1 :]}" if at > 0 else label
