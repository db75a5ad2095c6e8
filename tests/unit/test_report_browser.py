"""A report in a real browser: what opens, folds and stays in sight; wide, narrow, printed, without JavaScript."""

import pytest
from experiments.topics.tiny import build_topics
from markupsafe import Markup
from report_jobs import Made, description, report_of

from textcritic.annotation.screens import NO_BROWSER, browser, browser_path
from textcritic.report import make_manifest
from textcritic.report.section import Place, Section, write_section
from textcritic.report.sheet import Cell, Sheet

pytestmark = [pytest.mark.annotation, pytest.mark.skipif(browser_path() is None, reason=NO_BROWSER)]
WIDE, NARROW = 1280, 400


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
    table = place.sheet(Sheet("many", "Many columns", [head], [row, row]))
    html = place.part("values", "Values", lambda: table, shown=True)
    html += place.part("how", "How", lambda: Markup('<p id="deep">Deep inside.</p>'))
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
    from axe_playwright_python.sync_playwright import Axe

    page = page_of(chromium, report, width)
    page.emulate_media(color_scheme=scheme)
    open_all(page)
    results = Axe().run(page, options={"resultTypes": ["violations", "passes"]}).response
    assert len(results["passes"]) > 10  # it looked
    assert [(fault["id"], [node["html"] for node in fault["nodes"]]) for fault in results["violations"]] == []
