"""Taylor's law, recurrence of words and Chao's bound: loops over tokens, closed forms, and coverage of intervals."""

import numpy as np
import pytest
import scipy.stats
from scipy.sparse import csr_matrix

from textcritic.critics.tendencies.scaling import chao1, fit_taylor, word_recurrence
from textcritic.errors import TextcriticError
from textcritic.inference import jackknife_variance

LAGS = np.array([1, 2, 4, 8, 16, 32])


def law(words, s=1.0):
    weights = np.arange(1, words + 1) ** -s
    return weights / weights.sum()


def grouped(counts, groups):
    """Segments [Q, words] in `groups` groups of equal size: numbers, sums, squares."""
    parts = np.split(counts, groups)
    sums, squares = (csr_matrix(np.array([(part**power).sum(axis=0) for part in parts])) for power in (1, 2))
    return np.array([len(part) for part in parts]), sums, squares


def clustered(segments, window, words, rng):
    """Segments whose distribution over words is drawn for each: words cluster."""
    return np.array([rng.multinomial(window, p) for p in rng.dirichlet(law(words) * 30, segments)])


def test_taylors_law_by_numpy():
    counts = clustered(60, 40, 50, np.random.default_rng(1))
    counts[:, 7] = 2  # the same in all segments: its sd is 0
    found = fit_taylor(*grouped(counts, 6))
    kept = (counts.sum(axis=0) > 0) & (np.arange(50) != 7)
    means, deviations = counts.mean(axis=0)[kept], counts.std(axis=0)[kept]
    slope = np.polyfit(np.log(means), np.log(deviations), 1)[0]
    assert found.alpha == pytest.approx(slope, rel=1e-9)
    assert found.words == kept.sum()
    without = []
    for group in range(6):
        rest = np.delete(counts, slice(10 * group, 10 * group + 10), axis=0)
        used = (counts.sum(axis=0) > 0) & (rest.std(axis=0) > 0)
        without.append(np.polyfit(np.log(rest.mean(axis=0)[used]), np.log(rest.std(axis=0)[used]), 1)[0])
    assert found.standard_error == pytest.approx(float(np.sqrt(jackknife_variance(without))), rel=1e-9)
    half = scipy.stats.t.ppf(0.975, 5) * found.standard_error
    assert (found.low, found.high) == pytest.approx((slope - half, slope + half))


def test_a_floor_leaves_out_rare_words():
    counts = clustered(60, 40, 50, np.random.default_rng(1))
    found = fit_taylor(*grouped(counts, 6), floor=0.5)
    kept = counts.mean(axis=0) > 0.5
    expected = np.polyfit(np.log(counts.mean(axis=0)[kept]), np.log(counts.std(axis=0)[kept]), 1)[0]
    assert found.words == kept.sum() < (counts.sum(axis=0) > 0).sum()
    assert found.alpha == pytest.approx(expected, rel=1e-9)


def test_exponents_that_are_known():
    """All words twice or not at all: 1. A word that occurs once: sd = sqrt(m (1 - m)) with mean m = 1 / Q."""
    sizes = np.array([1, 2, 3, 7, 20])
    assert fit_taylor(*grouped(np.outer([0, 2] * 50, sizes), 10)).alpha == pytest.approx(1, abs=1e-12)
    once = np.zeros((100, 3), dtype=int)
    once[3, 0] = once[[1, 50, 70, 80], 1] = once[::2, 2] = 1
    means = np.array([0.01, 0.04, 0.5])
    slope = np.polyfit(np.log(means), np.log(means * (1 - means)) / 2, 1)[0]
    assert fit_taylor(*grouped(once, 1)).alpha == pytest.approx(slope)
    assert np.isnan(fit_taylor(*grouped(once, 1)).low)


def test_intervals_of_the_exponent_hold_that_of_the_source():
    """Independent tokens: sd^2 = window p (1 - p), so that the exponent of the source is the line through these."""
    window, words, trials, covered = 50, 40, 100, 0
    p = law(words)
    truth = np.polyfit(np.log(window * p), np.log(window * p * (1 - p)) / 2, 1)[0]
    assert 0.45 < truth < 0.5
    for seed in range(trials):
        counts = np.random.default_rng(seed).multinomial(window, p, size=1000)
        found = fit_taylor(*grouped(counts, 20))
        covered += found.low <= truth <= found.high
    assert 1e-3 < scipy.stats.binom.cdf(covered, trials, 0.95) < 1 - 1e-3, covered


def test_words_that_come_in_bursts_have_a_larger_exponent():
    """Rates with a gamma factor of variance v for each segment: sd^2 = m + v m^2. A Dirichlet one changes c alone."""
    rng = np.random.default_rng(2)
    means = 50 * law(40)
    alike = fit_taylor(*grouped(rng.poisson(means, (4000, 40)), 20))
    bursts = fit_taylor(*grouped(rng.poisson(means * rng.gamma(2, 0.5, (4000, 40))), 20))
    words = clustered(4000, 50, 40, rng)
    spread = fit_taylor(*grouped(words, 20))
    expected = np.polyfit(np.log(means), np.log(means + means**2 / 2) / 2, 1)[0]
    assert alike.low < 0.5 < alike.high < bursts.low < expected < bursts.high
    assert spread.high < 0.5
    assert np.polyfit(np.log(words.mean(axis=0)), np.log(words.std(axis=0)), 1)[1] > 0.3


@pytest.mark.parametrize(
    ("segments", "shape", "floor", "says"),
    [
        ([4, 4], (3, 5), 0.0, "of one number of groups"),
        ([1, 0], (2, 5), 0.0, "1 segments; give at least two"),
        ([4, 4], (2, 5), 9.0, "of 0 words with a mean above 9"),
    ],
)
def test_taylors_law_of_too_little(segments, shape, floor, says):
    ones = csr_matrix(np.ones(shape, dtype=np.int64))
    with pytest.raises(TextcriticError, match=says):
        fit_taylor(segments, ones, ones, floor)


def counted(groups, lags, words):
    """By loops: pairs at each lag in one document, and the counts of words, of groups of documents."""
    table = np.zeros((len(groups), len(lags), 2), dtype=np.int64)
    counts = np.zeros((len(groups), words), dtype=np.int64)
    for number, documents in enumerate(groups):
        for tokens in documents:
            counts[number] += np.bincount(tokens, minlength=words)
            for place, lag in enumerate(lags):
                table[number, place] += max(len(tokens) - lag, 0), (tokens[lag:] == tokens[:-lag]).sum()
    return table, csr_matrix(counts)


def topical(groups, documents, length, words, concentration, rng):
    """Documents that draw their own distribution over words, about a common one."""
    return [
        [rng.choice(words, length, p=rng.dirichlet(law(words) * concentration)) for _ in range(documents)]
        for _ in range(groups)
    ]


def test_recurrence_by_hand():
    groups = [[np.array([0, 1, 0, 1, 2])], [np.array([2, 2, 0])]]
    found = word_recurrence(*counted(groups, [1, 2, 4, 8], 3)[:1], [1, 2, 4, 8], counted(groups, [1], 3)[1], least=1)
    chance = (3 * 2 + 2 * 1 + 3 * 2) / (8 * 7)
    assert found.chance == pytest.approx(chance)
    assert found.pairs.tolist() == [6, 4, 1, 0]
    assert found.correlation[:3] == pytest.approx([1 / 6 - chance, 2 / 4 - chance, 0 - chance])
    assert np.isnan(found.correlation[3])
    assert found.used.tolist() == []
    assert np.isnan(found.excess)


def test_the_jackknife_leaves_out_groups_by_loops():
    groups = topical(5, 3, 40, 20, 5.0, np.random.default_rng(3))
    table, counts = counted(groups, LAGS, 20)
    found = word_recurrence(table, LAGS, counts, least=100)
    assert found.used.tolist() == [8, 16, 32]

    def relative(some):
        own, words = counted(some, LAGS, 20)
        c = words.toarray().sum(axis=0)
        chance = (c * (c - 1)).sum() / (c.sum() * (c.sum() - 1))
        shares = own.sum(axis=0)[:, 1] / own.sum(axis=0)[:, 0]
        return shares / chance - 1, chance

    whole, chance = relative(groups)
    assert found.correlation == pytest.approx(whole * chance)
    assert found.excess == pytest.approx(whole[3:].mean())
    without = [relative(groups[:g] + groups[g + 1 :])[0] for g in range(5)]
    half = scipy.stats.t.ppf(0.975, 4) * np.sqrt(jackknife_variance(without))
    assert found.high == pytest.approx((whole + half) * chance)
    half = scipy.stats.t.ppf(0.975, 4) * np.sqrt(jackknife_variance([w[3:].mean() for w in without]))
    assert (found.excess_low, found.excess_high) == pytest.approx((whole[3:].mean() - half, whole[3:].mean() + half))


@pytest.mark.parametrize("concentration", [None, 20.0])
def test_intervals_of_the_excess_hold_that_of_the_source(concentration):
    """Dirichlet documents: E sum p_w^2 = (1 + a sum q^2) / (a + 1) against sum q^2. None: tokens are independent."""
    words, trials, covered, q = 30, 120, 0, law(30)
    chance = (q**2).sum()
    truth = 0.0 if concentration is None else ((1 + concentration * chance) / (concentration + 1)) / chance - 1
    values = []
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        found = word_recurrence(*with_lags(topical_tokens(20, 10, 40, concentration, q, rng), words), least=100)
        covered += found.excess_low <= truth <= found.excess_high
        values.append(found.excess)
    assert 1e-3 < scipy.stats.binom.cdf(covered, trials, 0.95) < 1 - 1e-4, covered
    assert np.mean(values) == pytest.approx(truth, abs=4 * np.std(values) / np.sqrt(trials) + 0.01 * truth)


def topical_tokens(groups, documents, length, concentration, q, rng):
    """[groups, documents, length]"""
    number = groups * documents
    shares = np.tile(q, (number, 1)) if concentration is None else rng.dirichlet(concentration * q, number)
    drawn = (rng.random((number, length, 1)) > shares.cumsum(axis=1)[:, None, :-1]).sum(axis=2)
    return drawn.reshape(groups, documents, length)


def with_lags(tokens, words):
    """As `counted`, of documents of one length."""
    lags = np.array([1, 8, 16, 32])
    _, documents, length = tokens.shape
    table = np.array(
        [[(documents * (length - lag), (t[:, lag:] == t[:, :-lag]).sum()) for lag in lags] for t in tokens]
    )
    counts = np.array([np.bincount(t.ravel(), minlength=words) for t in tokens])
    return table, lags, csr_matrix(counts)


@pytest.mark.parametrize(
    ("table", "counts", "says"),
    [
        (np.zeros((2, 5, 2)), np.ones((2, 4)), r"pairs are \[groups, lags, 2\]"),
        (np.zeros((3, 6, 2)), np.ones((2, 4)), r"pairs are \[groups, lags, 2\]"),
        (np.zeros((2, 6, 2)), np.eye(2, 4)[:2] * [[1], [0]], "no word occurs twice"),
    ],
)
def test_recurrence_of_too_little(table, counts, says):
    with pytest.raises(TextcriticError, match=says):
        word_recurrence(table, LAGS, csr_matrix(counts.astype(np.int64)))


def test_chaos_bound():
    assert chao1([5, 1, 1, 1, 2, 2, 0]) == 6 + 9 / 4
    assert chao1([5, 1, 1, 1]) == 4 + 3
    assert chao1([5, 3]) == 2


def test_chaos_bound_is_close_where_all_words_are_alike_and_below_where_not():
    rng = np.random.default_rng(5)
    alike = [chao1(rng.multinomial(600, np.full(500, 1 / 500))) for _ in range(100)]
    assert np.mean(alike) == pytest.approx(500, abs=4 * np.std(alike) / 10 + 5)
    counts = rng.multinomial(600, law(500))
    assert (counts > 0).sum() < chao1(counts) < 500
