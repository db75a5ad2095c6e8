"""The command `textcritic install`: packages that a part of the workflow needs and that pip cannot find by itself."""

import importlib
import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from textcritic.errors import TextcriticError, suggestion
from textcritic.place import workflow_folder
from textcritic.workflow.run import stderr_descriptor

BEGIN, END = "requirements-", ".lock"
FAIRSEQ = "fairseq"
COMPILERS = ("c++", "g++", "clang++")


def install(name: str) -> str:
    """Install the exact versions of `requirements-{name}.lock` into the environment of this Python.

    Without their dependencies, which are there or in the lock. What is there in its version is left alone.

    Args:
        name: e.g. `fairseq`, which is built from source.

    Returns:
        What was done, in words.

    Raises:
        TextcriticError: no such lock; no compiler where one is needed; or pip failed, as stderr says.
    """
    lines = _lock(name)
    missing = [line for line in lines if _installed(line.partition("==")[0]) != line.partition("==")[2]]
    if not missing:
        return f"{name}: all {len(lines)} packages are there already"
    builds = any(line.startswith(f"{FAIRSEQ}==") for line in missing)
    if builds:
        require_compiler()
    _pip(name, missing)
    importlib.invalidate_caches()
    if builds:
        _try_fairseq()
    return f"{name}: installed {', '.join(missing)}"


def require_compiler() -> None:
    """See that extensions of Python can be built.

    Raises:
        TextcriticError: there is no C++ compiler, or Python's headers are missing.
    """
    named = (os.environ.get("CXX"), sysconfig.get_config_var("CXX"))
    candidates = [given.split()[0] for given in named if given and given.strip()]
    lacks = [] if any(map(shutil.which, (*candidates, *COMPILERS))) else ["a C++ compiler"]
    if not (Path(sysconfig.get_path("include")) / "Python.h").is_file():
        lacks.append("Python's headers")
    if lacks:
        raise TextcriticError(
            f"fairseq is built from source, and {' and '.join(lacks)} cannot be found; install g++ and Python's"
            " headers, on Debian and Ubuntu by `apt-get install g++ python3-dev`, and run this again"
        )


def _lock(name: str) -> list[str]:
    """The lines of a lock: `package==version`."""
    paths = {path.name[len(BEGIN) : -len(END)]: path for path in workflow_folder().glob(f"{BEGIN}*{END}")}
    if name not in paths:
        hint = suggestion(name, paths, f"known are {', '.join(sorted(paths))}")
        raise TextcriticError(f"install: there is nothing that is called {name!r}; {hint}")
    lines = (line.partition("#")[0].strip() for line in paths[name].read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line]


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _pip(name: str, lines: list[str]) -> None:
    if find_spec("pip") is None:
        raise TextcriticError(
            f"{name}: {sys.executable} has no pip; install without dependencies, by whatever installs packages for it:"
            f" {' '.join(lines)}"
        )
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-deps", *lines]
    if subprocess.run(command, stdout=stderr_descriptor(), check=False).returncode:
        raise TextcriticError(f"{name}: pip could not install {' '.join(lines)}; see the lines above")


def _try_fairseq() -> None:
    """Import fairseq once, in a separate process."""
    code = "from textcritic.generators.fairseq.shim import load_fairseq; load_fairseq()"
    path = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise TextcriticError(f"fairseq was installed and cannot be imported: {last}")
