"""fairseq's models on the card: training and perplexity of every architecture, and samples by every method."""

import pytest
from tiny_fairseq import AT_ONCE, LANGUAGE_MODELS, TRANSLATORS, built, split_of

from textcritic.corpora import Article, Section, write_articles
from textcritic.generators.fairseq.shim import installed
from textcritic.generators.fairseq.train import Architecture, Splits, train_fairseq
from textcritic.generators.shards import Shard
from textcritic.plan.entries import Decoding
from textcritic.plan.entries.generators import FairseqTraining
from textcritic.training.load import load_tokenizer
from textcritic.training.loop import Run

pytestmark = pytest.mark.skipif(not installed(), reason="run make fairseq")

CHOICES = TRANSLATORS | LANGUAGE_MODELS | AT_ONCE
TRAINING = FairseqTraining(max_tokens=100, learning_rate=1e-2, steps=2, warmup_steps=1, evaluate_every=2)
SENTENCES = ["the cat sat", "dogs", "the dogs ran to the cat"]
SCHEMES = [
    ("transformer", Decoding(max_tokens=8, batch_size=2)),
    ("transformer", Decoding(max_tokens=8, batch_size=2, method="likeliest", beam=3)),
    ("transformer", Decoding(max_tokens=8, batch_size=2, method="best-of", beam=2, top_p=0.9)),
    ("lstm", Decoding(max_tokens=8, batch_size=2)),
    ("convolutions", Decoding(max_tokens=8, batch_size=2)),
    ("lstm_lm", Decoding(max_tokens=8, batch_size=2, method="beam-sampling", beam=2)),
    ("fconv_lm", Decoding(max_tokens=8, batch_size=2)),
    ("nonautoregressive_transformer", Decoding(max_tokens=8, batch_size=2)),
    ("cmlm_transformer", Decoding(max_tokens=8, batch_size=2, method="likeliest", iterations=2)),
]


def fit(name, letters, folder, precision="fp32"):
    splits = [split_of(letters, CHOICES[name], split) for split in ("validation", "test")]  # the small ones
    run = Run(folder / "model", folder / "training.json", threads=1)
    training = TRAINING.changed(precision=precision)
    return train_fairseq(Splits(*splits, letters / "tokenizer"), Architecture(*CHOICES[name]), training, 1, run)


@pytest.mark.parametrize("name", CHOICES)
def test_training_and_perplexity(name, letters, alike):
    from textcritic.generators.fairseq.score import measure_fairseq

    def work(folder):
        fit(name, letters, folder)
        test = split_of(letters, CHOICES[name], "test")
        measure_fairseq(folder / "model", test, folder / "perplexity.json", 100, threads=1)

    alike(work)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """`folders(name)`: the folder of a model with random weights and a tokenizer of the sentences."""
    from textcritic.generators.fairseq.models import save_model
    from textcritic.generators.pairs import make_subword_tokenizer

    base = tmp_path_factory.mktemp("fairseq")
    articles = [Article(f"{n:06d}-de", text, (Section("de", text.upper()),), "s") for n, text in enumerate(SENTENCES)]
    write_articles(base / "train.parquet", articles)
    make_subword_tokenizer(base / "train.parquet", base / "tokenizer", 60)
    tokenizer = load_tokenizer(base / "tokenizer")

    def folder(name):
        path = base / name
        if not path.exists():
            path.mkdir()
            save_model(built(CHOICES[name], words=len(tokenizer) - 3, tokenizer=tokenizer), path)
        return path

    return folder


@pytest.mark.parametrize(("name", "decoding"), SCHEMES)
def test_samples(name, decoding, folders, alike):
    from textcritic.generators.fairseq.sample import sample_fairseq

    sources, model = None if name in LANGUAGE_MODELS else SENTENCES, folders(name)
    alike(lambda folder: sample_fairseq(model, sources, decoding, Shard(7, 0, 3, folder / "shard.parquet")))
