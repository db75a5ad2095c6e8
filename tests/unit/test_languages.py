"""Artificial languages: what is drawn follows the recipe, and mixing has the rate that was asked for."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from textcritic.corpora.parallel.build import build_parallel
from textcritic.corpora.synthetic.languages import draw_sentences, mixed, translate
from textcritic.errors import TextcriticError
from textcritic.plan.entries import Corpus
from textcritic.plan.entries.parallel import LanguageOptions

RECIPE = LanguageOptions(sentences=3000, vocabulary=100, shared=0.2, shortest=3, longest=7, seed=3)


@pytest.fixture(scope="module")
def drawn():
    return draw_sentences(RECIPE)


def test_word_orders_by_hand():
    words = np.arange(7)
    assert translate(words, 0).tolist() == [1, 0, 3, 2, 5, 4, 6]
    assert translate(words, 1).tolist() == [2, 1, 0, 5, 4, 3, 6]
    assert translate(words, 2).tolist() == [3, 2, 1, 0, 6, 5, 4]


def test_spellings_overlap_by_the_share_and_nothing_else(drawn):
    tables = [drawn.source, *drawn.spellings.values()]
    alike = np.all([table == drawn.source for table in tables], axis=0)
    assert alike.sum() == 20
    counts = Counter(word for table in tables for word in table)
    assert Counter(counts.values()) == {4: 20, 1: 4 * 80}
    assert all((alike[start : start + 10].sum()) == 2 for start in range(0, 100, 10))  # over all ranks


def test_lengths_are_uniform_and_words_follow_zipf(drawn):
    lengths = Counter(map(len, drawn.sentences))
    assert set(lengths) == {3, 4, 5, 6, 7}
    assert all(abs(count - 600) < 100 for count in lengths.values())
    first = np.bincount([words[0] for words in drawn.sentences], minlength=100)
    expected = 3000 / np.arange(1, 101) / np.sum(1 / np.arange(1, 101))
    assert ((first - expected) ** 2 / expected).sum() < 99 + 5 * np.sqrt(2 * 99)  # chi-square, 99 degrees of freedom


def test_a_word_is_followed_by_its_followers_half_of_the_time(drawn):
    after = Counter(int(b) for words in drawn.sentences for a, b in pairwise(words) if a == 0)
    four = sum(count for _, count in after.most_common(4)) / sum(after.values())
    assert 0.5 < four < 0.95
    assert max(after.values()) / sum(after.values()) > 0.1


def test_translations_without_mixing_are_word_by_word(drawn):
    sentences = list(mixed(drawn, 0, seed=1))
    assert len(sentences) == 3000
    numbers = {word: number for number, word in enumerate(drawn.source)}
    for sentence in sentences[:50]:
        words = np.array([numbers[word] for word in sentence.text.split()])
        for place, (name, text) in enumerate(sentence.translations.items()):
            assert text.split() == drawn.spellings[name][translate(words, place)].tolist()


@pytest.mark.parametrize("rate", [0.1, 0.5, 1.0])
def test_mixing_has_its_rate(drawn, rate):
    plain, strange = (list(mixed(drawn, r, seed=5)) for r in (0, rate))
    changed = total = 0
    alike = {word for word in drawn.source if word in set(drawn.spellings["de"])}
    elsewhere = Counter()
    for before, after in zip(plain, strange, strict=True):
        assert before.text == after.text
        pairs = zip(before.translations["de"].split(), after.translations["de"].split(), strict=True)
        for word, other in pairs:
            if word not in alike:
                total += 1
                changed += word != other
                elsewhere.update(name for name, table in drawn.spellings.items() if word != other and other in table)
    assert abs(changed / total - rate) < 4 * np.sqrt(rate * (1 - rate) / total) + 1e-12
    assert set(elsewhere) == {"es", "fr"}
    assert abs(elsewhere["es"] / changed - 0.5) < 4 * np.sqrt(0.25 / changed)


def test_seeds_and_the_first_sentences(drawn):
    again = draw_sentences(RECIPE)
    assert list(mixed(again, 0.3, 1)) == list(mixed(drawn, 0.3, 1))
    assert list(mixed(again, 0.3, 2)) != list(mixed(drawn, 0.3, 1))
    assert list(mixed(drawn.first(10), 0.3, 1)) == list(mixed(drawn, 0.3, 1))[:10]
    other = draw_sentences(RECIPE.changed(seed=4))
    assert other.sentences[0].tolist() != drawn.sentences[0].tolist() or (other.source != drawn.source).any()


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"longest": 2}, r"languages: longest: 2 is too few; at least 3"),
        ({"vocabulary": 10**6}, r"languages: vocabulary: 1,000,000 is too large; at most"),
    ],
)
def test_wrong_recipes_are_one_line(changes, fault):
    with pytest.raises(TextcriticError, match=fault):
        draw_sentences(RECIPE.changed(**changes))


def test_wrong_rates_are_one_line(drawn):
    with pytest.raises(TextcriticError, match=r"languages: mixing: 2 should be a share"):
        list(mixed(drawn, 2, seed=1))


def test_a_corpus_of_languages(tmp_path):
    options = {"languages": {"sentences": 100, "vocabulary": 30}}
    entry = Corpus.read({"extractor": "languages", "options": options}, "test")
    record = build_parallel(entry, tmp_path / "languages")
    assert record["sentences"] == 100
    assert record["translations"] == {"de": 100, "es": 100, "fr": 100}
    assert len(set(record["tokens"].values())) == 1
