"""Dry runs, marks of files that are ours, empty words, models of one's own that are broken, intervals with a reason."""

import json
import os
import pickle
import shutil

import numpy as np
import pytest
from tiny_causal import configs, tiny_model

import textcritic
from textcritic.api.criticise import jobs_of
from textcritic.cli import main
from textcritic.errors import TextcriticError, first_line
from textcritic.files import require_ours, whole_file, whole_folder, write_text
from textcritic.training.load import load_causal, load_tokenizer, train_tokenizer

CHAINS = [list("abc"), list("abbc")] * 30
TEXTS = [f"The cat sat on mat {n} and said that it was there." for n in range(40)]
ARTICLES = [{"sections": [{"title": "a", "text": text}, {"title": "b", "text": text[::-1]}]} for text in TEXTS]
QUICK = {"resamples": 20, "measures": "form"}


def refused(function, *given, **options):
    with pytest.raises(TextcriticError) as error:
        function(*given, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


# Folders and files.


@pytest.mark.parametrize("name", ["file", "file/below", "loop", "x" * 300])
@pytest.mark.parametrize("documents", [TEXTS, ARTICLES])
def test_a_dry_run_refuses_a_folder_as_a_run_does(tmp_path, name, documents):
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    line = refused(jobs_of, documents, documents, output=tmp_path / name)
    assert line == refused(textcritic.criticise, documents, documents, output=tmp_path / name)
    assert line.startswith("output: ")
    assert line.count(str(tmp_path)) == 1


@pytest.mark.parametrize("name", ["file", "file/below", "loop", "x" * 300, "~nobody-of-this-name/x", ""])
def test_a_workflow_needs_a_folder(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop").symlink_to("loop")
    assert main(["workflow", name]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"textcritic: folder: {name[:200]}")
    assert {path.name for path in tmp_path.iterdir()} == {"file", "loop"}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "id,source,measure,value\n1,2,3,4\n",  # our words, but not at the beginning
        "source,measure,value\na,b,1\n",  # nor all of them
        "\n" * 5000 + "source,measure,value,low,high,p,n,rejected,rejected_by_reason,verdict\n",
    ],
)
def test_a_table_that_is_not_ours_to_the_word_stays(tmp_path, content):
    (tmp_path / "table.csv").write_text(content)
    for documents in (CHAINS, TEXTS):
        line = refused(textcritic.criticise, documents, documents, output=tmp_path, resamples=20)
        assert line.startswith(f"{tmp_path}/table.csv: textcritic did not write this; choose another `output`, or over")
    assert line == refused(jobs_of, TEXTS, TEXTS, output=tmp_path)
    assert (tmp_path / "table.csv").read_text() == content
    assert [*tmp_path.iterdir()] == [tmp_path / "table.csv"]


def test_what_is_ours_is_replaced_by_every_kind(tmp_path):
    for documents, options in ((TEXTS, QUICK), (CHAINS, {"resamples": 20}), (TEXTS[:30], QUICK)):
        textcritic.criticise(documents, documents, output=tmp_path, **options)
    assert (tmp_path / "table.csv").read_text().count("\n") > 2


def test_texts_in_the_folder_given_are_ours_or_stay(tmp_path):
    own = tmp_path / "given/samples.jsonl"
    own.parent.mkdir()
    own.write_text('{"text": "mine"}\n')
    assert refused(textcritic.criticise, TEXTS, TEXTS, output=tmp_path, **QUICK).startswith(f"{own}: textcritic did")
    assert own.read_text() == '{"text": "mine"}\n'
    textcritic.criticise(TEXTS, TEXTS, output=tmp_path, force=True, **QUICK)
    textcritic.criticise(TEXTS[1:], TEXTS[1:], output=tmp_path, **QUICK)
    assert own.read_text().count("\n") == len(TEXTS) - 1


@pytest.mark.parametrize("place", [0, 1])
def test_a_file_without_documents_is_called_as_it_was_given(tmp_path, place):
    (tmp_path / "none.txt").touch()
    (tmp_path / "some.txt").write_text("\n".join(TEXTS))
    files = [tmp_path / "some.txt"]
    files.insert(place, tmp_path / "none.txt")
    line = refused(textcritic.criticise, *files, output=tmp_path / "out", **QUICK)
    assert line == f"{tmp_path}/none.txt: there is no document in it"
    assert not [*(tmp_path / "out").rglob("none*")]


def test_a_folder_of_a_file_s_name_is_seen_before_any_work(tmp_path):
    (tmp_path / "table.csv").mkdir()
    for force in (False, True):
        line = refused(textcritic.criticise, CHAINS, CHAINS, output=tmp_path, force=force)
        assert line == f"{tmp_path}/table.csv: cannot be read: Is a directory; choose another `output`"


def test_a_link_that_leads_nowhere_is_somebody_s(tmp_path):
    (tmp_path / "a").symlink_to("nowhere")
    assert "a: cannot be read: No such file" in refused(require_ours, tmp_path / "a", b"", False)
    require_ours(tmp_path / "a", b"", True)


@pytest.mark.parametrize("name", ["file/below", "file/below/it", "x" * 250, "x" * 300, "loop/x"])
def test_a_file_that_cannot_be_written_is_one_line(tmp_path, name):
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop").symlink_to("loop")
    for way in (whole_file, whole_folder):
        with pytest.raises(TextcriticError, match=": cannot be written: "), way(tmp_path / name) as temporary:
            temporary.write_text("x") if way is whole_file else None
    assert ": cannot be written: " in refused(write_text, tmp_path / name, "x")
    result = textcritic.criticise(CHAINS, CHAINS, resamples=20)
    assert ": cannot be written: " in refused(result.report, tmp_path / name)


@pytest.mark.parametrize(
    "words",
    [
        ["show", ""],
        ["chains", "", "x"],
        ["criticise", "x", ""],
        ["criticise", "x", "y", "--control", ""],
        ["importance", "x", "", "--tokens", "3"],
        ["corpus", "docstrings", "--configfile", ""],
        ["annotate", "export", "x", "--out", ""],
        ["annotate", "make", "x", "--configfile", ""],
    ],
)
def test_an_empty_word_is_no_working_directory(capsys, words):
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(": is empty; give a name or a value")


# Errors.


def test_errors_name_a_file_once_whoever_makes_them():
    for given, said in (
        ("a.txt: a.txt: bad", "a.txt: bad"),
        ("a.txt: a.txt:3: bad", "a.txt:3: bad"),
        ("a.txt: a.txt, row 3: bad", "a.txt, row 3: bad"),
        ("/x y/a: b.txt: /x y/a: b.txt:1: bad", "/x y/a: b.txt:1: bad"),
        ("a.txt: a.txt2: bad", "a.txt: a.txt2: bad"),
        ("real: a.txt: bad", "real: a.txt: bad"),
    ):
        assert str(TextcriticError(given)) == said
        assert str(pickle.loads(pickle.dumps(TextcriticError(given)))) == said
    assert first_line(ValueError("wrong field:\n  n_inner is text\n  more")) == "wrong field: n_inner is text"
    assert first_line(ValueError("bad\nmore")) == "bad"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "own"
    train_tokenizer(["the cat sat on the mat"], folder, 300)
    tokenizer = load_tokenizer(folder)
    tiny_model(configs(len(tokenizer), 64, tokenizer.eos_token_id)["gpt2"], 1).save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(
            (name, content)
            for name in ("config.json", "tokenizer.json")
            for content in ("", "[]", "null", '{"a":', "3")
        ),
        ("tokenizer_config.json", "[]"),
        ("model.safetensors", "x"),
        ("generation_config.json", "[]"),
        ("generation_config.json", "null"),
        *(("model.safetensors.index.json", text) for text in ("", "[]", "null", '{"weight_map": 5}')),
        *(("model.safetensors.index.json", f'{{"weight_map": {{"a": {one}}}}}') for one in ("5", "null", '"../x"')),
    ],
)
def test_a_broken_file_of_a_model_is_one_line_that_sends_to_no_rule(tmp_path, model, name, content):
    tokenizer, broken = load_tokenizer(model), tmp_path / "own"
    shutil.copytree(model, broken)
    (broken / name).write_text(content)
    load = load_tokenizer if name.startswith("tokenizer") else lambda folder: load_causal({"folder": folder}, tokenizer)
    line = refused(load, broken)
    assert line.startswith(f"{broken}")
    assert line.count(str(broken)) == 1
    assert "rule" not in line
    assert any(words in line for words in ("copy", "save", "no such file"))


@pytest.mark.parametrize(("key", "value"), [("n_inner", "x"), ("use_cache", 3), ("eos_token_id", {}), ("n_head", 0)])
def test_a_field_of_a_configuration_that_is_wrong_is_no_traceback(tmp_path, model, key, value):
    tokenizer, broken = load_tokenizer(model), tmp_path / "own"
    shutil.copytree(model, broken)
    config = json.loads((broken / "config.json").read_text())
    (broken / "config.json").write_text(json.dumps(config | {key: value}))
    line = refused(load_causal, {"folder": broken}, tokenizer)
    assert f"{broken}: no model can be loaded from it: " in line
    assert ":; copy it again" not in line


def test_a_file_is_no_model(tmp_path):
    (tmp_path / "model").write_text("x")
    line = refused(textcritic.criticise, ARTICLES, model=str(tmp_path / "model"), output=tmp_path / "out")
    assert line == f"--model {tmp_path}/model: is a file; give the folder of a model saved with save_pretrained"


# Intervals.


def nulls(value):
    """Whether an interval is not there."""
    return value is None or value == [None, None]


def intervals(said):
    """Each interval of an object, however deep, with its reason."""
    if isinstance(said, dict):
        if "ci95" in said:
            both = said["ci95"], said["ci95_reason"]
            yield from zip(*(one.values() for one in both), strict=True) if isinstance(both[0], dict) else [both]
        for one in said.values():
            yield from intervals(one)


@pytest.mark.parametrize("samples", [TEXTS[:8], TEXTS[:1] * 30, TEXTS], ids=["few", "alike", "many"])
def test_each_interval_or_its_reason(samples):
    quick = {"resamples": 20, "starts": 1, "iterations": 20}
    mentions = [{"mentions": [".", f"he:{n % 3}", "MALE:3"]} for n in range(len(samples))]
    results = [
        textcritic.topics(TEXTS, samples, num_topics=2, minimum_count=1, **quick),
        textcritic.mixing(TEXTS, samples, topics=2, **quick),
        textcritic.coreference(mentions * 5, mentions, resamples=20),
        textcritic.chains(CHAINS, [list("abc"[: 1 + n % 3]) for n in range(len(samples))], resamples=20),
    ]
    for result in results:
        found = list(intervals(json.loads(result.to_json())))
        assert found
        for interval, reason in found:
            assert (reason is not None) is nulls(interval)
            assert reason != ""


def test_the_reason_is_printed():
    same = textcritic.chains(CHAINS, [list("abc")] * 25, resamples=20)
    line = "test, Latent PPL: no interval, as all documents have the same value"
    assert line in repr(same).splitlines()
    assert line in same._repr_html_()
    assert "no interval" not in repr(textcritic.chains(CHAINS, CHAINS, resamples=20))
    assert "no interval" not in repr(textcritic.chains(CHAINS, CHAINS[:5], resamples=20))  # the table says n = 5


@pytest.mark.skipif(
    os.geteuid() != 0 or not os.path.ismount("/proc"), reason="only root is refused in /proc by its kind"
)
def test_root_cannot_write_everywhere(tmp_path):
    line = refused(textcritic.criticise, CHAINS, CHAINS, output="/proc/of-textcritic")
    assert line.startswith("output: /proc/of-textcritic: cannot be used for results: ")
    assert np.isfinite(textcritic.criticise(CHAINS, CHAINS, output=tmp_path, resamples=20).scores[0].value)
