import functools
import json
import math

import numpy as np
import pyarrow as pa
import pytest

from textcritic.critics import (
    PAPER_GRID,
    TransitionCritic,
    audit_transitions,
    count_transitions,
    latent_ppl,
    score_chains,
    score_latents,
    transitions,
)
from textcritic.errors import TextcriticError

RNG = np.random.default_rng(5)
TITLES = ["a", "b", "c"]


def random_chains(documents):
    return [[TITLES[k] for k in RNG.integers(0, 3, RNG.integers(1, 5))] for _ in range(documents)]


def latents(gold):
    posteriors = [RNG.dirichlet(np.ones(3), size=len(chain)).astype(np.float32) for chain in gold]
    table = pa.table(
        {
            "id": [str(i) for i in range(len(gold))],
            "gold": pa.array(gold, pa.list_(pa.string())),
            "inferred": [[TITLES[k] for k in q.argmax(axis=1)] for q in posteriors],
            "posterior": pa.array([q.tolist() for q in posteriors], pa.list_(pa.list_(pa.float32()))),
        }
    )
    return table.replace_schema_metadata({"titles": json.dumps(TITLES)})


TRAIN = random_chains(40)
DATA = latents(random_chains(30))
WITH_TITLES = latents([["a", "junk", "b"], ["c"], ["junk"], ["b", "b"]])
WITHOUT_TITLES = latents([[None] * 3, [None], [None, None]])
CRITIC = TransitionCritic.fit(TRAIN)


@functools.cache
def all_rows():
    return audit_transitions(CRITIC, TRAIN, DATA, {"with": WITH_TITLES, "without": WITHOUT_TITLES})


def row(source, switch, rows=None):
    (found,) = [r for r in (rows or all_rows()) if r["source"] == source and r["switch"] == switch]
    return found


def test_every_row_equals_the_score_of_that_critic():
    paper = TransitionCritic.fit(TRAIN)
    released = TransitionCritic.fit(TRAIN, mode="as_released")
    smoothing = TransitionCritic.fit(TRAIN, grid=[0, 1])
    expected = {
        ("data", "default"): latent_ppl(score_latents(paper, DATA, "gold")),
        ("data", "smoothing"): latent_ppl(score_latents(smoothing, DATA, "gold")),
        ("data", "titles"): latent_ppl(score_latents(paper, DATA, "inferred")),
        ("data", "posterior"): latent_ppl(score_latents(paper, DATA, "inferred"), "nll_soft"),
        ("data", "all as released"): latent_ppl(score_latents(released, DATA, "gold")),
        ("without", "default"): latent_ppl(score_latents(paper, WITHOUT_TITLES, "inferred")),
        ("without", "all as released"): latent_ppl(score_latents(released, WITHOUT_TITLES, "inferred")),
        ("with", "titles"): latent_ppl(score_latents(paper, WITH_TITLES, "gold")),
    }
    for (source, switch), value in expected.items():
        assert row(source, switch)["latent_ppl"] == pytest.approx(value, rel=1e-12), (source, switch)
        base = {"default": None, "posterior": "titles"}.get(switch, "default")
        assert row(source, switch)["compared_with"] == base
        if base is None:
            assert row(source, switch)["change_percent"] is None
        else:
            change = 100 * (value / row(source, base)["latent_ppl"] - 1)
            assert row(source, switch)["change_percent"] == pytest.approx(change, abs=1e-9)


def test_posterior_of_a_sample_is_compared_with_its_default():
    # Its default is inferred titles already: one thing changes.
    found = row("with", "posterior")
    assert found["compared_with"] == "default"
    change = 100 * (found["latent_ppl"] / row("with", "default")["latent_ppl"] - 1)
    assert found["change_percent"] == pytest.approx(change, abs=1e-9)


def test_default_is_the_fitted_critic_with_its_own_grid():
    critic = TransitionCritic.fit(TRAIN, grid=[0.5])
    rows = audit_transitions(critic, TRAIN, DATA, {})
    expected = latent_ppl(score_latents(critic, DATA, "gold"))
    assert row("data", "default", rows)["latent_ppl"] == pytest.approx(expected, rel=1e-12)
    skipping = row("data", "unknown titles", rows)["latent_ppl"]
    assert skipping == pytest.approx(row("data", "default", rows)["latent_ppl"], rel=1e-12)


def test_switches_of_a_released_critic_lead_to_the_papers_text():
    released = TransitionCritic.fit(TRAIN, mode="as_released")
    rows = audit_transitions(released, TRAIN, DATA, {"with": WITH_TITLES})
    default, text = row("data", "default", rows), row("data", "all as in the text", rows)
    assert default["setting"] == "as released"
    assert default["latent_ppl"] == row("data", "all as released")["latent_ppl"]
    assert text["latent_ppl"] == row("data", "default")["latent_ppl"]
    assert row("with", "titles", rows)["n"] == 3
    assert row("with", "generated titles, unknown titles", rows)["n"] == 2


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("paper", ["the paper's text", "delta from {0, 1}", "rows over V + 2 targets", "transition skipped"]),
        ("as_released", ["as released", "delta from {0.001, ", "rows over V + 1 targets", "document rejected"]),
    ],
)
def test_each_switch_says_what_it_is_set_to(mode, words):
    rows = audit_transitions(TransitionCritic.fit(TRAIN, mode=mode), TRAIN, DATA, {"s": WITH_TITLES})
    said = {(r["source"], r["switch"]): r["setting"] for r in rows}
    for switch, start in zip(("default", "smoothing", "normalisation", "unknown titles"), words, strict=True):
        assert said["data", switch] == said["s", switch]
        assert said["data", switch].startswith(start)
    assert (said["data", "titles"], said["s", "titles"]) == ("inferred", "generated")
    assert said["s", "generated titles, unknown titles"] == f"generated, {words[-1]}"
    assert said["data", "posterior"] == said["s", "posterior"] == "expectation"
    last = "all as released" if mode == "paper" else "all as in the text"
    assert said["data", last] == said["s", last] == "smoothing, normalisation, unknown titles"


def test_released_rows_are_those_of_one_target_more():
    counts = count_transitions(TRAIN, TITLES)
    pairs = transitions.folds(transitions.Chains.of(TRAIN), TITLES, counts)
    delta, _ = transitions.choose_delta(pairs, PAPER_GRID, 5)
    log_probs = transitions.smoothed_log_probs(counts, delta, 5)
    expected = transitions.pooled_ppl(count_transitions(DATA["gold"], TITLES), log_probs)
    assert row("data", "normalisation")["latent_ppl"] == pytest.approx(expected, rel=1e-12)
    assert expected != row("data", "default")["latent_ppl"]


def test_unknown_titles_reject_or_skip():
    rejecting, skipping = row("with", "titles"), row("with", "generated titles, unknown titles")
    assert (rejecting["n"], rejecting["rejected"]) == (2, 2)
    assert (skipping["n"], skipping["rejected"]) == (3, 1)


def test_sample_without_titles_has_no_row_for_them():
    assert {r["switch"] for r in all_rows() if r["source"] == "without"} == {
        "default",
        "smoothing",
        "normalisation",
        "unknown titles",
        "posterior",
        "all as released",
    }


def test_infinite_is_null():
    train = [["a", "b", "c"], ["a", "b", "c"]]
    rows = audit_transitions(TransitionCritic.fit(train), train, latents([["b", "a"]]), {})
    (smoothing,) = [r for r in rows if r["switch"] == "smoothing"]
    assert smoothing["latent_ppl"] is None
    assert smoothing["change_percent"] is None
    json.dumps(rows, allow_nan=False)
    unsmoothed = TransitionCritic.fit(train, grid=[0])
    assert latent_ppl(score_chains(unsmoothed, ["1"], [["b", "a"]])) == math.inf


def test_default_grid_has_no_zero():
    assert min(PAPER_GRID) > 0


def test_a_switch_under_which_nothing_can_be_scored_has_no_row():
    rows = audit_transitions(CRITIC, TRAIN, DATA, {"junk": latents([["junk", "junk"]])})
    switches = {r["switch"] for r in rows if r["source"] == "junk"}
    assert {"default", "posterior"} <= switches
    assert not switches & {"titles", "generated titles, unknown titles"}


def test_nothing_to_audit_is_named():
    with pytest.raises(TextcriticError, match="no document of 'junk' can be scored"):
        audit_transitions(CRITIC, TRAIN, DATA, {"junk": latents([[]])})
    with pytest.raises(TextcriticError, match="cannot be cross-validated"):
        audit_transitions(CRITIC, TRAIN[:1], DATA, {})
