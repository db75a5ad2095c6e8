"""Hostile inputs: a part of the bench (benchmarks/hostile_inputs.py), and each kind of fault that it found."""

import bz2
import gzip
import json
import lzma
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import textcritic
from textcritic.api.documents import documents_of
from textcritic.api.weights import weights_of
from textcritic.cli import main
from textcritic.corpora.readers import jsonl
from textcritic.errors import TextcriticError
from textcritic.measures.card_file import scores_from_json
from textcritic.place import workflow_folder
from textcritic.plan.project import Project, load_configuration
from textcritic.plan.registries import check_name
from textcritic.plan.spec import load_yaml

BENCH = Path(__file__).parents[2] / "benchmarks/hostile_inputs.py"
# Those that cost least; the bench by itself has all.
FAMILIES = ("chains", "coreference", "importance", "votes", "answers", "conll", "conllu", "configuration", "words")


def refused(function, *given, **options):
    with pytest.raises(TextcriticError) as error:
        function(*given, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.fixture(scope="module")
def report():
    only = [word for family in FAMILIES for word in ("--only", family)]
    done = subprocess.run(
        [sys.executable, str(BENCH), "--each", "4", "--seed", "2", "--json", *only],
        stdout=subprocess.PIPE,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        check=False,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("family", FAMILIES)
def test_hostile_inputs_are_answered_or_refused(report, family):
    assert report[family]["bad"] == []
    assert sum(report[family]["counts"].values()) == 4


# Configuration.


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("? [1, 2]\n: 3\n", "line 1: not valid YAML: the key"),
        ("? {a: b}\n: 3\n", "line 1: not valid YAML: the key"),
        ("a: 1\n2: 3\n", "line 2: not valid YAML: the key 2 is not text; put it in quotes"),
        (f"a: {'9' * 5000}\n", "a value that Python cannot hold: Exceeds the limit"),
        ("a: .nan\n", "a: nan should be a finite number"),
        ("a: [-.inf]\n", "a: 0: -inf should be a finite number"),
        ("a: &a [*a]\n", "an anchor holds itself"),
        (
            "a0: &a0 [x, x]\n" + "".join(f"a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 10)}]\n" for n in range(9)),
            "anchors make",
        ),
        ("[" * 3000 + "]" * 3000, "nested too deep"),
    ],
    ids=["list", "mapping", "number", "digits", "nan", "inf", "loop", "bomb", "deep"],
)
def test_yaml_that_python_has_no_value_for(tmp_path, content, says):
    path = tmp_path / "a.yaml"
    path.write_text(content)
    line = refused(load_yaml, path)
    assert line.startswith(str(path))
    assert says in line


def test_tags_of_python_run_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text("studies: !!python/object/apply:os.system ['touch ran']\n")
    assert "could not determine a constructor" in refused(load_configuration, "a.yaml")
    assert not Path("ran").exists()


def test_names_and_packages_of_a_configuration_that_cannot_be(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("broken_kind").mkdir()
    Path("broken_kind/plan.py").write_text("1 / 0\n")
    assert "there is no study" in refused(project_of, {"studies": ["x" * 300]})
    assert "there is no folder" in refused(project_of, {"study_folders": ["x" * 300]})
    assert "a name has 100 letters at most" in refused(check_name, "x" * 300, "registry")
    line = refused(project_of, {"experiment_packages": ["broken_kind"]})
    assert line == "experiment_packages: broken_kind: ZeroDivisionError: division by zero, while it was imported"


def project_of(config):
    return Project(load_configuration(None) | config, workflow_folder(), Path.cwd())


# Files of documents.


def test_what_may_not_be_read_is_one_line(tmp_path, monkeypatch):
    """Root may read everything, so that the system's refusal is made."""

    def denied(self, *_, **__):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    (tmp_path / "folder").mkdir()
    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", denied)
        assert refused(list, documents_of(tmp_path / "a.jsonl", "x", "texts").texts()).endswith(
            "a.jsonl: cannot be read: Permission denied"
        )
    monkeypatch.setattr(Path, "iterdir", denied)
    assert refused(list, documents_of(tmp_path / "folder", "x", "texts").texts()) == (
        f"{tmp_path}/folder: cannot be read: Permission denied"
    )


@pytest.mark.parametrize(
    "about", ['"x"', "3", "{}", '{"config": null}', '{"config": [1]}', '{"config": {"epochs": null}}']
)
def test_a_sample_of_inspect_whose_log_says_nothing_is_read(tmp_path, about):
    path = tmp_path / "a.jsonl"
    sample = '{"id": "s", "epoch": 1, "output": {"completion": "a b"}'
    path.write_text(f'{sample}, "eval": {about}}}\n')
    assert [*documents_of(path, "x", "texts").texts()] == [["a b"]]
    path.write_text(f'{{"eval": {about if about[0] == "{" else "{}"}, "samples": [{sample}}}]}}\n')
    assert [*documents_of(path, "x", "texts").texts()] == [["a b"]]


def test_a_value_nested_deep_is_one_line(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"doc_id": 1, "arguments": {"[" * 700}"é"{"]" * 700}, "resps": [["a"]]}}\n')
    assert "nested too deep" in refused(lambda: list(documents_of(path, "x", "texts").texts()))


@pytest.mark.parametrize(
    ("pack", "name"), [(gzip.compress, "a.jsonl"), (bz2.compress, "a.txt"), (lzma.compress, "a.csv")]
)
def test_a_bomb_is_refused_by_how_much_it_grows(tmp_path, monkeypatch, pack, name):
    monkeypatch.setattr(jsonl, "LONGEST_LINE", 1 << 15)
    path = tmp_path / name
    first = "text\n" if name == "a.csv" else ""
    row = '{"text": "a"}\n' if name == "a.jsonl" else "a\n"
    path.write_bytes(pack((first + row * 40_000).encode()))
    line = refused(lambda: list(documents_of(path, "x", "texts").texts()))
    assert "unpacked it is over 200 times as large as packed" in line
    path.write_bytes(pack((first + row * 2_000).encode()))  # less than a longest line
    assert len([*documents_of(path, "x", "texts").texts()]) == 2_000


# Weights, results, and lines on the terminal.


def test_weights_have_one_answer_however_they_lie_in_memory(tmp_path):
    array = np.random.default_rng(1).normal(-50, 1, (12, 30))
    one, other = (
        textcritic.importance(a, tokens=300, resamples=5, repeats=2) for a in (array, np.asfortranarray(array))
    )
    assert one.to_json() == other.to_json()


def test_tokens_of_a_file_with_a_byte_order_mark_are_all_there(tmp_path):
    path = tmp_path / "tokens.txt"
    path.write_bytes(b"\xef\xbb\xbf" + b"20\r\n30\r\n")
    array = np.full((2, 3), -50.0)
    assert weights_of(array, path).tokens.tolist() == [20, 30]
    for digits in ("2_0", "２０"):
        path.write_text(f"10\n{digits}\n")
        assert "is not a number" in refused(weights_of, array, path)


@pytest.mark.parametrize("change", [{"corpus": 1.5}, {"label": None}, {"n": "x"}, {"p": [1]}, {"x": 1}])
def test_a_card_with_a_value_of_another_type_is_damaged(change):
    score = {"corpus": "c", "label": "l", "measure": "m", "section": "s", "number": {"value": 1}, "real": None}
    assert len(scores_from_json({"card": [score]}, "section.json")) == 1
    assert refused(scores_from_json, {"card": [score | change]}, "section.json").startswith(
        "section.json: no card in it"
    )


def test_an_error_line_has_an_end(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text(json.dumps({"mentions": ["a" * 9000]}) + "\n")
    assert main(["coreference", "a.jsonl", "a.jsonl"]) == 2
    assert len(capsys.readouterr().err.splitlines()[-1]) < 2000
