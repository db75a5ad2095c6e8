"""fairseq's models: sizes, folders, symbols, and what is refused."""

import json
import pickle

import numpy as np
import pytest
import torch
from tiny_fairseq import AT_ONCE, END_OF_LETTERS, LANGUAGE_MODELS, TRANSLATORS, built, tiny_data

from textcritic.errors import TextcriticError
from textcritic.generators.fairseq.models import build_model, load_model, save_model, symbol_order, weights
from textcritic.generators.fairseq.shim import installed
from textcritic.plan.entries import read_entry
from textcritic.plan.spec import load_yaml
from textcritic.training.load import SPECIAL_TOKENS, load_tokenizer
from textcritic.workflow import workflow_folder

pytestmark = pytest.mark.skipif(not installed(), reason="run make fairseq")

ALL = TRANSLATORS | LANGUAGE_MODELS | AT_ONCE
SUBWORD_SPECIALS = 3  # of a subword tokenizer: end, padding and unknown


@pytest.fixture(scope="module")
def data(shared_folder):
    return shared_folder("fairseq-data", tiny_data)


@pytest.fixture(scope="module")
def tokenizer(data):
    return load_tokenizer(data / "tokenizer")


def order_of(symbols):
    return np.array([-1, -1, 0, -1, *range(1, symbols - 3)], np.int32)


def parameters(architecture, options, symbols):
    """Counted without allocating them."""
    return build_model(architecture, options, order_of(symbols), device="meta").parameters


@pytest.mark.parametrize(("name", "published"), [("translator-mixing", 64.80), ("nat-mixing", 65.98)])
def test_the_translators_of_the_paper_have_its_numbers_of_parameters(name, published):
    """Model-criticism paper, appendix C."""
    registry = workflow_folder() / "config/registry"
    entry = read_entry(load_yaml(registry / "generators.yaml")[name], "generators", name).plain()
    vocabulary = load_yaml(registry / "encodings.yaml")[entry["encoding"]]["tokenizer"]["subwords"]["vocabulary"]
    symbols = vocabulary - SUBWORD_SPECIALS + 4
    # It draws weights on the CPU and copies them, which there is no room for here.
    options = {key: value for key, value in entry["options"].items() if key != "apply_bert_init"}
    assert round(parameters(entry["architecture"], options, symbols) / 1e6, 2) == published


def test_what_the_second_translator_has_more_are_positions_and_lengths():
    options = {"share_all_embeddings": True}
    learned = options | {"encoder_learned_pos": True, "decoder_learned_pos": True}
    one = parameters("transformer_wmt_en_de", options, 1000)
    other = parameters("nonautoregressive_transformer", learned, 1000)
    assert other - one == 2 * (1024 + 2) * 512 + 256 * 512


@pytest.mark.parametrize(
    ("name", "millions"),
    [("transformer-lines", 205), ("transformer-as-lines", 315), ("conv-lines", 133), ("lstm-lines", 59)],
)
def test_the_language_models_of_the_study_of_tendencies_have_its_sizes(name, millions):
    """Language Model Evaluation Beyond Perplexity, Table 1; vocabularies are inferred from them."""
    registry = workflow_folder() / "config/registry"
    entry = read_entry(load_yaml(registry / "generators.yaml")[name], "generators", name).plain()
    ((kind, given),) = load_yaml(registry / "encodings.yaml")[entry["encoding"]]["tokenizer"].items()
    # fairseq has four special symbols of its own, one of them the end of text; other special tokens are left out.
    symbols = given["vocabulary"] + 4 - {"train": len(SPECIAL_TOKENS), "words": 1}[kind]
    # A dictionary of a million words takes long: beyond the last cutoff, 60,000, each word adds the same number.
    most = min(symbols, 70_000)
    found = parameters(entry["architecture"], entry["options"], most)
    if symbols > most:
        more = parameters(entry["architecture"], entry["options"], most + 1)
        found += (symbols - most) * (more - found)
    assert round(found / 1e6) == millions


def test_an_adaptive_softmax_saves_what_its_factor_says():
    """transformer_lm_wiki103 (315 million with 1.3 million words): a word beyond a cutoff has 256 or 64 numbers."""
    base = parameters("transformer_lm_wiki103", {}, 100_000)
    assert parameters("transformer_lm_wiki103", {}, 101_000) - base == 1000 * 1024 // 16
    # 16 layers of width 1024 and 4096, with their norms; words; the projections of three bands; scores of two clusters.
    layer = 4 * (1024 * 1024 + 1024) + 2 * 1024 * 4096 + 4096 + 1024 + 2 * 2 * 1024
    tables = 20_000 * 1024 + 40_000 * 256 + 40_000 * 64
    assert base == 16 * layer + tables + 1024 * (1024 + 256 + 64) + 2 * 1024


@pytest.mark.parametrize("name", ALL)
def test_a_saved_model_is_the_same_when_it_is_loaded(name, tokenizer, tmp_path):
    architecture, options = ALL[name]
    order = symbol_order(tokenizer, [np.array([5, 5, 3])])
    model = build_model(architecture, options, order, seed=3, tokenizer=tokenizer)
    save_model(model, tmp_path)
    loaded = load_model(tmp_path, architecture)
    ours, theirs = weights(model.module), weights(loaded.module)
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[key], theirs[key]) for key in ours)
    assert (loaded.order == order).all()
    assert (loaded.autoregressive, loaded.translates) == (name not in AT_ONCE, name not in LANGUAGE_MODELS)
    assert not loaded.module.training


def test_weights_depend_on_the_seed_and_on_nothing_else():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = weights(built(TRANSLATORS["transformer"]).module)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(6)
    again, other = (weights(built(TRANSLATORS["transformer"], seed=seed).module) for seed in (1, 2))
    assert all(torch.equal(first[key], again[key]) for key in first)
    assert not all(torch.equal(first[key], other[key]) for key in first)


def test_symbols_are_in_the_order_of_how_often_they_occur(tokenizer):
    order = symbol_order(tokenizer, [np.array([4, 4, 4, 9]), np.array([9, 7])])
    assert order[:8].tolist() == [-1, -1, END_OF_LETTERS, -1, 4, 9, 7, 0]
    assert sorted(order[4:]) == [token for token in range(28) if token != END_OF_LETTERS]


def test_tokens_become_symbols_and_back(tokenizer):
    order = symbol_order(tokenizer, [np.array([4, 4, 9])])
    model = build_model(*LANGUAGE_MODELS["lstm_lm"], order, tokenizer=tokenizer)
    ids = np.array([[4, 9], [0, END_OF_LETTERS]])
    symbols = model.to_fairseq(ids)
    assert symbols.tolist() == [[4, 5], [6, model.dictionary.eos()]]
    assert model.from_fairseq(symbols.flatten()) == ids.flatten().tolist()
    special = [model.dictionary.bos(), 5, model.dictionary.unk(), model.dictionary.pad(), model.dictionary.eos()]
    assert model.from_fairseq(special) == [9, END_OF_LETTERS]
    shorter = build_model(*LANGUAGE_MODELS["lstm_lm"], order[:-1], tokenizer=tokenizer)
    assert shorter.to_fairseq(order[-1:]).tolist() == [model.dictionary.unk()]


@pytest.mark.parametrize(
    ("name", "source", "target"),
    [
        ("transformer", 63, 63),
        ("learned positions", 63, 63),
        ("nonautoregressive_transformer", 62, 62),
        ("fconv_lm", 0, 63),
    ],
)
def test_the_longest_texts_leave_room_for_their_ends(name, source, target):
    model = built(ALL[name])
    assert (model.longest_source, model.longest_target) == (source, target)


def test_a_predicted_length_has_256_classes():
    architecture, options = AT_ONCE["nonautoregressive_transformer"]
    model = built((architecture, options | {"max_target_positions": 1024}))
    assert model.longest_target == 253


@pytest.mark.parametrize(
    ("architecture", "options", "message"),
    [
        (
            "transformer_wmt",
            {},
            "architecture: fairseq has no architecture 'transformer_wmt'; did you mean 'transf",
        ),
        ("transformer_lm", {"decoder_layer": 2}, r"options.decoder_layer: .*did you mean 'decoder_layers'\?"),
        ("transformer_lm", {"decoder_layers": "two"}, "options: argument --decoder-layers: invalid int value: 'two'"),
        ("transformer_lm", {"adaptive_input": 1}, "options.adaptive_input: 1 should be true or false"),
        ("transformer_lm", {"decoder_attention_heads": 7}, "options: no transformer_lm can be built .*divisible"),
        ("lstm", {"encoder_embed_path": "x"}, "options.encoder_embed_path: files of fairseq are not read"),
        ("fconv_lm", {"decoder_layers": "[print('x')]"}, "options.decoder_layers: .*only numbers between its brackets"),
        ("fconv_lm", {"decoder_layers": "__import__"}, "options.decoder_layers: .*only numbers between its brackets"),
        ("levenshtein_transformer", {}, "levenshtein_transformer does not predict length and tokens independently"),
        ("nacrf_transformer", {}, "use nonautoregressive_transformer, iterative_nonautoregressive_transformer or cmlm"),
        ("masked_lm", {}, "architecture: masked_lm neither translates text nor is a language model"),
    ],
)
def test_what_cannot_be_built_is_told_in_one_line(architecture, options, message):
    with pytest.raises(TextcriticError, match=message) as caught:
        build_model(architecture, options, order_of(30))
    assert "\n" not in str(caught.value)


@pytest.fixture
def folder(tokenizer, tmp_path):
    order = symbol_order(tokenizer, [])
    save_model(build_model(*LANGUAGE_MODELS["lstm_lm"], order, tokenizer=tokenizer), tmp_path)
    return tmp_path


def test_a_model_of_another_architecture_is_refused(folder):
    with pytest.raises(TextcriticError, match="holds a lstm_lm, not a transformer_lm; delete it and train"):
        load_model(folder, "transformer_lm")


def test_foreign_models_are_refused_unread(folder, tmp_path):
    class Harmful:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was read",))

    checkpoint = tmp_path / "checkpoint_best.pt"
    checkpoint.write_bytes(pickle.dumps(Harmful()))
    with pytest.raises(TextcriticError, match=r"checkpoint_best.pt: a file; checkpoints of fairseq are pickles, which"):
        load_model(checkpoint)
    (folder / "config.json").write_text('{"model_type": "gpt2"}')
    with pytest.raises(TextcriticError, match="not a model of kind fairseq that was trained here"):
        load_model(folder)
    with pytest.raises(TextcriticError, match="no such folder"):
        load_model(tmp_path / "absent")


def test_damaged_folders_are_refused(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"options": config["options"] | {"decoder_layers": 2}}))
    with pytest.raises(TextcriticError, match=r"model.safetensors: does not hold the weights of a lstm_lm"):
        load_model(folder)
    (folder / "config.json").write_text(json.dumps(config))
    kept = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(kept[:100])
    with pytest.raises(TextcriticError, match=r"model.safetensors: does not hold the weights of a lstm_lm"):
        load_model(folder)
    np.save(folder / "dictionary.npy", np.arange(8))
    with pytest.raises(TextcriticError, match="its symbols are not those of the tokenizer in its folder"):
        load_model(folder)
    (folder / "dictionary.npy").write_bytes(b"no array")
    with pytest.raises(TextcriticError, match=r"dictionary.npy: not a whole .npy file"):
        load_model(folder)
