import itertools
import json
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcritic.critics import (
    SCORES_SCHEMA,
    TransitionCritic,
    document_columns,
    expected_transitions,
    is_unlikely,
    latent_nll,
    latent_ppl,
    rejections,
    score_chains,
    score_latents,
    score_posteriors,
    scored_transitions,
    transition_errors,
)
from textcritic.critics import scoring as scoring_module
from textcritic.critics.ctm.scoring import TOPIC_SCORES_SCHEMA
from textcritic.errors import TextcriticError
from textcritic.files import read_table, write_table

TRAIN = [["a", "b", "c"], ["a", "c"], ["b", "c"], ["a", "b", "b", "c"]]
CRITIC = TransitionCritic.fit(TRAIN, grid=[0.3])
RELEASED = TransitionCritic.fit(TRAIN, grid=[0.3], mode="as_released")


def test_every_kind_of_critic_writes_the_common_columns():
    common = {"id": pa.string(), "nll": pa.float64(), "rejected": pa.bool_(), "why": pa.string()}
    for schema in (SCORES_SCHEMA, TOPIC_SCORES_SCHEMA):
        assert {name: schema.field(name).type for name in common} == common


def loop_score(critic, chain):
    """The score of one chain, a step at a time; None if rejected."""
    if not chain:
        return None
    names = [*critic.titles, "<end>"]
    path = ["<begin>", *chain, "<end>"]
    steps = []
    for source, target in itertools.pairwise(path):
        if source not in critic.sources or target not in names:
            if critic.mode == "paper":
                return None
            continue
        steps.append(-critic.log_probs[critic.sources.index(source), names.index(target)])
    return steps or None


@given(st.lists(st.lists(st.sampled_from(["a", "b", "c", "z", None]), max_size=5), min_size=1, max_size=12))
def test_scores_equal_a_plain_loop(chains):
    for critic in (CRITIC, RELEASED):
        scores = score_chains(critic, [str(i) for i in range(len(chains))], chains)
        assert scores.schema == SCORES_SCHEMA
        for row, chain in zip(scores.to_pylist(), chains, strict=True):
            expected = loop_score(critic, chain)
            assert row["chain"] == chain
            assert row["rejected"] is (expected is None)
            assert (row["why"] is None) is (expected is not None)
            assert row["nll_soft"] is None
            if expected is None:
                assert math.isnan(row["nll"])
                assert (row["steps"], row["step_nll"]) == (0, [])
            else:
                assert row["step_nll"] == pytest.approx(expected, abs=1e-15)
                assert row["nll"] == pytest.approx(sum(expected), abs=1e-12)
                assert row["steps"] == len(expected)


def test_reasons_are_named_and_counted():
    chains = [["a"], [], ["z", "y"], ["y"], ["a", None], ["z"]]
    scores = score_chains(CRITIC, list("123456"), chains, rejected=[("7", "empty section"), ("8", "empty section")])
    assert scores["why"].to_pylist() == [
        None,
        "empty chain",
        "unknown title: z",
        "unknown title: y",
        "section without title",
        "unknown title: z",
        "empty section",
        "empty section",
    ]
    assert rejections(scores) == {
        "empty section": 2,
        "unknown title: z": 2,
        "empty chain": 1,
        "section without title": 1,
        "unknown title: y": 1,
    }
    assert list(rejections(scores))[:2] == ["empty section", "unknown title: z"]
    assert scores["id"].to_pylist() == list("12345678")


def test_released_skips_the_transitions_next_to_an_unknown_title():
    scores = score_chains(RELEASED, ["1", "2"], [["a", "z", "c"], ["z"]])
    first, second = scores.to_pylist()
    probs = np.exp(RELEASED.log_probs)
    assert first["nll"] == pytest.approx(-np.log(probs[0, 0]) - np.log(probs[3, 3]), abs=1e-12)
    assert first["steps"] == 2
    assert second["why"] == "unknown title: z"


def test_pooled_summaries_by_hand():
    scores = score_chains(CRITIC, ["1", "2", "3"], [["a", "b", "c"], ["c"], []])
    one, two = loop_score(CRITIC, ["a", "b", "c"]), loop_score(CRITIC, ["c"])
    assert latent_ppl(scores) == pytest.approx(math.exp((sum(one) + sum(two)) / 6), rel=1e-14)
    assert latent_nll(scores) == pytest.approx((sum(one) + sum(two)) / 2, rel=1e-14)
    assert document_columns(scores).tolist() == [[pytest.approx(sum(one)), 4], [pytest.approx(sum(two)), 2]]


def test_nothing_left_names_the_reasons():
    scores = score_chains(CRITIC, ["1", "2"], [["z"], []], rejected=[("3", "empty")])
    for summary in (latent_ppl, latent_nll, document_columns):
        with pytest.raises(TextcriticError, match=r"\(empty: 1; empty chain: 1; unknown title: z: 1\)"):
            summary(scores)
    with pytest.raises(TextcriticError, match="no document is left"):
        latent_ppl(score_chains(CRITIC, [], []))
    many = score_chains(CRITIC, [str(i) for i in range(9)], [[f"z{i}"] for i in range(9)])
    with pytest.raises(TextcriticError, match="and 4 more reasons"):
        latent_ppl(many)


def random_posteriors(rng, lengths, titles=3):
    return [rng.dirichlet(np.full(titles, 0.7), size=k) for k in lengths]


def test_soft_score_equals_the_sum_over_all_chains(monkeypatch):
    monkeypatch.setattr(scoring_module, "BLOCK_SECTIONS", 4)  # several blocks, and documents longer than one
    posteriors = random_posteriors(np.random.default_rng(0), [1, 3, 0, 2, 6, 1])
    scores = score_posteriors(CRITIC, list("123456"), posteriors)
    counts = np.zeros((4, 4))
    for row, q in zip(scores.to_pylist(), posteriors, strict=True):
        if not len(q):
            assert row["why"] == "empty chain"
            assert row["nll_soft"] is None
            continue
        total = 0.0
        for chain in itertools.product(range(3), repeat=len(q)):
            weight = np.prod([q[m, k] for m, k in enumerate(chain)])
            total += weight * sum(loop_score(CRITIC, [CRITIC.titles[k] for k in chain]))
            for source, target in itertools.pairwise([0, *(k + 1 for k in chain), 4]):
                counts[source, target - 1] += weight
        assert row["nll_soft"] == pytest.approx(total, rel=1e-12)
        assert row["chain"] == [CRITIC.titles[k] for k in q.argmax(axis=1)]
    assert expected_transitions(posteriors, CRITIC) == pytest.approx(counts, abs=1e-12)
    assert latent_ppl(scores, "nll_soft") == pytest.approx(
        math.exp((counts * -CRITIC.log_probs).sum() / counts.sum()), rel=1e-12
    )


def test_certain_posterior_scores_as_its_chain():
    chain = ["b", "c", "a"]
    q = np.eye(3)[[CRITIC.titles.index(title) for title in chain]]
    row = score_posteriors(CRITIC, ["1"], [q]).to_pylist()[0]
    assert row["nll_soft"] == pytest.approx(row["nll"], abs=1e-12)
    assert row["nll"] == pytest.approx(sum(loop_score(CRITIC, chain)), abs=1e-12)


def test_soft_score_is_infinite_only_with_mass_on_an_impossible_transition():
    critic = TransitionCritic.fit([["a", "b"]], grid=[0])
    possible = np.array([[1.0, 0.0], [0.0, 1.0]])
    doubtful = np.array([[1.0, 0.0], [0.2, 0.8]])
    scores = score_posteriors(critic, ["1", "2"], [possible, doubtful])
    assert scores["nll_soft"].to_pylist() == [0.0, math.inf]
    assert scores["nll"].to_pylist() == [0.0, 0.0]


def test_the_least_mass_on_an_impossible_transition_is_infinite_and_only_there(monkeypatch):
    monkeypatch.setattr(scoring_module, "BLOCK_SECTIONS", 2)  # a block of one document
    critic = TransitionCritic.fit([["a", "b"]], grid=[0])
    sure, hardly = np.eye(2), np.array([[1.0, 0.0], [1e-9, 1 - 1e-9]])
    scores = score_posteriors(critic, list("12345"), [sure, hardly, sure, np.empty((0, 2)), hardly])
    assert scores["nll_soft"].to_pylist() == [0.0, math.inf, 0.0, None, math.inf]
    assert scores["nll"].to_pylist()[:3] == [0.0] * 3


def test_transitions_of_scored_documents_leave_out_those_next_to_an_unknown_title():
    chains = [["a", "z", "c"], ["z"], ["b"], [None, "a"]]
    released = score_chains(RELEASED, list("1234"), chains)
    counts = scored_transitions(released, RELEASED)
    assert {
        (RELEASED.sources[i], RELEASED.targets[j]): counts[i, j] for i, j in zip(*counts.nonzero(), strict=True)
    } == {
        ("<begin>", "a"): 1,
        ("c", "<end>"): 1,
        ("<begin>", "b"): 1,
        ("b", "<end>"): 1,
        ("a", "<end>"): 1,
    }
    # As many as the scores say, so that the decomposition is of the same steps as the Latent PPL.
    assert counts.sum() == sum(released["steps"].to_pylist()) == 5
    paper = scored_transitions(score_chains(CRITIC, list("1234"), chains), CRITIC)
    assert paper.sum() == paper[0, 1] + paper[2, 3] == 2


def test_columns_in_another_order():
    q = random_posteriors(np.random.default_rng(1), [3, 2])
    order = [2, 0, 1]
    straight = score_posteriors(CRITIC, ["1", "2"], q)
    columns, titles = [p[:, order] for p in q], [CRITIC.titles[k] for k in order]
    turned = score_posteriors(CRITIC, ["1", "2"], columns, titles)
    assert turned["nll_soft"].to_numpy() == pytest.approx(straight["nll_soft"].to_numpy(), rel=1e-12)
    assert turned["chain"].to_pylist() == straight["chain"].to_pylist()
    assert expected_transitions(columns, CRITIC, titles) == pytest.approx(expected_transitions(q, CRITIC), rel=1e-12)


def latents(posteriors, titles, gold):
    table = pa.table(
        {
            "id": [str(i) for i in range(len(posteriors))],
            "gold": pa.array(gold, pa.list_(pa.string())),
            "posterior": pa.array([p.tolist() for p in posteriors], pa.list_(pa.list_(pa.float32()))),
        }
    )
    return table.replace_schema_metadata({"titles": json.dumps(titles)})


def same(first, second):
    """Equal to the last bit, NaN included."""
    return repr(first.to_pylist()) == repr(second.to_pylist())


def test_latents_read_back_from_a_file(tmp_path):
    q = [p.astype(np.float32) for p in random_posteriors(np.random.default_rng(2), [3, 0, 2])]
    gold = [["a", "b", "c"], [], ["a", None]]
    write_table(tmp_path / "latents.parquet", latents(q, CRITIC.titles, gold))
    table = read_table(tmp_path / "latents.parquet")
    scores = score_latents(CRITIC, table, "inferred", rejected=[("x", "empty")])
    assert same(scores.slice(0, 3), score_posteriors(CRITIC, ["0", "1", "2"], q))
    assert same(score_latents(CRITIC, table.slice(1), "inferred"), score_posteriors(CRITIC, ["1", "2"], q[1:]))
    assert same(score_latents(CRITIC, table, "gold"), score_chains(CRITIC, ["0", "1", "2"], gold))
    write_table(tmp_path / "scores.parquet", scores)
    assert read_table(tmp_path / "scores.parquet").schema.equals(SCORES_SCHEMA)


@pytest.mark.parametrize(
    ("posteriors", "titles", "message"),
    [
        ([np.array([[0.5, 0.5]])], None, "has 2 probabilities and the critic 3 titles"),
        ([np.array([0.5, 0.5])], None, "the critic 3 titles"),
        ([np.full((1, 3), 1 / 3), np.array([[0.5, 0.2, 0.2]])], None, "document 2 has a section .* sum to 0.9"),
        ([np.array([[1.5, -0.5, 0.0]])], None, "negative"),
        ([np.array([[math.nan, 0.5, 0.5]])], None, "sum to nan"),
        ([np.full((1, 3), 1 / 3)], ["a", "b", "d"], "differ in titles .'c' is one"),
        (pa.array([[[0.5, 0.5]]]), None, "has 2 probabilities"),
    ],
)
def test_bad_posteriors(posteriors, titles, message):
    with pytest.raises(TextcriticError, match=message):
        score_posteriors(CRITIC, [str(i) for i in range(len(posteriors))], posteriors, titles)


def test_bad_arguments():
    with pytest.raises(TextcriticError, match="2 ids for 1 chains"):
        score_chains(CRITIC, ["1", "2"], [["a"]])
    with pytest.raises(TextcriticError, match="nll_soft is null"):
        latent_ppl(score_chains(CRITIC, ["1"], [["a"]]), "nll_soft")
    with pytest.raises(TextcriticError, match='no "titles" in the schema metadata'):
        score_latents(CRITIC, latents([], ["a"], []).replace_schema_metadata(None), "inferred")


@pytest.mark.parametrize("total", [100, 300, 700, 1100, 12_300])
def test_a_step_as_probable_as_the_threshold_is_no_error(total):
    """1 in 100 is 0.01, whatever the logarithms of 1, 100 and 0.01 round to."""
    counts = np.array([[total // 100, total - total // 100, 0], [0, 0, 1], [0, 0, 1]])
    at, below = TransitionCritic(("a", "b"), counts, 0.0), TransitionCritic(("a", "b"), counts + [[0, 1, 0]] * 3, 0.0)
    for critic, errors in ((at, 0), (below, 1)):
        scores = score_chains(critic, ["1"], [["a"]])
        assert [row["from"] for row in transition_errors(scores, critic).transitions] == ["<begin>"] * errors
    found = is_unlikely(np.exp(at.log_probs[0, :2]), 0.01)
    assert found.tolist() == [False, False]
    assert is_unlikely(0.00999, 0.01)
    assert is_unlikely(0.0, 0.01)


def test_errors_are_in_order_of_their_counts_then_of_the_critics_titles():
    chains = [["b", "a"]] * 2 + [["c", "a"], ["c", "b"], ["b", "b"], ["b", "b"]]
    scores = score_chains(CRITIC, list("123456"), chains)
    found = transition_errors(scores, CRITIC, threshold=0.2)
    names = [*CRITIC.titles, "<end>"]
    order = [(-row["count"], CRITIC.sources.index(row["from"]), names.index(row["to"])) for row in found.transitions]
    assert len(order) > 4
    assert order == sorted(order)
    assert found.threshold == 0.2
    for row in found.transitions:
        counts = CRITIC.counts[CRITIC.sources.index(row["from"])]
        p = (counts[names.index(row["to"])] + 0.3) / (counts.sum() + 0.3 * 4)
        assert row["probability"] == pytest.approx(p, rel=1e-12)
        assert p < 0.2


def test_errors_are_the_improbable_transitions():
    chains = [["a", "a"], ["a", "b", "c"], ["b", "b", "b"], ["z", "a"]]
    scores = score_chains(CRITIC, list("1234"), chains)
    counts = scored_transitions(scores, CRITIC)
    assert counts.sum() == 3 + 4 + 4
    found = transition_errors(scores, CRITIC, threshold=0.1)
    expected = {}
    for chain in chains[:3]:
        for source, target in itertools.pairwise(["<begin>", *chain, "<end>"]):
            p = math.exp(CRITIC.log_probs[CRITIC.sources.index(source), CRITIC.targets.index(target)])
            if p < 0.1:
                expected[source, target] = expected.get((source, target), 0) + 1
    assert {(row["from"], row["to"]): row["count"] for row in found.transitions} == expected
    assert expected == {("a", "a"): 1, ("a", "<end>"): 1, ("b", "<end>"): 1}
    assert found.total == pytest.approx(100 * 3 / 11)
    assert [row["frequency"] for row in found.transitions] == pytest.approx([100 / 11] * 3)
    assert found.repetitions == pytest.approx(100 / 3)
    assert found.steps == 11
    assert transition_errors(scores, CRITIC, threshold=1e-9).repetitions is None
    with pytest.raises(TextcriticError, match="no document is left"):
        transition_errors(score_chains(CRITIC, ["1"], [[]]), CRITIC)
