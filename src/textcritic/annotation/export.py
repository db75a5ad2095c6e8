"""Answers leave the database: JSONL as the workflow reads it, or a table."""

import csv
import io
import json
import sqlite3
from pathlib import Path

from textcritic.annotation.answers import (
    Answer,
    Answers,
    Header,
    given_answer,
    lines_of,
    read_source,
    read_time,
    record_of,
    write_answers,
)
from textcritic.annotation.steps import Campaign
from textcritic.annotation.store import Store, now
from textcritic.files import write_text

SOURCE = ("corpus", "real", "setting", "generator", "seed", "decoding", "draw")


def export(store: Store, pilot: bool = False) -> Answers:
    """The answers of all annotators, those of the study or (pilot) those of its trial, never both.

    Only here do the answers come together with who wrote each text.
    """
    campaign = Campaign(store)
    header = Header(
        campaign=campaign.name,
        task=campaign.entry.task,
        titles=campaign.titles,
        question=campaign.entry.question,
        consent={row["version"]: row["text"] for row in store.rows("SELECT * FROM consent")},
        withdrawn=store.about("withdrawn"),
        simulated=store.about("simulated"),
        exported=now(),
    )
    rows = store.rows(
        """SELECT answer.*, place, started, document, source, sha256, phase, right_answer, pilot
        FROM answer JOIN assignment ON assignment.annotator = answer.annotator AND assignment.item = answer.item
        JOIN item ON item.id = answer.item JOIN annotator ON annotator.id = answer.annotator
        WHERE pilot = ? ORDER BY answer.annotator, place""",
        pilot,
    )
    return Answers(header, tuple(_answer(row, header) for row in rows))


def write_export(store: Store, path: str | Path, pilot: bool = False) -> int:
    """Write JSONL, or a table where the path ends in `.csv`; returns the number of answers."""
    answers = export(store, pilot)
    if str(path).endswith(".csv"):
        write_text(path, csv_text(answers))
    else:
        write_answers(path, answers)
    return len(answers.rows)


def jsonl_text(answers: Answers) -> str:
    """The export as `annotation.answers` reads it."""
    return "".join(f"{line}\n" for line in lines_of(answers))


def csv_text(answers: Answers) -> str:
    """One row an answer; titles with ` > ` between two, and a quote before what a spreadsheet would compute."""
    out = io.StringIO()
    answered = ("intruder",) if answers.header.task == "intruder" else ("titles", "coherent")
    plain = ("annotator", "item", "document", "sha256", "order", "phase", "pilot", "started", "answered")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["campaign", "task", *plain, *SOURCE, *answered, "consent_version", "clock_back"])
    for row in answers.rows:
        record = record_of(answers.header, row)
        values = [record["campaign"], record["task"], *(record[key] for key in plain)]
        values += [record["source"].get(key) for key in SOURCE]
        values += [_cell(record["answer"][key]) for key in answered]
        writer.writerow([_harmless(value) for value in (*values, row.consent_version, row.clock_back)])
    return out.getvalue()


def _answer(row: sqlite3.Row, header: Header) -> Answer:
    where = f"item {row['item']}"
    started, answered = (read_time(row[key], where) for key in ("started", "answered"))
    right = row["right_answer"] and given_answer(json.loads(row["right_answer"]), header, where)
    return Answer(
        annotator=row["annotator"],
        item=row["item"],
        document=row["document"],
        source=read_source(json.loads(row["source"]), where),
        sha256=row["sha256"],
        order=row["place"],
        phase=row["phase"],
        pilot=bool(row["pilot"]),
        started=started,
        answered=max(started, answered),
        answer=given_answer(json.loads(row["answer"]), header, where),
        right=right,
        consent_version=row["consent_version"],
        clock_back=answered < started,
    )


def _cell(value: object) -> object:
    return " > ".join(value) if isinstance(value, list | tuple) else value


def _harmless(value: object) -> object:
    """A title or an id may begin with a sign that a spreadsheet takes for a formula; a carriage return ends a row."""
    if not isinstance(value, str):
        return value
    mark = "'" if value.startswith(tuple("=+-@\t\r\n")) else ""
    return mark + value.replace("\r", "\n")
