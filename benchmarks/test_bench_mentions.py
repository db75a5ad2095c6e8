"""The critic of mentions: time of ten million tokens, memory, and the ratio to plain dictionaries.

Run with `python -m pytest benchmarks/test_bench_mentions.py -s`; nothing is asserted about time or memory.
"""

import time
import tracemalloc

import numpy as np
import pytest
from mention_oracle import AsReleased

from textcritic.critics.mentions import NO_ENTITY, MentionChains, MentionCritic, contributions, expected_tokens

# CPU time, because wall time would measure the other jobs of the machine too.
pytestmark = pytest.mark.benchmark(timer=time.process_time, disable_gc=True)

TOKENS = 10_000_000
LENGTH = 100  # tokens of a document
SYMBOLS = 60


def synthetic_chains(tokens, seed):
    """Documents of `LENGTH` tokens: one in four a mark; a person, often the one before; a word of that one's gender."""
    rng = np.random.default_rng(seed)
    place = np.arange(tokens)
    is_mark = (rng.random(tokens) < 0.25) | (place % LENGTH == 0)
    moved = (rng.random(tokens) < 0.4) | (place % LENGTH == 0)
    person = np.minimum(rng.geometric(0.4, tokens), 12)[np.maximum.accumulate(np.where(moved, place, 0))]
    symbol = (np.minimum(rng.zipf(2.0, tokens), 20) - 1) * 3 + person % 3  # twenty words for each of three genders
    return MentionChains(
        (*(f"symbol {number}" for number in range(SYMBOLS)), "."),
        np.where(is_mark, SYMBOLS, symbol).astype(np.int32),
        np.where(is_mark, NO_ENTITY, person * 1000).astype(np.int64),
        np.arange(tokens // LENGTH + 1) * LENGTH,
    )


def tokens_of(chains):
    """The chains as lists of tokens, for the plain version."""
    names = [
        chains.symbols[code] if entity == NO_ENTITY else f"{chains.symbols[code]}:{entity}"
        for code, entity in zip(chains.codes.tolist(), chains.entities.tolist(), strict=True)
    ]
    return [names[start : start + LENGTH] for start in range(0, len(names), LENGTH)]


def repeated(chains, times):
    """The same documents several times, so that no window is new."""
    lengths = np.tile(chains.lengths, times)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return MentionChains(chains.symbols, np.tile(chains.codes, times), np.tile(chains.entities, times), offsets)


@pytest.mark.parametrize("discount", ["as_released", "kneser-ney"])
@pytest.mark.parametrize("tokens", [TOKENS // 4, TOKENS])
def test_fit_and_score(benchmark, capsys, tokens, discount):
    real, sample = synthetic_chains(tokens, 1), synthetic_chains(tokens, 2)

    def ours():
        critic = MentionCritic.fit(real, 5, discount)
        return critic, -critic.log_prob(sample).mean()

    critic, nll = benchmark.pedantic(ours, rounds=1)
    with capsys.disabled():
        print(
            f"\nfit + score, {discount}, {tokens:,} tokens each, {len(critic.windows.counts):,} distinct windows, "
            f"Latent PPL {np.exp(nll):.2f}: {benchmark.stats.stats.median:.1f} s CPU"
        )


@pytest.mark.parametrize("times", [1, 4])
def test_memory(capsys, times):
    chains = repeated(synthetic_chains(TOKENS // 4, 1), times)
    critic, fit = peak(lambda: MentionCritic.fit(chains))
    critic.estimates  # noqa: B018  (computed when first needed, and kept)
    log_prob, score = peak(lambda: critic.log_prob(chains))
    with capsys.disabled():
        print(
            f"\npeak of {len(chains.codes):,} tokens, {len(critic.windows.counts):,} distinct windows: "
            f"fit {fit / 1e6:.0f} MB, score {(score - log_prob.nbytes) / 1e6:.0f} MB beside the result"
        )


def peak(work):
    """The result, and the bytes that were allocated at once on the way to it."""
    tracemalloc.start()
    result = work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return result, most


def test_against_dictionaries(benchmark, capsys):
    real, sample = synthetic_chains(200_000, 1), synthetic_chains(200_000, 2)

    def ours():
        return MentionCritic.fit(real, 5, "as_released").log_prob(sample)

    found = benchmark.pedantic(ours, rounds=3, warmup_rounds=1)
    lists = tokens_of(real), tokens_of(sample)
    start = time.process_time()
    expected = AsReleased(lists[0], 5).log_prob(lists[1])
    loop, median = time.process_time() - start, benchmark.stats.stats.median
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)
    with capsys.disabled():
        print(
            f"\nfit + score, 200,000 tokens each: dictionaries {loop:.2f} s, ours {median:.3f} s, {loop / median:.0f}x"
        )


def test_comparisons(capsys):
    train, real, sample = (synthetic_chains(TOKENS // 10, seed) for seed in (1, 2, 3))
    critic = MentionCritic.fit(train)
    for name, work in (
        ("contributions", lambda: contributions(critic, real, sample)),
        ("expected tokens", lambda: expected_tokens(critic, sample)),
    ):
        start = time.process_time()
        work()
        with capsys.disabled():
            print(f"\n{name}, {len(sample.codes):,} tokens: {time.process_time() - start:.1f} s CPU")
