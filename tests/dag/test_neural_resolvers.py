"""Resolvers that are pretrained models: their jobs ask for a GPU and for the pinned model, those of rules do not."""

import re

from plan import jobs, planned, snakemake

SAMPLE = "docstrings/samples/wo-title/ngram-3/seed1/demo/draw1.parquet"


def test_jobs_of_pretrained_resolvers(tmp_path):
    wanted = ("f-coref/docstrings/data/test.parquet", f"lingmess-films/{SAMPLE}", f"persons/{SAMPLE}")
    run = snakemake(tmp_path, "--dry-run", "--", *(f"results/mentions/{path}" for path in wanted))
    assert run.returncode == 0, run.stderr + run.stdout
    asked = {(rule, w.get("resolver")): r for rule, w, r in planned(run.stdout) if "mentions" in rule}
    assert asked.keys() == {
        ("infer_data_mentions", "f-coref"),
        ("infer_sample_mentions", "lingmess-films"),
        ("resolve_sample_mentions", "persons"),
    }
    assert [r.get("gpu") for r in asked.values()].count("1") == 2
    assert "gpu" not in asked["resolve_sample_mentions", "persons"]
    assert jobs(run.stdout)["download_model"] == 2
    inputs = dict(re.findall(r"rule (\w+_mentions):\n {4}input: (.*)", run.stdout))
    assert inputs["infer_data_mentions"].endswith("results/raw/hub/f-coref")
    assert inputs["infer_sample_mentions"].endswith("results/raw/hub/lingmess-coref")
