"""Label Studio's and Potato's formats: out and back with nothing lost, files as the programs write them, and faults."""

import json
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from annotation.campaigns import made_campaign, made_intruder_campaign, open_store
from textcritic.annotation import steps
from textcritic.annotation.answers import read_answers
from textcritic.annotation.export import write_export
from textcritic.annotation.links import add_annotator
from textcritic.annotation.steps import Campaign
from textcritic.annotation.store import now
from textcritic.cli import main
from textcritic.corpora.intruders.documents import Document

pytestmark = pytest.mark.annotation
FORMATS = {"label-studio": "label-studio.json", "potato": "potato"}
WRITTEN = Path(__file__).parent / "exchange"
"""What Label Studio 1.23 and Potato 2.12 wrote."""


def answer_all(folder, people=2):
    """Annotators say something of every text, each something else; while the second is at work, the clock goes back."""
    with open_store(folder) as store:
        campaign = Campaign(store)
        for number in range(people):
            with store.transaction():
                who = add_annotator(store, False, None)
            steps.consent(campaign, who)
            steps.begin(campaign, who, now())
            at = now() + timedelta(days=1 - 2 * number)
            while (step := steps.next_step(campaign, who, now())).work is not None:
                if step.page == steps.FEEDBACK:
                    steps.feedback_seen(campaign, who, now())
                    continue
                texts, titles = step.work.texts, campaign.titles
                said = {"intruder": [None, 1, 2][(number + len(texts[1])) % 3]}
                if titles:
                    chosen = [titles[(number + len(text)) % len(titles)] for text in texts]
                    said = step.work.right or {"titles": chosen, "coherent": bool(number)}
                steps.save_answer(campaign, who, step.work.item, said, f"{who} {step.work.place}", at)
        write_export(store, folder / "answers.jsonl")


@pytest.fixture(scope="module", params=["sections", "intruder"])
def campaign(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "sections":
        made_campaign(folder)
    else:
        documents = [Document(f"d{n}", tuple(f"Sentence {k} of <{n}>." for k in range(3 + n % 3))) for n in range(8)]
        made_intruder_campaign(folder, documents, attention=1)
    answer_all(folder)
    return folder


@pytest.mark.parametrize("kind", FORMATS)
def test_out_and_back_every_answer_is_the_same(kind, campaign, monkeypatch, capsys):
    monkeypatch.chdir(campaign)
    assert main(["annotate", "export", "test", "--format", kind]) == 0
    written = f"results/annotations/test/{FORMATS[kind]}"
    assert written in capsys.readouterr().out
    assert main(["annotate", "import", written, "--format", kind, "--out", f"{kind}.jsonl"]) == 0
    there, back = (read_answers(path) for path in ("answers.jsonl", f"{kind}.jsonl"))
    assert len(there.rows) > 8
    assert back.rows == there.rows
    for key in ("campaign", "task", "titles", "question", "consent", "withdrawn", "simulated"):
        assert getattr(back.header, key) == getattr(there.header, key)


def imported(source, kind, folder, *options):
    assert main(["annotate", "import", str(source), "--format", kind, "--out", str(folder / "in.jsonl"), *options]) == 0
    return read_answers(folder / "in.jsonl")


def test_answers_that_label_studio_collected(tmp_path, capsys):
    """One task that was answered there, and skipped once; one with an answer that came from us."""
    answers = imported(WRITTEN / "label-studio.json", "label-studio", tmp_path)
    assert capsys.readouterr().out.endswith("left out: skipped 1\n")
    theirs = [row for row in answers.rows if row.annotator == "label-studio-1"]
    assert [(row.answer.titles, row.answer.coherent, row.order) for row in theirs] == [(("notes",) * 3, False, 1)]
    assert (theirs[0].answered - theirs[0].started).total_seconds() == pytest.approx(12.5)
    assert answers.header.consent["outside"]
    ours = [row for row in answers.rows if row.annotator != "label-studio-1"]
    assert ours
    assert {len(row.annotator) for row in ours} == {22}


def test_answers_that_potato_collected(tmp_path):
    answers = imported(WRITTEN / "potato", "potato", tmp_path)
    (row,) = answers.rows
    parts = json.loads((WRITTEN / "potato/data/items.jsonl").read_text())["parts"]
    chosen = ("summary", "ingredients", "steps", "summary")[: len(parts)]
    assert (row.annotator, row.answer.titles, row.answer.coherent) == ("bob", chosen, True)
    assert row.started <= row.answered


def test_a_project_that_did_not_come_from_us(tmp_path):
    """The data of a task say which text it is, and who wrote it; titles are those that somebody chose."""
    tasks = json.loads((WRITTEN / "label-studio.json").read_text())[:1]
    source = tasks[0]["meta"]["textcritic"]["about"]["source"]
    tasks[0]["data"] |= {"document": "a1", "source": source}
    tasks[0]["data"]["parts"] = [part["text"] for part in tasks[0]["data"]["parts"]]
    tasks[0]["meta"] = {}
    (tmp_path / "own.json").write_text(json.dumps(tasks))
    answers = imported(tmp_path / "own.json", "label-studio", tmp_path, "--campaign", "mine")
    assert (answers.header.campaign, answers.header.titles) == ("mine", ("notes",))
    assert [row.document for row in answers.rows] == ["a1"]
    assert main(["annotate", "import", str(tmp_path / "own.json"), "--format", "label-studio", "--out", "x"]) == 2


def changed(tasks, key, value):
    tasks[0][key] = value
    return tasks


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tasks: {"tasks": tasks}, "should be a list of tasks"),
        (lambda tasks: [{"choices": "a"}], "task 1: no `data`; choose the format JSON, not JSON-MIN"),
        (lambda tasks: changed(tasks, "data", {"text": "a"}), "task 1: `parts` is missing"),
        (lambda tasks: changed(tasks, "data", {"parts": ["a"]}), "the text is not the one that was exported"),
        (lambda tasks: changed(changed(tasks, "meta", {}), "data", {"parts": ["a"]}), "`document` is missing"),
        (lambda tasks: changed(tasks, "annotations", [])[:1], "no whole answer in it"),
        (lambda tasks: changed(tasks, "annotations", True), "not as label-studio writes it"),
        (lambda tasks: changed(tasks, "data", {"parts": ["\ud800"]}), "not as label-studio writes it"),
        (lambda tasks: changed(tasks, "annotations", [3]), "task 1: annotation 1: not as Label Studio writes it"),
    ],
)
def test_files_that_cannot_be_are_refused_in_one_line(change, message, tmp_path, capsys):
    path, out = tmp_path / "tasks.json", tmp_path / "out.jsonl"
    path.write_text(json.dumps(change(json.loads((WRITTEN / "label-studio.json").read_text()))))
    assert main(["annotate", "import", str(path), "--format", "label-studio", "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"textcritic: {path}")
    assert message in said
    assert said.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("config.yaml", "[", "config.yaml: cannot be read"),
        ("config.yaml", "a: b", "`data_files` is missing; give the folder of a project of Potato"),
        ("data/items.jsonl", '{"text": "a"}\n', "items.jsonl:1: `id` is missing"),
        ("annotation_output/bob/user_state.json", "{}", "user_state.json: not as Potato 2.12 writes it"),
    ],
)
def test_folders_that_cannot_be_are_refused_in_one_line(name, text, message, tmp_path, capsys):
    shutil.copytree(WRITTEN / "potato", tmp_path / "potato")
    (tmp_path / "potato" / name).write_text(text)
    assert main(["annotate", "import", str(tmp_path / "potato"), "--format", "potato", "--out", "x.jsonl"]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
