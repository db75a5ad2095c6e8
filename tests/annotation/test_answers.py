"""The file of people's answers: what is written is read back, and what cannot be is refused in one line."""

import csv
import io
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from textcritic.annotation.answers import (
    INTRUDER,
    SECTIONS,
    Answer,
    Answers,
    Header,
    IntruderAnswer,
    RealSource,
    SectionsAnswer,
    read_answers,
    text_hash,
    write_answers,
)
from textcritic.annotation.export import csv_text
from textcritic.errors import TextcriticError
from textcritic.plan.sources import Source

TEN = datetime(2026, 11, 23, 10, tzinfo=UTC)
HEADER = Header(campaign="pubmed", task=SECTIONS, titles=("introduction", "result"), consent={"1a": "I agree."})
ROW = Answer(
    annotator="a1",
    item="i1",
    document="gpt2/7",
    source=Source("pubmed", "w-title", "gpt2", "plain", 1, 2),
    sha256=text_hash(["One.", "Two."]),
    order=1,
    phase="task",
    pilot=False,
    started=TEN,
    answered=TEN + timedelta(seconds=90.5),
    answer=SectionsAnswer(("introduction", "result"), True),
    consent_version="1a",
)
REAL = replace(ROW, item="i2", order=2, source=RealSource("pubmed"), phase="training", right=ROW.answer)


def test_what_is_written_is_read_back(tmp_path):
    answers = Answers(replace(HEADER, exported=TEN, withdrawn=1), (ROW, REAL, replace(ROW, item="i3", order=3)))
    write_answers(tmp_path / "answers.jsonl", answers)
    assert read_answers(tmp_path / "answers.jsonl") == answers
    assert answers.results() == (answers.rows[0], answers.rows[2])


def test_the_format_is_the_one_that_is_promised(tmp_path):
    write_answers(tmp_path / "answers.jsonl", Answers(HEADER, (ROW, REAL)))
    header, row, real = map(json.loads, (tmp_path / "answers.jsonl").read_text().splitlines())
    assert {key: header[key] for key in ("textcritic_annotations", "campaign", "task", "titles")} == {
        "textcritic_annotations": 1,
        "campaign": "pubmed",
        "task": "sections",
        "titles": ["introduction", "result"],
    }
    assert row["source"] == {
        "corpus": "pubmed",
        "setting": "w-title",
        "generator": "gpt2",
        "decoding": "plain",
        "seed": 1,
        "draw": 2,
    }
    assert row["answer"] == {"titles": ["introduction", "result"], "coherent": True}
    assert (row["started"], row["answered"]) == ("2026-11-23T10:00:00.000+00:00", "2026-11-23T10:01:30.500+00:00")
    assert real["source"] == {"corpus": "pubmed", "real": True}


def test_sentences_and_no_intruder(tmp_path):
    rows = (replace(ROW, answer=IntruderAnswer(None)), replace(REAL, answer=IntruderAnswer(2), right=None))
    write_answers(tmp_path / "answers.jsonl", Answers(Header(campaign="insted", task=INTRUDER), rows))
    assert [row.answer for row in read_answers(tmp_path / "answers.jsonl").rows] == [
        IntruderAnswer(None),
        IntruderAnswer(2),
    ]


def test_times_of_other_zones_are_converted(tmp_path):
    here = ROW.started.astimezone(timezone(timedelta(hours=5)))
    write_answers(tmp_path / "answers.jsonl", Answers(HEADER, (replace(ROW, started=here),)))
    assert '"started": "2026-11-23T10:00:00.000+00:00"' in (tmp_path / "answers.jsonl").read_text()


def test_the_hash_tells_where_a_section_ends():
    assert text_hash(["a", "b"]) != text_hash(["ab"])
    assert text_hash(["a", "b"]) == text_hash(("a", "b"))


CHANGES = [
    ({"task": "intruder"}, "`task` is 'intruder'; the header says 'sections'"),
    ({"answer": {"titles": ["abstract"], "coherent": True}}, "the title 'abstract' is not among those of the header"),
    ({"answer": {"titles": ["result"], "coherent": 1}}, "`coherent` is a number; it should be true or false"),
    ({"answer": {"titles": [], "coherent": True}}, "`titles` is empty"),
    ({"answer": {"titles": ["result"]}}, "there is no `coherent`"),
    ({"order": True}, "`order` is a truth value; it should be a whole number"),
    ({"order": 0}, "places are counted from 1"),
    ({"sha256": "ab"}, "it should be 64 hexadecimal digits"),
    ({"phase": "trial"}, "it should be one of training, task, attention"),
    ({"answered": "2026-11-23T09:00:00+00:00"}, "`answered` is before `started`"),
    ({"started": "2026-11-23T09:00:00"}, "it should be a time with its zone"),
    ({"source": {"corpus": "pubmed"}}, "there is no `setting`"),
    ({"source": {"corpus": "pubmed", "real": True, "seed": 1}}, "unknown key `seed`"),
    ({"annotator": ""}, "`annotator` is empty"),
    ({"address": "::1"}, "unknown key `address`"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES, ids=[message for _, message in CHANGES])
def test_a_line_that_cannot_be_is_refused(change, message, tmp_path):
    path = tmp_path / "answers.jsonl"
    write_answers(path, Answers(HEADER, (ROW,)))
    header, row = path.read_text().splitlines()
    path.write_text(f"{header}\n{json.dumps(json.loads(row) | change)}\n")
    with pytest.raises(TextcriticError, match=r"answers\.jsonl:2: ") as error:
        read_answers(path)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (replace(ROW, order=2), "has answered item i1 before"),
        (replace(ROW, item="i2"), "`order` is 1, as in an earlier line"),
        (replace(ROW, annotator="a2", sha256="0" * 64), "`sha256` is not as in an earlier line"),
    ],
)
def test_two_lines_that_exclude_each_other_are_not_written(second, message, tmp_path):
    with pytest.raises(TextcriticError, match=message):
        write_answers(tmp_path / "answers.jsonl", Answers(HEADER, (ROW, second)))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("first", ['{"textcritic_annotations": 2}', "[1]", "", json.dumps({"campaign": "a"})])
def test_another_file_is_refused(first, tmp_path):
    (tmp_path / "answers.jsonl").write_text(first)
    with pytest.raises(TextcriticError, match="should be the header of an export"):
        read_answers(tmp_path / "answers.jsonl")


@pytest.mark.parametrize("begins", ["=1", "+1", "-1", "@a", "\t=1", "\r=1", "\n=1"])
def test_a_spreadsheet_computes_nothing(begins):
    row = replace(ROW, annotator=f"{begins}x", answer=SectionsAnswer((begins, "result"), True))
    table = csv_text(Answers(replace(HEADER, titles=(begins, "result")), (row,)))
    (_, cells) = csv.reader(io.StringIO(table, newline=""))
    begins = begins.replace("\r", "\n")  # which would end a row
    assert {f"'{begins} > result", f"'{begins}x"} <= set(cells)
