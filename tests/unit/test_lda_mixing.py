"""Numbers on mixing, by hand from posteriors of a few documents."""

import numpy as np
import pytest
from scipy.stats import entropy

from textcritic.critics.lda import Posteriors, agreement, mixing_columns
from textcritic.errors import TextcriticError
from textcritic.experiments.mixing.rows import CORNERS, DIVIDED, ENTROPY, MIXED
from textcritic.measures.measure import Resampling, Scored
from textcritic.measures.rows import estimated

COUNTS = np.array([[4, 0, 0], [0, 3, 1], [1, 1, 8], [0.5, 0.5, 1]], dtype=np.float32)
DRAWS = np.array(
    [
        [[1, 0, 0], [0.95, 0.05, 0]],
        [[0.1, 0.8, 0.1], [0, 0.92, 0.08]],
        [[0.1, 0.1, 0.8], [0.02, 0.03, 0.95]],
        [[1 / 3, 1 / 3, 1 / 3], [0.2, 0.2, 0.6]],
    ],
    dtype=np.float32,
)
MEANS = np.array([[0.97, 0.02, 0.01], [0.05, 0.85, 0.1], [0.05, 0.04, 0.91], [0.3, 0.3, 0.4]])
ARRAYS = (np.array(list("abcd")), MEANS, DRAWS, COUNTS, np.array([4, 4, 10, 2]))
POSTERIORS = Posteriors(*ARRAYS)


def estimates(posteriors, resamples):
    scored = Scored(mixing_columns(posteriors), len(posteriors.ids))
    measures = (MIXED, DIVIDED, CORNERS, ENTROPY)
    return {measure.value: estimated(measure, scored, None, Resampling(resamples)) for measure in measures}


def test_statistics_by_hand():
    found = estimates(POSTERIORS, 500)
    assert found["mixed"].value == pytest.approx((0 + 1 + 2 + 1) / 20)
    assert found["divided"].value == 0.5
    assert found["corners"].value == pytest.approx((2 + 1 + 1 + 0) / 8)
    assert found["entropy"].value == pytest.approx(entropy(DRAWS, axis=2).mean(), rel=1e-6)
    assert {estimate.reason for estimate in found.values()} == {"no interval of fewer than 20"}
    for name, columns in mixing_columns(POSTERIORS).items():
        assert columns[:, 0].sum() / columns[:, 1].sum() == pytest.approx(found[name].value)


def test_intervals_are_over_documents():
    few, many = (Posteriors(*(np.concatenate([part] * times) for part in ARRAYS)) for times in (10, 250))
    found = [estimates(some, 1000) for some in (few, many)]
    for name, of_few in found[0].items():
        of_many = found[1][name]
        assert of_many.value == pytest.approx(of_few.value)
        assert of_few.low < of_few.value < of_few.high
        # 25 times as many documents: a fifth of the width, but for the smaller t and skewness.
        assert 0.15 < (of_many.high - of_many.low) / (of_few.high - of_few.low) < 0.22
        if name != "entropy":
            assert 0 <= of_few.low < of_few.high <= 1


def test_agreement_by_hand():
    found = agreement(POSTERIORS, ["de", "es", "fr", "fr"], resamples=200)
    assert found["words"].estimate == pytest.approx((4 + 3 + 8 + 1) / 20)
    assert found["documents"].estimate == 1
    found = agreement(POSTERIORS, ["de", "es", "fr", "es"], resamples=200)
    assert found["words"].estimate == pytest.approx((4 + 3 + 8 + 0.5) / 20)
    assert found["documents"].estimate == 0.75


def test_a_language_without_a_topic_is_all_wrong():
    found = agreement(POSTERIORS, ["de", "es", "fr", "it"], resamples=200)
    assert found["words"].estimate == pytest.approx((4 + 3 + 8) / 20)
    assert found["documents"].estimate == 0.75


def test_without_documents_there_is_no_number():
    none = Posteriors(*(part[:0] for part in ARRAYS))
    with pytest.raises(TextcriticError, match="bootstrap: an array of shape"):
        agreement(none, [])
