"""Retrieval of documents, against DrQA's own ranking of the published contexts, and its algorithm written plainly."""

import gzip
import json
import string

import numpy as np
import pytest
from drqa_oracle import counts_of, scores_of, tokens_of
from samples import LARGE, SMALL
from sklearn.utils import murmurhash3_32

from textcritic.corpora.intruders import retrieval, terms
from textcritic.corpora.intruders.retrieval import Ranker
from textcritic.corpora.intruders.terms import Strings, murmur3
from textcritic.errors import TextcriticError

INSTED = LARGE / "insted" / "linguistic_probe_data"
LETTERS = (
    string.ascii_letters
    + string.digits
    + string.punctuation
    + "  \n\tÄéßΣς\u0301ñ中文字🙂\u200d\u00a0½²–—“”’İﬁ\x00\x1f_"
)


def random_text(rng: np.random.Generator, size: int) -> str:
    return "".join(rng.choice(list(LETTERS), size))


def zipf_texts(rng: np.random.Generator, number: int, types: int, sizes: tuple[int, int] = (0, 60)) -> list[str]:
    """Words by Zipf's law, with stop words and marks among them, and stretches of earlier texts."""
    words = np.array([f"W{n}" if n % 3 else ("the", "of", ".", ",", "it's")[n % 5] for n in range(types)])
    texts: list[str] = []
    for _ in range(number):
        drawn = list(words[np.minimum(rng.zipf(1.3, rng.integers(*sizes)), types) - 1])
        if texts and rng.random() < 0.5:
            other = texts[int(rng.integers(len(texts)))].split()
            start = int(rng.integers(len(other) + 1))
            drawn += other[start : start + 20]
        texts.append(" ".join(drawn))
    return texts


def test_hashes_are_those_of_scikit_learn():
    rng = np.random.default_rng(1)
    texts = ["", *(random_text(rng, size) for size in range(1, 70)), "ab" * 500]
    assert murmur3(Strings.of(texts)).tolist() == [murmurhash3_32(text, positive=True) for text in texts]


def test_joined_strings_are_those_with_a_space_between_them():
    words = ["", "a", "bé", "ccc"]
    first, second = (indices.ravel() for indices in np.meshgrid(np.arange(4), np.arange(4)))
    expected = Strings.of([f"{words[a]} {words[b]}" for a, b in zip(first, second, strict=True)])
    joined = Strings.of(words).joined(first, second)
    assert joined.bytes.tolist() == expected.bytes.tolist()
    assert joined.starts.tolist() == expected.starts.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_terms_are_counted_as_the_description_says(seed):
    rng = np.random.default_rng(seed)
    texts = ["", "the", "Of the ΟΔΟΣ.", *(random_text(rng, int(size)) for size in rng.integers(0, 200, 60))]
    counts = terms.count_terms(texts)
    for row, text in enumerate(texts):
        assert terms.tokens_of(text) == tokens_of(text)
        span = slice(counts.indptr[row], counts.indptr[row + 1])
        assert dict(zip(counts.indices[span].tolist(), counts.data[span].tolist(), strict=True)) == counts_of(text)
        assert (np.diff(counts.indices[span]) > 0).all()


@pytest.mark.parametrize("seed", range(6))
def test_ranking_is_that_of_the_description(seed, tmp_path, monkeypatch):
    """In small shards, few queries at once and with bounds of any quality, on the disk and in memory."""
    monkeypatch.setattr(retrieval, "QUERIES", 17)
    monkeypatch.setattr(retrieval, "_RARE", (0, 3, 40, 10_000)[seed % 4])
    monkeypatch.setattr(retrieval, "_FREQUENT", (0.0, 0.5, 0.99)[seed % 3])
    rng = np.random.default_rng(seed)
    texts = zipf_texts(rng, 90, (20, 400, 3000)[seed % 3])
    texts += [texts[3], texts[40], "", texts[3]]
    ranker = Ranker(texts, tmp_path if seed % 2 else None, shard=(7, 1000)[seed % 2])
    others = zipf_texts(rng, 20, 400)
    check(ranker.nearest(others, 5), scores_of(texts, others))
    expected = scores_of(texts, texts)
    np.fill_diagonal(expected, 0)
    places = rng.permutation(len(texts))
    check(ranker.nearest_others(places, 10), expected[places])


def check(nearest: retrieval.Nearest, expected: np.ndarray) -> None:
    top = nearest.scores.shape[1]
    for documents, scores, row in zip(nearest.documents, nearest.scores, expected.round(9), strict=True):
        order = np.lexsort((np.arange(len(row)), -row))[:top]
        order = order[row[order] > 0]
        np.testing.assert_allclose(scores[: len(order)], row[order], rtol=0, atol=1e-8)
        np.testing.assert_allclose(row[documents[: len(order)]], row[order], rtol=0, atol=1e-8)
        assert (documents[len(order) :] == -1).all()
        assert (scores[len(order) :] == 0).all()
        for left, right, a, b in zip(documents, documents[1:], scores, scores[1:], strict=False):
            assert a > b or left < right or right < 0


def test_the_first_of_identical_documents_comes_first_over_shards():
    texts = ["alpha beta gamma", "delta epsilon", "alpha beta gamma", "zeta", "alpha beta gamma", "eta theta", "iota"]
    nearest = Ranker(texts, shard=2).nearest_others(np.array([2, 0]), 3)
    assert nearest.documents.tolist() == [[0, 4, -1], [2, 4, -1]]
    assert nearest.scores[0, 0] == nearest.scores[0, 1]


def test_documents_without_a_term_find_nothing():
    nearest = Ranker(["the of and", "one word", "another word"]).nearest(["the . ,", ""], 2)
    assert (nearest.documents == -1).all()


def test_bad_questions_are_refused():
    with pytest.raises(TextcriticError, match="no documents"):
        Ranker([])
    with pytest.raises(TextcriticError, match="top: 0 should be 1 or more"):
        Ranker(["a word"]).nearest(["a word"], 0)
    with pytest.raises(TextcriticError, match="places should be from 0 to 0"):
        Ranker(["a word"]).nearest_others(np.array([1]), 1)


@pytest.mark.large
def test_ranking_of_the_published_contexts_is_that_of_drqa():
    """DrQA's ids and scores are in tests/data/insted: of each context the first 11 others, ties in any order."""
    contexts: dict[str, str] = {}
    for path in sorted(INSTED.glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            item = json.loads(line)
            contexts.setdefault(str(item["file_id"]), item["ctx"])
    drqa = json.loads(gzip.decompress((SMALL / "insted" / "drqa_nearest.json.gz").read_bytes()))
    assert list(contexts) == list(drqa)
    assert len(contexts) == 1137
    names = [int(name) for name in contexts]
    nearest = Ranker(contexts.values(), shard=300).nearest_others(np.arange(len(names)), 11)
    for documents, scores, (ids, published) in zip(nearest.documents, nearest.scores, drqa.values(), strict=True):
        np.testing.assert_allclose(scores, published, atol=1e-6)
        ours = [names[document] for document in documents]
        # Of one score the ids are in any order, and those of the last score may be others.
        for score in set(published[:10]) - {published[10]}:
            same = [rank for rank in range(10) if published[rank] == score]
            assert {ours[rank] for rank in same} == {ids[rank] for rank in same}
