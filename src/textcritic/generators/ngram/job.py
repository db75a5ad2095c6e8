"""The n-gram generator: fitted on a corpus, measured on its test split, drawn from in shards."""

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from textcritic.batches import batched
from textcritic.corpora import Article, iter_articles
from textcritic.errors import TextcriticError
from textcritic.files import whole_folder, write_json
from textcritic.generators.ngram.counts import Codes, count_ngrams, write_codes
from textcritic.generators.ngram.draws import draw_texts
from textcritic.generators.ngram.model import NgramModel, load, save
from textcritic.generators.ngram.ranks import write_ranks
from textcritic.generators.ngram.words import Vocabulary, Words, shuffled
from textcritic.generators.shards import Draw, Shard, write_shard
from textcritic.generators.summary import summarise
from textcritic.plan.entries import Decoding

SMOOTHINGS = ("none", "interpolated")
ARTICLES_AT_ONCE = 4096


@dataclass(frozen=True)
class NgramSettings:
    """What decides an n-gram model.

    Attributes:
        order: words in an n-gram.
        smoothing: "none" or "interpolated", see `NgramModel`.
        shuffle_seed: if given, the words of train are `shuffled` with this seed before they are counted; validation and
            test stay as they are. The words of train are then in memory.
        memory_mb: megabytes of memory that sorting n-grams may take; this does not change the model.
    """

    order: int
    smoothing: str
    shuffle_seed: int | None = None
    memory_mb: float = 1000


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

    The vocabulary is that of train and one unknown word, which replaces all other words. With smoothing "none" a single
    unseen n-gram makes the perplexity infinite; it is then written as null, with the number of such tokens.

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
    smoothing = settings.smoothing
    if smoothing not in SMOOTHINGS:
        raise TextcriticError(f"smoothing: '{smoothing}' is unknown; use {' or '.join(SMOOTHINGS)}")
    started = time.monotonic()
    with whole_folder(files.model_dir) as folder:
        codes = _train_codes(folder / "codes.scratch", splits["train"], setting, settings, vocabulary := Vocabulary())
        ngrams = count_ngrams(codes, folder, settings.memory_mb)
        model = NgramModel.of(folder, vocabulary, settings.order)
        validation, test = (_words(vocabulary, splits[split], setting) for split in ("validation", "test"))
        rounds = model.fit_weights(validation) if smoothing == "interpolated" else []
        train_loss = _mean_train_nll(model, codes)
        codes.path.unlink()
        if smoothing == "none":
            write_ranks(folder, model.keys[-1], model.cumulative[-1], model.first[-1], model.size)
        save(model, folder)
        seconds = time.monotonic() - started
        window = f"each word is predicted from the {settings.order - 1} before it, within its article"
        measured = summarise(model.nll(test), test.kinds, test.articles(), window, unit="words")
        loss = _mean_nll(model, validation)
    report = {
        "steps": len(rounds),
        "best_step": len(rounds),
        "validation_loss": loss,
        "tokens_seen": codes.tokens,
        "parameters": ngrams,
        "curve": [{"step": len(rounds), "train_loss": train_loss, "validation_loss": loss}],
        "seconds": seconds,
        "tokens_per_second": codes.tokens / seconds,
        "device": "cpu",
    }
    write_json(files.perplexity, measured)
    write_json(files.report, report)
    return report


def sample_ngram(model_dir: str | os.PathLike[str], decoding: Decoding, shard: Shard) -> None:
    """Draw the articles of one shard and write them, see `shards.Shard`.

    Raises:
        TextcriticError: the model cannot be read, or the decoding is not plain sampling.
    """
    model = load(model_dir)
    draws = draw_texts(model, decoding, shard.seed, shard.indices)
    text = model.vocabulary.text
    write_shard(shard.path, (Draw(index, text(ids.tolist()), len(ids), finish) for index, ids, finish in draws))


def _train_codes(
    path: Path, train: str | os.PathLike[str], setting: str, settings: NgramSettings, vocabulary: Vocabulary
) -> Codes:
    """The scratch file of the train split, whose words the vocabulary takes up."""
    if settings.shuffle_seed is None:
        pieces: Iterable[Words] = (
            vocabulary.encode(some, setting, grow=True) for some in batched(iter_articles(train), ARTICLES_AT_ONCE)
        )
    else:
        words = _words(vocabulary, train, setting, grow=True)
        pieces = iter([shuffled(words, vocabulary, settings.shuffle_seed)])
    return write_codes(path, pieces, settings.order, vocabulary, train)


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


def _mean_train_nll(model: NgramModel, codes: Codes) -> float:
    """Nats per word of train."""
    if model.weights is None:
        return model.train_nll() / codes.tokens
    return sum(float(model.nll(words).sum()) for words in codes.words()) / codes.tokens
