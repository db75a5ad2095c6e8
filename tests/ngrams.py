"""Small n-gram models for tests."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from textcritic.generators.ngram.counts import count_ngrams, write_codes
from textcritic.generators.ngram.model import NgramModel, load, save
from textcritic.generators.ngram.ranks import write_ranks
from textcritic.generators.ngram.words import END_ID, UNKNOWN_ID, Vocabulary, Words

LETTERS = "abcdefg"


def random_texts(number: int, seed: int, letters: str = LETTERS, longest: int = 9) -> list[list[str]]:
    """Texts from a first-order process, so that higher orders are sparse but not empty."""
    rng = np.random.default_rng(seed)
    shares = np.random.default_rng(0).dirichlet(np.full(len(letters), 0.4), size=len(letters) + 1)
    texts = []
    for _ in range(number):
        text, last = [], len(letters)
        for _ in range(rng.integers(1, longest)):
            last = rng.choice(len(letters), p=shares[last])
            text.append(letters[last])
        texts.append(text)
    return texts


def words_of(vocabulary: Vocabulary, texts: list[list[str]]) -> Words:
    known = {word: number for number, word in enumerate(vocabulary.words, start=2)}
    ids = [[*(known.get(word, UNKNOWN_ID) for word in text), END_ID] for text in texts]
    lengths = np.array([len(part) for part in ids])
    return Words(np.concatenate(ids).astype(np.int64), np.zeros(lengths.sum(), np.uint8), lengths)


def counted(vocabulary: Vocabulary, words: Words, order: int, memory_mb: float = 10) -> NgramModel:
    """A model of maximum likelihood; its files are deleted, but what was opened can still be read."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        codes = write_codes(folder / "codes", [words], order, vocabulary, "train")
        count_ngrams(codes, folder, memory_mb)
        model = NgramModel.of(folder, vocabulary, order)
        write_ranks(folder, model.keys[-1], model.cumulative[-1], model.first[-1], model.size)
        save(model, folder)
        return load(folder)


def fitted(order: int, smoothing: str = "none") -> tuple[NgramModel, list[list[str]]]:
    """A model of 200 texts of `LETTERS`, and the texts."""
    train = random_texts(200, seed=1)
    vocabulary = Vocabulary(LETTERS)
    model = counted(vocabulary, words_of(vocabulary, train), order)
    if smoothing == "interpolated":
        interpolate(model, random_texts(80, seed=2, letters=LETTERS + "xyz"))
    return model, train


def interpolate(model: NgramModel, validation: list[list[str]]) -> None:
    """Make a mixture of a model of maximum likelihood."""
    model.fit_weights(words_of(model.vocabulary, validation))
    model.ranked = None
