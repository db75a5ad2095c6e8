"""Comparisons of sets of windows: what adds up, what is the likeliest token, and the parts of the cross-entropy."""

import math
from collections import Counter

import numpy as np
import pytest
from mention_oracle import AsReleased, KneserNey, synthetic, windows

from textcritic.critics.mentions import (
    NEW_ENTITY,
    NO_ENTITY,
    NONE,
    MentionChains,
    MentionCritic,
    contributions,
    cross_fitted_nll,
    expected_tokens,
    log_ratios,
    occurrences,
    unlikely,
)
from textcritic.critics.mentions.alternatives import Alternatives
from textcritic.errors import TextcriticError
from textcritic.inference import GROUPS, document_groups
from textcritic.plan.checks.critics import DISCOUNTS

TRAIN, REAL, SAMPLE = (
    synthetic(1, 200),
    synthetic(2, 80),
    synthetic(3, 90, symbols=("it", "she", "he", "She"), people=3),
)


def counted(chains, order):
    return Counter(window for chain in chains for window in windows(chain, order))


@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("order", [1, 5, 9])
def test_contributions_add_up_to_the_difference(order, discount):
    train, real, sample = map(MentionChains.of, (TRAIN, [*REAL, []], SAMPLE))
    critic = MentionCritic.fit(train, order, discount)
    table = contributions(critic, real, sample, chunk=500)
    expected = critic.log_prob(real).mean() - critic.log_prob(sample).mean()
    assert math.fsum(table["contribution"].to_pylist()) == pytest.approx(expected, abs=1e-12)
    assert table["count_real"].to_numpy().sum() == len(real.codes)
    values = table["contribution"].to_numpy()
    assert (np.diff(values) <= 0).all()


def test_contributions_equal_those_of_windows_counted_one_at_a_time():
    critic, plain = MentionCritic.fit(MentionChains.of(TRAIN), 3, "as_released"), AsReleased(TRAIN, 3)
    real, sample = counted(REAL, 3), counted(SAMPLE, 3)
    found = contributions(critic, MentionChains.of(REAL), MentionChains.of(SAMPLE)).to_pylist()
    assert {tuple(row["window"]) for row in found} == {*real, *sample}
    for row in found:
        window = tuple(row["window"])
        log_p = math.log(plain.p(window[-1], window[:-1]))
        share = sample[window] / sample.total() - real[window] / real.total()
        assert (row["count_real"], row["count_sample"]) == (real[window], sample[window])
        assert row["log_prob"] == pytest.approx(log_p, rel=1e-12, abs=1e-12)
        assert row["contribution"] == pytest.approx(-share * log_p, rel=1e-9, abs=1e-15)


def test_log_ratios_are_of_critics_of_each_set():
    other = synthetic(4, 100, people=2)
    found = log_ratios(MentionChains.of(REAL), MentionChains.of(other), 3, minimum=4).to_pylist()
    plain = [KneserNey(chains, 3, False) for chains in (REAL, other)]
    real, sample = counted(REAL, 3), counted(other, 3)
    assert {tuple(row["window"]) for row in found} == {w for w in real if min(real[w], sample[w]) >= 4}
    for row in found:
        window = tuple(row["window"])
        of_each = [math.log(model.p(window[-1], window[:-1])) for model in plain]
        assert [row["log_prob_real"], row["log_prob_sample"]] == pytest.approx(of_each, rel=1e-11)
        assert row["log_ratio"] == row["log_prob_sample"] - row["log_prob_real"]
    ratios = [row["log_ratio"] for row in found]
    assert len(ratios) > 20
    assert ratios == sorted(ratios, reverse=True)


def test_the_variance_of_a_ratio_is_of_critics_without_one_group_of_documents():
    chains, other = MentionChains.of(REAL), MentionChains.of(SAMPLE[:7])
    pairs = np.arange(len(REAL)) // 2
    found = log_ratios(chains, other, 3, minimum=3, units=(pairs, None)).to_pylist()
    assert found
    for name, documents, unit in (("real", REAL, pairs), ("sample", SAMPLE[:7], np.arange(7))):
        # The library's own random parts; each unit is in one.
        groups = min(GROUPS, int(unit.max()) + 1)
        group = document_groups(int(unit.max()) + 1)[unit]
        assert sorted(set(group.tolist())) == list(range(groups))
        rest = [[chain for chain, g in zip(documents, group, strict=True) if g != out] for out in range(groups)]
        plain = [KneserNey(chains, 3, False) for chains in rest]
        for row in found[::5]:
            window = tuple(row["window"])
            without = np.array([math.log(model.p(window[-1], window[:-1])) for model in plain])
            expected = (groups - 1) / groups * ((without - without.mean()) ** 2).sum()
            assert row[f"variance_{name}"] == pytest.approx(expected, rel=1e-9)


def test_one_document_has_ratios_without_a_variance():
    one = MentionChains.of([["he:1", "."] * 10])
    found = log_ratios(one, MentionChains.of(REAL + [["he:1", "."] * 10] * 5), 2).to_pylist()
    assert found
    assert all(math.isnan(row["variance_real"]) and row["variance_sample"] > 0 for row in found)


@pytest.mark.parametrize("order", [1, 3, 9])
def test_occurrences_of_windows_in_each_document(order):
    chains = [*REAL[:20], [], ["he:1"]]
    every = [Counter(windows(chain, order)) for chain in chains]
    wanted = [w for w, _ in sum(every, Counter()).most_common(5)] + [("nobody:0",) + (".",) * (order - 1)]
    found = occurrences(MentionChains.of(chains), wanted, order, chunk=50)
    assert found.tolist() == [[counts[w] for w in wanted] for counts in every]
    assert found.sum() > 5


def test_windows_as_text_are_read_back_and_wrong_ones_refused():
    critic = MentionCritic.fit(MentionChains.of(REAL), 3)
    alphabet = critic.windows.alphabet
    assert (alphabet.items(critic.windows.tokens()) == critic.windows.items).all()
    (unknown,) = alphabet.items([("nobody:0", ".", "he:1")]).tolist()
    assert alphabet.names()[unknown[0]] == "<unknown>:0"
    for wrong, said in (
        (("he:0", "."), "a window of 2 tokens, not 3"),
        (("he:0", ".", "he:x"), "he:x: a token is none of"),
        (("he:0", ".", "he:7"), "he:7: a token is none of"),
    ):
        with pytest.raises(TextcriticError, match=said):
            alphabet.items([("he:0", ".", "."), wrong])


@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("order", [1, 3, 5])
@pytest.mark.parametrize("marks", [True, False])
def test_the_alternative_is_the_likeliest_of_all_tokens(order, discount, marks):
    critic = MentionCritic.fit(MentionChains.of(TRAIN[:60]), order, discount)
    alphabet = critic.windows.alphabet
    table = unlikely(critic, MentionChains.of(SAMPLE), threshold=0.5, marks=marks)  # of all windows
    assert {tuple(window) for window in table["window"].to_pylist()} == set(counted(SAMPLE, order))
    names = alphabet.names()
    items = {name: item for item, name in enumerate(names)}
    labels = alphabet.labels(np.arange(alphabet.size))
    for row in table.to_pylist()[::3]:
        context = [items.get(token, items.get("<unknown>:" + token.rpartition(":")[2])) for token in row["window"][:-1]]
        grid = np.array([[*context, item] for item in range(1, alphabet.size)], np.int32)
        log_prob = critic.window_log_prob(grid)
        people = max((labels[item] for item in context), default=-1) + 1
        log_prob[labels[1:] > people] = -np.inf
        if not marks:
            log_prob[items["."] - 1] = -np.inf
        assert row["alternative_log_prob"] == pytest.approx(log_prob.max(), rel=1e-12)
        assert log_prob[items[row["alternative"]] - 1] == pytest.approx(log_prob.max(), rel=1e-12)
    assert table["log_prob"].to_pylist() == sorted(table["log_prob"].to_pylist())


def test_unlikely_windows_are_those_below_the_threshold():
    critic = MentionCritic.fit(MentionChains.of(TRAIN))
    table = unlikely(critic, MentionChains.of(SAMPLE), threshold=-6)
    log_prob = critic.log_prob(MentionChains.of(SAMPLE))
    assert 0 < table.num_rows < len(log_prob)
    assert table["count"].to_numpy().sum() == (log_prob < -6).sum()
    assert "." not in table["alternative"].to_pylist()


def test_a_critic_that_knows_marks_alone_has_no_other_token():
    critic = MentionCritic.fit(MentionChains.of([[".", "."]]), 3)
    table = unlikely(critic, MentionChains.of([["he:1"]]), threshold=0)
    assert table.select(["alternative", "alternative_log_prob"]).to_pylist() == [
        {"alternative": None, "alternative_log_prob": None}
    ]
    found = expected_tokens(critic, MentionChains.of([["he:1"]]), marks=False)
    assert (found.codes.tolist(), found.entities.tolist()) == ([NONE], [NO_ENTITY])
    assert np.isnan(found.log_prob).all()


@pytest.mark.parametrize("order", [1, 2, 5])
def test_expected_tokens_name_the_entities_of_the_document(order):
    critic = MentionCritic.fit(MentionChains.of(TRAIN), order)
    chains = MentionChains.of(REAL)
    found = expected_tokens(critic, chains, chunk=37)
    alternatives, alphabet = Alternatives(critic), critic.windows.alphabet
    items = {name: item for item, name in enumerate(alphabet.names())}
    at = 0
    for chain in REAL:
        numbers = {}
        for place, (token, window) in enumerate(zip(chain, windows(chain, order), strict=True)):
            best, log_prob = alternatives.of(np.array([[items[name] for name in window]], np.int32))
            name = alphabet.names()[best[0]]
            symbol, colon, label = name.rpartition(":")
            names = {}  # of the entities by their labels in the context
            for earlier in chain[max(0, place - order + 1) : place]:
                entity = earlier.rpartition(":")[2]
                if earlier != "." and entity not in names.values():
                    names[str(len(names))] = entity
            expected = NO_ENTITY if not colon else numbers[names[label]] if label in names else NEW_ENTITY
            assert found.symbols[found.codes[at]] == (symbol or name)
            assert found.entities[at] == expected
            assert found.log_prob[at] == log_prob[0]
            if token != ".":
                numbers.setdefault(token.rpartition(":")[2], len(numbers))
            at += 1


@pytest.mark.parametrize("discount", DISCOUNTS)
def test_the_entropy_is_cross_fitted(discount):
    critic, chains = MentionCritic.fit(MentionChains.of(TRAIN), 3, discount), MentionChains.of([[], *REAL[:40]])
    found = cross_fitted_nll(critic, chains, folds=40)
    assert found[0] == 0
    # As many folds as documents: each is scored by what is fitted on all others.
    for left_out in range(40):
        others = [chain for number, chain in enumerate(REAL[:40]) if number != left_out]
        model = AsReleased(others, 3) if discount == "as_released" else KneserNey(others, 3, discount == "modified")
        assert found[1 + left_out] == pytest.approx(-model.log_prob([REAL[left_out]]).sum(), rel=1e-11)


def test_the_entropy_of_a_known_process_is_bounded_from_above():
    """Marks and one person, drawn independently."""
    rng = np.random.default_rng(1)
    train, real = (
        MentionChains.of([["he:1" if rng.random() < 0.7 else "." for _ in range(50)] for _ in range(documents)])
        for documents in (400, 400)
    )
    critic = MentionCritic.fit(train)
    bound = cross_fitted_nll(critic, real).sum() / len(real.codes)
    marks = (real.entities == NO_ENTITY).mean()
    entropy = -((1 - marks) * math.log(0.7) + marks * math.log(0.3))  # what this very set costs under the process
    assert entropy < bound < entropy + 0.01
    assert abs(-critic.log_prob(real).mean() - bound) < 0.01


def test_too_little_to_compare_or_to_decompose():
    critic, one = MentionCritic.fit(MentionChains.of(TRAIN)), MentionChains.of([["he:1"], []])
    with pytest.raises(TextcriticError, match="decomposition: 1 documents with mentions"):
        cross_fitted_nll(critic, one)
    with pytest.raises(TextcriticError, match="sample: no mention"):
        contributions(critic, one, MentionChains.of([[]]))
    with pytest.raises(TextcriticError, match="real: no mention"):
        log_ratios(MentionChains.of([]), one)
