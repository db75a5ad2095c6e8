"""The whole workflow on a study of seconds: from JSONL to the report, by Snakemake, as a user runs it."""

import csv
import json
import math
import shutil
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import snake
import yaml

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "micro"))

from recipes import write  # noqa: E402

snakemake = partial(snake.snakemake, configfile="tests/micro/config.yaml")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("micro")
    write(folder)
    run = snakemake(folder)
    assert run.returncode == 0, run.stderr
    return folder


@pytest.fixture
def copy(study, tmp_path):
    """The finished study in a folder that a test may spoil."""
    shutil.copytree(study, tmp_path / "copy", symlinks=True)
    return tmp_path / "copy"


def rows(folder, table="coherence"):
    path = folder / f"results/studies/micro/tables/{table}.csv"
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def row(folder, **wanted):
    (found,) = [r for r in rows(folder) if all(r[key] == value for key, value in wanted.items())]
    return found


def test_the_gold_row_equals_a_plain_loop_over_the_articles(study):
    """An independent computation from the Parquet files: counts, delta on validation, Latent PPL on test."""

    def chains(split):
        table = pq.read_table(study / f"results/corpora/recipes/{split}.parquet")
        return [[s["title"] for s in sections] for sections in table["sections"].to_pylist()]

    def ppl(counts, totals, delta, num_titles, documents):
        total, steps = 0.0, 0
        for chain in documents:
            for i, j in zip(["^", *chain], [*chain, "$"], strict=True):
                total -= math.log((counts[i, j] + delta) / (totals[i] + delta * (num_titles + 1)))
                steps += 1
        return math.exp(total / steps)

    counts, totals = Counter(), Counter()
    for chain in chains("train"):
        for i, j in zip(["^", *chain], [*chain, "$"], strict=True):
            counts[i, j] += 1
            totals[i] += 1
    num_titles = len({title for chain in chains("train") for title in chain})
    grid = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0]
    delta = min(grid, key=lambda d: ppl(counts, totals, d, num_titles, chains("validation")))
    expected = ppl(counts, totals, delta, num_titles, chains("test"))
    assert float(row(study, source="data-gold")["latent_ppl"]) == pytest.approx(expected, rel=1e-12)


def test_spoilt_order_is_told_from_real_order(study):
    real, theirs = row(study, source="data-inferred"), row(study, generator="theirs")
    assert float(theirs["ci_low"]) > float(real["ci_high"])
    assert float(theirs["p_value"]) <= 2 / 501  # 500 permutations: (b + 1) / (B + 1)


def test_every_drawn_article_is_scored_or_rejected_for_a_reason(study):
    for entry in rows(study):
        if not entry["source"].startswith("data") and entry["generator"] != "theirs":
            counts = json.loads(
                (
                    study
                    / f"results/samples/recipes/{entry['setting']}/{entry['generator']}/seed1/{entry['decoding']}.json"
                ).read_text()
            )
            assert counts["drawn"] == 80
            assert counts["kept"] + sum(counts["rejected"].values()) == 80
            assert int(float(entry["documents"])) + int(float(entry["rejected"])) == 80


def test_outputs_are_all_there(study):
    folder = study / "results/studies/micro"
    names = ["coherence", "perplexity", "decomposition", "transition-errors", "statistics", "audit"]
    for name in names:
        for suffix in ("csv", "tex", "html"):
            assert (folder / "tables" / f"{name}.{suffix}").stat().st_size > 0
    assert list((folder / "figures").glob("*.svg"))
    assert list((folder / "figures").glob("*.pdf"))
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["packages"]["torch"].startswith("2.13.0")
    assert manifest["configuration"]["registry"]["generators"]["gpt2-micro"]["training"]["steps"] == 60
    assert "<html" in (folder / "report.html").read_text(encoding="utf-8")[:500]


def test_a_second_run_has_nothing_to_do(study):
    run = snakemake(study)
    assert run.returncode == 0
    assert "Nothing to be done" in run.stdout + run.stderr


def registry_with(folder, kind, change):
    """A config whose registry of one kind is changed; returns its path."""
    registry = folder / "registry"
    shutil.copytree(ROOT / "tests/micro/registry", registry)
    path = registry / f"{kind}.yaml"
    entries = yaml.safe_load(path.read_text())
    change(entries)
    path.write_text(yaml.safe_dump(entries))
    config = yaml.safe_load((ROOT / "tests/micro/config.yaml").read_text())
    config["registry_folders"] = [str(registry)]
    (folder / "changed.yaml").write_text(yaml.safe_dump(config))
    return folder / "changed.yaml"


def test_a_changed_critic_reruns_from_the_critic_on_and_a_label_nothing(copy):
    changed = registry_with(copy, "critics", lambda e: e["transitions-micro"].update(smoothing=[0.5]))
    run = snakemake(copy, "--dry-run", "--quiet", "rules", configfile=changed)
    assert "fit_transitions" in run.stdout + run.stderr
    assert "train_c" not in run.stdout + run.stderr
    shutil.rmtree(copy / "registry")
    labelled = registry_with(copy, "generators", lambda e: e["gpt2-micro"].update(label="another", threads=2))
    run = snakemake(copy, "--dry-run", configfile=labelled)
    assert "train_causal" not in run.stdout + run.stderr


def test_no_samples_left_is_one_clear_line(copy):
    changed = registry_with(copy, "decodings", lambda e: e["micro"].update(max_tokens=1))
    run = snakemake(copy, configfile=changed)
    assert run.returncode != 0
    assert "error: " in run.stderr
    (line,) = {line for line in run.stderr.splitlines() if "gpt2-micro w-title micro] error:" in line}
    assert "of 80 articles none can be used (no end within 1 tokens: " in line
    assert not (copy / "results/samples/recipes/w-title/gpt2-micro/seed1/micro.parquet").exists()


def test_a_bad_line_of_a_corpus_is_named_and_leaves_nothing(tmp_path):
    write(tmp_path)
    lines = (tmp_path / "recipes.jsonl").read_text().splitlines()
    lines[2] = '{"id": "x", "text": "no sections"}'
    (tmp_path / "recipes.jsonl").write_text("\n".join(lines))
    run = snakemake(tmp_path, "data")
    assert run.returncode != 0
    assert "error: recipes.jsonl:3: " in run.stderr
    assert "Traceback" not in run.stderr
    assert list((tmp_path / "results/corpora").rglob("*.parquet")) == []


def test_a_missing_file_is_named(tmp_path):
    run = snakemake(tmp_path)
    assert run.returncode != 0
    assert "recipes.jsonl" in run.stderr
