"""How work is shared between jobs: whole, without gaps, of a length that a queue likes, and as it was begun."""

from types import SimpleNamespace

import pytest
from snake import ROOT

from textcritic.plan.project import Project
from textcritic.plan.shares import (
    LEAST_MINUTES,
    Shares,
    jobs_for,
    minutes_for,
    shards_of,
    share_of,
    stretches,
    weighing,
)

HOUR = 3600


@pytest.mark.parametrize(("total", "jobs"), [(10, 3), (3, 5), (500, 1), (0, 2)])
def test_shares_tile_the_whole(total, jobs):
    cut = [share_of(total, f"{n}-of-{jobs}") for n in range(jobs)]
    assert [i for first, count in cut for i in range(first, first + count)] == list(range(total))
    assert share_of(total, "0") == (0, total)
    assert max(count for _, count in cut) - min(count for _, count in cut) <= 1


@pytest.mark.parametrize("seconds", [0, 1, 599, 3200, 3201, 9000, 10 * HOUR, 1000 * HOUR])
def test_a_share_is_the_whole_or_takes_from_ten_minutes_to_two_hours(seconds):
    jobs = jobs_for(seconds)
    assert jobs == 1 or 600 <= seconds / jobs <= 2 * HOUR
    assert seconds / jobs <= 2 * HOUR


def test_a_job_asks_for_more_than_it_needs_and_for_more_again():
    assert minutes_for(1, 1) == LEAST_MINUTES
    assert minutes_for(HOUR, 1) == 4 * 60
    assert minutes_for(HOUR, 3) == 3 * minutes_for(HOUR, 1)


@pytest.mark.parametrize(("shards", "each"), [(1, 1), (10, 60), (100, 600), (7, 5401), (100, 2 * HOUR)])
def test_stretches_have_every_shard_once_and_in_order(shards, each):
    names = stretches(shards, each)
    assert [shard for name in names for shard in shards_of(name)] == list(range(shards))
    assert all(len(shards_of(name)) * each <= 1.5 * HOUR or len(shards_of(name)) == 1 for name in names)
    assert names[0] == {1: "0", 10: "0-9", 7: "0"}.get(shards, names[0])
    # More shards draw again what is in the last stretch at most.
    assert set(names[:-1]) < set(stretches(2 * shards, each))


@pytest.fixture(scope="module")
def registries():
    return Project({"studies": ["beyond-perplexity"]}, ROOT).registries


def wanted(generator, decoding, corpus="wiki-lines", shard="0"):
    return SimpleNamespace(corpus=corpus, generator=generator, decoding=decoding, shard=shard)


def test_more_work_has_more_shards_and_small_work_one(registries):
    shares = Shares(registries)
    random, beam = wanted("transformer-lines", "lines-random"), wanted("transformer-lines", "lines-beam")
    assert shares.seconds(beam) == 5 * shares.seconds(random)
    assert 1 < shares.number("none", random) < shares.number("none", beam)
    assert shares.files("p", wanted("ngram-3-lines", "lines-random")) == ["p/shard0.parquet"]
    assert shares.files("p", wanted("gpt2-demo", "demo", "docstrings")) == ["p/shard0.parquet"]
    number = shares.number("none", random)
    assert shares.files("p", random)[-1] == f"p/shard{number - 1}-of-{number}.parquet"
    # The time asked for is that of a shard, not of the sample.
    one = shares.minutes(wanted("transformer-lines", "lines-random", shard=f"0-of-{number}"), 1)
    assert abs(one - shares.minutes(random, 1) / number) <= 1
    # A step of 48 layers takes four times as long as one of 12.
    xl, small = (wanted(name, "ancestral", "wiki") for name in ("gpt2-xl", "gpt2-small"))
    assert shares.seconds(xl) == 4 * shares.seconds(small)


def test_what_was_drawn_with_other_numbers_stays(tmp_path, registries, monkeypatch):
    """Also where costs are declared anew, and beside shards of a number that was given up."""
    monkeypatch.setattr(registries, "here", tmp_path)
    (tmp_path / "p").mkdir()
    for name in ("shard0-of-7", "shard3-of-7", "shard1-of-50", "shard9-of-90.partial", "shard0"):
        (tmp_path / f"p/{name}.parquet").touch()
    (tmp_path / "p/shard1-of-90.parquet.tmp").touch()
    assert len(Shares(registries).files("p", wanted("transformer-lines", "lines-random"))) == 7


def test_weights_ask_for_the_time_of_their_draws(registries):
    each = weighing(100, "entitynlm")
    shares = Shares(registries)
    w = {"samples": "100", "shard": "0-8"}
    one = SimpleNamespace(generator="entitynlm", get=w.get)
    assert shares.weighing_minutes(one, 1) == minutes_for(9 * each, 1) < 24 * 60
    mixed = {"samples": "100", "temperatures": "0.5-1-2"}
    assert shares.weighing_minutes(SimpleNamespace(generator="entitynlm", get=mixed.get), 2) == minutes_for(3 * each, 2)
