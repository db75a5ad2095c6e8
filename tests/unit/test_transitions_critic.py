import json
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcritic.critics import TransitionCritic, count_transitions, latent_ppl, score_chains, unseen_transitions
from textcritic.critics import transitions as module
from textcritic.errors import TextcriticError

MODES = ("paper", "as_released")
TRAIN = [["a", "b"], ["a", "a", "b"], ["b"]]
CHAINS = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=6), min_size=1, max_size=20)


def fitted(delta=1.0, mode="paper", train=TRAIN):
    return TransitionCritic.fit(train, grid=[delta], mode=mode)


def test_counts_by_hand():
    #             to a  b  end
    expected = [[2, 1, 0], [1, 2, 0], [0, 0, 3]]
    assert count_transitions(TRAIN, ["a", "b"]).tolist() == expected
    assert count_transitions(pa.array(TRAIN), ["a", "b"]).tolist() == expected
    assert count_transitions(pa.chunked_array([TRAIN[:1], TRAIN[1:]]), ["a", "b"]).tolist() == expected


def test_counts_of_a_sliced_column_are_those_of_the_slice():
    assert (count_transitions(pa.array(TRAIN)[1:], ["a", "b"]) == count_transitions(TRAIN[1:], ["a", "b"])).all()


def test_empty_chain_has_no_transition():
    assert count_transitions([[], ["a"], []], ["a"]).tolist() == [[1, 0], [0, 1]]


def test_probabilities_by_hand():
    probs = np.exp(fitted(1.0).log_probs)
    assert probs == pytest.approx(np.array([[3, 2, 1], [2, 3, 1], [1, 1, 4]]) / 6, abs=1e-15)
    half = np.exp(fitted(0.5).log_probs)
    assert half == pytest.approx(np.array([[2.5, 1.5, 0.5], [1.5, 2.5, 0.5], [0.5, 0.5, 3.5]]) / 4.5, abs=1e-15)


def test_released_rows_are_normalised_over_the_begin_state_too():
    probs = np.exp(fitted(1.0, "as_released").log_probs)
    assert probs == pytest.approx(np.array([[3, 2, 1], [2, 3, 1], [1, 1, 4]]) / 7, abs=1e-15)
    assert np.exp(fitted(0.0, "as_released").log_probs) == pytest.approx(np.exp(fitted(0.0).log_probs), abs=1e-15)


@given(CHAINS, st.sampled_from([0.0, 0.001, 0.5, 3.0]))
def test_rows_sum_to_one(chains, delta):
    assert np.exp(fitted(delta, train=chains).log_probs).sum(axis=1) == pytest.approx(1, abs=1e-12)


def test_a_state_that_is_never_left_goes_anywhere_alike():
    log_probs = module.smoothed_log_probs(np.array([[0, 0], [3, 1]]), 0.1, 2)
    assert np.exp(log_probs) == pytest.approx(np.array([[0.5, 0.5], [3.1 / 4.2, 1.1 / 4.2]]), rel=1e-12)


def test_all_chains_up_to_a_length_have_the_mass_of_ending_by_then():
    critic = fitted(0.5)
    probs = np.exp(critic.log_probs)
    chains = [[]]
    scored = []
    for _ in range(6):
        chains = [[*chain, title] for chain in chains for title in critic.titles]
        scored += chains
    nll = score_chains(critic, [str(i) for i in range(len(scored))], scored)["nll"].to_numpy()
    # Independently: push the begin distribution through the transition matrix and add up what reaches the end.
    state, mass = probs[0, :2], 0.0
    for _ in range(6):
        mass += state @ probs[1:, 2]
        state = state @ probs[1:, :2]
    assert np.exp(-nll).sum() == pytest.approx(mass, abs=1e-12)
    assert mass + state.sum() + probs[0, 2] == pytest.approx(1, abs=1e-12)


def test_ties_go_to_the_larger_delta():
    # Equal counts in a row stay equal shares whatever is added: every delta gives 1/2.
    counts = np.array([[3, 3], [3, 3]])
    delta, tried = module.choose_delta([(counts, counts)], [0.1, 10.0, 1.0], 2)
    assert [ppl for _, ppl in tried] == pytest.approx([2, 2, 2])
    assert delta == 10.0


def test_infinite_grid_point_is_null_and_not_chosen():
    critic = TransitionCritic.fit([["a"], ["b"]], grid=[0, 1])
    assert critic.grid[0] == (0.0, None)
    assert critic.delta == 1.0


def test_released_default_grid_takes_zero_if_it_can():
    critic = TransitionCritic.fit([["a", "b"], ["a"]] * 3, mode="as_released")
    assert [delta for delta, _ in critic.grid] == [0.0, 1.0]
    assert critic.delta == 0.0
    scores = score_chains(critic, ["x"], [["b", "a"]])
    assert latent_ppl(scores) == math.inf
    assert unseen_transitions(scores, critic) == [
        {"from": "<begin>", "to": "b", "count": 1},
        {"from": "b", "to": "a", "count": 1},
    ]


def test_cross_validation_by_hand():
    # Two documents, two folds: each is held out once, the other one is counted; V + 1 = 3 targets.
    critic = TransitionCritic.fit([["a"], ["b"]], grid=[1.0, 2.0])
    for delta, ppl in critic.grid:
        unseen_begin, unseen_end = delta / (1 + 3 * delta), 1 / 3
        assert ppl == pytest.approx((unseen_begin * unseen_end) ** -0.5, rel=1e-12)
    assert critic.delta == 2.0


def folds_of(seed, documents=57):
    """Which fold each document is in: documents are told apart by their titles."""
    chains = [[f"t{i:02}"] for i in range(documents)]
    titles = [chain[0] for chain in chains]
    counts = count_transitions(chains, titles)
    held_out = [part[0, :-1] for _, part in module.folds(module.Chains.of(chains), titles, counts, seed)]
    assert (sum(held_out) == 1).all()  # each in one fold
    return np.argmax(held_out, axis=0)


def test_folds_are_random_and_of_equal_size():
    folds = folds_of(1)
    sizes = np.bincount(folds)
    assert len(sizes) == 10
    assert sizes.max() - sizes.min() == 1
    assert (folds == folds_of(1)).all()
    assert (folds != folds_of(2)).any()
    # In the order of the documents, or dealt round: one pattern throughout. At random neighbours have all distances.
    assert len(set(np.diff(folds) % 10)) > 5
    assert len(np.bincount(folds_of(1, documents=4))) == 4


def test_the_seed_of_the_folds_is_that_of_the_fit():
    rng = np.random.default_rng(0)
    chains = [[*rng.choice(list("abc"), rng.integers(1, 5))] for _ in range(23)]
    first, again, other = (TransitionCritic.fit(chains, seed=seed).grid for seed in (1, 1, 2))
    assert first == again == TransitionCritic.fit(chains).grid
    assert first != other


def test_each_fold_is_scored_by_the_counts_of_the_others():
    chains = [["a", "b"], [], ["a"], ["b", "b"]]
    everything = count_transitions(chains, ["a", "b"])
    pairs = list(module.folds(module.Chains.of(chains), ("a", "b"), everything, 5))
    assert len(pairs) == 3  # an empty document is in no fold
    assert {part.sum() for _, part in pairs} == {2, 3}
    for others, part in pairs:
        assert (others + part == everything).all()


def test_save_and_load(tmp_path):
    critic = TransitionCritic.fit(TRAIN, grid=[0, 0.1, 1])
    critic.save(tmp_path / "critic.json")
    loaded = TransitionCritic.load(tmp_path / "critic.json")
    assert (loaded.titles, loaded.delta, loaded.mode, loaded.grid) == (
        critic.titles,
        critic.delta,
        "paper",
        critic.grid,
    )
    assert (loaded.counts == critic.counts).all()
    assert (loaded.log_probs == critic.log_probs).all()
    value = json.loads((tmp_path / "critic.json").read_text())
    assert value["kind"] == "transitions"
    assert value["grid"][0] == {"delta": 0.0, "held_out_latent_ppl": None}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "lda"}, 'its "kind" is not "transitions"'),
        ({"counts": [[1, 2], [3, 4]]}, "its counts are not 3 x 3 whole numbers"),
        ({"counts": [[1, 2, 3], [3, 4], [1]]}, "not a critic of transitions"),
        ({"counts": [[1, 2, -3], [3, 4, 0], [1, 0, 0]]}, "from 0 upwards"),
        ({"counts": [[1, 2, 0.5], [3, 4, 0], [1, 0, 0]]}, "whole numbers"),
        ({"titles": ["a", "a"]}, "its titles are not distinct strings"),
        ({"titles": None}, "not a critic of transitions"),
        ({"delta": -1}, "delta is -1"),
        ({"mode": "new"}, "mode is 'new'"),
    ],
)
def test_foreign_file_is_named(tmp_path, change, message):
    path = tmp_path / "critic.json"
    fitted().save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(TextcriticError, match=message) as error:
        TransitionCritic.load(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("missing", ["titles", "counts", "delta", "mode", "grid"])
def test_missing_key_is_named(tmp_path, missing):
    path = tmp_path / "critic.json"
    fitted().save(path)
    path.write_text(json.dumps({key: value for key, value in json.loads(path.read_text()).items() if key != missing}))
    with pytest.raises(TextcriticError, match=missing):
        TransitionCritic.load(path)


def test_truncated_file_is_named(tmp_path):
    path = tmp_path / "critic.json"
    fitted().save(path)
    path.write_text(path.read_text()[:40])
    with pytest.raises(TextcriticError, match=r"critic\.json: not a JSON file"):
        TransitionCritic.load(path)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([],), {}, "train: no chains"),
        (([[], []],), {}, "train: no chains"),
        ((TRAIN,), {"titles": ["a"]}, "title 'b' is not among"),
        (([["a", None]],), {"grid": [1]}, "title None is not among"),
        ((TRAIN,), {"titles": ["a", "b", "a"]}, "the same title twice"),
        ((TRAIN[:1],), {}, "cannot be cross-validated"),
        ((TRAIN,), {"grid": [-1]}, "not a grid"),
        ((TRAIN,), {"grid": []}, "not a grid"),
        ((TRAIN,), {"grid": [math.inf, 1]}, "not a grid"),
        (([["a", 3]],), {}, "not lists of section titles"),
        ((pa.array(["a"]),), {}, "must be list<string>"),
        (([[f"t{i}"] for i in range(5001)],), {}, "5,001 different ones"),
    ],
)
def test_bad_input(arguments, options, message):
    with pytest.raises(TextcriticError, match=message):
        TransitionCritic.fit(*arguments, **options)
