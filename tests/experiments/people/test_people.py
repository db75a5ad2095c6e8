"""What people say in a study: published numbers to their digits, answers counted by hand, and what is refused."""

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from report_jobs import Made, make_part, make_study

from experiments.people.tiny import HEADER, PEOPLE, answers_of, build_people, mauve
from textcritic.annotation.answers import ATTENTION, INTRUDER, Answers, IntruderAnswer, read_answers, write_answers
from textcritic.critics import TransitionCritic
from textcritic.critics.mauve import Mauve
from textcritic.errors import TextcriticError
from textcritic.experiments.people.annotators import (
    agreement_rows,
    annotator_rows,
    article_rows,
    doubts_of,
    label_rows,
    median_seconds,
    random_clicks,
)
from textcritic.experiments.people.orders import order_rows, probability_of
from textcritic.experiments.people.read import collected
from textcritic.experiments.people.rows import correlation_rows, difference_rows, metric_rows
from textcritic.experiments.people.tables import KEYS, PAPER_TABLES
from textcritic.files import read_json, read_table
from textcritic.measures.material import Material
from textcritic.measures.published import read_published
from textcritic.plan.experiment import Part

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "config/published/model-criticism/people.csv"
LETTERS = {
    "I": "introduction", "M": "material and method", "R": "result", "D": "discussion", "C": "conclusion",
    "K": "case report", "S": "statistical analysis",
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return build_people(tmp_path_factory.mktemp("people"), documents=60)


@pytest.fixture(scope="module")
def material(files):
    return Material(files)


@pytest.fixture(scope="module")
def pubmed(tmp_path_factory):
    """The systems of the paper's Table 4, without answers of our own, beside the published values."""
    generators = ("gpt-neo-125m", "gpt2-small")
    made = build_people(tmp_path_factory.mktemp("pubmed"), corpus="pubmed", generators=generators, asked=False)
    return Material(made, read_published(PUBLISHED, KEYS))


def answers(files):
    return read_answers(files.annotations[0])


def spoilt(files, folder, header=HEADER, **changes):
    """The same experiment, with its first answer changed."""
    first, *others = answers(files).rows
    others = [row for row in others if row.item != first.item]  # what others said of the same text
    write_answers(folder / "answers.jsonl", Answers(header, (replace(first, **changes), *others)))
    return replace(files, annotations=(folder / "answers.jsonl",))


def test_published_correlations_to_their_digits(pubmed):
    rows = correlation_rows(pubmed)
    published = rows[rows["whose"] == "published"].set_index(["metric", "with_real", "kind"]).sort_index()
    expected = {
        ("Perplexity", False): (0.584088, 0.6, 0.333333, 2, 6),
        ("MAUVE", False): (0.864921, 0.8, 0.666667, 5, 6),
        ("MAUVE", True): (0.902100, 0.7, 0.6, 8, 10),
        ("Latent PPL", False): (-0.933422, -1.0, -1.0, 6, 6),
        ("Latent PPL", True): (-0.942574, -0.9, -0.8, 9, 10),
    }
    assert set(published.index.droplevel("kind")) == set(expected)
    for place, (*values, alike, pairs) in expected.items():
        found = [published.loc[(*place, kind), "value"] for kind in ("pearson", "spearman", "kendall")]
        assert found == pytest.approx(values, abs=5e-7)
        assert set(published.loc[place, "as_people"]) == {alike}
        assert set(published.loc[place, "pairs"]) == {pairs}
    assert rows[rows["whose"] == "ours"].empty


def test_published_orders_are_the_paper_s_30(pubmed):
    rows = order_rows(pubmed)
    assert list(rows["published_rank"]) == list(range(1, 31))
    first = [" > ".join(LETTERS[letter] for letter in order) for order in ("KD", "IMD", "I", "MRD", "IMRD")]
    assert list(rows["order"][:5]) == first
    assert rows["order"].iloc[-1] == " > ".join(LETTERS[letter] for letter in "IMSRRDC")
    assert rows["order"].is_unique
    # The made-up critic knows no type of PubMed.
    assert rows["probability"].isna().all()
    assert rows["unknown"].iloc[0] == "case report"


def test_table_4_says_what_four_systems_cannot_show(pubmed):
    sheet = PAPER_TABLES["metrics"](pubmed).sheet
    assert any("a rank correlation (Spearman, Kendall) cannot have p below 0.083" in remark for remark in sheet.remarks)
    notes = [note for row in sheet.body for cell in row for note in cell.notes]
    assert {"published 0.85", "published 88.00"} <= set(notes)


def test_shares_are_those_of_the_answers(files, material):
    rows = metric_rows(material).set_index(["generator", "setting"])
    by_hand = {}
    for row in answers(files).results():
        key = (getattr(row.source, "generator", "data"), getattr(row.source, "setting", ""))
        by_hand.setdefault(key, []).append((row.answer.coherent, row.annotator, row.document))
    assert set(by_hand) == set(rows.index)
    for key, said in by_hand.items():
        found = rows.loc[key]
        assert found["coherent"] == pytest.approx(100 * np.mean([coherent for coherent, *_ in said]))
        assert (found["answers"], found["annotators"]) == (len(said), 4)
        assert found["articles"] == len({document for *_, document in said})
        assert found["of_these"]
        assert found["coherent_low"] < found["coherent"] < found["coherent_high"]


def test_mauve_is_what_the_job_wrote(files, material):
    rows = metric_rows(material)
    for sample in files.samples:
        (row,) = rows[(rows["generator"] == sample.generator) & (rows["setting"] == sample.setting)].to_dict("records")
        found = Mauve.load(sample.mauve)
        assert (row["mauve"], row["mauve_low"], row["mauve_p"]) == (found.value, found.low, found.p)
        assert row["mauve_library"] == found.by_seed[0]
    (real,) = rows[rows["generator"] == "data"].to_dict("records")
    assert real["mauve"] == 0.95
    assert np.isnan(real["mauve_p"])


def test_our_correlations_follow_the_order_of_the_systems(material):
    rows = correlation_rows(material)
    ours = rows[(rows["whose"] == "ours") & (rows["kind"] == "kendall") & ~rows["with_real"]].set_index("metric")
    metrics = metric_rows(material)
    samples = metrics[metrics["source"] == "sample"]
    pairs = [np.sign((a - b) * (c - d)) for a, b, c, d in _pairs(samples["mauve"], samples["coherent"])]
    assert ours.loc["MAUVE", "as_people"] == sum(pair > 0 for pair in pairs)
    assert ours.loc["Latent PPL", "value"] < 0  # they were made to follow the critic
    assert set(ours["systems"]) == {4}


def _pairs(first, second):
    values = list(zip(first, second, strict=True))
    return [(a, b, c, d) for n, (a, c) in enumerate(values) for b, d in values[n + 1 :]]


def test_orders_are_counted_and_the_critic_s_probability_is_that_of_the_chain(files, material):
    rows = order_rows(material)
    said = [row.answer for row in answers(files).results()]
    counts = Counter(" > ".join(one.titles) for one in said if not one.coherent)
    assert list(rows["incoherent"]) == sorted(counts.values(), reverse=True)[:30]
    critic = TransitionCritic.load(files.data[0].critic)
    for row in rows.to_dict("records"):
        assert row["incoherent"] == counts[row["order"]]
        assert row["answers"] == sum(" > ".join(one.titles) == row["order"] for one in said)
        chain = ["<begin>", *row["order"].split(" > "), "<end>"]
        steps = [critic.log_probs[critic.sources.index(a), critic.targets.index(b)] for a, b in pairwise(chain)]
        assert row["probability"] == pytest.approx(np.exp(sum(steps)))
    assert probability_of(["summary", "novel"], critic) == (None, "novel")


def test_who_clicks_at_random_is_flagged(material):
    rows = annotator_rows(material).set_index("annotator")
    doubts = rows.loc["made-up/clicker", "flagged"]
    assert "no more than by chance" in doubts
    assert "missed 1 of 1 attention texts" in doubts
    assert set(rows.drop("made-up/clicker")["flagged"]) == {""}
    assert rows.loc["made-up/careful", "as_classifier"] > 85
    assert rows.loc["all", "drift_low"] < 0 < rows.loc["all", "drift_high"]


def test_answers_whose_time_is_not_known_say_nothing_of_speed(files):
    given = answers_of(files, "careful", 0)[0]
    assert given.seconds > 60
    unknown = replace(given, answered=given.started, clock_back=True).seconds
    assert np.isnan(unknown)
    assert median_seconds([unknown, 30.0, 50.0]) == 40
    assert np.isnan(median_seconds([unknown]))
    assert doubts_of(median_seconds([unknown]), [], 40.0) == ""
    assert doubts_of(3.9, [], 40.0) == "takes less than a tenth of the usual time"


def test_p_of_labels_is_right_under_chance(material):
    """Of types dealt at random: p is at most 0.1 in about a tenth."""
    judged = [one for one in material.get(collected).judged if one.annotator == "made-up/careful"]
    rng, found = np.random.default_rng(1), []
    for _ in range(60):
        dealt = rng.permutation([title for one in judged for title in one.titles])
        parts = np.split(dealt, np.cumsum([len(one.titles) for one in judged])[:-1])
        found.append(
            random_clicks([replace(one, titles=tuple(part)) for one, part in zip(judged, parts, strict=True)])[2]
        )
    assert np.mean(np.array(found) <= 0.1) <= 0.22
    assert random_clicks(judged[:1]) is None


def test_scores_tell_the_verdicts_that_were_made_of_them(material):
    rows = article_rows(material).set_index("score")
    assert rows.loc["nll_per_step", "area"] > 0.6
    assert rows.loc["nll_per_step", "ci_low"] > 0.5
    assert rows.loc["other", "area"] == pytest.approx(rows.loc["nll", "area"])
    assert rows.loc["nll", "systems"] == 5


def test_labels_and_agreement(files, material):
    labels, agreement = label_rows(material), agreement_rows(material)
    assert len(labels) == 5
    assert (labels["as_classifier"] < 90).all()
    real = labels[labels["generator"] == "data"].iloc[0]
    assert real["sections_with_title"] == real["sections"]
    assert labels[labels["generator"] != "data"]["as_title"].isna().all()
    types = agreement[agreement["about"] == "section types, all"].set_index("measure")["value"]
    assert types.min() > 0.1  # one of four clicks at random
    assert len(agreement) == 2 * (1 + 5 + 1)


def test_differences_are_of_all_pairs(material):
    rows = difference_rows(material)
    assert len(rows) == 10
    assert (rows["ci_low"] <= rows["difference"]).all()
    assert not rows["of_these"].any()  # of differences four annotators are enough


def test_the_report_warns_and_the_card_has_both_numbers(files, tmp_path):
    report = make_study(tmp_path, Made("people", files))
    facts = read_json(tmp_path / "people/section.json")
    assert any("too few (8 are needed)" in words for words in facts["warnings"])
    assert any("may have clicked at random" in words for words in facts["warnings"])
    assert {score["measure"] for score in facts["card"]} == {"MAUVE", "Called coherent, %"}
    assert "How to ask people" not in report
    assert "simulated" not in report


def test_without_answers_the_section_says_how_to_collect_them(tmp_path):
    made = build_people(tmp_path / "results", corpus="pubmed", generators=("gpt-neo-125m", "gpt2-small"), asked=False)
    part = Part("table4", "metrics", "Metrics")
    report = make_study(tmp_path / "study", Made("people", made, {part: made}, published=PUBLISHED))
    assert "How to ask people" in report
    assert "textcritic annotate export" in report
    assert "generators: [gpt2-small]" in report
    assert "Table 4. Metrics" in report
    assert "Gwet’s AC1" not in report
    assert "8 of 10" in report


def test_a_sample_that_is_too_small_for_mauve_says_so(files, tmp_path):
    first, *others = files.samples
    path = tmp_path / "mauve.json"
    none = {"value": None, "by_seed": [], "low": None, "high": None, "p": None}
    replace(mauve(0.5), **none, reason="40 documents, and 100").save(path)
    made = replace(files, samples=(replace(first, mauve=path), *others))
    make_part("people", Part("table4", "metrics"), made, tmp_path)
    assert "40 documents, and 100" in (tmp_path / "table4.html").read_text(encoding="utf-8")
    rows = pd.read_csv(tmp_path / "table4.csv")
    assert rows["mauve"].isna().sum() == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"header": replace(HEADER, simulated=True)}, "a program gave these answers; simulated answers are for tests"),
        ({"sha256": "0" * 64}, "the text that was shown is not the one in"),
        ({"document": "gone"}, "document gone: there is no such article in"),
    ],
)
def test_answers_that_do_not_belong_are_refused(files, tmp_path, changes, message):
    with pytest.raises(TextcriticError, match=re.escape(message)) as refused:
        collected(Material(spoilt(files, tmp_path, **changes)))
    assert str(tmp_path / "answers.jsonl") in str(refused.value)


def test_answers_to_another_task_and_two_exports_of_a_campaign_are_refused(files, tmp_path):
    row = replace(answers(files).rows[0], answer=IntruderAnswer(2))
    header = replace(HEADER, task=INTRUDER, titles=())
    write_answers(tmp_path / "intruder.jsonl", Answers(header, (row,)))
    with pytest.raises(TextcriticError, match=r"answers to the task intruder.*kind intruders"):
        collected(Material(replace(files, annotations=(tmp_path / "intruder.jsonl",))))
    with pytest.raises(TextcriticError, match="the campaign 'made-up' has another file"):
        collected(Material(replace(files, annotations=files.annotations * 2)))


def test_pilots_and_training_count_for_nothing_and_other_systems_are_counted(files, tmp_path):
    whole = collected(Material(files))
    pilot = collected(Material(spoilt(files, tmp_path, pilot=True)))
    first = answers(files).rows[0]
    assert len(pilot.judged) == len(whole.judged) - sum(row.item == first.item for row in answers(files).rows)
    fewer = collected(Material(replace(files, samples=files.samples[1:])))
    gone = sum(one.source is files.samples[0] for one in whole.judged)
    assert (fewer.elsewhere, len(fewer.judged)) == (gone, len(whole.judged) - gone)


def test_the_made_up_answers_are_what_the_tests_say(files):
    rows = answers(files).rows
    assert {row.annotator for row in rows} == set(PEOPLE)
    assert sum(row.phase == ATTENTION for row in rows) == len(PEOPLE)
    assert [row.item for row in answers_of(files, "careful", 0)] == [r.item for r in rows if r.annotator == "careful"]
    assert read_table(files.data[0].latents).num_rows == 60
