"""Every job loads in the conda environment of its rule: with that, and nothing else of the lock, to be imported."""

import json
import re
import subprocess
import sys
from collections import defaultdict
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from report_jobs import Made, description

from textcritic.experiments import KINDS

ROOT = Path(__file__).parents[2]
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
    hide = HIDE.format(hidden=json.dumps(sorted(hidden_from(environment))))
    return subprocess.run([sys.executable, "-c", hide + code], capture_output=True, text=True, check=False, cwd=ROOT)


def scripts_of_environments():
    """The scripts of all rules by the environment they run in."""
    found = defaultdict(set)
    for path in (ROOT / "rules").glob("*.smk"):
        for rule in re.split(r"\nrule ", path.read_text()):
            for script in re.findall(r"scripts/(\w+)\.py", rule):
                found[re.search(r"envs/(\w+)\.yaml", rule)[1]].add(script)
    return found


def imports_of(script):
    """The import lines of a script of the workflow; the rest needs Snakemake's object."""
    text = (ROOT / f"workflow/scripts/{script}.py").read_text()
    return "".join(f"{line}\n" for line in re.findall(r"^(?:from|import) [^\n(]*(?:\([^)]*\))?", text, re.MULTILINE))


def test_what_is_hidden_is_not_there():
    hidden = hidden_from("plot")
    assert {"torch", "transformers", "sklearn", "tokenizers", "nltk", "mwparserfromhell", "snakemake"} <= hidden
    assert not {"numpy", "scipy", "pandas", "jinja2", "markupsafe", "matplotlib", "textcritic"} & hidden
    assert "No module named 'torch'" in run("plot", "import torch").stderr
    assert not {"torch", "transformers", "sklearn"} & hidden_from("gpu")
    companions = {"hydra", "omegaconf", "sacrebleu"} & set(packages_distributions())
    assert companions <= hidden_from("gpu")
    assert not companions & hidden_from("fairseq")


@pytest.mark.parametrize("environment", sorted(scripts_of_environments()))
def test_every_script_loads_in_its_environment(environment):
    scripts = scripts_of_environments()
    assert sum(map(len, scripts.values())) > 30
    done = run(environment, "".join(map(imports_of, sorted(scripts[environment]))))
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def without_torch(tmp_path_factory):
    """Figures, section and report of each kind, made by one process without torch; its folder, and what went wrong."""
    place = tmp_path_factory.mktemp("kinds")
    for kind in KINDS:
        experiment = Made(kind, import_module(f"experiments.{kind}.tiny").tiny(place / kind / "results", documents=20))
        experiment.tables(place / kind / kind / "tables")
        (place / kind / "request.json").write_text(json.dumps(experiment.request()))
        (place / kind / "description.json").write_text(json.dumps(description([kind], [1])))
    code = f"""
import json, traceback
from pathlib import Path
from textcritic.report import make_figures, make_manifest, make_report, make_section

def make(kind):
    root = Path({str(place)!r}) / kind
    place = root / kind
    request = json.loads((root / "request.json").read_text())
    figures = make_figures(request, place / "tables", place / "figures", pdf=kind == {KINDS[0]!r})
    section = place / "section.html"
    make_section(request, place / "tables", [str(place / "figures")], section, place / "section.json")
    make_manifest(json.loads((root / "description.json").read_text()), figures, root / "manifest.json")
    make_report({{kind: section}}, root / "manifest.json", root / "report.html")

faults = {{}}
for kind in {KINDS!r}:
    try:
        make(kind)
    except Exception:
        faults[kind] = traceback.format_exc()
print(json.dumps(faults))
"""
    done = run("plot", code)
    assert done.returncode == 0, done.stderr
    return place, json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("kind", KINDS)
def test_figures_sections_and_the_report_are_made_where_there_is_no_torch(kind, without_torch):
    """What functions import once they are called, too."""
    place, faults = without_torch
    assert kind not in faults, faults[kind]
    assert f'<details class="section" id="{kind}" open>' in (place / kind / "report.html").read_text(encoding="utf-8")


def test_the_workflow_is_configured_in_the_environment_of_the_controller():
    code = (
        "from pathlib import Path\n"
        "from textcritic.plan.project import Project\n"
        f"project = Project({{'studies': ['demo', 'model-criticism']}}, Path({str(ROOT)!r}))\n"
        "project.targets()\n"
        "for name, study in project.studies.items():\n"
        "    project.describe(name)\n"
        "    for experiment in study.experiments.values():\n"
        "        experiment.artefacts(), experiment.figure_folders()\n"
        "        experiment.section_request(), [experiment.request(part) for part in (None, *experiment.parts)]\n"
        "import sys\n"
        "assert not {'numpy', 'pandas', 'pyarrow'} & set(sys.modules), 'slow to start'\n"
    )
    done = run("controller", code)
    assert done.returncode == 0, done.stderr
