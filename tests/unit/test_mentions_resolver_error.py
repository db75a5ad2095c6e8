"""Error of the resolver apart from that of the writer: critics of other folds, four cells, paired differences."""

import numpy as np
import pytest

from textcritic.critics.mentions import MentionChains, MentionCritic
from textcritic.critics.mentions.resolver_error import CELLS, DIFFERENCES, error_summary, resolver_error
from textcritic.errors import TextcriticError


def story(rng, length=60, slips=0.0):
    """A man and a woman in turns; with `slips`, links are lost to a wrong entity at random."""
    tokens, turn = [], 0
    for place in range(length):
        if place % 6 == 0:
            tokens.append(".")
        turn = turn if rng.random() < 0.7 else 1 - turn
        entity = turn if rng.random() >= slips else int(rng.integers(2, 9))
        tokens.append(f"{('he', 'she')[turn]}:{entity}")
    return tokens


def both(documents=24, slips=0.3):
    gold = [story(np.random.default_rng(number)) for number in range(documents)]
    resolved = [story(np.random.default_rng(number), slips=slips) for number in range(documents)]
    return MentionChains.of(gold), MentionChains.of(resolved)


def test_each_document_is_scored_by_critics_of_the_other_folds():
    gold, resolved = both()
    table = resolver_error(gold, resolved, order=3, discount="modified", folds=4)
    folds = table["fold"].to_numpy()
    assert np.bincount(folds).tolist() == [6, 6, 6, 6]
    inside = folds == folds[5]
    critic = MentionCritic.fit(resolved.some(~inside), 3, "modified")
    alone = np.arange(24) == 5
    expected = -critic.log_prob(gold.some(alone)).sum()
    assert table["nll_resolved_gold"][5].as_py() == pytest.approx(expected, rel=1e-12)
    assert table["steps_gold"].to_pylist() == gold.lengths.tolist()


def test_the_same_chains_have_no_difference():
    gold, _ = both()
    summary = error_summary(resolver_error(gold, gold, order=3), resamples=200)
    assert len({row["value"] for row in summary["latent_ppl"].values()}) == 1
    assert set(summary["differences"]) == set(DIFFERENCES)
    for row in summary["differences"].values():
        assert row == {"value": 0, "low": None, "high": None}  # every document has the same difference


def test_lost_links_are_seen():
    gold, resolved = both()
    table = resolver_error(gold, resolved, order=3)
    summary = error_summary(table, resamples=500)
    ppl = {name: row["value"] for name, row in summary["latent_ppl"].items()}
    sums = {name: np.sum(table[name].to_numpy()) for name in table.column_names}
    for fitted, scored in CELLS:
        expected = np.exp(sums[f"nll_{fitted}_{scored}"] / sums[f"steps_{scored}"])
        assert ppl[f"{fitted}_{scored}"] == pytest.approx(expected, rel=1e-12)
    assert ppl["gold_gold"] < ppl["resolved_resolved"] < ppl["gold_resolved"]
    for name, (first, second) in DIFFERENCES.items():
        row = summary["differences"][name]
        assert row["value"] == pytest.approx(ppl["_".join(first)] - ppl["_".join(second)], rel=1e-9)
        assert row["low"] < row["value"] < row["high"]
    assert summary["differences"]["all_resolved_or_all_gold"]["low"] > 0


def test_chains_that_do_not_belong_together():
    gold, resolved = both(6)
    with pytest.raises(TextcriticError, match="6 gold chains, 5 resolved ones"):
        resolver_error(gold, resolved.some(np.arange(6) < 5))
    with pytest.raises(TextcriticError, match="at least two documents"):
        resolver_error(gold.some(np.arange(6) < 1), resolved.some(np.arange(6) < 1))
