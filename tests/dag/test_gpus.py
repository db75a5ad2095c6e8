"""How many GPUs the jobs of a model ask for that is trained on several."""

import re

import pytest
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


def test_where_only_gres_is_taken_training_still_gets_its_gpus(tmp_path):
    """By the example in the profile for SLURM."""
    example = re.findall(
        r"^# (set-resources:|  \w+: \{.*\})$", (ROOT / "profiles/slurm/profile.yaml").read_text(), re.MULTILINE
    )
    (tmp_path / "profile.yaml").write_text("\n".join(example))
    asked = asked_by_rule(tmp_path, "--profile", tmp_path)
    assert (asked["train_causal"]["gpu"], asked["train_causal"]["gres"]) == ("0", "gpu:4")
    assert (asked["sample_causal"]["gpu"], asked["sample_causal"]["gres"]) == ("0", "gpu:1")
