import json
import re

import pytest
from jsonschema import Draft202012Validator

from textcritic.experiments import KINDS
from textcritic.plan.configdoc import PAGES, pages, schemas
from textcritic.plan.spec import SCHEMAS, load_yaml


def test_the_pages_are_what_the_schemas_say():
    there = {path.name: path.read_text(encoding="utf-8") for path in PAGES.iterdir()}
    assert there == pages(), "run `python -m textcritic.plan.configdoc`"


def test_the_schemas_for_editors_are_what_the_models_say():
    there = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in SCHEMAS.glob("*.json")}
    assert there == schemas(), "run `python -m textcritic.plan.configdoc`"
    for whole in there.values():
        Draft202012Validator.check_schema(whole)


@pytest.mark.parametrize("folder", ["registry", "studies"])
def test_a_file_fits_the_schema_that_its_first_line_names(folder):
    files = sorted((SCHEMAS.parent / folder).glob("*.yaml"))
    assert len(files) > 10
    for path in files:
        named = re.match(r"# yaml-language-server: \$schema=(\S+)\n", path.read_text(encoding="utf-8"))
        whole = json.loads((path.parent / named[1]).read_text(encoding="utf-8"))
        Draft202012Validator(whole).validate(load_yaml(path))


def test_every_schema_and_every_kind_has_its_page():
    registries = {path.stem for path in SCHEMAS.glob("*.json")} - {"config", "study"}
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
