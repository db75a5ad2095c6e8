"""How often the test notices exchanged pronouns: its level without any, more power with more of them."""

import random

import numpy as np
import pytest
from experiments.coreference.tiny import CRITIC, RESOLVER, stories
from scipy.stats import binom

from textcritic.critics.mentions import MentionCritic
from textcritic.critics.mentions.job import chain_options
from textcritic.critics.mentions.power import power_of
from textcritic.critics.power import POWER_SCHEMA
from textcritic.errors import TextcriticError
from textcritic.inference import PowerOptions
from textcritic.inference.power import RESAMPLES
from textcritic.latents.resolvers.chains import chains_of
from textcritic.latents.resolvers.mention import batches_of

OPTIONS = chain_options(CRITIC, RESOLVER)
# p below 0.05 with 999 splits: at most 49 of 1000 ranks.
LEVEL = 49 / (RESAMPLES + 1)


@pytest.fixture(scope="module")
def critic():
    return MentionCritic.fit(chains_of(stories(random.Random(1), "train", 200), OPTIONS).chains)


def power(critic, texts, **options):
    return power_of(critic, batches_of(texts), OPTIONS, PowerOptions(**options))


def test_power_grows_with_the_share(critic):
    """Stories whose pronouns always agree: few wrong ones are noticed at times, many nearly always."""
    texts = stories(random.Random(2), "test", 60)
    table = power(critic, texts, shares=[0.03, 0.15, 0.4], articles=[10, 30, 31], repetitions=60)
    assert table.schema.names[: len(POWER_SCHEMA)] == POWER_SCHEMA.names
    rows = table.to_pylist()
    assert {row["articles"] for row in rows} == {10, 30}  # 31 on each side are more than there are
    for kind in ("regendered", "relinked"):
        for size in (10, 30):
            curve = [row for row in rows if (row["kind"], row["articles"]) == (kind, size)]
            assert [row["share"] for row in curve] == [0.0, 0.03, 0.15, 0.4]
            detected = [row["detected"] for row in curve]
            assert detected == sorted(detected)
            assert detected[2] > detected[0] + 0.5
            assert [row["latent_ppl"] for row in curve] == sorted(row["latent_ppl"] for row in curve)
            assert curve[0]["exchanged"] == 0
            assert all(row["low"] <= row["detected"] <= row["high"] for row in curve)


def test_stories_in_which_all_pronouns_are_exchanged_agree_again(critic):
    """He and she occur alike there, so the test has nothing to notice beyond its level."""
    texts = stories(random.Random(2), "test", 60)
    rows = power(critic, texts, shares=[0.4, 1.0], articles=[30], repetitions=60).to_pylist()
    detected = {row["share"]: row["detected"] for row in rows if row["kind"] == "regendered"}
    assert detected[0.4] > 0.9
    assert detected[1.0] < 0.2


def test_the_level_is_that_of_the_test(critic):
    """With nothing exchanged, p is below 0.05 as often as it should be; articles of many, so that draws differ."""
    texts = stories(random.Random(3), "test", 400)
    rows = power(critic, texts, shares=[0.5], articles=[25], repetitions=1000, seed=4).to_pylist()
    none = [round(row["detected"] * 1000) for row in rows if row["share"] == 0]
    assert len(none) == 2
    assert len(set(none)) == 1
    assert binom.ppf(0.0005, 1000, LEVEL) <= none[0] <= binom.ppf(0.9995, 1000, LEVEL)


def test_few_articles_are_drawn_from_of_many(critic):
    texts = stories(random.Random(5), "test", 100)
    rows = power(critic, texts, shares=[0.1], articles=[5], repetitions=20).to_pylist()
    assert {row["documents"] for row in rows} == {40}


@pytest.mark.parametrize("options", [{"shares": [], "articles": [5]}, {"shares": [0.1], "articles": [50]}])
def test_nothing_to_try(critic, options):
    assert power(critic, stories(random.Random(6), "test", 20), **options).num_rows == 0
    assert power(critic, [], **options).num_rows == 0


def test_no_repetitions(critic):
    with pytest.raises(TextcriticError, match="0 repetitions; give at least 1"):
        power(critic, [], shares=[0.1], articles=[5], repetitions=0)


def test_the_same_seed_gives_the_same(critic):
    texts = stories(random.Random(7), "test", 30)
    one, two, other = (
        power(critic, texts, shares=[0.2], articles=[10], repetitions=20, seed=seed) for seed in (1, 1, 2)
    )
    assert one.equals(two)
    assert not np.array_equal(one["latent_ppl"], other["latent_ppl"])
