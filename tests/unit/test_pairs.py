"""Byte-pair encoding inside words, and encoded pairs."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textcritic.corpora import Article, Section, read_articles, write_articles
from textcritic.corpora.parallel.build import build_parallel
from textcritic.errors import TextcriticError
from textcritic.files import write_arrays
from textcritic.generators.pairs import SPECIAL_TOKENS, Pairs, encode_pairs, make_subword_tokenizer
from textcritic.plan.entries import Corpus
from textcritic.training.load import load_tokenizer


def article(name, title, text):
    return Article(name, title, (Section("de", text),), "mine")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A corpus of artificial languages, and a tokenizer that was learnt on it."""
    folder = tmp_path_factory.mktemp("pairs")
    options = {"languages": {"sentences": 300, "vocabulary": 60}}
    build_parallel(Corpus.read({"extractor": "languages", "options": options}, "test"), folder / "corpus")
    make_subword_tokenizer(folder / "corpus/train.parquet", folder / "tokenizer", 200)
    return folder


@pytest.fixture(scope="module")
def languages(built):
    """The tokenizer and the letters that it knows."""
    tokenizer = load_tokenizer(built / "tokenizer")
    return tokenizer, {token for token in tokenizer.get_vocab() if len(token) == 1}


def test_merges_by_hand(tmp_path):
    # The example of Sennrich et al. 2016, figure 1: low, lowest, newer, wider by their counts.
    counts = {"low": 5, "lowest": 2, "newer": 6, "wider": 3}
    words = " ".join(word for word, count in counts.items() for _ in range(count))
    write_articles(tmp_path / "train.parquet", [article("000000-de", words, "low")])
    # 3 special tokens, 10 letters, 3 letters at the end of a word (r, t, w), 2 merges.
    make_subword_tokenizer(tmp_path / "train.parquet", tmp_path / "tokenizer", 18)
    tokenizer = load_tokenizer(tmp_path / "tokenizer")
    assert len(tokenizer) == 18
    assert {"er</w>", "lo"} <= set(tokenizer.get_vocab())
    assert tokenizer.tokenize("newer slower") == ["n", "e", "w", "er</w>", "s", "lo", "w", "er</w>"]


def test_the_tokenizer_gives_the_words_back(built):
    tokenizer = load_tokenizer(built / "tokenizer")
    assert tokenizer.convert_ids_to_tokens(range(len(SPECIAL_TOKENS))) == list(SPECIAL_TOKENS)
    assert (tokenizer.eos_token, tokenizer.pad_token, tokenizer.unk_token) == SPECIAL_TOKENS
    for sentence in read_articles(built / "corpus/test.parquet")[:20]:
        for text in (sentence.title, sentence.sections[0].text):
            ids = tokenizer(text, add_special_tokens=False)["input_ids"]
            assert tokenizer.decode(ids) == text
    assert tokenizer.unk_token_id in tokenizer("ж", add_special_tokens=False)["input_ids"]


def test_the_same_text_gives_the_same_file(built, tmp_path):
    make_subword_tokenizer(built / "corpus/train.parquet", tmp_path / "again", 200)
    first, second = ((folder / "tokenizer.json").read_bytes() for folder in (built / "tokenizer", tmp_path / "again"))
    assert first == second


def test_the_mark_of_an_end_is_text_where_a_text_has_it(tmp_path):
    write_articles(tmp_path / "train.parquet", [article("000000-de", "aa</w> ba >", "</w> aw")])
    make_subword_tokenizer(tmp_path / "train.parquet", tmp_path / "tokenizer", 12)  # no merges
    tokenizer = load_tokenizer(tmp_path / "tokenizer")
    assert tokenizer.tokenize("aba</w>") == ["a", "b", "a", "<", "/", "w", "></w>"]
    assert set(tokenizer.all_special_tokens) == set(SPECIAL_TOKENS)


@given(st.lists(st.text("abdeghijklmnoprstuvwz", min_size=1, max_size=12), min_size=1, max_size=8))
@settings(max_examples=50, deadline=None)
def test_words_of_known_letters_come_back(languages, words):
    """Whatever a word is made of, if its letters and its last letter occur in the text."""
    tokenizer, known = languages
    text = " ".join(word + "a" for word in words if set(word) <= known) or "a"
    assert tokenizer.decode(tokenizer(text, add_special_tokens=False)["input_ids"]) == text


def test_pairs_are_the_articles_in_order(built, tmp_path):
    path = built / "corpus/test.parquet"
    pairs = encode_pairs(path, built / "tokenizer")
    tokenizer, articles = load_tokenizer(built / "tokenizer"), read_articles(path)
    assert len(pairs) == len(articles) == 90
    for index, sentence in enumerate(articles):
        source, target = pairs.pair(index)
        assert tokenizer.decode(source.tolist()) == sentence.title
        assert tokenizer.decode(target.tolist()) == sentence.sections[0].text
        assert pairs.sentence[index] == int(sentence.id[:6])
    special = list(range(len(SPECIAL_TOKENS)))
    assert not np.isin(pairs.source, special).any()
    assert not np.isin(pairs.target, special).any()
    pairs.save(tmp_path / "test.npz")
    loaded = Pairs.load(tmp_path / "test.npz")
    for field in fields(Pairs):
        assert getattr(loaded, field.name).dtype == getattr(pairs, field.name).dtype
        assert (getattr(loaded, field.name) == getattr(pairs, field.name)).all()
    assert (pairs.source.dtype, pairs.source_offsets.dtype, pairs.sentence.dtype) == (np.int32, np.int64, np.int64)


def test_damaged_pairs_are_one_line(built, tmp_path):
    pairs = encode_pairs(built / "corpus/test.parquet", built / "tokenizer")
    path = tmp_path / "pairs.npz"
    wrong = [
        replace(pairs, source=pairs.source[:-1]),
        replace(pairs, target_offsets=pairs.target_offsets[:-1]),
        replace(pairs, target=pairs.target.astype(np.int64)),
    ]
    for one in wrong:
        one.save(path)
        with pytest.raises(TextcriticError, match=r"pairs\.npz: is not an encoded split of a parallel corpus"):
            Pairs.load(path)
    write_arrays(path, {"source": pairs.source})
    with pytest.raises(TextcriticError, match=r"pairs\.npz: is not an encoded split of a parallel corpus"):
        Pairs.load(path)
    with pytest.raises(TextcriticError, match=r"none\.npz: no such file"):
        Pairs.load(tmp_path / "none.npz")


@pytest.mark.parametrize(
    ("articles", "fault"),
    [
        ([], r"wrong\.parquet: holds no articles"),
        ([article("17", "a", "b")], r"id '17': should be a number and a language"),
        ([article("000001-de", None, "b")], r"article '000001-de': is no translation"),
        ([article("000001-de", "a", " ")], r"article '000001-de' has a side without tokens"),
    ],
)
def test_articles_that_are_no_translations_are_one_line(built, tmp_path, articles, fault):
    write_articles(tmp_path / "wrong.parquet", articles)
    with pytest.raises(TextcriticError, match=fault):
        encode_pairs(tmp_path / "wrong.parquet", built / "tokenizer")


def test_a_vocabulary_that_the_characters_do_not_fit_in_is_one_line(built, tmp_path):
    with pytest.raises(TextcriticError, match=r"raise subwords\.vocabulary, which is 16"):
        make_subword_tokenizer(built / "corpus/train.parquet", tmp_path / "tokenizer", 16)
