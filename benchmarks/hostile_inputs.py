"""Hostile inputs over all commands: how many are answered, refused in one line, end in a traceback, or are wrong.

    python benchmarks/hostile_inputs.py --cases 1000            # minutes on one core
    python benchmarks/hostile_inputs.py --only show --cases 60 --verbose

Each case runs in a forked process of its own and in an empty folder, with a limit on time; what it prints and how much
memory it took beyond what was loaded before decide its class. Cases depend on the seed and their number alone.
"""

import argparse
import ctypes
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import hostile_others
from hostile_cases import DOCUMENTS, RAN, REFUSED, SAME, Case, plain_files

ANSWERED, TURNED_DOWN, TRACEBACK, WRONG = "answered", "refused in one line", "traceback", "silently wrong"
SEVERAL, SLOW, LARGE, CODE = "refused in several lines", "too slow", "too much memory", "ran foreign code"
CLASSES = (ANSWERED, TURNED_DOWN, TRACEBACK, WRONG, SEVERAL, SLOW, LARGE, CODE)
SECONDS = 30  # of a core, for a case
SLOW_TO_LOAD = {"criticise", "criticise-articles", "topics", "mixing", "tendencies", "show", "own-measures"}
MOST = 1 << 30  # bytes beyond what is loaded
FAILED = 99  # exit code of an error that nobody caught


@dataclass(frozen=True)
class Outcome:
    """What became of a case: its class, exit code, and what was printed to both streams."""

    name: str
    code: int
    out: str
    err: str


def run_case(case: Case, plain: str | None) -> Outcome:
    """Run a case in a process of its own.

    Args:
        case: to run.
        plain: what the command prints of plain files.
    """
    folder = Path(tempfile.mkdtemp(prefix="hostile-"))
    folder.chmod(0o777)
    work, out, err = folder / "work", folder / "out", folder / "err"
    work.mkdir()
    work.chmod(0o777)
    try:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        process = os.fork()
        if not process:
            _child(case, work, out, err)
        _, status, used = os.wait4(process, 0)
        said, warned = (path.read_text(errors="replace") for path in (out, err))
        code = os.waitstatus_to_exitcode(status)
        name = _class(case, code, said, warned, plain)
        if name in (ANSWERED, TURNED_DOWN) and used.ru_maxrss * 1024 - before > MOST:
            name = LARGE
        return Outcome(CODE if (work / RAN).exists() else name, code, said, warned)
    finally:
        for path in work.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)


def _class(case: Case, code: int, said: str, warned: str, plain: str | None) -> str:
    if code in (-signal.SIGALRM, -signal.SIGPROF):
        return SLOW
    if code not in (0, 2) or "Traceback (most recent call last)" in warned + said:
        return TRACEBACK
    if code == 0:
        different = case.right == SAME and plain is not None and _numbers(said) != _numbers(plain)
        return WRONG if case.right == REFUSED or different else ANSWERED
    if case.right == SAME:
        return WRONG
    *_, last = warned.splitlines() or [""]
    lines = [line for line in warned.splitlines() if line.startswith("textcritic")]
    return TURNED_DOWN if last.startswith("textcritic") and len(last) < 2000 and len(lines) else SEVERAL


def _numbers(said: str) -> Any:
    """What was printed, without times and names of files."""
    try:
        value = json.loads(said)
    except ValueError:
        return None
    value.pop("seconds", None)
    (value.get("fit") or {}).pop("seconds", None)
    return [*value["samples"].values()] if isinstance(value.get("samples"), dict) else value


def _child(case: Case, work: Path, out: Path, err: Path) -> None:
    """Make the files, run the command line, and end; never returns."""
    code = FAILED
    try:
        os.chdir(work)
        for place, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o666), place)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        case.make()
        if case.nobody and os.geteuid() == 0:
            _without_rights()
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.alarm(20 * SECONDS)  # waits for something that never comes
        code = _run(case.words)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:  # all of them are what is counted
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _without_rights() -> None:
    """Give up root's capabilities: files that may not be read by their owner cannot be read from now on."""
    libc = ctypes.CDLL(None, use_errno=True)
    header, none = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    if libc.capset(header, none):
        raise OSError(ctypes.get_errno(), "capset")


def _run(words: list[str]) -> int:
    from textcritic import cli
    from textcritic.errors import TextcriticError

    if words[0] not in (readers := _readers()):
        return cli.main(words)
    try:
        readers[words[0]](words[1])
    except TextcriticError as error:
        print(f"textcritic: {error}", file=sys.stderr)
        return 2 if "\n" not in str(error) else 1
    return 0


def _readers() -> dict[str, Any]:
    """Readers of people's votes and answers, and of mentions, which commands reach in the workflow's jobs only."""
    from textcritic.annotation.answers import read_answers
    from textcritic.corpora.readers.conll import conll_documents
    from textcritic.critics.detectors.votes import read_votes

    return {
        "(votes)": read_votes,
        "(answers)": read_answers,
        "(mentions)": lambda path: list(conll_documents([path])),
    }


def _load(families: list[str] | None) -> None:
    """Load what commands load, so that a case need not; no thread may be started by it."""
    from textcritic.api import chains, coreference, criticise, importance, recitation  # noqa: F401
    from textcritic.plan import project  # noqa: F401

    _readers()
    if families is None or {*families} & SLOW_TO_LOAD:
        import matplotlib
        import torch  # noqa: F401

        from textcritic.api import mixing, tendencies, topics  # noqa: F401
        from textcritic.api.articles import result  # noqa: F401
        from textcritic.report import show  # noqa: F401

        matplotlib.use("agg")


def main() -> None:
    """Run cases and say how many of each class there are; exits with 1 if one is of a class that should not be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cases", type=int, default=1000, help="over all families by their shares (1000)")
    parser.add_argument("--each", type=int, help="in place of that, of each family")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", help="a family; there may be several")
    parser.add_argument("--verbose", action="store_true", help="show what the bad ones printed")
    parser.add_argument("--json", action="store_true", help="print counts and bad cases by family as JSON")
    given = parser.parse_args()
    _load(given.only)
    with tempfile.TemporaryDirectory(prefix="hostile-built-") as folder:
        built = Path(folder) / "out"
        words = ["criticise", "real.jsonl", "model.jsonl", "--measures", "form", "--output", str(built)]
        if given.only is None or "show" in given.only:
            made = run_case(Case("built", [*words, "--resamples", "20"], partial(plain_files, "criticise")), None)
            assert made.name == ANSWERED, made
        report = {}
        for family, (share, draw_case) in hostile_others.families(built).items():
            if not given.only or family in given.only:
                number = given.each or round(share * given.cases)
                report[family] = _family(family, draw_case, number, given)
    counts = sum((Counter(one["counts"]) for one in report.values()), Counter())
    if given.json:
        print(json.dumps(report, indent=1))
    else:
        print(f"{sum(counts.values())} cases: " + ", ".join(f"{name} {counts[name]}" for name in CLASSES))
    sys.exit(any(one["bad"] for one in report.values()))


def _family(family: str, draw_case: Any, number: int, given: argparse.Namespace) -> dict[str, Any]:
    plain = _plain(family)
    counts: Counter[str] = Counter()
    bad = []
    for place in range(number):
        case = draw_case(random.Random(f"{given.seed} {family} {place}"))
        found = run_case(case, plain)
        counts[found.name] += 1
        if found.name not in (ANSWERED, TURNED_DOWN):
            last = (found.err.strip().splitlines() or [""])[-1][:300]
            bad.append({"number": place, "class": found.name, "case": case.name, "words": case.words, "last": last})
            if given.verbose:
                print(f"--- {family} {place}: {found.name}: {case.name}: {' '.join(case.words)!a}", file=sys.stderr)
                print(found.err[-1500:] or found.out[:300], file=sys.stderr)
    if not given.json:
        print(f"{family}: " + ", ".join(f"{name} {counts[name]}" for name in CLASSES if counts[name]), flush=True)
    return {"counts": dict(counts), "bad": bad}


def _plain(family: str) -> str | None:
    """What a command prints of files that are not hostile."""
    if family == "importance":
        case = Case("plain", hostile_others.TRIED, partial(hostile_others._weights, hostile_others.WEIGHTS))
    elif family in DOCUMENTS and not family.startswith("criticise"):
        words = [family, "real.jsonl", "model.jsonl", *DOCUMENTS[family][1]]
        case = Case("plain", words, partial(plain_files, family))
    else:
        return None
    found = run_case(case, None)
    assert found.name == ANSWERED, found
    return found.out


if __name__ == "__main__":
    main()
