"""The n-gram generator: fitted on a corpus, measured on its test split, drawn from in shards."""

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

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
from textcritic.plan.entries import Decoding, Ngram
from textcritic.values import JsonObject

ARTICLES_AT_ONCE = 4096


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
    splits: Mapping[str, str | os.PathLike[str]],
    setting: str,
    entry: Ngram,
    files: NgramFiles,
    seed: int = 1,
    memory_mb: float = 1000,
) -> JsonObject:
    """Fit an n-gram model of words and measure its perplexity, word by word (line breaks and ends are words).

    The vocabulary is that of train and one unknown word, which replaces all other words. With smoothing "none" a single
    unseen n-gram makes the perplexity infinite; it is then written as null, with the number of such tokens.

    Args:
        splits: articles (Parquet, corpus schema): `train`, whose n-grams are counted, `validation`, on which the
            weights of "interpolated" are fitted, and `test`, whose perplexity is measured.
        setting: `w-title` or `wo-title`.
        entry: of the generator. If it is `shuffled`, the words of train change places before they are counted, and are
            in memory; validation and test stay as they are.
        files: to write.
        seed: of the places of shuffled words.
        memory_mb: megabytes of memory that sorting n-grams may take; this does not change the model.

    Returns:
        what was written to `files.report`.

    Raises:
        TextcriticError: bad input; the line says which file or key.
    """
    started = time.monotonic()
    with whole_folder(files.model_dir) as folder:
        words = _train_words(splits["train"], setting, seed if entry.shuffled else None, vocabulary := Vocabulary())
        codes = write_codes(folder / "codes.scratch", words, entry.order, vocabulary, splits["train"])
        ngrams = count_ngrams(codes, folder, memory_mb)
        model = NgramModel.of(folder, vocabulary, entry.order)
        validation, test = (_words(vocabulary, splits[split], setting) for split in ("validation", "test"))
        rounds = model.fit_weights(validation) if entry.smoothing == "interpolated" else []
        train_loss = _mean_train_nll(model, codes)
        codes.path.unlink()
        if entry.smoothing == "none":
            write_ranks(folder, model.keys[-1], model.cumulative[-1], model.first[-1], model.size)
        save(model, folder)
        seconds = time.monotonic() - started
        window = f"each word is predicted from the {entry.order - 1} before it, within its article"
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


def _train_words(
    train: str | os.PathLike[str], setting: str, shuffle_seed: int | None, vocabulary: Vocabulary
) -> Iterator[Words]:
    """The words of the train split, which the vocabulary takes up."""
    if shuffle_seed is not None:
        yield shuffled(_words(vocabulary, train, setting, grow=True), vocabulary, shuffle_seed)
        return
    for some in batched(iter_articles(train), ARTICLES_AT_ONCE):
        yield vocabulary.encode(some, setting, grow=True)


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
