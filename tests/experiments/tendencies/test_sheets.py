"""Tables as people read them, from rows made by hand: values, notes, seeds, and what is not there."""

import pandas as pd
import pytest
from scipy import stats

from textcritic.critics.tendencies.verdicts import TENDENCIES
from textcritic.experiments.tendencies.rows import AT_SIZE, AUDIT
from textcritic.experiments.tendencies.sheets import (
    audit_sheet,
    distances_sheet,
    means_sheet,
    models_sheet,
    rejected_sheet,
    sizes_sheet,
    tendencies_sheet,
    values_sheet,
)
from textcritic.experiments.tendencies.statistics import DIFFERENCES, DISTANCES, ESTIMATES
from textcritic.measures.names import Names
from textcritic.plan.sources import data_keys

NAMES = Names({"g": "a model", "h": "another"}, frozenset(), frozenset(), False, False, {"data": "real text"})
NAN = float("nan")
EMPTY = dict.fromkeys(
    (
        "value",
        "low",
        "high",
        "sd",
        "p_value",
        "p_as_printed",
        "floor",
        "times",
        "draws",
        "corrected",
        "published",
        "difference",
        "published_sd",
        "published_note",
        "p_adjusted",
        "noticed",
        *AT_SIZE,
    )
) | {"documents": 60, "tokens": 1800, "empty": 0, "rejected": 0, "rejected_by_reason": "", "unfinished": 0}
REAL = data_keys("lines")


def source(generator="g", seed=1):
    return {
        "corpus": "lines",
        "source": "sample",
        "setting": "s",
        "generator": generator,
        "decoding": "d",
        "seed": seed,
        "draw": 1,
    }


def rows(*given):
    """A table; of what is not given a row has nothing."""
    return pd.DataFrame([EMPTY | row for row in given])


def cells(sheet, row=0):
    """The texts and notes of a row, by its column's head; every row is as wide as the head."""
    heads = [cell.text for cell in sheet.header[-1]]
    assert {len(line) for line in sheet.body} == {len(heads)}
    return {head: (cell.text, *cell.notes) for head, cell in zip(heads, sheet.body[row], strict=True)}


def verdict(tendency, word, value, times=NAN, p=NAN, ends=(NAN, NAN), **keys):
    numbers = {"value": value, "low": ends[0], "high": ends[1], "p_value": p, "times": times}
    numbers |= {"p_adjusted": min(1, 5 * p), "noticed": 0.07}
    return source(**keys) | {"tendency": tendency, "verdict": word} | numbers


def test_verdicts_with_how_far_and_how_sure():
    sheet = tendencies_sheet(
        rows(
            verdict("rank-frequency", "differs", 0.1234, 3.456, 0.0004, (0.101, 0.15)),
            verdict("type-token", "keeps", 0.0321, 0.9, 0.2, (0.02, 0.04)),
            verdict("unigrams", "unclear", 0.0044, 1.25, 0.34),
            verdict("length", "differs", 0.5, NAN, 0.02, (0.4, 0.6)),
            verdict("stopwords", "not measured", NAN),
        ),
        NAMES,
    )
    found = cells(sheet)
    heads = [tendency.title for tendency in TENDENCIES]
    assert list(found) == ["Source", *heads]
    assert list(found.values()) == [
        ("a model",),
        ("differs (3.5×)", "0.12 (0.10–0.15)", "p < 0.001, adjusted p = 0.002"),
        ("keeps", "0.032 (0.020–0.040)", "p = 0.20, adjusted p = 1.00"),
        ("unclear", "0.0044", "p = 0.34, adjusted p = 1.00", "noticed in 80% from 0.070"),
        ("—",),
        ("differs", "0.50 (0.40–0.60)", "p = 0.02, adjusted p = 0.10"),
        ("not measured",),
        *[("—",)] * 3,
    ]
    assert sheet.remarks[1].startswith("Margins. rank and frequency: 0.03 (largest difference")
    assert "0.45 of 9 tests find a difference by chance" in sheet.remarks[2]
    assert sheet.body[0][0].heading


def test_of_several_seeds_the_verdict_of_the_farthest():
    given = [(0.1, "keeps", 0.5), (0.3, "differs", 0.01), (NAN, "not measured", NAN), (0.2, "unclear", 0.06)]
    table = [verdict("length", word, value, 2.0, p, seed=seed) for seed, (value, word, p) in enumerate(given)]
    sheet = tendencies_sheet(rows(*table, verdict("length", "keeps", 0.9, generator="h")), NAMES)
    assert cells(sheet)["Length"] == ("differs (2.0×)", "0.30", "p = 0.01, adjusted p = 0.050")
    assert cells(sheet, 1)["Source"] == ("another",)
    assert cells(sheet, 1)["Length"] == ("keeps", "0.90")


def estimate(name, value, keys=None, **numbers):
    return (source() if keys is None else keys) | {"statistic": name, "value": value} | numbers


def test_values_of_real_text_and_of_a_sample():
    table = rows(
        estimate("s", 1.20049, REAL, low=1.19, high=1.21, sd=0.00123, draws=4, published=1.1997, difference=0.0008,
                 published_sd=2.4e-5),
        estimate("types", 12345.0, REAL, sd=10.0, draws=4),
        estimate("recurrence", 0.0, REAL, low=-0.012, high=0.012, draws=4),
        estimate("s", 1.1, low=1.0, high=1.2, sd=5.0, published=1.25, difference=-0.15, empty=3),
        estimate("types", None, empty=3),
    )  # fmt: skip
    sheet = values_sheet(table, NAMES)
    real, sample = cells(sheet), cells(sheet, 1)
    assert list(real) == ["Source", *(statistic.title for statistic in ESTIMATES), "Documents"]
    assert real["Source"] == ("real text",)
    said = ("1.200", "1.190–1.210", "sd 0.0012", "published 1.200", "ours +0.001", "published sd 0.000024")
    assert real["Zipf’s s"] == said
    assert real["Different words"] == ("12,345", "sd 10")
    assert real["Recurrence"] == ("0", "−0.012 to 0.012")
    assert real["Mean length"] == ("—",)
    assert real["Documents"] == ("60", "1,800 tokens")
    assert sample["Zipf’s s"] == ("1.100", "1.000–1.200", "published 1.250", "ours −0.150")
    assert sample["Different words"] == ("—",)
    assert sample["Documents"] == ("60", "1,800 tokens", "3 empty")
    assert any("over 4 random draws" in remark for remark in sheet.remarks)
    some = values_sheet(table, NAMES, "mine", ["types", "s"])
    assert [cell.text for cell in some.header[0]] == ["Source", "Zipf’s s", "Different words", "Documents"]
    assert some.name == "mine"


@pytest.mark.parametrize("draws", [None, 0, 1])
def test_nothing_is_said_of_a_standard_deviation_that_there_is_none_of(draws):
    sheet = values_sheet(rows(estimate("s", 1.2, REAL, draws=draws)), NAMES)
    assert not any("random draws" in remark for remark in sheet.remarks)


def test_what_depends_on_the_size_is_compared_at_one():
    sized = {"at_tokens": 900, "at_size": 1.25, "real_at_size": 1.3, "apart": -0.05}
    ends = {"apart_low": -0.07, "apart_high": -0.03}
    table = rows(estimate("s", 1.2, REAL), estimate("s", 1.1, **sized, **ends), estimate("s", 1.1, source("h")))
    sheet = values_sheet(table, NAMES)
    said = "at 900 tokens 1.250, real text 1.300", "difference −0.050 (−0.070 to −0.030)"
    assert cells(sheet, 1)["Zipf’s s"] == ("1.100", *said)
    assert cells(sheet, 2)["Zipf’s s"] == ("1.100",)
    assert any("size of the smaller one" in remark for remark in sheet.remarks)
    assert not any("size of the smaller one" in remark for remark in values_sheet(table.iloc[[0, 2]], NAMES).remarks)
    both = rows(*(estimate("s", 1.1, source(seed=seed), **sized, **ends) for seed in (1, 2)))
    assert cells(values_sheet(both, NAMES))["Zipf’s s"][-1] == "difference −0.050"


def test_seeds_have_one_mean_and_spread():
    """Of those that were measured; documents of all."""
    table = [estimate("s", value, source(seed=seed), low=0.0, high=9.0) for seed, value in enumerate((1.1, 1.2, 1.3))]
    found = cells(values_sheet(rows(*table), NAMES))
    width = stats.t.ppf(0.975, 2) * 0.1 / 3**0.5
    spread = f"{1.2 - width:.3f}–{1.2 + width:.3f} over 3 trainings"
    assert found["Zipf’s s"] == ("1.200", spread)
    assert found["Documents"] == ("180", "5,400 tokens")
    lacking = estimate("s", None, source(seed=7))
    assert cells(values_sheet(rows(lacking, *table), NAMES))["Zipf’s s"] == ("1.200", spread)
    assert cells(values_sheet(rows(table[0], lacking), NAMES))["Zipf’s s"] == ("1.100", "0.000–9.000")
    assert cells(values_sheet(rows(table[0], lacking), NAMES))["Documents"] == ("120", "3,600 tokens")


def test_what_was_rejected_stands_beside_the_documents():
    """Of all seeds, each counted once; remarks speak of all samples."""
    lost = {"rejected": 40, "rejected_share": 0.4, "rejected_by_reason": "no end within 9 tokens: 38; empty: 2"}
    some = {"rejected": 3, "rejected_share": 3 / 63, "rejected_by_reason": "empty: 3", "unfinished": 1234}
    none = {"rejected_share": 0.0}
    keys = [source(), source(seed=2), source("h")]
    table = rows(
        estimate("s", 1.2, REAL),
        *(
            estimate(name, 1.1, key, **says)
            for key, says in zip(keys, (lost, some, none), strict=True)
            for name in "st"
        ),
    )
    sheet = values_sheet(table, NAMES)
    said = "120", "3,600 tokens", "1,234 had not ended", "43 of 163 rejected", "no end within 9 tokens: 38", "empty: 5"
    assert [cells(sheet, row)["Documents"] for row in range(3)] == [
        ("60", "1,800 tokens"),
        said,
        ("60", "1,800 tokens"),
    ]
    found = rows(
        *(verdict(name, "keeps", 0.1, **key) for key in ({}, {"generator": "h"}) for name in ("length", "rank"))
    )
    assert not any("rejected" in remark or "ended" in remark for remark in tendencies_sheet(found, NAMES).remarks)
    samples = table[table["source"] == "sample"].assign(tendency="length")
    remarks = (
        "Of 223 texts that were drawn 43 were rejected; they do not count in these numbers.",
        "1,234 documents had not ended at the decoding’s largest number of tokens.",
    )
    assert tuple(tendencies_sheet(samples.assign(verdict="keeps"), NAMES).remarks[-2:]) == remarks
    assert tuple(sheet.remarks[-2:]) == remarks
    body = [[cell.text for cell in line] for line in rejected_sheet(samples, NAMES).body]
    assert body == [
        ["a model", "100", "40", "40%", "0", "no end within 9 tokens: 38; empty: 2"],
        ["a model", "63", "3", "4.8%", "1,234", "empty: 3"],
        ["another", "60", "0", "0%", "0", "none"],
    ]


def test_distances_with_second_draws_and_p():
    printed = {"published": 0.1, "difference": -0.0488, "published_note": "p < 0.001"}
    table = rows(
        estimate("rank", None, REAL, floor=0.01),
        estimate("rank", 0.0512, low=0.04, high=0.06, floor=0.0123, p_value=0.004, **printed),
        estimate("zipf_own", 0.142),
        *(
            estimate("rank", value, source("h", seed), floor=floor, p_value=p)
            for seed, (value, floor, p) in enumerate([(0.2, 0.01, 0.001), (0.4, 0.03, 0.03), (None, 9.0, None)])
        ),
    )
    sheet = distances_sheet(table, NAMES)
    assert [head.text for head in sheet.header[0]] == ["Source", *(statistic.title for statistic in DISTANCES)]
    assert cells(sheet)["Ranks of real text"] == ("—",)
    said = ("0.051", "0.040–0.060", "second draw 0.012", "p = 0.004", "published 0.10 (p < 0.001)", "ours −0.049")
    assert cells(sheet, 1)["Ranks of real text"] == said
    assert cells(sheet, 1)["Zipf’s law, own s"] == ("0.14",)
    several = ("0.30", "0–1.6 over 2 trainings", "second draw 0.020", "p = 0.03")
    assert cells(sheet, 2)["Ranks of real text"] == several
    assert [cell.text for cell in distances_sheet(table, NAMES, "x", ["length_ks"]).header[0]] == ["Source", "Length"]


def test_differences_of_means_with_both_p():
    below = {"published": -44.0, "difference": 43.5, "published_note": "below"}
    shares = estimate("stopwords_difference", 0.00004, low=0.00001, high=0.01, p_value=0.9, p_as_printed=0.45)
    table = rows(
        estimate("length_difference", -0.5, low=-1.5, high=0.25, p_value=0.03, p_as_printed=1.0, **below),
        shares,
        *(estimate("length_difference", n, source("h", seed), p_value=0.1) for seed, n in enumerate((1.0, 3.0))),
    )
    sheet = means_sheet(table, NAMES)
    assert [head.text for head in sheet.header[0]] == ["Source", *(statistic.title for statistic in DIFFERENCES)]
    said = ("−0.50", "−1.50 to 0.25", "p = 0.03", "as printed p = 1.00", "published −44.00 (below)", "ours +43.50")
    assert cells(sheet)["Length, tokens"] == said
    assert cells(sheet)["Share of stop words"] == ("0.0000", "0.0000–0.0100", "p = 0.90", "as printed p = 0.45")
    assert cells(sheet)["Share of symbols"] == ("—",)
    assert cells(sheet, 1)["Length, tokens"] == ("2.00", "−10.71 to 14.71 over 2 trainings")


def test_models_with_their_size_and_perplexity():
    table = rows(
        estimate("parameters", 205_000_000, label="a model"),
        estimate("perplexity", 23.456, label="a model", published=24.0, difference=-0.544),
        estimate("parameters", None, source("h"), label="another"),
        *(estimate("perplexity", n, source("h", seed), label="another") for seed, n in enumerate((20.0, 30.0))),
    )
    sheet = models_sheet(table, "models")
    assert cells(sheet) == {
        "Generator": ("a model",),
        "Parameters": ("205,000,000",),
        "Perplexity": ("23.46", "published 24.00", "ours −0.54"),
    }
    assert cells(sheet, 1) == {"Generator": ("another",), "Parameters": ("—",), "Perplexity": ("25.00",)}


def test_that_s_is_biased_is_said_where_s_is_shown():
    table = rows(estimate("s", 1.2, REAL), estimate("types", 100.0, REAL))
    said = [
        any("makes s too large" in remark for remark in values_sheet(table, NAMES, "x", only).remarks)
        for only in ([], ["s", "types"], ["types"])
    ]
    assert said == [True, True, False]


def test_that_p_of_zipfs_law_may_say_nothing_is_said_where_it_is_shown():
    table = rows(estimate("zipf_own", 0.142, p_value=0.5), estimate("length_ks", 0.1))
    said = [
        any("whatever the text" in remark for remark in distances_sheet(table, NAMES, "x", only).remarks)
        for only in ([], ["zipf_own"], ["length_ks"])
    ]
    assert said == [True, True, False]


def test_the_audit_has_a_column_for_each_option():
    options = [(switch, name) for switch, found in AUDIT.items() for name in found]
    table = rows(
        *(estimate(name, 0.1234567 * (place + 1), switch=switch) for place, (switch, name) in enumerate(options))
    )
    sheet = audit_sheet(table.drop(index=4), NAMES, published=False)
    first, second = sheet.header
    assert sum(cell.span for cell in first) == len(second) == 11
    assert [cell.text for cell in first] == ["", "Zipf’s s", "Distance from Zipf’s law", "Difference of words"]
    heads = [option for found in AUDIT.values() for option in found.values()]
    assert [cell.text for cell in second] == ["Source", *heads]
    texts = ["0.123", "0.247", "0.370", "0.494", "—", "0.74", "0.86", "0.99", "1.1", "1.2"]
    assert [cell.text for cell in sheet.body[0]] == ["a model", *texts]
    assert len(audit_sheet(table, NAMES, published=True).remarks) == len(sheet.remarks) + 1


def test_sizes_are_rows_from_the_smallest():
    def point(name, size, value, corrected=None, keys=None):
        return estimate(name, value, keys, documents=size, corrected=corrected)

    table = rows(
        point("types", 100.0, 1500.0, keys=REAL),
        point("types", 20.0, 400.0),
        point("types", 5.0, 90.0),
        point("types_chao1", 20.0, 1234.5),
        point("s", 20.0, 1.25),
        point("s_first", 20.0, 0.98765),
        point("heaps_bigram_alpha", 5.0, 1.0987),
        point("length_mean", 5.0, 57.456),
        point("recurrence", 20.0, 0.1234),
        point("unigram_half_l1", 5.0, 0.5, 0.123),
        point("unigram_half_l1", 20.0, 0.2, -0.01),
        point("types", 5.0, 110.0, keys=source(seed=2)),
    )

    def alone(*texts):
        return [(text,) for text in texts]

    sheet = sizes_sheet(table, NAMES)
    heads = ["Zipf’s s", "s, first ranks", "K of bigrams", "Different words", "At least (Chao 1984)", "Mean length"]
    heads = ["Source", "Documents", *heads, "Recurrence", "Words, total variation"]
    assert [cell.text for cell in sheet.header[0]] == heads
    body = [[(cell.text, *cell.notes) for cell in line] for line in sheet.body]
    five, twenty = (("0.50", "without chance 0.12"),), (("0.20", "without chance −0.010"),)
    assert body == [
        alone("real text", "100", "—", "—", "—", "1,500", "—", "—", "—", "—"),
        [*alone("a model", "5", "—", "—", "1.099", "100", "—", "57.46", "—"), *five],
        [*alone("", "20", "1.250", "0.988", "—", "400", "1,234", "—", "0.12"), *twenty],
    ]
    assert sheet.stubs == 2
