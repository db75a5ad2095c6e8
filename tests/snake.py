"""Run the workflow, or only ask what it would do."""

import gc
import hashlib
import os
import subprocess
import sys
import traceback
from functools import cache
from importlib import import_module
from io import StringIO
from pathlib import Path
from tempfile import TemporaryFile
from types import SimpleNamespace

from forks import SNAKEMAKE, forking_python

from textcritic.cli import main as textcritic_main
from textcritic.files import write_json
from textcritic.plan.project import Project
from textcritic.rehearsal.rules import RAN, RECORDS, rules_that_ran

ROOT = Path(__file__).parents[1]


def snakemake(folder, *arguments, configfile, python=None, **environment):
    """Snakemake on two cores in `folder`; the finished process, with its output as text.

    Which of two jobs is begun first is not left to a solver, which costs more than many a job here.

    Args:
        folder: the working directory.
        arguments: of Snakemake.
        configfile: relative to the repository, or absolute.
        python: None: `forking_python`. `sys.executable` where packages must read `environment` when they are imported.
        environment: variables laid over those of this process.
    """
    options = [*_options(folder, configfile), "--cores", "2", "--scheduler", "greedy"]
    run = _process(folder, [*options, *arguments], environment, python)
    if not run.returncode:
        note_rules(Path(folder))
    return run


def note_rules(folder):
    """Keep the names of the rules that have run in a folder, for the end of `make test` (conftest.py)."""
    place = os.environ.get("RULES_RAN")
    if place and any(path.is_file() for path in (folder / RECORDS).rglob("*")):
        ran, kept = rules_that_ran(folder), Path(place) / hashlib.sha256(str(folder).encode()).hexdigest()[:16]
        kept.mkdir(parents=True, exist_ok=True)
        write_json(kept / RAN, ran)


def dry_run(folder, *arguments, configfile=None):
    """What `snakemake` gives for a run that starts no job (`--dry-run`, `--touch`), without its seconds of start-up.

    A forked child calls Snakemake's `main`: it has Snakemake imported already, and what it changes (working directory,
    loggers, modules) ends with it. `--dry-run` is not added: give it, or another option that starts no job.

    To fork beside threads that other tests have started is not always safe: a child that a signal ended has said
    nothing of the workflow, and a process of its own answers in its place.
    """
    arguments = [*_options(folder, configfile), *arguments]
    done = _forked(_loaded(), arguments, folder)
    return _process(folder, arguments, {}) if done.returncode < 0 else done


def planned(folder, *arguments):
    """What `textcritic plan` gives in `folder`, called in a forked child as `dry_run` is."""
    _loaded()
    return _forked(lambda words: sys.exit(textcritic_main(words)), ["plan", *arguments], folder)


def _forked(main, arguments, folder):
    with TemporaryFile("w+") as out, TemporaryFile("w+") as err:
        child = os.fork()
        if not child:
            _become(main, list(map(str, arguments)), folder, out, err)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(arguments, code, out.read(), err.read())


@cache
def _loaded():
    """Snakemake's `main`; what it loads, and the schemas, once for all tests of this process."""
    path = sys.path[:]
    for name in SNAKEMAKE:
        import_module(name)
    sys.path[:] = path  # to which it adds a folder of its own, a relative one
    Project({"studies": ["model-criticism", "beyond-perplexity"]}, ROOT)
    command = sys.modules["snakemake.cli"]
    command.get_argument_parser()  # it looks for its plugins the first time
    _parse_rules_once()
    return command.main


def _parse_rules_once():
    """Let Snakemake take the files of rules as this process has parsed them; a third of a dry run is their tokens."""
    workflow = sys.modules["snakemake.workflow"]
    parse, local = workflow.parse, sys.modules["snakemake.sourcecache"].LocalSourceFile

    def opened(source):
        return StringIO(Path(source.get_path_or_uri(True)).read_text())

    files = SimpleNamespace(sourcecache=SimpleNamespace(open=opened))
    parsed = {}
    for path in map(str, (ROOT / "Snakefile", *(ROOT / "rules").glob("*.smk"))):
        lines = {}
        parsed[path] = (*parse(local(path), files, lines), lines)

    def remembered(source, workflow, linemap, overwrite_shellcmd=None, rulecount=0):
        found = parsed.get(source.get_path_or_uri(True))
        if found is None or overwrite_shellcmd is not None:
            return parse(source, workflow, linemap, overwrite_shellcmd, rulecount)
        code, rules, lines = found  # the number of rules before it would name those without a name; there is none
        linemap |= lines
        return code, rulecount + rules

    workflow.parse = remembered


def _process(folder, arguments, environment, python=None):
    return subprocess.run(
        [python or forking_python(), "-m", "snakemake", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, **environment},
    )


def _options(folder, configfile):
    options = ["--snakefile", ROOT / "Snakefile", "--directory", folder]
    return options + (["--configfile", ROOT / configfile] if configfile else [])


def _become(main, arguments, folder, out, err):
    """End this process with main's exit code, whatever happens: it must never return to the tests."""
    code = 1
    gc.freeze()  # what the tests have made is not looked through for garbage, which would copy it
    try:
        for number, handle in ((1, out), (2, err)):
            os.dup2(handle.fileno(), number)
        sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
        os.chdir(folder)
        main(arguments)
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)
