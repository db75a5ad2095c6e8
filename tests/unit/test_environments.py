"""Every job loads in the conda environment of its rule: with that, and nothing else of the lock, to be imported."""

import re
from collections import defaultdict
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from environments import hidden_from, run

ROOT = Path(__file__).parents[2]


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
