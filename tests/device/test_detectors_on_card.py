"""On the card: detectors of intruders, the classifier of section titles, and both neural resolvers."""

import pytest
from tiny_coreference import DOCUMENTS
from tiny_intruders import TOPICS, entry_of, planted

from textcritic.critics.detectors.learner import Files
from textcritic.critics.detectors.surprise import CausalSentences, Surprise
from textcritic.critics.detectors.train import predict_documents, train_detector
from textcritic.latents.resolvers.neural import NeuralResolver
from textcritic.latents.titles.infer import infer_titles
from textcritic.latents.titles.train import train_classifier
from textcritic.plan.entries import TransformerClassifier
from textcritic.rehearsal.checkpoints import tiny_gpt2
from textcritic.rehearsal.coreference import save_checkpoint
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
CLASSIFIED = {"batch_size": 16, "learning_rate": 3e-3, "warmup_steps": 2, "epochs": 1}
DETECTORS = {
    "transformer": {"transformer": {"encoding": "bpe-2048", "init": {"config": BERT}, "max_tokens": 64}},
    "averaged": {"embeddings": WORDS},
    "bilstm": {"bilstm": {**WORDS, "states": 4}},
}


def fit_detector(kind, splits, folder, precision="fp32"):
    training = {"learning_rate": 1e-2, "epochs": 1, "batch_size": 16, "precision": precision}
    run = Run(folder / "model", folder / "training.json", "tiny", threads=1)
    files = Files(tokenizer=splits / "tokenizer") if kind == "transformer" else Files()
    documents = [splits / f"{split}.parquet" for split in ("train", "validation")]
    return train_detector(*documents, files, entry_of(DETECTORS[kind], training=training), 1, run)


def fit_classifier(tiny, folder, precision="fp32"):
    settings = {"init": {"config": BERT}, "max_tokens": 16, "training": CLASSIFIED | {"precision": precision}}
    entry = TransformerClassifier.read(settings, "test")
    articles = {split: tiny.articles(split) for split in ("train", "validation")}
    run = Run(folder / "model", folder / "accuracy.json", threads=1)
    train_classifier(articles | {"test": articles["validation"]}, tiny.tokenizer, entry, run)


@pytest.mark.parametrize("kind", DETECTORS)
def test_a_detector_is_trained_and_predicts(kind, few_intruders, alike):
    def work(folder):
        fit_detector(kind, few_intruders, folder)
        documents = few_intruders / "validation.parquet"
        predict_documents(folder / "model", documents, folder / "predictions.parquet", threads=1)

    alike(work)


def test_surprise(alike, tmp_path):
    model = tiny_gpt2(tmp_path / "gpt2", [" ".join(topic) for topic in TOPICS])
    documents = planted(4, 3)
    alike(lambda folder: Surprise(CausalSentences(model), "token").scores(documents))


def test_a_classifier_of_section_titles(tiny_encoding, alike):
    def work(folder):
        fit_classifier(tiny_encoding, folder)
        articles = tiny_encoding.articles("validation")
        infer_titles(folder / "model", articles, folder / "titles.parquet", 16, threads=1)

    alike(work)


@pytest.mark.parametrize("architecture", ["f-coref", "lingmess"])
def test_a_resolver(architecture, tmp_path, alike):
    save_checkpoint(tmp_path / "checkpoint", architecture)
    texts = [(str(number), " ".join(words)) for number, words in enumerate(DOCUMENTS)]

    def work(folder):
        found = list(NeuralResolver(tmp_path / "checkpoint", architecture, 300, "fp32").resolve(iter(texts)))
        assert any(getattr(one, "mentions", ()) for one in found)
        return found

    alike(work)
