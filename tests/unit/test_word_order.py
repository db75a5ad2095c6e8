"""The order of words: pointwise mutual information of neighbours, against a table; and measures that learn first."""

import math
from collections import Counter
from dataclasses import replace

import pytest
from own_in_memory import own_scores

import textcritic
from textcritic.corpora import Article, Section, write_articles
from textcritic.critics.own import fitted, measure_documents, measured_of, score_own
from textcritic.critics.word_order import PRIOR, order_of_words, pairs_of
from textcritic.errors import TextcriticError
from textcritic.files import read_table
from textcritic.measures.measure import Resampling
from textcritic.measures.memory import REAL
from textcritic.measures.own import load_metric, metric_of

NAME = "textcritic.critics.word_order:order_of_words"
TRAIN = ["The cat sat on the mat.", "The dog sat on the cat"]


def document(text, name="d"):
    return Article(name, None, (Section(None, text),), "s", None)


def test_it_is_the_mean_of_the_logarithms_of_two_probabilities():
    """Probabilities by hand: of a word with one count added, and of one after another with five, shared out so."""
    model = pairs_of([document(text) for text in TRAIN])
    words = [text.lower().strip(".").split() for text in TRAIN]
    alone = Counter(word for some in words for word in some)
    total, types = 12, 6 + 1

    def p(word):
        return (alone[word] + 1) / (total + types)

    def after(before, word):
        seen = sum(some[n : n + 2] == [before, word] for some in words for n in range(5))
        return (seen + PRIOR * p(word)) / (sum(some[:-1].count(before) for some in words) + PRIOR)

    pairs = [("the", "dog"), ("dog", "sat"), ("sat", "zebra"), ("zebra", "the")]
    expected = sum(math.log(after(*pair) / p(pair[1])) for pair in pairs)
    top, bottom = order_of_words(document("The dog sat, zebra the"), model)
    assert (top, bottom) == (pytest.approx(expected, rel=1e-12), 4.0)
    # All that may follow a word, one that was never seen among it, has probability 1.
    assert sum(after("the", word) for word in alone) + after("the", "zebra") == pytest.approx(1)


def test_real_words_follow_better_than_shuffled_ones_and_copies_better_than_real_ones():
    model = pairs_of([document("one two three four five six seven eight nine ten " * 3)] * 20)
    straight, back = (order_of_words(document(text), model) for text in (NUMBERS, " ".join(NUMBERS.split()[::-1])))
    assert straight[0] > 0 > back[0]
    assert order_of_words(document("one"), model).reason == "fewer than 2 words"


NUMBERS = "one two three four five six seven eight nine ten"


def test_a_measure_that_learns_gets_the_train_split(tmp_path):
    """By files, as rules and commands have it, and in memory: the same numbers."""
    train, test = [[document(text, str(n)) for n, text in enumerate(texts)] for texts in (TRAIN, [NUMBERS, TRAIN[0]])]
    for name, articles in (("train", train), ("test", test)):
        write_articles(tmp_path / f"{name}.parquet", articles)
    metric = load_metric(NAME)
    score_own(metric, tmp_path / "test.parquet", tmp_path / "scores.parquet", train=tmp_path / "train.parquet")
    of_files = read_table(tmp_path / "scores.parquet")
    of_memory = measure_documents(fitted(metric, train), test, 2)
    assert of_files.equals(of_memory.replace_schema_metadata(of_files.schema.metadata))
    model = pairs_of(train)
    assert measured_of(of_files).pairs.tolist() == [list(order_of_words(one, model)) for one in test]


def test_the_partner_of_a_document_that_was_learnt_from_is_left_out(tmp_path):
    groups = {"train": ["one", None], "test": ["one", "two", None]}
    texts = {"train": TRAIN, "test": [TRAIN[0], NUMBERS, TRAIN[1]]}
    for name, names in groups.items():
        some = [replace(document(text, str(n)), group=names[n]) for n, text in enumerate(texts[name])]
        write_articles(tmp_path / f"{name}.parquet", some)
    files = [tmp_path / f"{name}.parquet" for name in ("test", "scores", "train")]
    score_own(load_metric(NAME), *files[:2], train=files[2], strangers=True)
    found = {row["id"]: row["why"] for row in read_table(files[1]).to_pylist()}
    assert found == {"0": "its group is in the real text that was fitted on", "1": None, "2": None}
    score_own(load_metric("textcritic.critics.plain:repeated"), *files[:2], train=files[2], strangers=True)
    assert "its group" not in str(read_table(files[1])["why"].to_pylist())  # it learns nothing


def test_documents_in_another_order_of_words_are_lower():
    texts = [f"the {a} sat on the {b} and the {b} sat on the {a}" for a in "abcdef" for b in "ghijk"]
    back = [" ".join(text.split()[::-1]) for text in texts]
    sets = {REAL: [document(text) for text in texts], "back": [document(text) for text in back]}
    real, sample = own_scores([load_metric(NAME)], sets, Resampling(300), sets[REAL])
    assert (sample.key, sample.verdict, sample.way) == ("order_of_words", "different", "lower")
    assert real.value > sample.value


def test_a_fault_of_what_learns_is_one_line(tmp_path):
    def learn(documents):
        raise ValueError("no")

    def size(d, model):
        return model

    metric = metric_of(textcritic.measure(title="Size", fit=learn)(size))
    with pytest.raises(TextcriticError, match=r"size: fit: .*test_word_order.py:\d+: ValueError: no"):
        fitted(metric, [])
    with pytest.raises(TextcriticError, match=r"measure 'Size': fit: 3 should be a function of a list of documents"):
        textcritic.measure(title="Size", fit=3)
