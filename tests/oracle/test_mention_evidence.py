"""Counts behind a probability, against a plain count of every window's ends."""

from collections import Counter

import pytest
from mention_oracle import synthetic, windows

from textcritic.critics.mentions import MentionChains, MentionCritic, evidence


@pytest.mark.parametrize("order", [1, 2, 5])
def test_counts_are_those_of_the_longest_context_that_was_seen(order):
    train, some = synthetic(1, 60), synthetic(2, 25, symbols=("he", "she", "it", "MALE"))
    critic = MentionCritic.fit(MentionChains.of(train), order)
    found = evidence(critic, MentionChains.of([*some, []]), chunk=40)
    grams, contexts = Counter(), Counter()
    for chain in train:
        for window in windows(chain, order):
            for k in range(1, order + 1):
                grams[window[-k:]] += 1
                contexts[window[-k:-1]] += 1
    expected = []
    for chain in some:
        for window in windows(chain, order):
            known = max(k for k in range(order) if contexts[window[order - 1 - k : -1]])
            expected.append((known, contexts[window[order - 1 - known : -1]], grams[window[order - 1 - known :]]))
    assert list(zip(found.known.tolist(), found.seen.tolist(), found.followed.tolist(), strict=True)) == expected
    assert len({known for known, _, _ in expected}) == order


def test_no_token_no_counts():
    critic = MentionCritic.fit(MentionChains.of([["he:0"]]))
    assert len(evidence(critic, MentionChains.of([[]])).known) == 0
