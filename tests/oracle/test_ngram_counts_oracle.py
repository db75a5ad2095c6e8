"""n-grams counted on disk, in parts of any size, against plain loops over all of them."""

from collections import Counter

import numpy as np
import pytest
from ngrams import LETTERS, counted, random_texts, words_of

from textcritic.generators.ngram import counts, ranks
from textcritic.generators.ngram.counts import Codes, count_ngrams, write_codes
from textcritic.generators.ngram.words import END_ID, UNKNOWN_ID, Vocabulary

BYTES = 2**20


def plainly(ids: list[list[int]], order: int) -> list[dict[tuple[int, ...], int]]:
    """How often each k-gram occurs, k = 1 .. order, in order; 0 for those that lie before an article's first word."""
    every = [Counter[tuple[int, ...]]() for _ in range(order)]
    for text in ids:
        padded = [END_ID] * (order - 1) + text
        for stop in range(1, len(padded) + 1):
            for k in range(1, min(order, stop) + 1):
                every[k - 1][tuple(padded[stop - k : stop])] += stop >= order
    return [dict(sorted(of_length.items())) for of_length in every]


def assert_counts(folder, expected: list[dict[tuple[int, ...], int]], size: int) -> None:
    """The arrays against the n-grams, by what the model says of each of them."""
    expected[0] = {(word,): expected[0].get((word,), 0) for word in range(size)}
    for k, grams in enumerate(expected, start=1):
        keys, cumulative, first = (np.load(folder / f"{name}{k}.npy") for name in ("keys", "cumulative", "first"))
        shorter = list(expected[k - 2]) if k > 1 else [()]
        number = {gram: index for index, gram in enumerate(shorter)}
        assert keys.tolist() == [number[gram[:-1]] * size + gram[-1] for gram in grams]
        assert np.diff(cumulative).tolist() == list(grams.values())
        assert cumulative[0] == 0
        starts = [sum(gram[:-1] < context for gram in grams) for context in shorter]
        assert first.tolist() == [*starts, len(grams)]


@pytest.mark.parametrize("memory", [8, 24, 8 * 40, 8 * 10**6])
@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_counts_in_parts_equal_plain_counts(tmp_path, monkeypatch, order, memory):
    """Parts of one, three or 40 n-grams: a word has up to 100, so that words are divided by the next one, and so on."""
    monkeypatch.setattr(counts, "CODES_AT_ONCE", 37)
    monkeypatch.setattr(counts, "RECORDS_AT_ONCE", 5)
    vocabulary = Vocabulary([*LETTERS, "never"])
    texts = [*random_texts(60, seed=1), [], ["unknown", "a"], []]
    words = words_of(vocabulary, texts)
    codes = write_codes(tmp_path / "codes", [words], order, vocabulary, "train")
    assert (codes.tokens, codes.articles, codes.empty) == (len(words.ids), 63, 2)
    different = count_ngrams(codes, tmp_path, memory / BYTES)
    expected = plainly([part.tolist() for part in np.split(words.ids, np.cumsum(words.lengths)[:-1])], order)
    assert different == sum(count > 0 for grams in expected for count in grams.values())
    assert_counts(tmp_path, expected, len(vocabulary))


@pytest.mark.parametrize("order", [2, 3, 4])
def test_without_an_empty_article_there_is_no_gram_of_ends_alone(tmp_path, order):
    vocabulary = Vocabulary(LETTERS)
    words = words_of(vocabulary, random_texts(30, seed=3))
    different = count_ngrams(write_codes(tmp_path / "codes", [words], order, vocabulary, "train"), tmp_path, 1)
    expected = plainly([part.tolist() for part in np.split(words.ids, np.cumsum(words.lengths)[:-1])], order)
    assert different == sum(count > 0 for grams in expected for count in grams.values())
    assert_counts(tmp_path, expected, len(vocabulary))


def test_keys_of_two_numbers_make_the_same_counts(tmp_path):
    """5 words of 70,000 do not fit into 64 bits; those of 3 do: their n-grams of lengths 2 and 3 are the same."""
    vocabulary = Vocabulary(map(str, range(70_000)))
    rng = np.random.default_rng(0)
    texts = [[str(word) for word in rng.zipf(1.3, 20) % 70_000] for _ in range(300)]
    words = words_of(vocabulary, texts)
    layouts = {order: counts._Layout(len(vocabulary) + 1, order) for order in (3, 5)}
    assert [len(layouts[order].groups(0, 70_003)) for order in (3, 5)] == [1, 2]
    folders = {order: tmp_path / str(order) for order in (3, 5)}
    for order, folder in folders.items():
        folder.mkdir()
        count_ngrams(write_codes(folder / "codes", [words], order, vocabulary, "train"), folder, 0.05)
    grams = {order: [decoded(folder, k, len(vocabulary)) for k in (2, 3)] for order, folder in folders.items()}
    real = [{gram: count for gram, count in of_length.items() if count} for of_length in grams[5]]
    assert real == [{gram: count for gram, count in of_length.items() if count} for of_length in grams[3]]
    assert len(real[1]) > 3000


def decoded(folder, k: int, size: int) -> dict[tuple[int, ...], int]:
    """The k-grams with their counts, from the arrays."""
    grams = [()]
    for length in range(1, k + 1):
        keys = np.load(folder / f"keys{length}.npy").tolist()
        grams = [(*grams[key // size], key % size) for key in keys]
    assert grams == sorted(grams)
    return dict(zip(grams, np.diff(np.load(folder / f"cumulative{k}.npy")).tolist(), strict=True))


def test_a_part_is_as_wide_as_64_bits_allow():
    """At the paper's size, three words of 5.32 million: parts of some 650,000 first words, each key one number."""
    layout = counts._Layout(5_320_003, 3)
    assert layout.bytes == 8
    assert layout.width * 5_320_003**2 < 2**64 <= (layout.width + 1) * 5_320_003**2
    assert layout.width > 600_000


def test_the_articles_can_be_read_back_from_the_scratch_file(tmp_path, monkeypatch):
    monkeypatch.setattr(counts, "CODES_AT_ONCE", 11)
    vocabulary = Vocabulary(LETTERS)
    words = words_of(vocabulary, [*random_texts(20, seed=5), [], ["unknown"]])
    codes = write_codes(tmp_path / "codes", words.chunks(), 3, vocabulary, "train")
    assert isinstance(codes, Codes)
    back = list(codes.words())
    assert np.concatenate([piece.ids for piece in back]).tolist() == words.ids.tolist()
    assert np.concatenate([piece.lengths for piece in back]).tolist() == words.lengths.tolist()
    assert len(back) > 5


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("at_once", [1, 7, 10**6])
def test_continuations_are_ranked_by_count_and_then_by_word(monkeypatch, order, at_once):
    monkeypatch.setattr(ranks, "NGRAMS_AT_ONCE", at_once)
    vocabulary = Vocabulary(LETTERS)
    model = counted(vocabulary, words_of(vocabulary, random_texts(100, seed=6)), order)
    words, number = model.keys[-1] % model.size, np.diff(model.cumulative[-1])
    for low, high in zip(model.first[-1], model.first[-1][1:], strict=False):
        ranked = sorted(range(low, high), key=lambda at: (-number[at], words[at]))
        assert model.ranked.words[low:high].tolist() == words[ranked].tolist()
        assert np.diff(model.ranked.cumulative)[low:high].tolist() == number[ranked].tolist()
    assert len(model.ranked.words) == len(words)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_loss_of_train_is_that_of_its_words(order):
    vocabulary = Vocabulary(LETTERS)
    words = words_of(vocabulary, random_texts(100, seed=7))
    model = counted(vocabulary, words, order)
    assert model.train_nll() == pytest.approx(model.nll(words).sum(), rel=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_probabilities_after_a_context_sum_to_one(order):
    """After every context that a word follows (equation 16 of "Beyond Perplexity")."""
    vocabulary = Vocabulary(LETTERS)
    model = counted(vocabulary, words_of(vocabulary, random_texts(100, seed=8)), order)
    contexts = np.flatnonzero(np.diff(model.cumulative[-1][model.first[-1]]))
    sums = np.zeros(len(contexts))
    for word in range(model.size):
        found = model.find(order, contexts, np.full(len(contexts), word))
        count = np.where(found >= 0, np.diff(model.cumulative[-1])[found], 0)
        sums += count / model.total(order, contexts)
    np.testing.assert_allclose(sums, 1, rtol=1e-12)
    assert UNKNOWN_ID not in set((model.keys[-1][np.diff(model.cumulative[-1]) > 0] % model.size).tolist())
