"""What is said of coherence at the top of a report."""

import numpy as np
import pandas as pd
import pytest

from textcritic.experiments.coherence.findings import findings
from textcritic.report.names import Names

NO_TITLES = pd.DataFrame(
    columns=["corpus", "generator", "decoding", "seed", "with_titles", "without_titles", "p_value"]
)


NAMES = Names({"g": "the model"}, frozenset(), frozenset(), several_corpora=False, several_settings=True)


@pytest.mark.parametrize(
    ("ppl", "p", "headline", "words"),
    [
        (2.1, 0.21, "cannot be told from", "within what chance explains (p = 0.21)"),
        (2.2, 0.03, "less like real text", "the two intervals overlap, the test still tells them apart"),
        (3.0, 0.0001, "less like real text", "50% above real text (p < 0.001)"),
        (1.5, 0.0001, "more strictly", "Lower is not better"),
        (5.0, 0.0001, "less like real text", "2.5 times that of real text"),
    ],
)
def test_findings_say_what_the_numbers_allow(ppl, p, headline, words):
    found = findings(_rows(ppl, p), NO_TITLES, NAMES)
    assert headline in found.headline
    assert any(words in point.says for point in found.points)


def test_findings_with_seeds_that_disagree():
    rows = pd.concat([_rows(2.1, 0.21), _rows(2.6, 0.01).iloc[1:].assign(seed=2)], ignore_index=True)
    found = findings(rows, NO_TITLES, NAMES)
    assert "cannot be told from" in found.headline
    assert any("tells 1 of its 2 seeds apart (largest p = 0.21)" in point.says for point in found.points)


def test_findings_without_a_yardstick_say_so():
    rows = _rows(2.6, None)
    rows.loc[0, ["latent_ppl", "ci_low", "ci_high"]] = [np.inf, np.nan, np.nan]
    rows["infinite_because"] = ["3 steps never occur in the training text", None]
    found = findings(rows, NO_TITLES, NAMES)
    said = " ".join(point.says for point in found.points)
    assert found.headline == "The model's section order could not be compared with that of real text."
    assert "Real text has an infinite Latent PPL: 3 steps never occur in the training text." in said
    assert "Latent PPL 2.60 (2.40–2.80); that of real text is infinite" in said
    assert "—" not in said
    assert "below" not in said
    without = findings(_rows(2.6, None), NO_TITLES, NAMES)
    assert "30% above real text; there is no p-value" in " ".join(point.says for point in without.points)


def test_perplexities_in_two_units_are_not_compared():
    rows = pd.concat([_rows(2.1, 0.2), _rows(2.6, 0.01).iloc[1:].assign(setting="wo-title")], ignore_index=True)
    rows["ppl_body"] = [np.nan, 20.0, 30.0]
    titles = NO_TITLES.copy()
    titles.loc[0] = {"corpus": "c", "generator": "g", "decoding": "d", "seed": 1, "with_titles": 2.1} | {
        "without_titles": 2.6,
        "p_value": 0.001,
    }
    for units, told in ((["tokens", "tokens"], True), (["tokens", "words"], False)):
        rows["ppl_unit"] = [None, *units]
        said = " ".join(point.says for point in findings(rows, titles, NAMES).points)
        assert "the training text of the model raises its Latent PPL" in said
        assert ("perplexity on body text rises by 50%" in said) is told


def _rows(ppl, p, low=None, high=None, source="sample"):
    real = {"corpus": "c", "source": "data-inferred", "setting": "", "generator": "data", "decoding": "", "seed": pd.NA}
    real |= {"latent_ppl": 2.0, "ci_low": 1.9, "ci_high": 2.1, "p_value": None, "documents": 50}
    sample = {"corpus": "c", "source": "sample", "setting": "w-title", "generator": "g", "decoding": "d", "seed": 1}
    sample |= {
        "latent_ppl": ppl,
        "ci_low": low or ppl - 0.2,
        "ci_high": high or ppl + 0.2,
        "p_value": p,
        "documents": 50,
    }
    common = {"rejected": 0, "rejected_share": 0.0, "infinite_because": None, "ppl_body": None, "ppl_unit": None}
    return pd.DataFrame([real | common, sample | common])
