"""What the files of a set of documents say: floors and standard deviations over second draws, by hand."""

import json
from statistics import mean, stdev

import mpmath
import numpy as np
import pyarrow.parquet as pq
import pytest
import scipy.stats
from tendency_oracle import (
    OPTIONS,
    counted,
    cumulative_by_hand,
    heaps_by_hand,
    ks_by_hand,
    lengths_by_hand,
    made_up,
    of_groups,
    pairs_by_hand,
    stop_words_by_hand,
    taylor_by_hand,
    words_of,
    zipf_by_hand,
)

from textcritic.critics.tendencies.distances import Pair, distances, plain_distances
from textcritic.critics.tendencies.measure import measure_counts, measure_real, measure_sample
from textcritic.critics.tendencies.zipf_distances import zipf_fit_p
from textcritic.errors import TextcriticError
from textcritic.plan.entries import Tendencies

RANKS = 40
MEASURING = Tendencies(kind="tendencies", ranks=RANKS, resamples=19, least=4)
LAWS = {f"zipf_{whose}{end}" for whose in ("own", "real") for end in ("", "_untruncated", "_truncated")}
SIZED = ("rank", "taylor_distance", "recurrence_distance")
REAL, SAMPLE = made_up(120, 1), made_up(50, 2, 16.0)
# Of more documents than the sample, of more still, and of fewer.
DRAWS = [made_up(120, 11), made_up(200, 12), made_up(40, 13)]


def curve(measured, name):
    return next(one for one in measured.curves if one.name == name).columns


@pytest.fixture(scope="module")
def of_sample():
    return measure_sample(counted(REAL), counted(SAMPLE), map(counted, DRAWS), MEASURING)


@pytest.fixture(scope="module")
def of_real():
    return measure_real(counted(REAL), map(counted, DRAWS), MEASURING)


def unigram_max(one, other):
    first, second = words_of(one), words_of(other)
    return max(abs(first[w] / first.total() - second[w] / second.total()) for w in {*first, *second})


BY_HAND = {
    "unigram_max": unigram_max,
    "length_ks": lambda one, other: ks_by_hand(lengths_by_hand(one), lengths_by_hand(other)),
    "stopwords_ks": lambda one, other: ks_by_hand(stop_words_by_hand(one), stop_words_by_hand(other)),
}


def cut(draws):
    """Of those with more than the 50 documents of the sample: 4 of 10 groups of 12, and 2 of 10 of 20."""
    return [of_groups(draw, counted(draw), groups) for draw, groups in zip(draws, ({0, 1, 2, 3}, {0, 1}), strict=False)]


def test_draws_are_cut_to_the_size_of_the_sample(of_sample):
    kept = [*cut(DRAWS), DRAWS[2]]
    assert [len(one) for one in kept] == [48, 40, 40]
    assert of_sample.statistics["draws"] == {"number": 3, "documents": 40}
    for name, distance in BY_HAND.items():
        floors, said = [distance(one, REAL) for one in kept], of_sample.statistics["distances"][name]
        assert said["floor"] == pytest.approx(mean(floors), abs=1e-9), name
        assert said["floor_most"] == pytest.approx(max(floors), abs=1e-9), name
        assert said["value"] == pytest.approx(distance(SAMPLE, REAL), abs=1e-9), name


@pytest.mark.parametrize(
    ("documents", "expected"), [(1, 20), (29, 20), (31, 40), (110, 120), (199, 200), (200, 200), (300, 200)]
)
def test_the_nearest_number_of_groups_is_kept_one_at_least(documents, expected):
    """Of a sample without a token, which takes no time."""
    measured = measure_sample(counted(REAL), counted([""] * documents), [counted(DRAWS[1])], MEASURING)
    assert measured.statistics["draws"] == {"number": 1, "documents": expected}


def test_every_distance_of_second_draws_has_its_floor(of_sample):
    real, said = counted(REAL), of_sample.statistics["distances"]
    found = distances(Pair(real, counted(SAMPLE)), MEASURING)[0]
    by_size = {name: one.by_size for name, one in found.items()}
    floors = [
        plain_distances(real, counted(draw).take(groups), MEASURING, by_size)
        for draw, groups in zip(DRAWS, ([0, 1, 2, 3], [0, 1], range(10)), strict=True)
    ]
    for name, one in said.items():
        values = [floor[name] for floor in floors if name in floor]
        expected = (mean(values), max(values)) if values else (None, None)
        assert (one["floor"], one["floor_most"]) == (pytest.approx(expected) if values else expected), name
    assert {name for name, one in said.items() if one["floor"] is None} == {
        *LAWS,
        "heaps_own",
        "heaps_real",
        *(name for name in said if name.endswith("_difference")),
    }


def test_real_text_has_the_draws_as_they_are(of_real):
    said = of_real.statistics
    assert said["draws"] == {"number": 3, "documents": 40}
    for name, distance in BY_HAND.items():
        floors = [distance(draw, REAL) for draw in DRAWS]
        assert said["distances"][name]["value"] is None
        assert said["distances"][name]["floor"] == pytest.approx(mean(floors), abs=1e-9), name
        assert said["distances"][name]["floor_most"] == pytest.approx(max(floors), abs=1e-9), name
    assert curve(of_real, "floor.unigram_max")["y"] == pytest.approx([unigram_max(draw, REAL) for draw in DRAWS])
    # Of those that depend on the size, only the draw of as many documents is beside real text.
    floor = plain_distances(counted(REAL), counted(DRAWS[0]), MEASURING, dict.fromkeys(SIZED, 0.0))
    for name in SIZED:
        said_of = said["distances"][name]
        assert said_of["floor"] == said_of["floor_most"] == pytest.approx(floor[name]), name
    assert set(said["distances"]) & LAWS == {"zipf_own", "zipf_own_untruncated", "zipf_own_truncated"}


def test_standard_deviations_over_draws(of_real):
    by_hand = {
        "types": lambda texts: len(words_of(texts)),
        "length_mean": lambda texts: mean(lengths_by_hand(texts)),
        "stopwords_mean": lambda texts: mean(stop_words_by_hand(texts)),
        "s": lambda texts: zipf_by_hand(words_of(texts), "infinite", RANKS),
        "heaps_bigram_beta": lambda texts: heaps_by_hand(texts, 2).params[1],
        "taylor": taylor_by_hand,
    }
    for name, estimate in by_hand.items():
        said = of_real.statistics["estimates"][name]
        assert said["value"] == pytest.approx(estimate(REAL), abs=1e-9), name
        assert said["sd"] == pytest.approx(stdev(map(estimate, DRAWS)), abs=1e-9), name


def test_a_draw_says_nothing_of_what_it_has_not():
    """Too short for Taylor's law, or without a token; one draw alone has no standard deviation."""
    short, empty = ["a b c", "a", "b c"] * 10, [""] * 10
    made = measure_real(counted(REAL), map(counted, (DRAWS[0], short, empty)), MEASURING).statistics
    assert made["draws"] == {"number": 3, "documents": 10}
    assert made["estimates"]["types"]["sd"] == pytest.approx(stdev([len(words_of(DRAWS[0])), 3]))
    assert made["estimates"]["taylor"]["sd"] is None
    taylor, length = (made["distances"][name] for name in ("taylor_distance", "length_ks"))
    alone = plain_distances(counted(REAL), counted(DRAWS[0]), MEASURING, dict.fromkeys(SIZED, 0.0))
    assert taylor["floor"] == taylor["floor_most"] == pytest.approx(alone["taylor_distance"])
    floors = [BY_HAND["length_ks"](draw, REAL) for draw in (DRAWS[0], short)]
    assert (length["floor"], length["floor_most"]) == pytest.approx((mean(floors), max(floors)))


def test_the_band_of_recurrence(of_real, of_sample):
    def by_lag(texts):
        words = words_of(texts)
        chance = sum(n * (n - 1) for n in words.values()) / (words.total() * (words.total() - 1))
        pairs = [pairs_by_hand(texts, 1 << power) for power in range(7)]
        return [same / number / chance - 1 if number else float("nan") for number, same in pairs]

    found, draws = curve(of_real, "recurrence"), np.array([by_lag(draw) for draw in DRAWS])
    assert found["x"].tolist() == [1, 2, 4, 8, 16, 32, 64]
    assert np.isnan(draws).any()  # a draw without a document so long
    assert not np.isnan(draws).all(axis=0).any()
    assert found["y"] == pytest.approx(np.array(by_lag(REAL)), nan_ok=True)
    assert found["low"] == pytest.approx(np.nanmin(draws, axis=0))
    assert found["high"] == pytest.approx(np.nanmax(draws, axis=0))
    assert curve(of_sample, "recurrence")["y"] == pytest.approx(np.array(by_lag(SAMPLE)), nan_ok=True)
    assert "low" not in curve(of_sample, "recurrence")


def support_of(convention):
    return "first" if convention == "_truncated" else "infinite"


def test_distances_from_zipfs_law(of_sample, of_real):
    real, sample = words_of(REAL), words_of(SAMPLE)

    def apart(words, source, convention):
        s = zipf_by_hand(source, support_of(convention), RANKS)
        whole = sum(rank**-s for rank in range(1, RANKS + 1)) if convention == "_truncated" else float(mpmath.zeta(s))
        law = np.cumsum([rank**-s for rank in range(1, RANKS + 1)]) / whole
        counts = sorted(words.values(), reverse=True)
        own = np.array(cumulative_by_hand(words, RANKS))
        if convention == "_untruncated":
            own *= sum(counts[:RANKS]) / sum(counts)
        return max(abs(own - law))

    for end in ("", "_untruncated", "_truncated"):
        said = of_sample.statistics["distances"]
        assert said[f"zipf_own{end}"]["value"] == pytest.approx(apart(sample, sample, end), abs=1e-9)
        assert said[f"zipf_real{end}"]["value"] == pytest.approx(apart(sample, real, end), abs=1e-9)
        of_itself = of_real.statistics["distances"][f"zipf_own{end}"]
        assert of_itself["value"] == pytest.approx(apart(real, real, end), abs=1e-9)
        # Each simulation is fitted where s was.
        for whose, given in (("own", None), ("real", zipf_by_hand(real, support_of(end), RANKS))):
            counts, convention = (
                sorted(sample.values(), reverse=True),
                end.removeprefix("_") or "renormalised-empirical",
            )
            test = zipf_fit_p(counts, [convention], given, RANKS, 19, MEASURING.seed)[convention]
            assert said[f"zipf_{whose}{end}"]["p_value"] == test.p


def test_distances_from_heaps_law():
    """Of documents of three lengths, so that each is a class: Poisson numbers by scipy."""
    rng = np.random.default_rng(1)
    sets = {}
    for name, numbers, types in (("real", (30, 40, 50), 60), ("sample", (20, 25, 15), 40)):
        lengths = np.repeat([4, 9, 20], numbers)
        sets[name] = [" ".join(f"w{word}" for word in rng.integers(0, types, length)) for length in lengths]
    measured = measure_sample(counted(sets["real"]), counted(sets["sample"]), [], MEASURING)
    for whose, source in (("own", "sample"), ("real", "real")):
        log_alpha, beta = heaps_by_hand(sets[source]).params
        each = []
        for length in (4, 9, 20):
            types = np.array([len(set(text.split())) for text in sets["sample"] if len(text.split()) == length])
            law = scipy.stats.poisson(np.exp(log_alpha) * length**beta)
            # Beyond the length the law goes on, and no document does.
            each.append(max(abs((types <= n).mean() - law.cdf(n)) for n in range(length + 1)))
        said = measured.statistics["distances"][f"heaps_{whose}"]
        assert said["value"] == pytest.approx(np.average(each, weights=(20, 25, 15)), abs=1e-9)
        assert curve(measured, f"heaps_{whose}")["x"].tolist() == [4, 9, 20]
        assert curve(measured, f"heaps_{whose}")["y"] == pytest.approx(each, abs=1e-9)


def test_pictures_of_tests_are_of_as_many_permutations(of_sample):
    for name in ("length", "stopwords", "symbols"):
        said = of_sample.statistics["distances"][f"{name}_difference"]
        null = curve(of_sample, f"null.{name}")["y"]
        assert curve(of_sample, f"difference.{name}")["y"].tolist() == [said["value"]]
        assert said["p_value"] == pytest.approx((sum(abs(null) >= abs(said["value"]) - 1e-12) + 1) / 20)
    words = of_sample.statistics["distances"]["unigram_max"]
    assert curve(of_sample, "null.unigram_max")["y"].mean() == pytest.approx(words["by_chance"])
    assert curve(of_sample, "difference.unigram_max")["y"].tolist() == [words["value"]]
    assert curve(of_sample, "heaps")["x"].size == curve(of_sample, "heaps")["p"].size > 3


def test_files_say_the_same(tmp_path, of_sample):
    (tmp_path / "draws").mkdir()
    for number, draw in enumerate(DRAWS):
        counted(draw).save(tmp_path / "draws" / f"{number}.npz")
    for name, texts in (("real", REAL), ("sample", SAMPLE)):
        counted(texts).save(tmp_path / f"{name}.npz")
    paths = tmp_path / "real.npz", tmp_path / "draws", tmp_path / "sample.npz"
    measured = measure_counts(*paths, MEASURING)
    assert measured.statistics == of_sample.statistics
    measured.write(tmp_path / "said.json", tmp_path / "curves.parquet")
    assert json.loads((tmp_path / "said.json").read_text()) == of_sample.statistics
    table = pq.read_table(tmp_path / "curves.parquet").to_pandas()
    for one in of_sample.curves:
        rows = table[table["curve"] == one.name]
        for name, values in one.columns.items():
            assert np.array_equal(rows[name].to_numpy(), values, equal_nan=True), (one.name, name)
    assert len(table) == sum(len(one.columns["x"]) for one in of_sample.curves)


def test_estimates_at_one_size(of_sample):
    """Of the smaller set as they are; of the larger one in the mean of random parts, here by hand."""
    said, own = of_sample.statistics["one_size"], of_sample.statistics["estimates"]
    sample, real = counted(SAMPLE), counted(REAL)
    assert said["tokens"] == sample.tokens < real.tokens / 2
    for name, one in said["estimates"].items():
        assert one["value"] == own[name]["value"], name
        assert one["difference"] == pytest.approx(one["value"] - one["real"]), name
    rng, types, tokens = np.random.default_rng(0), [], []
    for _ in range(400):
        some = real.take(rng.permutation(10)[:3].tolist())
        types.append(len(some.words))
        tokens.append(some.tokens)
    slope, _ = np.polyfit(np.log(tokens), np.log(types), 1)
    expected = np.exp(np.mean(np.log(types)) + slope * np.log(sample.tokens / np.exp(np.mean(np.log(tokens)))))
    found = said["estimates"]["types"]
    assert found["real"] == pytest.approx(expected, rel=0.03)
    assert found["real"] < 0.8 * len(real.words)
    assert found["low"] < found["difference"] < found["high"]


def test_a_sample_without_a_token_and_real_text_without_one():
    empty = counted(["", " "])
    said = measure_sample(counted(REAL), empty, [counted(DRAWS[0])], MEASURING).statistics
    assert (said["documents"], said["tokens"], said["empty"]) == (2, 0, 2)
    assert said["estimates"] == said["distances"] == {}
    assert set(said["missing"].values()) == {"none of the 2 documents has a token; nothing is measured"}
    for call in (lambda: measure_real(empty, [], MEASURING), lambda: measure_sample(empty, empty, [], MEASURING)):
        with pytest.raises(TextcriticError, match="the real text has 2 documents and no token; give it text"):
            call()


def test_what_is_missing_and_what_was_cut_otherwise_is_said(of_sample):
    options = OPTIONS.changed(stop_words="none")
    said = measure_sample(counted(REAL, options), counted(["word, word."] * 20, options), [], MEASURING).statistics
    assert {"stopwords_mean", "stopwords_ks", "stopwords_difference", "taylor"} <= set(said["missing"])
    assert set(said["missing"]).isdisjoint({*said["estimates"], *said["distances"]})
    assert said["fault"].endswith("100.0% of the sample; cut both with the same tokenizer")
    assert of_sample.statistics["fault"] is None
