"""Sections that repeat the one before: how often, and articles to read (Table 13)."""

import csv
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from report_jobs import make_part

from experiments.coherence.conftest import COLUMNS
from experiments.coherence.papers import cut_down, part
from experiments.coherence.tiny import build_coherence
from textcritic.corpora import Article, Section, read_articles, write_articles
from textcritic.critics import TransitionCritic, score_chains, transition_errors
from textcritic.errors import TextcriticError
from textcritic.experiments.coherence.examples import example_rows, examples_sheet, repetition_examples, shortened
from textcritic.experiments.coherence.names import names_of
from textcritic.experiments.coherence.repetitions import chance, rates_sheet, repeats, repetition_rows, scored
from textcritic.experiments.coherence.tables import NAMES
from textcritic.files import read_table
from textcritic.inference import bootstrap_interval, ratio_of_sums
from textcritic.measures.material import Material
from textcritic.measures.numbers import difference, percent
from textcritic.measures.published import Published
from textcritic.measures.scored import read_scores
from textcritic.report.sheet import to_latex

NOTHING = Published({})


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Texts of its first sample of seed 1 are told apart, and some of them are copies or scraps."""
    files = build_coherence(tmp_path_factory.mktemp("study"), documents=150, seeds=(2, 1), resamples=200)
    path = next(sample for sample in files.samples if sample.seed == 1).articles
    rng = np.random.default_rng(3)
    words = np.array([f"w{n}" for n in range(500)])
    articles = []
    for number, article in enumerate(read_articles(path)):
        texts = [" ".join(rng.choice(words, 40)) for _ in article.sections]
        if number % 3 == 0:
            texts = [texts[0]] * len(texts)
        if number % 3 == 1:
            texts = ["a few words"] * len(texts)
        sections = tuple(Section(None, text) for text in texts)
        articles.append(Article(article.id, None, sections, article.source))
    write_articles(path, articles)
    return files


def repeated_by_hand(scores, critic):
    """(article, place, P) of every repetition, document by document."""
    found = []
    for row in scores.to_pylist():
        for place in range(1, len(row["chain"])) if not row["rejected"] else ():
            if row["chain"][place] == row["chain"][place - 1]:
                title = critic.titles.index(row["chain"][place])
                total = critic.counts[1 + title].sum() + critic.delta * (len(critic.titles) + 1)
                found.append((row["id"], place, (critic.counts[1 + title, title] + critic.delta) / total))
    return found


def test_repeats_are_those_of_a_loop_over_the_documents(files):
    critic = TransitionCritic.load(files.data[0].critic)
    for path in (files.data[0].inferred, *(sample.scores for sample in files.samples)):
        scores = read_scores(path)
        kept = scored(scores)
        found = repeats(kept, critic)
        ids = kept["id"].to_pylist()
        ours = [
            (ids[d], int(p), math.exp(q)) for d, p, q in zip(found.document, found.place, found.log_prob, strict=True)
        ]
        expected = repeated_by_hand(scores, critic)
        assert [entry[:2] for entry in ours] == [entry[:2] for entry in expected]
        assert [entry[2] for entry in ours] == pytest.approx([entry[2] for entry in expected])
        assert found.unlikely.tolist() == [p < 0.01 for *_, p in expected]


def test_titles_that_the_critic_does_not_know_repeat_nothing():
    """Released, documents with unknown titles count; two unknown titles in a row are two of whatever kind."""
    critic = TransitionCritic.fit([["a", "a", "b"], ["b"]], grid=[0.5], mode="as_released")
    chains = [["x", "x", "a"], ["a", "y", "z"], [], ["b", None, None, "b"], ["a"], ["a", "a", "a"], ["b", "b"]]
    scores = score_chains(critic, list("1234567"), chains)
    found = repeats(scored(scores), critic)
    # The third is rejected, so the last two are the fifth and the sixth of those that are scored.
    assert list(zip(found.document, found.place, found.title, strict=True)) == [(4, 1, 0), (4, 2, 0), (5, 1, 1)]
    assert np.exp(found.log_prob) == pytest.approx([1.5 / 4, 1.5 / 4, 0.5 / 4])


def test_rates_by_hand_with_the_documents_bootstrap(files):
    critic = TransitionCritic.load(files.data[0].critic)
    published = Published({("docstrings", "w-title", "gpt2-demo", "", "repetition_share_percent"): 17.89})
    rows = repetition_rows(Material(files, published, NAMES(files)))
    assert rows["source"].tolist() == ["data-inferred", *["sample"] * 8]
    row = rows.iloc[1].to_dict()
    scores = read_scores(files.samples[0].scores)
    documents = [r for r in scores.to_pylist() if not r["rejected"]]
    found = repeated_by_hand(scores, critic)
    repeated = [sum(name == r["id"] for name, *_ in found) for r in documents]
    wrong = [sum(name == r["id"] and p < 0.01 for name, _, p in found) for r in documents]
    errors = [sum(nll > -math.log(0.01) for nll in r["step_nll"]) for r in documents]
    steps = [len(r["chain"]) + 1 for r in documents]
    assert (row["documents"], row["steps"], row["repeated"]) == (len(documents), sum(steps), sum(repeated))
    assert (row["errors"], row["errors_repeated"]) == (sum(errors), sum(wrong))
    assert row["repeated_percent"] == pytest.approx(100 * sum(repeated) / sum(steps))
    assert row["share_percent"] == pytest.approx(100 * sum(wrong) / sum(errors))
    assert row["share_percent"] == pytest.approx(transition_errors(scores, critic).repetitions)
    everyone = bootstrap_interval(np.column_stack([repeated, steps]), ratio_of_sums, resamples=200)
    assert row["repeated_percent_low"] == pytest.approx(100 * everyone.low)
    with_errors = np.array([(w, e) for w, e in zip(wrong, errors, strict=True) if e])
    assert row["share_percent_high"] == pytest.approx(
        100 * bootstrap_interval(with_errors, ratio_of_sums, resamples=200).high
    )
    assert rows["published"].dropna().tolist() == [17.89, 17.89]
    sheet = rates_sheet(rows, names_of(files))
    assert sheet.body[1][2].notes[1] == f"{sum(repeated)} of {sum(steps)}"
    assert sheet.body[1][4].text == "17.89%"
    assert sheet.body[1][4].notes == (f"ours {difference(row['share_percent'] - 17.89)}",)
    assert sheet.body[0][4].text == "—"


def test_examples_are_unlikely_sure_short_and_no_copies_where_there_are_such(files):
    critic = TransitionCritic.load(files.data[0].critic)
    examples = repetition_examples(files)
    # Of each generator and setting the first seed, which is not the first in the study.
    assert {e.keys["seed"] for e in examples} == {1}
    assert len({(e.keys["setting"], e.keys["generator"]) for e in examples}) == 4
    first = files.samples[1]
    articles = {article.id: article for article in read_articles(first.articles)}
    latents = {row["id"]: row for row in read_table(first.latents).to_pylist()}

    def good(name, place):
        number = [*articles].index(name)
        sure = min(latents[name]["confidence"][place - 1 : place + 1]) >= 0.9
        return number % 3 == 2 and sure and len(articles[name].sections) <= 8

    ours = [e for e in examples if e.keys["setting"] == "w-title" and e.keys["generator"] == "gpt2-demo"]
    found = [(name, place, p) for name, place, p in repeated_by_hand(read_scores(first.scores), critic) if p < 0.01]
    assert {(e.article, e.place) for e in ours} <= {entry[:2] for entry in found}
    best = [entry for entry in found if good(*entry[:2])]
    assert len(best) >= 1
    assert sum(good(e.article, e.place) for e in ours) == min(len(ours), len({name for name, *_ in best}))
    assert len({e.article for e in ours}) == len(ours) == min(3, len({name for name, *_ in found}))
    for example in ours:
        latent = latents[example.article]
        assert [s.title for s in example.sections] == latent["inferred"]
        assert [s.posterior for s in example.sections] == pytest.approx(latent["confidence"])
        assert [s.text for s in example.sections] == [s.text for s in articles[example.article].sections]
        title = critic.titles.index(example.title)
        assert (example.followed, example.total) == (critic.counts[1 + title, title], critic.counts[1 + title].sum())
        assert example.unlikely
    assert repetition_examples(files) == examples


def test_without_an_unlikely_repetition_the_least_likely_is_shown_and_said_to_be(tmp_path):
    files = build_coherence(tmp_path, documents=80, generators=("gpt2-demo",), delta=1000.0, resamples=50)
    examples = repetition_examples(files)
    rows = repetition_rows(Material(files, NOTHING, NAMES(files)))
    assert (rows["errors"] == 0).all()
    assert rows["share_percent"].isna().all()
    assert examples
    assert not any(example.unlikely for example in examples)
    sheet = examples_sheet(examples, names_of(files))
    assert "No repetition of this source is below 1%" in sheet.body[0][0].text
    assert rates_sheet(rows, names_of(files)).body[0][3].text == "—"


def test_without_any_repetition_the_table_says_so(files, tmp_path):
    sheet = examples_sheet([], names_of(files))
    assert sheet.remarks == ["No sample has two sections of the same type in a row."]
    assert "longtable" in to_latex(sheet)
    assert example_rows([]).empty


def test_titles_that_were_given_have_no_posterior(files):
    files = replace(files, data=(replace(files.data[0], accuracy=None),))
    examples = repetition_examples(files)
    assert examples
    assert all(section.posterior is None for example in examples for section in example.sections)
    sheet = examples_sheet(examples, names_of(files))
    assert sheet.header[0][0].text == "Title"
    assert sheet.body[1][1].text == "—"


def test_articles_of_another_sample_are_refused(files):
    other = replace(files.samples[1], articles=files.data[0].train)
    files = replace(files, samples=(other,))
    with pytest.raises(TextcriticError, match="they belong to different samples: delete the scores"):
        repetition_examples(files)


def test_table_13_holds_every_section_with_its_whole_text(files, tmp_path):
    path = tmp_path / "published.csv"
    row = ("E", "docstrings", "w-title", "gpt2-demo", "", "repetition_share_percent", "17.89", "a paper", "")
    with path.open("w", newline="") as handle:
        csv.writer(handle).writerows([COLUMNS, row])
    alone = cut_down(files, ("docstrings",), ("gpt2-demo",))
    nasty = 'one "two"\r\nthree\u2028, <b>four</b> & more\nfive ' + "long " * 200
    articles = read_articles(alone.samples[0].articles)
    changed = [Article(a.id, None, tuple(Section(None, nasty) for _ in a.sections), a.source) for a in articles]
    write_articles(tmp_path / "articles.parquet", changed)
    alone = replace(alone, samples=(replace(alone.samples[0], articles=tmp_path / "articles.parquet"),))
    make_part("coherence", part("table13", "repetitions"), alone, tmp_path, path)
    with (tmp_path / "table13.csv").open(newline="", encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    assert {row["text"] for row in rows} == {nasty}
    by_example = {row["example"]: [r for r in rows if r["example"] == row["example"]] for row in rows}
    for found in by_example.values():
        assert [r["section"] for r in found] == [str(n + 1) for n in range(len(found))]
        marked = [r["title"] for r in found if r["repeated"] == "True"]
        assert len(marked) == 2
        assert len(set(marked)) == 1
    page = (tmp_path / "table13.html").read_text()
    assert "<b>four" not in page
    assert "Table 13. What it shows" in page
    assert re.search(r"published 17.89%, ours [+−]\d", page)
    assert "Sure: the classifier" in page
    assert "followed by another of the same type" in page
    latex = (tmp_path / "table13.tex").read_text()
    assert latex.count("{") == latex.count("}")


def test_texts_are_cut_between_words():
    assert shortened("one two three", 20) == "one two three"
    assert shortened("one two three", 9) == "one two …"
    assert shortened("x" * 30, 10) == "x" * 10 + " …"


def test_chances_read_as_equations():
    assert (chance(0.0031), chance(1e-6), chance(0)) == ("P = 0.31%", "P < 0.01%", "P = 0%")
    assert percent(None) == "—"
