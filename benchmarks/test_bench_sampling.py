"""Sampling whole articles past the context window, against one forward pass a token without a cache.

    pytest benchmarks/test_bench_sampling.py -s

Articles end by chance, after 2,100 tokens in the mean, as long as PubMed's (facts of the model-criticism paper: about 4
sections of 518 tokens); the window is GPT-2's, 1,024 tokens. The model is narrow, which favours the reference: its work
grows with the square of the width, the reading of a cache in proportion to it. References, one article at a time:

- no cache: every token from a forward pass over its context, the last window - 1 tokens at most;
- as released: the paper's code, which has a cache as far as the window (one `generate` for all of that), none beyond.

A reference of hours is not run: its time a token is measured at several lengths of the context and added up over the
very articles that were drawn; `test_the_sum_is_the_loop` runs one for a shorter window and compares.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, GPT2Config, PreTrainedModel

from textcritic.generators.article_model import ArticleModel
from textcritic.generators.sample import draw_articles
from textcritic.plan.entries import Decoding

WINDOW, MEAN, LONGEST = 1024, 2_100, 6_000
VOCABULARY, END = 4096, 0
ARTICLES_A_ROW = 3
REPEATS = 5
# Of one thread, so that other work on the machine does not count; it slows both sides a little, see the printed load.
CPU_TIME = pytest.mark.benchmark(timer=time.process_time)


def gpt2(window: int, width: int, mean: float | None = None) -> PreTrainedModel:
    """Random weights; `mean`: tokens after which articles end in the mean, by the probability of the end token."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=VOCABULARY,
        n_positions=window,
        n_embd=width,
        n_layer=2,
        n_head=width // 32,
        activation_function="gelu_pytorch_tanh",  # what the project loads GPT-2's gelu_new as; both sides have it
    )
    model = AutoModelForCausalLM.from_config(config).eval()
    if mean:
        end = model.transformer.wte.weight[END].detach()
        with torch.no_grad():
            model.transformer.ln_f.bias += np.log(VOCABULARY / mean) / (end @ end) * end
    return model


@CPU_TIME
@pytest.mark.parametrize("rows", [16, 64])
def test_whole_articles(benchmark, rows):
    model = gpt2(WINDOW, 256, MEAN)
    before = seconds_a_token(model, WINDOW)
    lengths = benchmark.pedantic(lengths_drawn, (model, rows, rows * ARTICLES_A_ROW), rounds=1, iterations=1)
    after = seconds_a_token(model, WINDOW)
    seconds = benchmark.stats.stats.min
    quartiles = ", ".join(f"{quartile:,.0f}" for quartile in np.quantile(lengths, [0.25, 0.5, 0.75]))
    print(
        f"\n{len(lengths)} articles of {np.mean(lengths):,.0f} tokens (quartiles {quartiles}), {rows} side by side: "
        f"{3600 * len(lengths) / seconds:,.0f} articles an hour, {sum(lengths) / seconds:,.0f} tokens/s"
    )
    report(benchmark, model, lengths, seconds / len(lengths), before, after)


@CPU_TIME
def test_whole_articles_at_stride_1(benchmark):
    """The published scheme: token for token what the reference draws, batched, and with a cache in the window."""
    model = gpt2(128, 256, 256)
    decoding = Decoding(stride=1, max_tokens=512, batch_size=32)
    before = seconds_a_token(model, 128)
    lengths = benchmark.pedantic(lengths_drawn, (model, 32, 64, decoding), rounds=1, iterations=1)
    after = seconds_a_token(model, 128)
    print(f"\nstride 1, window 128, {len(lengths)} articles of {np.mean(lengths):,.0f} tokens:")
    report(benchmark, model, lengths, benchmark.stats.stats.min / len(lengths), before, after)


@CPU_TIME
def test_the_sum_is_the_loop(benchmark):
    """One article of 512 tokens in a window of 256, really drawn one forward pass a token, against the sum."""
    model = gpt2(256, 256)
    summed = article_seconds(seconds_a_token(model, 256)["no cache"], 512)

    def draw() -> None:
        context = [END]
        with torch.inference_mode():
            for _ in range(512):
                context.append(int(one_token(model, context[-255:])))

    benchmark.pedantic(draw, rounds=1, iterations=1)
    drawn = benchmark.stats.stats.min
    benchmark.extra_info["ratio, summed up to drawn"] = summed / drawn
    print(f"\none article, drawn: {drawn:.2f} s of CPU; summed up: {summed:.2f} s, ratio {summed / drawn:.2f}")


@CPU_TIME
def test_articles_within_the_window(benchmark):
    model = gpt2(512, 128)
    decoding = Decoding(max_tokens=400, batch_size=64)

    def sample() -> int:
        return sum(len(ids) for _, ids, _ in draw_articles(ArticleModel(model, [END], END), decoding, 0, range(128)))

    tokens = benchmark.pedantic(sample, rounds=1, iterations=1)
    benchmark.extra_info["tokens_per_second"] = tokens / benchmark.stats.stats.min
    print(f"\nbatch 64, up to 400 tokens: {tokens / benchmark.stats.stats.min:,.0f} tokens/s")


@CPU_TIME
@pytest.mark.parametrize("rows", [32, 64])
@pytest.mark.parametrize("method", ["beam-sampling", "best-of"])
def test_five_hypotheses_against_one_draw(benchmark, method, rows):
    """Tokens of finished texts a second; all texts are cut after 100 tokens, so that they are equally long."""
    model = gpt2(512, 128, 1e9)
    plain = Decoding(max_tokens=100, batch_size=rows)
    several = Decoding(max_tokens=100, batch_size=rows, method=method, beam=5)
    started = time.process_time()
    tokens = sum(lengths_drawn(model, rows, 3 * rows, plain))
    one = tokens / (time.process_time() - started)
    tokens = sum(benchmark.pedantic(lengths_drawn, (model, rows, 3 * rows, several), rounds=1, iterations=1))
    five = tokens / benchmark.stats.stats.min
    benchmark.extra_info[f"ratio, draw to {method}"] = one / five
    print(f"\n{rows} texts side by side: draw {one:,.0f} tokens/s, {method} {five:,.0f}, ratio {one / five:.2f}")


def lengths_drawn(model: PreTrainedModel, rows: int, articles: int, decoding: Decoding | None = None) -> list[int]:
    decoding = decoding or Decoding(max_tokens=LONGEST, batch_size=rows)
    return [len(ids) for _, ids, _ in draw_articles(ArticleModel(model, [END], END), decoding, 0, range(articles))]


def report(benchmark, model, lengths, seconds, before, after) -> None:
    """Print how many times the articles an hour of each reference ours are."""
    for way in before:
        costs = (before[way] + after[way]) / 2
        reference = float(np.mean([article_seconds(costs, length) for length in lengths]))
        benchmark.extra_info[f"ratio, {way}"] = reference / seconds
        print(f"  {way}: {3600 / reference:,.1f} articles an hour, ratio {reference / seconds:.0f}")


def article_seconds(costs: np.ndarray, length: int) -> float:
    """The sum over an article of `length` tokens; `costs[n - 1]` is of a token whose context has n tokens."""
    within = min(length, len(costs))
    return float(costs[:within].sum() + (length - within) * costs[-1])


def seconds_a_token(model: PreTrainedModel, window: int) -> dict[str, np.ndarray]:
    """CPU seconds of a token by the length of its context [window - 1], interpolated between measured lengths."""
    at = np.unique(np.linspace(2, window - 1, 9).astype(int))
    every = np.arange(1, window)
    plain, last, cached = (np.interp(every, at, costs) for costs in measured(model, at))
    released = np.append(cached[:-1], plain[-1])
    return {"no cache": plain, "no cache, logits of the last position alone": last, "as released": released}


def measured(model: PreTrainedModel, at: Sequence[int]) -> list[list[float]]:
    """CPU seconds of a token for each length of its context: without a cache (two ways), and with transformers' own."""
    costs: list[list[float]] = [[], [], []]
    with torch.inference_mode():
        for length in at:
            context = torch.randint(1, VOCABULARY, (length,)).tolist()
            past = model(torch.tensor([context[:-1]]), use_cache=True, logits_to_keep=1).past_key_values

            def with_cache(past=past) -> None:
                one_token(model, [END], use_cache=True, past_key_values=past)
                past.crop(-1)

            ways = [
                partial(one_token, model, context),
                partial(one_token, model, context, logits_to_keep=1),
                with_cache,
            ]
            for way, seconds in zip(ways, costs, strict=True):
                seconds.append(shortest(way))
    return costs


def one_token(model: PreTrainedModel, context: list[int], **keys: object) -> torch.Tensor:
    logits = model(torch.tensor([context]), **{"use_cache": False, **keys}).logits[0, -1]
    return logits.softmax(-1).multinomial(1)


def shortest(work: Callable[[], object]) -> float:
    """CPU seconds, the least of a few repetitions: the fairest to a reference on a machine that others use."""
    times = []
    for _ in range(REPEATS):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)
