"""Texts looked up in training text: every count and every longest stretch against Python sets, and where it stands."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from textcritic.critics.recitation import suffixes
from textcritic.critics.recitation.index import TrainIndex, index_articles, words_in
from textcritic.critics.recitation.scoring import EMPTY, LENGTHS, counts_of, score_documents
from textcritic.critics.recitation.suffixes import END, _Search, suffix_array
from textcritic.plan.entries import Recitation

WHITESPACE = Recitation(kind="recitation", tokenizer="whitespace", lower_case=False)


def index_of(texts: list[str], cutting: Recitation = WHITESPACE) -> TrainIndex:
    ids = pa.array([f"train-{n}" for n in range(len(texts))], pa.string())
    return index_articles([(ids, pa.array(texts, pa.string()))], cutting)


def scores_of(index: TrainIndex, texts: list[str]) -> pa.Table:
    ids = pa.array([f"text-{n}" for n in range(len(texts))], pa.string())
    return score_documents(index, ids, pa.array(texts, pa.string()))


def grams(words: list[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[start : start + n]) for start in range(len(words) - n + 1)]


def longest_of(words: list[str], train: list[list[str]]) -> tuple[int, int]:
    """Words of the longest stretch that a training document has, and its first word; the first of several."""
    for size in range(len(words), 0, -1):
        known = {gram for document in train for gram in grams(document, size)}
        for begin, gram in enumerate(grams(words, size)):
            if gram in known:
                return size, begin
    return 0, 0


def random_texts(rng: np.random.Generator, documents: int, types: int, copied: Sequence[str] = ()) -> list[str]:
    """Random words, with stretches of other texts among them; some texts are empty."""
    texts = []
    for _ in range(documents):
        words = [f"w{word}" for word in rng.integers(0, types, rng.integers(0, 30))]
        for text in rng.permutation(copied)[: rng.integers(0, 3)] if len(copied) else []:
            begin, end = np.sort(rng.integers(0, len(text.split()) + 1, 2))
            words += text.split()[begin:end]
        texts.append(" ".join(words))
    return texts


@pytest.mark.parametrize("seed", range(12))
def test_counts_and_longest_stretches_are_those_of_sets(seed):
    rng = np.random.default_rng(seed)
    types = (2, 3, 8, 40)[seed % 4]
    train = random_texts(rng, 12, types)
    train += random_texts(rng, 6, types, train)  # passages that stand in several documents
    texts = [*random_texts(rng, 15, types + 1, train), train[0], "", "never seen before"]
    scores = scores_of(index_of(train), texts).to_pylist()
    cut = [text.split() for text in train]
    known = {n: {gram for document in cut for gram in grams(document, n)} for n in LENGTHS}
    for text, row in zip(texts, scores, strict=True):
        words = text.split()
        assert row["rejected"] is not bool(words)
        if not words:
            assert (row["why"], row["seen"], row["longest"], row["train_id"]) == (EMPTY, None, None, None)
            continue
        assert row["words"] == len(words)
        assert row["all"] == [len(grams(words, n)) for n in LENGTHS]
        assert row["seen"] == [sum(gram in known[n] for gram in grams(words, n)) for n in LENGTHS]
        longest, begin = longest_of(words, cut)
        assert row["longest"] == longest
        if not longest:
            assert row["begin"] is row["train_id"] is row["train_begin"] is None
            continue
        assert row["begin"] == begin
        document = cut[int(row["train_id"].removeprefix("train-"))]
        assert document[row["train_begin"] :][:longest] == words[begin:][:longest]


@pytest.mark.parametrize("part", [1, 3, 10, 1000])
def test_places_are_in_the_order_of_what_follows_them(monkeypatch, part):
    """However many places are sorted at a time."""
    monkeypatch.setattr(suffixes, "PART", part)
    rng = np.random.default_rng(3)
    documents = [rng.integers(1, 4, size).tolist() for size in (0, 40, 7, 40, 1)]
    documents.append(documents[1])
    tokens = np.array([token for document in documents for token in [*document, END]], np.int32)
    order = suffix_array(tokens)
    ends = np.flatnonzero(tokens == END)
    # The end of each document is a token of its own, in the order of the documents.
    own = np.where(tokens == END, np.searchsorted(ends, np.arange(len(tokens))) - len(ends), tokens)
    assert order.tolist() == sorted(range(len(tokens)), key=lambda place: own[place:].tolist())


def test_a_copy_costs_its_length_and_not_the_square_of_it():
    """Of a long copied document few places are followed to its end, also where passages of it stand in others too."""
    rng = np.random.default_rng(5)
    words = [f"w{word}" for word in rng.integers(0, 5000, 3000)]
    train = [" ".join(words), *[" ".join(words[1000:1200])] * 5]
    (row,) = scores_of(index_of(train), [" ".join(["before", *words[200:2800], "after"])]).to_pylist()
    assert (row["longest"], row["begin"], row["train_id"], row["train_begin"]) == (2600, 1, "train-0", 200)
    assert row["seen"] == [2600 - n + 1 for n in LENGTHS]
    index, copied = index_of(train), pa.array([" ".join(words[200:2800])])
    cut, lengths = words_in(copied, index.entry)
    numbers = pc.index_in(cut.dictionary, index.words).to_numpy().astype(np.int32)[cut.indices.to_numpy()] + 1
    search = _Search(index.suffixes, numbers, lengths)
    for _ in range(16):
        search.deepen()
    assert len(search.at) > 2500
    search.deepen(drop=True)
    assert len(search.at) <= 4


def test_no_stretch_crosses_from_one_document_to_the_next():
    index = index_of(["a b c d", "e f g h"])
    row, *_ = scores_of(index, ["c d e f", "a b"]).to_pylist()
    assert row["longest"] == 2
    assert row["seen"][0] == 0


def test_case_and_marks_follow_the_switches():
    train, text = ["The cat, the dog; a bird."], ["the CAT , the dog;a bird ."]
    (folded,) = scores_of(index_of(train, Recitation(kind="recitation")), text).to_pylist()
    assert (folded["longest"], folded["words"]) == (9, 9)
    (cased,) = scores_of(index_of(train, Recitation(kind="recitation", lower_case=False)), text).to_pylist()
    assert cased["longest"] == 7
    (split,) = scores_of(index_of(train, Recitation(kind="recitation", tokenizer="whitespace")), text).to_pylist()
    assert (split["longest"], split["words"]) == (1, 7)


def test_documents_that_are_shorter_have_no_such_n_gram():
    scores = scores_of(index_of(["a b c d e f"]), ["a b c", "a b c d e", "x x x x", ""])
    assert counts_of(scores, 4).tolist() == [[2, 2], [0, 1]]
    assert counts_of(scores, 5).tolist() == [[1, 1]]
    assert counts_of(scores, 16).shape == (0, 2)
