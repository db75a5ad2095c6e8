"""The critic of mentions: its edges, its file, and the table of scores."""

import math

import numpy as np
import pytest
from mention_oracle import AsReleased, synthetic, windows

from textcritic.critics import document_columns, latent_nll, latent_ppl, rejections
from textcritic.critics.mentions import (
    FLOOR,
    MENTION_SCORES_SCHEMA,
    MentionChains,
    MentionCritic,
    count_windows,
    score_mentions,
)
from textcritic.critics.mentions.model import FALLBACK, discounts_of
from textcritic.errors import TextcriticError
from textcritic.plan.checks.critics import DISCOUNTS


def of(*chains):
    return MentionChains.of(chains)


@pytest.mark.parametrize("discount", DISCOUNTS)
def test_a_saved_critic_scores_as_before(tmp_path, discount):
    critic = MentionCritic.fit(MentionChains.of(synthetic(1, 50, symbols=("he", "Ö:x", "MALE"))), 6, discount)
    text = MentionChains.of(synthetic(2, 20))
    critic.save(tmp_path / "critic.npz")
    loaded = MentionCritic.load(tmp_path / "critic.npz")
    assert (loaded.order, loaded.discount, loaded.windows.alphabet) == (6, discount, critic.windows.alphabet)
    np.testing.assert_array_equal(loaded.log_prob(text), critic.log_prob(text))


@pytest.mark.parametrize("damage", ["cut", "counts", "items", "order", "kind"])
def test_a_damaged_critic_is_named(tmp_path, damage):
    path = tmp_path / "critic.npz"
    critic = MentionCritic.fit(of(["he:1", "."]))
    critic.save(path)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-200])
    else:
        arrays = dict(np.load(path))
        if damage == "counts":
            arrays["counts"] = arrays["counts"][:-1]
        elif damage == "items":
            arrays["items"] = arrays["items"] + 1000
        else:
            old = {"order": b'"order": 5', "kind": b'"mentions"'}[damage]
            new = {"order": b'"order": 4', "kind": b'"menti0ns"'}[damage]
            arrays["about"] = np.frombuffer(arrays["about"].tobytes().replace(old, new), np.uint8)
        np.savez(path, **arrays)
    with pytest.raises(TextcriticError, match=r"critic\.npz: not a critic of mentions, or damaged"):
        MentionCritic.load(path)


@pytest.mark.parametrize("order", [0, 10, True, 2.5])
def test_an_order_out_of_range_is_refused(order):
    with pytest.raises(TextcriticError, match=r"order: .* whole number from 1 to 9"):
        MentionCritic.fit(of(["."]), order)


def test_a_discount_that_there_is_not_and_chains_without_tokens_are_refused():
    with pytest.raises(TextcriticError, match="discount: 'good-turing' is none of kneser-ney, as_released, modified"):
        MentionCritic.fit(of(["."]), 5, "good-turing")
    with pytest.raises(TextcriticError, match="no mention and no sentence mark"):
        MentionCritic.fit(of([], []))


def test_thousands_of_symbols_take_several_words_and_change_nothing():
    symbols = tuple(f"s{number}" for number in range(5000))
    rng = np.random.default_rng(1)
    real, text = (
        [[f"{symbols[rng.integers(5000) // 50 * 50]}:{rng.integers(3)}" for _ in range(20)] for _ in range(documents)]
        for documents in (150, 20)
    )
    # Every symbol occurs, so that the alphabet has them all.
    real.append([f"{symbol}:0" for symbol in symbols])
    critic = MentionCritic.fit(MentionChains.of(real), 9, "as_released", chunk=700)
    assert critic.windows.alphabet.size**4 > 1 << 60
    expected = AsReleased(real, 9).log_prob(text)
    np.testing.assert_allclose(critic.log_prob(MentionChains.of(text)), expected, rtol=1e-12, atol=1e-12)


def test_windows_of_alphabets_about_the_size_of_a_word():
    """Of 20 to 30 symbols and order 9, seven or eight items fit into 63 bits."""
    for number in range(20, 31):
        chains = [[f"s{symbol}:{symbol % 7}" for symbol in range(number)], [f"s{number - 1}:1", "."]]
        counted = count_windows(MentionChains.of(chains), 9)
        expected = [window for chain in chains for window in windows(chain, 9)]
        assert sorted(map(tuple, counted.tokens())) == sorted(expected)


def test_scoring_does_not_change_the_critic():
    critic = MentionCritic.fit(MentionChains.of(synthetic(1, 30)), 5, "as_released")
    before = [array.copy() for level in critic.levels for array in (level.contexts, level.grams, level.raw)]
    text = MentionChains.of([["new:1", "he:2"], *synthetic(2, 10)])
    first = critic.log_prob(text)
    np.testing.assert_array_equal(critic.log_prob(text), first)
    after = [array for level in critic.levels for array in (level.contexts, level.grams, level.raw)]
    assert all(np.array_equal(one, two) for one, two in zip(before, after, strict=True))


def test_what_was_never_seen():
    real = of(["he:1", "he:1", "she:2", "he:1"], ["he:1", "he:1"])
    text = of(["it:1"], ["he:1"], ["she:1", "it:3", "he:1"])
    released = MentionCritic.fit(real, 1, "as_released")
    # Six tokens, all labelled 0 in a window of one.
    np.testing.assert_allclose(np.exp(released.log_prob(text)), [FLOOR, 5 / 6, 1 / 6, FLOOR, 5 / 6], rtol=1e-12)
    assert released.matched(text).tolist() == [0, 1, 1, 0, 1]
    # One unigram occurs once and none twice: a discount of 0.5, and 2 + 1 tokens that the rest goes to.
    smoothed = MentionCritic.fit(real, 1)
    unknown = (0.5 + 0.5) / 6 / 3
    np.testing.assert_allclose(
        np.exp(smoothed.log_prob(text)),
        [unknown, 4.5 / 6 + unknown, 0.5 / 6 + unknown, unknown, 4.5 / 6 + unknown],
        rtol=1e-12,
    )


def test_without_once_and_twice_as_released_gives_no_weight_to_lower_orders():
    real = of(*[["he:1", "she:2"]] * 3)
    critic = MentionCritic.fit(real, 2, "as_released")
    assert critic.discounts.tolist() == [[0.0] * 3] * 2
    assert critic.log_prob(of(["he:1", "he:1"])).tolist() == pytest.approx([0.0, math.log(FLOOR)])


def test_discounts_by_hand():
    counts = [np.repeat([1, 2, 3, 4, 9], [40, 20, 10, 5, 3]), np.array([1, 1, 3])]
    y = 40 / (40 + 2 * 20)
    np.testing.assert_allclose(discounts_of(counts, "kneser-ney"), [[y] * 3, [0.5] * 3])
    np.testing.assert_allclose(
        discounts_of(counts, "modified"),
        [[1 - 2 * y * 20 / 40, 2 - 3 * y * 10 / 20, 3 - 4 * y * 5 / 10], FALLBACK],
    )
    np.testing.assert_allclose(discounts_of(counts, "as_released"), [[0.0] * 3, [1.0] * 3])
    # A discount may be 0.
    assert discounts_of([np.repeat([1, 2, 3], [6, 3, 4])], "modified").tolist() == [[0.5, 0.0, 3.0]]
    # More n-grams occur three times than twice: D2 would be below 0.
    assert discounts_of([np.repeat([1, 2, 3], [10, 1, 50])], "modified").tolist() == [list(FALLBACK)]


def test_the_windows_of_equal_runs_are_merged():
    text = MentionChains.of(synthetic(5, 200))
    one, many = count_windows(text, 5), count_windows(text, 5, chunk=11)
    assert len(one.counts) < len(text.codes)
    np.testing.assert_array_equal(one.items, many.items)
    np.testing.assert_array_equal(one.counts, many.counts)


def test_without_gender_the_labels_are_one_symbol():
    chain = [".", "FEMALE:1", "he:2", "MALE:2", "PLURAL:3", "FEMALE:1", "None:4"]
    found = MentionChains.of([chain, ["MALE:1"]]).without_gender()
    plain = [token if token[:2] in (".", "he") else f"None:{token[-1]}" for token in chain]
    wanted = MentionChains.of([plain, ["None:1"]])
    assert found.symbols == wanted.symbols == (".", "None", "he")
    for name in ("codes", "entities", "offsets"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
    assert found.codes.dtype == np.int32


def test_scores_of_documents():
    critic = MentionCritic.fit(MentionChains.of(synthetic(1, 100)))
    chains = of(["he:1", ".", "she:2", "he:1"], [], [".", "."], ["he:-7", "he:7"])
    scores = score_mentions(critic, ["a", "b", "c", "d"], chains, rejected=[("e", "not a film")])
    assert scores.schema == MENTION_SCORES_SCHEMA
    assert scores["steps"].to_pylist() == [4, 0, 2, 2, 0]
    assert scores["people"].to_pylist() == [2, 0, 0, 2, 0]
    assert scores["mentions"].to_pylist() == [3, 0, 0, 2, 0]
    assert scores["rejected"].to_pylist() == [False, True, False, False, True]
    assert rejections(scores) == {"no mentions": 1, "not a film": 1}
    log_prob = critic.log_prob(chains)
    np.testing.assert_allclose(
        document_columns(scores)[:, 0], -np.array([log_prob[:4].sum(), log_prob[4:6].sum(), log_prob[6:].sum()])
    )
    assert latent_ppl(scores) == pytest.approx(math.exp(-log_prob.mean()))
    assert latent_nll(scores) == pytest.approx(-log_prob.sum() / 3)
    with pytest.raises(TextcriticError, match="3 ids for 4 chains"):
        score_mentions(critic, ["a", "b", "c"], chains)


def test_documents_without_tokens_alone_are_all_rejected():
    critic = MentionCritic.fit(of(["he:1"]))
    scores = score_mentions(critic, ["a", "b"], of([], []))
    assert scores["nll"].to_pylist() == pytest.approx([math.nan, math.nan], nan_ok=True)
    with pytest.raises(TextcriticError, match="no mentions: 2"):
        latent_ppl(scores)
