import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from titles_file import read_posteriors

from textcritic.corpora import Article, Section, write_articles
from textcritic.errors import TextcriticError
from textcritic.inference import bootstrap_interval, ratio_of_sums
from textcritic.latents.titles.infer import Classifier, infer_titles
from textcritic.latents.titles.sections import Sections, encode_sections, shuffled_batches, sorted_batches
from textcritic.latents.titles.train import ClassifierJob, accuracy, train_classifier
from textcritic.plan.entries import TransformerClassifier
from textcritic.plan.spec import load_yaml
from textcritic.rehearsal.checkpoints import tiny_bert, tiny_gpt2
from textcritic.training.loop import Run

REGISTRY = Path(__file__).parents[2] / "config" / "registry" / "classifiers.yaml"
WORDS = {"summary": "the a model", "returns": "array value returns", "notes": "text with number."}
SPEC = {
    "init": {
        "config": {
            "model_type": "bert",
            "num_hidden_layers": 1,
            "hidden_size": 32,
            "num_attention_heads": 2,
            "intermediate_size": 64,
            "max_position_embeddings": 24,
            "initializer_range": 0.1,  # so small a model learns nothing from the usual 0.02 with some seeds
        }
    },
    "max_tokens": 16,
    "training": {
        "batch_size": 8,
        "learning_rate": 3e-3,
        "schedule": "linear",
        "float32_matmul_precision": "highest",
        "warmup_steps": 2,
        "epochs": 8,
        "weight_decay": 0.0,
        "precision": "fp32",
        "seed": 1,
    },
}


def articles(count, seed, titles=tuple(WORDS)):
    rng = np.random.default_rng(seed)
    return [
        Article(
            f"{seed}-{n}",
            None,
            tuple(Section(t, " ".join(rng.choice(WORDS.get(t, "odd").split(), rng.integers(2, 9)))) for t in titles),
            "made up",
        )
        for n in range(count)
    ]


@pytest.fixture
def splits(tmp_path):
    paths = {}
    for seed, (split, count) in enumerate({"train": 40, "validation": 8, "test": 8}.items()):
        paths[split] = tmp_path / f"{split}.parquet"
        write_articles(paths[split], articles(count, seed))
    return paths


def run_in(folder, **more):
    return Run(folder / "model", folder / "accuracy.json", threads=1, checkpoint_seconds=0, **more)


def entry_of(max_tokens=16, **training):
    spec = {**SPEC, "max_tokens": max_tokens, "training": {**SPEC["training"], **training}}
    return TransformerClassifier.read(spec, "test")


def train(splits, tokenizer, folder, **changes):
    train_classifier(splits, tokenizer, entry_of(**changes), run_in(folder))


def test_distinct_sections_are_learnt_and_inferred_whatever_the_batch(splits, tiny_encoding, tmp_path):
    train(splits, tiny_encoding.tokenizer, tmp_path / "c")
    report = json.loads((tmp_path / "c/accuracy.json").read_text())
    assert report["titles"] == ["notes", "returns", "summary"]
    assert report["test"]["accuracy"] == 1.0
    assert report["test"]["n"] == 24
    infer_titles(tmp_path / "c/model", splits["test"], tmp_path / "all.parquet", 16, threads=1)
    everything = read_posteriors(tmp_path / "all.parquet")
    assert everything.inferred == everything.gold
    for p in everything.probabilities:
        np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-6)
    write_articles(tmp_path / "one.parquet", articles(8, 2)[3:4])
    infer_titles(tmp_path / "c/model", tmp_path / "one.parquet", tmp_path / "one-out.parquet", 16, threads=1)
    alone = read_posteriors(tmp_path / "one-out.parquet")
    np.testing.assert_allclose(alone.probabilities[0], everything.probabilities[3], atol=1e-5)
    assert (tmp_path / "c/checkpoints/finished").is_file()


PROGRAM = """
import json, sys
from textcritic.latents.titles.train import train_classifier
from textcritic.plan.entries import TransformerClassifier
from textcritic.training.loop import Run
splits, tokenizer, spec, folder = json.loads(sys.argv[1])
run = Run(folder + "/model", folder + "/accuracy.json", threads=1, checkpoint_seconds=0)
train_classifier(splits, tokenizer, TransformerClassifier.restore(spec), run)
"""


def test_a_killed_training_resumes_to_the_same_weights(splits, tiny_encoding, tmp_path):
    spec = entry_of(epochs=10).canonical()
    train(splits, tiny_encoding.tokenizer, tmp_path / "whole", epochs=10)
    job = [{k: str(v) for k, v in splits.items()}, str(tiny_encoding.tokenizer), spec, str(tmp_path / "killed")]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, json.dumps(job)], env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    checkpoints = tmp_path / "killed/checkpoints"
    deadline = time.monotonic() + 300  # on a machine with much else to do
    while len(list(checkpoints.glob("state-*.pt"))) < 2 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "killed/model").exists()
    assert list(checkpoints.glob("state-*.pt"))
    train(splits, tiny_encoding.tokenizer, tmp_path / "killed", epochs=10)
    whole, resumed = (load_file(tmp_path / name / "model/model.safetensors") for name in ("whole", "killed"))
    assert whole.keys() == resumed.keys()
    for name, weights in whole.items():
        assert torch.equal(weights, resumed[name]), name


def test_a_title_that_train_never_had_counts_as_wrong_and_is_named(splits, tiny_encoding, tmp_path):
    write_articles(splits["test"], articles(8, 2, titles=("summary", "surprise")))
    train(splits, tiny_encoding.tokenizer, tmp_path / "c")
    test = json.loads((tmp_path / "c/accuracy.json").read_text())["test"]
    assert test["unseen_titles"] == ["surprise"]
    assert test["accuracy"] == 0.5


@pytest.mark.parametrize(
    ("titles", "message"),
    [(("summary",), r"train.parquet: 1 section type \(summary\); at least two"), ((None, "notes"), "have no title")],
)
def test_a_corpus_that_cannot_be_learnt_from_is_refused(splits, tiny_encoding, tmp_path, titles, message):
    write_articles(splits["train"], articles(4, 0, titles))
    with pytest.raises(TextcriticError, match=message):
        train(splits, tiny_encoding.tokenizer, tmp_path / "c")


def test_a_loss_that_is_not_finite_is_named(splits, tiny_encoding, tmp_path):
    with pytest.raises(TextcriticError, match=r"loss is not finite at step \d+ .* lower training.learning_rate"):
        train(splits, tiny_encoding.tokenizer, tmp_path / "c", learning_rate=1e38, schedule="constant", warmup_steps=0)


def test_more_tokens_than_positions_are_refused(splits, tiny_encoding, tmp_path):
    with pytest.raises(TextcriticError, match=r"max_tokens: 25 is more than the encoder's 24 positions"):
        train_classifier(splits, tiny_encoding.tokenizer, entry_of(max_tokens=25), run_in(tmp_path / "c"))


def test_state_of_another_stage_version_is_not_taken_up(splits, tiny_encoding, tmp_path, caplog):
    caplog.set_level("INFO", "textcritic")
    folder = tmp_path / "c"
    with pytest.raises(TextcriticError, match=r"max_tokens"):
        train_classifier(splits, tiny_encoding.tokenizer, entry_of(max_tokens=25), run_in(folder))
    train_classifier(splits, tiny_encoding.tokenizer, entry_of(), run_in(folder, version=2))
    assert "version" in caplog.text


def test_a_truncated_model_is_named(splits, tiny_encoding, tmp_path):
    train(splits, tiny_encoding.tokenizer, tmp_path / "c", epochs=1)
    weights = tmp_path / "c/model/model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(TextcriticError, match=r"model.safetensors: not a whole safetensors file"):
        infer_titles(tmp_path / "c/model", splits["test"], tmp_path / "x.parquet", 16)
    assert not (tmp_path / "x.parquet").exists()


def test_the_interval_of_the_accuracy_is_over_documents_and_within_0_and_1():
    """24 documents of two sections, of which two have one that is wrong."""
    right = np.ones((24, 2), bool)
    right[:2, 1] = False
    sections = Sections([str(n) for n in range(24)], [["a", "a"]] * 24, np.zeros(0, np.int32), np.zeros(49, np.int64))
    report = accuracy(("a", "b"), sections, np.where(right.reshape(-1, 1), [0.9, 0.1], [0.1, 0.9]).astype(np.float32))
    found = bootstrap_interval(np.column_stack([right.sum(axis=1), [2] * 24]), ratio_of_sums, seed=0).of_share()
    assert (report["accuracy"], report["ci95"]) == (pytest.approx(46 / 48), [found.low, found.high])
    assert 0.8 < found.low < 46 / 48 < found.high <= 1


def test_accuracy_by_hand():
    sections = Sections(["d", "e"], [["a", "b"], ["a", "z"]], np.zeros(0, np.int32), np.zeros(5, np.int64))
    probabilities = np.array([[0.95, 0.05], [0.6, 0.4], [0.7, 0.3], [0.2, 0.8]], np.float32)
    report = accuracy(("a", "b"), sections, probabilities)
    assert report["accuracy"] == 0.5  # right, wrong, right, never seen
    assert report["ci95"] == [None, None]  # of two documents
    assert report["recall"] == {"a": 1.0, "b": 0.0}
    assert report["confusions"] == [{"gold": "b", "inferred": "a", "count": 1}]
    assert report["over_90_percent_certain"] == 0.25
    assert report["mean_confidence"] == pytest.approx((0.95 + 0.6 + 0.7 + 0.8) / 4)
    gaps = [1 - 0.95, 0.6, 1 - 0.7, 0.8]  # each section is alone in its bin of confidence
    assert report["expected_calibration_error"] == pytest.approx(sum(gaps) / 4, abs=1e-6)


def test_certain_sections_are_in_the_last_bin_of_confidence():
    sections = Sections(["d"], [["b", "a"]], np.zeros(0, np.int32), np.zeros(3, np.int64))
    report = accuracy(("a", "b"), sections, np.array([[1.0, 0.0], [0.92, 0.08]], np.float32))  # wrong, right
    assert report["expected_calibration_error"] == pytest.approx((1.0 + 0.92 - 1) / 2, abs=1e-6)


def test_batches_cover_every_section_once_and_padding_is_masked(tiny_encoding):
    from textcritic.training.load import load_tokenizer

    tokenizer = load_tokenizer(tiny_encoding.tokenizer)
    sections = encode_sections(iter(articles(30, 5)), tokenizer, 6)
    assert sections.lengths.max() == 6
    for batches in (list(sorted_batches(sections.lengths, 7)), shuffled_batches(sections.lengths, 7, 1, 0)):
        assert sorted(np.concatenate(batches).tolist()) == list(range(90))
    assert any(
        (a != b).any()
        for a, b in zip(
            shuffled_batches(sections.lengths, 7, 1, 0), shuffled_batches(sections.lengths, 7, 1, 1), strict=True
        )
        if len(a) == len(b)
    )
    batch = sections.batch(np.array([0, 1, 2]), tokenizer.pad_token_id)
    for row, length in enumerate(sections.lengths[:3]):
        assert batch["attention_mask"][row].sum() == length
        assert (batch["input_ids"][row, length:] == tokenizer.pad_token_id).all()
        assert batch["input_ids"][row, 0] == tokenizer.cls_token_id
        assert batch["input_ids"][row, length - 1] == tokenizer.sep_token_id


@pytest.fixture
def published(splits, tmp_path):
    """The published BERT (appendix E), but with a tiny encoder that is in the hub's format, and few sections."""
    texts = [section.text for article in articles(40, 0) for section in article.sections]
    folder = tiny_bert(tmp_path / "hub", texts)
    entry = TransformerClassifier.read(load_yaml(REGISTRY)["bert-base-cased"], "bert-base-cased")
    return folder, entry.changed(init={"folder": str(folder)})


def test_the_published_classifier_is_as_in_appendix_e(published):
    _, entry = published
    training = entry.training
    assert (entry.max_tokens, training.batch_size, training.learning_rate, training.epochs) == (512, 32, 2e-5, 3)
    # Of what the paper does not say, the defaults of the transformers Trainer that the released command line leaves.
    assert (training.schedule, training.warmup_steps, training.weight_decay) == ("linear", 0, 0.0)


def test_a_pretrained_encoder_reads_512_word_pieces_and_resumes(published, splits, tmp_path, monkeypatch):
    """A section is cut to its first 512 pieces; what stands behind them changes nothing."""
    folder, entry = published
    words = " ".join(["summary the a model"] * 300)
    long = [Article(f"long {n}", None, (Section("long", words), Section("notes", "text")), "x") for n in range(4)]
    for seed, split in enumerate(splits):
        write_articles(splits[split], [*articles(60 if split == "train" else 10, seed), *long])
    quick = entry.changed(training={**entry.training.plain(), "learning_rate": 5e-3, "batch_size": 8})

    def fit(out):
        train_classifier(splits, folder, quick, run_in(out))
        return load_file(out / "model/model.safetensors")

    whole, rows = fit(tmp_path / "whole"), ClassifierJob._rows

    def terminated(run, step):
        if step == 5:
            os.kill(os.getpid(), signal.SIGTERM)
        return rows(run, step)

    monkeypatch.setattr(ClassifierJob, "_rows", terminated)
    with pytest.raises(TextcriticError, match="stopped by SIGTERM after step 6 of"):
        fit(tmp_path / "stopped")
    monkeypatch.undo()
    resumed = fit(tmp_path / "stopped")
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)

    report = json.loads((tmp_path / "whole/accuracy.json").read_text())
    assert report["test"]["accuracy"] > 0.8
    classifier = Classifier(tmp_path / "whole/model", 512)
    assert list(classifier.titles) == report["titles"] == ["long", "notes", "returns", "summary"]
    one, other = (
        classifier.posteriors([Article("a", None, (Section(None, f"{words}{more}"),), "x")]).probabilities[0]
        for more in ("", " returns array value" * 50)
    )
    assert (one == other).all()
    read = encode_sections(iter(long), classifier.tokenizer, 512)
    assert read.lengths.tolist() == [512, 3] * 4  # [CLS] text [SEP]


def test_an_encoder_without_padding_or_tokenizer_is_refused(published, splits, tmp_path):
    folder, entry = published
    gpt2 = tiny_gpt2(tmp_path / "gpt2", ["a model", "text with number"])
    short = entry.changed(max_tokens=32, init={"folder": str(gpt2)})
    with pytest.raises(TextcriticError, match="has no padding token; use an encoder that has one, like BERT"):
        train_classifier(splits, gpt2, short, Run(tmp_path / "m", tmp_path / "a.json"))
    (folder / "vocab.txt").unlink()
    with pytest.raises(TextcriticError, match="hub: holds no tokenizer's vocabulary"):
        train_classifier(splits, folder, entry, Run(tmp_path / "m", tmp_path / "a.json"))


def test_a_batch_has_no_more_tokens_than_asked_padding_with_them():
    """But for a section that is longer by itself; on a CPU that is how sections are answered."""
    lengths = np.random.default_rng(3).integers(1, 90, 200)
    lengths[7] = 300
    batches = list(sorted_batches(lengths, 16, tokens=256))
    assert sorted(np.concatenate(batches).tolist()) == list(range(200))
    assert batches[0].tolist() == [7]
    sizes = [(len(rows), len(rows) * int(lengths[rows].max())) for rows in batches[1:]]
    assert all(rows <= 16 and tokens <= 256 for rows, tokens in sizes)
    # None of the others could have been larger, but for the last.
    longest = [int(lengths[rows].max()) for rows in batches[1:-1]]
    assert all(rows == min(16, 256 // most) for (rows, _), most in zip(sizes[:-1], longest, strict=True))
