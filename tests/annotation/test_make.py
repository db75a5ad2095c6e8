"""A campaign is made: which texts, blinded; and what it cannot be made of."""

import json
import random
import socket
import sys
from collections import Counter
from datetime import date

import pytest
from own_study import write

from annotation.campaigns import (
    MARKUP,
    TITLES,
    article,
    entry_of,
    finished_study,
    made_campaign,
    open_store,
)
from textcritic.annotation import steps
from textcritic.annotation.admin import agreement
from textcritic.annotation.answers import read_answers, text_hash
from textcritic.annotation.export import csv_text, export
from textcritic.annotation.links import add_annotator
from textcritic.annotation.make import make_campaign
from textcritic.annotation.steps import Campaign
from textcritic.annotation.store import now
from textcritic.cli import main
from textcritic.corpora import Article, Section, read_articles, write_articles
from textcritic.errors import TextcriticError

pytestmark = pytest.mark.annotation
ONE = random.Random(3)


def items(folder, phase="task"):
    with open_store(folder) as store:
        return store.rows("SELECT * FROM item WHERE phase = ?", phase)


def test_texts_of_each_sample_and_of_real_text_under_random_ids(tmp_path):
    made = made_campaign(tmp_path)
    assert made.texts == {"task": 12, "training": 4, "attention": 1}
    rows = items(tmp_path)
    assert sorted(Counter(row["source"] for row in rows).values()) == [6, 6]
    assert all(len(row["id"]) == 22 for row in rows)
    samples = {
        a.id: a for a in read_articles(tmp_path / "results/samples/recipes/w-title/theirs/seed1/given/draw1.parquet")
    }
    for row in rows:
        if not json.loads(row["source"]).get("real"):
            texts = [section.text for section in samples[row["document"]].sections]
            assert json.loads(row["texts"]) == texts
            assert row["sha256"] == text_hash(texts)
    # Sorted by random ids, a file says nothing by its order.
    assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)


def test_training_texts_are_real_and_have_their_types(tmp_path):
    made_campaign(tmp_path)
    train = {a.id: a for a in read_articles(tmp_path / "results/corpora/recipes/train.parquet")}
    for row in items(tmp_path, "training"):
        assert json.loads(row["right_answer"])["titles"] == [s.title for s in train[row["document"]].sections]


def test_the_same_seed_chooses_the_same_texts_under_other_ids(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        made_campaign(tmp_path / name)
    one, two = (items(tmp_path / name) for name in ("one", "two"))
    assert {row["document"] for row in one} == {row["document"] for row in two}
    assert not {row["id"] for row in one} & {row["id"] for row in two}


def test_two_campaigns_of_one_name(tmp_path):
    made_campaign(tmp_path)
    before = open_store(tmp_path).path.read_bytes()
    with pytest.raises(TextcriticError, match="there is a campaign 'test' already"):
        make_campaign("test", entry_of(tmp_path), tmp_path)
    assert open_store(tmp_path).path.read_bytes() == before


def untitled(number):
    return [Article(f"a{n}", None, (Section(None, f"text {n}"),), "recipes", None) for n in range(number)]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda f: write_articles(f / "results/corpora/recipes/train.parquet", untitled(9)),
            "no titles to choose from",
        ),
        (
            lambda f: (f / "results/corpora/recipes/train.parquet").unlink(),
            "build the corpus, by `textcritic corpus recipes`",
        ),
        (
            lambda f: (f / "results/samples/recipes/w-title/theirs/seed1/given/draw1.parquet").unlink(),
            "build the samples",
        ),
        (lambda f: write_articles(f / "results/corpora/recipes/test.parquet", untitled(5)), "test: 5 different texts"),
        (
            lambda f: write_articles(f / "results/corpora/recipes/train.parquet", [article("a", TITLES, ONE)]),
            "1 texts of the train split can be used in training, which needs 4",
        ),
    ],
)
def test_what_is_missing_is_named(spoil, message, tmp_path):
    finished_study(tmp_path)
    spoil(tmp_path)
    with pytest.raises(TextcriticError, match=message):
        make_campaign("test", entry_of(tmp_path), tmp_path)
    assert not list((tmp_path / "results").rglob("*.sqlite"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": "intruder"}, "needs a corpus with the extractor intruders"),
        ({"titles": ["a", "a"]}, "titles: a title is listed twice"),
        ({"withdraw_until": "2027-02-30"}, "'2027-02-30' is no day"),
        ({"attention": 100_000}, "attention: 100000 should be at most 100"),
        ({"overlap": {"share": float("nan")}}, "overlap: share: nan should be a finite number"),
        ({"training": {"pass": float("nan")}}, "training: pass: nan should be a finite number"),
        ({"consent": " \n"}, "consent: is empty; write some words, or leave the key out"),
        ({"question": ""}, "question: is empty"),
        ({"title": ""}, "title: is empty"),
        ({"titles": ["a", " "]}, "titles.1: is empty"),
        ({"texts": 0}, "texts: 0 should be at least 1"),
        ({"overlapp": {}}, "unknown key 'overlapp'; did you mean 'overlap'"),
    ],
)
def test_an_entry_that_cannot_be_is_refused(options, message, tmp_path):
    finished_study(tmp_path, **options)
    with pytest.raises(TextcriticError, match=message) as error:
        entry_of(tmp_path)
    assert f"{tmp_path}/registry/campaigns.yaml: test: " in str(error.value)


def test_a_day_needs_no_quotes(tmp_path):
    finished_study(tmp_path, withdraw_until=date(2027, 3, 31))
    assert "withdraw_until: 2027-03-31\n" in (tmp_path / "registry/campaigns.yaml").read_text()
    assert entry_of(tmp_path).withdraw_until == "2027-03-31"


def test_a_sample_of_another_corpus_is_refused(tmp_path):
    finished_study(tmp_path)
    source = {"corpora": ["other"], "generators": ["theirs"], "decodings": ["given"]}
    entries = {"test": {"corpus": "recipes", "contact": "Ann", "sources": [source]}}
    write(tmp_path / "registry/campaigns.yaml", entries)
    with pytest.raises(TextcriticError, match="other"):
        entry_of(tmp_path)


def test_long_texts_are_left_out_and_counted(tmp_path):
    long = Article("long", None, (Section("notes", "word " * 20_000),), "recipes", None)
    samples = [article(f"t{n}", TITLES, ONE) for n in range(6)]
    made = made_campaign(tmp_path, [*samples, long], longest=99_999)
    assert made.left_out == {"over 99,999 characters": 1}


def test_markup_is_stored_as_it_is(tmp_path):
    samples = [Article(f"t{n}", None, (Section("notes", f"{MARKUP} {n}"),), "recipes", None) for n in range(6)]
    made_campaign(tmp_path, samples)
    assert sum(MARKUP in json.loads(row["texts"])[0] for row in items(tmp_path)) == 6


def answer_all(folder, people, coherent):
    """Some annotators answer all their texts."""
    with open_store(folder) as store:
        campaign = Campaign(store)
        for person in range(people):
            with store.transaction():
                who = add_annotator(store, False, None)
            steps.consent(campaign, who)
            steps.begin(campaign, who, now())
            while (work := steps.next_step(campaign, who, now()).work) is not None:
                answer = {"titles": ["notes"] * len(work.texts), "coherent": coherent(person, work)}
                steps.save_answer(campaign, who, work.item, answer, f"{who} {work.place}", now())
        return agreement(campaign), export(store)


FREE = {"training": {"texts": 0, "pass": 0, "rounds": 1}, "attention": 0, "per_annotator": 12}


def test_agreement_of_one_annotator_and_without_overlap_is_undefined(tmp_path):
    made_campaign(tmp_path, **FREE, overlap={"share": 0, "answers": 2})
    measures, _ = answer_all(tmp_path, 1, lambda *_: True)
    assert {measure.reason for measure in measures.values()} == {"no item has two answers"}


def test_agreement_where_all_answers_are_alike_is_undefined(tmp_path):
    made_campaign(tmp_path, **FREE)
    measures, _ = answer_all(tmp_path, 2, lambda *_: True)
    assert all(measure.value is None for measure in measures.values())


def test_agreement_is_that_of_the_verdicts(tmp_path):
    made_campaign(tmp_path, **FREE)
    # The second annotator says of two texts in three what the first says.
    measures, answers = answer_all(tmp_path, 2, lambda person, work: (sum(map(ord, work.item)) + person) % 3 == 0)
    verdicts = {}
    for row in answers.rows:
        verdicts.setdefault(row.item, []).append(row.answer.coherent)
    pairs = [pair for pair in verdicts.values() if len(pair) == 2]
    values = [value for pair in pairs for value in pair]
    disagreed = sum(one != other for one, other in pairs) / len(pairs)
    number, yes = len(values), sum(values)
    expected = 2 * yes * (number - yes) / (number * (number - 1))
    assert measures["Krippendorff's alpha"].value == pytest.approx(1 - disagreed / expected)


def test_exports_as_commands_write_them(tmp_path, monkeypatch, capsys):
    made_campaign(tmp_path, **FREE, titles=["=1+1", "notes"])
    _, answers = answer_all(tmp_path, 2, lambda person, _: person == 0)
    monkeypatch.chdir(tmp_path)
    assert main(["annotate", "export", "test"]) == 0
    assert capsys.readouterr().out == "results/annotations/test/answers.jsonl: 24 answers\n"
    assert read_answers("results/annotations/test/answers.jsonl").rows == answers.rows
    assert main(["annotate", "export", "test", "--out", "table.csv"]) == 0
    lines = (tmp_path / "table.csv").read_text().splitlines()
    assert len(lines) == 25
    assert lines[0].startswith("campaign,task,annotator,item,document,sha256,order,phase,pilot,started,answered,corpus")
    assert csv_text(answers).splitlines()[1:] == lines[1:]


def test_invite_revoke_and_backup_as_commands(tmp_path, monkeypatch, capsys):
    made_campaign(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["annotate", "invite", "test", "--number", "3", "--address", "https://study.example.org/"]) == 0
    links = capsys.readouterr().out.split()
    assert len(set(links)) == 3
    assert all(one.startswith("https://study.example.org/enter/") for one in links)
    with open_store(tmp_path) as store:
        who = store.value("SELECT id FROM annotator")
    assert main(["annotate", "revoke", "test", who]) == 0
    assert main(["annotate", "revoke", "test", "nobody"]) == 2
    assert main(["annotate", "backup", "test"]) == 0
    assert main(["annotate", "export", "other"]) == 2
    assert "results/annotations/other/campaign.sqlite: no such file" in capsys.readouterr().err


def test_the_demo_is_opened_where_it_was_built_alone(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["annotate"]) == 2
    assert capsys.readouterr().err == (
        f"textcritic: {tmp_path}: the study demo is not built here; run `textcritic demo` first\n"
    )
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    made_campaign(folder)
    return folder


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["invite", "test", "--days", "1000000000"], "is not a whole number from 1 to 3,650"),
        (["invite", "test", "--number", "1000000000"], "is not a whole number from 1 to 10,000"),
        (["invite", "test", "--address", "ftp://x"], "address: 'ftp://x' is not one of a server; write e.g. https://"),
        (["invite", "test", "--address", "https://x/study?a"], "is not one of a server"),
        (["invite", "test", "--address", "http://[x"], "is not one of a server"),
        (["serve", "test", "--address", "study.example.org"], "is not one of a server"),
        (["--port", "5", "export", "test"], "--port: is for `annotate serve`, and has no effect here; leave it out"),
        (["--limit", "5", "invite", "test"], "--limit: is for `annotate serve`"),
        (["revoke", "test"], "revoke: 0 ids; give one"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_is_one_line(words, line, made, monkeypatch, capsys):
    monkeypatch.chdir(made)
    with pytest.raises(SystemExit) as stopped:
        sys.exit(main(["annotate", *words]))
    assert stopped.value.code == 2
    said = capsys.readouterr()
    assert line in said.err.splitlines()[-1]
    assert (said.out, "Traceback" in said.err) == ("", False)


def test_options_count_before_the_part_of_the_command_and_behind(made, monkeypatch, capsys):
    monkeypatch.chdir(made)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for words in (["--port", port, "serve", "test"], ["--port", "1", "serve", "test", "--port", port]):
            assert main(["annotate", *words]) == 2
            assert f"127.0.0.1:{port} cannot be listened on" in capsys.readouterr().err
    assert main(["annotate", "--address", "https://study.example.org", "invite", "test"]) == 0
    assert capsys.readouterr().out.startswith("https://study.example.org/enter/")


@pytest.mark.parametrize("before", [[], ["--"]])
def test_an_id_that_looks_like_an_option_can_be_revoked(before, made, monkeypatch, capsys):
    monkeypatch.chdir(made)
    with open_store(made) as store, store.transaction():
        store.change("INSERT OR REPLACE INTO annotator (id, pilot, state) VALUES ('-h', 0, 'invited')")
    assert main(["annotate", "revoke", "test", *before, "-h"]) == 0
    assert capsys.readouterr().out == "test: -h is revoked\n"
    with open_store(made) as store:
        assert store.value("SELECT revoked FROM annotator WHERE id = '-h'") == 1
