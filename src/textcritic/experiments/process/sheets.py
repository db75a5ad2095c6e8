"""The tables of a known process as people read them."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from textcritic.experiments.process.files import EXACT
from textcritic.experiments.process.names import STOPS, ProcessNames
from textcritic.experiments.process.rows import PPL, WORDS
from textcritic.measures.numbers import NONE, count, difference, missing, number, percent
from textcritic.plan.sources import GROUP, RUN, SAMPLE
from textcritic.report.cells import Column, infinite_remarks, measure_cell, measure_sheet, published_note
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Line, Sheet, plain_sheet
from textcritic.values import Row

ENOUGH = 100  # sequences, below which entropy and divergence say nothing
SWITCHES = {"default": "default", "as_released": "as released", "any length": "any length"}


def perplexity_sheet(rows: pd.DataFrame, names: ProcessNames, decodings: Mapping[str, Row]) -> Sheet:
    """Word-level and Latent PPL of a process and of each model of it (paper, Table 1), seeds together."""

    def part(place: int) -> Callable[[pd.DataFrame], Cell]:
        return lambda group: _parts(group, "" if group["source"].iloc[0] == EXACT else "_corrected")[place]

    columns: dict[str, Column] = {
        "Word-level PPL": WORDS,
        "Latent PPL": _latent,
        "Not read": _not_read,
        "Entropy": part(0),
        "Divergence": part(1),
    }
    published = "the published value with ours minus it, " if rows["published"].notna().any() else ""
    remarks = [
        *remarks_of(__file__, "process", published=published, enough=ENOUGH),
        *given_remarks(rows, decodings),
        *note_remarks(rows, names),
        *infinite_remarks(rows, names, WORDS.name),
    ]
    heading = ("process", "Perplexity and Latent PPL where the truth is known")
    return measure_sheet(heading, rows, names, columns, remarks)


def given_remarks(rows: pd.DataFrame, decodings: Mapping[str, Row]) -> list[str]:
    """Under which decodings a model is given the length of a sequence."""
    used = dict.fromkeys(rows.loc[rows["source"] == SAMPLE, "decoding"])
    given = [name for name in used if decodings.get(name, {}).get("stop") == "given"]
    words = "the model is given the number of sub-sequences; elsewhere it has to learn when to stop."
    return [f"{STOPS['given'].capitalize()}: {words}"] if given else []


def note_remarks(rows: pd.DataFrame, names: ProcessNames) -> list[str]:
    """The notes about published values."""
    with_note = rows[rows["published_note"].fillna("") != ""].drop_duplicates(GROUP)
    return [
        f"Published value of {names.source(row, seed=False)}: {row['published_note']}."
        for row in with_note.to_dict("records")
    ]


def parsing_sheet(rows: pd.DataFrame, names: ProcessNames) -> Sheet:
    """How Latent PPL changes with the definition of a sequence."""
    keys = ["corpus", "source", *GROUP[1:], *RUN]
    body: list[Line] = []
    for _, group in rows.groupby(keys, sort=False, dropna=False):
        by_switch = {row["switch"]: row for row in group.to_dict("records")}
        cells = [_parsing_cell(by_switch[switch]) for switch in SWITCHES]
        released = by_switch["as_released"]
        printed = f"{count(released['processed'])} processed, {count(released['invalid'])} invalid"
        body.append([names.source(group.iloc[0].to_dict()), *cells, Cell(printed, words=True)])
    settings = rows.drop_duplicates("switch").set_index("switch")["setting_of_switch"]
    remarks = [f"{words.capitalize()}: {settings[switch]}." for switch, words in SWITCHES.items() if switch in settings]
    remarks.append("Under each value: the number of sequences, and the change from the default.")
    heads: Line = ["Source", *SWITCHES.values(), Cell("Released code says", words=True)]
    return plain_sheet("parsing", "Latent PPL by what counts as a sequence", heads, body, remarks)


def every_number_sheet(rows: pd.DataFrame, names: ProcessNames) -> Sheet:
    """The numbers behind Table 1, a row for each source and seed."""
    heads = ("Source", "Word-level PPL with ends", "Latent NLL", "Sequences", "Steps", "Cross-entropy", "Entropy")
    body: list[Line] = []
    for index, row in enumerate(rows.to_dict("records")):
        values = [number(row["ppl_all"]), number(row["latent_nll"]), count(row["documents"])]
        values += [count(row["steps"]), number(row["cross_entropy"])]
        body.append([names.source(row), *values, *_parts(rows.iloc[[index]], "")])
    remarks = remarks_of(__file__, "every_number")
    return plain_sheet("every-number", "Every number of each source", [*heads, "Divergence"], body, remarks)


def _latent(group: pd.DataFrame) -> Cell:
    if group["source"].iloc[0] == SAMPLE and group["latent_ppl"].isna().all():
        notes = ("none could be read", *published_note(group, PPL))
        return Cell(NONE, notes)
    cell = measure_cell(group, PPL)
    return replace(cell, notes=(*cell.notes, *seeds_read(group)))


def seeds_read(group: pd.DataFrame) -> list[str]:
    """The number of seeds with a sequence that could be read, unless it is all of them."""
    read = int(group["latent_ppl"].notna().sum())
    return [] if read == len(group) else [f"{read} of {len(group)} seeds could be read"]


def _not_read(group: pd.DataFrame) -> Cell:
    if group["source"].iloc[0] != SAMPLE:
        return Cell(NONE)
    rejected, drawn = group["rejected"].sum(), (group["documents"] + group["rejected"]).sum()
    return Cell(percent(rejected / drawn), (f"{count(rejected)} of {count(drawn)}",))


def _parts(group: pd.DataFrame, suffix: str) -> list[Cell]:
    """Entropy and divergence, over the seeds with enough sequences; `suffix` chooses the columns."""
    source = group["source"].iloc[0]
    enough = group if source == EXACT else group[group["documents"] >= ENOUGH]
    if enough.empty:
        few = ("too few",) if group["documents"].sum() else ()
        return [Cell(NONE), Cell(NONE, few)]
    notes = []
    if source == SAMPLE:
        notes.append(f"test: {number(_mean(enough, f'kl{suffix}_of_test'))}")
        if len(enough) < len(group):
            notes.append(f"{len(enough)} of {len(group)} seeds")
    values = [number(_mean(enough, f"{part}{suffix}")) for part in ("entropy", "kl")]
    return [Cell(values[0]), Cell(values[1], tuple(notes))]


def _mean(group: pd.DataFrame, column: str) -> float:
    value = float(group[column].mean())
    return 0.0 if np.isclose(value, 0, atol=1e-9) else value


def _parsing_cell(row: Row) -> Cell:
    sequences = f"{count(row['documents'])} sequences"
    notes = [] if missing(row["change_percent"]) else [f"{difference(row['change_percent'])}%"]
    return Cell(number(row["latent_ppl"]), (sequences, *notes))
