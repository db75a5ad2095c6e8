"""Pretrained models as the hub has them, but small: loaded whole, fine-tuned, measured; what is wrong is one line."""

import json
import shutil
from functools import partial

import numpy as np
import pytest
import torch
from local_hub import REVISION, fetch, local_hub
from tiny import tiny_articles
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer

from textcritic.corpora import render, write_articles
from textcritic.download import code_mark
from textcritic.errors import TextcriticError
from textcritic.generators.encode import encode_split, load_encoded
from textcritic.generators.perplexity import Windowing, perplexity
from textcritic.generators.train import Encoded, train_causal
from textcritic.plan.entries import HubModel
from textcritic.plan.entries.generators import CausalTraining as Training
from textcritic.rehearsal.checkpoints import tiny_bert, tiny_gpt2, tiny_gpt_neo
from textcritic.training.load import load_causal, load_model, load_tokenizer, save_hub_tokenizer, train_tokenizer
from textcritic.training.loop import Run

TEXTS = [render(article, "w-title") for article in tiny_articles(60, 1)]
MAKERS = {"gpt2": tiny_gpt2, "gpt2-json": partial(tiny_gpt2, tokenizer_json=True), "gpt-neo": tiny_gpt_neo}
# Their positions: of GPT-2 as many as textcritic.rehearsal.checkpoints gives it, of GPT-Neo 8 times its local window.
CONTEXT = {"gpt2": 32, "gpt2-json": 32, "gpt-neo": 64}


@pytest.fixture(scope="module", params=list(MAKERS))
def pretrained(request, tmp_path_factory):
    """(name, folder of the model, folder with its tokenizer as an encoding and both splits encoded)."""
    root = tmp_path_factory.mktemp(request.param)
    folder = MAKERS[request.param](root / "hub", TEXTS)
    save_hub_tokenizer(folder, root / "tokenizer")
    for split, count, seed in (("train", 60, 1), ("validation", 12, 2)):
        write_articles(root / f"{split}.parquet", tiny_articles(count, seed))
        encode_split(root / f"{split}.parquet", root / "tokenizer", "w-title", "as_released", root / split)
    return request.param, folder, root


@pytest.fixture
def spoilt(tmp_path):
    """A GPT-2 that a test may spoil."""
    return tiny_gpt2(tmp_path / "hub", TEXTS)


def fine_tune(folder, root, out, tokenizer=None, processes=1, **training):
    return train_causal(
        Encoded(root / "train", root / "validation", tokenizer or root / "tokenizer"),
        {"folder": folder},
        Training(**{"context": 16, "batch_size": 4, "learning_rate": 1e-3, "steps": 1} | training),
        1,
        Run(out / "model", out / "training.json", threads=1),
        processes,
    )


@torch.no_grad()
def first_loss(model, tokens, context):
    """Mean nats of the tokens of a stream, in windows of `context` tokens."""
    total = 0.0
    for start in range(0, len(tokens) - 1, context):
        window = torch.from_numpy(np.array(tokens[start : start + context + 1], np.int64))[None]
        log_probs = model(window[:, :-1]).logits.log_softmax(-1)
        total -= float(log_probs.gather(-1, window[:, 1:, None]).double().sum())
    return total / (len(tokens) - 1)


def test_fine_tuning_starts_from_the_very_weights(pretrained, tmp_path):
    name, folder, root = pretrained
    report = fine_tune(folder, root, tmp_path, context=CONTEXT[name], learning_rate=1e-12)
    theirs = AutoModelForCausalLM.from_pretrained(folder).eval()
    expected = first_loss(theirs, load_encoded(root / "validation")[0], CONTEXT[name])
    assert report["validation_loss"] == pytest.approx(expected, rel=1e-6)
    assert report["parameters"] == theirs.num_parameters()
    assert {weight.dtype for weight in theirs.parameters()} == {torch.float32}


def test_it_learns_and_is_measured_and_keeps_its_tokenizer(pretrained, tmp_path):
    _, folder, root = pretrained
    before = fine_tune(folder, root, tmp_path / "a", learning_rate=1e-12)
    after = fine_tune(folder, root, tmp_path / "b", learning_rate=1e-2, steps=40, activation_checkpointing=True)
    assert after["validation_loss"] < 0.7 * before["validation_loss"]
    measured = perplexity(tmp_path / "b/model", root / "validation", Windowing(16), tmp_path / "p.json", threads=1)
    assert np.log(measured["all"]["ppl"]) == pytest.approx(after["validation_loss"], rel=1e-5)
    theirs, kept = AutoTokenizer.from_pretrained(folder), load_tokenizer(tmp_path / "b/model")
    text = "naïve text\n\nwith  spaces <|endoftext|>"
    assert kept(text)["input_ids"] == theirs(text)["input_ids"]
    assert kept.eos_token_id == len(theirs) - 1
    assert kept.pad_token_id is None


def test_local_attention_is_local(tmp_path):
    """GPT-Neo's second layer sees 8 tokens; through both layers a token that is 60 back still counts a little."""
    folder = tiny_gpt_neo(tmp_path / "hub", TEXTS)
    tokenizer = load_tokenizer(folder)
    model = load_causal({"folder": folder}, tokenizer)
    kinds = [layer.attn.attention_type for layer in model.transformer.h]
    assert kinds == ["global", "local"]
    (mask,) = {layer.attn.attention.bias.sum(-1).max().item() for layer in model.transformer.h[1:]}
    assert mask == 8


def test_the_faster_activation_is_the_same_function(tmp_path):
    folder = tiny_gpt2(tmp_path / "hub", TEXTS)
    ours, theirs = load_causal({"folder": folder}, load_tokenizer(folder)), AutoModelForCausalLM.from_pretrained(folder)
    assert (ours.config.activation_function, theirs.config.activation_function) == ("gelu_pytorch_tanh", "gelu_new")
    ids = torch.arange(32)[None]
    with torch.no_grad():
        torch.testing.assert_close(ours(ids).logits, theirs.eval()(ids).logits, atol=1e-4, rtol=1e-5)


def rewrite(folder, **changes):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))


def shards(folder):
    return sorted(folder.glob("model-*.safetensors"))


FAULTS = {
    "a missing shard": (lambda f: shards(f)[1].unlink(), r"model-00002-of-0000\d\.safetensors: no such file"),
    "a truncated shard": (
        lambda f: shards(f)[0].write_bytes(shards(f)[0].read_bytes()[:-8]),
        r"model-00001-of-0000\d\.safetensors: not a whole safetensors file",
    ),
    "a truncated index": (
        lambda f: (f / "model.safetensors.index.json").write_text("{"),
        r"model\.safetensors\.index\.json: not a JSON file",
    ),
    "no weights": (
        lambda f: [path.unlink() for path in f.glob("model*")],
        r"model\.safetensors: no such file; the folder has no weights in safetensors form",
    ),
    "weights missing": (lambda f: rewrite(f, n_layer=3), r"12 weights are missing, the first is transformer\.h\.2\."),
    "weights too many": (
        lambda f: rewrite(f, n_layer=1),
        r"1\d weights have no place in the model, the first is .*h\.1",
    ),
    "other shapes": (
        lambda f: rewrite(f, n_positions=64),
        r"1 weights have other shapes .*, the first is .*wpe\.weight",
    ),
    "another kind": (
        lambda f: rewrite(f, architectures=["T5Model"]),
        "holds a T5Model, which cannot serve as GPT2LMHea",
    ),
    "no such kind": (lambda f: rewrite(f, model_type="gpt9"), r"no model can be loaded from it: "),
    "no tokenizer": (
        lambda f: [(f / file).unlink() for file in ("vocab.json", "merges.txt", "tokenizer_config.json")],
        r"holds no tokenizer's vocabulary; copy tokenizer\.json, or vocab\.json and merges\.txt, or vocab\.txt",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_with_a_folder_is_one_line(fault, spoilt, tmp_path):
    spoil, message = FAULTS[fault]
    tokenizer = load_tokenizer(spoilt)
    spoil(spoilt)
    with pytest.raises(TextcriticError, match=message) as raised:
        load_causal({"folder": spoilt}, tokenizer) if fault != "no tokenizer" else save_hub_tokenizer(spoilt, tmp_path)
    assert "\n" not in str(raised.value)
    assert str(spoilt) in str(raised.value)


def test_a_masked_language_model_is_no_generator(tmp_path):
    bert = tiny_bert(tmp_path / "bert", TEXTS)
    with pytest.raises(TextcriticError, match="bert: holds a BertForMaskedLM, which cannot serve as BertLMHeadModel"):
        load_causal({"folder": bert}, load_tokenizer(bert))
    for file in ("vocab.txt", "tokenizer_config.json"):
        (bert / file).unlink()
    with pytest.raises(TextcriticError, match="holds no tokenizer's vocabulary"):
        load_tokenizer(bert)


def test_an_encoder_is_loaded_whole_under_its_old_names(tmp_path):
    bert = tiny_bert(tmp_path / "bert", TEXTS)
    assert len(shards(bert)) > 2
    tokenizer = load_tokenizer(bert)
    ours = load_model(AutoModelForSequenceClassification, {"folder": bert}, tokenizer, new_head=True, num_labels=3)
    theirs = AutoModelForSequenceClassification.from_pretrained(bert, num_labels=3)
    for (name, a), (_, b) in zip(ours.bert.named_parameters(), theirs.bert.named_parameters(), strict=True):
        assert torch.equal(a, b), name
    assert tokenizer.tokenize("The the") != tokenizer.tokenize("the the")  # cased
    shutil.copytree(bert, tmp_path / "deeper")
    rewrite(tmp_path / "deeper", num_hidden_layers=3)
    with pytest.raises(TextcriticError, match=r"16 weights are missing, the first is bert\.encoder\.layer\.2"):
        load_model(AutoModelForSequenceClassification, {"folder": tmp_path / "deeper"}, tokenizer, new_head=True)


def test_a_stand_in_has_the_same_word_pieces_whenever_it_is_made(tmp_path):
    first, again = (tiny_bert(tmp_path / name, TEXTS) / "vocab.txt" for name in ("first", "again"))
    assert first.read_bytes() == again.read_bytes()


def test_what_does_not_belong_to_the_model_is_refused(pretrained, tmp_path):
    name, folder, root = pretrained
    train_tokenizer(TEXTS, tmp_path / "other", 300)
    with pytest.raises(TextcriticError, match="use an encoding with this model's own tokenizer"):
        fine_tune(folder, root, tmp_path / "a", tokenizer=tmp_path / "other")
    room = CONTEXT[name]
    with pytest.raises(TextcriticError, match=rf"training\.context: {room + 1} is more than the model's pos.*{room}"):
        fine_tune(folder, root, tmp_path / "b", context=room + 1)
    assert fine_tune(folder, root, tmp_path / "c", context=2)["steps"] == 1  # few, but enough to predict from


OWN_CODE = """
from pathlib import Path
from transformers import GPT2Config, GPT2LMHeadModel

Path({mark!r}).touch()

class OwnConfig(GPT2Config):
    model_type = "own-gpt"

class OwnModel(GPT2LMHeadModel):
    config_class = OwnConfig
"""


REFUSED = r"needs Python code of its own, which is not run; .*custom_code"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A working directory whose `results/raw/hub` has one model twice: entry `own` allows its code, `other` does not.

    The model's code makes a file `it-ran`.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "hf-home/modules"))
    folder = tiny_gpt2(tmp_path / "published", TEXTS)
    (folder / "modeling_own.py").write_text(OWN_CODE.format(mark=str(tmp_path / "it-ran")))
    classes = {"AutoConfig": "modeling_own.OwnConfig", "AutoModelForCausalLM": "modeling_own.OwnModel"}
    rewrite(folder, model_type="own-gpt", architectures=["OwnModel"], auto_map=classes)
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "GPT2TokenizerFast"}')
    save_hub_tokenizer(tiny_gpt2(tmp_path / "plain", TEXTS), tmp_path / "tokenizer")
    for split, count in (("train", 20), ("validation", 5)):
        write_articles(tmp_path / f"{split}.parquet", tiny_articles(count, 1))
        encode_split(tmp_path / f"{split}.parquet", tmp_path / "tokenizer", "w-title", "as_released", tmp_path / split)
    with local_hub({path.name: path.read_bytes() for path in folder.iterdir()}, tmp_path / "hf-home", monkeypatch):
        download(tmp_path, "own", custom_code=True)
        download(tmp_path, "other", custom_code=False)
        yield tmp_path


def download(place, name, custom_code):
    entry = HubModel(repository="some/model", revision=REVISION, custom_code=custom_code)
    target = place / "results/raw/hub" / name
    assert fetch("download.download_model", name, entry, target) == ""


def test_code_of_a_model_runs_only_where_its_hub_entry_allows_it(place, monkeypatch):
    own, other = place / "results/raw/hub/own", place / "results/raw/hub/other"
    monkeypatch.setenv("TEXTCRITIC_CUSTOM_CODE", "own other")  # no environment variable allows it
    shutil.copy(own / "modeling_own.py", other)  # as a user may who puts files there by hand
    users = shutil.copytree(own, place / "users/own")
    shutil.copy(code_mark(own), code_mark(users))
    tokenizer = load_tokenizer(place / "tokenizer")
    for folder in (other, users, place / "published"):
        with pytest.raises(TextcriticError, match=REFUSED) as refused:
            load_causal({"folder": folder}, tokenizer)
        assert "\n" not in str(refused.value)
    assert not (place / "it-ran").exists()
    assert type(load_causal({"folder": own}, tokenizer)).__name__ == "OwnModel"
    assert (place / "it-ran").exists()


def test_code_is_refused_again_after_the_entry_no_longer_allows_it(place):
    assert code_mark(place / "results/raw/hub/own").is_file()
    download(place, "own", custom_code=False)
    with pytest.raises(TextcriticError, match=REFUSED):
        load_causal({"folder": place / "results/raw/hub/own"}, load_tokenizer(place / "tokenizer"))
    assert not (place / "it-ran").exists()


def test_a_model_trained_from_one_with_code_is_loaded_with_it(place):
    """By two processes, which both load the model with its code."""
    tokenizer = load_tokenizer(place / "tokenizer")
    load_causal({"folder": place / "results/raw/hub/own"}, tokenizer)
    trained = place / "results/generators/corpus/w-title/own/seed1"
    fine_tune(place / "results/raw/hub/own", place, trained, processes=2)
    assert type(load_causal({"folder": trained / "model"}, tokenizer)).__name__ == "OwnModel"
    elsewhere = shutil.copytree(trained / "model", place / "elsewhere")
    with pytest.raises(TextcriticError, match=REFUSED):
        load_causal({"folder": elsewhere}, tokenizer)


def test_a_pretrained_folder_whose_code_is_not_needed_is_loaded_without_it(place):
    """transformers has the model itself: nothing of the repository runs, neither before nor after a training."""
    other = place / "results/raw/hub/other"
    rewrite(other, model_type="gpt2", architectures=["GPT2LMHeadModel"])
    trained = place / "results/generators/corpus/w-title/other/seed1"
    fine_tune(other, place, trained)
    model = load_causal({"folder": trained / "model"}, load_tokenizer(trained / "model"))
    assert type(model).__name__ == "GPT2LMHeadModel"
    assert not (place / "it-ran").exists()
