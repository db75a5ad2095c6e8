"""What `pip install textcritic` gives: a wheel in an environment of its own, its commands called far away."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
import yaml

from textcritic import __version__
from textcritic.corpora import SPLITS, read_articles

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / "tests" / folder) for folder in ("micro", "dag")]

from plan import jobs  # noqa: E402
from recipes import write  # noqa: E402

SHIPPED = ("Snakefile", "rules", "workflow/scripts", "workflow/report", "config", "docs/config", "profiles", "envs")
SHIPPED += ("requirements-catalogues.lock", "requirements-fairseq.lock", "requirements-mauve.lock")
BUILD = (sys.executable, "-m", "hatchling", "build", "--directory")


def run(*command, cwd=None):
    """A command that must succeed, with no path to the checkout in its environment; its stdout."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, cwd=cwd, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel made of an sdist."""
    folder = tmp_path_factory.mktemp("wheel")
    run(*BUILD, folder, "--target", "sdist", cwd=ROOT)
    (sdist,) = folder.glob("*.tar.gz")
    shutil.unpack_archive(sdist, folder / "unpacked")
    (unpacked,) = (folder / "unpacked").iterdir()
    run(*BUILD, folder, "--target", "wheel", cwd=unpacked)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def programs(wheel, tmp_path_factory):
    """The bin folder of an environment with the wheel, and what it needs from the environment of the tests.

    A folder that a .pth file names is searched without its own .pth files, so an editable installation is not seen.
    """
    environment = tmp_path_factory.mktemp("installed") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", environment / "bin/python")
    run(*pip, "install", "--no-deps", "--no-index", wheel)
    return environment / "bin"


@pytest.fixture(scope="module")
def far(tmp_path_factory):
    """A working directory with articles, and the same as chains and as texts, of a real and of another source."""
    folder = tmp_path_factory.mktemp("far away")
    write(folder, articles=80, samples=20)
    for name in ("recipes", "theirs"):
        articles = [json.loads(line)["sections"] for line in (folder / f"{name}.jsonl").read_text().splitlines()]
        chains = [{"chain": [section["title"] for section in sections]} for sections in articles]
        texts = [{"text": " ".join(section["text"] for section in sections)} for sections in articles]
        for kind, lines in (("chains", chains), ("texts", texts)):
            (folder / f"{name}-{kind}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "mine.py").write_text("def words_a_document(document):\n    return len(document.text.split())\n")
    return folder


@pytest.fixture(scope="module")
def textcritic(programs, far):
    """Calls a command of the installed wheel in that directory."""
    return lambda *arguments: run(programs / "textcritic", *arguments, cwd=far)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout")
def test_the_wheel_has_all_of_the_package_and_of_the_workflow(wheel):
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src/textcritic", *SHIPPED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    expected = {
        path.removeprefix("src/") if path.startswith("src/") else f"textcritic/shipped/{path}"
        for path in tracked
        if (ROOT / path).is_file()
    }
    assert len(expected) > 250
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == expected


def test_its_page_is_the_readme_and_every_link_leads_somewhere(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        page = archive.read(name).decode().partition("\n\n")[2]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert page.startswith("# textcritic\n")
    assert page.splitlines()[-1].startswith("Licence: MIT")
    assert len(page.splitlines()) == len(readme.splitlines())
    assert re.findall(r"\]\((?!https?://)[^)]*\)", readme)
    assert not re.findall(r"\]\((?!https?://)[^)]*\)", page)


def test_links_of_the_page_lead_into_the_repository_once_it_has_an_address():
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    readme = "![all](docs/all.svg) [a](docs/a.md#b) [docs/a.md](docs/a.md) [web](https://example.org/x) [up](#up)"
    assert module.package_page(readme, "https://example.org/r", "v1.0") == (
        "![all](https://example.org/r/raw/v1.0/docs/all.svg) [a](https://example.org/r/blob/v1.0/docs/a.md#b)"
        " [docs/a.md](https://example.org/r/blob/v1.0/docs/a.md) [web](https://example.org/x) [up](#up)"
    )
    assert module.package_page(readme, None, "v1.0") == (
        " a (`docs/a.md#b`) `docs/a.md` [web](https://example.org/x) [up](#up)"
    )


def test_the_package_and_the_workflow_are_those_of_the_wheel(programs, far):
    code = "import os, textcritic.workflow as w; print(w.__file__, w.workflow_folder(), os.environ.get('PYTHONPATH'))"
    file, folder, path = run(programs / "python", "-c", code, cwd=far).split()
    assert file.startswith(f"{programs.parent}/")
    assert folder == f"{Path(file).parents[1]}/shipped"
    assert path == "None"


def test_criticise_runs_the_workflow_and_show_prints_it_again(textcritic, far):
    metric = ("--metric", "mine:words_a_document")
    small = ("--minimum-title-count", "2", "--parts", "2", "--num-topics", "2", "--starts", "1", "--splits", "2")
    out = textcritic("criticise", "recipes.jsonl", "theirs.jsonl", *small, *metric)
    assert "words_a_document: theirs.jsonl " in " ".join(out.split())
    study = far / "own-text/results/studies/own-text"
    assert out.splitlines()[-1] == f"report: {study}/report.html"
    assert textcritic("show", study) == out
    # There is no checkout; the version says what made it.
    manifest = json.loads((study / "manifest.json").read_text())
    assert (manifest["textcritic"], manifest["revision"]) == (__version__, None)


def test_chains_topics_and_tendencies(textcritic):
    assert json.loads(textcritic("chains", "--json", "recipes-chains.jsonl", "theirs-chains.jsonl"))["n"] == 20
    topics = ("topics", "--json", "recipes-texts.jsonl", "theirs-texts.jsonl", "--num-topics", "2")
    assert json.loads(textcritic(*topics))["n"] == 20
    tendencies = ("tendencies", "--json", "recipes-texts.jsonl", "theirs-texts.jsonl", "--resamples", "99")
    assert json.loads(textcritic(*tendencies))["samples"]["theirs-texts.jsonl"]["documents"] == 20


def test_demo_would_build_the_demo_study_here(textcritic, far):
    assert textcritic("demo", "--dry-run").startswith("nothing was run")
    assert not (far / "results").exists()


def test_workflow_writes_a_folder_that_snakemake_can_run(programs, textcritic, far):
    assert "snakemake -n" in textcritic("workflow", "my workflow")
    out = run(programs / "python", "-m", "snakemake", "-n", cwd=far / "my workflow")
    found = jobs(out)
    assert (found["train_causal"], found["fit_ngram"], found["make_section"], found["make_report"]) == (1, 1, 2, 1)


def test_corpus_builds_one_of_ones_own_registry(textcritic, far):
    textcritic("workflow", "own")
    entry = yaml.safe_load((far / "own/registry/corpora.yaml").read_text())["my-corpus"]
    entry["options"]["paths"], entry["sections"]["minimum_title_count"] = ["recipes.jsonl"], 2
    (far / "registry").mkdir()
    (far / "registry/corpora.yaml").write_text(yaml.safe_dump({"mine": entry}))
    (far / "mine.yaml").write_text("studies: []\nregistry_folders: [config/registry, registry]\n")
    out = textcritic("corpus", "mine", "--configfile", "mine.yaml", "--cores", "1").splitlines()
    counts = [len(read_articles(far / f"results/corpora/mine/{split}.parquet")) for split in SPLITS]
    assert out[0] == "mine: articles: train {}, validation {}, test {}".format(*counts)
    assert sum(counts) > 70
    assert out[-1] == f"{far}/results/corpora/mine/test.parquet"
    made = {str(path.relative_to(far / "results")) for path in (far / "results").glob("*/*")}
    jobs = {f"{kind}/{rule}" for kind in ("logs", "benchmarks") for rule in ("extract_corpus", "build_corpus")}
    assert made == {"corpora/mine", "digests/corpora"} | jobs
