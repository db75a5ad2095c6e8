"""Sampling articles past the context window, against one forward pass a token without a cache.

    pytest benchmarks/test_bench_sampling.py -s

The reference is the way of the model-criticism paper's released code: one article at a time, and past the window every
token from a forward pass over the last window - 1 tokens. Its tokens within the window are counted as free.
"""

import time

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, GPT2Config, PreTrainedModel

from textcritic.corpora import Article, Section
from textcritic.generators.decoding import Decoding
from textcritic.generators.ngram_model import NgramModel
from textcritic.generators.ngram_text import Vocabulary
from textcritic.generators.sample import draw_articles

WINDOW, TOKENS, ARTICLES = 1024, 2048, 64
NO_END = -1  # all articles have the full length
REFERENCE_TOKENS = 20


@pytest.fixture(scope="module")
def model() -> PreTrainedModel:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=4096, n_positions=WINDOW, n_embd=128, n_layer=2, n_head=4)
    return AutoModelForCausalLM.from_config(config).eval()


def test_articles_past_the_window(benchmark, model):
    decoding = Decoding(max_tokens=TOKENS, batch_size=ARTICLES)

    def sample() -> int:
        return sum(len(ids) for _, ids, _ in draw_articles(model, [0], NO_END, decoding, 0, range(ARTICLES)))

    before = seconds_of_a_token_without_cache(model)
    assert benchmark.pedantic(sample, rounds=1, iterations=1) == ARTICLES * TOKENS
    after = seconds_of_a_token_without_cache(model)
    speed = ARTICLES / benchmark.stats.stats.min
    print(
        f"\n{speed:.2f} articles of {TOKENS} tokens a second ({speed * TOKENS:,.0f} tokens/s); "
        "with one forward pass a token:"
    )
    for way in before:
        reference = 1 / ((TOKENS - WINDOW) * (before[way] + after[way]) / 2)
        benchmark.extra_info[f"ratio, {way}"] = speed / reference
        print(f"  {way}: {reference:.3f} articles a second, ratio {speed / reference:.0f}")


def test_articles_within_the_window(benchmark, model):
    decoding = Decoding(max_tokens=400, batch_size=64)

    def sample() -> int:
        return sum(len(ids) for _, ids, _ in draw_articles(model, [0], 0, decoding, 0, range(128)))

    tokens = benchmark.pedantic(sample, rounds=1, iterations=1)
    benchmark.extra_info["tokens_per_second"] = tokens / benchmark.stats.stats.min
    print(f"\nbatch 64, up to 400 tokens: {tokens / benchmark.stats.stats.min:,.0f} tokens/s")


def test_trigram_articles(benchmark):
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{int(i)}" for i in rng.zipf(1.3, size=200) % 20_000) for _ in range(2_000)]
    articles = [Article(str(i), None, (Section(None, text),), "made up") for i, text in enumerate(texts)]
    vocabulary = Vocabulary()
    words = vocabulary.encode(articles, "wo-title", grow=True)
    started = time.perf_counter()
    model = NgramModel.count(vocabulary, words, 3)
    model.fit_weights(words)
    fitted = time.perf_counter() - started

    def sample() -> int:
        return sum(len(ids) for _, ids, _ in model.sample(0, range(2_000), 1_000))

    tokens = benchmark.pedantic(sample, rounds=1, iterations=1)
    benchmark.extra_info["words_per_second"] = tokens / benchmark.stats.stats.min
    print(
        f"\ninterpolated trigram: {len(words.ids):,} words counted and weighted in {fitted:.1f} s, "
        f"{tokens / benchmark.stats.stats.min:,.0f} words drawn a second"
    )


def seconds_of_a_token_without_cache(model: PreTrainedModel) -> dict[str, float]:
    """As the released code has it, whose transformers computes the logits of all positions, and without those."""
    context = torch.randint(0, 4096, (1, WINDOW - 1))
    seconds = {}
    for way, keep in [("logits of all positions, as released", 0), ("logits of the last position", 1)]:
        with torch.inference_mode():
            model(context, use_cache=False, logits_to_keep=keep)
            started = time.perf_counter()
            for _ in range(REFERENCE_TOKENS):
                model(context, use_cache=False, logits_to_keep=keep).logits[0, -1].softmax(-1).multinomial(1)
            seconds[way] = (time.perf_counter() - started) / REFERENCE_TOKENS
    return seconds
