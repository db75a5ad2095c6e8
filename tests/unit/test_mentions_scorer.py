"""MUC, B3, CEAF-e: published worked examples, an independent package, brute force, properties."""

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcritic.errors import TextcriticError
from textcritic.latents.resolvers.mention import Mention
from textcritic.latents.resolvers.scorer import COUNTS, MEASURES, clusters_of, document_counts, f1, pooled

CASES = json.loads((Path(__file__).parents[1] / "data/coreference_scores.json").read_text())["cases"]
# Luo 2005, figure 1 and table 1.
TRUTH = ["12345", "67", "89ABC"]
LUO = {
    "a": (["12345", "6789ABC"], (0.947, 0.865, 0.733)),
    "b": (["1234589ABC", "67"], (0.947, 0.737, 0.667)),
    "c": (["123456789ABC"], (0.900, 0.545, 0.294)),
    "d": (list("123456789ABC"), (0.0, 0.400, 0.178)),
}

MENTIONS = st.lists(st.integers(0, 11), min_size=1, max_size=9, unique=True)


@st.composite
def clusters(draw):
    mentions = draw(MENTIONS)
    entities = draw(st.lists(st.integers(0, 4), min_size=len(mentions), max_size=len(mentions)))
    return [{m for m, e in zip(mentions, entities, strict=True) if e == entity} for entity in sorted(set(entities))]


def scores(key, response):
    """(recall, precision, F1) of each measure of one document."""
    counts = document_counts(key, response).reshape(len(MEASURES), 4)
    ratio = [[row[0] / row[1] if row[1] else 0.0, row[2] / row[3] if row[3] else 0.0] for row in counts]
    return {m: (*r, float(f1(c))) for m, r, c in zip(MEASURES, ratio, counts, strict=True)}


@pytest.mark.parametrize("name", LUO)
def test_the_worked_examples_of_luo_2005(name):
    response, expected = LUO[name]
    measured = scores(TRUTH, response)
    assert [measured[m][2] for m in ("muc", "b3", "ceafe")] == pytest.approx(expected, abs=5e-4)


def test_the_worked_example_of_pradhan_et_al_2014():
    measured = scores(["abc", "defg"], ["ab", "cd", "fghi"])
    assert measured["muc"][:2] == pytest.approx((2 / 5, 2 / 5), abs=1e-12)
    assert measured["b3"][:2] == pytest.approx((35 / 12 / 7, 4 / 8), abs=1e-12)
    assert measured["ceafe"][:2] == pytest.approx((1.3 / 2, 1.3 / 3), abs=1e-12)
    assert measured["mentions"][:2] == (6 / 7, 6 / 8)


@pytest.mark.parametrize("case", CASES)
def test_an_independent_package_gives_the_same(case):
    measured = scores(case["key"], case["response"])
    for measure in ("muc", "b3", "ceafe"):
        assert measured[measure] == pytest.approx(case[measure], abs=1e-12), measure


@given(clusters(), clusters())
def test_by_brute_force(key, response):
    measured = document_counts(key, response).reshape(len(MEASURES), 4)
    of = {m: cluster for cluster in response for m in cluster}
    parts = [{frozenset(of.get(m, {("alone", m)})) for m in cluster} for cluster in key]
    assert measured[1][0] == sum(len(c) - len(p) for c, p in zip(key, parts, strict=True))
    b3 = sum(len(c & of.get(m, set())) / len(c) for c in key for m in c)
    assert measured[2][0] == pytest.approx(b3, abs=1e-12)
    short, long = sorted((key, response), key=len)
    best = max(
        sum(2 * len(a & b) / (len(a) + len(b)) for a, b in zip(short, order, strict=True))
        for order in permutations(long, len(short))
    )
    assert measured[3][0] == pytest.approx(best, abs=1e-12)


@given(clusters(), clusters())
def test_key_and_response_change_places_as_recall_and_precision_do(key, response):
    there = document_counts(key, response).reshape(len(MEASURES), 2, 2)
    back = document_counts(response, key).reshape(len(MEASURES), 2, 2)
    assert there == pytest.approx(back[:, ::-1], abs=1e-12)


@given(clusters(), st.randoms())
def test_the_same_entities_in_any_order_are_all_right(key, random):
    again = [sorted(cluster) for cluster in key]
    random.shuffle(again)
    for counts in document_counts(key, again).reshape(len(MEASURES), 2, 2):
        assert counts[:, 0] == pytest.approx(counts[:, 1], abs=1e-12)


def test_nothing_in_the_key_or_in_the_response():
    assert dict(zip(COUNTS, document_counts([], [{1, 2}]), strict=True))["mentions_precision_of"] == 2
    assert document_counts([{1, 2}], []).reshape(4, 4)[:, 1].tolist() == [2, 1, 2, 1]
    assert document_counts([], []).tolist() == [0] * len(COUNTS)


def test_a_span_of_two_entities_stays_with_the_first():
    mentions = [Mention(0, 3, 0, 3, entity, 0) for entity in (4, 7)] + [Mention(5, 6, 5, 6, 7, 0)]
    assert clusters_of(mentions) == [{(0, 3)}, {(5, 6)}]


def test_documents_are_pooled_by_sums_and_have_intervals():
    rows = [document_counts(case["key"], case["response"]) for case in CASES]
    measured = pooled(rows, resamples=500)
    total = np.sum(rows, axis=0).reshape(len(MEASURES), 4)
    for measure, row in zip(MEASURES, total, strict=True):
        r, p = row[0] / row[1], row[2] / row[3]
        assert measured[f"{measure}_f1"].estimate == pytest.approx(2 * r * p / (r + p), abs=1e-12)
    parts = [measured[f"{m}_f1"].estimate for m in ("muc", "b3", "ceafe")]
    assert measured["conll"].estimate == pytest.approx(sum(parts) / 3, abs=1e-12)
    assert measured["conll"].reason == "no interval of fewer than 20"
    many = pooled(rows * (1 + 20 // len(rows)), resamples=500)
    assert many["conll"].estimate == pytest.approx(measured["conll"].estimate, abs=1e-12)
    assert 0 <= many["conll"].low < many["conll"].estimate < many["conll"].high <= 1


def test_no_documents_have_no_score():
    with pytest.raises(TextcriticError, match="with documents"):
        pooled(np.zeros((0, len(COUNTS))))
