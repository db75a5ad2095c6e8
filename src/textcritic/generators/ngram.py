"""The n-gram generator: fitted on a corpus, measured on its test split, drawn from in shards."""

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from textcritic.corpora import Article, iter_articles
from textcritic.errors import TextcriticError
from textcritic.files import arrays_of, whole_folder, write_arrays, write_json
from textcritic.generators.decoding import Decoding
from textcritic.generators.ngram_model import NgramModel, Vocabulary, Words, shuffled
from textcritic.generators.shards import Draw, Shard, write_shard
from textcritic.generators.summary import summarise

FILE = "ngram.npz"
SMOOTHINGS = ("none", "interpolated")


@dataclass(frozen=True)
class NgramSettings:
    """What decides an n-gram model.

    Attributes:
        order: words in an n-gram.
        smoothing: "none" or "interpolated", see `NgramModel`.
        shuffle_seed: where given, the words of train are `shuffled` with it before they are counted; validation and
            test stay as they are.
    """

    order: int
    smoothing: str
    shuffle_seed: int | None = None


@dataclass(frozen=True)
class NgramFiles:
    """What fitting an n-gram model writes.

    Attributes:
        model_dir: model folder.
        report: training.json; losses in nats per word, `parameters` counts distinct n-grams.
        perplexity: perplexity.json.
    """

    model_dir: str | os.PathLike[str]
    report: str | os.PathLike[str]
    perplexity: str | os.PathLike[str]


def fit_ngram(
    splits: Mapping[str, str | os.PathLike[str]], setting: str, settings: NgramSettings, files: NgramFiles
) -> dict[str, Any]:
    """Fit an n-gram model of words and measure its perplexity, word by word (line breaks and ends are words).

    The vocabulary is that of train and one unknown word, which stands for all others. With smoothing "none" a single
    unseen n-gram makes the perplexity infinite, which is written as null beside the number of such tokens.

    Args:
        splits: articles (Parquet, corpus schema): `train`, whose n-grams are counted, `validation`, on which the
            weights of "interpolated" are fitted, and `test`, whose perplexity is measured.
        setting: `w-title` or `wo-title`.
        settings: of the model.
        files: to write.

    Returns:
        what was written to `files.report`.

    Raises:
        TextcriticError: bad input; the line says which file or key.
    """
    order, smoothing = settings.order, settings.smoothing
    if smoothing not in SMOOTHINGS:
        raise TextcriticError(f"smoothing: '{smoothing}' is unknown; use {' or '.join(SMOOTHINGS)}")
    started = time.monotonic()
    vocabulary = Vocabulary()
    train = _words(vocabulary, splits["train"], setting, grow=True)
    if settings.shuffle_seed is not None:
        train = shuffled(train, vocabulary, settings.shuffle_seed)
    validation, test = (_words(vocabulary, splits[split], setting) for split in ("validation", "test"))
    model = NgramModel.count(vocabulary, train, order)
    rounds = model.fit_weights(validation) if smoothing == "interpolated" else []
    seconds = time.monotonic() - started
    loss = _mean_nll(model, validation)
    report = {
        "steps": len(rounds),
        "best_step": len(rounds),
        "validation_loss": loss,
        "tokens_seen": len(train.ids),
        "parameters": sum(int((counts > 0).sum()) for counts in model.counts),
        "curve": [{"step": len(rounds), "train_loss": _mean_nll(model, train), "validation_loss": loss}],
        "seconds": seconds,
        "tokens_per_second": len(train.ids) / seconds,
        "device": "cpu",
    }
    window = f"each word is predicted from the {order - 1} before it, within its article"
    measured = summarise(model.nll(test), test.kinds, test.articles(), window, unit="words")
    save(model, files.model_dir)
    write_json(files.perplexity, measured)
    write_json(files.report, report)
    return report


def sample_ngram(model_dir: str | os.PathLike[str], decoding: Decoding, shard: Shard) -> None:
    """Draw the articles of one shard and write them, see `shards.Shard`.

    Raises:
        TextcriticError: the model cannot be read, or the decoding is not plain sampling.
    """
    if not decoding.is_ancestral:
        raise TextcriticError(
            "decoding: temperature, top_k, top_p and a search do not apply to an n-gram model; use one without them"
        )
    model = load(model_dir)
    draws = model.sample(shard.seed, shard.indices, decoding.max_tokens)
    text = model.vocabulary.text
    write_shard(shard.path, (Draw(index, text(ids.tolist()), len(ids), finish) for index, ids, finish in draws))


def save(model: NgramModel, model_dir: str | os.PathLike[str]) -> None:
    """Write a model folder, whole or not at all."""
    arrays = {
        "order": np.array(model.order),
        "words": np.frombuffer(" ".join(model.vocabulary.words).encode(), np.uint8),
        "weights": np.empty(0) if model.weights is None else model.weights,
    }
    for k, (keys, counts) in enumerate(zip(model.keys, model.counts, strict=True), start=1):
        arrays |= {f"keys{k}": keys, f"counts{k}": counts}
    with whole_folder(model_dir) as folder:
        write_arrays(folder / FILE, arrays)


def load(model_dir: str | os.PathLike[str]) -> NgramModel:
    """Read a model folder.

    Raises:
        TextcriticError: it holds no n-gram model, or a damaged one.
    """
    path = Path(model_dir) / FILE
    damaged = "not a whole n-gram model; delete its folder and fit it again"
    with arrays_of(path, damaged, "no such file; give the folder of an n-gram model") as arrays:
        order = int(arrays["order"])
        words = arrays["words"].tobytes().decode()
        keys = [arrays[f"keys{k}"] for k in range(1, order + 1)]
        counts = [arrays[f"counts{k}"] for k in range(1, order + 1)]
        weights = arrays["weights"]
    # Words hold no white space but the two tokens that are line breaks, so a space separates them.
    vocabulary = Vocabulary(words.split(" ") if words else [])
    return NgramModel(vocabulary, order, keys, counts, weights if len(weights) else None)


def _words(vocabulary: Vocabulary, path: str | os.PathLike[str], setting: str, *, grow: bool = False) -> Words:
    articles: Iterable[Article] = iter_articles(path)
    words = vocabulary.encode(articles, setting, grow=grow)
    if not len(words.lengths):
        raise TextcriticError(f"{path}: holds no articles")
    return words


def _mean_nll(model: NgramModel, words: Words) -> float | None:
    """Nats per word; None where infinite."""
    mean = float(model.nll(words).mean())
    return mean if np.isfinite(mean) else None
