import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textcritic.corpora import Article, Section, write_articles
from textcritic.errors import TextcriticError
from textcritic.latents.bags import (
    Vocabulary,
    VocabularyOptions,
    build_vocabulary,
    count_articles,
    count_corpus,
    count_words,
    open_counts,
    tokens_of,
    vocabulary,
)

EVERYTHING = VocabularyOptions(maximum_share=1.0, minimum_count=1, placeholders=[])
WORDS = ["a", "b", "The", "the", "XmathY", "é", "Ünïcode", "ΣΑΣ", "x"]


def article(number, *texts):
    return Article(f"doc-{number}", None, tuple(Section("title", text) for text in texts), "test")


def words(documents, **options):
    return build_vocabulary([text.split() for text in documents], VocabularyOptions(**options))


def by_hand(documents, options, stop_words):
    """The rules of the released code, written out: kept (word, count, documents), and removed by reason."""
    if options.lowercase:
        documents = [[token.lower() for token in document] for document in documents]
    counts = Counter(token for document in documents for token in document)  # in order of first appearance
    frequencies = Counter(token for document in documents for token in set(document))
    kept, removed = [], Counter()
    for word, count in counts.items():
        share = frequencies[word] / len(documents)
        too_often = share > options.maximum_share if options.mode == "paper" else share >= options.maximum_share
        if word.lower() in stop_words:
            removed["stop word"] += count
        elif too_often:
            removed["share"] += count
        elif any(piece.lower() in word.lower() for piece in options.placeholders):
            removed["placeholder"] += count
        elif count < options.minimum_count:
            removed["rare"] += count
        else:
            kept.append((word, count, frequencies[word]))
    return sorted(kept, key=lambda entry: -entry[1]), removed


@settings(max_examples=200)
@given(
    documents=st.lists(st.lists(st.sampled_from(WORDS), max_size=8), min_size=1, max_size=8),
    lowercase=st.booleans(),
    share=st.sampled_from([0.25, 0.5, 1.0]),
    mode=st.sampled_from(["paper", "as_released"]),
    minimum=st.integers(1, 3),
    tokens_at_a_time=st.integers(1, 40),
)
def test_vocabulary_and_counts_are_those_by_hand(documents, lowercase, share, mode, minimum, tokens_at_a_time):
    options = VocabularyOptions(
        stop_words="english", lowercase=lowercase, maximum_share=share, mode=mode, minimum_count=minimum
    )
    kept, removed = by_hand(documents, options, {"a", "the"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary, "BATCH_TOKENS", tokens_at_a_time)
        if not kept:
            with pytest.raises(TextcriticError, match="vocabulary: no word is left"):
                build_vocabulary(documents, options)
            return
        found, reasons = build_vocabulary(iter(documents), options)
        matrix = count_words(iter(documents), found)
    assert list(zip(found.words, found.counts, found.documents, strict=True)) == kept
    assert [reason["tokens"] for reason in reasons.values()] == [
        removed[reason] for reason in ("stop word", "share", "placeholder", "rare")
    ]
    assert found.counts.sum() + sum(r["tokens"] for r in reasons.values()) == sum(map(len, documents))
    folded = [[token.lower() if lowercase else token for token in document] for document in documents]
    assert matrix.toarray().tolist() == [[d.count(word) for word in found.words] for d in folded]
    assert (matrix.sum(axis=0) == found.counts).all()
    assert (matrix.getnnz(axis=0) == found.documents).all()
    assert (matrix.dtype, matrix.indices.dtype, matrix.has_sorted_indices) == (np.int32, np.int32, True)


def test_counts_are_kept_while_new_words_come(monkeypatch):
    """More words than there is room for at first, and again some thousands of words later."""
    monkeypatch.setattr(vocabulary, "BATCH_TOKENS", 200)
    ranks = np.random.default_rng(0).zipf(1.2, size=(800, 20)) % 9000
    documents = [[f"w{rank}" for rank in row] for row in ranks]
    kept, _ = by_hand(documents, EVERYTHING, ())
    assert len(kept) > 3000
    found, _ = build_vocabulary(documents, EVERYTHING)
    assert list(zip(found.words, found.counts, found.documents, strict=True)) == kept


def test_exactly_half_of_the_documents():
    documents = ["half x", "half y", "x", "y z z"]
    paper, reasons = words(documents, minimum_count=1)
    assert paper.words == ("half", "x", "y", "z")
    assert reasons["in more than 50% of documents"] == {"words": 0, "tokens": 0}
    released, reasons = words(documents, minimum_count=1, mode="as_released")
    assert released.words == ("z",)
    assert reasons["in at least 50% of documents"] == {"words": 3, "tokens": 6}


@pytest.mark.parametrize(("share", "mode", "most"), [(0.7, "paper", 7), (0.7, "as_released", 6), (0.29, "paper", 2)])
def test_share_is_taken_as_written(share, mode, most):
    # As floats, 0.7 * 10 is 7.000000000000001 or 7.0, and 0.29 * 100 is 28.999999999999996.
    assert VocabularyOptions(maximum_share=share, mode=mode).most_documents(10) == most
    assert VocabularyOptions(maximum_share=0.29).most_documents(100) == 29


def test_ties_keep_the_order_of_appearance():
    found, _ = words(["c b a", "a c b", "d d d"], minimum_count=1, maximum_share=1.0)
    assert found.words == ("d", "c", "b", "a")


def test_reasons_are_told_with_their_numbers():
    documents = ["The of of \\xmath9 rare kept kept", "The kept", "The blue kept blue"]
    found, reasons = words(documents, stop_words="english", maximum_share=0.75, minimum_count=2)
    assert found.words == ("blue",)
    assert reasons == {
        "stop word": {"words": 2, "tokens": 5},
        "in more than 75% of documents": {"words": 1, "tokens": 4},
        "placeholder": {"words": 1, "tokens": 1},
        "fewer than 2 times": {"words": 1, "tokens": 1},
    }


def test_own_stop_words(tmp_path):
    path = tmp_path / "stop.txt"
    path.write_text("\ufeffThe\r\n\n  été \n", encoding="utf-8")
    found, _ = words(["the THE x été Été the."], stop_words=str(path), minimum_count=1, maximum_share=1.0)
    assert found.words == ("x", "the.")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"one\ntwo words\n", ":2: 'two words' is more than one word"),
        (b"\xff\n", "not UTF-8"),
        (None, "cannot be read"),
    ],
)
def test_bad_stop_words(tmp_path, content, message):
    path = tmp_path / "stop.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TextcriticError, match=message) as error:
        words(["a"], stop_words=str(path))
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"maximum_share": 0}, "maximum_share: 0"),
        ({"maximum_share": 1.1}, "maximum_share: 1.1"),
        ({"maximum_share": float("nan")}, "maximum_share: nan"),
        ({"minimum_count": 0}, "minimum_count: 0"),
        ({"mode": "published"}, "mode: 'published'"),
        ({"placeholders": [""]}, r"placeholders\.0: ''"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(TextcriticError, match=message):
        VocabularyOptions.read(options, "vocabulary")


@pytest.mark.parametrize("documents", [[], [[]], [["a"]]])
def test_no_word_is_left(documents):
    with pytest.raises(TextcriticError, match="no word is left"):
        build_vocabulary(documents, VocabularyOptions())


def test_tokens_are_those_of_all_sections_without_titles():
    assert tokens_of(article(1, " a  b\n\tc", "", "a\u00a0b,")) == ["a", "b", "c", "a", "b,"]


def test_vocabulary_round_trip(tmp_path):
    made, _ = build_vocabulary([["B", "b", "Ä"]], VocabularyOptions(lowercase=True, maximum_share=1, minimum_count=1))
    made.save(tmp_path / "v.parquet")
    read = Vocabulary.load(tmp_path / "v.parquet")
    assert (read.words, read.lowercase, len(read)) == (("b", "ä"), True, 2)
    assert (read.counts.tolist(), read.documents.tolist()) == ([2, 1], [1, 1])
    assert count_words([["Ä", "B", "z"]], read).toarray().tolist() == [[1, 1]]


def test_other_parquet_is_no_vocabulary(tmp_path):
    write_articles(tmp_path / "v.parquet", [article(1, "a")])
    with pytest.raises(TextcriticError, match=r"v\.parquet: not a vocabulary"):
        Vocabulary.load(tmp_path / "v.parquet")


def test_no_documents_have_no_rows():
    made, _ = build_vocabulary([["a"]], EVERYTHING)
    assert count_words([], made).shape == (0, 1)


def test_job(tmp_path):
    texts = ["a a b b b", "", "a c c é", "zzz", "\\xmath a"]
    articles = [article(n, text, "b") for n, text in enumerate(texts)]
    write_articles(tmp_path / "train.parquet", articles)
    paths = [tmp_path / "out" / name for name in ("vocabulary.parquet", "vocabulary.json", "bags")]
    options = VocabularyOptions(minimum_count=2, maximum_share=0.6)
    count_corpus(tmp_path / "train.parquet", options, *paths)
    found, stored = Vocabulary.load(paths[0]), open_counts(paths[2])
    assert (found.words, found.counts.tolist(), found.documents.tolist()) == (("a", "c"), [4, 2], [3, 1])
    assert stored.ids.to_pylist() == [f"doc-{n}" for n in range(5)]
    assert stored.tokens.tolist() == [6, 1, 5, 2, 3]
    assert stored.matrix.toarray().tolist() == [[2, 0], [0, 0], [1, 2], [0, 0], [1, 0]]
    assert (count_words(map(tokens_of, articles), found) != stored.matrix).nnz == 0
    assert sum(block.matrix.shape[0] for block in count_articles(articles, found)) == 5
    assert json.loads(paths[1].read_text()) == {
        "words": 2,
        "tokens": 6,
        "documents": 5,
        "removed": {
            "stop word": {"words": 0, "tokens": 0},
            "in more than 60% of documents": {"words": 1, "tokens": 8},
            "placeholder": {"words": 1, "tokens": 1},
            "fewer than 2 times": {"words": 2, "tokens": 2},
        },
        "options": {
            "stop_words": "none",
            "lowercase": False,
            "maximum_share": 0.6,
            "mode": "paper",
            "minimum_count": 2,
            "placeholders": ["xmath"],
            "words": "spaces",
        },
    }
