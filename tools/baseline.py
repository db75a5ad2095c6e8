"""The tables of a commit, and how those of two commits differ: shows that a change of the code changed no number.

    python tools/baseline.py make before --commit ca39240     # of a commit; a temporary worktree has its code
    python tools/baseline.py make after                       # of this tree
    python tools/baseline.py compare before after --allowed allowed.yaml

`make` runs the micro study (tests/micro) by Snakemake, and each command and Python function of textcritic on small
files (baseline_inputs.py). It keeps CSV tables, section.json, the commands' JSON, and what is printed. Trained models
give the same numbers on the same processor alone: make both folders on one machine.

    python tools/baseline.py make before --commit ca39240 --demo latent-lms-demo --keep WORK
    python tools/baseline.py make after --demo latent-lms-demo --results WORK

The tables of demos, by `textcritic demo`: minutes. `--keep` says where it works, so that its results stay there;
`--results` takes all of them but results/studies, so that only tables, figures and sections are made again.

`compare` reads bytes, then says which columns and keys differ; it ends with 1 if one is not allowed. A file of what is
allowed has a path (`*` holds slashes too), and in it a column, a key (`a.b.0.c`) or one of the words (missing), (new),
(rows), (order of rows), (columns), (lines), (bytes), each with the reason. A key may end with the relative difference
of numbers up to which it is allowed:

    python/criticise-texts*.csv:
      verdict: Python judges a gap of Latent NLL as the report does
      value ~1e-12: sums are added in another order
    commands/*.txt: {"*": sentences come from the card}
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from baseline_compare import COMMIT, WORK, compare
from baseline_inputs import cases, write_inputs

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("micro", "commands", "python")
# `import snake` also starts the jobs as forks of one process, which saves two thirds of the CPU-seconds.
STUDY = """
import sys
sys.path.insert(0, "tests")
import snake
run = snake.snakemake(sys.argv[1], configfile="tests/micro/config.yaml")
sys.stderr.write(run.stderr[-4000:])
sys.exit(run.returncode)
"""


@dataclass(frozen=True, slots=True)
class Checkout:
    """The code of a commit: its folder, and a name for it."""

    folder: Path
    commit: str

    def run(self, *words: Any, cwd: Path | None = None) -> str:
        """What a Python with this code prints; ends this process if it fails."""
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "src")}
        environment["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        environment["NLTK_DATA"] = str(self.folder / "tests/data/nltk_data")
        environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        command = [sys.executable, *map(str, words)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=cwd or self.folder, env=environment
        )
        if done.returncode:
            sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-6000:]}")
        return done.stdout


def make(folder: Path, commit: str | None, only: Sequence[str], demos: Sequence[str], places: "Places") -> None:
    """Make the tables of a commit.

    Args:
        folder: where they go; files that are there already are overwritten.
        commit: None: this tree.
        only: parts of `PARTS`.
        demos: studies of `textcritic demo`; if there is one, these alone are made.
        places: where demos work.
    """
    with _checkout(commit) as checkout, tempfile.TemporaryDirectory(prefix=WORK) as name:
        found = checkout.run("-c", "import textcritic; print(textcritic.__file__)").strip()
        if not Path(found).is_relative_to(checkout.folder):
            sys.exit(f"textcritic is read from {found}, and should be from {checkout.folder}")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / COMMIT).write_text(f"{checkout.commit}\n{_processor()}\n", encoding="utf-8")
        for demo in demos:
            print(f"[{checkout.commit}] textcritic demo {demo}", file=sys.stderr, flush=True)
            _make_demo(checkout, demo, places, Path(name), folder)
        for part in only if not demos else ():
            print(f"[{checkout.commit}] {part}", file=sys.stderr, flush=True)
            work = Path(name) / part
            work.mkdir()
            {"micro": _make_micro, "commands": _run_commands, "python": _call_functions}[part](checkout, work, folder)


@dataclass(frozen=True, slots=True)
class Places:
    """Where demos work (None: a temporary folder), and the work folder of an earlier run whose results are taken."""

    keep: Path | None = None
    results: Path | None = None


def _make_micro(checkout: Checkout, work: Path, out: Path) -> None:
    checkout.run("tests/micro/recipes.py", work)
    checkout.run("-c", STUDY, work)
    _keep_study(work / "results/studies", out / "micro")


def _run_commands(checkout: Checkout, work: Path, out: Path) -> None:
    checkout.run("tests/micro/recipes.py", work)
    write_inputs(work)
    target = out / "commands"
    target.mkdir(exist_ok=True)
    for name, command, words in cases():
        print(f"[{checkout.commit}] textcritic {command}: {name}", file=sys.stderr, flush=True)
        own = ["--output", name] if command == "criticise" else ["--json"]
        printed = checkout.run("-m", "textcritic.cli", command, *words, *own, cwd=work)
        (target / f"{name}.{'txt' if command == 'criticise' else 'json'}").write_text(printed, encoding="utf-8")
        if (work / name / "table.csv").is_file():
            shutil.copy(work / name / "table.csv", target / f"{name}.csv")
        if command == "criticise":
            _keep_study(work / name / "results/studies", target / name)


def _call_functions(checkout: Checkout, work: Path, out: Path) -> None:
    checkout.run("tests/micro/recipes.py", work)
    write_inputs(work)
    (out / "python").mkdir(exist_ok=True)
    checkout.run(ROOT / "tools/baseline_inputs.py", work, (out / "python").resolve(), cwd=work)


def _make_demo(checkout: Checkout, demo: str, places: Places, temporary: Path, out: Path) -> None:
    work = (places.keep or temporary).resolve() / demo
    if places.results is not None:
        (work / "results").mkdir(parents=True)
        earlier = places.results.resolve() / demo / "results"
        for part in (path for path in earlier.iterdir() if path.name != "studies"):
            shutil.copytree(part, work / "results" / part.name, symlinks=True)
    work.mkdir(parents=True, exist_ok=True)
    checkout.run("-m", "textcritic.cli", "demo", demo, "--cores", "2", cwd=work)
    _keep_study(work / "results/studies", out / "demos")


def _keep_study(studies: Path, target: Path) -> None:
    for path in [*studies.rglob("*.csv"), *studies.rglob("section.json")]:
        (target / path.relative_to(studies)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target / path.relative_to(studies))


@contextmanager
def _checkout(commit: str | None) -> Iterator[Checkout]:
    if commit is None:
        changed = " with changes" if _git("status", "--porcelain", "--untracked-files=no") else ""
        yield Checkout(ROOT, _git("rev-parse", "--short=10", "HEAD") + changed)
        return
    with tempfile.TemporaryDirectory(prefix=WORK) as name:
        tree = Path(name).resolve() / "tree"
        _git("worktree", "add", "--detach", "--quiet", str(tree), commit)
        try:
            yield Checkout(tree, _git("rev-parse", "--short=10", commit))
        finally:
            _git("worktree", "remove", "--force", str(tree))


def _git(*words: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if not done.returncode else sys.exit(done.stderr)


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if Path("/proc/cpuinfo").is_file() else []
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown processor")


def main() -> int:
    """Run the command line; see above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make")
    making.add_argument("folder", type=Path)
    making.add_argument("--commit", help="default: this tree")
    making.add_argument("--only", choices=PARTS, nargs="+", default=PARTS)
    making.add_argument("--demo", nargs="+", default=[], metavar="NAME")
    making.add_argument("--keep", type=Path, metavar="FOLDER", help="where demos work")
    making.add_argument("--results", type=Path, metavar="FOLDER", help="an earlier run's --keep")
    comparing = commands.add_parser("compare")
    comparing.add_argument("one", type=Path)
    comparing.add_argument("two", type=Path)
    comparing.add_argument("--allowed", type=Path, metavar="FILE")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that a worktree is removed
    if given.command == "make":
        make(given.folder, given.commit, given.only, given.demo, Places(given.keep, given.results))
        return 0
    allowed = yaml.safe_load(given.allowed.read_text(encoding="utf-8")) if given.allowed else {}
    made = [(folder / COMMIT).read_text(encoding="utf-8").splitlines() for folder in (given.one, given.two)]
    faults, excused = compare(given.one, given.two, allowed or {})
    print(f"{made[0][0]} and {made[1][0]}: {len(faults)} differences, and {len(excused)} that are allowed")
    if made[0][1] != made[1][1]:
        print(f"made on two processors, {made[0][1]} and {made[1][1]}: trained models differ by that alone")
    print(*excused, *(f"NOT ALLOWED {line}" for line in faults), sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
