"""Unlikely steps (Table 12), against counts by hand."""

from collections import Counter
from itertools import takewhile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import stats

from experiments.coherence.tiny import TITLES, build_coherence
from textcritic.critics import TransitionCritic
from textcritic.experiments.coherence import errors
from textcritic.experiments.coherence.errors import error_rows, errors_sheet
from textcritic.experiments.coherence.names import names_of
from textcritic.experiments.coherence.rows import scored_sources
from textcritic.experiments.coherence.tables import NAMES
from textcritic.files import read_table
from textcritic.inference import bootstrap_interval, ratio_of_sums
from textcritic.measures.material import Material
from textcritic.measures.numbers import difference, percent
from textcritic.measures.published import read_published


def test_copies_of_a_document_in_one_group_change_no_interval(files):
    _, scores, critic = next(one for one in scored_sources(files, gold=False) if one[0]["source"] == "sample")
    twice = pa.concat_tables([scores, scores])
    place = scores.column_names.index("group")
    copies = twice.set_column(place, scores.schema.field(place), twice["id"])
    alone, grouped, apart = (errors._of_source(table, critic, (), 99)[0] for table in (scores, copies, twice))
    ends = ("ci_low", "percent", "ci_high")
    assert [grouped[end] for end in ends] == pytest.approx([alone[end] for end in ends])
    assert grouped["documents"] == apart["documents"] == 2 * alone["documents"]
    assert apart["ci_high"] - apart["ci_low"] < 0.85 * (alone["ci_high"] - alone["ci_low"])


def test_transition_errors_by_hand(files, published):
    found = error_rows(Material(files, read_published(published), NAMES(files)))
    critic = TransitionCritic.load(files.data[0].critic)
    each = []
    for chain in read_table(files.samples[0].scores)["chain"].to_pylist():
        if chain:
            each.append(Counter(zip(["<begin>", *chain], [*chain, "<end>"], strict=True)))
    steps = sum(each, Counter())
    width = len(TITLES) + 1
    delta, counts = critic.delta, critic.counts
    wrong = {}
    for (before, after), n in steps.items():
        row = counts[0 if before == "<begin>" else 1 + TITLES.index(before)]
        column = len(TITLES) if after == "<end>" else TITLES.index(after)
        if (row[column] + delta) / (row.sum() + delta * width) < 0.01:
            wrong[before, after] = 100 * n / sum(steps.values())
    ours = found[(found["setting"] == "w-title") & (found["generator"] == "gpt2-demo") & (found["seed"] == 1)]
    total, repeated, rest = ours.iloc[0], ours.iloc[1], ours.iloc[2:]
    assert total["from"] == "(all)"
    assert total["percent"] == pytest.approx(sum(wrong.values()))
    assert total["published"] == 5.46
    assert (total["documents"], total["steps"]) == (len(each), sum(steps.values()))
    unlikely = rest[rest["probability"] < 0.01]
    shares = {(row["from"], row["to"]): row["percent"] for row in unlikely.to_dict("records")}
    assert shares == pytest.approx(wrong)
    lengths = [chain.total() for chain in each]
    for row in rest.head(5).to_dict("records"):
        taken = [chain[row["from"], row["to"]] for chain in each]
        interval = bootstrap_interval(np.column_stack([taken, lengths]), ratio_of_sums, resamples=100)
        assert (row["count"], row["steps"]) == (sum(taken), sum(lengths))
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((100 * interval.low, 100 * interval.high))
    errors = [sum(n for step, n in chain.items() if step in wrong) for chain in each]
    interval = bootstrap_interval(np.column_stack([errors, lengths]), ratio_of_sums, resamples=100)
    assert (total["count"], total["ci_high"]) == (sum(errors), pytest.approx(100 * interval.high))
    repeats = sum(share for (before, after), share in wrong.items() if before == after)
    assert repeated["percent"] == pytest.approx(100 * repeats / sum(wrong.values()))
    assert (repeated["from"], repeated["steps"], repeated["published"]) == ("(repeated)", sum(errors), 17.89)
    notes = rest[(rest["from"] == "notes") & (rest["to"] == "notes")].iloc[0]
    assert (notes["published"], notes["difference"]) == (0.13, pytest.approx(notes["percent"] - 0.13))
    # What is published is there although the critic finds it likely, or knows no such type.
    after = rest[rest["from"] == "summary"]
    likely, unknown = (after[after["to"] == title].iloc[0] for title in ("parameters", "plot"))
    assert likely["count"] == steps["summary", "parameters"]
    assert likely["probability"] > 0.5
    assert unknown["count"] == 0
    assert pd.isna(unknown["probability"])


def test_transition_errors_are_summed_up_over_seeds_and_stand_beside_those_published(files, published):
    found = error_rows(Material(files, read_published(published), NAMES(files)))
    sheet = errors_sheet(found, names_of(files))
    assert [cell.text for cell in sheet.header[0]][-1] == "Published"
    start = next(i for i, row in enumerate(sheet.body) if row[0].text == "small GPT-2, with titles")
    assert sheet.body[start][0].notes == ("120 articles",)
    block = [sheet.body[start], *takewhile(lambda row: not row[0].text, sheet.body[start + 1 :])]
    ours = found[(found["setting"] == "w-title") & (found["generator"] == "gpt2-demo")]
    totals = ours[ours["from"] == "(all)"]
    mean, error = totals["percent"].mean(), totals["percent"].std(ddof=1) / 2**0.5
    width = stats.t.ppf(0.975, 1) * error
    assert block[0][3].text == percent(mean / 100)
    assert block[0][3].notes == (
        f"{percent((mean - width) / 100)} to {percent((mean + width) / 100)} over 2 trainings",
        f"{totals['count'].sum()} of {totals['steps'].sum()}",
    )
    assert (block[0][5].text, block[0][5].notes) == ("5.46%", (f"ours {difference(mean - 5.46)}",))
    assert [cell.text for cell in block[1][1:3]] == ["of these, repeat a section", ""]
    rows = {(row[1].text, row[2].text): row for row in block}
    assert rows["summary", "parameters"][3].notes[-1].startswith("not unlikely here: P = 9")
    assert rows["summary", "plot"][3].notes[-1] == "no such section type here"
    # A step that one of two seeds never takes has the mean of its share there and 0.
    kinds = ours[ours["probability"] < 0.01].groupby(["from", "to"])["percent"]
    (before, after), share = next((step, part.sum()) for step, part in kinds if len(part) == 1)
    alone = found[~((found["from"] != "(all)") & (found["from"] != "(repeated)") & found["published"].isna())]
    alone = pd.concat([alone, ours[(ours["from"] == before) & (ours["to"] == after)]])
    only = {(row[1].text, row[2].text): row for row in errors_sheet(alone, names_of(files)).body}
    assert only[before.strip("<>"), after.strip("<>")][3].text == percent(share / 200)


def test_a_single_seed_has_intervals_and_counts(tmp_path):
    files = build_coherence(tmp_path, documents=40, generators=("gpt2-demo",), resamples=50)
    found = error_rows(Material(files, read_published(None), NAMES(files)))
    sheet = errors_sheet(found, names_of(files))
    assert len(sheet.header[0]) == 5
    ours = found[found["setting"] == "wo-title"].iloc[0]
    for name, total in (("real text", found.iloc[0]), ("small GPT-2, without titles", ours)):
        row = next(row for row in sheet.body if row[0].text == name)
        low, high = (percent(total[key] / 100) for key in ("ci_low", "ci_high"))
        assert row[3].notes == (f"{low} to {high}", f"{total['count']} of {total['steps']}")


def counted(generator, total, kinds, seed=1):
    """Rows of one sample, or of real text: its unlikely steps with an interval of a tenth, and their kinds."""
    keys = {"corpus": "c", "source": "data-inferred" if generator == "data" else "sample", "setting": "w-title"}
    keys |= {"generator": generator, "decoding": "ancestral", "seed": seed, "draw": 1, "published": None}
    rows = [{"from": "(all)", "to": "", "percent": total, "probability": None, "data_percent": 2.0}]
    rows += [
        {"from": before, "to": after, "percent": share, "probability": 0.001, "data_percent": real}
        for (before, after), (share, real) in kinds.items()
    ]
    more = {"steps": 1000, "documents": 100}
    return [
        keys | more | row | {"count": 10, "ci_low": 0.9 * row["percent"], "ci_high": 1.1 * row["percent"]}
        for row in rows
    ]


def test_of_each_sample_the_step_is_named_that_it_has_most_above_real_text():
    """Its commonest unlikely step may be one of real text too."""
    good = {("<begin>", "notes"): (3.0, 2.9), ("notes", "plot"): (2.5, 0.1)}
    kinds = {"ends": {("plot", "<end>"): (4.2, 0.3)}, "begins": {("<begin>", "plot"): (14.0, 0.0)}}
    kinds |= {"twice": {("plot", "plot"): (9.0, 0.0)}, "rarer": {("notes", "plot"): (0.1, 0.2)}, "none": {}}
    rows = counted("data", 2.0, {}) + counted("good", 8.9, good) + counted("good", 9.1, good, seed=2)
    for generator, own in kinds.items():
        rows += counted(generator, 5.0, own)
    said = errors.worst_steps(pd.DataFrame(rows))
    assert {source[2]: words for source, words in said.items()} == {
        "good": "“plot” follows “notes” in 2.5% of steps, real text 0.10%",
        "ends": "ends after “plot” in 4.2% of steps, real text 0.30%",
        "begins": "begins with “plot” in 14% of steps, real text 0%",
        "twice": "“plot” comes twice in a row in 9.0% of steps, real text 0%",
    }
    assert {source[:2] + source[3:] for source in said} == {("c", "w-title", "ancestral")}
