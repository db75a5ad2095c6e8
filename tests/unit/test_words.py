"""Vocabularies of whole words: which words, text and back, documents; models of fairseq that are trained on them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_fairseq import LANGUAGE_MODELS

from textcritic.corpora import BODY, BOUNDARY, TITLE, Article, Section, parse, render, write_articles
from textcritic.errors import TextcriticError
from textcritic.generators.encode import encode_split, load_encoded
from textcritic.generators.fairseq.shim import installed
from textcritic.generators.fairseq.train import Architecture, Splits, train_fairseq
from textcritic.generators.shards import Shard, read_shard
from textcritic.generators.words import ALWAYS, UNKNOWN, make_words_tokenizer
from textcritic.plan.checks.models import check_classifier, check_encoding
from textcritic.plan.entries import Decoding, read_entry
from textcritic.plan.entries.generators import FairseqTraining
from textcritic.training.load import decode, load_tokenizer, train_tokenizer
from textcritic.training.loop import Run

TEXTS = ["b a a", "a\tc  c\nb", "d \u00e9 a <unk> <|endoftext|>"]  # a: 4, b: 2, c: 2, d: 1, é: 1


def words(tokenizer):
    vocabulary = tokenizer.get_vocab()
    return sorted(vocabulary, key=vocabulary.get)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words") / "tokenizer"
    make_words_tokenizer(TEXTS, folder, minimum_count=1)
    return load_tokenizer(folder)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ({"vocabulary": 100}, ["a", "b", "c", "d", "\u00e9"]),
        ({"vocabulary": 6}, ["a", "b"]),
        ({"minimum_count": 2}, ["a", "b", "c"]),
        ({"minimum_count": 3}, ["a"]),
    ],
)
def test_the_commonest_words_come_first_and_equally_common_ones_by_code_points(limit, expected, tmp_path):
    make_words_tokenizer(iter(TEXTS), tmp_path / "tokenizer", **limit)
    assert words(load_tokenizer(tmp_path / "tokenizer")) == [*ALWAYS, *expected]


@pytest.mark.parametrize("limits", [{}, {"vocabulary": 9, "minimum_count": 2}])
def test_one_limit_is_needed(limits, tmp_path):
    with pytest.raises(TextcriticError, match="give vocabulary or minimum_count, one of the two"):
        make_words_tokenizer(TEXTS, tmp_path / "tokenizer", **limits)


@pytest.mark.parametrize("limit", [{"vocabulary": 4}, {"minimum_count": 5}])
def test_no_word_in_the_vocabulary_is_an_error(limit, tmp_path):
    with pytest.raises(TextcriticError, match=r"no word of the text is in the vocabulary"):
        make_words_tokenizer(TEXTS, tmp_path / "tokenizer", **limit)
    assert not (tmp_path / "tokenizer").exists()


WORD = st.sampled_from(["a", "b", "c", "\u00e9"])


@given(st.lists(st.lists(WORD, min_size=1, max_size=5), min_size=1, max_size=4), st.sampled_from(["\n", "\n\n"]))
def test_a_text_of_known_words_comes_back_with_its_line_breaks(tokenizer, lines, mark):
    text = mark.join(" ".join(line) for line in lines)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert len(ids) == sum(map(len, lines)) + len(lines) - 1
    assert decode(tokenizer, ids) == text


@given(st.text(st.sampled_from(" \t\n\u00a0\u2003\u001c\u0085abz")))
def test_words_are_what_python_splits_at_white_space(tokenizer, text):
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    breaks = {tokenizer.convert_tokens_to_ids(mark) for mark in ("\n", "\n\n")}
    known = [word if word in ("a", "b") else UNKNOWN for word in text.split()]
    runs = tokenizer.convert_ids_to_tokens([token for token in ids if token not in breaks])
    longer = sum(len(run) > 2 for run in "".join("\n" if c == "\n" else " " for c in text).split(" ") if run)
    assert [word for word in runs if word != UNKNOWN] == [word for word in known if word != UNKNOWN]
    assert runs.count(UNKNOWN) == known.count(UNKNOWN) + longer  # text has no more than one blank line in a row


def test_words_outside_the_vocabulary_are_drawn_like_others(tokenizer):
    ids = tokenizer("a zebra b", add_special_tokens=False)["input_ids"]
    assert decode(tokenizer, [tokenizer.eos_token_id, *ids, tokenizer.eos_token_id]) == "a <unk> b"
    assert tokenizer.convert_tokens_to_ids(UNKNOWN) not in tokenizer.all_special_ids


def test_an_article_of_many_sections_survives(tokenizer, tmp_path):
    sections = (Section("a", "b a\nc"), Section("b", "zebra a"))
    article = Article("1", None, sections, "s")
    write_articles(tmp_path / "train.parquet", [article])
    tokenizer.save_pretrained(tmp_path / "tokenizer")
    encode_split(tmp_path / "train.parquet", tmp_path / "tokenizer", "wo-title", "single", tmp_path / "train")
    tokens, kinds = load_encoded(tmp_path / "train")
    assert tokenizer.convert_ids_to_tokens(tokens.tolist()) == [
        *("<|endoftext|>", "b", "a", "\n", "c", "\n\n", UNKNOWN, "a", "<|endoftext|>")
    ]
    assert kinds.tolist() == [BOUNDARY, *[BODY] * 4, BOUNDARY, BODY, BODY, BOUNDARY]
    text = decode(tokenizer, tokens.tolist())
    assert text == render(article, "wo-title").replace("zebra", UNKNOWN)
    assert [section.text for section in parse(text, "wo-title")] == ["b a\nc", "<unk> a"]


@pytest.mark.parametrize(("setting", "first"), [("w-title", TITLE), ("wo-title", BODY)])
def test_kinds_of_one_section_are_those_of_several(tokenizer, tmp_path, setting, first):
    tokenizer.save_pretrained(tmp_path / "tokenizer")
    write_articles(tmp_path / "one.parquet", [Article("1", None, (Section("a", "b c a"),), "s")])
    encode_split(tmp_path / "one.parquet", tmp_path / "tokenizer", setting, "single", tmp_path / "one")
    tokens, kinds = load_encoded(tmp_path / "one")
    assert kinds.tolist() == [BOUNDARY, *[first] * (len(tokens) - 5), BODY, BODY, BODY, BOUNDARY]


class Entries:
    """Registries of one encoding and one classifier."""

    def __init__(self, tokenizer):
        classifier = {
            "encoding": "mine",
            "init": {"config": {"model_type": "bert"}},
            "training": {"learning_rate": 0.1},
        }
        self.entries = {
            "encodings": read_entry({"tokenizer": tokenizer}, "encodings", "mine"),
            "classifiers": read_entry(classifier, "classifiers", "its"),
        }

    def entry(self, registry, name):
        return self.entries[registry]


def test_what_an_encoding_of_words_cannot_be():
    check_encoding("mine", Entries({"words": {"minimum_count": 2}}))
    with pytest.raises(TextcriticError, match=r"tokenizer\.words: give vocabulary or minimum_count, one of the two"):
        check_encoding("mine", Entries({"words": {"minimum_count": 2, "vocabulary": 9}}))
    with pytest.raises(TextcriticError, match="encoding: mine is for language models of whole words"):
        check_classifier("mine", Entries({"words": {"minimum_count": 2}}))


NOUNS = ["cat", "dog", "man", "bird", "horse", "fish", "cow", "king", "queen", "child"]
VERBS = ["sees", "hears", "likes", "finds", "knows", "calls"]
SENTENCES = [f"the {one} {verb} a small {other} ." for one in NOUNS for verb in VERBS for other in NOUNS]
VOCABULARY = len(ALWAYS) + 18


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """Lines of text, encoded with merged pairs and with words, of which the rarest are unknown."""
    folder = tmp_path_factory.mktemp("lines")
    draw = np.random.default_rng(1)
    for split, number in {"train": 500, "validation": 40}.items():
        texts = [SENTENCES[place] for place in draw.integers(0, len(SENTENCES), number)]
        rows = [Article(f"{split}-{n}", None, (Section(None, text),), "s") for n, text in enumerate(texts)]
        write_articles(folder / f"{split}.parquet", rows)
        if split == "train":
            train_tokenizer(texts, folder / "bpe", 400)
            make_words_tokenizer(texts, folder / "words", vocabulary=VOCABULARY)
        for encoding in ("bpe", "words"):
            path = folder / f"{split}.parquet"
            encode_split(path, folder / encoding, "wo-title", "single", folder / f"{encoding}-{split}")
    return folder


@pytest.mark.skipif(not installed(), reason="run make fairseq")
@pytest.mark.parametrize("encoding", ["bpe", "words"])
@pytest.mark.parametrize("name", LANGUAGE_MODELS)
def test_every_language_model_of_fairseq_learns_lines_and_writes_them(lines, tmp_path, name, encoding):
    from textcritic.generators.fairseq.sample import sample_fairseq

    splits = Splits(lines / f"{encoding}-train", lines / f"{encoding}-validation", lines / encoding)
    architecture, options = LANGUAGE_MODELS[name]
    training = FairseqTraining(
        max_tokens=1000, learning_rate=3e-2, steps=80, warmup_steps=5, evaluate_every=40, schedule="cosine"
    )
    run = Run(tmp_path / "model", tmp_path / "training.json", threads=1)
    report = train_fairseq(splits, Architecture(architecture, {**options, "dropout": 0.0}), training, 1, run)
    tokenizer = load_tokenizer(lines / encoding)
    counts = np.bincount(load_encoded(lines / f"{encoding}-train")[0][1:])
    shares = counts[counts > 0] / counts.sum()
    # What a model reaches that knows how common each token is, and nothing of their order.
    assert report["validation_loss"] < -(shares @ np.log(shares)) - 0.1
    shard = Shard(1, 0, 30, tmp_path / "shard.parquet")
    sample_fairseq(tmp_path / "model", None, Decoding(max_tokens=60, batch_size=30), shard)
    texts = [draw.text for draw in read_shard(shard.path)]
    assert len(texts) == 30
    if encoding == "words":
        drawn = {word for text in texts for word in text.split()}
        assert drawn <= set(words(tokenizer)) - {"<|endoftext|>"}
        assert UNKNOWN in drawn
