"""The whole way in a real browser, as two annotators and an admin; without JavaScript, and by keyboard alone."""

import random
import re
import shutil
from contextlib import contextmanager

import pytest

from annotation.campaigns import CAMPAIGN, Server, article, link, made_campaign, made_intruder_campaign, open_store
from textcritic.annotation.answers import read_answers
from textcritic.annotation.export import export
from textcritic.annotation.screens import NO_BROWSER, WIDTHS, answer, browser, browser_path, press, take
from textcritic.corpora import Article, Section
from textcritic.corpora.intruders.documents import Document

pytestmark = [pytest.mark.annotation, pytest.mark.skipif(browser_path() is None, reason=NO_BROWSER)]


@pytest.fixture(scope="module", params=["chromium", pytest.param("firefox", marks=pytest.mark.debian)])
def opened(request):
    """A browser; Debian's Firefox where it is there, and where this version of playwright can drive it."""
    with browser() if request.param == "chromium" else firefox() as one:
        yield one


@contextmanager
def firefox():
    from playwright.sync_api import Error, sync_playwright

    path = shutil.which("firefox-esr") or shutil.which("firefox")
    if path is None:
        pytest.skip("needs Firefox: `apt-get install firefox-esr`")
    with sync_playwright() as playwright:
        one = playwright.firefox.launch(channel="moz-firefox", executable_path=path)
        try:
            try:
                one.new_context().close()
            except Error as error:
                pytest.skip(f"this playwright cannot drive this Firefox: {error.message.splitlines()[0]}")
            yield one
        finally:
            one.close()


@pytest.fixture
def server(tmp_path):
    made_campaign(tmp_path, training=CAMPAIGN["training"] | {"pass": 0})
    started = Server(tmp_path, "--limit", "1000")
    yield started
    started.kill()


BUTTON = 44  # pixels, the least height of a button


def new_page(opened, width="wide", scripts=False):
    wide, high = WIDTHS[width]
    context = opened.new_context(viewport={"width": wide, "height": high}, java_script_enabled=scripts)
    page = context.new_page()
    page.set_default_timeout(20_000)
    return page


def heading(page, text):
    from playwright.sync_api import expect

    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(text), timeout=20_000)


def test_two_annotators_and_an_admin_walk_the_whole_way(opened, server):
    admin = new_page(opened)
    admin.goto(server.address + link(server.folder, "admin"))
    heading(admin, "Campaign test")
    admin.get_by_label("How many links").fill("2")
    press(admin, "Make links")
    first_link, second_link = admin.locator(".links li").all_text_contents()

    # The first annotator has no JavaScript: consent, training with feedback, the task.
    first = new_page(opened)
    first.goto(first_link)
    heading(first, "Before you begin")
    press(first, "I agree")
    heading(first, "What to do")
    press(first, "Begin")
    for number in (1, 2):
        heading(first, f"Training {number} of 2")
        assert first.locator("select").first.input_value() == ""  # nothing is chosen beforehand
        assert not first.locator("input:checked").count()
        answer(first)
        press(first, "Verify")
        heading(first, f"Training {number} of 2: . of . right")
        press(first, "Go on")
    heading(first, "Text 1 of 5")
    assert first.get_by_role("link", name="Withdraw from the study").bounding_box()["height"] >= BUTTON
    answer(first, coherent=False)
    press(first, "Save answer")
    heading(first, "Text 2 of 5")

    # Undo: the last answer is there, and can be another one.
    first.get_by_role("link", name="Change my last answer").click()
    heading(first, "Change your last answer")
    assert first.get_by_label("No, ").is_checked()
    answer(first, coherent=True)
    press(first, "Save answer")
    heading(first, "Text 2 of 5")

    # Half a text, a pause, a server that is killed, and the same link again.
    first.locator("select").first.select_option(index=2)
    press(first, "Save and pause")
    heading(first, "Pause")
    server.kill()
    server.start()
    later = new_page(opened)
    later.goto(first_link)
    heading(later, "Text 2 of 5")
    assert later.locator("select").first.input_value() == "1"
    # The window that was left open goes on too.
    first.get_by_role("link", name="Go on now").click()
    heading(first, "Text 2 of 5")
    for number in range(2, 6):
        heading(first, f"Text {number} of 5")
        answer(first)
        press(first, "Save answer")
    heading(first, "Thank you")

    # The second one withdraws.
    second = new_page(opened, "narrow")
    second.goto(second_link)
    press(second, "I agree")
    press(second, "Begin")
    answer(second)
    press(second, "Verify")
    second.get_by_role("link", name="Withdraw from the study").click()
    heading(second, "Withdraw from the study")
    press(second, "Delete my answers and leave")
    heading(second, "You have withdrawn")
    second.goto(second_link)
    heading(second, "This page cannot be shown")

    admin.goto(f"{server.address}/admin")
    assert "Annotators who withdrew: 1." in admin.locator("main").text_content()
    with admin.expect_download() as download:
        admin.get_by_role("link", name="Export JSONL").click()
    assert download.value.suggested_filename.endswith(".jsonl")
    # Read by itself, as playwright gives an empty file of what Firefox downloads.
    exported = admin.request.get(f"{server.address}/admin/answers.jsonl")
    (server.folder / "answers.jsonl").write_text(exported.text(), encoding="utf-8")
    answers = read_answers(server.folder / "answers.jsonl")
    assert len({row.annotator for row in answers.rows}) == 1
    assert [row.order for row in answers.rows] == list(range(1, 8))
    assert [row.phase for row in answers.rows][:2] == ["training", "training"]
    assert len(answers.results()) == 4
    assert answers.rows[2].answer.coherent  # as it was changed
    assert answers.header.withdrawn == 1
    press(admin, "Write a backup")
    heading(admin, "Campaign test")
    assert "was written" in admin.locator("[role=status]").text_content()


def test_by_keyboard_alone_with_what_is_missing_named(opened, server):
    page = new_page(opened)
    page.goto(server.address + link(server.folder))

    def tab_to(selector, most=40):
        for _ in range(most):
            page.keyboard.press("Tab")
            if page.locator(f"{selector}:focus").count():
                return
        raise AssertionError(f"{selector} cannot be reached by Tab")

    tab_to("button.main")
    page.keyboard.press("Enter")
    heading(page, "What to do")
    tab_to("button.main")
    page.keyboard.press("Enter")
    heading(page, "Training 1 of 2")
    sections = page.locator("select").count()
    for number in range(sections):
        tab_to(f"#type{number}")
        page.keyboard.press("ArrowDown")
    tab_to("input[type=radio]")
    page.keyboard.press("Space")
    tab_to("button.main")
    page.keyboard.press("Enter")
    heading(page, "Training 1 of 2: . of . right")


def faults(page):
    from axe_playwright_python.sync_playwright import Axe

    results = Axe().run(page, options={"resultTypes": ["violations", "passes"]}).response
    assert len(results["passes"]) > 5  # it looked
    return [(fault["id"], [node["html"] for node in fault["nodes"]]) for fault in results["violations"]]


def nothing_sticks_out(page):
    return page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_has_an_accessibility_fault_or_is_too_wide(width, opened, server):
    page = new_page(opened, width, scripts=True)
    checked = []

    def check():
        heading(page, ".")  # a page that is half there has few rules to pass
        page.wait_for_load_state("load")
        assert faults(page) == []
        assert nothing_sticks_out(page)
        checked.append(page.title())

    page.goto(server.address + link(server.folder))
    check()
    press(page, "I agree")
    check()
    press(page, "Begin")
    heading(page, "Training 1 of 2")
    check()
    page.locator("form").evaluate("form => form.noValidate = true")
    press(page, "Verify")
    check()
    assert page.title().startswith("Something is missing")
    answer(page)
    press(page, "Verify")
    check()
    press(page, "Go on")
    answer(page)
    press(page, "Verify")
    press(page, "Go on")
    heading(page, "Text 1 of 5")
    page.get_by_text("Instructions").click()
    check()
    for _ in range(5):
        answer(page)
        press(page, "Save answer")
    heading(page, "Thank you")
    check()
    page.goto(f"{server.address}/withdraw")
    check()
    page.goto(f"{server.address}/enter/x")
    check()
    page.goto(server.address + link(server.folder, "admin"))
    check()
    press(page, "Make links")
    check()
    assert len(set(checked)) >= 8


def test_the_checker_finds_faults(opened):
    page = new_page(opened, scripts=True)
    page.set_content("<select><option>one</option></select>")
    assert {"html-has-lang", "select-name"} <= {fault for fault, _ in faults(page)}


def test_pictures_of_figures_14_to_17(opened, server, tmp_path):
    taken = [
        path
        for width in WIDTHS
        for path in take(opened, server.address + link(server.folder), tmp_path / "screens", width)
    ]
    names = {path.stem for path in taken}
    assert names >= {f"figure{number}-{width}" for number in (14, 15, 16, 17) for width in WIDTHS}
    for path in taken:
        content = path.read_bytes()
        width = WIDTHS[path.stem.rpartition("-")[2]][0]
        # Of the PNG: nothing is wider than the window; Firefox leaves out the bar for scrolling.
        assert width - 20 < int.from_bytes(content[16:20]) <= width


def test_a_long_text_and_markup_in_a_browser(opened, tmp_path):
    long = article("long", ("notes",) * 3, random.Random(1))
    last = "<script>document.title='hurt'</script>" + "averyveryverylongword" * 5000
    samples = [Article(f"t{n}", None, (*long.sections, Section("notes", f"{last}{n}")), "x", None) for n in range(6)]
    none = {"texts": 0, "pass": 0, "rounds": 1}
    made_campaign(tmp_path, samples, training=none, attention=0)
    server = Server(tmp_path)
    try:
        page = new_page(opened, "narrow", scripts=True)
        page.goto(server.address + link(tmp_path))
        press(page, "I agree")
        press(page, "Begin")
        for number in range(1, 5):
            heading(page, f"Text {number} of 4")
            assert nothing_sticks_out(page)
            assert "hurt" not in page.title()
            answer(page)
            press(page, "Save answer")
        heading(page, "Thank you")
    finally:
        server.kill()


def test_the_intruder_task(opened, tmp_path):
    documents = [
        Document(f"d{n}", tuple(f"Sentence {k} of document {n}." for k in range(5)), intruder=2) for n in range(8)
    ]
    made_intruder_campaign(tmp_path, documents)
    server = Server(tmp_path)
    try:
        page = new_page(opened, "narrow", scripts=True)
        page.goto(server.address + link(tmp_path))
        press(page, "I agree")
        press(page, "Begin")
        heading(page, "Text 1 of 4")
        assert page.locator("header .site").text_content() == "Which sentence does not belong?"
        assert faults(page) == []
        page.get_by_label("Sentence 2").check()
        press(page, "Save answer")
        heading(page, "Text 2 of 4")
        page.get_by_label("All sentences belong").check()
        press(page, "Save answer")
        heading(page, "Text 3 of 4")
        page.get_by_role("link", name="Change my last answer").click()
        assert page.get_by_label("All sentences belong").is_checked()
    finally:
        server.kill()
    with open_store(tmp_path) as store:
        assert [row.answer.intruder for row in export(store).rows] == [2, None]
