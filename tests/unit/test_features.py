"""Points of documents: the same however they are batched; what is wrong with a file is said in one line."""

import numpy as np
import pytest
import torch

from textcritic.corpora import Article, Section, write_articles
from textcritic.errors import TextcriticError
from textcritic.latents.features import embed_articles, last_states
from textcritic.latents.points import Features
from textcritic.plan.entries.classifiers import Embedder
from textcritic.rehearsal.checkpoints import tiny_gpt2, tiny_gpt_neo
from textcritic.training.load import load_causal, load_tokenizer

TEXTS = [f"a text of {n} words: " + "word " * n for n in (1, 30, 4, 12, 90)]


@pytest.fixture(scope="module", params=[tiny_gpt2, tiny_gpt_neo])
def folder(request, tmp_path_factory):
    return request.param(tmp_path_factory.mktemp("model") / "gpt2", TEXTS)


def articles(path, ids, texts=TEXTS, groups=None):
    groups = groups or [None] * len(texts)
    made = [Article(i, None, (Section("t", t),), "s", g) for i, t, g in zip(ids, texts, groups, strict=True)]
    write_articles(path, made)
    return path


def test_a_state_is_that_of_the_last_token_whatever_the_batch(folder):
    tokenizer = load_tokenizer(folder)
    model = load_causal({"folder": str(folder)}, tokenizer)
    tokens = [tokenizer(text, add_special_tokens=False)["input_ids"][:32] for text in TEXTS]
    with torch.inference_mode():
        states = [model(torch.tensor([ids]), output_hidden_states=True).hidden_states[-1][0, -1] for ids in tokens]
    alone = np.stack([state.numpy() for state in states])
    for size in (1, 2, 5):
        np.testing.assert_allclose(last_states(model, tokens, Embedder(batch_size=size)), alone, atol=1e-5)


def test_rows_are_in_the_order_of_ids_and_texts_are_cut(folder, tmp_path):
    path = articles(tmp_path / "a.parquet", ["e", "d", "c", "b", "a"], groups=["g", None, None, "g", None])
    embed_articles(path, folder, tmp_path / "f.npz", Embedder(max_tokens=10))
    read = Features.load(tmp_path / "f.npz")
    assert list(read.ids) == list("abcde")
    assert list(read.groups) == ["", "g", "", "", "g"]
    tokens = np.load(tmp_path / "f.npz")["tokens"]
    assert tokens.max() == 10
    embed_articles(path, folder, tmp_path / "g.npz", Embedder(max_tokens=20))
    longer = Features.load(tmp_path / "g.npz")
    changed = np.abs(longer.vectors - read.vectors).max(axis=1) > 1e-4
    assert (changed == (tokens == 10)).all()


def test_two_articles_of_one_id_are_refused(folder, tmp_path):
    path = articles(tmp_path / "a.parquet", ["a", "a", "b", "c", "d"])
    with pytest.raises(TextcriticError, match="two articles have the id 'a'"):
        embed_articles(path, folder, tmp_path / "f.npz", Embedder())


@pytest.mark.parametrize(
    ("ids", "value", "message"),
    [
        (["a", "b"], np.nan, "is not a number; embed in fp32"),
        (["b", "a"], 1.0, "not in the order of their ids"),
        (["a"], 1.0, "not whole features"),
    ],
)
def test_a_damaged_file_is_refused(ids, value, message, tmp_path):
    vectors = np.full((2, 3), value, dtype=np.float32)
    np.savez(tmp_path / "f.npz", ids=np.array(ids), features=vectors, groups=np.array([""] * len(ids)))
    with pytest.raises(TextcriticError, match=message):
        Features.load(tmp_path / "f.npz")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(TextcriticError, match="no such file"):
        Features.load(tmp_path / "none.npz")
