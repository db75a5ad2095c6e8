"""Answers of people about texts: the file that the annotation app exports and that an analysis reads.

A JSONL file. Its first line is a header, every other line one answer of one annotator about one text. The file names
annotators and items by random ids; who wrote a text is in it, as nobody who answers sees the file.
"""

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from textcritic.corpora.readers.jsonl import json_lines
from textcritic.corpora.readers.values import kind_of, lacks
from textcritic.errors import TextcriticError, named
from textcritic.files import whole_file
from textcritic.plan.sources import RUN, Source
from textcritic.values import JsonObject

FORMAT, VERSION = "textcritic_annotations", 1
"""The key of the header that identifies the file, and its value."""
SECTIONS, INTRUDER = "sections", "intruder"
TASKS = (SECTIONS, INTRUDER)
"""The tasks: the type of each section and then whether the text is coherent; or which sentence is an intruder."""
TRAINING, TASK, ATTENTION = "training", "task", "attention"
PHASES = (TRAINING, TASK, ATTENTION)
"""Why a text was shown: to train the annotator, for the study, or to see whether the annotator reads what is asked."""


@dataclass(frozen=True, slots=True)
class RealSource:
    """A text of a corpus, written by people."""

    corpus: str


@dataclass(frozen=True, slots=True)
class SectionsAnswer:
    """The type of each section in the order of the text, and whether these types in this order make sense."""

    titles: tuple[str, ...]
    coherent: bool


@dataclass(frozen=True, slots=True)
class IntruderAnswer:
    """Which sentence does not belong, counted from 0 (the first sentence is never one); None: all sentences belong."""

    intruder: int | None


Given = SectionsAnswer | IntruderAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer.

    Attributes:
        annotator: a random id; nothing in the file says who that is.
        item: a random id of this text in this campaign.
        document: id of the text in its corpus or sample.
        source: who wrote it: a draw from a generator, or people.
        sha256: of the text as it was shown, see `text_hash`.
        order: place among the annotator's items, from 1 on.
        phase: one of `PHASES`.
        pilot: whether it was given in a trial of the campaign; such answers are not results.
        started, answered: when the text was first shown and when the answer was sent, in UTC; idle time is included.
        answer: the annotator's answer.
        right: the right answer of a training or attention item; None of a text of the study.
        consent_version: of the text that the annotator agreed to; the header has the texts.
        clock_back: whether the server's clock went back meanwhile; then `answered` is unknown, and set to `started`.
    """

    annotator: str
    item: str
    document: str
    source: Source | RealSource
    sha256: str
    order: int
    phase: str
    pilot: bool
    started: datetime
    answered: datetime
    answer: Given
    right: Given | None = None
    consent_version: str
    clock_back: bool = False

    @property
    def seconds(self) -> float:
        """From when the text was first shown until the answer, idle time included; NaN if the clock went back."""
        return math.nan if self.clock_back else (self.answered - self.started).total_seconds()


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What the answers of a file have in common.

    Attributes:
        campaign: name in the registry of campaigns.
        task: one of `TASKS`.
        titles: the section types that annotators chose from, in the order shown; empty for the task `intruder`.
        question: what annotators were asked, word for word.
        consent: version and text of every consent page that an annotator of the file agreed to.
        withdrawn: how many annotators took part and had their answers deleted.
        simulated: whether a program gave the answers; they are never results.
        exported: when the file was written, in UTC.
    """

    campaign: str
    task: str
    titles: tuple[str, ...] = ()
    question: str = ""
    consent: Mapping[str, str] = field(default_factory=dict)
    withdrawn: int = 0
    simulated: bool = False
    exported: datetime | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """An export: its header, and the answers in the order of the file."""

    header: Header
    rows: tuple[Answer, ...]

    def results(self) -> tuple[Answer, ...]:
        """The answers that count: about texts of the study, not of a pilot."""
        return tuple(row for row in self.rows if row.phase == TASK and not row.pilot)


def text_hash(parts: Iterable[str]) -> str:
    """SHA-256 of the sections or sentences of a text as they were shown, in hexadecimal digits."""
    import hashlib

    return hashlib.sha256(json.dumps(list(parts), ensure_ascii=False).encode()).hexdigest()


def write_answers(path: str | os.PathLike[str], answers: Answers) -> None:
    """Write an export, whole or not at all; it refuses impossible answers, as `read_answers` does on reading."""
    with whole_file(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines_of(answers))


def lines_of(answers: Answers) -> Iterator[str]:
    """The lines of an export, without line breaks.

    Raises:
        TextcriticError: the answers are not possible; the line names the annotator and the item.
    """
    header, seen = answers.header, _Seen()
    values = {FORMAT: VERSION, **asdict(header), "exported": header.exported and _written(header.exported)}
    _header(values, "the header")
    yield json.dumps(values, ensure_ascii=False)
    for row in answers.rows:
        record, where = record_of(header, row), f"annotator {row.annotator}, item {row.item}"
        seen.check(_answer(record, header, where), where)
        yield json.dumps(record, ensure_ascii=False)


def record_of(header: Header, row: Answer) -> JsonObject:
    """An answer in the form of the file."""
    source = {"corpus": row.source.corpus, "real": True} if isinstance(row.source, RealSource) else asdict(row.source)
    record = {"campaign": header.campaign, "task": header.task, **asdict(row)}
    times = {"started": _written(row.started), "answered": _written(row.answered)}
    marks = {"clock_back": True} if record.pop("clock_back") else {}
    return record | {"source": source} | times | marks


def read_answers(path: str | os.PathLike[str]) -> Answers:
    """Read an export and check every line of it.

    Raises:
        TextcriticError: the file is missing, not JSONL, or not an export; a line lacks a key or has one of another
            type, is of another campaign or task, has a title that the header does not have, was answered before it was
            shown, or has the id of an annotator and an item, or of an annotator and a place, that an earlier line has;
            or two lines show different texts as one document. The line names the file, its line and the key.
    """
    return answers_of(((f"{path}:{number}", value) for number, value in json_lines(Path(path))), f"{path}:1")


def answers_of(values: Iterable[tuple[str, object]], where: str) -> Answers:
    """An export from its lines as objects, each after what its error line begins with; raises as `read_answers`.

    Args:
        values: of the header first.
        where: what the error line begins with if there is no header.
    """
    lines = iter(values)
    where, first = next(lines, (where, None))
    header, rows, seen = _header(first, where), [], _Seen()
    for where, value in lines:
        rows.append(_answer(value, header, where))
        seen.check(rows[-1], where)
    return Answers(header, tuple(rows))


class _Seen:
    """Values of earlier lines that a later line must not repeat or contradict."""

    def __init__(self) -> None:
        self.items: set[tuple[str, str]] = set()
        self.places: set[tuple[str, int]] = set()
        self.texts: dict[tuple[str, Source | RealSource, str], str] = {}

    def check(self, row: Answer, where: str) -> None:
        if (row.annotator, row.item) in self.items:
            raise TextcriticError(f"{where}: annotator {row.annotator} has answered item {row.item} before; keep one")
        if (row.annotator, row.order) in self.places:
            raise TextcriticError(f"{where}: `order` is {row.order}, as in an earlier line of this annotator")
        if self.texts.setdefault((row.item, row.source, row.document), row.sha256) != row.sha256:
            raise TextcriticError(f"{where}: `sha256` is not as in an earlier line of document {row.document}")
        self.items.add((row.annotator, row.item))
        self.places.add((row.annotator, row.order))


def _header(value: object, where: str) -> Header:
    if not isinstance(value, dict) or value.get(FORMAT) != VERSION:
        raise TextcriticError(
            f"{where}: the first line should be the header of an export, with `{FORMAT}: {VERSION}`; make the file"
            " with `textcritic annotate export`"
        )
    read = _Record(value, where, {FORMAT, *(item.name for item in fields(Header))})
    task = read.one_of("task", TASKS)
    titles = read.texts("titles", [])
    consent = read.of("consent", dict, "an object", {})
    exported = read.get("exported")
    if task == SECTIONS and not titles:
        raise TextcriticError(f"{where}: `titles` is empty; it should be the section types that annotators chose from")
    if len(set(titles)) < len(titles):
        raise TextcriticError(f"{where}: `titles` has one title twice")
    return Header(
        campaign=read.text("campaign"),
        task=task,
        titles=tuple(titles),
        question=read.of("question", str, "a string", ""),
        consent={version: str(text) for version, text in consent.items()},
        withdrawn=read.of("withdrawn", int, "a whole number", 0),
        simulated=read.of("simulated", bool, "true or false", False),
        exported=None if exported is None else read.time("exported"),
    )


def _answer(value: object, header: Header, where: str) -> Answer:
    read = _Record(value, where, {"campaign", "task", *(item.name for item in fields(Answer))})
    for key in ("campaign", "task"):
        if (here := read.text(key)) != getattr(header, key):
            raise TextcriticError(f"{where}: `{key}` is {here!r}; the header says {getattr(header, key)!r}")
    started, answered = read.time("started"), read.time("answered")
    if answered < started:
        raise TextcriticError(f"{where}: `answered` is before `started`")
    if (order := read.of("order", int, "a whole number")) < 1:
        raise TextcriticError(f"{where}: `order` is {order}; places are counted from 1")
    right = read.get("right")
    with named(where):
        return Answer(
            annotator=read.text("annotator"),
            item=read.text("item"),
            document=read.text("document"),
            source=read_source(read.of("source", dict, "an object"), f"{where}: `source`"),
            sha256=_digest(read.text("sha256")),
            order=order,
            phase=read.one_of("phase", PHASES),
            pilot=read.of("pilot", bool, "true or false"),
            started=started,
            answered=answered,
            answer=given_answer(read.of("answer", dict, "an object"), header, f"{where}: `answer`"),
            right=None if right is None else given_answer(right, header, f"{where}: `right`"),
            consent_version=read.text("consent_version"),
            clock_back=read.of("clock_back", bool, "true or false", False),
        )


def given_answer(value: object, header: Header, where: str) -> Given:
    """An annotator's answer, checked against the titles of the header.

    Args:
        value: the object of the file: `titles` and `coherent`, or `intruder`.
        header: with the task, and the titles that may be given.
        where: what the error line begins with.

    Raises:
        TextcriticError: it is not an answer of this task.
    """
    if header.task == INTRUDER:
        read = _Record(value, where, {"intruder"})
        if read.need("intruder") is None:
            return IntruderAnswer(None)
        if (place := read.of("intruder", int, "a whole number or null")) < 1:
            raise TextcriticError(f"{where}: `intruder` is {place}; sentences are counted from 0, and 0 is never one")
        return IntruderAnswer(place)
    read = _Record(value, where, {"titles", "coherent"})
    titles = read.texts("titles")
    if not titles:
        raise TextcriticError(f"{where}: `titles` is empty; it should have one title for each section")
    for title in titles:
        if title not in header.titles:
            raise TextcriticError(f"{where}: the title {title!r} is not among those of the header")
    return SectionsAnswer(tuple(titles), read.of("coherent", bool, "true or false"))


def read_source(value: JsonObject, where: str) -> Source | RealSource:
    """Who wrote a text, from an object of the file.

    Raises:
        TextcriticError: it names neither real text nor a sample.
    """
    if value.get("real"):
        read = _Record(value, where, {"corpus", "real"})
        if value["real"] is not True:
            raise TextcriticError(f"{where}: `real` is {kind_of(value['real'])}; it should be true or be left out")
        return RealSource(read.text("corpus"))
    read = _Record(value, where, {item.name for item in fields(Source)} | {"real"})
    corpus, setting, generator, decoding = (read.text(key) for key in ("corpus", "setting", "generator", "decoding"))
    return Source(corpus, setting, generator, decoding, *(read.of(key, int, "a whole number") for key in RUN))


def read_time(text: str, where: str) -> datetime:
    """A time with its zone, in UTC.

    Raises:
        TextcriticError: it is none.
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise TextcriticError(f"{where} is {text!r}; it should be a time with its zone, as 2026-11-23T10:00:00+00:00")
    return time.astimezone(UTC)


def _digest(text: str) -> str:
    if len(text) != 64 or set(text) - set("0123456789abcdef"):
        raise TextcriticError(f"`sha256` is {text!r}; it should be 64 hexadecimal digits")
    return text


def _written(time: datetime) -> str:
    """A time in UTC to the millisecond, as ISO 8601 has it."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds")


Read = TypeVar("Read")


class _Record:
    """An object of JSON, whose keys are read with a check of their type."""

    def __init__(self, value: object, where: str, known: set[str]) -> None:
        if not isinstance(value, dict):
            raise TextcriticError(f"{where}: {kind_of(value)}; it should be an object")
        if unknown := sorted(set(value) - known):
            raise TextcriticError(f"{where}: unknown key `{unknown[0]}`; known are {', '.join(sorted(known))}")
        self.value: JsonObject = value
        self.where = where

    def get(self, key: str) -> object:
        return self.value.get(key)

    def need(self, key: str) -> object:
        if key not in self.value:
            raise TextcriticError(f"{self.where}: {lacks(self.value, key)}")
        return self.value[key]

    def of(self, key: str, type_: type[Read] | tuple[type[Read], ...], words: str, default: Read | None = None) -> Read:
        """The value of a key, of one type; True is no number."""
        value = self.need(key) if default is None else self.value.get(key, default)
        if not isinstance(value, type_) or (type_ is int and isinstance(value, bool)):
            raise TextcriticError(f"{self.where}: `{key}` is {kind_of(value)}; it should be {words}")
        return value

    def text(self, key: str) -> str:
        if not (value := self.of(key, str, "a string")):
            raise TextcriticError(f"{self.where}: `{key}` is empty")
        return value

    def texts(self, key: str, default: list[str] | None = None) -> list[str]:
        value = self.of(key, (list, tuple), "a list of strings", default)
        if not all(isinstance(item, str) and item for item in value):
            raise TextcriticError(f"{self.where}: `{key}` should be a list of strings, none of them empty")
        return list(value)

    def one_of(self, key: str, choices: tuple[str, ...]) -> str:
        if (value := self.text(key)) not in choices:
            raise TextcriticError(f"{self.where}: `{key}` is {value!r}; it should be one of {', '.join(choices)}")
        return value

    def time(self, key: str) -> datetime:
        return read_time(self.text(key), f"{self.where}: `{key}`")
