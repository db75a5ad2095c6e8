"""A process that has the packages of one of the conda environments alone."""

import json
import re
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
OTHER_NAMES = {"matplotlib-base": "matplotlib", "snakemake-minimal": "snakemake"}
# In place of the finder of installed packages: those that are hidden are not found, as if they were not there.
HIDE = """
import sys
from importlib.machinery import PathFinder

hidden = set({hidden})

class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in hidden else super().find_spec(name, path, target)

sys.meta_path = [Finder if finder is PathFinder else finder for finder in sys.meta_path]
"""


def locked():
    files = ("requirements.lock", "requirements-fairseq.lock", "requirements-mauve.lock")
    lines = [line for file in files for line in (ROOT / file).read_text().splitlines()]
    return {canonicalize_name(line.split("==")[0]) for line in lines if line and not line.startswith("#")}


def provided(environment):
    """The distributions that an environment asks for, and those that these need."""
    packages = yaml.safe_load((ROOT / f"envs/{environment}.yaml").read_text())["dependencies"]
    pip = [line for item in packages if isinstance(item, dict) for line in item["pip"]]
    waiting = [re.split(r" ?==?", line)[0] for line in [p for p in packages if isinstance(p, str)] + pip]
    found = set()
    while waiting:
        name = canonicalize_name(waiting.pop())
        name = OTHER_NAMES.get(name, name)
        if name in found or name == "python":
            continue
        found.add(name)
        try:
            needed = map(Requirement, distribution(name).requires or [])
        except PackageNotFoundError:  # for another platform or another Python
            continue
        waiting += [r.name for r in needed if r.marker is None or r.marker.evaluate({"extra": ""})]
    return found


@cache
def hidden_from(environment):
    """Top-level names of the locked distributions that an environment does not have."""
    there, absent = provided(environment), locked()
    owners = {name: set(map(canonicalize_name, of)) for name, of in packages_distributions().items()}
    return {name for name, of in owners.items() if of & absent and not of & there}


def run(environment, code):
    """Run code where what the environment of this name lacks cannot be imported; the finished process."""
    hide = HIDE.format(hidden=json.dumps(sorted(hidden_from(environment))))
    return subprocess.run([sys.executable, "-c", hide + code], capture_output=True, text=True, check=False, cwd=ROOT)
