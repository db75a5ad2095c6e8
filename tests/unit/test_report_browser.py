"""A report in a real browser: what opens, folds and stays in sight; wide, narrow, printed, without JavaScript."""

import math

import pytest
from experiments.topics.tiny import build_topics
from markupsafe import Markup
from report_jobs import Made, description, report_of

from textcritic.annotation.screens import NO_BROWSER, browser, browser_path
from textcritic.plan.sources import data_keys
from textcritic.report import make_manifest
from textcritic.report.reader import Document, Reading, Shelf
from textcritic.report.section import Place, Section, write_section
from textcritic.report.sheet import Cell, Sheet

pytestmark = [pytest.mark.annotation, pytest.mark.skipif(browser_path() is None, reason=NO_BROWSER)]
WIDE, NARROW = 1280, 400
REAL_TEXT, SAMPLE = data_keys("docstrings"), data_keys("docstrings") | {"source": "sample", "generator": "gpt2-demo"}
READING = Reading(
    ("Document", "Score", "Words", "Reasons"),
    (
        Shelf(REAL_TEXT, "real text", [Document("r1", (("3.0", 3.0), ("5", 5), "0"), "People write about apples.")]),
        Shelf(
            SAMPLE,
            "a sample",
            [
                Document("s1", (("∞", math.inf), ("12", 12), "2: apples"), "A model writes about Pears and figs."),
                Document("s2", (("9.5", 9.5), ("1,000", 1000), "10: pears"), "A model writes about grapes."),
                Document("s3", (("10", 10.0), ("7", 7), "0")),
                Document("s4", (("−1", -1.0), ("40", 40), "0"), "A model writes about pears.", "model.s4"),
            ],
        ),
    ),
    1,
)


@pytest.fixture(scope="module")
def chromium():
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report of two sections: topics, and a table with more columns than a narrow page has room for."""
    study = tmp_path_factory.mktemp("study")
    Made("topics", build_topics(study / "results", documents=20, generators=("gpt2-demo",), resamples=20)).all(study)
    place = Place("wide", study, study / "wide/tables", study / "wide/figures")
    head = [Cell(head) for head in ("Source", *(f"Measure {n}" for n in range(8)))]
    row = [Cell("a source of text with a long name", heading=True), *(Cell("12.3", ("11.9–12.8",)) for _ in range(8))]
    reader = place.reader("articles", READING, lambda words: Markup("<p>{}</p>").format(words))
    table = place.sheet(Sheet("many", "Many columns", [head], [row, row]))
    html = place.part("values", "Values", lambda: table, shown=True)
    html += place.part("how", "How", lambda: Markup('<p id="deep">Deep inside.</p>'))
    html += place.part("read", "Read", lambda: reader, shown=True)
    section = Section("Wide", html, question="Does it fit?", findings=())
    write_section(section, place, [], [], study / "wide/section.html", study / "wide/section.json")
    make_manifest(description(["topics", "wide"], [1]), [], study / "manifest.json", ["snakemake --cores 2"])
    report_of(study, "topics", "wide")
    return (study / "report.html").as_uri()


def page_of(chromium, address, width=WIDE, scripts=True):
    page = chromium.new_context(viewport={"width": width, "height": 900}, java_script_enabled=scripts).new_page()
    page.set_default_timeout(20_000)
    page.goto(address)
    return page


def is_open(page, name):
    return page.locator(f"#{name}").evaluate("node => node.open")


def open_all(page):
    page.evaluate("document.querySelectorAll('details').forEach((node) => { node.open = true; })")


def faults(page):
    """What axe finds that keeps people from reading or operating a page."""
    from axe_playwright_python.sync_playwright import Axe

    results = Axe().run(page, options={"resultTypes": ["violations", "passes"]}).response
    assert len(results["passes"]) > 10  # it looked
    return [(fault["id"], [node["html"] for node in fault["nodes"]]) for fault in results["violations"]]


def sticks_out(page):
    return page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_report_begins_with_its_card_and_sections_open(chromium, report, width):
    page = page_of(chromium, report, width)
    assert page.locator("table.card").first.is_visible()
    assert not is_open(page, "topics")
    assert page.evaluate("document.documentElement.scrollHeight") < 4 * 900
    page.locator("#topics > summary").click()
    assert page.locator("#topics-values svg:visible").count() > 0
    assert not is_open(page, "topics-topics")
    open_all(page)
    assert not sticks_out(page)


def test_a_link_opens_all_around_its_target(chromium, report):
    page = page_of(chromium, f"{report}#deep")
    assert is_open(page, "wide")
    assert is_open(page, "wide-how")
    page.locator("table.card td a").first.click()
    assert is_open(page, "topics")
    page.locator("#topics > summary").click()
    assert not is_open(page, "topics")
    page.locator("table.card td a").first.click()  # the address stays as it is
    assert is_open(page, "topics")


def test_paper_shows_everything_and_the_screen_what_it_showed(chromium, report):
    page = page_of(chromium, report)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not is_open(page, "topics")
    # Without JavaScript the style sheet does it.
    page = page_of(chromium, report, scripts=False)
    page.emulate_media(media="print")
    assert page.locator("#deep").is_visible()


def test_without_javascript_sections_open_and_the_contents_are_there(chromium, report):
    page = page_of(chromium, report, scripts=False)
    assert page.locator("nav a").first.is_visible()
    page.locator("#wide > summary").click()
    assert page.locator("#wide-table-many, #table-wide-many").first.is_visible()


def test_a_narrow_page_folds_its_contents_and_keeps_the_first_column(chromium, report):
    page = page_of(chromium, report, NARROW)
    assert not page.locator("nav a").first.is_visible()
    page.locator("nav summary").click()
    page.get_by_role("link", name="Wide", exact=True).click()
    assert is_open(page, "wide")
    assert not page.locator("nav a").first.is_visible()
    table = page.locator("#wide .scroll")
    assert table.evaluate("node => node.scrollWidth > node.clientWidth")
    place = "node => node.querySelector('tbody th').getBoundingClientRect().left"
    before = table.evaluate(place)
    table.evaluate("node => { node.scrollLeft = 100; }")
    assert table.evaluate("node => node.scrollLeft") > 50
    assert abs(table.evaluate(place) - before) < 2


def test_the_first_key_leads_past_the_contents(chromium, report):
    page = page_of(chromium, report)
    page.keyboard.press("Tab")
    assert page.locator(".skip:focus").is_visible()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_accessibility_fault(chromium, report, width, scheme):
    page = page_of(chromium, report, width)
    page.emulate_media(color_scheme=scheme)
    open_all(page)
    assert faults(page) == []


def reader_of(chromium, report, width=WIDE, scripts=True):
    """The page, and its reader of sections, opened."""
    page = page_of(chromium, report, width, scripts)
    page.locator("#wide > summary").click()
    return page, page.locator("#wide-read .reading")


def titles(side):
    """The documents in the table of a side, as they stand there."""
    return [row.split("\n")[0] for row in side.locator(".shelf:visible tbody th:visible").all_inner_texts()]


def text_of(side):
    """The document that a side shows: there is one at most."""
    shown = side.locator("article:visible")
    assert shown.count() <= 1
    return shown.locator("p").inner_text() if shown.count() else ""


def test_a_reader_opens_with_its_source_and_the_first_document(chromium, report):
    _, reader = reader_of(chromium, report)
    assert titles(reader) == ["s1", "s2", "s3", "s4"]
    assert text_of(reader) == "A model writes about Pears and figs."
    assert reader.locator("[aria-current=true]:visible").inner_text() == "s1"
    assert reader.get_by_role("status").inner_text() == "Document 1 of 3."
    assert reader.get_by_role("row", name="s3").get_by_text("text not shown").count() == 1
    reader.get_by_role("row", name="s2").get_by_role("cell").first.click()  # all of a row leads to its document
    assert text_of(reader) == "A model writes about grapes."
    reader.get_by_role("button", name="Next").click()
    assert text_of(reader) == "A model writes about pears."
    assert reader.get_by_role("button", name="Next").is_disabled()
    reader.get_by_label("Source").select_option("real text")
    assert (titles(reader), text_of(reader)) == (["r1"], "People write about apples.")


def test_a_click_or_a_key_on_a_head_sorts_numbers_as_numbers(chromium, report):
    page, reader = reader_of(chromium, report)
    heads = {name: reader.get_by_role("columnheader", name=name) for name in ("Document", "Score", "Words", "Reasons")}
    heads["Score"].get_by_role("button").click()
    assert titles(reader) == ["s4", "s2", "s3", "s1"]
    assert [head.get_attribute("aria-sort") for head in heads.values()] == ["none", "ascending", "none", "none"]
    heads["Score"].get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert titles(reader) == ["s1", "s3", "s2", "s4"]
    assert heads["Score"].get_attribute("aria-sort") == "descending"
    heads["Words"].get_by_role("button").click()
    assert titles(reader) == ["s3", "s1", "s4", "s2"]
    heads["Reasons"].get_by_role("button").click()
    assert titles(reader)[2:] == ["s1", "s2"]  # "2: ..." stands before "10: ..."
    assert text_of(reader) == "A model writes about Pears and figs."  # what is read stays


def test_the_keyboard_moves_through_the_rows(chromium, report):
    page, reader = reader_of(chromium, report)
    reader.get_by_role("link", name="s1").focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == "s2"
    page.keyboard.press("End")
    assert text_of(reader) == "A model writes about pears."
    page.keyboard.press("Home")
    assert text_of(reader) == "A model writes about Pears and figs."
    assert reader.locator(".shelf:visible tbody a[tabindex='0']").count() == 1  # one stop for the Tab key


def test_a_filter_takes_names_and_words_of_texts(chromium, report):
    _, reader = reader_of(chromium, report)
    field = reader.get_by_label("Filter by name or words")
    field.fill("PEARS writes")
    assert titles(reader) == ["s1", "s2", "s4"]  # s2 by its reasons
    field.fill("grapes")
    assert (titles(reader), text_of(reader)) == (["s2"], "A model writes about grapes.")
    assert reader.get_by_role("status").inner_text() == "Document 1 of 1, of 4 before the filter."
    field.fill("model.s4")
    assert titles(reader) == ["s4"]
    field.fill("nothing of this kind")
    assert (titles(reader), text_of(reader)) == ([], "")
    assert reader.get_by_role("status").inner_text() == "None of 4 documents fits the filter."
    field.fill("")
    assert titles(reader) == ["s1", "s2", "s3", "s4"]


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_second_document_stands_beside_the_first_or_under_it(chromium, report, width):
    page, reader = reader_of(chromium, report, width)
    reader.get_by_role("row", name="s2").get_by_role("link").click()
    reader.get_by_role("button", name="Open a second document").click()
    first, second = reader.locator(".side").all()
    assert [text_of(side) for side in (first, second)] == ["A model writes about grapes.", "People write about apples."]
    boxes = [side.locator("article:visible").bounding_box() for side in (first, second)]
    if width == WIDE:
        assert boxes[1]["x"] > boxes[0]["x"] + boxes[0]["width"]
    else:
        assert boxes[1]["y"] > boxes[0]["y"] + boxes[0]["height"]
    assert not sticks_out(page)
    second.get_by_label("Source").select_option("a sample")
    second.get_by_role("columnheader", name="Score").get_by_role("button").click()
    second.get_by_role("row", name="s4").get_by_role("link").click()
    assert (titles(first), titles(second)) == (["s1", "s2", "s3", "s4"], ["s4", "s2", "s3", "s1"])
    assert [text_of(side) for side in (first, second)] == [
        "A model writes about grapes.",
        "A model writes about pears.",
    ]
    assert page.evaluate("new Set([...document.querySelectorAll('[id]')].map((n) => n.id)).size") == page.evaluate(
        "document.querySelectorAll('[id]').length"
    )
    assert faults(page) == []
    reader.get_by_role("button", name="Close the second document").click()
    assert reader.locator(".side").count() == 1


def test_the_address_of_a_document_opens_it(chromium, report):
    page = page_of(chromium, f"{report}#wide-articles-0-0")
    assert text_of(page.locator("#wide-read .reading")) == "People write about apples."


def test_without_javascript_all_documents_can_be_read(chromium, report):
    page, reader = reader_of(chromium, report, scripts=False)
    assert reader.locator("article:visible").count() == 4
    assert reader.locator("input:visible, select:visible, button:visible").count() == 0
    reader.get_by_role("link", name="s4").click()
    assert page.url.endswith("#wide-articles-1-3")
