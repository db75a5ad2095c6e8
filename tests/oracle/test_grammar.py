"""The known grammar: its probabilities by enumeration of trees, by drawn sentences, and by nltk's parser."""

import math
from itertools import product

import nltk
import numpy as np
import pytest
from grammar_oracle import expected_length, log_probability
from tree_oracle import all_trees

from textcritic.corpora.structured.texts import SHIFT
from textcritic.corpora.synthetic.grammar import draw_trees, known_grammar

GRAMMAR = known_grammar()
DRAWN = draw_trees(4_000, 3)


def inside_of_tree(words, actions):
    """P(words with this tree), by symbols of the root, [symbols]."""
    stack, at = [], 0
    for action in actions:
        if action == SHIFT:
            stack.append(GRAMMAR.lexicon[:, GRAMMAR.words.index(words[at])])
            at += 1
        else:
            right, left = stack.pop(), stack.pop()
            stack.append(np.einsum("abc,b,c->a", GRAMMAR.rules, left, right))
    return stack.pop()


def test_each_symbol_is_a_distribution():
    rows = GRAMMAR.rules.sum(axis=(1, 2)) + GRAMMAR.lexicon.sum(axis=1)
    np.testing.assert_allclose(rows, 1, rtol=1e-12)
    assert 60 <= len(GRAMMAR.words) <= 100


def test_the_inside_algorithm_is_the_sum_over_all_trees():
    texts = [text for text in DRAWN if len(text.tokens) <= 7][:60]
    texts += [text for text in DRAWN if len(text.tokens) == 7][:10]
    expected = [
        math.log(sum(inside_of_tree(text.tokens, tree)[0] for tree in all_trees(len(text.tokens)).tolist()))
        for text in texts
    ]
    np.testing.assert_allclose(log_probability(GRAMMAR, [text.tokens for text in texts]), expected, rtol=0, atol=1e-10)


def test_nltk_finds_the_same_probability():
    lines = [f"s{a} -> s{b} s{c} [{GRAMMAR.rules[a, b, c]:.17g}]" for a, b, c in np.argwhere(GRAMMAR.rules > 0)]
    for a, word in np.argwhere(GRAMMAR.lexicon > 0):
        lines.append(f"s{a} -> '{GRAMMAR.words[word]}' [{GRAMMAR.lexicon[a, word]:.17g}]")
    parser = nltk.InsideChartParser(nltk.PCFG.fromstring(lines))
    text = next(text for text in DRAWN if 8 <= len(text.tokens) <= 9)
    expected = math.log(sum(tree.prob() for tree in parser.parse(text.tokens)))
    assert log_probability(GRAMMAR, [text.tokens])[0] == pytest.approx(expected, abs=1e-9)


def test_drawn_sentences_have_these_probabilities():
    number = len(DRAWN)
    for words in ((), ("the",), ("Anna",)):  # sentences of two words more
        texts = [(*words, *rest) for rest in product(GRAMMAR.words, repeat=2)]
        share = float(np.exp(log_probability(GRAMMAR, texts)).sum())
        found = sum(len(text.tokens) == len(words) + 2 and text.tokens[: len(words)] == words for text in DRAWN)
        assert share > 0.002
        assert abs(found - share * number) < 3.5 * math.sqrt(share * (1 - share) * number)
    lengths = np.array([len(text.tokens) for text in DRAWN])
    error = lengths.std() / number**0.5
    assert abs(lengths.mean() - expected_length(GRAMMAR)) < 3.5 * error


def test_the_drawn_tree_is_one_of_the_sentence():
    for text in DRAWN[:50]:
        of_tree = math.log(inside_of_tree(text.tokens, text.actions)[0])
        assert -math.inf < of_tree <= log_probability(GRAMMAR, [text.tokens])[0] + 1e-9


def test_long_sentences_and_impossible_ones():
    longest = max(DRAWN, key=lambda text: len(text.tokens)).tokens
    assert len(longest) > 30
    values = log_probability(
        GRAMMAR, [longest, ("dog", "the"), ("the", "wug", "sleeps"), ("Anna",), ("Anna", "sleeps")]
    )
    assert np.isfinite(values[[0, 4]]).all()
    assert np.isneginf(values[1:4]).all()


def test_draws_depend_on_the_seed():
    assert draw_trees(5, 3) == DRAWN[:5]
    assert [text.tokens for text in draw_trees(5, 4)] != [text.tokens for text in DRAWN[:5]]
    assert len({text.group for text in DRAWN}) == len(DRAWN)
