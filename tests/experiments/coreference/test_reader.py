"""The reader of articles: which ones, and HTML that holds whatever the texts and their mentions are."""

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_html import Page

from experiments.coreference.test_passages import placed
from experiments.coreference.tiny import build_coreference
from textcritic.experiments.coreference.passages import Passage
from textcritic.experiments.coreference.reader import (
    COLOURS,
    FEWEST_TOKENS,
    TYPICAL,
    UNLIKELY,
    article_shown,
    choose,
    reader,
    text_of_passage,
)
from textcritic.latents.resolvers.language import load_language
from textcritic.measures.names import Names
from textcritic.report.section import Place


def html_of(passage):
    return str(text_of_passage(passage, lambda token: f"t{token.place}"))


def page_of(passage):
    return Page(f"<p>{html_of(passage)}</p>")


def words_of(page):
    return "".join(data for tag, data in page.data.items() if tag not in ("rt", "sub"))


SPANS = st.tuples(st.integers(0, 12), st.integers(0, 12)).map(lambda pair: (min(pair), max(pair)))
LETTERS = st.text(alphabet="ab <>&\"'é\u0301🎉", min_size=12, max_size=12)


@given(st.lists(SPANS, max_size=6), LETTERS, st.floats(-20, 0))
def test_html_is_whole_and_says_the_text(spans, text, log_prob):
    tokens = [replace(placed(n, span, person=n), log_prob=log_prob) for n, span in enumerate(spans)]
    page = page_of(Passage("a", "", text, tuple(tokens)))
    assert sorted(words_of(page)) == sorted(text)
    assert [tag for tag, _ in page.tags].count("ruby") <= len(spans)
    nested = [tag for tag, _ in page.tags if tag not in ("p", "span", "b", "ruby", "sub", "rt", "a")]
    assert nested == []


def test_names_that_look_like_html_are_text():
    text = "<b>Bob</b> & <i>"
    page = page_of(Passage("a", "", text, (placed(0, (0, 10)),)))
    assert "i" not in [tag for tag, _ in page.tags]
    assert words_of(page).startswith("<b>Bob</b>")


def test_a_mention_has_its_number_and_its_probability():
    text = html_of(Passage("a", "", "the king", (replace(placed(0, (0, 8), (4, 8), 3), log_prob=math.log(0.25)),)))
    assert '<span class="who who-3">the </span>' in text
    assert '<ruby><b class="who who-3">king</b><sub>3</sub><rt>25%</rt></ruby>' in text
    assert 'class="likely"' in text


@pytest.mark.parametrize(("log_prob", "name"), [(-7.1, "unlikely"), (-6.9, "rare"), (-4.7, "rare"), (-4.5, "likely")])
def test_what_is_unlikely_is_marked_and_linked(log_prob, name):
    page = page_of(Passage("a", "", "he", (replace(placed(5, (0, 2)), log_prob=log_prob),)))
    marked = [(tag, attrs) for tag, attrs in page.tags if tag in ("a", "span") and attrs["class"] == name]
    assert len(marked) == 1
    assert page.loads == (["#t5"] if name == "unlikely" else [])


def test_two_tokens_of_one_word_are_one_link():
    tokens = (replace(placed(0, (0, 2)), log_prob=-8.0), replace(placed(1, (0, 2), person=1), log_prob=-9.0))
    page = page_of(Passage("a", "", "he", tokens))
    assert page.loads == ["#t1"]
    assert page.data["sub"] == "0, 1"


def test_persons_after_the_colours_are_grey():
    text = html_of(Passage("a", "", "he", (placed(0, (0, 2), person=COLOURS),)))
    assert 'class="who"' in text


def row(name, nll, steps, mentions=5, rejected=False):
    return {"id": name, "nll": nll, "steps": steps, "mentions": mentions, "rejected": rejected, "people": 1}


def test_the_least_likely_articles_come_first_then_those_in_the_middle():
    rows = [row(f"{n:02}", n * 30.0, 30) for n in range(20)]
    rows += [row("short", 900.0, FEWEST_TOKENS - 1), row("empty", 900.0, 30, mentions=0), row("out", 0, 0, 0, True)]
    assert choose(rows, 6) == [
        *((f"{n:02}", UNLIKELY) for n in (19, 18, 17, 16)),
        *((f"{n:02}", TYPICAL) for n in (10, 9)),
    ]


def test_short_chains_are_taken_where_there_are_no_others():
    assert choose([row("a", 9.0, 3), row("b", 3.0, 3)], 40) == [("a", UNLIKELY), ("b", UNLIKELY)]
    assert choose([row("a", math.nan, 0, 0, True)], 3) == []


@pytest.mark.parametrize("most", [1, 2, 3, 10])
def test_no_more_articles_than_asked_for_and_none_twice(most):
    chosen = choose([row(f"{n}", float(n), 30) for n in range(7)], most)
    assert len(chosen) == len(dict(chosen)) == min(most, 7)


def test_an_article_says_what_was_cut():
    text = "Tom wept . " * 400
    tokens = tuple(replace(placed(n, (11 * n, 11 * n + 3)), log_prob=-7.5 - (n == 300)) for n in range(400))
    document = article_shown(
        Passage("x", "", text, tokens),
        UNLIKELY,
        row("x", 4000.0, 400),
        lambda t: f"t{t.place}",
        load_language("en"),
    )
    shown = document.shown
    assert document.entries[:2] == (("22,026", pytest.approx(math.exp(10))), ("400", 400))
    assert re.fullmatch(r"400: \[\w+\]0, \[\w+\]0, \[\w+\]0 …", document.entries[2])
    assert shown["before"]
    assert shown["after"]
    assert "of its 4,400 characters" in shown["words"]
    assert "400 mentions of 1 person, 400 unlikely" in shown["words"]
    assert "t300" in [reason["id"] for reason in said_of(shown)]


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    root = tmp_path_factory.mktemp("reader")
    files = build_coreference(root, documents=12)
    place = Place("who", root, root, root)
    return files, reader(files, Names.of(files.samples), place, ())


def said_of(article):
    return [reason for reasons in article["reasons"] for reason in reasons["mentions"]]


def every(reading):
    return [document.shown for shelf in reading.shelves for document in shelf.documents]


def test_every_source_has_articles_the_worst_first_and_a_sample_is_open(shown):
    files, reading = shown
    assert [shelf.label for shelf in reading.shelves] == ["real text", "small GPT-2", "trigram"]
    assert [shelf.is_real for shelf in reading.shelves] == [True, False, False]
    assert reading.start == 1
    for shelf in reading.shelves:
        assert len(shelf.documents) == files.report_articles
        worst = [document.entries[0][1] for document in shelf.documents if "typical" not in document.entries[2]]
        assert worst == sorted(worst, reverse=True)


def test_every_link_leads_to_its_reason(shown):
    articles = every(shown[1])
    ids = [reason["id"] for article in articles for reason in said_of(article)]
    assert len(ids) == len(set(ids)) > 0
    for article in articles:
        links = [link[1:] for link in Page(f"<p>{article['text']}</p>").loads]
        assert sorted(links) == sorted(reason["id"] for reason in said_of(article))
        # What several mentions have in common is said once.
        heads = [reasons["head"] for reasons in article["reasons"]]
        assert len(heads) == len(set(heads))


def test_a_reason_says_what_would_be_likelier(shown):
    reasons = [reason for article in every(shown[1]) for reason in said_of(article)]
    assert all("(log P = −" in reason["chance"] and reason["seen"] for reason in reasons)
    assert any(reason["expected"].startswith("[") for reason in reasons)
