"""textcritic without its extras: what works, and the line for what does not."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from environments import HIDE
from packaging.requirements import Requirement

from textcritic.errors import TextcriticError
from textcritic.extras import EXTRAS, needing_extras

ROOT = Path(__file__).parents[2]
IMPORTED = {"scikit-learn": "sklearn", "snakemake-executor-plugin-slurm": "snakemake_executor_plugin_slurm"}
RUN = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from textcritic.cli import main
found = []
for words in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as end:
            code = end.code
    found.append([code, out.getvalue(), err.getvalue()])
print(json.dumps([found, sorted({name.partition(".")[0] for name in sys.modules} & hidden)]))
"""


def without(hidden, *commands):
    """Exit code, stdout and stderr of commands in one process that cannot import some packages."""
    code = HIDE.format(hidden=json.dumps(sorted(hidden))) + RUN
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(commands)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found, loaded = json.loads(done.stdout)
    assert loaded == []
    return found


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("light")
    for name, shift in (("real", 0), ("model", 3)):
        rows = [
            {
                "sections": [
                    {"title": title, "text": f"Ann Lee saw {number} cows in {title} {number % 7}. Then she went home."}
                    for title in ("intro", "method", "end")[: 3 - (number + shift) % 4 % 2]
                ]
            }
            for number in range(40)
        ]
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        (folder / f"{name}-chains.jsonl").write_text(
            "".join(json.dumps({"chain": [section["title"] for section in row["sections"]]}) + "\n" for row in rows)
        )
    return folder


def test_each_package_of_an_extra_is_named_with_it():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    declared = {
        IMPORTED.get(name := Requirement(line).name, name): extra
        for extra in ("models", "mixing", "slurm")
        for line in extras[extra]
    }
    assert declared == EXTRAS
    assert extras["all"] == ["textcritic[annotate,mixing,models,slurm]"]


def test_the_core_does_what_it_promises(files):
    """`criticise` of titled articles, chains, tendencies and recitation; topics are left out, and said to be."""
    real, model = (str(files / f"{name}.jsonl") for name in ("real", "model"))
    pairs = ["--resamples", "50"]
    found = without(
        EXTRAS,
        ["criticise", real, model, "--output", str(files / "out"), "--parts", "2", "--measures", "order,recitation"],
        ["chains", str(files / "real-chains.jsonl"), str(files / "model-chains.jsonl"), *pairs],
        ["tendencies", real, model, *pairs],
        ["recitation", real, model, "--train", real, *pairs],
        ["coreference", real, model, "--resolver", "persons", "--parts", "2", *pairs],
        ["criticise", real, model, "--dry-run"],
        ["topics", real, model, "--num-topics", "2"],
        ["criticise", real, model, "--measures", "topics", "--output", str(files / "other")],
        ["demo"],
        ["rehearse", "latent-lms", "--output", str(files / "rehearsed")],
    )
    for code, _, err in found[:6]:
        assert code == 0, err
    planned, topics, asked, *studies = found[5:]
    assert "topics are left out: this needs torch: pip install 'textcritic[models]'" in planned[2]
    assert "order, tendencies, mentions, recitation, sentences, form" in planned[1]
    assert (files / "out/results/studies/own-text/report.html").is_file()
    assert topics[0] == asked[0] == 2
    assert topics[2].splitlines()[-1] == (
        "textcritic: topics: needs torch, which is not installed; run pip install 'textcritic[models]'"
    )
    for name, (code, _, err) in zip(("demo", "rehearse"), studies, strict=True):
        assert (code, err) == (2, f"textcritic: {name}: needs torch: pip install 'textcritic[models]'\n")
    assert not (files / "rehearsed").exists()
    assert asked[2].splitlines()[-1].endswith("measures: topics: this needs torch: pip install 'textcritic[models]'")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            ModuleNotFoundError("No module named 'tomotopy'", name="tomotopy"),
            "mixing: needs tomotopy, which is not installed; run pip install 'textcritic[mixing]'",
        ),
        (
            ImportError("cannot import name '_C' from 'torch'", name="torch._C"),
            "mixing: needs torch, which cannot be loaded (cannot import name '_C' from 'torch'); run pip install"
            " --force-reinstall 'textcritic[models]'",
        ),
        (
            OSError("libtorch_global_deps.so: cannot open shared object file: No such file or directory"),
            "mixing: a library cannot be loaded (libtorch_global_deps.so: cannot open shared object file: No such file"
            " or directory); run pip install --force-reinstall 'textcritic[models]'",
        ),
    ],
)
def test_an_extra_that_is_missing_or_half_installed_is_one_line(error, line):
    with pytest.raises(TextcriticError) as raised, needing_extras("mixing"):
        raise error
    assert str(raised.value) == line


@pytest.mark.parametrize(
    "error",
    [
        ModuleNotFoundError("No module named 'pandas'", name="pandas"),
        ImportError("libtorch.so: failed to map segment from shared object", name="torch._C"),
        OSError("no space left on device"),
    ],
)
def test_other_faults_are_what_they_were(error):
    with pytest.raises(type(error)) as raised, needing_extras("mixing"):
        raise error
    assert raised.value is error
