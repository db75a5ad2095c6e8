"""Causal language models on the card: training, kill and resume, sampling by every method, perplexity, features."""

from functools import cache

import pytest
import torch
from pretended_card import pretended
from tiny_causal import configs, tiny_model

from textcritic.generators.causal import CausalJob
from textcritic.generators.perplexity import Windowing, perplexity
from textcritic.generators.sample import sample_articles
from textcritic.generators.shards import Shard, read_shard
from textcritic.generators.train import Encoded, train_causal
from textcritic.latents.features import embed_articles
from textcritic.plan.entries import Decoding
from textcritic.plan.entries.classifiers import Embedder
from textcritic.plan.entries.generators import CausalTraining as Training
from textcritic.training.load import load_tokenizer
from textcritic.training.loop import Run

ARCHITECTURES = ("gpt2", "gpt-neo", "xglm", "llama")
TRAINING = Training(context=16, learning_rate=1e-2, batch_size=4, steps=4, evaluate_every=2, precision="fp32")
WINDOW = 24


def settings_of(architecture: str) -> dict:
    config = configs(300, 16)[architecture].to_dict()
    left_out = {"vocab_size", "architectures", "bos_token_id", "eos_token_id", "pad_token_id", "transformers_version"}
    return {key: value for key, value in config.items() if key not in left_out}


def fit(tiny, folder, training, architecture="gpt2", seconds=300.0):
    run = Run(folder / "model", folder / "training.json", threads=1, checkpoint_seconds=seconds)
    encoded = Encoded(tiny.train, tiny.validation, tiny.tokenizer)
    return train_causal(encoded, {"config": settings_of(architecture)}, training, 1, run)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_training_and_what_its_model_gives_text(architecture, tiny_encoding, alike):
    def work(folder):
        fit(tiny_encoding, folder, TRAINING, architecture)
        perplexity(folder / "model", tiny_encoding.validation, Windowing(16), folder / "perplexity.json", threads=1)

    alike(work)


def test_accumulation_activation_checkpointing_and_a_training_that_goes_on(tiny_encoding, alike, monkeypatch):
    """With dropout: what the card's generator draws after a stop is what it would have drawn without."""
    training = TRAINING.changed(accumulation=2, activation_checkpointing=True)
    step = CausalJob.step

    def stops(job, loop):
        if loop.step == 3:
            raise InterruptedError
        return step(job, loop)

    def work(folder):
        fit(tiny_encoding, folder / "whole", training)
        with monkeypatch.context() as patch:
            patch.setattr(CausalJob, "step", stops)
            with pytest.raises(InterruptedError):
                fit(tiny_encoding, folder / "stopped", training, seconds=0)
        torch.manual_seed(99)  # as another process has another state
        fit(tiny_encoding, folder / "stopped", training, seconds=0)
        whole, stopped = ((folder / name / "model/model.safetensors").read_bytes() for name in ("whole", "stopped"))
        assert whole == stopped

    alike(work)


METHODS = {
    "draws past the window": Decoding(max_tokens=30, batch_size=3),
    "as released": Decoding(max_tokens=30, batch_size=3, stride=1, top_k=20, temperature=0.9),
    "nucleus": Decoding(max_tokens=10, batch_size=3, top_p=0.8),
    "beam sampling": Decoding(max_tokens=30, batch_size=2, method="beam-sampling", beam=3),
    "best of": Decoding(max_tokens=10, batch_size=4, method="best-of", beam=2),
}


@pytest.fixture(scope="module")
def models(tiny_encoding, tmp_path_factory):
    """`models(architecture)`: a folder with a model whose weights are random, and its tokenizer."""

    @cache
    def made(architecture):
        folder = tmp_path_factory.mktemp(architecture)
        tokenizer = load_tokenizer(tiny_encoding.tokenizer)
        tiny_model(configs(len(tokenizer), WINDOW, tokenizer.eos_token_id)[architecture], 1).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return folder

    return made


@pytest.mark.parametrize(
    ("architecture", "method"), [*(("gpt2", method) for method in METHODS), ("gpt-neo", "draws past the window")]
)
def test_samples(models, architecture, method, alike):
    shard = lambda folder: Shard(7, 0, 5, folder / "shard.parquet")  # noqa: E731
    alike(lambda folder: sample_articles(models(architecture), METHODS[method], "single", shard(folder)))


def test_samples_in_bf16_come_to_their_end(models, tmp_path):
    """Kernels of bf16 on the CPU depend on what is side by side: this is no oracle but for the device."""
    with pretended():
        decoding = METHODS["draws past the window"].changed(precision="bf16")
        shard = Shard(7, 0, 5, tmp_path / "shard.parquet")
        sample_articles(models("gpt2"), decoding, "single", shard)
    assert len(read_shard(tmp_path / "shard.parquet")) == 5


def test_features(models, tiny_encoding, alike):
    articles = tiny_encoding.articles("validation")
    alike(lambda folder: embed_articles(articles, models("gpt2"), folder / "f.npz", Embedder(max_tokens=20), threads=1))
