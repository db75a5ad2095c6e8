"""Pictures of an annotator's pages, taken by a real browser: Figures 14 to 17 of the model criticism paper."""

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from textcritic.errors import TextcriticError
from textcritic.files import results_folder

WIDTHS = {"wide": (1280, 900), "narrow": (390, 844)}
"""Width and height of the window, in pixels: a screen, and a phone."""
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]
NO_BROWSER = "needs Chromium and playwright: `apt-get install chromium`, `pip install playwright`"


def browser_path() -> str | None:
    """The path of Chromium; None where it, or playwright, is not installed."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return None
    return shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def browser(*options: str) -> Iterator[Any]:
    """A headless Chromium, started with these options too.

    Raises:
        TextcriticError: it is not installed; the line says how it is.
    """
    path = browser_path()
    if path is None:
        raise TextcriticError(f"screens: {NO_BROWSER}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=[*FLAGS, *options])
        try:
            yield opened
        finally:
            opened.close()


def screens_of(name: str, out: str | None = None, folder: str | Path = ".") -> str:
    """Serve a campaign on a free port, answer as a new annotator of its pilot, and take pictures on the way.

    Args:
        name: of the campaign.
        out: folder for the pictures; None: screens in the campaign's folder.
        folder: the working directory.

    Returns:
        The paths of the pictures, one a line.

    Raises:
        TextcriticError: there is no such campaign, no browser, or the server did not start.
    """
    from textcritic.annotation.make import database_of

    place = results_folder(out, "out") if out else database_of(Path(folder), name).with_name("screens")
    with browser() as chromium, served(name, Path(folder)) as address:
        links = {width: invited(name, address, Path(folder)) for width in WIDTHS}
        known = right_types(database_of(Path(folder), name))
        paths = [path for width, link in links.items() for path in take(chromium, link, place, width, known)]
    return "\n".join(map(str, paths))


def invited(name: str, address: str, folder: Path) -> str:
    """The link of a new annotator of the pilot."""
    from textcritic.annotation.run import Invitation, invite

    return invite(name, Invitation(days=1, pilot=True), address, folder)


def right_types(database: Path) -> dict[str, str]:
    """The type of each section of the training, by its text: what a good annotator knows."""
    from textcritic.annotation.store import Store

    with Store(database) as store:
        rows = store.rows("SELECT texts, right_answer FROM item WHERE phase = 'training'")
    pairs = [(json.loads(row["texts"]), json.loads(row["right_answer"])["titles"]) for row in rows]
    return {text: title for texts, titles in pairs for text, title in zip(texts, titles, strict=True)}


def take(chromium: Any, link: str, place: Path, width: str, known: Mapping[str, str] | None = None) -> list[Path]:
    """Take the pictures at one width, as the annotator of a link, whose page does not say what is right.

    Args:
        chromium: the browser.
        link: of an annotator who has not been there.
        place: the folder for the pictures.
        width: a key of `WIDTHS`.
        known: the right types of sections of the training, by their texts.

    Returns:
        Their paths: figure16, 14 and its feedback where the campaign has a training that this annotator passes or
        must repeat, then 17 and 15 where the task is reached.
    """
    wide, high = WIDTHS[width]
    page = chromium.new_page(viewport={"width": wide, "height": high})
    place.mkdir(parents=True, exist_ok=True)
    taken: list[Path] = []

    def picture(figure: str) -> None:
        if (path := place / f"{figure}-{width}.png") not in taken:
            page.screenshot(path=path, full_page=True)
            taken.append(path)

    page.goto(link)
    picture("consent")
    press(page, "I agree")
    picture("figure16")
    press(page, "Begin")
    while page.get_by_role("button", name="Verify").count():
        picture("figure14")
        answer(page, known=known)
        press(page, "Verify")
        picture("figure14-feedback")
        press(page, "Go on")
    if page.get_by_role("button", name="Save answer").count():
        picture("figure15")
        page.get_by_text("Instructions").click()
        picture("figure17")
    else:
        picture("end")
    page.close()
    return taken


def press(page: Any, name: str) -> None:
    """Press the button of a form and wait for the page that follows."""
    with page.expect_navigation():
        page.get_by_role("button", name=name).click()


def answer(page: Any, coherent: bool = True, known: Mapping[str, str] | None = None) -> None:
    """Fill in the form of a text: the known types, else the first for the first section, the second for the second."""
    selects, texts = page.locator("select"), page.locator(".part .text")
    for section in range(selects.count()):
        options = selects.nth(section).locator("option").count() - 1
        text = texts.nth(section).text_content()
        if known and text in known:
            selects.nth(section).select_option(label=known[text])
        else:
            selects.nth(section).select_option(index=1 + section % options)
    page.get_by_label("Yes" if coherent else "No, ").check()


@contextmanager
def served(name: str, folder: Path) -> Iterator[str]:
    """Serve a campaign by a separate process on a free port; yields its address."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    command = [sys.executable, "-m", "textcritic.cli", "annotate", "serve", name]
    command += ["--port", str(port), "--limit", "10000"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            if not process.stdout.readline():
                raise TextcriticError(f"screens: the campaign {name} could not be served, as stderr says")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
