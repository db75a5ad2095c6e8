"""`textcritic install`: what it finds missing, and what it says where it cannot go on."""

import shutil
import subprocess
import sys
import sysconfig

import pytest

from textcritic.cli import main
from textcritic.errors import TextcriticError
from textcritic.place import workflow_folder
from textcritic.workflow import install as module
from textcritic.workflow.install import install, require_compiler


@pytest.fixture
def locks(tmp_path, monkeypatch):
    """A folder for locks; what pip is asked for is kept, and nothing is installed."""
    asked = []
    monkeypatch.setattr(module, "workflow_folder", lambda: tmp_path)
    monkeypatch.setattr(module, "_pip", lambda name, lines: asked.append((name, lines)))
    return tmp_path, asked


def test_only_what_is_missing_or_of_another_version_is_installed(locks):
    folder, asked = locks
    there = f"pytest=={pytest.__version__}"
    (folder / "requirements-some.lock").write_text(f"# a comment\n{there}\nnumpy==0.1  # old\nabsent-package==1.0\n")
    assert install("some") == "some: installed numpy==0.1, absent-package==1.0"
    assert asked == [("some", ["numpy==0.1", "absent-package==1.0"])]


def test_what_is_there_is_left_alone(locks):
    folder, asked = locks
    (folder / "requirements-some.lock").write_text(f"pytest=={pytest.__version__}\n")
    assert install("some") == "some: all 1 packages are there already"
    assert asked == []


def test_an_unknown_name_is_told_with_a_close_one(capsys):
    assert main(["install", "fairsec"]) == 2
    assert "nothing that is called 'fairsec'; did you mean 'fairseq'?" in capsys.readouterr().err


def test_without_a_compiler_nothing_is_begun(locks, monkeypatch, tmp_path):
    folder, asked = locks
    (folder / "requirements-fairseq.lock").write_text("fairseq==0.0.0\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(TextcriticError, match=r"a C\+\+ compiler cannot be found; install g\+\+ and Python's headers"):
        install("fairseq")
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(TextcriticError, match=r"a C\+\+ compiler and Python's headers cannot be found"):
        install("fairseq")
    assert asked == []


def test_a_compiler_that_is_named_counts(monkeypatch, tmp_path):
    compiler = tmp_path / "my-c++"
    compiler.write_text("#!/bin/sh\n")
    compiler.chmod(0o755)
    (tmp_path / "Python.h").touch()
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CXX", "my-c++ -O2")
    require_compiler()


def test_a_fault_of_pip_is_one_line(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "workflow_folder", lambda: tmp_path)
    (tmp_path / "requirements-some.lock").write_text("no-such-package==\n")
    with pytest.raises(TextcriticError, match="some: pip could not install no-such-package==; see the lines above"):
        install("some")


def extras(folder, install):
    """What tests/extras.sh prints in a shell that finds `install` in place of `textcritic`, and no other program."""
    (folder / "textcritic").write_text(f"#!/bin/sh\n{install}\n")
    (folder / "textcritic").chmod(0o755)
    for name in ("cat", "grep", "mktemp", "rm", "tail"):
        (folder / name).symlink_to(shutil.which(name))
    run = subprocess.run(
        [shutil.which("bash"), workflow_folder() / "tests/extras.sh"],
        env={"PATH": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.splitlines()


def test_what_the_tests_cannot_have_is_a_line_each_and_no_error(tmp_path):
    pip = "echo 'ERROR: No matching distribution found for it' >&2; echo 'textcritic: see the lines above'; exit 2"
    reason = "its tests are skipped: ERROR: No matching distribution found for it"
    *packages, chromium = extras(tmp_path, pip)
    assert packages == [f"no fairseq, {reason}", f"no mauve, {reason}"]
    assert chromium.startswith("no Chromium, its tests are skipped: ")


def test_without_an_error_of_pip_the_reason_is_the_last_line(tmp_path):
    fairseq, _, _ = extras(tmp_path, "echo first; echo 'textcritic: a compiler cannot be found'; exit 2")
    assert fairseq == "no fairseq, its tests are skipped: textcritic: a compiler cannot be found"


def test_what_the_tests_have_is_said(tmp_path):
    packages = extras(tmp_path, 'echo "$2: all packages are there already"')[:2]
    assert packages == [f"{name}: all packages are there already" for name in ("fairseq", "mauve")]


def test_the_lock_of_fairseq_is_that_of_its_environment():
    folder = workflow_folder()
    lines = (folder / "requirements-fairseq.lock").read_text().splitlines()
    locked = {line for line in lines if not line.startswith("#")}
    environment = (folder / "envs/fairseq.yaml").read_text()
    deployed = (folder / "envs/fairseq.post-deploy.sh").read_text()
    assert {line for line in locked if f"- {line}\n" in environment} == locked - {"fairseq==0.12.2"}
    assert "--no-deps fairseq==0.12.2" in deployed


def test_fairseq_is_imported_by_no_module_of_ours_at_once():
    code = (
        "import textcritic.generators.fairseq.train, textcritic.generators.fairseq.score, sys\n"
        "assert 'fairseq' not in sys.modules and 'hydra' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_lock_of_mauve_is_that_of_its_environment_and_extra():
    folder = workflow_folder()
    lines = (folder / "requirements-mauve.lock").read_text().splitlines()
    locked = {line for line in lines if not line.startswith("#")}
    assert all(f"- {line}\n" in (folder / "envs/mauve.yaml").read_text() for line in locked)
    assert {line.partition("==")[0] for line in locked} == {"mauve-text", "faiss-cpu"}


def test_mauve_is_imported_by_no_module_of_ours_at_once():
    code = "import textcritic.critics.mauve, sys\nassert not {'mauve', 'faiss', 'torch'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
