import re

from textcritic.experiments import KINDS
from textcritic.plan.configdoc import PAGES, pages
from textcritic.plan.spec import SCHEMAS


def test_the_pages_are_what_the_schemas_say():
    there = {path.name: path.read_text(encoding="utf-8") for path in PAGES.iterdir()}
    assert there == pages(), "run `python -m textcritic.plan.configdoc`"


def test_every_schema_and_every_kind_has_its_page():
    registries = {path.stem for path in SCHEMAS.glob("*.yaml")} - {"config", "study"}
    assert set(pages()) == {"config.md", "studies.md"} | {f"{registry}.md" for registry in registries}
    assert pages()["config.md"].startswith("# config.yaml\n")
    assert all(pages()[f"{registry}.md"].startswith(f"# {registry}\n") for registry in registries)
    headings = [line for line in pages()["studies.md"].splitlines() if line.startswith("## ")]
    assert headings == [f"## An experiment of kind `{kind}`" for kind in KINDS]


def test_keys_of_a_part_of_a_schema_in_a_file_of_its_own_are_on_the_page():
    rows = [
        line
        for text in pages().values()
        for line in text.splitlines()
        if line.startswith("  - **`sources[].settings`**")
    ]
    # all kinds but corpora and importance; campaigns
    assert len(rows) == 12
    assert "`wo-title`" in rows[1]


def test_the_manual_of_the_workflow_is_short_and_leads_to_every_page():
    manual = (SCHEMAS.parent / "README.md").read_text(encoding="utf-8")
    assert len(manual.splitlines()) <= 120
    assert set(re.findall(r"\]\(\.\./docs/config/(\w+\.md)\)", manual)) == set(pages())
