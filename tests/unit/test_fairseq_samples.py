"""Shards of texts by models of fairseq: whole, in shards, after a kill, and what is refused."""

import json
import multiprocessing
import os
import re
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tiny_fairseq import AT_ONCE, LANGUAGE_MODELS, TRANSLATORS, built

from textcritic.corpora import Article, Section, write_articles
from textcritic.errors import TextcriticError
from textcritic.generators.fairseq.shim import installed
from textcritic.generators.sample import Sampling
from textcritic.generators.shards import PartialShard, Shard, read_shard
from textcritic.plan.checks.decodings import REFINING
from textcritic.plan.entries import Decoding
from textcritic.plan.shares import share_of
from textcritic.training.load import load_tokenizer

pytestmark = pytest.mark.skipif(not installed(), reason="run make fairseq")

SENTENCES = ["the cat sat", "dogs", "the dogs ran to the cat", "a cat", "the dog sat on the mat"]
SCHEMES = {
    "drawn": ("transformer", Decoding(max_tokens=12, batch_size=4)),
    "searched": ("transformer", Decoding(max_tokens=12, batch_size=4, method="likeliest", beam=3)),
    "beams": ("lstm_lm", Decoding(max_tokens=12, batch_size=4, method="beam-sampling", beam=3)),
    "best": ("transformer", Decoding(max_tokens=12, batch_size=4, method="best-of", beam=3, top_p=0.9)),
    "at once": ("nonautoregressive_transformer", Decoding(max_tokens=12, batch_size=4)),
    "refined": ("cmlm_transformer", Decoding(max_tokens=12, batch_size=4, method="likeliest", iterations=2)),
    "text": ("lstm_lm", Decoding(max_tokens=12, batch_size=4, top_p=0.95)),
}
CHOICES = TRANSLATORS | LANGUAGE_MODELS | AT_ONCE


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """`folders(name)`: the folder of a model with random weights and a tokenizer of the sentences, saved once."""
    from textcritic.generators.fairseq.models import save_model
    from textcritic.generators.pairs import make_subword_tokenizer

    base = tmp_path_factory.mktemp("fairseq")
    articles = [Article(f"{n:06d}-de", text, (Section("de", text.upper()),), "s") for n, text in enumerate(SENTENCES)]
    write_articles(base / "train.parquet", articles)
    make_subword_tokenizer(base / "train.parquet", base / "tokenizer", 80)
    tokenizer = load_tokenizer(base / "tokenizer")

    def folder(name):
        path = base / name.replace(" ", "_")
        if not path.exists():
            path.mkdir()
            save_model(built(CHOICES[name], words=len(tokenizer) - 3, tokenizer=tokenizer), path)
        return path

    return folder


def sources_for(name):
    return None if name in LANGUAGE_MODELS else SENTENCES


def make(folders, scheme, shard, sampling=None):
    from textcritic.generators.fairseq.sample import sample_fairseq

    name, decoding = SCHEMES[scheme] if isinstance(scheme, str) else scheme
    sample_fairseq(folders(name), sources_for(name), decoding, shard, sampling)
    return read_shard(shard.path)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_shard_holds_its_texts_in_order_whatever_shards_and_batches_are(folders, tmp_path, scheme):
    whole = make(folders, scheme, Shard(7, 0, 23, tmp_path / "whole.parquet"))
    assert [text.index for text in whole] == list(range(23))
    for text in whole:
        assert text.finish in ("end", "length")
        assert 1 <= text.tokens <= 12
        assert "<|endoftext|>" not in text.text
        assert len(text.text.split()) <= text.tokens
    assert len({text.text for text in whole}) > 1
    name, decoding = SCHEMES[scheme]
    for shards in (2, 5):
        parts = []
        for shard in range(shards):
            part = Shard(7, *share_of(23, f"{shard}-of-{shards}"), tmp_path / f"{shard}-of-{shards}.parquet")
            parts += make(folders, (name, decoding.changed(batch_size=50)), part)
        assert parts == whole
    likeliest = decoding.method == "likeliest"
    other = make(folders, scheme, Shard(8, 0, 23, tmp_path / "other.parquet"))
    assert (other == whole) is likeliest
    if likeliest:  # nothing but the sentence decides
        assert [text.text for text in whole[:18]] == [text.text for text in whole[5:]]


def test_what_does_not_end_is_cut(folders, tmp_path):
    from textcritic.generators.fairseq.models import load_model

    model = load_model(folders("transformer"))
    whole = make(folders, "drawn", Shard(7, 0, 23, tmp_path / "whole.parquet"))
    short = make(folders, ("transformer", Decoding(max_tokens=2)), Shard(7, 0, 23, tmp_path / "short.parquet"))
    assert {text.finish for text in short} == {"end", "length"}
    for longer, cut in zip(whole, short, strict=True):
        assert cut.tokens == min(longer.tokens, 2)
        assert (cut.finish == "length") is (longer.tokens > 2)
    at_once = make(folders, "at once", Shard(7, 0, 23, tmp_path / "at_once.parquet"))
    few = ("nonautoregressive_transformer", Decoding(max_tokens=7))
    cut = make(folders, few, Shard(7, 0, 23, tmp_path / "few.parquet"))
    for longer, shorter in zip(at_once, cut, strict=True):
        assert shorter.tokens == min(longer.tokens, 7)
        assert (shorter.finish == "length") is (longer.tokens > 7)
        assert longer.text.startswith(shorter.text)
    assert {text.finish for text in cut} == {"end", "length"}
    assert model.longest_target + 1 == 64


def test_a_search_that_reaches_the_limit_is_cut(folders, tmp_path):
    greedy = Decoding(max_tokens=40, method="likeliest")
    whole = make(folders, ("transformer", greedy), Shard(0, 0, 5, tmp_path / "whole.parquet"))
    short = make(folders, ("transformer", greedy.changed(max_tokens=3)), Shard(0, 0, 5, tmp_path / "short.parquet"))
    for longer, cut in zip(whole, short, strict=True):
        assert (cut.finish == "length") is (longer.tokens > 3 or longer.finish == "length")
        assert cut.tokens == min(longer.tokens, 3)
    assert "length" in {text.finish for text in short}


def test_no_text_is_empty_where_it_is_searched(folders, tmp_path):
    found = make(folders, "searched", Shard(0, 0, 5, tmp_path / "s.parquet"))
    assert all(text.tokens > 1 for text in found)


def test_a_killed_job_goes_on_after_its_last_finished_text(folders, tmp_path):
    from textcritic.generators.fairseq.sample import sample_fairseq

    out, undisturbed = tmp_path / "killed.parquet", tmp_path / "undisturbed.parquet"
    partial = Path(f"{out}.partial.jsonl")
    arguments = (folders("transformer"), SENTENCES, Decoding(max_tokens=12, batch_size=2))
    shard = Shard(3, 0, 120, out)
    job = multiprocessing.get_context("fork").Process(target=sample_fairseq, args=(*arguments, shard))
    job.start()
    deadline = time.monotonic() + 60
    while not (partial.exists() and partial.read_bytes().count(b"\n") > 8) and time.monotonic() < deadline:
        time.sleep(0.005)
    os.kill(job.pid, signal.SIGKILL)
    job.join()
    assert not out.exists()
    lines = partial.read_bytes().splitlines(keepends=True)
    assert 8 < len(lines) < 121
    finished = json.loads(lines[1]) | {"text": "kept from the first run"}
    lines[1] = f"{json.dumps(finished)}\n".encode()
    partial.write_bytes(b"".join(lines)[:-5])  # a kill in the middle of a line
    sample_fairseq(*arguments, shard)
    sample_fairseq(*arguments, replace(shard, path=undisturbed))
    texts, expected = ({drawn.index: drawn.text for drawn in read_shard(path)} for path in (out, undisturbed))
    assert texts.pop(finished["index"]) == "kept from the first run"
    del expected[finished["index"]]
    assert texts == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["killed.parquet", "undisturbed.parquet"]


CHANGES = {
    "nothing": {},
    "batch_size": {"scheme": {"batch_size": 3}},
    "threads": {"sampling": {"threads": 1}},
    "temperature": {"scheme": {"temperature": 0.9}},
    "method": {"scheme": {"method": "likeliest"}},
    "beam": {"scheme": {"method": "likeliest", "beam": 2}},
    "max_tokens": {"scheme": {"max_tokens": 11}},
    "precision": {"scheme": {"precision": "bf16"}},
    "version": {"sampling": {"version": 2}},
    "seed": {"shard": {"seed": 8}},
    "sources": {"sources": ["another cat", *SENTENCES]},
    "model": {"model": True},
}


@pytest.mark.parametrize("changed", CHANGES)
def test_a_half_finished_shard_is_taken_up_only_with_the_same_settings(folders, tmp_path, monkeypatch, changed):
    from textcritic.generators.fairseq.models import load_model, save_model
    from textcritic.generators.fairseq.sample import sample_fairseq

    folder = Path(shutil.copytree(folders("transformer"), tmp_path / "copy"))
    shard, scheme = Shard(7, 0, 3, tmp_path / "s.parquet"), Decoding(max_tokens=12)
    with monkeypatch.context() as killed:
        killed.setattr(PartialShard, "complete", lambda partial: None)
        sample_fairseq(folder, SENTENCES, scheme, shard)
    partial = Path(f"{shard.path}.partial.jsonl")
    partial.write_text(re.sub('"text": "[^"]*', '"text": "kept from the first run', partial.read_text()))
    change = CHANGES[changed]
    if "model" in change:
        model = load_model(folder)
        with torch.no_grad():
            next(model.module.parameters())[0, 0] += 1
        save_model(model, folder)
    sample_fairseq(
        folder,
        change.get("sources", SENTENCES),
        scheme.changed(**change.get("scheme", {})),
        replace(shard, **change.get("shard", {})),
        Sampling(**change.get("sampling", {})),
    )
    kept = ["kept from the first run" in draw.text for draw in read_shard(shard.path)]
    assert all(kept) if changed in ("nothing", "batch_size", "threads") else not any(kept)


@pytest.mark.parametrize("name", ["transformer", "adaptive transformer_lm", "fconv_lm", "lstm_lm", "cmlm_transformer"])
def test_in_bf16_the_layers_are_rounded_and_the_output_layer_is_not(folders, tmp_path, name):
    from textcritic.generators.fairseq.steps import Steps, prepare

    shard = Shard(7, 0, 6, tmp_path / "s.parquet")
    assert len(make(folders, (name, Decoding(max_tokens=8, precision="bf16")), shard)) == 6
    if name not in LANGUAGE_MODELS:
        return
    exact, rounded = built(CHOICES[name]), built(CHOICES[name])
    prepare(rounded, "bf16", name)
    symbols = torch.tensor([[2], [2]])
    with torch.no_grad():
        expected = Steps(exact, None, 2).log_probs(symbols)
        found = Steps(rounded, None, 2).log_probs(symbols.to(next(rounded.module.parameters()).device)).cpu()
    assert found.dtype == torch.float32
    assert not torch.equal(found, expected)
    torch.testing.assert_close(found[:, 2:], expected[:, 2:], atol=0.2, rtol=0.05)


@pytest.mark.parametrize("name", AT_ONCE)
def test_refined_in_bf16(folders, tmp_path, name):
    """The scores of what is refined are those of the output layer, which is not rounded."""
    passes = 2 if CHOICES[name][0].startswith(REFINING) else 0
    scheme = Decoding(max_tokens=12, batch_size=4, method="likeliest", iterations=passes, precision="bf16")
    shard = Shard(7, 0, 6, tmp_path / "s.parquet")
    assert len(make(folders, (name, scheme), shard)) == 6


def test_an_output_layer_that_is_the_embeddings_is_not_rounded(tmp_path):
    from textcritic.generators.fairseq.steps import prepare

    architecture, options = LANGUAGE_MODELS["lstm_lm"]
    model = built((architecture, {**options, "share_decoder_input_output_embed": True}))
    with pytest.raises(TextcriticError, match=r"m: its output layer is its embeddings; .* `precision: fp32`$"):
        prepare(model, "bf16", "m")


def test_an_architecture_that_does_not_run_token_by_token():
    from textcritic.generators.fairseq.steps import prepare

    convolutions = {f"{side}_{what}": "[(16, 3)] * 2" for side, what in (("encoder", "layers"), ("decoder", "layers"))}
    attention = {"decoder_attention": "True", "self_attention": "True", "project_input": "False"}
    model = built(("fconv_self_att", {**convolutions, **attention}))
    with pytest.raises(TextcriticError, match=r"m: fairseq cannot run a fconv_self_att token by token; use another$"):
        prepare(model, "fp32", "m")


def test_a_sentence_that_is_not_translated_may_be_too_long(folders, tmp_path):
    from textcritic.generators.fairseq.sample import sample_fairseq

    sources, path = [*SENTENCES, "cat " * 99], tmp_path / "s.parquet"
    sample_fairseq(folders("transformer"), sources, Decoding(max_tokens=12), Shard(7, 0, 5, path))
    assert read_shard(path) == make(folders, "drawn", Shard(7, 0, 5, tmp_path / "other.parquet"))
    with pytest.raises(TextcriticError, match=r"sentence 6 to translate has"):
        sample_fairseq(folders("transformer"), sources, Decoding(max_tokens=12), Shard(7, 3, 5, path))


def test_nothing_is_searched_twice(folders, tmp_path, monkeypatch):
    from textcritic.generators.fairseq import sample

    searched = []
    real = sample.search_texts
    monkeypatch.setattr(sample, "search_texts", lambda *given: searched.extend(given[2]) or real(*given))
    make(folders, "searched", Shard(0, 3, 20, tmp_path / "translated.parquet"))
    assert searched == [3, 4, 5, 6, 7]
    greedy = ("fconv_lm", Decoding(max_tokens=8, method="likeliest"))
    texts = make(folders, greedy, Shard(0, 3, 20, tmp_path / "text.parquet"))
    assert searched == [3, 4, 5, 6, 7, 3]
    assert len({text.text for text in texts}) == 1


@pytest.mark.parametrize(
    ("name", "sources", "decoding", "message"),
    [
        ("transformer", None, {}, r"transformer: holds a translator, which needs sentences to translate$"),
        ("transformer", [], {}, r"transformer: there are no sentences to translate$"),
        ("transformer", ["", "a"], {}, r"sentence 1 to translate has 0 tokens; the model reads from 1 to 63 "),
        (
            "transformer",
            ["cat " * 99],
            {},
            r"sentence 1 to translate has \d+ tokens; .* \(options.max_source_positions",
        ),
        ("lstm_lm", ["a"], {}, r"lstm_lm: holds a language model, which translates nothing"),
        ("transformer", ["a"], {"max_tokens": 65}, r"max_tokens: 65 is beyond the 64 positions of .*; lower it"),
        ("transformer", ["a"], {"stride": 3}, r"decoding: stride: has no effect on .*transformer, a model of fairseq"),
        (
            "transformer",
            ["a"],
            {"method": "likeliest", "iterations": 1},
            r"iterations: 1 passes refine nothing: transformer_wmt_en_de makes a text .* iterative_nonautoregressive",
        ),
        (
            "nonautoregressive_transformer",
            ["a"],
            {"method": "likeliest", "iterations": 1},
            r"iterations: 1 passes refine nothing: nonautoregressive_transformer makes a text in one",
        ),
        (
            "cmlm_transformer",
            ["a"],
            {"method": "likeliest", "beam": 2},
            r"beam: 2 is for autoregressive models; cmlm_transformer makes all tokens at once",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(folders, tmp_path, name, sources, decoding, message):
    from textcritic.generators.fairseq.sample import sample_fairseq

    scheme = Decoding(**{"max_tokens": 12, **decoding})
    with pytest.raises(TextcriticError, match=message) as refused:
        sample_fairseq(folders(name), sources, scheme, Shard(0, 0, 1, tmp_path / "s.parquet"))
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []
