import string

import numpy as np
import pytest

from textcritic.corpora import BODY, BOUNDARY, Article, Process, Section, write_articles
from textcritic.errors import TextcriticError
from textcritic.generators.encode import document_index, load_encoded, prompt_ids, training_starts
from textcritic.generators.symbols import (
    encode_process_split,
    make_symbol_tokenizer,
    read_sequences,
    require_symbols,
)
from textcritic.plan.entries import Encoding
from textcritic.plan.entries.extraction import ProcessOptions
from textcritic.plan.spec import SCHEMAS, load_yaml
from textcritic.training.load import decode, load_tokenizer

END = 52 + 1


@pytest.fixture(scope="module")
def tokenizer_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("symbols") / "tokenizer"
    make_symbol_tokenizer(folder, string.ascii_letters)
    return folder


def sequences(count: int, steps: int = 3) -> list[Article]:
    process = Process.draw(ProcessOptions(states=5, steps=steps, subsequences=40, shortest=2, longest=5))
    states, emitted = process.sample(count, seed=1)
    return [
        Article(
            f"s{n}",
            None,
            tuple(Section(str(s), process.subsequences[e]) for s, e in zip(states[n], emitted[n], strict=True)),
            "t",
        )
        for n in range(count)
    ]


def text_of(article: Article) -> str:
    return "".join(f"{section.text} " for section in article.sections)


def encode(articles: list[Article], tokenizer_dir, folder, seed=None):
    write_articles(folder / "a.parquet", articles)
    encode_process_split(folder / "a.parquet", tokenizer_dir, folder / "out", seed)
    return folder / "out"


def test_the_vocabulary_is_letters_delimiter_and_end(tokenizer_dir):
    tokenizer = load_tokenizer(tokenizer_dir)
    assert len(tokenizer) == 52 + 1 + 1
    assert tokenizer.convert_ids_to_tokens(range(54)) == [*string.ascii_letters, " ", "<|endoftext|>"]
    assert tokenizer.all_special_ids == [tokenizer.eos_token_id] == [END]
    assert prompt_ids(tokenizer, "single") == [END]


@pytest.mark.parametrize("text", [string.ascii_letters, "aB c ", " ", "  a  ", "zZ", " aA b  ", ""])
def test_text_is_given_back_exactly(tokenizer_dir, text):
    tokenizer = load_tokenizer(tokenizer_dir)
    ids = tokenizer(text)["input_ids"]
    assert ids == [(string.ascii_letters + " ").index(letter) for letter in text]
    assert decode(tokenizer, [*ids, END]) == decode(tokenizer, ids) == text
    assert decode(tokenizer, [*ids, END, *ids]) == (f"{text}<|endoftext|>{text}" if text else "")


def test_the_stream_is_what_the_tokenizer_gives(tokenizer_dir, tmp_path):
    articles = sequences(5000, steps=2)  # more than a row group
    tokens, kinds = load_encoded(encode(articles, tokenizer_dir, tmp_path))
    tokenizer = load_tokenizer(tokenizer_dir)
    slow = [END]
    for ids in tokenizer([text_of(article) for article in articles])["input_ids"]:
        slow += [*ids, END]
    assert tokens.dtype == np.int32
    assert tokens.tolist() == slow
    assert (kinds == np.where(tokens == END, BOUNDARY, BODY)).all()
    assert tokenizer.decode(tokens) == "<|endoftext|>" + "".join(f"{text_of(a)}<|endoftext|>" for a in articles)


def test_sequences_are_read_back(tokenizer_dir, tmp_path):
    articles = sequences(50)
    prefix = encode(articles, tokenizer_dir, tmp_path)
    tokens, offsets = read_sequences(prefix, END)
    assert (tokens.dtype, offsets.dtype) == (np.uint8, np.int64)
    texts = [load_tokenizer(tokenizer_dir).decode(part) for part in np.split(tokens, offsets[1:-1])]
    assert texts == [text_of(article) for article in articles]
    assert (offsets[0], offsets[-1], len(offsets)) == (0, len(tokens), 51)


def test_a_shuffle_is_a_permutation_of_the_sequences_by_its_seed(tokenizer_dir, tmp_path):
    articles = sequences(40)
    streams = []
    for seed in (None, 1, 1, 2):
        tokens, offsets = read_sequences(encode(articles, tokenizer_dir, tmp_path, seed), END)
        streams.append([part.tolist() for part in np.split(tokens, offsets[1:-1])])
    in_order, once, again, other = streams
    assert once == again
    assert once not in (in_order, other)
    assert sorted(once) == sorted(in_order) == sorted(other)


def test_blocks_begin_with_a_sequence_and_tokens_know_theirs(tokenizer_dir, tmp_path):
    articles = sequences(60)
    tokens, kinds = load_encoded(encode(articles, tokenizer_dir, tmp_path))
    document = document_index(np.asarray(tokens), np.asarray(kinds), END)
    lengths = [len(text_of(article)) + 1 for article in articles]
    assert np.bincount(document).tolist() == [lengths[0] + 1, *lengths[1:]]
    starts = training_starts(np.asarray(tokens), np.asarray(kinds), END, 64, "articles")
    assert len(starts) > 2
    assert (tokens[starts] == END).all()


@pytest.mark.parametrize(
    ("sections", "fault"),
    [
        (["ab", "a-c"], r"article 'x', section 2: 'a-c' should be letters of the process"),
        (["ab", "é"], r"article 'x', section 2: 'é' should be letters of the process"),
        (["a\n"], r"article 'x', section 1: 'a\\n' should be letters of the process"),
        (["a b"], r"article 'x', section 1: 'a b' should be letters of the process"),
        (["a", ""], r"article 'x', section 2: '' should be letters of the process"),
        (["a", None], r"article 'x', section 2: None should be letters of the process"),
        ([], r"article 'x' has no sections; a sequence has one for each sub-sequence"),
    ],
)
def test_what_is_no_sequence_is_named(tokenizer_dir, tmp_path, sections, fault):
    bad = Article("x", None, tuple(Section("0", text) for text in sections), "t")
    with pytest.raises(TextcriticError, match=r"a\.parquet: " + fault):
        encode([*sequences(2), bad, *sequences(2)], tokenizer_dir, tmp_path)
    with pytest.raises(TextcriticError, match=r"a\.parquet: holds no articles"):
        encode([], tokenizer_dir, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


@pytest.mark.parametrize("letters", ["", "ab ", "aba", "aé"])
def test_letters_that_cannot_be_an_alphabet_are_refused(tmp_path, letters):
    with pytest.raises(TextcriticError, match="should be distinct ASCII characters without a space"):
        make_symbol_tokenizer(tmp_path / "t", letters)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("tokens", "fault"),
    [
        ([END], "should begin and end with the end-of-text token 53"),
        ([], "should begin and end with the end-of-text token 53"),
        ([1, 2, END], "should begin and end with the end-of-text token 53"),
        ([END, 1, 2], "should begin and end with the end-of-text token 53"),
        ([END, 1, END, END], "sequence 1 is empty"),
    ],
)
def test_streams_of_another_form_are_refused(tmp_path, tokens, fault):
    np.save(tmp_path / "x.tokens.npy", np.array(tokens, np.int32))
    np.save(tmp_path / "x.kinds.npy", np.zeros(len(tokens), np.uint8))
    with pytest.raises(TextcriticError, match=r"x\.tokens\.npy: " + fault):
        read_sequences(tmp_path / "x", END)


@pytest.mark.parametrize(("highest", "kind"), [(255, np.uint8), (256, np.uint16), (70_000, np.uint32)])
def test_ids_keep_their_values_in_the_smallest_type(tmp_path, highest, kind):
    np.save(tmp_path / "x.tokens.npy", np.array([END, highest, 1, END, 2, END], np.int32))
    np.save(tmp_path / "x.kinds.npy", np.zeros(6, np.uint8))
    tokens, offsets = read_sequences(tmp_path / "x", END)
    assert (tokens.tolist(), tokens.dtype) == ([highest, 1, 2], kind)
    assert offsets.tolist() == [0, 2, 3]


def test_encodings_for_text_are_refused():
    entries = load_yaml(SCHEMAS.parent / "registry" / "encodings.yaml")
    symbols = Encoding(**entries["symbols"])
    require_symbols(symbols, "symbols")
    for name, encoding in (
        ("gpt2", Encoding(**entries["gpt2"])),
        ("mine", symbols.changed(boundary="as_released")),
    ):
        with pytest.raises(TextcriticError, match=f"encodings: {name}: a synthetic process needs an encoding with"):
            require_symbols(encoding, name)
