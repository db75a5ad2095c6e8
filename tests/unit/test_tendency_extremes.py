"""Extreme documents through the jobs that count and measure: every number is there, or one sentence says why not."""

import json
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from textcritic.corpora import Article, Section, write_articles
from textcritic.critics.tendencies.counting import count_texts
from textcritic.critics.tendencies.counts import LENGTH, Counts, merge
from textcritic.critics.tendencies.estimates import estimates, pooled
from textcritic.critics.tendencies.job import count_articles, count_draws
from textcritic.critics.tendencies.measure import measure_counts, measure_sample
from textcritic.critics.tendencies.scaling import word_recurrence
from textcritic.critics.tendencies.zipf import fit_zipf
from textcritic.files import read_table
from textcritic.plan.entries import Tendencies

COUNTING = Tendencies(kind="tendencies", window=5, longest_lag=16, groups=10)
MEASURING = Tendencies(kind="tendencies", ranks=50, resamples=9, least=6)
WORDS = np.array(["the", "of", ".", *(f"w{n}" for n in range(40))])


def usual(documents=40, seed=1, length=None):
    rng = np.random.default_rng(seed)
    shares = np.arange(1, len(WORDS) + 1) ** -1.1
    lengths = rng.integers(8, 70, documents) if length is None else [length] * documents
    return [" ".join(rng.choice(WORDS, number, p=shares / shares.sum())) for number in lengths]


USUAL = usual()
ONE_TYPE, EQUAL, LONG = ["a a a"] * 20, ["a b c d e"] * 30, "x" * 10_000


class Jobs:
    """The jobs of the rules, in one folder."""

    def __init__(self, folder):
        self.folder = folder

    def counted(self, name, texts, options=COUNTING):
        path = self.folder / f"{name}.parquet"
        write_articles(path, (Article(f"a{n}", None, (Section(None, t),), "made up") for n, t in enumerate(texts)))
        count_articles(path, options).save(self.folder / f"{name}.npz")
        return self.folder / f"{name}.npz"

    def measured(self, real, sample, options=COUNTING):
        """What JSON and curves say of a sample beside real text, or of real text if there is none."""
        of_real = self.counted("real", real, options)
        of_sample = None if sample is None else self.counted("sample", sample, options)
        articles = of_real.with_suffix(".parquet")
        count_draws(articles, options, (2, articles), self.folder / "draws")
        measured = measure_counts(of_real, self.folder / "draws", of_sample, MEASURING)
        measured.write(self.folder / "found.json", self.folder / "found.parquet")
        return strict(self.folder / "found.json"), read_table(self.folder / "found.parquet")


def strict(path):
    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(path.read_text("utf-8"), parse_constant=refuse)


@pytest.fixture
def jobs(tmp_path):
    return Jobs(tmp_path)


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """Everything that is measured of a sample."""
    found, _ = Jobs(tmp_path_factory.mktemp("usual")).measured(USUAL, usual(seed=2))
    assert found["missing"] == {}
    return {*found["estimates"], *found["distances"]}


ONE_LENGTH = "Heaps' law: all documents have one length, so beta is unknown; give two lengths"
ONE_WORD = "Zipf's law: all tokens are one word, so s is infinite; give at least two words"
NO_SEGMENT = "Taylor's law: 0 segments; give at least two: longer documents, or shorter segments"
ALONE = "groups: the test needs three groups of about as many documents, and one set has 1 of 1, the other 10 of 4; "
NONE = "none of the 20 documents has a token; nothing is measured"


@pytest.mark.parametrize(
    ("real", "sample", "missing", "values"),
    [
        (
            *(USUAL, ONE_TYPE),
            {"s": ONE_WORD, "zipf_own": ONE_WORD, "heaps_beta": ONE_LENGTH, "taylor_distance": NO_SEGMENT},
            {"unigram_max": 1, "unigram_half_l1": 1, "bigram_max": 1, "types": 1, "length_mean": 3, "zipf_real": None},
        ),
        (
            *(ONE_TYPE, USUAL),
            {"zipf_real": f"real text: {ONE_WORD}", "heaps": "no narrow range of lengths has 4 documents of each set"}
            | {"heaps_real": f"real text: {ONE_LENGTH}", "taylor_distance": NO_SEGMENT},
            {"unigram_max": 1, "s": None, "zipf_own": None, "heaps_own": None},
        ),
        (
            *(ONE_TYPE, ONE_TYPE),
            {"s": ONE_WORD, "zipf_real": f"real text: {ONE_WORD}"},
            {"rank": 0, "unigram_max": 0, "length_ks": 0, "length_difference": 0},
        ),
        (
            *(USUAL, ["the end ."]),
            {"unigram_max": ALONE, "rank": ALONE, "heaps_beta": ONE_LENGTH},
            {
                "zipf_own_truncated": None,
                "s": None,
                "length_mean": 3,
                "length_ks": None,
                "stopwords_mean": 1 / 3,
                "symbols_mean": 1 / 3,
            },
        ),
        (["a"], ["a"], {"heaps_bigram_beta": "no document has two tokens", "recurrence": "no word occurs twice"}, {}),
        (
            *(USUAL, usual(seed=3, length=30)),
            {"heaps_beta": ONE_LENGTH, "heaps_bigram_beta": ONE_LENGTH, "heaps_own": ONE_LENGTH},
            {"length_mean": 30, "heaps": None, "heaps_real": None},
        ),
        (usual(seed=3, length=30), USUAL, {"heaps_real": f"real text: {ONE_LENGTH}"}, {"heaps": None}),
        (USUAL, [""] * 20, dict.fromkeys(("s", "rank", "zipf_own", "heaps_real", "length_mean", "types"), NONE), {}),
        (
            *(USUAL, [*[""] * 20, "a b a"]),
            {"taylor_distance": NO_SEGMENT},
            {"s": fit_zipf([2, 1]).s, "s_observed": 1, "length_mean": 3 / 21, "types": 2, "unigram_max": None},
        ),
        (
            *(USUAL, EQUAL),
            {"heaps_beta": ONE_LENGTH, "taylor": "5 words with a mean above 0 in a segment, no two vary"},
            {"s_observed": 0, "s": fit_zipf([1] * 5).s, "zipf_own_truncated": None},
        ),
    ],
    ids=(
        "one type",
        "real one type",
        "both one type",
        "one document",
        "one token",
        "one length",
        "real one length",
        "empty",
        "almost empty",
        "equal counts",
    ),
)
def test_what_is_not_measured_has_a_reason(jobs, names, real, sample, missing, values):
    """And what can be measured has the value that arithmetic says."""
    found, curves = jobs.measured(real, sample)
    numbers = found["estimates"] | found["distances"]
    assert set(numbers) | set(found["missing"]) == names
    assert not set(numbers) & set(found["missing"])
    assert all(said["value"] is not None for said in numbers.values())
    for name, why in missing.items():
        assert why in found["missing"][name], name
    for name, value in values.items():
        assert value is None or numbers[name]["value"] == pytest.approx(value, abs=1e-9), name
    assert curves.column("y").null_count < max(1, len(curves))
    for column in curves.columns[1:]:
        assert not np.isinf(column.to_numpy()).any()


def test_real_text_of_one_type_has_reasons_too(jobs):
    found, _ = jobs.measured(ONE_TYPE, None)
    missing = found["missing"]
    assert [missing[name] for name in ("s", "zipf_own", "zipf_own_truncated")] == [ONE_WORD] * 3
    assert [missing[name] for name in ("heaps_beta", "heaps_own")] == [ONE_LENGTH] * 2
    assert found["estimates"]["types"]["value"] == 1


def test_an_interval_that_needs_more_documents_is_left_out_and_the_value_stays():
    """Without either document there is one word, of which Zipf's law has no exponent."""
    counts = count_texts([pa.array(["a a a", "b b"])], 2, COUNTING)
    made, missing = estimates(counts, MEASURING)
    assert made["s"].value == fit_zipf([3, 2]).s
    assert np.isnan([made["s"].low, made["s"].high]).all()
    assert "s" not in missing


@pytest.mark.parametrize("tokenizer", ["whitespace", "words"])
def test_a_token_of_10_000_characters_is_one_word(jobs, tokenizer):
    texts = [f"{LONG} the b {'ä' * 10_000}", *USUAL]
    options = COUNTING.changed(tokenizer=tokenizer)
    path = jobs.counted("long", texts, options)
    counts = Counts.load(path)
    assert counts.column(LENGTH)[0] == 4
    assert {LONG, "ä" * 10_000} <= set(counts.words.to_pylist())
    found, curves = jobs.measured(texts, [LONG] * 20, options)
    assert found["distances"]["unigram_max"]["value"] == pytest.approx(1 - 1 / counts.tokens)
    assert "xxx" not in json.dumps(found)
    assert not any("xxx" in name for name in curves.column("curve").unique().to_pylist())


@pytest.mark.parametrize(
    ("real", "sample", "options", "fault"),
    [
        ("it 's fine .", "it's fine.", {}, "0.0% of the tokens of the real text are letters with a mark such as"),
        ("it 's fine .", "it's fine.", {"tokenizer": "words"}, "0.0% of the tokens of the real text have an apostro"),
        (
            "they 're in , is n't it",
            "they're in, isn't it",
            {"tokenizer": "words"},
            "and 40.0% of the sample; cut both",
        ),
        (
            "don’t go",
            "don ’t go",
            {"tokenizer": "words"},
            "50.0% of the tokens of the real text have an apostrophe ins",
        ),
        (
            "It is",
            "it is",
            {"lower_case": False},
            "50.0% of the tokens of the real text have an upper-case letter, and",
        ),
        ("It is", "it is", {}, None),
        ("it's fine", "that is fine", {}, None),
        ("he said so", "he said ' so '", {}, None),
    ],
)
def test_text_of_another_tokenizer_is_said_to_be(jobs, real, sample, options, fault):
    found, _ = jobs.measured([real] * 5, [sample] * 5, COUNTING.changed(**options))
    assert (found["fault"] is None) is (fault is None)
    assert fault is None or fault in found["fault"]


def test_without_stop_words_all_else_is_measured(jobs):
    sample = usual(seed=2)
    having, _ = jobs.measured(USUAL, sample)
    lacking, _ = jobs.measured(USUAL, sample, COUNTING.changed(stop_words="none"))
    gone = {"stopwords_mean", "stopwords_ks", "stopwords_difference"}
    why = "stop words were not counted: the critic has `stop_words: none`"
    assert {name: lacking["missing"].pop(name) for name in gone} == dict.fromkeys(gone, why)
    for key in ("estimates", "distances"):
        assert lacking[key] == {name: said for name, said in having[key].items() if name not in gone}
    assert lacking["missing"] == having["missing"]


# So many times as many, of some 600 tokens of the commonest word, is more than 2^31.
TIMES = 2**22 + 1


def times(counts):
    """The same documents, each word of which stands for many."""
    kept = ("words", "documents", "group", "lags")
    return replace(counts, **{f.name: getattr(counts, f.name) * TIMES for f in fields(counts) if f.name not in kept})


@pytest.fixture(scope="module")
def small():
    given = [usual(80, seed) for seed in (5, 6, 7)]
    given[1] = [text.replace("w1 ", "the ") for text in given[1]]
    return [count_texts([pa.array(texts)], len(texts), COUNTING) for texts in given]


def test_counts_beyond_31_bits_are_added_exactly(small, tmp_path):
    large = [times(counts) for counts in small]
    for number, counts in enumerate(large):
        counts.save(tmp_path / f"{number}.npz")
    large = [Counts.load(tmp_path / f"{number}.npz") for number in range(3)]
    merged, plain = merge(large), merge(small)
    assert merged.words.equals(plain.words)
    assert merged.unigrams().tolist() == [TIMES * int(count) for count in plain.unigrams()]
    assert merged.unigrams()[0] > 2**32
    pooled(merged).save(tmp_path / "pooled.npz")
    together = Counts.load(tmp_path / "pooled.npz")
    for name in ("segments", "recurrence", "attached", "upper", "matrix", "segment_sums", "segment_squares"):
        one, many = getattr(pooled(plain), name), getattr(together, name)
        one, many = (np.asarray(part.todense() if hasattr(part, "todense") else part) for part in (one, many))
        assert many.ravel().tolist() == [TIMES * int(count) for count in one.ravel()], name


def test_counts_beyond_31_bits_are_measured_as_smaller_ones(small):
    """All but the tests of Zipf's law, chi-square, recurrence, whose chance is one of pairs of other tokens, and the
    distance of Taylor's exponents, for which more words occur often enough.
    """
    real, sample, draw = small
    plain = measure_sample(real, sample, [draw], MEASURING).statistics
    large = measure_sample(times(real), times(sample), [times(draw)], MEASURING).statistics
    assert large["missing"] == plain["missing"]
    for key in ("estimates", "distances"):
        assert set(large[key]) == set(plain[key])
        for name, said in plain[key].items():
            if name.startswith(("recurrence", "unigram_chi", "taylor_di")):
                continue
            for number in ("value", "low", "high", "floor", *(["p_value"] if not name.startswith("zipf") else [])):
                expected = said.get(number)
                near = None if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-9)
                assert large[key][name].get(number) == near, (name, number)
    chi = [found["distances"]["unigram_chi_square"]["value"] for found in (plain, large)]
    assert chi[1] == pytest.approx(TIMES * chi[0], rel=1e-9)


def test_recurrence_beyond_31_bits_is_that_of_whole_numbers(small):
    counts = pooled(times(small[0]))
    words = [int(count) for count in counts.unigrams()]
    chance = Fraction(sum(c * (c - 1) for c in words), sum(words) * (sum(words) - 1))
    found = word_recurrence(counts.recurrence, counts.lags, counts.matrix)
    assert found.chance == pytest.approx(float(chance), rel=1e-13)
    for place, (pairs, same) in enumerate(counts.recurrence[0].tolist()):
        assert found.correlation[place] == pytest.approx(float(Fraction(same, pairs) - chance), rel=1e-9)
