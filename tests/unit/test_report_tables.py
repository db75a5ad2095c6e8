import csv
import math
from collections import Counter
from itertools import takewhile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from report_study import TITLES, build_study, with_second_corpus_and_decodings
from textcritic.report.coherence_sheets import coherence_sheet
from textcritic.report.details import audit_rows, decomposition_rows, statistics_rows
from textcritic.report.inputs import read_study
from textcritic.report.rows import coherence_rows, titles_rows
from textcritic.report.sheets import audit_sheet, statistics_sheet
from textcritic.report.transition_error_sheet import errors_sheet
from textcritic.report.transition_errors import error_rows
from textcritic.report.words import SWITCH_WORDS, corpus_note, switches
from textcritic.study_files import StudyFiles

from textcritic.critics import TransitionCritic
from textcritic.errors import TextcriticError
from textcritic.files import read_json, read_table, write_json
from textcritic.inference import bootstrap_interval, ratio_of_sums
from textcritic.report.decodings import decoding_difference
from textcritic.report.names import Names
from textcritic.report.numbers import difference, number, percent
from textcritic.report.published import COLUMNS, read_published
from textcritic.report.sheet import Cell, Sheet, latex_escape, to_html, to_latex
from textcritic.report.tables import make_tables, read_rows

PUBLISHED = [
    ("2", "docstrings", "", "data", "latent_ppl", "2.0"),
    ("2", "docstrings", "w-title", "gpt2-demo", "latent_ppl", "2.5"),
    ("2", "docstrings", "w-title", "gpt2-demo", "ppl", "20"),
    ("12", "docstrings", "w-title", "gpt2-demo", "total_errors_percent", "5.46"),
    ("12", "docstrings", "w-title", "gpt2-demo", "error_percent: notes > notes", "0.13"),
    ("12", "docstrings", "w-title", "gpt2-demo", "error_percent: summary > parameters", "0.05"),
    ("12", "docstrings", "w-title", "gpt2-demo", "error_percent: summary > plot", "0.04"),
    ("12", "docstrings", "w-title", "gpt2-demo", "repetition_share_percent", "17.89"),
    ("11", "docstrings", "", "data", "articles_train", "32350"),
]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return build_study(tmp_path_factory.mktemp("study"), documents=60, seeds=(1, 2), resamples=100)


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    path = tmp_path_factory.mktemp("published") / "published.csv"
    with path.open("w", newline="") as handle:
        csv.writer(handle).writerows([COLUMNS, *[(*row[:4], "", *row[4:], "a paper", "") for row in PUBLISHED]])
    return path


@pytest.fixture(scope="module")
def rows(study, published):
    return coherence_rows(read_study(study), read_published(published))


@pytest.fixture(scope="module")
def wide(study, tmp_path_factory):
    """The same with a second corpus and two decodings for the audit."""
    return read_study(with_second_corpus_and_decodings(tmp_path_factory.mktemp("other"), study))


def names_of(study):
    return Names.of(read_study(study).samples)


def test_latent_ppl_is_the_pooled_one_by_hand(study, rows):
    for source in study["sources"]:
        scores = read_table(source["scores"]).to_pandas()
        kept = scores[~scores["rejected"]]
        row = _row(rows, source)
        assert row["latent_ppl"] == pytest.approx(math.exp(kept["nll"].sum() / kept["steps"].sum()), rel=1e-12)
        assert row["latent_ppl_soft"] == pytest.approx(
            math.exp(kept["nll_soft"].sum() / kept["steps"].sum()), rel=1e-12
        )
        assert row["latent_nll"] == pytest.approx(kept["nll"].mean(), rel=1e-12)
        assert row["documents"] == len(kept) == 60
        assert row["rejected"] == len(scores) - len(kept)
        assert row["ci_low"] < row["latent_ppl"] < row["ci_high"]
        assert 0 < row["p_value"] <= 1


def test_rejections_are_counted_by_reason(rows):
    reasons = rows[rows["setting"] == "w-title"]["rejected_by_reason"].unique().tolist()
    assert reasons == ["section without title: 7; empty section: 2"]
    assert rows[rows["setting"] == "w-title"]["rejected_share"].tolist() == pytest.approx([9 / 69] * 4)


def test_seeds_are_summarised_within_their_group(rows):
    group = rows[(rows["generator"] == "gpt2-demo") & (rows["setting"] == "wo-title")]
    assert group["seeds"].tolist() == [2, 2]
    assert group["seeds_mean"].tolist() == pytest.approx([group["latent_ppl"].mean()] * 2)
    assert group["seeds_sd"].tolist() == pytest.approx([np.std(group["latent_ppl"], ddof=1)] * 2)
    assert rows[rows["generator"] == "data"]["seeds"].isna().all()


def test_published_values_stand_beside_ours(rows):
    data = rows[rows["generator"] == "data"]
    assert data["published"].tolist() == [2.0, 2.0]
    ours = rows[(rows["generator"] == "gpt2-demo") & (rows["setting"] == "w-title")]
    assert ours["published"].tolist() == [2.5, 2.5]
    assert ours["difference"].tolist() == pytest.approx((ours["latent_ppl"] - 2.5).tolist())
    assert ours["ppl_difference"].tolist() == pytest.approx((ours["ppl_all"] - 20).tolist())
    assert rows[rows["setting"] == "wo-title"]["published"].isna().all()


def test_infinite_perplexity_says_why_and_per_what(study, rows):
    table = to_html(coherence_sheet(rows, names_of(study)))
    assert "∞<small>per word</small>" in table
    assert "per token of the generator&#x27;s own encoding, or per word where it says so" in table
    assert "trigram, with titles, seed 2 is infinite: 14 words of the test text have probability 0" in table
    units = rows.drop_duplicates("generator").set_index("generator")["ppl_unit"]
    assert (units["gpt2-demo"], units["ngram-3"]) == ("tokens", "words")
    assert rows[rows["generator"] == "ngram-3"]["ppl_all_low"].isna().all()


def test_titles_compare_the_same_generator_with_and_without(study, rows):
    found = titles_rows(read_study(study))
    assert found[["generator", "seed"]].values.tolist() == [
        ["gpt2-demo", 1],
        ["gpt2-demo", 2],
        ["ngram-3", 1],
        ["ngram-3", 2],
    ]
    first = rows[(rows["generator"] == "gpt2-demo") & (rows["seed"] == 1)].set_index("setting")["latent_ppl"]
    assert found.loc[0, "ratio"] == pytest.approx(first["wo-title"] / first["w-title"])


def test_decomposition_adds_up_to_the_log_latent_ppl(study, rows):
    parts = decomposition_rows(read_study(study))
    assert (parts["entropy"] + parts["kl"]).tolist() == pytest.approx(parts["cross_entropy"].tolist())
    merged = parts.merge(rows, on=["source", "setting", "generator", "seed"])
    assert len(merged) == len(rows)
    assert np.exp(merged["cross_entropy"]).tolist() == pytest.approx(merged["latent_ppl"].tolist())


def test_transition_errors_by_hand(study, published):
    files = read_study(study)
    found = error_rows(files, read_published(published))
    critic = TransitionCritic.load(files.data[0].critic)
    source = study["sources"][0]
    each = []
    for chain in read_table(source["scores"])["chain"].to_pylist():
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


def test_transition_errors_are_summed_up_over_seeds_and_stand_beside_those_published(study, published):
    found = error_rows(read_study(study), read_published(published))
    sheet = errors_sheet(found, names_of(study))
    assert [cell.text for cell in sheet.header[0]][-1] == "Published"
    start = next(i for i, row in enumerate(sheet.body) if row[0].text == "small GPT-2, with titles")
    assert sheet.body[start][0].notes == ("120 articles",)
    block = [sheet.body[start], *takewhile(lambda row: not row[0].text, sheet.body[start + 1 :])]
    ours = found[(found["setting"] == "w-title") & (found["generator"] == "gpt2-demo")]
    totals = ours[ours["from"] == "(all)"]
    mean, sd = totals["percent"].mean(), totals["percent"].std(ddof=1)
    assert block[0][3].text == percent(mean / 100)
    assert block[0][3].notes == (
        f"± {number(sd)} over 2 seeds",
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
    only = {(row[1].text, row[2].text): row for row in errors_sheet(alone, names_of(study)).body}
    assert only[before.strip("<>"), after.strip("<>")][3].text == percent(share / 200)


def test_a_single_seed_has_intervals_and_counts(tmp_path):
    study = build_study(tmp_path, documents=40, generators=("gpt2-demo",), resamples=50)
    found = error_rows(read_study(study), read_published(None))
    sheet = errors_sheet(found, names_of(study))
    assert len(sheet.header[0]) == 5
    ours = found[found["setting"] == "wo-title"].iloc[0]
    for name, total in (("real text", found.iloc[0]), ("small GPT-2, without titles", ours)):
        row = next(row for row in sheet.body if row[0].text == name)
        low, high = (percent(total[key] / 100) for key in ("ci_low", "ci_high"))
        assert row[3].notes == (f"{low} to {high}", f"{total['count']} of {total['steps']}")


def test_statistics_and_audit(study, published):
    files = read_study(study)
    corpora = [(data.corpus, data.statistics, data.accuracy) for data in files.data]
    statistics = statistics_rows(corpora, read_published(published)).set_index("metric")
    assert statistics.loc["articles_train", ["value", "published", "difference"]].tolist() == [360, 32350, 360 - 32350]
    assert statistics.loc["classifier_accuracy_percent", "value"] == pytest.approx(94.2)
    sheet = statistics_sheet(statistics.reset_index())
    assert sheet.body[0][1].notes == ("published 32,350", "ours −31,990")
    audit = audit_rows(files)
    defaults = audit[(audit["switch"] == "default") & (audit["source"] == "sample")]
    assert len(defaults) == len(study["sources"])
    assert set(audit["switch"]) <= {"default", *SWITCH_WORDS}
    assert set(audit["switch"]) >= {"default", "smoothing", "normalisation", "unknown titles", "posterior"}
    unread = {"": 0, "w-title": 9, "wo-title": 1}
    assert audit["rejected"].tolist() == [unread[setting] for setting in audit["setting"]]
    assert audit.loc[audit["source"] != "sample"].set_index("switch")["compared_with"]["posterior"] == "titles"


def test_each_audit_decoding_is_a_switch_of_its_own(wide):
    audit = audit_rows(wide)
    plain, titled = wide.samples[0], audit[(audit["generator"] == "gpt2-demo") & (audit["corpus"] == "docstrings")]
    assert (plain.setting, plain.seed) == ("w-title", 1)
    titled = titled[(titled["setting"] == "w-title") & (titled["seed"] == 1)].set_index("switch")
    first, second = titled.loc["decoding: top-k-50"], titled.loc["decoding: as-released"]
    assert first["setting_of_switch"] == "from the 50 likeliest tokens (not all tokens)"
    assert (
        second["setting_of_switch"].split("; ")[1]
        == "a full context window drops 1 token at a time (not half of itself)"
    )
    # The files of one are the sample's own, those of the other the next seed's.
    assert first["change_percent"] == pytest.approx(0)
    other = audit[(audit["switch"] == "default") & (audit["seed"] == 2)].iloc[0]
    assert (other["setting"], second["latent_ppl"]) == ("w-title", other["latent_ppl"])
    change = 100 * (other["latent_ppl"] / titled.loc["default", "latent_ppl"] - 1)
    assert second["change_percent"] == pytest.approx(change)
    assert second["compared_with"] == "default"


def test_each_audit_decoding_is_shown_and_told_in_its_own_words(wide):
    audit = audit_rows(wide)
    sheet = audit_sheet(audit, Names.of(wide.samples))
    assert [cell.text for cell in sheet.header[0]][-2:] == ["decoding: top-k-50", "decoding: as-released"]
    stubs = [row[0].text for row in sheet.body]
    assert stubs[:2] == ["docstrings: real text", "docstrings: small GPT-2, with titles, seed 1"]
    assert "recipes: small GPT-2, without titles" in stubs
    assert len(stubs) == len(set(stubs))
    told = {entry["name"]: entry["words"] for entry in switches(audit)}
    assert "50 likeliest" in told["Decoding: top-k-50"]
    assert "context window" not in told["Decoding: top-k-50"]
    assert "1 token" in told["Decoding: as-released"]


def test_an_audit_sample_without_a_base_is_named(study):
    alone = {**study["sources"][0], "seed": 7, "decoding": "top-k-50"}
    with pytest.raises(
        TextcriticError, match=r"docstrings\.w-title\.gpt2-demo\.top-k-50\.seed7: the study has no sample"
    ):
        read_study({**study, "audit_sources": [alone]})
    with pytest.raises(TextcriticError, match="decodings: 'top-k-50' is missing"):
        audit_rows(read_study({**study, "audit_sources": [{**alone, "seed": 1}]}))


def test_decodings_differ_in_words():
    base = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "stride": None, "max_tokens": 20000, "articles": 5000}
    assert decoding_difference({**base, "articles": 9}, base) == "no other than in the number of articles"
    cold = {**base, "temperature": 0.7, "top_p": 0.9, "max_tokens": 800}
    assert decoding_difference(cold, base) == (
        "temperature 0.7 (not 1.0); from the likeliest tokens that hold 90% of the probability (not 100%); "
        "at most 800 tokens an article (not 20,000)"
    )
    assert decoding_difference({**base, "new_key": 3}, {**base, "new_key": 4}) == "new_key 3 (not 4)"


def test_names_tell_sources_apart_and_no_more(wide, study):
    rows = coherence_rows(wide, read_published(None))
    assert not rows.duplicated(["corpus", "label"]).any()
    labels = set(rows["label"])
    assert {
        "real text",
        "real text, gold titles",
        "small GPT-2, with titles, seed 2",
        "small GPT-2, with titles",
    } <= labels
    ours = study["sources"]
    several = read_study({**study, "sources": [*ours, {**ours[0], "decoding": "top-k-50"}]})
    first = Names.of(several.samples).source({**ours[0], "source": "sample"})
    assert first == "small GPT-2, plain, with titles, seed 1"
    given = [{**ours[0], "decoding": "given", "from_file": True}, *ours[4:]]
    names = Names.of(read_study({**study, "sources": given}).samples)
    assert [names.source(source) for source in given[:2]] == [
        "small GPT-2, with titles",
        "trigram, with titles, seed 1",
    ]
    twins = [ours[0], {**ours[4], "label": ours[0]["label"]}]
    with pytest.raises(TextcriticError, match="gpt2-demo and ngram-3 have the same label 'small GPT-2'"):
        names_of({**study, "sources": twins})


def test_every_table_is_written_three_times_and_read_back(study, published, rows, tmp_path):
    made = make_tables(study, tmp_path, published)
    assert {path.stem for path in made} == set(StudyFiles.TABLES)
    for name in StudyFiles.SHEETS:
        assert all((tmp_path / f"{name}.{suffix}").stat().st_size for suffix in ("csv", "tex", "html"))
    again = read_rows(tmp_path, "coherence")
    pd.testing.assert_series_equal(again["latent_ppl"], rows["latent_ppl"], rtol=0)
    assert again["seed"].isna().tolist() == rows["seed"].isna().tolist()
    assert again["setting"].tolist() == rows["setting"].tolist()
    latex = (tmp_path / "coherence.tex").read_text()
    assert latex.count("{") == latex.count("}")
    columns = [len(line.split(" & ")) for line in latex.splitlines() if line.startswith(("Metric", " & small"))]
    assert columns == [4, 4]
    with pytest.raises(TextcriticError, match=r"nothing\.csv: no such file; make the study's tables first"):
        read_rows(tmp_path, "nothing")


def test_infinite_latent_ppl_has_a_reason_and_no_interval(tmp_path):
    study = build_study(tmp_path, documents=40, generators=("ngram-3",), delta=0.0, resamples=100)
    files = read_study(study)
    found = coherence_rows(files, read_published(None))
    worst = found[found["setting"] == "wo-title"].iloc[0]
    assert math.isinf(worst["latent_ppl"])
    assert pd.isna(worst["ci_low"])
    assert pd.isna(worst["p_value"])
    assert "never occur in the training text" in worst["infinite_because"]
    assert r"$\infty$" in to_latex(coherence_sheet(found, names_of(study)))


def test_a_missing_file_is_named(study):
    lost = [{**study["sources"][0], "scores": "nowhere/scores.parquet"}, *study["sources"][1:]]
    with pytest.raises(
        TextcriticError, match=r"gpt2-demo.*scores: nowhere/scores\.parquet: no such file; run the rule"
    ):
        read_study({**study, "sources": lost})
    with pytest.raises(TextcriticError, match="'sources' is missing or empty"):
        read_study({**study, "sources": []})
    with pytest.raises(TextcriticError, match="its corpus is not among the study's corpora"):
        read_study({**study, "sources": [{**study["sources"][0], "corpus": "wiki"}]})


def test_scores_of_another_sample_are_refused(study, tmp_path):
    write_json(tmp_path / "counts.json", {**read_json(study["sources"][0]["counts"]), "drawn": 1000})
    mixed = {**study, "sources": [{**study["sources"][0], "counts": str(tmp_path / "counts.json")}]}
    with pytest.raises(TextcriticError, match=r"69 documents, but .* says 1000 were drawn"):
        coherence_rows(read_study(mixed), read_published(None))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "the columns are a, b; they should be table"),
        ("{h}\n2,wiki,,data,,ppl,many,paper,\n", "line 2: 'many' is not a number"),
        ("{h}\n2,wiki,,data,,ppl,1,paper,\n5,wiki,,data,,ppl,2,paper,\n", "line 3: wiki data ppl has two values"),
    ],
)
def test_faulty_published_values_are_refused(tmp_path, text, message):
    path = tmp_path / "published.csv"
    path.write_text(text.format(h=",".join(COLUMNS)))
    with pytest.raises(TextcriticError, match=message):
        read_published(path)


def test_the_papers_values():
    published = read_published(Path(__file__).parents[2] / "config" / "published" / "model-criticism.csv")
    assert published.value("arxiv", "wo-title", "gpt-neo-125m", "latent_ppl") == 18.64
    assert published.value("wiki", "w-title", "data", "latent_ppl") == 4.80
    assert published.value("wiki", "wo-title", "gpt2-xl", "ppl") == 11.99
    assert published.value("wiki-short", "wo-title", "gpt-neo-125m", "latent_ppl") == 10.72
    assert published.value("pubmed", "", "data", "articles_train") == 32350
    assert published.value("wiki", "wo-title", "gpt2-small", "total_errors_percent") == 7.54
    assert published.value("docstrings", "wo-title", "gpt2-small", "ppl") is None


def test_a_published_value_of_one_decoding_stands_beside_that_one_only():
    published = read_published(Path(__file__).parents[2] / "config" / "published" / "model-criticism.csv")
    hsmm = ("process", "wo-title", "hsmm-800")
    assert published.value(*hsmm, "latent_ppl", "sequences-given") == 47.24
    assert published.value(*hsmm, "latent_ppl", "sequences") is None
    assert [published.value(*hsmm, "word_ppl", d) for d in ("sequences", "sequences-given")] == [2.05, 2.05]
    transformer = ("process", "wo-title", "transformer-released")
    assert published.value(*transformer, "latent_ppl", "sequences") == 64.80
    assert "66.80" in published.note(*transformer, "latent_ppl", "sequences")
    assert published.note(*transformer, "word_ppl", "sequences") == ""
    assert published.value("process", "wo-title", "data", "latent_ppl") == 44.30


def test_latex_escapes():
    assert latex_escape(r"50% of a_b & {c} \d #1 ~ ^ $ <x>") == (
        r"50\% of a\_b \& \{c\} \textbackslash{}d \#1 \textasciitilde{} \textasciicircum{} \$ "
        r"\textless{}x\textgreater{}"
    )
    sheet = Sheet("t", "50% & more", [[Cell("a_b"), Cell("∞")]], [[Cell("<b>", heading=True), Cell("1", ("2–3",))]])
    latex = to_latex(sheet)
    assert r"\caption{50\% \& more}" in latex
    assert r"a\_b & $\infty$ \\" in latex
    assert r"\shortstack[r]{1\\{\scriptsize 2--3}}" in latex
    assert "&lt;b&gt;" in to_html(sheet)
    assert "<b>" not in to_html(sheet)


def test_latex_rows_that_begin_with_a_bracket_or_a_star_are_no_arguments():
    rows = [[Cell("[1] a"), Cell("x")], [Cell("\n* b"), Cell("y")], [Cell("c"), Cell("z")]]
    lines = to_latex(Sheet("t", "", [[Cell("a"), Cell("b")]], rows, prose=True)).splitlines()
    assert lines[lines.index(r"\endhead") + 1 :][:3] == [r"{}[1] a & x \\", r"{} * b & y \\", r"c & z \\"]
    assert "XeLaTeX" in lines[1]
    assert lines.count(r"\midrule") == lines.count(r"\toprule") == 2
    assert lines.index(r"\endfirsthead") < lines.index(r"\endhead")


def test_what_a_corpus_leaves_out_is_told_with_the_largest_reasons():
    statistics = {"corpus": "wiki", "length_unit": "words", "skipped": {"redirect": 1200, "disambiguation": 30}}
    assert corpus_note(statistics) == (
        "wiki: section lengths in words. Left out: 1,230 (redirect: 1,200; disambiguation: 30) when the text was read."
    )
    rejected = {"too long": 1, "too few sections": 5, "rare title": 2, "empty": 2, "odd": 1}
    assert corpus_note({**statistics, "rejected": rejected}).endswith(
        ", and 11 (too few sections: 5; rare title: 2; empty: 2; too long: 1; others: 1) when the corpus was built."
    )
    assert corpus_note({"corpus": "wiki", "length_unit": "gpt2"}) == "wiki: section lengths in tokens of gpt2."


def test_a_setting_is_named_where_there_are_several(study):
    one = [source for source in study["sources"] if source["setting"] == "w-title"]
    files = read_study({**study, "sources": one})
    rows = coherence_rows(files, read_published(None))
    names = Names.of(files.samples)
    assert set(rows["label"]) >= {"small GPT-2, seed 1", "real text"}
    sheet = coherence_sheet(rows, names)
    assert [cell.text for cell in sheet.header[0]] == ["Metric", "Generator", "docstrings"]
    assert {sum(cell.span for cell in row) for row in sheet.body} == {3}
    assert "—" not in [row[-1].text for row in sheet.body]


def _row(rows, source):
    keys = ("setting", "generator", "decoding", "seed")
    found = rows[np.logical_and.reduce([rows[key] == source[key] for key in keys])]
    assert len(found) == 1
    return found.iloc[0]
