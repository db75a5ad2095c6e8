"""On the card: detectors of intruders, the classifier of section titles, and both neural resolvers."""

import pytest
from tiny_coreference import DOCUMENTS, save_checkpoint
from tiny_hub import tiny_gpt2
from tiny_intruders import TOPICS, entry_of, planted, written

from textcritic.critics.detectors.learner import Files
from textcritic.critics.detectors.surprise import surprise_of
from textcritic.critics.detectors.train import predict_documents, train_detector
from textcritic.latents.resolvers.neural import neural_resolver
from textcritic.latents.titles.infer import infer_titles
from textcritic.latents.titles.train import train_classifier
from textcritic.training.load import train_tokenizer
from textcritic.training.loop import Run

BERT = {
    "model_type": "bert",
    "num_hidden_layers": 1,
    "hidden_size": 16,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 64,
}
WORDS = {"size": 8, "hidden": 8, "minimum_count": 1}
CLASSIFIED = {
    "batch_size": 16,
    "learning_rate": 3e-3,
    "schedule": "linear",
    "warmup_steps": 2,
    "epochs": 1,
    "weight_decay": 0.0,
    "precision": "fp32",
    "seed": 1,
}
DETECTORS = {
    "transformer": {"transformer": {"encoding": "bpe-2048", "init": {"config": BERT}, "max_tokens": 64}},
    "averaged": {"embeddings": WORDS},
    "bilstm": {"bilstm": {**WORDS, "states": 4}},
}


@pytest.fixture(scope="module")
def splits(shared_folder):
    def make(folder):
        for seed, (split, count) in enumerate({"train": 24, "validation": 8}.items()):
            written(folder / f"{split}.parquet", planted(count, seed, marked=True))
        train_tokenizer([" ".join(topic) + " stranger" for topic in TOPICS] * 20, folder / "tokenizer", 360)

    return shared_folder("few-intruders", make)


@pytest.mark.parametrize("kind", DETECTORS)
def test_a_detector_is_trained_and_predicts(kind, splits, alike):
    training = {"learning_rate": 1e-2, "epochs": 1, "batch_size": 16, "precision": "fp32"}
    entry = entry_of(DETECTORS[kind], training=training)
    documents = [splits / f"{split}.parquet" for split in ("train", "validation")]

    def work(folder):
        run = Run(folder / "model", folder / "training.json", "tiny", threads=1)
        files = Files(tokenizer=splits / "tokenizer") if kind == "transformer" else Files()
        train_detector(*documents, files, entry, 1, run)
        predict_documents(folder / "model", documents[1], folder / "predictions.parquet", threads=1)

    alike(work)


def test_surprise(splits, alike, tmp_path):
    model = tiny_gpt2(tmp_path / "gpt2", [" ".join(topic) for topic in TOPICS])
    documents = planted(4, 3)
    alike(lambda folder: surprise_of({"per": "token"}, {"kind": "causal"}, model).scores(documents))


def test_a_classifier_of_section_titles(tiny_encoding, alike):
    settings = {"init": {"config": BERT}, "max_tokens": 16, "training": CLASSIFIED}
    articles = {split: tiny_encoding.articles(split) for split in ("train", "validation")}
    articles["test"] = articles["validation"]

    def work(folder):
        run = Run(folder / "model", folder / "accuracy.json", threads=1)
        train_classifier(articles, tiny_encoding.tokenizer, settings, run)
        infer_titles(folder / "model", articles["test"], folder / "titles.parquet", 16, threads=1)

    alike(work)


@pytest.mark.parametrize("architecture", ["f-coref", "lingmess"])
def test_a_resolver(architecture, tmp_path, alike):
    save_checkpoint(tmp_path / "checkpoint", architecture)
    entry = {"architecture": architecture, "batch_tokens": 300, "precision": "fp32"}
    texts = [(str(number), " ".join(words)) for number, words in enumerate(DOCUMENTS)]

    def work(folder):
        found = list(neural_resolver(entry, tmp_path / "checkpoint").resolve(iter(texts)))
        assert any(getattr(one, "mentions", ()) for one in found)
        return found

    alike(work)
