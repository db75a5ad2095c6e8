"""Folders for results that cannot be used, files of somebody else's in them, and names that are empty."""

import json
import os

import pytest

import textcritic
from textcritic.cli import main
from textcritic.errors import TextcriticError, about, named
from textcritic.files import read_json

CHAINS = [list("abc"), list("abbc")] * 30
TEXTS = [f"The cat sat on mat {n} and said that it was there." for n in range(40)]
ARTICLES = [{"sections": [{"title": "a", "text": text}, {"title": "b", "text": text[::-1]}]} for text in TEXTS]
KINDS = {"chains": CHAINS, "texts": TEXTS, "articles": ARTICLES, "mentions": [{"mentions": [".", "he:3"]}] * 60}


def bad_folders(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop").symlink_to(tmp_path / "other")
    (tmp_path / "other").symlink_to(tmp_path / "loop")
    yield "file", "there is a file of this name"
    yield "file/below", "Not a directory"
    yield "loop", "Symlink loop"
    yield "x" * 300, "File name too long"


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_that_cannot_be_used_is_one_line_before_any_work(tmp_path, kind):
    for name, why in bad_folders(tmp_path):
        with pytest.raises(TextcriticError, match=rf"^output: .*: cannot be used for results: .*{why}") as error:
            textcritic.criticise(KINDS[kind], KINDS[kind], output=tmp_path / name)
        assert "\n" not in str(error.value)
        assert len(str(error.value)) < 500 + len(str(tmp_path))


def test_a_folder_that_may_not_be_written_to(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    with pytest.raises(TextcriticError, match=r"cannot be used for results: .* may not be written to"):
        textcritic.criticise(CHAINS, CHAINS, output=tmp_path / "out")


@pytest.mark.parametrize("name", ["table.csv", "report.html"])
def test_a_file_of_somebody_else_s_is_never_overwritten_without_being_asked(tmp_path, name):
    own = tmp_path / name
    own.write_text("mine,too\n")
    with pytest.raises(TextcriticError, match=rf"{name}: textcritic did not write this; choose another `output`"):
        textcritic.criticise(CHAINS, CHAINS, output=tmp_path, resamples=20)
    assert own.read_text() == "mine,too\n"
    assert [*tmp_path.iterdir()] == [own]
    for force in (True, False):  # what textcritic wrote it replaces
        textcritic.criticise(CHAINS, CHAINS, output=tmp_path, resamples=20, force=force)
    assert own.read_text() != "mine,too\n"


def test_a_table_of_somebody_else_s_is_seen_with_texts_too(tmp_path):
    (tmp_path / "table.csv").write_text("a,b\n")
    with pytest.raises(TextcriticError, match=r"table\.csv: textcritic did not write this"):
        textcritic.criticise(TEXTS, TEXTS, output=tmp_path)


@pytest.mark.parametrize("option", ["--model", "--output", "--test", "--metric", "--control"])
def test_an_empty_name_is_one_line(tmp_path, monkeypatch, capsys, option):
    monkeypatch.chdir(tmp_path)
    real = tmp_path / "real.jsonl"
    real.write_text("".join(json.dumps(article) + "\n" for article in ARTICLES))
    assert main(["criticise", str(real), str(real), option, ""]) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"textcritic: {option}: ")


def test_a_file_is_named_once():
    assert about("a.txt", "a.txt:3: bad") == "a.txt:3: bad"
    assert about("a.txt", "a.txt, row 3: bad") == "a.txt, row 3: bad"
    assert about("a.txt", "a.txt2: bad") == "a.txt: a.txt2: bad"
    with pytest.raises(TextcriticError, match=r"^a\.txt: bad$"), named("a.txt"), named("a.txt"):
        raise TextcriticError("bad")


def test_a_broken_model_of_one_s_own_does_not_send_to_rules(tmp_path):
    (tmp_path / "model").mkdir()
    for content, says in (('{"a":', "not a JSON file"), ("[]", "not an object")):
        (tmp_path / "model/config.json").write_text(content)
        with pytest.raises(TextcriticError, match=rf"config\.json: {says}.*; copy the model again, or save it again"):
            textcritic.criticise(ARTICLES, model=str(tmp_path / "model"), output=tmp_path / "out")
    (tmp_path / "x.json").write_text("{")
    with pytest.raises(TextcriticError, match="delete it and rerun the rule that makes it"):
        read_json(tmp_path / "x.json")


def test_an_interval_that_is_not_there_has_a_reason():
    same = textcritic.chains(CHAINS, [list("abc")] * 25, resamples=20)
    few = textcritic.chains(CHAINS, CHAINS[:5], resamples=20)
    for result, why in (
        (same, "no interval, as all documents have the same value"),
        (few, "no interval of fewer than 20"),
    ):
        found = json.loads(result.to_json())
        assert found["ci95"] is None
        assert why in found["ci95_reason"]
    assert json.loads(textcritic.chains(CHAINS, CHAINS, resamples=20).to_json())["ci95_reason"] is None
