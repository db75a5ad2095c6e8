"""Fine-tuning of pretrained models by Snakemake, offline, from folders put where a download would have put them."""

import json
import shutil
import sys

import pytest
from snake import ROOT, dry_run, snakemake

from textcritic.rehearsal.checkpoints import tiny_bert, tiny_gpt2

sys.path.insert(0, str(ROOT / "tests" / "micro"))

from recipes import write

PIN = {"repository": "nobody/none", "revision": "0" * 40}
TRAINING = {"context": 32, "batch_size": 4, "learning_rate": 5.0e-3, "steps": 40, "evaluate_every": 20}
REGISTRY = {
    "hub": {"gpt2-tiny": PIN, "bert-tiny": PIN},
    "encodings": {"gpt2-tiny": {"tokenizer": {"hub": "gpt2-tiny"}}},
    "generators": {
        "gpt2-tiny": {
            "kind": "causal",
            "encoding": "gpt2-tiny",
            "init": {"hub": "gpt2-tiny"},
            "training": TRAINING | {"activation_checkpointing": True},
            "threads": 2,
            "gpu": 2,
        },
    },
    "classifiers": {
        "bert-tiny": {"init": {"hub": "bert-tiny"}, "training": {"learning_rate": 5.0e-3, "epochs": 4}, "gpu": 1}
    },
}
MODEL = "results/generators/recipes/w-title/gpt2-tiny/seed1"
CLASSIFIER = "results/classifiers/recipes/bert-tiny"
TARGETS = f"{MODEL}/perplexity.json", f"{CLASSIFIER}/accuracy.json"


def run(folder, *arguments, how=snakemake):
    registries = "registry_folders=['tests/micro/registry','registry']"
    return how(folder, *arguments, "--config", registries, configfile="tests/micro/config.yaml")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Recipes, a registry of two pretrained models, and the models by hand in results/raw/hub; trained and measured."""
    folder = tmp_path_factory.mktemp("pretrained")
    write(folder)
    (folder / "registry").mkdir()
    for kind, entries in REGISTRY.items():
        (folder / f"registry/{kind}.yaml").write_text(json.dumps(entries))
    articles = map(json.loads, (folder / "recipes.jsonl").read_text().splitlines())
    texts = [f"{s['title']}: {s['text']}\n\n" for article in articles for s in article["sections"]]
    tiny_gpt2(folder / "results/raw/hub/gpt2-tiny", texts)
    tiny_bert(folder / "results/raw/hub/bert-tiny", texts)
    done = run(folder, *TARGETS)
    assert done.returncode == 0, done.stderr
    assert "download_model" not in done.stderr
    return folder


@pytest.fixture
def copy(study, tmp_path):
    """The study in a folder that a test may spoil."""
    shutil.copytree(study, tmp_path / "copy", symlinks=True)
    return tmp_path / "copy"


def test_pretrained_models_are_fine_tuned_and_measured(study):
    training = json.loads((study / MODEL / "training.json").read_text())
    assert training["processes"] == 2
    assert training["curve"][-1]["validation_loss"] < 0.7 * training["curve"][0]["train_loss"]
    assert json.loads((study / MODEL / "perplexity.json").read_text())["all"]["ppl"] > 1
    log = (study / "results/logs/train_causal/recipes/w-title/gpt2-tiny/seed1.log").read_text()
    assert "validation loss" in log
    report = json.loads((study / CLASSIFIER / "accuracy.json").read_text())
    assert report["test"]["accuracy"] > 0.9
    again = run(study, "--dry-run", *TARGETS, how=dry_run)
    assert "Nothing to be done" in again.stdout + again.stderr


def test_a_folder_that_is_not_whole_is_one_line(copy):
    for trained in (MODEL, CLASSIFIER):
        shutil.rmtree(copy / trained)
    hub = copy / "results/raw/hub"
    shard = sorted((hub / "gpt2-tiny").glob("model-*.safetensors"))[1]
    shard.write_bytes(shard.read_bytes()[:100])
    (hub / "bert-tiny/vocab.txt").write_text("")
    done = run(copy, "--keep-going", *TARGETS)
    assert done.returncode == 1
    faults = [line for line in done.stderr.splitlines() if "] error: " in line]
    assert any(f"{shard.name}: not a whole safetensors file" in line for line in faults), done.stderr
    assert any("bert-tiny: holds no tokenizer" in line for line in faults), done.stderr
    assert "Traceback" not in done.stderr
    assert not (copy / MODEL / "model").exists()


def test_gpus_that_cannot_share_a_batch_are_refused_before_anything_runs(copy):
    entry = REGISTRY["generators"]["gpt2-tiny"] | {"gpu": 3}
    (copy / "registry/generators.yaml").write_text(json.dumps({"gpt2-tiny": entry}))
    done = run(copy, "--dry-run", f"{MODEL}/model", how=dry_run)
    assert done.returncode == 1
    assert "gpt2-tiny: gpu: 3 GPUs cannot share training.batch_size, 4 blocks, evenly" in done.stderr + done.stdout
