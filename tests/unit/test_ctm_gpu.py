"""The correlated topic model on a GPU gives what it gives on the CPU."""

import numpy as np
import pytest
import torch
from ctm_oracle import draw_documents, random_critic

from textcritic.critics.ctm import FitOptions, fit_ctm, infer

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU that torch sees")


@pytest.mark.parametrize("minibatch", [None, 90])
def test_a_fit(minibatch):
    counts = draw_documents(random_critic(1, 6, 100, sharpness=2.0), [60] * 400, 1).counts
    options = FitOptions(num_topics=6, iterations=8, tolerance=0.0, minibatch=minibatch)
    there, here = (fit_ctm(counts, options, device=device) for device in ("cuda", "cpu"))
    np.testing.assert_allclose(there.bounds, here.bounds, rtol=1e-6)
    np.testing.assert_allclose(there.critic.mean, here.critic.mean, atol=1e-3)


def test_inference():
    critic = random_critic(2, 5, 50)
    counts = draw_documents(critic, [0, 1, 30, 300, 5000], 1).counts
    there, here = (infer(critic, counts, device=device) for device in ("cuda", "cpu"))
    np.testing.assert_allclose(there.bounds, here.bounds, rtol=1e-8)
    np.testing.assert_allclose(there.means, here.means, atol=1e-3)
