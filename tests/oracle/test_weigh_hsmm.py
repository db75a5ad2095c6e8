"""Jobs of a hidden semi-Markov model: mixtures of temperatures and particle filters lead to its exact log p."""

import numpy as np
import pytest
from tiny_hsmm import flat, lattice_of, random_model

from textcritic.errors import TextcriticError
from textcritic.files import arrays_of
from textcritic.generators.hsmm import log_marginal
from textcritic.generators.hsmm.text import Text
from textcritic.generators.hsmm.weigh import (
    Quality,
    Sequences,
    weigh_filtered_paths,
    weigh_mixed_paths,
    weigh_paths,
    weigh_whole,
)
from textcritic.inference.importance import LogWeights, effective_sample_sizes

SEQUENCES = [[0, 1, 2, 1, 0], [2, 2], [1, 1, 1, 0], [0, 0, 2, 2]] * 6
TEMPERATURES = (0.7, 1.0, 1.5)
MIXED = [Quality("tempered", temperature) for temperature in TEMPERATURES]


class Small(Sequences):
    """A model in memory, whose sequences are too."""

    def load(self):
        return random_model(1), Text(*flat(SEQUENCES)), tuple(f"s{number}" for number in range(len(SEQUENCES)))


@pytest.fixture(scope="module")
def exact():
    model = random_model(1)
    return log_marginal(model, lattice_of(model, SEQUENCES)).numpy()


def test_mixed_weights_are_unbiased_and_those_of_every_temperature(exact, tmp_path):
    out = tmp_path / "mixed.npz"
    weigh_mixed_paths(Small("", "", ""), MIXED, (2_000, 1, range(1)), out)
    weights = LogWeights.read(out)
    assert (weights.draws, weights.ids[:2], weights.tokens[:2].tolist()) == (6_000, ("s0", "s1"), [5, 2])
    ratios = np.exp(weights.log_weights - exact[:, None])
    errors = ratios.std(axis=1) / np.sqrt(weights.draws) + 1e-12
    assert (abs(ratios.mean(axis=1) - 1) < 4 * errors).all()
    assert errors.max() < 0.02
    with arrays_of(out, "damaged") as arrays:
        under, temperatures = arrays["log_q_under"], arrays["temperatures"]
    assert temperatures.tolist() == list(TEMPERATURES)
    # log q at a temperature is log p by the temperature, less a normaliser of the text.
    for m, temperature in enumerate(TEMPERATURES):
        normaliser = weights.log_p / temperature - under[:, :, m]
        assert np.ptp(normaliser, axis=1).max() < 1e-9
    # At temperature 1 it is the posterior, and no weight is above three times p(x).
    assert ratios.max() <= 3 + 1e-9


def test_shards_have_other_draws_and_a_mixture_needs_two_temperatures(tmp_path):
    small = Small("", "", "")
    for name, shards in {"0": range(1), "1": range(1, 2), "0-1": range(2)}.items():
        weigh_mixed_paths(small, MIXED, (50, 1, shards), tmp_path / f"{name}.npz")
        weigh_paths(small, MIXED[0], (50, 1, shards), tmp_path / f"single{name}.npz")
    first, second, both = (LogWeights.read(tmp_path / f"{name}.npz") for name in ("0", "1", "0-1"))
    assert first.joined([second]).draws == both.draws == 300
    assert not np.array_equal(first.log_p, second.log_p)
    # A job that draws both shards writes what two jobs write.
    assert np.array_equal(first.joined([second]).log_weights, both.log_weights)
    first, second, both = (LogWeights.read(tmp_path / f"single{name}.npz") for name in ("0", "1", "0-1"))
    assert np.array_equal(first.joined([second]).log_weights, both.log_weights)
    with pytest.raises(TextcriticError, match="a mixture is of two or more"):
        weigh_mixed_paths(Small("", "", ""), MIXED[:1], (50, 1, range(1)), tmp_path / "one.npz")


@pytest.mark.parametrize("quality", [Quality("segment", 0.0), Quality("blind", 0.0), Quality("noisy", 1.0)])
def test_a_particle_filter_is_unbiased(quality, exact, tmp_path):
    found = []
    for seed in range(150):
        weigh_filtered_paths(Small("", "", ""), quality, (30, seed), tmp_path / "p.npz")
        found.append(LogWeights.read(tmp_path / "p.npz").log_weights[:, 0])
    ratios = np.exp(np.stack(found) - exact)
    errors = ratios.std(axis=0) / np.sqrt(len(ratios)) + 1e-12
    # The same four sequences six times: 24 of them, each with its own particles.
    assert (abs(ratios.mean(axis=0) - 1) < 4.5 * errors).all()
    assert abs(ratios.mean() - 1) < 4 * ratios.std() / np.sqrt(ratios.size) < 0.05


def test_the_whole_is_the_exact_value(exact, tmp_path):
    weigh_whole(Small("", "", ""), tmp_path / "exact.npz")
    assert np.allclose(LogWeights.read(tmp_path / "exact.npz").log_weights[:, 0], exact, rtol=1e-10)
    assert effective_sample_sizes(LogWeights.read(tmp_path / "exact.npz")).tolist() == [1] * len(SEQUENCES)
