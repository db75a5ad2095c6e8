"""Pages of the manual whose commands are run: they print what the pages show, to the digit."""

from pathlib import Path

import pytest
from page_runner import run_page

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["tutorial.md", "lm-eval.md"])
def test_a_page_prints_what_it_shows(page, tmp_path):
    ran = list(run_page(DOCS / page, tmp_path))
    assert ran
    for one in ran:
        assert one.agrees(), f"{one.command}\nshown:\n{one.shown}\nprinted:\n{one.printed}"


def test_the_pictures_of_the_tutorial_are_there_and_small():
    text = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    pictures = [DOCS / part.split(")")[0] for part in text.split("](images/")[1:]]
    assert len(pictures) == 2
    assert all((DOCS / "images" / picture.name).stat().st_size < 150_000 for picture in pictures)
