"""The transformer of the synthetic process: fairseq's transformer_lm, written as an XGLM configuration."""

import json
import math
import string
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import layer_norm, linear, scaled_dot_product_attention

from textcritic.corpora import BODY, BOUNDARY
from textcritic.errors import TextcriticError
from textcritic.generators.article_model import ArticleModel
from textcritic.generators.perplexity import Windowing, perplexity
from textcritic.generators.sample import Sampling, draw_articles, sample_articles
from textcritic.generators.shards import Shard, read_shard
from textcritic.generators.symbols import make_symbol_tokenizer
from textcritic.generators.train import Encoded, train_causal
from textcritic.plan.entries import Decoding, read_entry
from textcritic.plan.entries.generators import CausalTraining as Training
from textcritic.plan.spec import load_yaml
from textcritic.training.load import load_causal, load_tokenizer
from textcritic.training.loop import Run

REGISTRY = Path(__file__).parents[2] / "config" / "registry" / "generators.yaml"
SMALL = {"d_model": 32, "ffn_dim": 48, "num_layers": 2, "attention_heads": 4, "max_position_embeddings": 64}


def entry(name):
    return read_entry(load_yaml(REGISTRY)[name], "generators", name).plain()


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    """As the paper's process has it: 52 letters, the delimiter and the end of text."""
    folder = tmp_path_factory.mktemp("symbols") / "tokenizer"
    make_symbol_tokenizer(folder, string.ascii_letters)
    return load_tokenizer(folder)


@pytest.fixture(scope="module")
def small(tokenizer):
    """The released configuration, made small, with weights large enough for every part of it to matter."""
    model = load_causal({"config": entry("transformer-released")["init"]["config"] | SMALL}, tokenizer, seed=4)
    torch.manual_seed(4)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight), alpha=0.2)
    return model


def parameters(layers, size, feed_forward, vocabulary):
    """Attention's four matrices, two of the feed-forward layer, their biases, two norms; a last norm; embeddings."""
    layer = 4 * (size * size + size) + 2 * size * feed_forward + feed_forward + size + 2 * 2 * size
    return layers * layer + 2 * size + vocabulary * size


@pytest.mark.parametrize(
    ("name", "heads", "feed_forward", "count"),
    [("transformer-released", 8, 2048, 18_942_976), ("transformer-paper", 4, 1024, 12_645_376)],
)
def test_parameters(name, heads, feed_forward, count, tokenizer):
    model = load_causal(entry(name)["init"], tokenizer)
    assert len(tokenizer) == 54
    assert model.num_parameters() == count == parameters(6, 512, feed_forward, 54)
    assert {layer.self_attn.num_heads for layer in model.model.layers} == {heads}
    deviations = [weight.std().item() for weight in model.parameters() if weight.ndim > 1]
    assert deviations == pytest.approx([0.026] * len(deviations), rel=0.02)


def test_the_published_number_of_parameters_has_fairseqs_four_special_symbols():
    assert parameters(6, 512, 2048, 53 + 4) == 18_944_512  # 18.94 million
    assert parameters(6, 512, 1024, 53 + 4) == 12_646_912  # what the paper's text would come to


def positions(length, size):
    """Vaswani et al. 2017, section 3.5, in another order: sines, then cosines. Counted from 2, as in fairseq's code."""
    angles = np.arange(2, length + 2)[:, None] / 10_000 ** (np.arange(size // 2) / (size // 2 - 1))
    return torch.tensor(np.concatenate([np.sin(angles), np.cos(angles)], axis=1), dtype=torch.float32)


def transformer_lm(model, ids):
    """Logits [tokens, vocabulary] after `ids` [tokens], from a model's weights, by formulas of our own.

    They are what we read in the paper and in fairseq's source for `transformer_lm`: a decoder that normalises before
    each part and at its end, scales its embeddings, and has one matrix for input and output. fairseq itself is not run,
    so this shows that transformers computes these formulas, not that fairseq does.
    """
    weights, heads, size = dict(model.named_parameters()), model.config.attention_heads, model.config.d_model

    def norm(x, name):
        return layer_norm(x, [size], weights[f"{name}.weight"], weights[f"{name}.bias"])

    def affine(x, name):
        return linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])

    embedding = weights["model.embed_tokens.weight"]
    x = math.sqrt(size) * embedding[ids] + positions(len(ids), size)
    for number in range(model.config.num_layers):
        layer = f"model.layers.{number}"
        given = norm(x, f"{layer}.self_attn_layer_norm")
        q, k, v = (
            affine(given, f"{layer}.self_attn.{part}_proj").view(len(ids), heads, -1).transpose(0, 1) for part in "qkv"
        )
        seen = scaled_dot_product_attention(q, k, v, is_causal=True).transpose(0, 1).flatten(1)
        x = x + affine(seen, f"{layer}.self_attn.out_proj")
        given = norm(x, f"{layer}.final_layer_norm")
        x = x + affine(affine(given, f"{layer}.fc1").relu(), f"{layer}.fc2")
    return norm(x, "model.layer_norm") @ embedding.T


@torch.no_grad()
def test_it_computes_a_transformer_that_normalises_before_each_part_and_ties_its_embeddings(small):
    ids = torch.randint(54, (64,), generator=torch.Generator().manual_seed(3))
    torch.testing.assert_close(small(ids[None]).logits[0], transformer_lm(small, ids), atol=1e-4, rtol=1e-4)


@torch.no_grad()
def test_a_saved_model_is_the_same_with_its_positions_and_without_dropout(small, tokenizer, tmp_path):
    """Positions are no weights: they are not in the file, and have to be computed anew when a model is loaded."""
    small.save_pretrained(tmp_path)
    loaded = load_causal({"folder": tmp_path}, tokenizer, context=64)
    assert "position" not in "".join(loaded.state_dict())
    ids = torch.randint(54, (2, 64), generator=torch.Generator().manual_seed(3))
    logits = loaded(ids).logits
    assert torch.equal(logits, small(ids).logits)
    for model in (small, loaded):
        torch.testing.assert_close(model.model.embed_positions.weights[2:], positions(64, 32), atol=1e-5, rtol=0)
    assert not torch.allclose(loaded.train()(ids).logits, logits, atol=0.1)  # dropout 0.3
    assert torch.equal(loaded.eval()(ids).logits, logits)


@torch.no_grad()
def test_the_whole_context_is_read_and_no_more(tokenizer):
    init = {"config": entry("transformer-released")["init"]["config"] | SMALL | {"max_position_embeddings": 512}}
    model = load_causal(init, tokenizer, context=entry("transformer-released")["training"]["context"])
    ids = torch.randint(54, (512,), generator=torch.Generator().manual_seed(3))
    torch.testing.assert_close(model(ids[None]).logits[0], transformer_lm(model, ids), atol=1e-4, rtol=1e-4)
    with pytest.raises(TextcriticError, match=r"training\.context: 513 is more than the model's positions; use at mos"):
        load_causal(init, tokenizer, context=513)


def test_training_is_as_released():
    training = Training(**entry("transformer-released")["training"])
    assert training.deciding() == {
        "context": 512,
        "blocks": "articles",
        "learning_rate": 5e-4,
        "schedule": "inverse_sqrt",
        "warmup_steps": 4000,
        "steps": 120_000,
        "adam_beta2": 0.98,
        "weight_decay": 1e-4,
        "gradient_clip": None,
        "evaluate_every": 4000,
    }
    assert training.batch_size == 8
    assert entry("transformer-paper")["training"] == entry("transformer-released")["training"]


def test_settings_that_came_later_change_no_other_generators_specification():
    for name in ("gpt2-demo", "gpt2-small", "gpt-neo-125m"):
        assert entry(name)["training"]["adam_beta2"] == 0.999
        assert "adam_beta2" not in read_entry(entry(name), "generators", name).canonical()
    assert '"adam_beta2": 0.98' in read_entry(entry("transformer-released"), "generators", "it").canonical()


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_it_learns_a_two_sequence_language_and_says_it(precision, tokenizer, tmp_path):
    """Through the whole pipeline: train, measure, sample. The entropy is one coin a sequence."""
    sequences = [[*tokenizer.encode("aB cD "), tokenizer.eos_token_id], [*tokenizer.encode("b b b "), 53]]
    drawn = np.random.default_rng(1).integers(0, 2, 400)
    stream = np.concatenate([[53], *(sequences[which] for which in drawn)]).astype(np.int32)
    for split, tokens in (("train", stream[:2101]), ("validation", stream[2100:])):
        np.save(tmp_path / f"{split}.tokens.npy", tokens)
        np.save(tmp_path / f"{split}.kinds.npy", np.where(tokens == 53, BOUNDARY, BODY).astype(np.uint8))
    tokenizer.save_pretrained(tmp_path / "tokenizer")
    config = entry("transformer-released")["init"]["config"] | SMALL | {"max_position_embeddings": 8, "dropout": 0.0}
    training = Training(
        context=8,
        learning_rate=5e-3,
        blocks="articles",
        schedule="inverse_sqrt",
        warmup_steps=20,
        steps=300,
        adam_beta2=0.98,
        gradient_clip=None,
        precision=precision,
    )
    model_dir = tmp_path / "model"
    streams = (tmp_path / "train", tmp_path / "validation")
    run = Run(model_dir, tmp_path / "t.json", threads=1)
    train_causal(Encoded(*streams, tmp_path / "tokenizer"), {"config": config}, training, 1, run)
    found = perplexity(model_dir, streams[1], Windowing(8, "articles"), tmp_path / "p.json")
    assert found == json.loads((tmp_path / "p.json").read_text())
    assert np.log(found["all"]["ppl"]) == pytest.approx(np.log(2) / 7, abs=0.01)
    shard = Shard(5, 0, 100, tmp_path / "s.parquet")
    sample_articles(model_dir, Decoding(max_tokens=30, precision=precision), "single", shard, Sampling(8))
    texts = [draw.text for draw in read_shard(tmp_path / "s.parquet")]
    assert 30 < texts.count("aB cD ") < 70
    assert texts.count("aB cD ") + texts.count("b b b ") >= 90


def test_no_position_is_blanked(tokenizer):
    """XGLM sets the position with the number of its padding token to zero; the symbols have no padding token."""
    model = load_causal(entry("transformer-released")["init"], tokenizer)
    assert model.config.pad_token_id is None
    assert (model.model.embed_positions.weights.norm(dim=1) > 1).all()


@pytest.mark.parametrize("name", ["transformer-released", "transformer-paper", "transformer-demo"])
def test_every_registered_transformer_can_be_sampled_from(name, tokenizer):
    chosen = entry(name)
    model = load_causal(chosen["init"], tokenizer, context=chosen["training"]["context"])
    drawn = list(draw_articles(ArticleModel(model, [53], 53), Decoding(max_tokens=3), 0, range(2)))
    assert [index for index, _, _ in sorted(drawn)] == [0, 1]
