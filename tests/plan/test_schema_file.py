"""A kind from outside that describes its blocks by schema.yaml, and not by a model."""

import sys

import pytest
from own_study import own_folder, project, study, write

from textcritic.errors import TextcriticError
from textcritic.plan.schema_file import read_block, schema

SCHEMA = """
description: "words (kind `words`): how many words there are"
type: object
additionalProperties: false
required: [kind, critic, sources]
properties:
  kind: {const: words, description: "how many words there are"}
  name: {$ref: shared/name.yaml}
  critic: {type: string, registry: critics, description: "an entry of kind order"}
  sources:
    $ref: shared/sources.yaml
    items: {properties: {settings: {default: [wo-title]}}}
  audit:
    $ref: shared/sources.yaml
    minItems: 0
    default: []
  limit: {type: integer, minimum: 1, default: 3, description: "of words"}
  power: {$ref: shared/power.yaml}
  tables:
    $ref: shared/tables.yaml
    items: {properties: {of: {enum: [words], description: "`words`, all of them"}}}
"""
PLAN = """
from pathlib import Path

from textcritic.plan.experiment import Experiment
from textcritic.plan.sources import Compared, Drawn, RealText, drawn, sources_of


class Words(Experiment):
    kind = "words"
    critic_kind = "order"
    tables = ("words",)
    standing_figures = False

    @classmethod
    def mended(cls, block):
        return {**block, "limit": 1}

    def files(self, part=None):
        corpora, sources = self.compared(part)
        assert sources_of(self.block["audit"]) == [] and self.block.get("nothing") is None
        samples = tuple(Drawn(**drawn(source, self.block["critic"], self.registries)) for source in sources)
        data = tuple(RealText(corpus=corpus) for corpus in corpora)
        return Compared(data=data, samples=samples, resamples=self.config["resamples"] + self.block["limit"])
"""
SOURCES = [{"corpora": ["docstrings"], "generators": ["ngram-3"], "decodings": ["demo"]}]
BLOCK = {"kind": "words", "critic": "order", "sources": SOURCES}
TABLE = {"name": "table4", "of": "words", "caption": "Words"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    made = own_folder(tmp_path, study(BLOCK | {"name": "counted", "tables": [TABLE]}))
    package = made / "schema_kind/words"
    package.mkdir(parents=True)
    for name, text in {"plan": PLAN, "tables": "", "section": ""}.items():
        (package / f"{name}.py").write_text(text)
    (package / "schema.yaml").write_text(SCHEMA)
    monkeypatch.setattr(sys, "path", [str(made), *sys.path])
    return made


def test_its_block_is_a_mapping_with_all_defaults(folder):
    made = project(folder, experiment_packages=["schema_kind.words"])
    experiment = made.studies["own"].experiments["counted"]
    assert isinstance(experiment.block, dict)
    assert {**experiment.block}["limit"] == experiment.block.limit == 3
    assert experiment.block["power"]["repetitions"] == 200
    assert [source.setting for source in experiment.sources()] == ["wo-title"]
    assert ("critics", "order") in experiment.uses()
    assert experiment.parts["table4"].of == "words"
    assert experiment.request("table4")["settings"] == '{"resamples": 10003}'
    assert made.rule_files() == [str(folder / "schema_kind/words/rules.smk")]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"limt": 3}, r"experiments.1 \(words\): unknown key 'limt'; did you mean 'limit'\?"),
        ({"limit": "3"}, r"limit: '3' should be a whole number; YAML reads it as text, write 3 without quotes"),
        ({"critic": "ordr"}, r"critic: .* no entry 'ordr'; did you mean"),
        ({"critic": "ctm-demo"}, r"critic: ctm-demo is of kind ctm; name an entry of kind order"),
        ({"tables": [TABLE | {"of": "word"}]}, r"tables.0.of: 'word' is not one of words"),
        ({"tables": [TABLE, TABLE]}, r"table4 is there twice"),
    ],
)
def test_a_bad_block_is_one_line(folder, changes, message):
    write(folder / "studies/own.yaml", study(BLOCK | changes))
    with pytest.raises(TextcriticError, match=message) as refused:
        project(folder, experiment_packages=["schema_kind.words"])
    assert "\n" not in str(refused.value)


def test_what_is_missing_is_left_out_and_the_rest_mended(folder):
    entry = {"kind": "file", "path": "theirs.jsonl"}
    write(folder / "registry/generators.yaml", {"theirs": entry})
    sources = [{**SOURCES[0], "generators": ["ngram-3", "theirs"]}]
    write(folder / "studies/own.yaml", study(BLOCK | {"sources": sources}))
    made = project(folder, leave_out=True, experiment_packages=["schema_kind.words"])
    block = made.studies["own"].experiments["words"].block
    assert (block["sources"][0]["generators"], block["limit"]) == (["ngram-3"], 1)


def test_only_what_our_kinds_share_can_be_named(tmp_path):
    path = tmp_path / "schema.yaml"
    path.write_text("properties: {sources: {$ref: shared/nothing.yaml}}")
    with pytest.raises(TextcriticError, match=r"\$ref: there is no shared/nothing.yaml; known are .*shared/name.yaml"):
        schema(path)
    with pytest.raises(TextcriticError, match=r"other.yaml: no such file"):
        read_block({}, tmp_path / "other.yaml", "here")
