"""What a command prints where nobody reads, nothing fits, or the terminal knows ASCII alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import textcritic.commands.chains
from textcritic.cli import main

TRAIN = '{"chain": ["a", "b"]}\n' * 3
# As `main` does with what a command returns, without the imports of any command.
PRINTS = "import sys; from textcritic.cli import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture
def command(tmp_path):
    """A command that prints one line of JSON."""
    path = tmp_path / "chains.jsonl"
    path.write_text(TRAIN)
    return [sys.executable, "-c", PRINTS, "chains", str(path), str(path), "--resamples", "10"]


def test_a_reader_that_has_gone_ends_the_command_quietly(command):
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has it")
def test_a_full_disk_is_one_clear_line(command):
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr == "textcritic: standard output: cannot be written: No space left on device\n"


def test_output_that_is_closed_is_one_clear_line(command):
    ended = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command], stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 2
    assert (
        ended.stderr
        == "textcritic: standard output is closed, so nothing can be printed; redirect the output to a file\n"
    )


def test_a_terminal_of_ascii_gets_characters_that_it_has():
    code = "from textcritic.commands.output import print_text; print_text('3.33\u20133.98 \u221e \u03bb \u2212\u00bd')"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout == "3.33-3.98 inf ? -?\n"


def test_memory_that_is_not_enough_is_one_clear_line(monkeypatch, capsys):
    def too_much(arguments):
        raise MemoryError("Unable to allocate 7.28 TiB")

    monkeypatch.setattr(textcritic.commands.chains, "_run", too_much)
    assert main(["chains", "a", "b"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("textcritic: out of memory (Unable to allocate 7.28 TiB); ")
    assert said.count("\n") == 1


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5", "\u0663", "10000001", "1" + "0" * 12, "9" * 16, "9" * 5000])
def test_whole_numbers(number, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["chains", "a", "b", "--resamples", number])
    assert stopped.value.code == 2
    assert "is not a whole number from 1" in capsys.readouterr().err
