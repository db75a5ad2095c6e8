"""Decodings of n-gram models against enumeration, the truncation of neural models, and plain loops."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
import torch
from ngrams import LETTERS, counted, fitted, random_texts, words_of
from scipy.stats import chisquare

from textcritic.generators.drawing import truncate
from textcritic.generators.ngram import draws as ngram_draws
from textcritic.generators.ngram import ranks
from textcritic.generators.ngram.draws import draw_texts
from textcritic.generators.ngram.model import NgramModel
from textcritic.generators.ngram.ranks import Truncated
from textcritic.generators.ngram.words import END_ID, Vocabulary
from textcritic.generators.uniforms import Uniforms
from textcritic.plan.entries import Decoding

# Shares p that no words have exactly: at such a p, the rounding of a neural model's logits would decide.
TRUNCATIONS = [
    {"top_p": 0.5013},
    {"top_p": 0.9013},
    {"top_p": 1e-9},
    {"top_k": 1},
    {"top_k": 3},
    {"top_k": 100},
    {"temperature": 0.5},
    {"temperature": 3.0},
    {"top_k": 4, "top_p": 0.7013},
    {"temperature": 0.7, "top_k": 3, "top_p": 0.8013},
    {"temperature": 1.5, "top_p": 0.6013},
]
BEAMS = [
    {"method": "beam-sampling", "beam": 2},
    {"method": "beam-sampling", "beam": 5},
    {"method": "best-of", "beam": 2},
    {"method": "best-of", "beam": 5},
    {"method": "best-of", "beam": 3, "top_p": 0.8013},
    {"method": "best-of", "beam": 3, "temperature": 0.5, "top_k": 2},
]


def after(model: NgramModel) -> dict[tuple[int, ...], dict[int, int]]:
    """How often each word follows each context of order - 1 words, in the order of the words' numbers."""
    grams: list[tuple[int, ...]] = [()]
    for keys in model.keys:
        grams = [(*grams[key // model.size], key % model.size) for key in keys.tolist()]
    follows: dict[tuple[int, ...], dict[int, int]] = {}
    for gram, count in zip(grams, np.diff(model.cumulative[-1]).tolist(), strict=True):
        if count:
            follows.setdefault(gram[:-1], {})[gram[-1]] = count
    return follows


def truncated(counts: dict[int, int], decoding: Decoding) -> tuple[dict[int, float], dict[int, float]]:
    """Probabilities of the words after a context, by what cuts the logits of neural models; and uncut."""
    logits = torch.tensor([list(counts.values())], dtype=torch.float64).log()
    uncut = torch.softmax(logits / decoding.temperature, dim=-1)[0].tolist()
    cut = torch.softmax(truncate(logits, decoding), dim=-1)[0].tolist()
    return tuple(dict(zip(counts, shares, strict=True)) for shares in (cut, uncut))


@pytest.mark.parametrize("at_once", [3, 10**6])
@pytest.mark.parametrize("keys", TRUNCATIONS)
def test_words_after_every_context_are_cut_as_those_of_neural_models(monkeypatch, keys, at_once):
    """With numbers spread evenly over [0, 1), a word is drawn as often as its probability says, up to one draw."""
    monkeypatch.setattr(ranks, "NGRAMS_AT_ONCE", at_once)
    model, _ = fitted(3)
    decoding = Decoding(**keys)
    scheme = Truncated(model.ranked, decoding)
    draws = 500
    numbers = (np.arange(draws) + 0.5) / draws
    starts = model.cumulative[-1][model.first[-1]]
    contexts = np.flatnonzero(np.diff(starts))
    follows = list(after(model).values())
    assert len(contexts) == len(follows) > 40
    assert max(map(len, follows)) > 6
    for context, counts in zip(contexts, follows, strict=True):
        words, log_probs = scheme.draw(np.full(draws, context), numbers)
        cut, uncut = truncated(counts, decoding)
        drawn = Counter(words.tolist())
        for word, probability in cut.items():
            assert abs(drawn[word] - draws * probability) <= 1
            assert (drawn[word] > 0) <= (probability > 0)
        np.testing.assert_allclose(log_probs, [np.log(uncut[word]) for word in words.tolist()], atol=1e-9)


def test_words_as_likely_as_the_kth_stay_and_the_word_that_crosses_p_stays():
    vocabulary = Vocabulary("abcd")
    model = counted(vocabulary, words_of(vocabulary, [["a"]] * 4 + [["b"], ["c"], ["d"], []]), 2)
    context = model.begin()[-1:]
    numbers = np.linspace(0, 1, 300, endpoint=False)

    def drawn(**keys: float) -> set[int]:
        return set(Truncated(model.ranked, Decoding(**keys)).draw(context.repeat(300), numbers)[0].tolist())

    assert drawn(top_k=1) == {2}
    assert drawn(top_k=2) == {0, 2, 3, 4, 5}
    assert drawn(top_p=0.5) == {2}
    assert drawn(top_p=0.51) == {0, 2}
    assert drawn(top_p=0.625) == {0, 2}
    assert drawn(top_p=0.63) == {0, 2, 3}
    assert drawn(top_p=0.63, temperature=0.5) == {2}


@pytest.mark.parametrize("keys", [{"top_p": 0.8013}, {"top_k": 2}, {"temperature": 0.6, "top_p": 0.9}])
def test_whole_texts_have_their_exact_probabilities(keys):
    """All texts of up to three words over three letters, enumerated, against 20,000 draws."""
    vocabulary, longest, draws = Vocabulary("abc"), 3, 20_000
    model = counted(vocabulary, words_of(vocabulary, random_texts(60, seed=4, letters="abc", longest=5)), 3)
    decoding = Decoding(max_tokens=longest, **keys)
    cut = {context: truncated(counts, decoding)[0] for context, counts in after(model).items()}
    exact: dict[tuple[int, ...], float] = {}
    for ids in product([END_ID, 2, 3, 4], repeat=longest):
        text = ids[: ids.index(END_ID) + 1] if END_ID in ids else ids
        padded = (END_ID, END_ID, *text)
        steps = [cut.get(padded[at : at + 2], {}).get(padded[at + 2], 0.0) for at in range(len(text))]
        exact[text] = float(np.prod(steps))
    assert sum(exact.values()) == pytest.approx(1)
    counts = Counter(tuple(ids.tolist()) for _, ids, _ in draw_texts(model, decoding, 9, range(draws)))
    assert set(counts) <= {text for text, probability in exact.items() if probability > 0}
    common = [text for text in exact if exact[text] * draws >= 5]
    assert len(common) > 5
    expected = np.array([exact[text] for text in common])
    observed = np.array([counts[text] for text in common])
    assert chisquare(observed, expected * observed.sum() / expected.sum()).pvalue > 0.001
    assert observed.sum() > 0.99 * draws


def plain_draw(counts: dict[int, int], number: float) -> int:
    """The word at a number in [0, 1), in the order of the dictionary."""
    target = int(number * sum(counts.values()))
    for word, count in counts.items():
        target -= count
        if target < 0:
            return word
    raise AssertionError(number)


def plain_beams(follows: dict[tuple[int, ...], dict[int, int]], numbers: Uniforms, k: int, longest: int) -> list[int]:
    """Beam sampling of one text, hypothesis by hypothesis: (score, words, whether it ended)."""
    hypotheses: list[tuple[float, list[int], bool]] = [(0.0, [], False)] + [(-np.inf, [], False)] * (k - 1)
    for _ in range(longest):
        candidates = []
        for score, words, ended in hypotheses:
            drawn = [numbers.next(np.array([0]))[0] for _ in range(k)]
            if ended:
                continue
            counts = follows[(END_ID, END_ID, *words)[-2:]]
            for word in dict.fromkeys(plain_draw(counts, number) for number in drawn):
                log_prob = np.log(counts[word] / sum(counts.values()))
                candidates.append((score + log_prob, [*words, word], word == END_ID))
        candidates += [hypothesis for hypothesis in hypotheses if hypothesis[2]]
        candidates.sort(key=lambda candidate: -candidate[0])
        candidates = [candidate for candidate in candidates if candidate[0] > -np.inf]
        hypotheses = candidates[:k] + [(-np.inf, [], False)] * (k - len(candidates))
        if hypotheses[0][2]:
            break
    return hypotheses[0][1]


@pytest.mark.parametrize("longest", [3, 30])
@pytest.mark.parametrize("beam", [2, 3, 5])
def test_beam_sampling_equals_plain_loops_over_the_same_numbers(beam, longest):
    model, _ = fitted(3)
    follows = after(model)
    decoding = Decoding(method="beam-sampling", beam=beam, max_tokens=longest)
    finishes = Counter()
    for index, ids, finish in draw_texts(model, decoding, 4, range(7, 107)):
        assert ids.tolist() == plain_beams(follows, Uniforms.of(4, [index]), beam, longest)
        assert finish == ("end" if ids[-1] == END_ID else "length")
        finishes[finish] += 1
    assert set(finishes) == ({"end", "length"} if longest == 3 else {"end"})


@pytest.mark.parametrize("keys", [keys for keys in BEAMS if keys["method"] == "best-of"])
@pytest.mark.parametrize("longest", [4, 30])
def test_the_best_of_several_draws_equals_plain_loops_over_the_same_numbers(keys, longest):
    model, _ = fitted(3)
    follows, decoding = after(model), Decoding(max_tokens=longest, **keys)
    cut = {context: truncated(counts, decoding) for context, counts in follows.items()}
    whole = set(keys) == {"method", "beam"}
    differ = 0
    for index, ids, finish in draw_texts(model, decoding, 4, range(60)):
        draws = []
        for number in range(decoding.beam):
            numbers = Uniforms.of(4, [decoding.beam * index + number])
            words, log_probs = [], []
            while len(words) < longest and END_ID not in words:
                context = (END_ID, END_ID, *words)[-2:]
                shares, uncut = cut[context]
                at = numbers.next(np.array([0]))[0]
                words.append(plain_draw(follows[context], at) if whole else at_rank(shares, at))
                log_probs.append(np.log(uncut[words[-1]]))
            draws.append((words, log_probs))
        scores = [np.mean(log_probs) for _, log_probs in draws]
        assert ids.tolist() == draws[int(np.argmax(np.round(scores, 12)))][0]
        assert finish == ("end" if ids[-1] == END_ID else "length")
        differ += len({tuple(words) for words, _ in draws}) > 1
    assert differ > 20


def at_rank(shares: dict[int, float], number: float) -> int:
    """The word at a number in [0, 1), the likeliest first."""
    ordered = sorted((word for word in shares if shares[word] > 0), key=lambda word: (-round(shares[word], 12), word))
    at = int(np.searchsorted(np.cumsum([shares[word] for word in ordered]), number, side="right"))
    return ordered[min(at, len(ordered) - 1)]


@pytest.mark.parametrize("keys", [{}, *TRUNCATIONS[-2:], *BEAMS[::2]])
def test_a_text_depends_neither_on_its_batch_nor_on_its_shard(monkeypatch, keys):
    model, _ = fitted(3)
    decoding = Decoding(max_tokens=12, **keys)
    whole = [(index, ids.tolist(), finish) for index, ids, finish in draw_texts(model, decoding, 5, range(40))]
    monkeypatch.setattr(ngram_draws, "TEXTS_AT_ONCE", 7)
    for part in (range(40), range(13, 40, 9), [38, 2]):
        drawn = [(index, ids.tolist(), finish) for index, ids, finish in draw_texts(model, decoding, 5, part)]
        assert drawn == [whole[index] for index in part]
    other = [ids.tolist() for _, ids, _ in draw_texts(model, decoding, 6, range(40))]
    assert other != [ids for _, ids, _ in whole]


@pytest.mark.parametrize("keys", [{}, *TRUNCATIONS[::3], *BEAMS[::3]])
@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_every_n_gram_of_a_text_occurs_in_train(order, keys):
    """Facts of the paper, 1.4; a text that has ended ends as one of train does."""
    model, train = fitted(order)
    names = ["", "?", *LETTERS]
    seen = {gram for text in train for gram in grams([*text, ""], order)}
    drawn = [ids.tolist() for _, ids, _ in draw_texts(model, Decoding(max_tokens=40, **keys), 1, range(50))]
    assert {gram for ids in drawn for gram in grams([names[word] for word in ids], order)} <= seen
    assert all(END_ID not in ids[:-1] for ids in drawn)


def grams(words: list[str], order: int) -> list[tuple[str, ...]]:
    padded = [""] * (order - 1) + words
    return [tuple(padded[at : at + order]) for at in range(len(words))]
