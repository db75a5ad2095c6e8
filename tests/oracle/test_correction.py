"""Chains whose titles are known, and a classifier that is right on half of the sections: is the truth recovered?"""

import json
import math

import numpy as np
import pyarrow as pa
import pytest

from textcritic.critics import Evidence, TransitionCritic, corrected_ppl, latent_ppl, score_latents
from textcritic.critics.correction import corrected_nll, correction
from textcritic.errors import TextcriticError

V, MEAN = 15, 5
TITLES = [f"t{i:02}" for i in range(V)]
MATRIX = np.random.default_rng(2).dirichlet(np.full(V, 0.15), size=V + 1)  # from the beginning, and from each title
UNIFORM = np.full_like(MATRIX, 1 / V)


def draw(rng, documents, matrix, spread=1.8):
    """Latents of documents: a section is a point around its title's own; the posterior is exact at equal priors."""
    chains = []
    for length in 1 + rng.poisson(MEAN, documents):
        chain = [rng.choice(V, p=matrix[0])]
        while len(chain) < length:
            chain.append(rng.choice(V, p=matrix[chain[-1] + 1]))
        chains.append(np.array(chain))
    points = [np.eye(V)[chain] * spread + rng.normal(size=(len(chain), V)) for chain in chains]
    powers = [np.exp(spread * (point - point.max(axis=1, keepdims=True))) for point in points]
    posteriors = [power / power.sum(axis=1, keepdims=True) for power in powers]
    return table(chains, posteriors)


def table(chains, posteriors):
    columns = {
        "id": [str(i) for i in range(len(chains))],
        "gold": [[TITLES[k] for k in chain] for chain in chains],
        "inferred": [[TITLES[k] for k in q.argmax(axis=1)] for q in posteriors],
        "posterior": pa.array([q.tolist() for q in posteriors], pa.list_(pa.list_(pa.float64()))),
    }
    return pa.table(columns).replace_schema_metadata({"titles": json.dumps(TITLES)})


def setup():
    rng = np.random.default_rng(5)
    train = draw(rng, 3000, MATRIX)
    critic = TransitionCritic.fit(train["gold"], titles=TITLES, grid=[0.1])
    return rng, critic, Evidence.of(draw(rng, 600, MATRIX), critic, labelled=True)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_latent_ppl_by_the_documents_own_titles_is_recovered(share):
    """Of real chains, of chains with a share of random steps, and of random ones: within the interval each time."""
    rng, critic, labelled = setup()
    inside, errors = [], []
    for _ in range(8):
        latents = draw(rng, 300, (1 - share) * MATRIX + share * UNIFORM)
        gold = latent_ppl(score_latents(critic, latents, "gold"))
        inferred = latent_ppl(score_latents(critic, latents, "inferred"))
        found = corrected_ppl(Evidence.of(latents, critic), labelled, critic.log_probs)
        inside.append(found.low <= gold <= found.high)
        errors.append((math.log(inferred / gold), math.log(found.value / gold)))
    assert np.sum(inside) >= 7
    before, after = np.abs(np.mean(errors, axis=0))
    assert after < 0.12
    assert after < before / 4 or before < 0.12


def test_the_classifier_of_these_tests_is_right_on_half_of_the_sections():
    _, _, labelled = setup()
    assert (labelled.posteriors.argmax(axis=1) == labelled.gold).mean() == pytest.approx(0.53, abs=0.05)


def test_a_classifier_that_is_always_right_needs_no_correction():
    rng, critic, _ = setup()
    certain = draw(rng, 400, MATRIX, spread=40.0)
    evidence = Evidence.of(certain, critic, labelled=True)
    gold = score_latents(critic, certain, "gold")["nll"].to_numpy()
    np.testing.assert_allclose(corrected_nll(evidence, correction(evidence), critic.log_probs), gold, rtol=1e-6)


def test_a_latent_ppl_is_never_below_one():
    rng, critic, labelled = setup()
    source = Evidence.of(draw(rng, 40, MATRIX), critic)
    found = corrected_ppl(source, labelled, np.zeros_like(critic.log_probs))
    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)
    lower = corrected_ppl(source, labelled, np.full_like(critic.log_probs, 0.5))  # no such critic: e^0.5 is no chance
    assert (lower.value, lower.high) == (1.0, 1.0)


def test_what_cannot_be_corrected_says_why():
    rng, critic, labelled = setup()
    source = Evidence.of(draw(rng, 30, MATRIX), critic)
    few = Evidence.of(draw(rng, 199, MATRIX), critic, labelled=True)
    assert corrected_ppl(source, few, critic.log_probs).because == "199 labelled documents, fewer than 200"
    impossible = np.where(critic.log_probs < -5, -np.inf, critic.log_probs)
    assert corrected_ppl(source, labelled, impossible).because == "the critic is not smoothed"
    short = corrected_ppl(Evidence.of(draw(rng, 19, MATRIX), critic), labelled, critic.log_probs)
    assert (short.value is None, short.low) == (False, None)
    assert short.because == "19 documents, too few for an interval"
    unknown = Evidence(labelled.posteriors, labelled.lengths, np.full_like(labelled.gold, -1))
    with pytest.raises(TextcriticError, match="no labelled section has a title that the critic knows"):
        correction(unknown)
