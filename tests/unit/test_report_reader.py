"""Readers of documents in a report: which source is open first, and what stands in the page."""

import math
from dataclasses import replace

import pytest
from markupsafe import Markup
from report_html import Page

from textcritic.inference import Number
from textcritic.measures.score import Score
from textcritic.plan.sources import data_keys
from textcritic.report.reader import Document, Reading, Shelf, farthest, opened, reader_html

REAL = Number(2.0, 1.9, 2.1)


def score(generator, value, p, **more):
    number = Number(value, value * 0.95, value * 1.05) if value is not None else Number(None)
    of = {"corpus": "a", "generator": generator, "label": generator, "measure": "Latent PPL", "section": "", "n": 100}
    said = {"setting": "w-title", "decoding": "given", "seed": 1, "draw": 1}
    return Score(**of, **said, number=number, p=p, real=REAL, by_ratio=True, margin=0.2, **more)


def keys(generator):
    return data_keys("a", "sample") | {"setting": "w-title", "generator": generator, "decoding": "given"}


def test_the_farthest_sample_is_the_one_that_differs_most_by_the_first_measure():
    near, below, above = score("near", 2.2, 0.01), score("below", 0.8, 0.001), score("above", 4.0, 0.001)
    far_by_chance = score("unclear", 90.0, 0.4)
    other = replace(score("near", 99.0, 0.001), measure="another")
    # 0.8 is 2.5 times as low, 4.0 twice as high.
    assert farthest([near, above, below, far_by_chance, other]) is below
    assert farthest([near, far_by_chance]) is near
    assert farthest([far_by_chance, score("same", 2.0, 0.9)]) is far_by_chance
    assert farthest([below, score("infinite", math.inf, None)]).label == "infinite"


def test_controls_and_baselines_are_the_worst_only_where_there_is_nothing_else():
    bad, other = score("bad", 90.0, 0.001, baseline=True), score("other people", 50.0, 0.001, control=True)
    sample = score("sample", 2.1, 0.5)
    assert farthest([bad, other, sample]) is sample
    assert farthest([bad, other]) is bad
    assert farthest([bad, other, score("unscored", None, None)]) is bad
    assert farthest([score("unscored", None, None)]) is None
    assert farthest([]) is None


@pytest.mark.parametrize(("card", "place"), [((("b", 9.0), ("c", 3.0)), 2), ((("d", 9.0),), 1), ((), 1)])
def test_a_reader_opens_with_the_worst_sample_else_with_the_first(card, place):
    sources = [data_keys("a"), keys("c"), keys("b")]
    assert opened(sources, [score(name, value, 0.001) for name, value in card]) == place
    assert opened(sources[:1], [score("b", 9.0, 0.001)]) == 0


def html_of(*documents):
    shelf = Shelf(keys("b"), "<b>", documents, note="a & b")
    reading = Reading(("Document", "Score", "Why"), (shelf,))
    return str(reader_html("x", reading, lambda shown: Markup("<p>{}</p>").format(shown)))


def test_a_table_has_a_row_for_each_document_and_numbers_to_sort_by():
    whole = Document("<i>", (("1,234", 1234.0), "2: <s>"), "</article> & text", "id-1")
    listed = Document("listed", (("∞", math.inf),))
    text = html_of(whole, listed, Document("low", (("−∞", -math.inf), "")))
    page = Page(text)
    assert [attrs["data-value"] for tag, attrs in page.tags if tag == "td" and "data-value" in attrs] == [
        "1234",
        "Infinity",
        "-Infinity",
    ]
    assert [tag for tag, _ in page.tags].count("td") == 6
    assert [attrs.get("scope") for tag, attrs in page.tags if tag == "th"] == ["col"] * 3 + ["row"] * 3
    assert page.data["span"] == "3 documents of <b>"
    assert page.loads == ["#x-0-0"]
    assert [attrs["id"] for tag, attrs in page.tags if tag == "article"] == ["x-0-0"]
    assert "&lt;/article&gt; &amp; text" in text
    assert "<small>id-1</small>" in text
    assert text.count("text not shown") == 2


def test_a_source_without_documents_says_so():
    text = html_of()
    assert "No document of this source has a score." in text
    assert "<table" not in text
