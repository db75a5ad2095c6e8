"""Sampling articles past the context window, against one forward pass a token without a cache.

    pytest benchmarks/test_bench_sampling.py -s

The reference is the way of the model-criticism paper's released code: one article at a time, and past the window every
token from a forward pass over the last window - 1 tokens. The window is GPT-2's; the model is narrow, which favours the
reference: its work grows with the square of the width, the reading of a cache in proportion to it.
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

WINDOW, TOKENS, ARTICLES = 1024, 1536, 32
NO_END = -1  # all articles have the full length
REFERENCE_TOKENS = 20
# Of one thread, so that other work on the machine does not count.
CPU_TIME = pytest.mark.benchmark(timer=time.process_time)


def gpt2(window: int, width: int) -> PreTrainedModel:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=4096, n_positions=window, n_embd=width, n_layer=2, n_head=width // 32)
    return AutoModelForCausalLM.from_config(config).eval()


@pytest.fixture(scope="module")
def model() -> PreTrainedModel:
    return gpt2(WINDOW, 256)


@CPU_TIME
def test_tokens_past_the_window(benchmark, model):
    before = seconds_of_a_token_without_cache(model)
    started = time.process_time()
    assert drawn(model, WINDOW) == ARTICLES * WINDOW
    within = time.process_time() - started
    assert benchmark.pedantic(drawn, (model, TOKENS), rounds=1, iterations=1) == ARTICLES * TOKENS
    after = seconds_of_a_token_without_cache(model)
    seconds = (benchmark.stats.stats.min - within) / (ARTICLES * (TOKENS - WINDOW))
    print(
        f"\n{ARTICLES} articles side by side, past {WINDOW} tokens: {1 / seconds:,.0f} tokens/s; "
        "with one forward pass a token:"
    )
    for way in before:
        reference = (before[way] + after[way]) / 2
        benchmark.extra_info[f"ratio, {way}"] = reference / seconds
        print(f"  {way}: {1 / reference:.1f} tokens/s, ratio {reference / seconds:.0f}")


def drawn(model: PreTrainedModel, tokens: int) -> int:
    decoding = Decoding(max_tokens=tokens, batch_size=ARTICLES)
    return sum(len(ids) for _, ids, _ in draw_articles(model, [0], NO_END, decoding, 0, range(ARTICLES)))


@CPU_TIME
def test_articles_within_the_window(benchmark):
    model = gpt2(512, 128)
    decoding = Decoding(max_tokens=400, batch_size=64)

    def sample() -> int:
        return sum(len(ids) for _, ids, _ in draw_articles(model, [0], 0, decoding, 0, range(128)))

    tokens = benchmark.pedantic(sample, rounds=1, iterations=1)
    benchmark.extra_info["tokens_per_second"] = tokens / benchmark.stats.stats.min
    print(f"\nbatch 64, up to 400 tokens: {tokens / benchmark.stats.stats.min:,.0f} tokens/s")


@CPU_TIME
def test_trigram_articles(benchmark):
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{int(i)}" for i in rng.zipf(1.3, size=200) % 20_000) for _ in range(2_000)]
    articles = [Article(str(i), None, (Section(None, text),), "made up") for i, text in enumerate(texts)]
    vocabulary = Vocabulary()
    words = vocabulary.encode(articles, "wo-title", grow=True)
    started = time.process_time()
    model = NgramModel.count(vocabulary, words, 3)
    model.fit_weights(words)
    fitted = time.process_time() - started

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
            started = time.process_time()
            for _ in range(REFERENCE_TOKENS):
                model(context, use_cache=False, logits_to_keep=keep).logits[0, -1].softmax(-1).multinomial(1)
            seconds[way] = (time.process_time() - started) / REFERENCE_TOKENS
    return seconds
