"""Pages of the manual that are run: their files are written and their commands called, in order, in an empty folder.

A file is a block of code behind a line with its name, "`make.py`:". A block `console` has commands, each behind "$ ",
and what they print on stdout; the folder stands as `...` in it, which matches anything. There are the recipes of
`tests/micro` (recipes.jsonl) and logs of lm-evaluation-harness (tests/data/lm_eval) to begin with.

`python tests/page_runner.py docs/tutorial.md` runs a page in a new folder, puts what was printed into the page, and
says where the folder is: pictures of its report are taken by hand, with a browser.
"""

import doctest
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from forks import forking_python

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests/micro"))

from recipes import write  # noqa: E402

FILE = re.compile(r"^`([\w./-]+)`:\n\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Ran(NamedTuple):
    """A command of a page: what it should print, and what it printed."""

    command: str
    shown: str
    printed: str

    def agrees(self) -> bool:
        """Whether it printed what the page shows; a number may differ by one in its last digit, as processors do."""
        same = partial(doctest.OutputChecker().check_output, optionflags=doctest.ELLIPSIS)
        if same(self.shown, self.printed):
            return True
        numbers = [NUMBER.findall(text) for text in (self.shown, self.printed)]
        near = len(numbers[0]) == len(numbers[1]) and all(map(_near, *numbers))
        return near and same(NUMBER.sub("#", self.shown), NUMBER.sub("#", self.printed))


def _near(shown: str, printed: str) -> bool:
    """Whether two numbers are equal, or at most one apart in the last of their digits behind the point."""
    places = len(shown.partition(".")[2])
    near = abs(float(shown) - float(printed)) < (1.5 * 10**-places if places else 0.5)
    return near and places == len(printed.partition(".")[2])


def run_page(page: Path, folder: Path) -> Iterator[Ran]:
    """Run a page; `python` and `textcritic` are those of the tests, whose processes are forked.

    Raises:
        AssertionError: a command failed; with its errors.
    """
    write(folder)
    for log in (ROOT / "tests/data/lm_eval").glob("*.jsonl"):
        shutil.copy(log, folder)
    programs = folder / "bin"
    programs.mkdir()
    for name, module in (("python", ""), ("textcritic", "-m textcritic.cli ")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{forking_python()}" {module}"$@"\n')
        (programs / name).chmod(0o755)
    environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "COLUMNS": "100"}
    text = page.read_text(encoding="utf-8")
    for block in sorted([*FILE.finditer(text), *CONSOLE.finditer(text)], key=lambda found: found.start()):
        if block.re is FILE:
            (folder / block[1]).write_text(block[2], encoding="utf-8")
            continue
        for command, shown in COMMAND.findall(block[1]):
            done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True)
            assert done.returncode == 0, f"{command}\n{done.stderr}"
            yield Ran(command, shown, done.stdout.replace(str(folder.resolve()), "..."))


def main(page: Path) -> None:
    folder = Path(tempfile.mkdtemp())
    text = page.read_text(encoding="utf-8")
    for ran in run_page(page, folder):
        text = text.replace(f"$ {ran.command}\n{ran.shown}", f"$ {ran.command}\n{ran.printed}", 1)
    page.write_text(text, encoding="utf-8")
    print(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
