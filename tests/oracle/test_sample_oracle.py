"""The sampler against one forward pass a token, against exact probabilities, and against transformers' own warpers."""

from functools import cache as remembered
from types import ModuleType

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from tiny_causal import configs, tiny_model
from transformers import (
    GPT2Config,
    PreTrainedModel,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from textcritic.generators import cache
from textcritic.generators.article_model import ArticleModel
from textcritic.generators.drawing import draw, truncate
from textcritic.generators.sample import draw_articles
from textcritic.plan.entries import Decoding

VOCABULARY, WINDOW, END = 23, 12, 0

CONFIGS = configs(VOCABULARY, WINDOW, END)


def one_at_a_time(
    model: PreTrainedModel, prompt: list[int], seed: int, index: int, stride: int, max_tokens: int, top_k: int = 0
) -> tuple[list[int], str]:
    """The definition of a sample: one forward pass a token, no cache, one article."""
    stream = np.random.Generator(np.random.Philox(np.random.SeedSequence((seed, index))))
    context, drawn = list(prompt), []
    while len(drawn) < max_tokens:
        if len(context) > WINDOW - 1:
            context = context[stride:]
        with torch.inference_mode():
            logits = model(torch.tensor([context])).logits[0, -1].double().numpy()
        mass = np.exp(logits - logits.max())
        if top_k:
            mass[logits < np.sort(logits)[-top_k]] = 0
        mass = np.cumsum(mass)
        token = int(np.searchsorted(mass, stream.random() * mass[-1], side="right"))
        context.append(token)
        drawn.append(token)
        if token == END:
            return drawn, "end"
    return drawn, "length"


@remembered
def fifty_tokens(architecture: str, prompt: tuple[int, ...], stride: int) -> dict[int, tuple[list[int], str]]:
    """Twelve articles of at most 50 tokens, one forward pass a token."""
    model = tiny_model(CONFIGS[architecture], seed=6)
    return {index: one_at_a_time(model, list(prompt), 3, index, stride, 50) for index in range(12)}


def drawn_by(model: PreTrainedModel, prompt: list[int], decoding: Decoding, seed: int, indices: range) -> dict:
    draws = draw_articles(ArticleModel(model, prompt, END), decoding, seed, indices)
    return {index: (ids, finish) for index, ids, finish in draws}


def count_calls(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str) -> list[torch.Tensor]:
    """The queries that an attention function of `module` is given from now on; it works on as before."""
    function, queries = getattr(module, name), []

    def counted(layer, query, *rest, **keys):
        queries.append(query)
        return function(layer, query, *rest, **keys)

    monkeypatch.setattr(module, name, counted)
    return queries


@pytest.mark.parametrize(("prompt", "stride"), [([END], 1), ([END, 7, END], 5), ([END], None)])
@pytest.mark.parametrize("architecture", CONFIGS)
def test_batched_and_cached_equals_one_forward_per_token(architecture, prompt, stride):
    model = tiny_model(CONFIGS[architecture], seed=6)
    expected = fifty_tokens(architecture, tuple(prompt), stride or WINDOW // 2)
    lengths = [len(ids) for ids, _ in expected.values()]
    assert max(lengths) > 3 * WINDOW  # well past the window, several times
    assert len(set(lengths)) >= 4  # ragged rows
    found = drawn_by(model, prompt, Decoding(stride=stride, max_tokens=50, batch_size=5), 3, range(12))
    assert found == expected


@pytest.mark.parametrize("top_k", [0, 4])
@pytest.mark.parametrize("architecture", CONFIGS)
def test_stride_1_is_the_published_loop(architecture, top_k):
    """Token for token under the same seed, for articles that end in the window, past it, and not at all."""
    model = tiny_model(CONFIGS[architecture], seed=8)
    expected = {index: one_at_a_time(model, [END], 8, index, 1, 30, top_k) for index in range(24)}
    found = drawn_by(model, [END], Decoding(stride=1, top_k=top_k, max_tokens=30, batch_size=7), 8, range(24))
    assert found == expected
    ends = [len(ids) for ids, finish in expected.values() if finish == "end"]
    assert min(ends) < WINDOW < max(ends)
    assert "length" in {finish for _, finish in expected.values()}


@pytest.mark.parametrize("architecture", CONFIGS)
@pytest.mark.parametrize("stride", [1, None])
def test_attention_row_by_row_draws_the_same_articles(architecture, stride, monkeypatch):
    monkeypatch.setattr(cache, "WORTH_A_CALL", 0)
    calls = count_calls(monkeypatch, cache, "sdpa_attention_forward")
    model = tiny_model(CONFIGS[architecture], seed=6)
    expected = fifty_tokens(architecture, (END,), stride or WINDOW // 2)
    before = len(calls)
    assert drawn_by(model, [END], Decoding(stride=stride, max_tokens=50, batch_size=5), 3, range(12)) == expected
    assert model.config._attn_implementation != cache.ROW_BY_ROW  # as it was found
    one_row = [query for query in calls[before:] if query.shape[0] == query.shape[2] == 1]
    assert bool(one_row) == model._supports_attention_backend


def test_contexts_grow_no_longer_than_those_of_training():
    """A model with positions to spare, trained on blocks of WINDOW tokens, is given no more than these."""
    model = tiny_model(
        GPT2Config(vocab_size=VOCABULARY, n_positions=3 * WINDOW, n_embd=16, n_layer=2, n_head=2), seed=6
    )
    expected = {index: one_at_a_time(model, [END], 3, index, 2, 50) for index in range(6)}
    decoding = Decoding(stride=2, max_tokens=50, batch_size=4)
    draws = draw_articles(ArticleModel(model, [END], END, context=WINDOW), decoding, 3, range(6))
    assert {index: (ids, finish) for index, ids, finish in draws} == expected
    assert max(len(ids) for ids, _ in expected.values()) > WINDOW


def test_the_cache_grows_and_shifts_without_changing_an_article():
    """Contexts beyond the first capacity (128 columns), in a batch that outlives the columns several times."""
    config = GPT2Config(vocab_size=VOCABULARY, n_positions=400, n_embd=16, n_layer=2, n_head=2)
    model = tiny_model(config, seed=6)
    with torch.no_grad():  # make the end unlikely, so that contexts get long
        model.transformer.ln_f.bias -= 2 * model.transformer.wte.weight[END]
    wide = drawn_by(model, [END], Decoding(max_tokens=390, batch_size=4), 0, range(10))
    assert max(len(ids) for ids, _ in wide.values()) > 300
    for index in (0, 9):
        alone = drawn_by(model, [END], Decoding(max_tokens=390, batch_size=1), 0, range(index, index + 1))
        assert alone[index] == wide[index]


def test_frequencies_are_the_models_exact_probabilities():
    """All articles of up to 3 tokens of a 5-token model, enumerated, against 20,000 draws."""
    config = GPT2Config(vocab_size=5, n_positions=8, n_embd=8, n_layer=1, n_head=2)
    model = tiny_model(config, seed=2)
    exact: dict[tuple[int, ...], float] = {}

    def enumerate_from(drawn: tuple[int, ...], probability: float) -> None:
        if len(drawn) == 3 or (drawn and drawn[-1] == END):
            exact[drawn] = probability
            return
        with torch.inference_mode():
            following = model(torch.tensor([[END, *drawn]])).logits[0, -1].double().softmax(-1)
        for token, share in enumerate(following.tolist()):
            enumerate_from((*drawn, token), probability * share)

    enumerate_from((), 1.0)
    assert sum(exact.values()) == pytest.approx(1)
    draws = 20_000
    counts = dict.fromkeys(exact, 0)
    decoding = Decoding(max_tokens=3, batch_size=500)
    for _, ids, _ in draw_articles(ArticleModel(model, [END], END), decoding, 11, range(draws)):
        counts[tuple(ids)] += 1
    common = [drawn for drawn in exact if exact[drawn] * draws >= 5]
    rest = [drawn for drawn in exact if exact[drawn] * draws < 5]
    observed = [counts[drawn] for drawn in common] + [sum(counts[drawn] for drawn in rest)]
    expected = [exact[drawn] * draws for drawn in common] + [sum(exact[drawn] for drawn in rest) * draws]
    assert len(common) > 20
    assert chisquare(observed, np.array(expected) * sum(observed) / sum(expected)).pvalue > 0.001


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"),
    [(0.7, 0, 1.0), (1.0, 5, 1.0), (1.0, 0, 0.6), (1.0, 0, 0.95), (1.3, 20, 0.8), (1.0, 1, 1.0), (1.0, 1000, 0.01)],
)
def test_truncation_equals_transformers_warpers(temperature, top_k, top_p):
    logits = torch.randn(200, 97, generator=torch.Generator().manual_seed(1), dtype=torch.float64) * 2
    expected = TemperatureLogitsWarper(temperature)(None, logits)
    if top_k:
        expected = TopKLogitsWarper(top_k)(None, expected)
    if top_p < 1:
        expected = TopPLogitsWarper(top_p)(None, expected)
    found = truncate(logits, Decoding(temperature=temperature, top_k=top_k, top_p=top_p))
    torch.testing.assert_close(found, expected)


def test_draws_follow_the_truncated_distribution():
    logits = torch.tensor([2.0, 1.0, 0.5, -1.0, 0.0]).expand(30_000, -1)
    decoding = Decoding(temperature=0.8, top_k=4, top_p=0.9)
    uniforms = np.random.default_rng(4).random(len(logits))
    counts = torch.bincount(draw(logits, uniforms, decoding), minlength=5).numpy()
    probabilities = truncate(logits[:1].double(), decoding).softmax(-1)[0].numpy()
    assert (counts[probabilities == 0] == 0).all()
    kept = probabilities > 0
    assert chisquare(counts[kept], probabilities[kept] * len(logits)).pvalue > 0.001
