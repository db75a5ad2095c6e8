"""Curves of tendencies by loops over documents: bands of second draws, estimates by size, densities, box plots."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations, pairwise
from math import exp, floor, isnan, log, sqrt
from statistics import mean, stdev

import numpy as np
import pytest
from tendency_oracle import (
    OPTIONS,
    STOP_WORDS,
    SYMBOLS,
    chao1_by_hand,
    counted,
    heaps_by_hand,
    lags_by_hand,
    lengths_by_hand,
    made_up,
    of_groups,
    recurrence_by_hand,
    stop_words_by_hand,
    symbols_by_hand,
    taylor_by_hand,
    tokens_of,
    words_of,
    zipf_by_hand,
)

from textcritic.critics.tendencies.curves import Curve, curves_table, own_curves, size_curves, with_band
from textcritic.plan.entries import Tendencies

NAN = float("nan")
MEASURING = Tendencies(kind="tendencies", ranks=40)


@pytest.fixture(scope="module")
def texts():
    return made_up(200)


@pytest.fixture(scope="module")
def counts(texts):
    return counted(texts)


@pytest.fixture(scope="module")
def curves(counts):
    return own_curves(counts)


def points(curve, *names):
    """One tuple a point."""
    return list(zip(*(curve.columns[name].tolist() for name in names), strict=True))


def band(x, *draws):
    """The band of a curve of these x between draws, each given by its points."""
    real = Curve("types", x, [0.0] * len(x))
    found = with_band({"types": real}, [{"types": Curve("types", *zip(*draw, strict=True))} for draw in draws])
    return [(low, high) for low, high in points(found["types"], "low", "high")]


def test_a_band_reaches_from_the_lowest_to_the_highest_draw():
    draws = [(1, 10), (3, 30)], [(2, 5), (4, 25)], [(4, 0), (1, 12)]
    assert band([1, 2, 3, 4], *draws) == [(10, 12), (5, 20), (4, 30), (0, 25)]


def test_beyond_the_ends_of_a_draw_the_others_make_the_band():
    found = band([0, 1, 2, 5, 6], [(1, 10), (3, 30)], [(2, 5), (5, 35)])
    assert found[1:4] == [(10, 10), (5, 20), (35, 35)]
    assert all(isnan(end) for beyond in (found[0], found[4]) for end in beyond)


def test_the_curve_itself_stays_as_it_is():
    real = {"types": Curve("types", [3, 1], [7, 8], low=[6, 6], high=[9, 9]), "length": Curve("length", [1], [2])}
    found = with_band(real, [{"types": Curve("types", [1, 3], [5, 6])}])
    assert points(found["types"], "x", "y", "low", "high") == [(3, 7, 6, 6), (1, 8, 5, 5)]
    assert found["length"] is real["length"]
    assert list(found) == list(real)


def test_draws_of_fewer_than_two_points_and_box_plots_have_no_band():
    line, point = Curve("types", [1, 2], [3, 4]), Curve("types", [1], [9])
    box = Curve("box.length", [0, 1], [1, 5])
    for draws in ([], [{}], [{"types": point}], [{"types": Curve("types", [], [])}, {"box.length": box}]):
        found = with_band({"types": line, "box.length": box}, draws)
        assert found == {"types": line, "box.length": box}
    # A draw with one point says nothing, the others do.
    assert band([1, 2], [(1, 9)], [(1, 3), (2, 4)]) == [(3, 3), (4, 4)]


def test_the_band_of_real_text_by_loops(counts):
    draws = [own_curves(counted(made_up(150, seed), seed=seed)) for seed in (5, 6, 7)]
    for name, curve in with_band(own_curves(counts), draws).items():
        if name.startswith("box."):
            continue
        for x, low, high in points(curve, "x", "low", "high"):
            at = []
            for draw in draws:
                given = points(draw[name], "x", "y")
                for (left, y), (right, after) in pairwise(given):
                    if left <= x <= right:
                        at.append(y + (after - y) * (x - left) / (right - left))
            assert (low, high) == (pytest.approx((min(at), max(at))) if at else (pytest.approx(NAN, nan_ok=True),) * 2)


def test_rank_and_frequency(curves, texts):
    shares = sorted((count / words_of(texts).total() for count in words_of(texts).values()), reverse=True)
    ranks = [round(x) for x in curves["rank-frequency"].columns["x"]]
    assert ranks == sorted(set(ranks))
    assert (ranks[0], ranks[-1]) == (1, len(shares))
    assert len(ranks) <= 120
    assert curves["rank-frequency"].columns["y"] == pytest.approx([shares[rank - 1] for rank in ranks], rel=1e-12)


@pytest.mark.parametrize(("name", "size"), [("types", 1), ("bigrams", 2)])
def test_types_by_length(curves, texts, name, size):
    classes = defaultdict(list)
    for tokens in tokens_of(texts):
        if len(tokens) >= size:
            runs = {tuple(tokens[i : i + size]) for i in range(len(tokens) - size + 1)}
            classes[floor(log(len(tokens)) / log(1.15) + 1e-9)].append((len(tokens), len(runs)))
    expected = []
    for _, documents in sorted(classes.items()):
        lengths, types = zip(*documents, strict=True)
        if len(documents) > 1:
            half = 2 * stdev(types) / sqrt(len(types))
            expected.append((mean(lengths), mean(types), mean(types) - half, mean(types) + half))
    assert len(expected) < len(classes)  # a class of one document is left out
    assert np.array(points(curves[name], "x", "y", "low", "high")) == pytest.approx(np.array(expected))


@pytest.mark.parametrize(("name", "of"), [("stopwords", STOP_WORDS), ("symbols", SYMBOLS)])
def test_densities_of_shares(curves, texts, name, of):
    """A share is in the class whose lower end it is, exactly; in the last one 1 is too."""
    shares = [Fraction(sum(token in of for token in tokens), len(tokens)) for tokens in tokens_of(texts) if tokens]
    assert {Fraction(number, 40) for number in (2, 4, 10, 40)} & set(shares)
    classes = Counter(min(floor(40 * share), 39) for share in shares)
    expected = [((2 * place + 1) / 80, 40 * classes[place] / len(shares)) for place in range(40)]
    assert np.array(points(curves[name], "x", "y")) == pytest.approx(np.array(expected))


def test_a_share_at_the_end_of_a_class_is_in_the_next():
    """3 of 40 tokens, and so on: a share is a quotient, correctly rounded, and so are the ends of classes."""
    for number in range(40):
        found = own_curves(counted(["the " * number + "w " * (40 - number)]))["stopwords"]
        assert np.flatnonzero(found.columns["y"]).tolist() == [number]


def test_density_of_lengths(curves, texts):
    """By unit of log length; what is not there are the documents without a token."""
    lengths = lengths_by_hand(texts)
    begins = sorted({round(1.15**power) for power in range(80)})
    got = points(curves["length"], "x", "y")
    assert len(got) < len(begins)
    for (x, y), begin, after in zip(got, begins, begins[1:], strict=False):
        share = sum(begin <= length < after for length in lengths) / len(lengths)
        assert x == pytest.approx(sqrt((begin - 0.5) * (after - 0.5)))
        assert y == pytest.approx(share / log((after - 0.5) / (begin - 0.5)))
    assert begins[len(got)] > max(lengths)


@pytest.mark.parametrize(
    ("name", "values"),
    [("length", lengths_by_hand), ("stopwords", stop_words_by_hand), ("symbols", symbols_by_hand)],
)
def test_box_plots_are_quantiles(curves, texts, name, values):
    box = curves[f"box.{name}"]
    assert box.columns["x"] == pytest.approx(np.arange(101) / 100, abs=1e-15)
    assert box.columns["y"] == pytest.approx(np.quantile(values(texts), np.arange(101) / 100), abs=1e-12)


def test_curves_that_there_are_no_documents_for():
    without = own_curves(counted(made_up(30), OPTIONS.changed(stop_words="none")))
    every = set(own_curves(counted(made_up(30))))
    assert every - set(without) == {"stopwords", "box.stopwords"}
    empty = own_curves(counted(["", " "]))
    assert {name for name, curve in empty.items() if curve.columns["y"].any()} == set()
    assert len(curves_table(list(empty.values()))) == sum(len(curve.columns["x"]) for curve in empty.values())


def test_a_table_has_every_point_and_nothing_where_there_is_no_number():
    given = [Curve("a", [1, 2], [3, 4], p=[0.5, NAN]), Curve("b", [], []), Curve("c", [5], [6], low=[7], high=[8])]
    table = curves_table(given)
    assert table.to_pydict() == {
        "curve": ["a", "a", "c"],
        "x": [1, 2, 5],
        "y": [3, 4, 6],
        "low": [None, None, 7],
        "high": [None, None, 8],
        "p": [0.5, None, None],
    }
    assert curves_table([]).schema == table.schema


def sizes(counts, real=None, options=MEASURING):
    return {curve.name.removeprefix("size."): curve for curve in size_curves(counts, real, options)}


def by_hand(texts, words):
    """All estimates but the number of types; recurrence where some distance has enough pairs."""
    supports = {"s": "infinite", "s_observed": "observed", "s_first": "first"}
    supports["s_infinite_of_first"] = "infinite-of-first"
    expected = {name: zipf_by_hand(words, support, 40) for name, support in supports.items()}
    for prefix, size in (("heaps", 1), ("heaps_bigram", 2)):
        log_alpha, expected[f"{prefix}_beta"] = heaps_by_hand(texts, size).params
        expected[f"{prefix}_alpha"] = exp(log_alpha)
    means = {"length": lengths_by_hand, "stopwords": stop_words_by_hand, "symbols": symbols_by_hand}
    expected |= {f"{name}_mean": mean(values(texts)) for name, values in means.items()}
    expected["taylor"] = taylor_by_hand(texts)
    lags = lags_by_hand(texts)
    return expected | ({"recurrence": recurrence_by_hand(texts, lags)} if lags else {})


def test_each_size_is_that_of_so_many_random_groups(texts, counts):
    """The parts are found again among all sets of groups, by their types; each holds the smaller ones."""
    found, before = sizes(counts), set()
    of_group = [words_of(of_groups(texts, counts, {group})) for group in range(10)]
    assert found["types"].columns["x"].tolist() == [20, 40, 100, 200]  # 1, 2, 5 and 10 groups
    for number in (1, 2, 5, 10):
        values = {name: y for name, curve in found.items() for x, y in points(curve, "x", "y") if x == 20 * number}
        matching = []
        for groups in combinations(range(10), number):
            words = sum((of_group[group] for group in groups), Counter())
            if (len(words), chao1_by_hand(words)) == (values["types"], values["types_chao1"]):
                matching.append((set(groups), words))
        nested = [(groups, words) for groups, words in matching if before < groups]
        assert len(nested) == 1
        before, words = nested[0]
        some = of_groups(texts, counts, before)
        expected = by_hand(some, words) | {name: values[name] for name in ("types", "types_chao1")}
        assert values == pytest.approx(expected, abs=1e-9)
    assert all(np.isnan(curve.columns["low"]).all() for curve in found.values())


def test_another_seed_has_other_parts_and_the_same_whole(counts):
    each = (Tendencies(kind="tendencies", seed=seed) for seed in (1, 2))
    one, other = (sizes(counts, options=options)["types"].columns["y"] for options in each)
    assert one[0] != other[0]
    assert one[-1] == other[-1]


def test_a_size_that_has_no_estimate_is_left_out():
    """Of a part whose words are all one there is no s."""
    counts = counted(["a", "a a"] * 20 + ["b"], OPTIONS)
    options = Tendencies(kind="tendencies", seed=9)  # the groups of the small parts do not have "b"
    found = sizes(counts, options=options)
    kept = [x for x, types in points(found["types"], "x", "y") if types > 1]
    assert found["s"].columns["x"].tolist() == kept
    assert 0 < len(kept) < len(found["types"].columns["x"])
    assert sizes(counted(["", ""])) == {}
    assert "unigram_half_l1" not in sizes(counts, counted([""]))


def test_the_distance_by_size_and_what_chance_adds_to_it():
    """Three groups each: all exchanges of groups are enumerated."""
    options = OPTIONS.changed(groups=3)
    texts, of_real = made_up(60, 2, s=0.8), made_up(60, 3)
    counts, real = counted(texts, options), counted(of_real, options)
    curve = sizes(counts, real)["unigram_half_l1"]
    parts = [[words_of(of_groups(*both, {group})) for group in range(3)] for both in ((texts, counts), (of_real, real))]

    def half_l1(groups, others):
        one, other = (sum(words, Counter()) for words in (groups, others))
        return sum(abs(one[w] / one.total() - other[w] / other.total()) for w in {*one, *other}) / 2

    for place, number in enumerate((1, 2, 3)):
        x, value, corrected = points(curve, "x", "y", "low")[place]
        assert x == 20 * number
        candidates = []
        for groups in combinations(parts[0], number):
            pool, every = [*groups, *parts[1]], range(number + 3)
            splits = [
                half_l1([pool[i] for i in chosen], [pool[i] for i in every if i not in chosen])
                for chosen in combinations(every, number)
            ]
            candidates.append((half_l1(groups, parts[1]), half_l1(groups, parts[1]) - mean(splits)))
        assert any((value, corrected) == pytest.approx(one, abs=1e-9) for one in candidates)
