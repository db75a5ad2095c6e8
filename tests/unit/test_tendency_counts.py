"""Counts of documents: their file, parts of them, properties, and bad input."""

import numpy as np
import pyarrow as pa
import pytest

from textcritic.critics.tendencies.counting import count_texts, divided, groups_of, lags_up_to
from textcritic.critics.tendencies.counts import LENGTH, SYMBOLS, TYPES, Counts, merge
from textcritic.critics.tendencies.options import require_stop_words
from textcritic.critics.tendencies.tokens import tokenize
from textcritic.critics.tendencies.words import ATTACHED, SYMBOL, UPPER, stop_words_of, words_of
from textcritic.errors import TextcriticError
from textcritic.plan.entries import Tendencies

OPTIONS = Tendencies(kind="tendencies", window=3, longest_lag=4, groups=5)


def texts(documents=40, seed=1):
    rng = np.random.default_rng(seed)
    words = np.array([*"abcdefgh", "The", "the", "word,", "1,200", "...", "naïve"])
    return [" ".join(rng.choice(words, rng.integers(0, 12))) for _ in range(documents)]


def counted(given, options=OPTIONS, **other):
    return count_texts([pa.array(given, pa.string())], len(given), options, **other)


def same(first, second):
    """Whether everything is equal, with its type."""
    for name in ("documents", "group", "segments", "recurrence", "lags", "attached", "upper"):
        one, other = getattr(first, name), getattr(second, name)
        if one.dtype != other.dtype or not np.array_equal(one, other):
            return False
    for name in ("matrix", "segment_sums", "segment_squares"):
        one, other = getattr(first, name), getattr(second, name)
        if one.dtype != other.dtype or one.shape != other.shape or (one != other).nnz:
            return False
    return first.words.equals(second.words)


def test_a_file_holds_everything(tmp_path):
    for number, given in enumerate((texts(), [], ["", " "], ["\x00\x1e\x1f a\x00b"])):
        counts = counted(given)
        counts.save(tmp_path / f"{number}.npz")
        assert same(Counts.load(tmp_path / f"{number}.npz"), counts)


def test_counts_above_32_bits_are_kept(tmp_path):
    counts = counted(["a b a"] * 5)
    large = 2**31 + 5
    counts.matrix.data[:] = large
    counts.save(tmp_path / "counts.npz")
    assert Counts.load(tmp_path / "counts.npz").matrix.data.tolist() == [large] * counts.matrix.nnz


@pytest.mark.parametrize("damage", ["truncated", "another", "not whole"])
def test_a_damaged_file_is_one_line(tmp_path, damage):
    path = tmp_path / "counts.npz"
    counted(texts()).save(path)
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[:-100])
    elif damage == "another":
        np.savez(path, counts=np.arange(3))
    else:
        arrays = dict(np.load(path))
        np.savez(path, **{**arrays, "matrix_indices": arrays["matrix_indices"] + 1})
    with pytest.raises(TextcriticError, match=r"counts\.npz: not a file of counts; delete it and rerun"):
        Counts.load(path)
    with pytest.raises(TextcriticError, match=r"none\.npz: no such file"):
        Counts.load(tmp_path / "none.npz")


def test_all_groups_are_the_whole():
    counts = counted(texts())
    assert same(counts.take(range(5)), counts)


def test_some_groups_are_their_documents():
    given = texts()
    counts = counted(given)
    some = counts.take([3, 0])
    chosen = np.isin(counts.group, [3, 0])
    assert some.groups == 2
    assert some.documents.tolist() == counts.documents[chosen].tolist()
    assert some.group.tolist() == [0 if group == 3 else 1 for group in counts.group[chosen]]
    alone = counted([text for text, own in zip(given, chosen, strict=True) if own])
    assert some.words.equals(alone.words)
    assert some.unigrams().tolist() == alone.unigrams().tolist()
    assert some.recurrence.sum(0).tolist() == alone.recurrence.sum(0).tolist()
    assert some.segment_squares.sum() == alone.segment_squares.sum()
    assert counts.take([]).tokens == 0


@pytest.mark.parametrize("groups", [[0, 0], [-1], [5]])
def test_groups_that_are_not_there_are_refused(groups):
    with pytest.raises(TextcriticError, match="give each of 0 to 4 once at most"):
        counted(texts()).take(groups)


def test_the_order_of_documents_does_not_matter():
    given = texts()
    counts, reverse = counted(given), counted(given[::-1])
    assert reverse.words.equals(counts.words)
    assert reverse.unigrams().tolist() == counts.unigrams().tolist()
    assert reverse.documents[::-1].tolist() == counts.documents.tolist()
    assert reverse.recurrence.sum(0).tolist() == counts.recurrence.sum(0).tolist()


@pytest.mark.parametrize(("documents", "groups"), [(0, 1), (1, 1), (3, 3), (100, 7), (1001, 100)])
def test_groups_are_of_equal_size(documents, groups):
    sizes = np.bincount(groups_of(documents, max(groups, 2), seed=4), minlength=groups)
    assert len(sizes) == groups
    assert sizes.max() - sizes.min() <= 1
    assert groups_of(100, 7, 4).tolist() != groups_of(100, 7, 5).tolist()


@pytest.mark.parametrize(
    ("units", "of_each", "groups"), [(120, 2, 60), (130, 2, 65), (131, 2, 13), (90, 3, 90), (7, 5, 7)]
)
def test_whole_units_are_divided_into_groups_of_about_one_size(units, of_each, groups):
    """120 pairs are 60 groups of two, not 80 of one and 20 of two; else groups could not be exchanged."""
    of = np.repeat(np.arange(units), of_each)
    found = divided(len(of), 100, 3, of)
    sizes = np.bincount(found)
    assert len(sizes) == groups
    assert sizes.max() <= max(1.1 * sizes.min(), sizes.min() + 1)
    assert all(len(set(found[of == unit])) == 1 for unit in range(units))


def test_documents_that_are_hard_to_cut():
    given = [
        "",
        " \n ",
        "x" * 10_000,
        "a\x00b \x00",
        "👩🏽‍💻 ❤️",
        "e\u0301 é",
        "1,200 non-u.s. ½ ...",
        None,
        "the",
        "the",
    ]
    counts = counted(given, Tendencies(kind="tendencies", groups=2))
    assert counts.column(LENGTH).tolist() == [0, 0, 1, 2, 2, 2, 4, 0, 1, 1]
    assert counts.column(SYMBOLS).tolist() == [0, 0, 0, 0, 2, 0, 3, 0, 0, 0]
    assert counts.column(TYPES)[5] == 2
    assert counts.empty == 3
    assert counts.words[0].as_py() == "the"
    assert "x" * 10_000 in counts.words.to_pylist()


def test_a_window_longer_than_every_document():
    counts = counted(["a b a", ""], Tendencies(kind="tendencies", window=10**15, longest_lag=10**6, groups=2))
    assert counts.segments.tolist() == [0, 0]
    assert counts.recurrence.sum(0).tolist()[:2] == [[2, 0], [1, 1]]


def test_words_and_marks():
    text = "“Don't”, he said: rock-'n'-roll costs 1,200€ (in 1999) — 👩🏽‍💻❤️… a--b o’ clock's\x07e\u0301te\u0301"
    tokens = tokenize(pa.array([text]), "words")
    expected = "“ Don't ” , he said : rock - ' n ' - roll costs 1 , 200"
    expected += " € ( in 1999 ) — 👩🏽‍💻 ❤️ … a - - b o ’ clock's e\u0301te\u0301"
    assert " ".join(tokens.types[int(number)].as_py() for number in tokens.ids) == expected


def forms(*tokens):
    return words_of(pa.array(tokens), True, frozenset()).forms


def test_symbols_are_punctuation_and_numbers():
    """Facts of the paper: 1,200 is one, non-u.s. is none."""
    assert (forms("1,200", ".", "--", "$5", "½", "€", "٣", "❤️", "©") & SYMBOL).all()
    assert not (forms("non-u.s.", "a", "1st", "\x00", "\u0301", "字", "字.") & SYMBOL).any()


def test_marks_that_a_tokenizer_would_have_cut_off():
    assert (forms("word,", "a.", "naïve?", "क्षि!", "no)") & ATTACHED).all()
    assert not (forms(",", "word", "u.s.", "1,", "(no)", "don't.", "a,,", "é") & ATTACHED).any()


def test_every_letter_in_lower_case():
    """Lower case is Python's; whether a word is a symbol is found for each spelling of it, and is the same for all."""
    changed = [character for character in map(chr, range(0x110000)) if character.lower() != character]
    capitals, small = (words_of(pa.array(some), True, frozenset()) for some in (changed, map(str.lower, changed)))
    assert (capitals.forms & UPPER).all()
    assert capitals.words.take(pa.array(capitals.of_types)).to_pylist() == [c.lower() for c in changed]
    assert (capitals.forms & SYMBOL).tolist() == (small.forms & SYMBOL).tolist()


def test_stop_words_of_any_case_and_apostrophe():
    assert len(stop_words_of("english")) == 179
    assert stop_words_of("none") == frozenset()
    counts = counted(["The cat don't DON’T", "a b"], Tendencies(kind="tendencies", lower_case=False, groups=2))
    assert counts.documents[:, 3].tolist() == [3, 1]


def test_stop_words_of_a_file_and_of_nltk(tmp_path, monkeypatch):
    folder = tmp_path / "corpora" / "stopwords"
    folder.mkdir(parents=True)
    (folder / "german").write_text("der\ndie\n")
    monkeypatch.setattr("nltk.data.path", [str(tmp_path)])
    assert stop_words_of("german") == stop_words_of(str(folder / "german")) == {"der", "die"}
    with pytest.raises(TextcriticError, match=r"NLTK's list for 'danish' is not installed.*`stop_words: none`"):
        stop_words_of("danish")


def test_a_language_without_a_list_is_one_line(tmp_path):
    with pytest.raises(TextcriticError, match=r"no list for 'klingon'.*`stop_words: none`"):
        require_stop_words("klingon", tmp_path)
    with pytest.raises(TextcriticError, match="did you mean 'german'"):
        require_stop_words("germany", tmp_path)
    (tmp_path / "mine").write_text("x\n")
    for name in ("mine", "none", "english", "german"):
        require_stop_words(name, tmp_path)


@pytest.mark.parametrize(("given", "documents"), [(["a", "b"], 3), (["a", "b"], 1)])
def test_another_number_of_documents_is_refused(given, documents):
    with pytest.raises(TextcriticError, match="to be counted"):
        count_texts([pa.array(given)], documents, OPTIONS)


def test_text_that_is_not_utf8_is_refused():
    wrong = pa.StringArray.from_buffers(1, pa.py_buffer(np.array([0, 2], np.int32)), pa.py_buffer(b"a\xff"))
    with pytest.raises(TextcriticError, match="not UTF-8"):
        count_texts([wrong], 1, OPTIONS)


def test_parts_of_other_groups_are_not_put_together():
    with pytest.raises(TextcriticError, match="count both with the same options"):
        merge([counted(texts()), counted(texts(), Tendencies(kind="tendencies", groups=3))])
    with pytest.raises(TextcriticError, match="no part"):
        merge([])


def test_lags_are_powers_of_two():
    assert lags_up_to(64) == [1, 2, 4, 8, 16, 32, 64]
    assert lags_up_to(63) == [1, 2, 4, 8, 16, 32]
    assert lags_up_to(1) == [1]
