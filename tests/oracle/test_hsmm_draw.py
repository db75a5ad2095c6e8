"""Sequences drawn from a hidden semi-Markov model against exact probabilities."""

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from tiny_hsmm import lattice_of, paths, random_model

from textcritic.errors import TextcriticError
from textcritic.generators.hsmm import draw, log_marginal
from textcritic.generators.hsmm.sample import sample_hsmm
from textcritic.generators.shards import CUT, ENDED, Shard, read_shard
from textcritic.generators.symbols import make_symbol_tokenizer

DRAWS = 20_000


def fits(counts: Counter, probabilities: dict) -> bool:
    """Chi-square of the events that are expected at least 5 times, all others together."""
    assert set(counts) <= {event for event, probability in probabilities.items() if probability > 0} | {None}
    common = [event for event, probability in probabilities.items() if probability * DRAWS >= 5]
    observed = [counts[event] for event in common]
    expected = [probabilities[event] * DRAWS for event in common]
    rest = DRAWS - sum(expected)
    if rest > 1:
        observed, expected = [*observed, DRAWS - sum(observed)], [*expected, rest]
    assert len(observed) > 8
    return chisquare(observed, np.array(expected) * DRAWS / sum(expected)).pvalue > 0.001


def test_strings_have_their_exact_probabilities():
    model = random_model(1, vocabulary=2, longest=3, sharpness=1.0)
    strings = [list(string) for length in range(1, 9) for string in product(range(2), repeat=length)]
    exact = log_marginal(model, lattice_of(model, strings), end=True).exp().tolist()
    drawn = draw(model, range(DRAWS), seed=3)
    assert drawn.ended.all()
    counts = Counter(tuple(tokens.tolist()) if len(tokens) <= 8 else None for tokens in drawn)
    assert fits(counts, {tuple(string): p for string, p in zip(strings, exact, strict=True)})


def test_strings_of_a_given_number_of_segments():
    model = random_model(2, vocabulary=2, longest=2, sharpness=1.0)
    drawn = draw(model, range(DRAWS), seed=4, segments=3)
    assert drawn.ended.all()
    assert len(drawn.states) == 3 * DRAWS
    exact: Counter = Counter()
    for string in (list(s) for length in range(3, 7) for s in product(range(2), repeat=length)):
        for segments, _, probability in paths(model, string, end=False):
            if len(segments) == 3:
                exact[tuple(string)] += probability
    assert sum(exact.values()) == pytest.approx(1)
    assert fits(Counter(tuple(tokens.tolist()) for tokens in drawn), exact)


def test_states_are_the_chain():
    model = random_model(3)
    drawn = draw(model, range(DRAWS), seed=5, segments=2)
    initial, transition = model.initial.numpy(), model.transition.numpy()
    exact = {(i, j): initial[i] * transition[i, j] for i in range(3) for j in range(3)}
    assert fits(Counter(zip(drawn.states[::2].tolist(), drawn.states[1::2].tolist(), strict=True)), exact)


def test_every_length_is_drawn():
    model = random_model(4, vocabulary=2, longest=5, states=2)
    lengths = torch.from_numpy(model.lexicon.lengths)
    emission = (lengths[:, None] == torch.tensor([5, 1])).double()
    model = replace(model, emission=emission / emission.sum(0))
    drawn = draw(model, range(200), seed=0, segments=4)
    by_state = np.bincount(drawn.states, minlength=2)
    assert (by_state > 0).all()
    assert len(drawn.tokens) == by_state @ [5, 1]

    model = random_model(4, vocabulary=2, longest=5, states=2)
    share = model.emission.numpy()[model.lexicon.lengths == 5].sum(axis=0)
    drawn = draw(model, range(DRAWS), seed=0, segments=1)
    assert (np.diff(drawn.offsets) == 5).mean() == pytest.approx(share @ model.initial.numpy(), abs=0.01)


def test_a_sequence_depends_on_its_number_only():
    model = random_model(5)
    together, some = draw(model, range(50), seed=7), draw(model, [41, 3, 12], seed=7)
    everything, few = list(together), list(some)
    for index, tokens in zip([41, 3, 12], few, strict=True):
        np.testing.assert_array_equal(tokens, everything[index])
    other = draw(model, range(50), seed=8)
    assert any(len(a) != len(b) or (a != b).any() for a, b in zip(other, everything, strict=True))


def test_no_sequences():
    drawn = draw(random_model(5), [], seed=7)
    assert len(drawn.tokens) == len(drawn.ended) == len(drawn.states) == 0
    assert drawn.offsets.tolist() == [0]


def test_long_sequences_are_cut():
    model = random_model(6)
    whole, cut = draw(model, range(300), seed=1), draw(model, range(300), seed=1, max_tokens=3)
    for tokens, short, ended in zip(whole, cut, cut.ended, strict=True):
        np.testing.assert_array_equal(short, tokens[:3])
        assert ended == (len(tokens) + 1 <= 3)  # the end is a token too
    for i in range(300):
        states, own = draw(model, [i], seed=1).states, draw(model, [i], seed=1, max_tokens=3).states
        np.testing.assert_array_equal(own, states[: len(own)])
    endless = replace(model, end=torch.zeros_like(model.end))
    drawn = draw(endless, range(10), seed=1, max_tokens=100)
    assert not drawn.ended.any()
    assert (np.diff(drawn.offsets) == 100).all()
    drawn = draw(endless, range(10), seed=1, segments=200, max_tokens=100)
    assert not drawn.ended.any()


@pytest.mark.parametrize("segments", [None, 4])
def test_the_end_counts_within_the_limit(segments, tmp_path):
    """As `sample_causal` counts: in a shard no sequence that has ended has more than `max_tokens` tokens."""
    model = random_model(6, vocabulary=2)
    lengths = np.diff(draw(model, range(300), seed=1, segments=segments).offsets)
    limit = int(np.median(lengths))
    assert (lengths == limit).any()
    assert (lengths + 1 == limit).any()
    model.save(tmp_path / "model")
    make_symbol_tokenizer(tmp_path / "tokenizer", "a")
    for path in (tmp_path / "tokenizer").iterdir():
        path.rename(tmp_path / "model" / path.name)
    sample_hsmm(tmp_path / "model", Shard(1, 0, 300, tmp_path / "shard.parquet"), segments, limit, threads=1)
    for drawn, length in zip(read_shard(tmp_path / "shard.parquet"), lengths.tolist(), strict=True):
        assert drawn.finish == (ENDED if length + 1 <= limit else CUT)
        assert drawn.tokens == min(length + 1, limit)
        assert len(drawn.text) == min(length, limit)
    assert torch.get_num_threads() == 1


def test_what_has_no_probability_is_never_drawn():
    model = random_model(8, holes=True)
    model.transition[:, 2] = 0
    model.initial[2] = 0
    drawn = draw(model, range(2000), seed=2)
    assert set(drawn.states.tolist()) == {0, 1}
    assert log_marginal(model, lattice_of(model, [t.tolist() for t in drawn]), end=True).min() > -200


def test_single_precision_draws_the_same():
    model = random_model(9)
    first, second = draw(model, range(500), seed=1), draw(model.to(dtype=torch.float32), range(500), seed=1)
    np.testing.assert_array_equal(first.tokens, second.tokens)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"segments": 0}, "segments: 0"), ({"max_tokens": 0}, "max_tokens: 0"), ({"seed": -1}, "seed: -1")],
)
def test_bad_input(arguments, message):
    with pytest.raises(TextcriticError, match=message):
        draw(random_model(0), range(3), **{"seed": 1, **arguments})
