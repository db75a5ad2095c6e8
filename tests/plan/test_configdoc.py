from textcritic.plan.configdoc import MANUAL, PAGES, manual
from textcritic.plan.spec import SCHEMAS


def test_the_manual_is_what_the_schemas_say():
    assert MANUAL.read_text(encoding="utf-8") == manual(), "run `python -m textcritic.plan.configdoc`"


def test_every_schema_has_its_page():
    assert set(PAGES) == {path.stem for path in SCHEMAS.glob("*.yaml")}
