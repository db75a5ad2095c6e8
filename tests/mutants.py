"""`make mutants`: hands mutmut the mutants that are not checked yet, and says how many tests noticed (docs/testing.md).

Usage: python tests/mutants.py MINUTES [--only PATTERN ...] [--sample N]
"""

import argparse
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from mutmut.stats import status_by_exit_code

FOLDER = Path("mutants/src")
NOTICED = ("killed", "timeout", "segfault", "suspicious", "caught by type check")
SEED = 1


def mutants() -> Iterator[tuple[str, str]]:
    """(name, state) of every mutant that has been made."""
    for path in sorted(FOLDER.rglob("*.meta")):
        for name, code in json.loads(path.read_text())["exit_code_by_key"].items():
            yield name, status_by_exit_code[code]


def unchecked(patterns: list[str], sample: int | None) -> list[str]:
    """The mutants of these names without a verdict, or so many of them, chosen at random."""
    left = ("not checked", "check was interrupted by user")
    names = [name for name, state in mutants() if state in left and any(fnmatch(name, p) for p in patterns)]
    return names if sample is None else random.Random(SEED).sample(names, min(sample, len(names)))


def table() -> str:
    """A line for each module: noticed, survived, reached by no test, not checked."""
    modules: dict[str, Counter[str]] = {}
    for name, state in mutants():
        modules.setdefault(name.rpartition(".")[0].removeprefix("textcritic."), Counter())[state] += 1
    lines = [f"{'module':32}{'noticed':>9}{'survived':>10}{'no tests':>10}{'not checked':>13}"]
    for module, states in modules.items():
        noticed = sum(states[state] for state in NOTICED)
        left = states.total() - noticed - states["survived"] - states["no tests"]
        lines.append(f"{module:32}{noticed:9}{states['survived']:10}{states['no tests']:10}{left:13}")
    return "\n".join(lines)


def main() -> int:
    """Run mutmut for so many minutes, or to its end."""
    parser = argparse.ArgumentParser()
    parser.add_argument("minutes", type=float)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--sample", type=int)
    asked = parser.parse_args()
    names: list[str] = []
    if asked.only or asked.sample is not None:
        if not FOLDER.is_dir():
            print("no mutants yet: run this once without --only and --sample, which makes them", file=sys.stderr)
            return 1
        names = unchecked(asked.only or ["*"], asked.sample)
        if not names:
            print(table())
            return 0
    # SIGINT lets mutmut keep its verdicts; a run goes on where the last one ended.
    run = subprocess.run(["timeout", "--signal=INT", f"{asked.minutes}m", "mutmut", "run", *names], check=False)
    print(table())
    return 0 if run.returncode in (0, 124) else run.returncode


if __name__ == "__main__":
    sys.exit(main())
