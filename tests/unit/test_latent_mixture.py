"""The jobs of mixtures and particle filters: against plain sums over draws, and against log p by enumeration."""

from dataclasses import replace

import numpy as np
import pytest
import tiny_entities
from scipy.special import logsumexp

from textcritic.corpora.structured.texts import Structured, write_structured
from textcritic.errors import TextcriticError
from textcritic.files import arrays_of
from textcritic.generators.latent import mixture
from textcritic.generators.latent.entitynlm import EntityDisc, EntityNLM
from textcritic.generators.latent.mixture import weigh_mixture
from textcritic.generators.latent.particles import weigh_particles
from textcritic.generators.latent.weigh import Draws, Weighed, generator_of, weigh
from textcritic.inference.importance import LogWeights

TEXTS = [Structured("one", ("a", "b", "x", "a")), Structured("two", ("b",)), Structured("three", ("b", "a", "a"))]
TEMPERATURES = (0.5, 1.0, 3.0)


@pytest.fixture
def files(tmp_path):
    write_structured(tmp_path / "test.parquet", TEXTS, "made up")
    for name, learner in (("model", tiny_entities.model()), ("proposal", tiny_entities.proposal(1.0))):
        (tmp_path / name).mkdir()
        learner.save(tmp_path / name)
    return Weighed(texts=tmp_path / "test.parquet", model=tmp_path / "model", proposal=tmp_path / "proposal")


def drawn(files, folder, samples, shard=0, seed=1):
    """A shard of each temperature, and their mixture."""
    draws, shards = Draws(samples, 1.0, seed, shard), []
    for temperature in TEMPERATURES:
        path = folder / f"t{temperature}-{shard}.npz"
        weigh(files, replace(draws, temperature=temperature), path, threads=1)
        shards.append((temperature, path))
    out = folder / f"mixed-{shard}.npz"
    return shards, draws, out, weigh_mixture(files, shards, draws, out, threads=1)


def exact(files):
    """Log p of each text, over all its states."""
    model = EntityNLM.load(files.model)
    return np.array([float(model.log_joint(t, tiny_entities.all_states(len(t.tokens))).logsumexp(0)) for t in TEXTS])


def test_weights_are_p_by_the_mean_of_q_over_the_temperatures(files, tmp_path):
    shards, draws, out, weights = drawn(files, tmp_path, 6)
    model, proposal = EntityNLM.load(files.model), EntityDisc.load(files.proposal)
    for row, text in enumerate(TEXTS):
        expected = []
        for temperature in TEMPERATURES:
            random = generator_of(replace(draws, temperature=temperature), row, model.device)
            states, _ = proposal.draw(text, 6, temperature, random)
            log_q = [proposal.log_q(text, states, other).numpy() for other in TEMPERATURES]
            expected += list(model.log_joint(text, states).numpy() - (logsumexp(log_q, axis=0) - np.log(3)))
        assert np.allclose(weights.log_weights[row], expected, atol=1e-5)
    with arrays_of(out, "damaged") as arrays:
        assert arrays["temperatures"].tolist() == list(TEMPERATURES)
        assert arrays["log_q_under"].shape == (3, 18, 3)
    for m, (_, path) in enumerate(shards):
        single, some = LogWeights.read(path), slice(6 * m, 6 * m + 6)
        with arrays_of(out, "damaged") as arrays:
            assert np.allclose(arrays["log_q_under"][:, some, m], single.log_q, atol=1e-6)
        assert np.array_equal(weights.log_p[:, some], single.log_p)
    assert not out.with_suffix(".partial.npz").exists()


def test_the_estimate_is_unbiased_and_shards_are_joined(files, tmp_path):
    first, second = (drawn(files, tmp_path, 4_000, shard)[3] for shard in (0, 1))
    weights = LogWeights.read(tmp_path / "mixed-0.npz").joined([LogWeights.read(tmp_path / "mixed-1.npz")])
    assert weights.draws == first.draws + second.draws == 24_000
    ratios = np.exp(weights.log_weights - exact(files)[:, None])
    errors = ratios.std(axis=1) / np.sqrt(weights.draws)
    assert (abs(ratios.mean(axis=1) - 1) < 4 * errors).all()
    assert (errors < 0.02).all()
    # No weight is above 3 times that under its own temperature.
    single = LogWeights.read(tmp_path / "t1.0-0.npz")
    assert (first.log_weights[:, 4_000:8_000] <= single.log_weights + np.log(3) + 1e-6).all()


def test_a_killed_mixture_goes_on(files, tmp_path, monkeypatch):
    shards, draws, out, whole = drawn(files, tmp_path, 5)
    out.unlink()
    made, numbers = mixture.generator_of, []

    def killed(draws, row, device):
        numbers.append(row)
        if numbers.count(2) == 1:
            raise KeyboardInterrupt
        return made(draws, row, device)

    monkeypatch.setattr("textcritic.generators.latent.resume.SAVE_SECONDS", -1.0)
    monkeypatch.setattr(mixture, "generator_of", killed)
    with pytest.raises(KeyboardInterrupt):
        weigh_mixture(files, shards, draws, out)
    assert not out.exists()
    assert np.array_equal(weigh_mixture(files, shards, draws, out).log_weights, whole.log_weights)
    assert numbers == [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]


def test_shards_that_do_not_belong_are_refused(files, tmp_path):
    shards, draws, out, _ = drawn(files, tmp_path, 5)
    with pytest.raises(TextcriticError, match=r"t0.5-0.npz: the states of text 'one' cannot be drawn again"):
        weigh_mixture(files, shards, replace(draws, seed=2), out)
    with pytest.raises(TextcriticError, match=r"t0.5-0.npz: not 4 draws of each text of"):
        weigh_mixture(files, shards, replace(draws, samples=4), out)
    with pytest.raises(TextcriticError, match="a mixture is of two or more, each given once"):
        weigh_mixture(files, shards[:1], draws, out)
    with pytest.raises(TextcriticError, match="a mixture is of two or more, each given once"):
        weigh_mixture(files, [*shards, shards[0]], draws, out)


def test_a_particle_filter_estimates_what_can_be_added_up(files, tmp_path):
    found = [weigh_particles(files, 20, seed, tmp_path / "p.npz", threads=1) for seed in range(100)]
    ratios = np.exp(np.stack([weights.log_weights[:, 0] for weights in found]) - exact(files))
    errors = ratios.std(axis=0) / np.sqrt(len(ratios))
    assert (abs(ratios.mean(axis=0) - 1) < 4 * errors).all()
    assert (errors < 0.03).all()
    assert (ratios.std(axis=0) > 0.005).all()
    read = LogWeights.read(tmp_path / "p.npz")
    assert (read.ids, read.tokens.tolist()) == (("one", "two", "three"), [4, 1, 3])
    assert np.array_equal(weigh_particles(files, 20, 99, tmp_path / "again.npz").log_weights, read.log_weights)


def test_what_has_no_steps_is_refused(files, tmp_path):
    (tmp_path / "released").mkdir()
    tiny_entities.proposal(as_released=True).save(tmp_path / "released")
    with pytest.raises(TextcriticError, match="as_released: has no particle filter"):
        weigh_particles(replace(files, proposal=tmp_path / "released"), 5, 1, tmp_path / "p.npz")
