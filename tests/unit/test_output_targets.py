"""Files that are not ours: whatever a command is told to write to is filled, and stays what it is."""

import argparse
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from annotation.campaigns import made_campaign
from annotation.test_exchange import WRITTEN

from textcritic.cli import _parser, main

KNOWN = {
    ("criticise", "--output"),
    ("annotate export", "--out"),
    ("annotate import", "--out"),
    ("annotate screens", "--out"),
}
OPTIONS = {"--output", "--out", "--report"}
NOBODY = 65534
ROOT = os.geteuid() == 0


def options_of(parser: argparse.ArgumentParser, words: str = "") -> set[tuple[str, str]]:
    """Every option that names a target of a command, with the command."""
    found = {(words, flag) for action in parser._actions for flag in action.option_strings if flag in OPTIONS}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, one in {id(one): (name, one) for name, one in reversed(action.choices.items())}.values():
                found |= options_of(one, f"{words} {name}".strip())
    return found


def test_every_option_that_names_a_target_is_tried_here():
    # A rehearsal writes into a folder of its own, and refuses one that has anything else (test_rehearsal).
    assert options_of(_parser()) == KNOWN | {("rehearse", "--output")}


class Target:
    """A place of one kind, and what has come to be in it."""

    def __init__(self, kind: str, path: Path) -> None:
        self.kind, self.path, self.behind, self.read = kind, path, path.with_name(f"{path.name}.behind"), b""
        self.thread = None
        path.parent.mkdir(parents=True, exist_ok=True)
        getattr(self, f"_{kind}")()
        self.before = self.now()

    def now(self):
        """Type, mode and owner, of a link and of what is behind it."""
        return [(s.st_mode, s.st_uid, s.st_gid) for s in (self.path.lstat(), *(self._file() and [self._file().stat()]))]

    def _file(self):
        return self.behind if self.kind in ("link", "chain") else ()

    def _device(self):
        if not ROOT:
            pytest.skip("only root makes devices")
        os.mknod(self.path, stat.S_IFCHR | 0o666, os.makedev(1, 3))  # as /dev/null

    def _pipe(self):
        os.mkfifo(self.path)
        self._reader(lambda: self.path.open("rb"))

    def _link(self):
        self.behind.write_text("before")
        self.path.symlink_to(self.behind.name)

    def _chain(self):
        middle = self.path.with_name(f"{self.path.name}.middle")
        middle.symlink_to(self.behind.absolute())
        self.path.symlink_to(middle)
        self.behind.write_text("before")

    def _plain(self):
        self.path.write_text("before")
        self.path.chmod(0o604)
        if ROOT:
            os.chown(self.path, NOBODY, NOBODY)

    def _reader(self, opened):
        def read():
            with opened() as pipe:
                self.read = pipe.read()

        self.thread = threading.Thread(target=read, daemon=True)
        self.thread.start()

    def content(self) -> str:
        """What was written, after a look that the place is as it was."""
        assert self.now() == self.before
        if self.kind == "device":
            return ""
        if self.thread is not None:
            self.thread.join(10)
            return self.read.decode()
        return self.path.read_text()


KINDS = ("device", "pipe", "link", "chain", "plain")


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    folder = tmp_path_factory.mktemp("campaign")
    made_campaign(folder)
    return folder


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_an_export(kind, suffix, campaign, tmp_path, monkeypatch):
    monkeypatch.chdir(campaign)
    target = Target(kind, tmp_path / f"answers.{suffix}")
    assert main(["annotate", "export", "test", "--out", str(target.path)]) == 0
    assert len(target.content().splitlines()) == (kind != "device")
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".tmp")]


@pytest.mark.parametrize("kind", KINDS)
def test_an_import(kind, tmp_path):
    target = Target(kind, tmp_path / "out" / "answers.jsonl")
    read = str(WRITTEN / "potato")
    assert main(["annotate", "import", read, "--format", "potato", "--out", str(target.path)]) == 0
    assert bool(target.content()) == (kind != "device")
    assert not [path for path in target.path.parent.iterdir() if path.name.endswith(".tmp")]


def test_an_import_to_standard_output_is_all_that_is_there(capfd):
    read = str(WRITTEN / "potato")
    assert main(["annotate", "import", read, "--format", "potato", "--out", "-"]) == 0
    out, said = capfd.readouterr()
    assert lines_of(out) > 1
    assert "answers" in said


def test_a_format_of_several_files_is_not_printed(campaign, monkeypatch, capsys):
    monkeypatch.chdir(campaign)
    assert main(["annotate", "export", "test", "--format", "potato", "--out", "-"]) == 2
    assert "--out -: this format is several files" in capsys.readouterr().err


def lines_of(text: str) -> int:
    """How many lines of JSON, and nothing else."""
    return len([json.loads(line) for line in text.splitlines()])


@pytest.mark.parametrize("name", ["-", "/dev/fd/1", "/proc/self/fd/1", "stdout"])
def test_an_export_to_standard_output_is_all_that_is_there(name, campaign, tmp_path):
    """Also where it is a file that others write to, before and after."""
    if name == "stdout":  # as /dev/stdout is; never that one, which a fault would replace
        (tmp_path / name).symlink_to("/proc/self/fd/1")
        name = str(tmp_path / name)
    file, words = tmp_path / "answers.jsonl", f"{sys.executable} -m textcritic.cli annotate export test --out {name}"
    shell = f'echo "{{}}" > {file}; ({words}; echo "[]") >> {file}'
    both = subprocess.run(shell, shell=True, cwd=campaign, capture_output=True, check=True)
    assert lines_of(file.read_text()) == 3
    assert both.stdout == b""
    assert b"0 answers" in both.stderr


def test_an_export_into_a_program_and_to_one_that_has_gone(campaign, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(campaign)
    reader, writer = os.pipe()
    assert main(["annotate", "export", "test", "--out", f"/dev/fd/{writer}"]) == 0  # as of `>(wc -l)`
    os.close(writer)
    with os.fdopen(reader) as pipe:
        assert lines_of(pipe.read()) == 1
    reader, writer = os.pipe()
    os.close(reader)
    assert main(["annotate", "export", "test", "--out", f"/dev/fd/{writer}"]) == 141
    os.close(writer)
    assert main(["annotate", "export", "test", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"textcritic: {tmp_path}: cannot be written: Is a directory\n"


@pytest.fixture
def chains(tmp_path):
    path = tmp_path / "chains.jsonl"
    path.write_text('{"chain": ["a", "b"]}\n{"chain": ["b", "a", "b"]}\n' * 20)
    return ["criticise", str(path), str(path), "--resamples", "10"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_files_of_a_folder_of_results(kind, chains, tmp_path):
    folder = tmp_path / "out"
    targets = [Target(kind, folder / name) for name in ("table.csv", "report.html")]
    assert main([*chains, "--output", str(folder), "--force"]) == 0
    table, report = (target.content() for target in targets)
    assert (table.startswith("source,"), report.lower().startswith("<!doctype html>")) == (kind != "device",) * 2


@pytest.mark.parametrize("kind", ["device", "pipe", "plain"])
def test_what_is_not_ours_among_results_is_refused_and_not_waited_for(kind, chains, tmp_path, capsys):
    if kind == "pipe":
        (tmp_path / "out").mkdir()
        os.mkfifo(path := tmp_path / "out/table.csv")
    else:
        path = Target(kind, tmp_path / "out/table.csv").path
    assert main([*chains, "--output", str(path.parent)]) == 2
    assert "textcritic did not write this" in capsys.readouterr().err
    assert {one.name for one in path.parent.iterdir()} == {"table.csv"}


@pytest.mark.parametrize("command", ["criticise", "annotate screens"])
@pytest.mark.parametrize("kind", ["device", "plain", "link"])
def test_a_file_is_no_folder_of_results(kind, command, chains, campaign, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(campaign)
    target = Target(kind, tmp_path / "place")
    words = [*chains, "--output"] if command == "criticise" else ["annotate", "screens", "test", "--out"]
    assert main([*words, str(target.path)]) == 2
    assert "cannot be used for results: there is a file of this name" in capsys.readouterr().err
    assert target.content() in ("", "before")


def test_a_link_to_a_folder_of_results_stays(chains, tmp_path):
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("real")
    assert main([*chains, "--output", str(tmp_path / "link")]) == 0
    assert (tmp_path / "link").is_symlink()
    assert {path.name for path in (tmp_path / "real").iterdir()} == {"table.csv", "report.html"}
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o700
