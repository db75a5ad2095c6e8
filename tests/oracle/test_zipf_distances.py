"""Distances to Zipf's law: loops, scipy, samples drawn token by token, and p-values under the null hypothesis."""

import numpy as np
import pytest
import scipy.stats
from scipy.special import zeta

from textcritic.critics.tendencies.zipf import fit_zipf, log_rank_mean
from textcritic.critics.tendencies.zipf_distances import (
    _law_of_samples,
    sample_distances,
    zipf_distance,
    zipf_fit_p,
)
from textcritic.critics.tendencies.zipf_draws import ZipfDraws, fit_samples
from textcritic.errors import TextcriticError

COUNTS = np.array([50, 30, 21, 11, 9, 9, 4, 2, 1, 1])


def counted(values):
    return np.sort(np.unique(values, return_counts=True)[1])[::-1]


def fit_p(counts, convention, *given, **options):
    return zipf_fit_p(counts, [convention], *given, **options)[convention]


def law_counts(tokens, s, ranks, seed):
    law = np.arange(1, ranks + 1) ** -float(s)
    return np.sort(np.random.default_rng(seed).multinomial(tokens, law / law.sum()))[::-1]


def by_loops(counts, s, convention, ranks):
    gaps = []
    for rank in range(1, ranks + 1):
        seen = sum(counts[:rank]) / (sum(counts) if convention == "untruncated" else sum(counts[:ranks]))
        law = sum(k**-s for k in range(1, rank + 1))
        law /= sum(k**-s for k in range(1, ranks + 1)) if convention == "truncated" else zeta(s)
        gaps.append(abs(seen - law))
    return max(gaps), 1 + int(np.argmax(gaps))


@pytest.mark.parametrize("convention", ["renormalised-empirical", "untruncated", "truncated"])
@pytest.mark.parametrize("ranks", [2, 6, 10, 25])
def test_distances_by_loops(convention, ranks):
    found = zipf_distance(COUNTS, 1.3, convention, ranks)
    distance, rank = by_loops([int(c) for c in COUNTS], 1.3, convention, ranks)
    assert found.distance == pytest.approx(distance, rel=1e-10)
    assert found.rank == rank


def test_the_mass_beyond_is_the_distance_of_a_perfect_fit():
    """Counts as expected under s = 1.1997: 0.142 in the paper's convention, next to nothing in the others."""
    counts = np.round(1e12 / zeta(1.1997) * np.arange(1, 200_001) ** -1.1997).astype(np.int64)
    assert zipf_distance(counts, 1.1997, "renormalised-empirical") == (pytest.approx(0.1421, abs=5e-5), 10_000)
    assert zipf_distance(counts, 1.1997, "truncated").distance < 1e-6


def tokens_one_by_one(tokens, s, last, number, rng):
    if last is None:
        return [counted(rng.zipf(s, tokens)) for _ in range(number)]
    law = np.arange(1, last + 1) ** -s
    return [counted(rng.choice(last, tokens, p=law / law.sum())) for _ in range(number)]


def ordered(sample):
    """The counts of a sample by rank."""
    return np.concatenate([sample.high, np.repeat(np.arange(len(sample.words), 0, -1), sample.words[::-1])])


@pytest.mark.parametrize(("s", "last"), [(1.2, None), (2.0, None), (1.1, 3000), (0.5, 40)])
def test_samples_are_as_if_drawn_token_by_token(s, last):
    tokens, number, ranks = 10_000, 200, 30
    rng = np.random.default_rng(4)
    slow = tokens_one_by_one(tokens, s, last, number, rng)
    draws = ZipfDraws.of(tokens, s, last)
    fast = [draws.draw(rng) for _ in range(number)]
    pairs = {
        "types": ([len(c) for c in slow], [len(f.high) + f.words.sum() for f in fast]),
        "once": ([(c == 1).sum() for c in slow], [f.words[0] for f in fast]),
        "twice": ([(c == 2).sum() for c in slow], [f.words[1] for f in fast]),
        "log rank": ([log_rank_mean(c) for c in slow], [f.log_rank_mean() for f in fast]),
        "first ranks": (
            [c[:ranks].sum() / tokens for c in slow],
            [ordered(f)[:ranks].sum() / f.tokens() for f in fast],
        ),
    }
    for name, (one, two) in pairs.items():
        assert scipy.stats.ks_2samp(one, two).pvalue > 1e-4, name


def test_samples_of_few_words_and_a_quadrillion_tokens():
    """So many that shares are those of the law, and their number that was asked for."""
    sample = ZipfDraws.of(10**15, 1.1, 50).draw(np.random.default_rng(3))
    law = np.arange(1, 51) ** -1.1
    assert np.cumsum(sample.high) / sample.tokens() == pytest.approx(np.cumsum(law) / law.sum(), rel=1e-6)
    assert sample.high.sum() == pytest.approx(1e15, rel=1e-6)


def test_a_sample_is_what_its_counts_say():
    sample = ZipfDraws.of(50_000, 1.3, None).draw(np.random.default_rng(1))
    counts = ordered(sample)
    assert (np.diff(counts) <= 0).all()
    assert sample.tokens() == counts.sum()
    assert sample.log_rank_mean() == pytest.approx(log_rank_mean(counts), rel=1e-12)
    assert fit_samples([sample], None) == pytest.approx([fit_zipf(counts).s], rel=1e-12)


@pytest.mark.parametrize("convention", ["renormalised-empirical", "untruncated", "truncated"])
@pytest.mark.parametrize(("tokens", "source"), [(200, 1.1), (5000, 1.2), (50_000, 1.05), (50_000, 2.5)])
def test_distances_of_samples_are_those_of_their_counts(convention, tokens, source):
    """Among samples with more and with fewer words than ranks, from laws near theirs and far from it."""
    rng = np.random.default_rng(5)
    draws = ZipfDraws.of(tokens, source, None)
    samples = [draws.draw(rng) for _ in range(20)]
    for exponents in (np.linspace(1.01, 3, 20), np.array([source])):
        for ranks in (2, 30, 1000, 20_000):
            found = sample_distances(samples, exponents, convention, ranks)
            for distance, sample, s in zip(found, samples, np.broadcast_to(exponents, 20), strict=True):
                expected = zipf_distance(ordered(sample), float(s), convention, ranks).distance
                assert distance == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("convention", "given"), [("untruncated", True), ("truncated", True), ("truncated", False)])
def test_under_the_null_p_is_uniform(convention, given):
    """60 ranks and many tokens: words keep their order, so that a law with s given is true of ranks too."""
    values = []
    for seed in range(40):
        rng = np.random.default_rng(1000 + seed)
        counts = law_counts(20_000, 1.2, 60, seed) if convention == "truncated" else counted(rng.zipf(3.0, 20_000))
        s = {"truncated": 1.2, "untruncated": 3.0}[convention] if given else None
        values.append(fit_p(counts, convention, s, ranks=60, resamples=39, seed=seed).p)
    assert scipy.stats.kstest(values, "uniform").pvalue > 1e-3
    assert 0.25 < np.mean(np.array(values) <= 0.5) < 0.75


def test_samples_of_the_law_itself_are_not_rejected():
    """Their fitted s is far too large, by 30 standard errors; the simulated law is the true one nevertheless."""
    counts = counted(np.random.default_rng(2).zipf(1.2, 200_000))
    fit = fit_zipf(counts)
    found = fit_p(counts, "untruncated", resamples=99)
    assert fit.s > 1.2 + 30 * fit.standard_error
    assert found.s == fit.s
    rng = np.random.default_rng(1)
    assert _law_of_samples(fit.s, int(counts.sum()), None, rng) == pytest.approx(1.2, abs=5 * fit.standard_error)
    assert 0.02 < found.p < 0.98


def test_another_law_is_rejected():
    """Zipf and Mandelbrot's law, with shifted ranks."""
    law = (np.arange(1, 2001) + 5.0) ** -1.2
    counts = np.sort(np.random.default_rng(3).multinomial(100_000, law / law.sum()))[::-1]
    found = fit_p(counts, "truncated", ranks=2000, resamples=99)
    assert found.p == 1 / 100
    assert found.distance > 3 * found.chance


@pytest.mark.parametrize(("ranks", "rank", "p"), [(60, 1, 0.01), (2, 2, 1.0)])
def test_the_papers_convention_rejects_where_the_distance_is_more_than_the_mass_beyond(ranks, rank, p):
    """Too few of the commonest word: at rank 1 that is far from the law, and at the last of two ranks both are one."""
    counts = np.round(1e5 / zeta(3.0) * np.arange(1, 61) ** -3.0).astype(np.int64)
    counts[0] -= 4000
    found = fit_p(counts, "renormalised-empirical", 3.0, ranks=ranks, resamples=99)
    mass = 1 - sum(k**-3.0 for k in range(1, ranks + 1)) / zeta(3.0)
    assert (found.rank, found.p) == (rank, p)
    assert found.distance > mass + 1e-9 if ranks == 60 else found.distance == pytest.approx(mass, rel=1e-9)


def test_conventions_of_one_support_have_the_same_simulations():
    both = zipf_fit_p(COUNTS, ["untruncated", "renormalised-empirical"], ranks=8, resamples=49)
    assert both == {name: fit_p(COUNTS, name, ranks=8, resamples=49) for name in both}
    assert both["untruncated"].chance != both["renormalised-empirical"].chance


@pytest.mark.parametrize(
    ("counts", "convention", "options", "says"),
    [
        (COUNTS, "both", {}, "no convention 'both'; one of renormalised-empirical, untruncated, truncated"),
        (COUNTS, "untruncated", {"s": 1.0}, "s = 1 and 10000 ranks; a law over all ranks needs s above 1"),
        (COUNTS, "truncated", {"ranks": 1}, "give at least 2"),
        (COUNTS, "truncated", {"s": 1.1, "ranks": 1}, "two ranks"),
        (COUNTS, "truncated", {"resamples": 0}, "0 resamples; give at least 1"),
        (COUNTS[4:], "truncated", {}, "26 tokens; give at least 100"),
        (COUNTS[::-1], "truncated", {}, "not in descending order"),
        (COUNTS[:0], "truncated", {}, "give int64|no token"),
    ],
)
def test_what_cannot_be_fit_p(counts, convention, options, says):
    with pytest.raises(TextcriticError, match=says):
        fit_p(counts, convention, **options)


@pytest.mark.parametrize("conventions", [[], ["truncated", "untruncated"]])
def test_simulations_are_of_one_support(conventions):
    with pytest.raises(TextcriticError, match="give conventions of one support"):
        zipf_fit_p(COUNTS, conventions)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_blocks_of_ranks_vary_as_their_words_do(count):
    """The number of words with a count is a sum of independent words; that words of a block are alike adds little."""
    draws, s, last = ZipfDraws.of(60_000, 1.1, 200_000), 1.1, 200_000
    ranks = np.arange(len(draws.alone) + 1, last + 1, dtype=float)
    expected = 60_000 * ranks**-s / (np.arange(1, last + 1, dtype=float) ** -s).sum()
    each = scipy.stats.poisson(expected).pmf(count)
    of_blocks = draws.probabilities[:, count]
    assert draws.sizes @ of_blocks == pytest.approx(each.sum(), rel=1e-6)
    variance = draws.sizes @ (of_blocks * (1 - of_blocks))
    assert variance == pytest.approx((each * (1 - each)).sum(), rel=2e-4)
