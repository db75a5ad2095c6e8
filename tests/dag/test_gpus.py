"""How many GPUs the jobs of a model ask for that is trained on several."""

import re
import subprocess
import sys

import pytest
import yaml
from snake import ROOT, dry_run

SAMPLE = "results/samples/docstrings/w-title/gpt2-xl/seed1/demo/draw1.parquet"
MEASURED = "results/generators/docstrings/w-title/gpt2-xl/seed1/perplexity.json"


def asked_by_rule(tmp_path, *options):
    """Resources of each rule's job, as a dry run prints them."""
    done = dry_run(tmp_path, "--dry-run", *options, "--", SAMPLE, MEASURED)
    assert done.returncode == 0, done.stderr
    return {
        rule: dict(re.findall(r"(\w+)=([\w:]+)", resources))
        for rule, resources in re.findall(
            r"^rule (\w+):\n(?: {4}.*\n)*? {4}resources: (.*)$", done.stdout, re.MULTILINE
        )
    }


@pytest.mark.parametrize(("options", "for_training"), [((), "4"), (("--resources", "gpu=1"), "1")])
def test_only_training_asks_for_more_than_one_gpu(options, for_training, tmp_path):
    """A machine with fewer, as its profile says, trains on those it has."""
    asked = asked_by_rule(tmp_path, *options)
    assert asked["train_causal"]["gpu"] == for_training
    assert asked["train_causal"]["nodes"] == "1"
    assert asked["measure_perplexity"]["gpu"] == asked["sample_causal"]["gpu"] == "1"


@pytest.fixture(scope="module")
def block():
    """What is put into a profile where only --gres is taken, as a command prints it."""
    command = [sys.executable, "-m", "textcritic.workflow.gres"]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def test_the_block_for_gres_has_every_rule_that_says_gpu(block):
    """Read off the text of the rule files here, off Snakemake's rules there; `use rule` takes over the rest."""
    said, base = set(), {}
    for path in (ROOT / "rules").glob("*.smk"):
        for head, body in re.findall(r"^ *((?:use )?rule [\w ]+):\n((?:(?: .*)?\n)*)", path.read_text(), re.MULTILINE):
            name = head.removesuffix(" with").split()[-1]
            base |= {name: head.split()[2]} if head.startswith("use") else {}
            said |= {name} if re.search(r"^ +gpu=", body, re.MULTILINE) else set()
    inherited = {name for name, other in base.items() if other in said}
    assert set(yaml.safe_load(block)["set-resources"]) == said | inherited
    assert len(said | inherited) > 30
    assert "set-resources" not in yaml.safe_load((ROOT / "profiles/slurm/profile.yaml").read_text())


def test_where_only_gres_is_taken_training_still_gets_its_gpus(block, tmp_path):
    (tmp_path / "profile.yaml").write_text(block)
    asked = asked_by_rule(tmp_path, "--profile", tmp_path)
    assert (asked["train_causal"]["gpu"], asked["train_causal"]["gres"]) == ("0", "gpu:4")
    assert (asked["sample_causal"]["gpu"], asked["sample_causal"]["gres"]) == ("0", "gpu:1")
