from textcritic.experiments import KINDS
from textcritic.plan.configdoc import MANUAL, manual
from textcritic.plan.spec import SCHEMAS


def test_the_manual_is_what_the_schemas_say():
    assert MANUAL.read_text(encoding="utf-8") == manual(), "run `python -m textcritic.plan.configdoc`"


def test_every_schema_and_every_kind_has_its_page():
    headings = [line.removeprefix("## ") for line in manual().splitlines() if line.startswith("## ")]
    registries = {path.stem for path in SCHEMAS.glob("*.yaml")} - {"config", "study"}
    pages = {"config/config.yaml", "config/studies/{study}.yaml"}
    pages |= {f"config/registry/{registry}.yaml" for registry in registries}
    assert set(headings) == pages | {f"An experiment of kind `{kind}`" for kind in KINDS}
    assert len(headings) == len(set(headings))


def test_keys_of_a_part_of_a_schema_in_a_file_of_its_own_are_on_the_page():
    rows = [line for line in manual().splitlines() if line.startswith("| `sources[].settings`")]
    # coherence, coreference, intruders, mixing, people, process, recitation, tendencies, topics; campaigns
    assert len(rows) == 10
    assert "`wo-title`" in rows[1]
