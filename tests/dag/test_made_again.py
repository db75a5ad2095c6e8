"""Before the first job starts, a run says what it makes again and why."""

import json

from snake import dry_run as snakemake

CORPUS = "results/corpora/docstrings"
OF_BUILD = ("train.parquet", "validation.parquet", "test.parquet", "statistics.json")
FILES = ("extracted.parquet", "extracted.json", *OF_BUILD, "overlap.json")


def touched(folder, *options):
    """What a run says that runs no job, but records each as done (`--touch`)."""
    run = snakemake(folder, "--touch", "--cores", "1", *options, "--", f"{CORPUS}/overlap.json")
    assert run.returncode == 0, run.stderr
    return [line for line in run.stderr.splitlines() if line.startswith(("made again", "kept"))]


def test_what_is_made_again_is_said_with_its_cause(tmp_path):
    (tmp_path / CORPUS).mkdir(parents=True)
    for name in FILES:
        (tmp_path / CORPUS / name).write_text("{}")
    configuration = tmp_path / "config.yaml"
    configuration.write_text("studies: []\n")
    options = ("--configfile", configuration)
    touched(tmp_path, *options, "--forceall")
    record = tmp_path / "results/digests/corpora/docstrings/extracted.parquet.json"
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps({"job": "extract_corpus", "code": "0.0.9", "files": {}, "inputs": {}}))
    assert touched(tmp_path, *options) == []
    configuration.write_text("studies: []\nstage_versions: {build: 2}\n")
    assert touched(tmp_path, *options) == [
        "made again: build_corpus (1 job): the version of its stage is 2, and was 1",
        "made again because of these: 1 job of measure_overlap",
        "kept, though other code of textcritic made it: what 1 job wrote; see `textcritic verify`",
    ]
