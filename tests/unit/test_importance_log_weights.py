"""Log weights as an artefact: what is refused, shards, files."""

import numpy as np
import pytest

from textcritic.errors import TextcriticError
from textcritic.inference.importance import (
    LogWeights,
    RunningEstimates,
    advice,
    beam_perplexity,
    corpus_log_likelihood,
    curves,
    effective_sample_sizes,
    for_truth,
    group_perplexities,
    instance_perplexity,
    jackknife_log_likelihoods,
    log_likelihoods,
    mixture_weights,
    over_draws,
    over_instances,
    pareto_k,
    pareto_smoothed_log_likelihoods,
)

GOOD = np.array([[-1.0, -2.0, -3.0], [-4.0, -np.inf, -6.0]])


def weights_of(rows=GOOD, tokens=(3, 4), ids=("a", "b")):
    return LogWeights(ids, rows, tokens)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"rows": [[1.0, np.nan], [1.0, 2.0]]}, "log weights: NaN at row 0 (text 'a'), draw 1"),
        ({"rows": [[1.0, 2.0], [np.inf, 2.0]]}, "log weights: +inf at row 1 (text 'b'), draw 0"),
        ({"rows": [1.0, 2.0]}, "log weights: shape (2,); give [texts, draws]"),
        ({"rows": np.zeros((2, 0))}, "log weights: shape (2, 0); give [texts, draws], with at least one of each"),
        ({"rows": [["x", "y"]]}, "log weights: not real numbers, but texts; give an array of N rows and K"),
        ({"rows": [[-1.0, True], [-1.0, -2.0]]}, "log weights: not real numbers, but truth values"),
        ({"rows": np.ones((2, 2), complex)}, "log weights: not real numbers, but complex numbers"),
        ({"rows": np.ma.masked_less(GOOD, -3)}, "log weights: not real numbers, but masked values"),
        ({"rows": np.array([[-np.inf, -5.0]] * 2, np.float16)}, "log weights: infinite as float16"),
        ({"rows": np.full((2, 2), -1e308)}, "log weights: one is beyond 1e+12 nats"),
        ({"ids": ("a",)}, "log weights: 2 rows, but 1 ids"),
        ({"ids": ("a", "a")}, "log weights: the id 'a' is given twice"),
        ({"tokens": (3, 0)}, "tokens: 0 of text 1; tokens are numbers above 0"),
        ({"tokens": (np.nan, 1)}, "tokens: nan of text 0"),
        ({"tokens": 1e300}, "tokens: 1e+300 of text 0; tokens are numbers above 0 and below 1e+15"),
        ({"tokens": (3.5, 1)}, "tokens: 3.5 is not a whole number"),
        ({"tokens": (3, True)}, "tokens: not real numbers, but truth values"),
        ({"tokens": (1, 2, 3)}, "tokens: shape (3,); give one number for each of 2 texts, or their total"),
        ({"tokens": ("x", "y")}, "tokens: not real numbers, but texts; give one for each text, or their total"),
    ],
)
def test_what_is_refused(given, line):
    with pytest.raises(TextcriticError) as error:
        weights_of(**given)
    assert str(error.value).startswith(line)
    assert "\n" not in str(error.value)


def test_both_probabilities_of_a_draw():
    log_p, log_q = GOOD - 1, np.full((2, 3), -1.0)
    weights = LogWeights.of(log_p, log_q, [3, 4])
    np.testing.assert_array_equal(weights.log_weights, GOOD)
    assert (weights.ids, weights.draws, weights.total_tokens) == (("0", "1"), 3, 7.0)
    log_q[1, 2] = -np.inf
    for faulty, line in (
        (lambda: LogWeights.of(log_p, log_q, [3, 4]), "log_q: -inf at row 1 (text '1'), draw 2"),
        (lambda: LogWeights.of(log_p, log_q[:, :2], [3, 4]), "log weights: log_p has shape (2, 3) and log_q (2, 2)"),
        (lambda: LogWeights(("a", "b"), GOOD, np.ones(2), log_p), "log weights: give log_p and log_q, or neither"),
        (
            lambda: LogWeights(("a", "b"), GOOD, np.ones(2), log_p, np.zeros((2, 3))),
            "log weights: they are not log_p - log_q",
        ),
        (
            lambda: LogWeights(("a", "b"), GOOD, np.ones(2), log_p[:, :1], log_p[:, :1]),
            "log weights: shape (2, 3), but",
        ),
    ):
        with pytest.raises(TextcriticError) as error:
            faulty()
        assert str(error.value).startswith(line)


@pytest.mark.parametrize(
    "estimate",
    [
        *(log_likelihoods, corpus_log_likelihood, instance_perplexity, curves, effective_sample_sizes, pareto_k),
        *(over_draws, over_instances, for_truth, advice, jackknife_log_likelihoods, pareto_smoothed_log_likelihoods),
        lambda weights: group_perplexities(weights, 1),
    ],
)
def test_a_text_without_any_probability_is_named(estimate):
    dead = weights_of([[-1.0, -2.0], [-np.inf, -np.inf]])
    with pytest.raises(TextcriticError, match=r"row 1 \(text 'b'\) is all -inf: none of its 2 draws has a probability"):
        estimate(dead)


def test_shards_of_which_one_is_dead_are_joined():
    """In one shard all draws of a text may have no probability; only together that is an error."""
    dead, alive = weights_of([[-1.0], [-np.inf]]), weights_of([[-1.0], [-2.0]])
    assert log_likelihoods(dead.joined([alive]))[1] == pytest.approx(-2 - np.log(2))
    running = RunningEstimates()
    running.add(dead)
    with pytest.raises(TextcriticError, match="is all -inf"):
        running.log_likelihoods()
    running.add(alive)
    assert running.log_likelihoods()[1] == pytest.approx(-2 - np.log(2))


@pytest.mark.parametrize(
    ("other", "line"),
    [
        ({"ids": ("a", "c")}, "shard 3: text 1 is 'c', not 'b' as in the first shard"),
        ({"ids": ("b", "a")}, "shard 3: text 0 is 'b', not 'a'"),
        ({"rows": GOOD[:1], "ids": ("a",), "tokens": (3,)}, "shard 3: 1 texts, not 2"),
        ({"tokens": (3, 5)}, "shard 3: other numbers of tokens than in the first shard"),
    ],
)
def test_shards_of_other_texts_are_not_joined(other, line):
    first = weights_of()
    with pytest.raises(TextcriticError) as error:
        first.joined([first, weights_of(**other)])
    assert str(error.value).startswith(line)
    running = RunningEstimates()
    running.add(first)
    with pytest.raises(TextcriticError):
        running.add(weights_of(**other))


def test_probabilities_are_kept_if_all_shards_have_them():
    with_both = LogWeights.of(GOOD, np.zeros((2, 3)), [3, 4], ["a", "b"])
    joined = with_both.joined([with_both])
    np.testing.assert_array_equal(joined.log_p, np.hstack([GOOD, GOOD]))
    np.testing.assert_array_equal(joined.log_q, np.zeros((2, 6)))
    assert with_both.joined([weights_of()]).log_p is None


@pytest.mark.parametrize("both", [False, True])
def test_a_file_holds_all_digits(tmp_path, both):
    tokens = np.array([3.0, 4.0]) if both else np.array(7.0)
    rows = np.random.default_rng(1).standard_normal((2, 5))
    weights = LogWeights(("é", "b b"), rows, tokens, *((rows - 1, np.full((2, 5), -1.0)) if both else ()))
    weights.save(tmp_path / "w.npz")
    found = LogWeights.read(tmp_path / "w.npz")
    assert found.ids == weights.ids
    for name in ("log_weights", "tokens", *(("log_p", "log_q") if both else ())):
        np.testing.assert_array_equal(getattr(found, name), getattr(weights, name))
    assert (found.log_p is None) is not both


def test_files_that_are_none(tmp_path):
    with pytest.raises(TextcriticError, match=r"none\.npz: no such file"):
        LogWeights.read(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("x")
    np.save(tmp_path / "array.npz.npy", GOOD)
    (tmp_path / "array.npz.npy").rename(tmp_path / "array.npz")
    np.savez(tmp_path / "other.npz", weights=GOOD)
    for name in ("text", "array", "other"):
        with pytest.raises(TextcriticError, match=f"{name}.npz: not an .npz file of log weights"):
            LogWeights.read(tmp_path / f"{name}.npz")
    np.savez(tmp_path / "nan.npz", ids=["a"], log_weights=[[np.nan]], tokens=[1.0])
    with pytest.raises(TextcriticError, match=r"nan\.npz: log weights: NaN at row 0"):
        LogWeights.read(tmp_path / "nan.npz")


def test_a_beam_with_a_state_twice_is_refused():
    beam = np.array([[-1.0, -2.0], [-1.0, -np.inf]])
    assert beam_perplexity(beam, [1, 1], [["x", "y"], ["x", "x"]]) > 0, "what fills up is no state"
    with pytest.raises(TextcriticError, match="beam: text 0 has a state twice"):
        beam_perplexity(beam, [1, 1], [["x", "x"], ["x", "y"]])
    with pytest.raises(TextcriticError, match=r"row 1 .* is all -inf"):
        beam_perplexity([[-1.0], [-np.inf]], [1, 1])
    with pytest.raises(TextcriticError, match=r"shape \(2,\); give \[texts, draws\]"):
        beam_perplexity([-1.0, -2.0], [1, 1])


def test_numbers_out_of_range_are_one_line():
    weights = weights_of()
    for wrong, words in (
        (lambda: instance_perplexity(weights, as_released=0), "as_released: 0 samples"),
        (lambda: curves(weights, [0, 2]), "give numbers from 1 to 3"),
        (lambda: curves(weights, [4]), "give numbers from 1 to 3"),
        (lambda: curves(weights, repeats=0), "0 repeats; give at least 1"),
        (lambda: group_perplexities(weights, 4), "groups: of 4 draws; give a number from 1 to 3"),
        (lambda: for_truth(weights, 1.0), "intervals: level 1.0"),
        (lambda: over_draws(weights, 0.0), "intervals: level 0.0"),
        (lambda: mixture_weights(GOOD, np.zeros((2, 3, 2)), [1, 1], 1.0, ("a", "b")), "mixture: log_p of shape (2, 3)"),
        (lambda: RunningEstimates().instance_perplexity(), "no shard was added"),
    ):
        with pytest.raises(TextcriticError) as error:
            wrong()
        assert words in str(error.value)
        assert "\n" not in str(error.value)


def test_shards_whose_texts_have_other_tokens_are_refused_though_the_total_is_the_same():
    rows = np.zeros((2, 3))
    first, second = (LogWeights(("a", "b"), rows, np.array(tokens)) for tokens in ([2.0, 3.0], [3.0, 2.0]))
    with pytest.raises(TextcriticError, match="shard 2: other numbers of tokens than in the first shard"):
        first.joined([second])
