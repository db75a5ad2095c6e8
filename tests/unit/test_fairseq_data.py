"""Batches for fairseq's models: budgets, order, and fairseq's layout of symbols."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_fairseq import AT_ONCE, END_OF_LETTERS, LANGUAGE_MODELS, TRANSLATORS, tiny_data

from textcritic.errors import TextcriticError
from textcritic.generators.fairseq.data import Batches, _cuts, iter_kinds, load_examples, target_streams
from textcritic.generators.fairseq.models import build_model, symbol_order
from textcritic.generators.fairseq.shim import installed
from textcritic.generators.pairs import Pairs
from textcritic.training.load import load_tokenizer

pytestmark = pytest.mark.skipif(not installed(), reason="run make fairseq")

BOS, PAD, END = 0, 1, 2


@pytest.fixture(scope="module")
def data(shared_folder):
    return shared_folder("fairseq-data", tiny_data)


@pytest.fixture(scope="module")
def model_of(data):
    tokenizer = load_tokenizer(data / "tokenizer")
    order = symbol_order(tokenizer, [np.arange(27)])
    return lambda choice: build_model(*choice, order, tokenizer=tokenizer)


@pytest.fixture(scope="module")
def translator(model_of):
    return model_of(TRANSLATORS["transformer"])


@given(st.lists(st.integers(1, 40), min_size=1, max_size=80), st.integers(40, 200))
def test_no_batch_exceeds_its_budget_and_none_could_have_one_more(lengths, budget):
    ordered = np.sort(lengths)
    cuts = _cuts(ordered, budget)
    assert (cuts[0], cuts[-1]) == (0, len(ordered))
    assert (np.diff(cuts) > 0).all()
    for first, stop in pairwise(cuts):
        assert (stop - first) * ordered[stop - 1] <= budget
        assert stop == len(ordered) or (stop + 1 - first) * ordered[stop] > budget


@settings(max_examples=20)
@given(st.integers(0, 1000), st.integers(40, 400))
def test_an_epoch_has_every_example_once_and_each_its_own_order(data, translator, seed, budget):
    examples = load_examples(data / "train.npz", translator)
    batches, again = Batches(translator, examples, budget), Batches(translator, examples, budget)
    epochs = [[batches.at(seed, epoch * len(batches) + place) for place in range(len(batches))] for epoch in range(2)]
    for epoch in epochs:
        assert sorted(np.concatenate(epoch)) == examples.usable.tolist()
        assert all(len(rows) * batches.longest[rows].max() <= budget for rows in epoch)
    assert [rows.tolist() for rows in epochs[0]] != [rows.tolist() for rows in epochs[1]]
    number = len(batches) + 1
    assert again.at(seed, number).tolist() == epochs[1][1].tolist()


def test_a_batch_of_pairs_is_laid_out_as_fairseq_does(data, translator):
    pairs = Pairs.load(data / "test.npz")
    examples = load_examples(data / "test.npz", translator)
    batches = Batches(translator, examples, 300)
    batch = batches.collate(np.arange(5))
    inputs = batch["net_input"]
    lengths = inputs["src_lengths"].tolist()
    assert lengths == sorted(lengths, reverse=True)
    for row, number in enumerate(batch["id"].tolist()):
        source, target = (translator.to_fairseq(tokens).tolist() for tokens in pairs.pair(number))
        pad = [PAD] * (inputs["src_tokens"].shape[1] - len(source) - 1)
        assert inputs["src_tokens"][row].tolist() == [*pad, *source, END]
        behind = [PAD] * (batch["target"].shape[1] - len(target) - 1)
        assert batch["target"][row].tolist() == [*target, END, *behind]
        assert inputs["prev_output_tokens"][row].tolist() == [END, *target, *behind]
    assert batch["ntokens"] == batches.tokens(np.arange(5)) == sum(len(pairs.pair(n)[1]) + 1 for n in range(5))


def test_models_that_write_at_once_have_both_ends_and_padding_behind(data, model_of):
    model = model_of(AT_ONCE["nonautoregressive_transformer"])
    pairs = Pairs.load(data / "test.npz")
    batch = Batches(model, load_examples(data / "test.npz", model), 300).collate(np.arange(5))
    assert "prev_output_tokens" not in batch["net_input"]
    for row, number in enumerate(batch["id"].tolist()):
        for tokens, side in zip((batch["net_input"]["src_tokens"], batch["target"]), pairs.pair(number), strict=True):
            symbols = [BOS, *model.to_fairseq(side).tolist(), END]
            assert tokens[row].tolist() == symbols + [PAD] * (tokens.shape[1] - len(symbols))


def test_a_document_of_a_stream_is_an_example(data, model_of):
    model = model_of(LANGUAGE_MODELS["transformer_lm"])
    stream = np.load(data / "test.tokens.npy")
    documents = np.split(stream[1:], np.flatnonzero(stream[1:] == END_OF_LETTERS) + 1)[:-1]
    examples = load_examples(data / "test", model)
    batch = Batches(model, examples, 300).collate(np.arange(4))
    for row, document in zip(range(4), documents, strict=False):
        symbols = model.to_fairseq(document).tolist()
        behind = [PAD] * (batch["target"].shape[1] - len(symbols))
        assert batch["target"][row].tolist() == symbols + behind
        assert batch["net_input"]["src_tokens"][row].tolist() == [END, *symbols[:-1], *behind]
    kinds = next(iter_kinds(examples, np.array([0]))).tolist()
    assert kinds == [2] * (len(documents[0]) - 1) + [0]


def test_the_dictionary_counts_both_sides(data):
    source, target = target_streams(data / "train.npz", translates=True)
    assert source.max() < 13 <= target.min()


def test_texts_that_are_too_long_are_left_out_and_said_so(data, model_of, caplog):
    architecture, options = TRANSLATORS["transformer"]
    model = model_of((architecture, options | {"max_target_positions": 6}))
    with caplog.at_level("WARNING", "textcritic"):
        examples = load_examples(data / "test.npz", model)
    lengths = np.diff(Pairs.load(data / "test.npz").target_offsets)
    assert examples.usable.tolist() == np.flatnonzero(lengths <= 5).tolist()
    assert (
        f"{(lengths > 5).sum()} of 30 texts of more than 5 tokens, or read from more than 63, are left out"
        in caplog.text
    )
    shorter = model_of((architecture, options | {"max_target_positions": 2}))
    with pytest.raises(TextcriticError, match=r"test.npz: 30 of 30 texts .* raise options.max_target_positions"):
        load_examples(data / "test.npz", shorter)


def test_a_difference_of_lengths_has_to_have_a_class(tmp_path, data, model_of):
    architecture, options = AT_ONCE["with offset and copies"]
    many = {"max_source_positions": 400, "max_target_positions": 400}
    model = model_of((architecture, options | many))
    lengths = [(1, 128), (1, 129), (129, 1), (130, 1), (250, 250)]
    sides = [np.cumsum([0, *(pair[side] for pair in lengths)]) for side in (0, 1)]
    tokens = [np.zeros(offsets[-1], np.int32) for offsets in sides]
    Pairs(tokens[0], sides[0], tokens[1], sides[1], np.arange(5)).save(tmp_path / "x.npz")
    assert load_examples(tmp_path / "x.npz", model).usable.tolist() == [0, 2, 4]


def test_faults_of_the_data_are_told(data, translator, tmp_path):
    examples = load_examples(data / "train.npz", translator)
    with pytest.raises(TextcriticError, match=r"training.max_tokens: 8 is less than the longest text, 9 tokens"):
        Batches(translator, examples, 8)
    pairs = Pairs.load(data / "test.npz")
    Pairs(pairs.source + 20, pairs.source_offsets, pairs.target, pairs.target_offsets, pairs.sentence).save(
        tmp_path / "x.npz"
    )
    with pytest.raises(TextcriticError, match=r"x.npz: holds token 3\d, the tokenizer has 28; rerun the encoding"):
        load_examples(tmp_path / "x.npz", translator)
