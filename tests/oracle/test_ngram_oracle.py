"""n-gram probabilities and draws against nltk, exact fractions, and full enumeration."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from ngrams import LETTERS, counted, fitted, interpolate, random_texts, words_of
from nltk.lm import MLE
from nltk.lm.preprocessing import pad_both_ends
from nltk.util import everygrams
from scipy.stats import chisquare

from textcritic.generators.ngram import draws as ngram_draws
from textcritic.generators.ngram import words as ngram_words
from textcritic.generators.ngram.draws import draw_texts
from textcritic.generators.ngram.model import COUNT_BUCKETS, ROUNDS, TOLERANCE, NgramModel
from textcritic.generators.ngram.words import Vocabulary
from textcritic.plan.entries import Decoding


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_maximum_likelihood_equals_nltk(order):
    model, train = fitted(order)
    padded = [["<s>"] * (order - 1) + text + ["</s>"] for text in train]
    reference = MLE(order)
    grams = [gram for text in padded for gram in everygrams(text, max_len=order) if gram[-1] != "<s>"]
    reference.fit([grams], vocabulary_text=[word for text in padded for word in text])
    assert list(pad_both_ends("a", 2)) == ["<s>", "a", "</s>"]  # nltk's own names of the two ends
    test = [*random_texts(60, seed=3), ["a", "never"], []]
    words = words_of(model.vocabulary, test)
    expected = []
    for text in test:
        history = ["<s>"] * (order - 1)
        for word in [*text, "</s>"]:
            expected.append(reference.score(word, history[len(history) - order + 1 :]))
            history.append(word)
    np.testing.assert_allclose(np.exp(-model.nll(words)), expected, rtol=1e-12)


def interpolated(model: NgramModel, train: list[list[str]], history: tuple[str, ...], word: str) -> float:
    """The mixture of the docstring, from plain counts."""
    n = model.order
    counts: Counter[tuple[str, ...]] = Counter()
    for text in train:
        padded = ["</s>"] * (n - 1) + text + ["</s>"]
        for stop in range(n - 1, len(padded)):
            for k in range(n):
                counts[tuple(padded[stop - k : stop + 1])] += 1
    totals: Counter[tuple[str, ...]] = Counter()
    for gram, number in counts.items():
        totals[gram[:-1]] += number
    contexts = [history[len(history) - k :] for k in range(n)]
    longest = max(k for k in range(n) if totals[contexts[k]]) + 1
    power = min(int(np.log2(totals[contexts[longest - 1]])), COUNT_BUCKETS - 1)
    weights = model.weights[(longest - 1) * COUNT_BUCKETS + power]
    assert weights[longest + 1 :].sum() == 0
    assert weights.sum() == pytest.approx(1)
    probability = weights[0] / len(model.vocabulary)
    for k in range(1, longest + 1):
        context = contexts[k - 1]
        probability += weights[k] * counts[(*context, word)] / totals[context]
    return probability


def test_interpolation_equals_its_formula_and_sums_to_one():
    model, train = fitted(3, "interpolated")
    names = ["</s>", "<unk>", *LETTERS]
    for history in [("</s>", "</s>"), ("</s>", "a"), ("a", "b"), ("g", "g"), ("<unk>", "c"), ("c", "<unk>")]:
        text = [word for word in history if word != "</s>"]
        found = []
        for word in names:
            ids = words_of(model.vocabulary, [[*text, word]] if word != "</s>" else [text])
            found.append(np.exp(-model.nll(ids)[len(text)]))
        assert sum(found) == pytest.approx(1, abs=1e-12)
        expected = [interpolated(model, train, history, word) for word in names]
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def maximised(tokens: list[tuple[int, list[float]]], prior: dict[int, list[float]]) -> dict[int, list[float]]:
    """Expectation maximisation in plain loops: (group, probability under each order) of every token; see `ROUNDS`."""
    weights, before = prior, np.inf
    for _ in range(ROUNDS):
        evidence = [sum(w * p for w, p in zip(weights[group], shares, strict=True)) for group, shares in tokens]
        loss = -np.mean(np.log(evidence))
        if before - loss < TOLERANCE:
            break
        before = loss
        expected = {group: list(of_group) for group, of_group in prior.items()}  # the prior weighs one token
        for (group, shares), total in zip(tokens, evidence, strict=True):
            for k, share in enumerate(shares):
                expected[group][k] += weights[group][k] * share / total
        weights = {group: [x / sum(of_group) for x in of_group] for group, of_group in expected.items()}
    return weights


def test_the_weights_are_those_of_expectation_maximisation_in_two_stages():
    """First a set for each length of the longest seen context; with that as prior one for each power of its count."""
    order = 3
    model, train = fitted(order)
    counts = Counter(
        gram for text in train for gram in everygrams(["</s>"] * (order - 1) + text + ["</s>"], max_len=order)
    )
    padding = Counter(gram for _ in train for gram in everygrams(["</s>"] * (order - 1), max_len=order))
    counts = counts - padding
    totals: Counter[tuple[str, ...]] = Counter()
    for gram, number in counts.items():
        totals[gram[:-1]] += number
    validation = random_texts(80, seed=2, letters=LETTERS + "xyz")
    by_length, by_power = [], []
    for text in validation:
        padded = ["</s>"] * (order - 1) + text + ["</s>"]
        for at in range(order - 1, len(padded)):
            contexts = [tuple(padded[at - k : at]) for k in range(order)]
            shares = [1 / len(model.vocabulary)]
            shares += [counts[(*c, padded[at])] / totals[c] if totals[c] else 0.0 for c in contexts]
            longest = max(k for k in range(order) if totals[contexts[k]]) + 1
            power = int(np.log2(totals[contexts[longest - 1]]))
            by_length.append((longest, shares))
            by_power.append((longest * 100 + power, shares))
    flat = {n: [1 / (n + 1)] * (n + 1) + [0.0] * (order - n) for n in range(1, order + 1)}
    coarse = maximised(by_length, flat)
    fine = maximised(by_power, {group: coarse[group // 100] for group, _ in by_power})
    model.fit_weights(words_of(model.vocabulary, validation))
    for group, weights in fine.items():
        row = (group // 100 - 1) * COUNT_BUCKETS + group % 100
        np.testing.assert_allclose(model.weights[row], weights, rtol=1e-9)
    assert len(fine) > 8


def test_pieces_of_text_and_of_samples_change_nothing(monkeypatch):
    model, _ = fitted(3, "interpolated")
    words = words_of(model.vocabulary, random_texts(60, seed=3))
    whole = model.nll(words)
    drawn = [
        (index, ids.tolist(), finish) for index, ids, finish in draw_texts(model, Decoding(max_tokens=12), 5, range(30))
    ]
    monkeypatch.setattr(ngram_words, "TOKENS_AT_ONCE", 17)
    monkeypatch.setattr(ngram_draws, "TEXTS_AT_ONCE", 7)
    np.testing.assert_array_equal(model.nll(words), whole)
    assert [
        (index, ids.tolist(), finish) for index, ids, finish in draw_texts(model, Decoding(max_tokens=12), 5, range(30))
    ] == drawn
    pieces = [piece.lengths.tolist() for piece in words.chunks()]
    assert [length for piece in pieces for length in piece] == words.lengths.tolist()
    assert max(map(sum, pieces)) < 17 + words.lengths.max()  # so memory does not grow with the text
    assert len(pieces) > 10


def test_the_weights_are_where_expectation_maximisation_cannot_improve():
    model, _ = fitted(2, "interpolated")
    validation = words_of(model.vocabulary, random_texts(80, seed=2, letters=LETTERS + "xyz"))
    best = model.nll(validation).mean()
    rng = np.random.default_rng(0)
    weights = model.weights.copy()
    for _ in range(50):
        noisy = weights * np.exp(0.3 * rng.standard_normal(weights.shape))
        model.weights = noisy / noisy.sum(axis=1, keepdims=True)
        assert model.nll(validation).mean() > best - 1e-3  # the prior, which weighs one word, may cost a little


@pytest.mark.parametrize("smoothing", ["none", "interpolated"])
def test_draws_have_the_exact_probabilities(smoothing):
    """All articles of up to three words over three letters, enumerated, against 40,000 draws."""
    letters, longest = "abc", 3
    train = random_texts(40, seed=4, letters=letters, longest=5)
    vocabulary = Vocabulary(letters)
    model = counted(vocabulary, words_of(vocabulary, train), 3)
    if smoothing == "interpolated":
        interpolate(model, random_texts(40, seed=5, letters=letters + "x", longest=5))
    exact: dict[tuple[int, ...], float] = {}
    for length in range(longest + 1):
        for letters_drawn in product(letters, repeat=length):
            words = words_of(vocabulary, [list(letters_drawn)])
            steps = np.exp(-model.nll(words))
            # Given that no unknown word is drawn: divide each step by the mass of all others.
            unknown = words_of(vocabulary, [[*letters_drawn[:step], "unknown"] for step in range(length + 1)])
            last = np.cumsum(unknown.lengths) - 2
            steps /= 1 - np.exp(-model.nll(unknown)[last])
            ids = tuple(words.ids.tolist())
            if length < longest:
                exact[ids] = steps.prod()
            else:
                exact[ids[:-1]] = steps[:-1].prod()  # cut after three words
    assert sum(exact.values()) == pytest.approx(1)
    draws = 40_000
    counts = Counter(
        tuple(ids.tolist()) for _, ids, _ in draw_texts(model, Decoding(max_tokens=longest), 9, range(draws))
    )
    assert set(counts) <= {ids for ids, probability in exact.items() if probability > 0}
    common = [ids for ids in exact if exact[ids] * draws >= 5]
    rare = [ids for ids in exact if 0 < exact[ids] * draws < 5]
    observed = [counts[ids] for ids in common] + ([sum(counts[ids] for ids in rare)] if rare else [])
    expected = [exact[ids] * draws for ids in common] + ([sum(exact[ids] for ids in rare) * draws] if rare else [])
    assert len(common) > 15
    assert chisquare(observed, np.array(expected) * draws / sum(expected)).pvalue > 0.001
