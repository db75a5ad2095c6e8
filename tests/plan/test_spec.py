import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcritic.errors import TextcriticError
from textcritic.experiments import KINDS, kind_of
from textcritic.plan.experiment import schema_of
from textcritic.plan.spec import SCHEMAS, canonical, complete, leaves, load_yaml, restore, schema

CAUSAL = {
    "kind": "causal",
    "encoding": "gpt2",
    "init": {"hub": "gpt2"},
    "training": {"context": 1024, "learning_rate": 5e-5},
}


def changed(path, value):
    """CAUSAL with the value at a dotted path replaced, or removed when None."""
    entry = json.loads(json.dumps(CAUSAL))
    *parents, last = path.split(".")
    at = entry
    for parent in parents:
        at = at[parent]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return entry


def test_defaults_are_filled_in_at_every_level_and_the_input_is_not_changed():
    before = json.dumps(CAUSAL)
    full = complete(CAUSAL, "generators", "here")
    assert full["training"]["batch_size"] == 8
    assert full["training"]["gradient_clip"] == 1.0
    assert full["gpu"] == 0
    assert json.dumps(CAUSAL) == before


def test_canonical_leaves_out_defaults_ignores_order_and_restores():
    explicit = {**dict(reversed(CAUSAL.items())), "threads": 1, "training": {**CAUSAL["training"], "batch_size": 8}}
    assert canonical(complete(explicit, "generators", "x"), "generators") == canonical(
        complete(CAUSAL, "generators", "x"), "generators"
    )
    text = canonical(complete(CAUSAL, "generators", "x"), "generators")
    assert "batch_size" not in text
    assert restore(text, "generators") == complete(CAUSAL, "generators", "x")


@given(st.integers(2, 4096), st.floats(1e-8, 1), st.sampled_from(["constant", "linear", "cosine"]))
def test_canonical_is_a_round_trip(context, rate, schedule):
    entry = changed("training", {"context": context, "learning_rate": rate, "schedule": schedule})
    full = complete(entry, "generators", "x")
    assert restore(canonical(full, "generators"), "generators") == full


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (changed("training.learning_rate", "5e-5"), r"training.learning_rate: '5e-5' .* number; .* 5.0e-5"),
        (changed("training.batch", 4), r"training: unknown key 'batch'; did you mean 'batch_size'\?"),
        (changed("training.context", None), r"training: the key 'context' is missing"),
        (
            changed("kind", "transformer"),
            r"kind: 'transformer' is not one of causal, ngram, hsmm, fairseq, rnng, .*, file",
        ),
        (changed("training.schedule", "step"), r"training.schedule: 'step' is not one of constant, linear, cosine"),
        (changed("init", {"url": "x"}), r"init: .* is not \{hub: NAME\} or \{folder: PATH\}"),
        (changed("training.batch_size", 0), r"training.batch_size: 0 is less than the minimum of 1"),
    ],
)
def test_faults_name_source_and_key(entry, message):
    with pytest.raises(TextcriticError, match=r"^file.yaml: e: " + message):
        complete(entry, "generators", "file.yaml: e")


def test_yaml_faults_name_file_and_line(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("a: 1\nb: [1\n")
    with pytest.raises(TextcriticError, match=r"x.yaml, line \d: not valid YAML"):
        load_yaml(path)
    path.write_text("a: 1\na: 2\n")
    with pytest.raises(TextcriticError, match=r"x.yaml, line 2: .*'a' stands twice"):
        load_yaml(path)
    with pytest.raises(TextcriticError, match=r"no such file"):
        load_yaml(tmp_path / "absent.yaml")


def _objects(schema, where):
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema, where
        for key, value in schema.items():
            yield from _objects(value, f"{where}.{key}")
    elif isinstance(schema, list):
        for number, value in enumerate(schema):
            yield from _objects(value, f"{where}[{number}]")


# What is not closed by its schema: an architecture has the keys of its transformers configuration, a block those of its
# kind, and stages are kinds too (`Project` refuses others).
OPEN = ({"model_type"}, {"kind"})
KIND_SCHEMAS = [schema_of(kind_of(kind)) for kind in KINDS]


@pytest.mark.parametrize(
    "path", [*sorted(SCHEMAS.glob("*.yaml")), *KIND_SCHEMAS], ids=lambda p: f"{p.parent.name}-{p.stem}"
)
def test_schemas_are_closed_and_describe_every_key(path: Path):
    whole = schema(path)
    assert whole["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert whole["description"]
    for node, where in _objects(whole, path.stem):
        if set(node["properties"]) not in OPEN and not where.endswith("stage_versions"):
            assert node.get("additionalProperties") is False, where
        for key, value in node["properties"].items():
            assert "description" in value or "oneOf" in value or "properties" in value, f"{where}.{key}"


def test_a_kind_that_is_the_default_may_be_left_out_and_reruns_nothing():
    entry = {"init": {"hub": "bert-base-cased"}, "training": {"learning_rate": 2.0e-5}}
    full = complete(entry, "classifiers", "here")
    assert (full["kind"], full["max_tokens"]) == ("transformer", 512)
    assert json.loads(canonical(full, "classifiers")) == entry
    assert restore(canonical(full, "classifiers"), "classifiers") == full
    assert complete({"kind": "given"}, "classifiers", "here") == {"kind": "given"}
    with pytest.raises(TextcriticError, match=r"here: kind: 'givn' is not one of transformer, given"):
        complete({"kind": "givn"}, "classifiers", "here")
    with pytest.raises(TextcriticError, match=r"here: unknown key 'max_tokens'; known keys are kind"):
        complete({"kind": "given", "max_tokens": 8}, "classifiers", "here")


def test_a_reference_to_another_file_stands_here_with_what_is_said_beside_it():
    block = schema(schema_of(kind_of("process")))["properties"]["sources"]
    assert block["description"] == "the samples compared; each block means all combinations of its lists"
    settings = block["items"]["properties"]["settings"]
    assert settings["default"] == ["wo-title"]
    assert settings["items"]["enum"] == ["wo-title"]
    assert settings["minItems"] == 1
    assert "$ref" not in str(block)
    text = schema(schema_of(kind_of("coherence")))["properties"]["sources"]
    assert text["items"]["properties"]["settings"]["default"] == ["w-title", "wo-title"]


def test_a_reference_to_a_file_that_is_not_there_is_one_line(tmp_path):
    (tmp_path / "s.yaml").write_text("properties: {sources: {$ref: shared/nothing.yaml}}")
    with pytest.raises(TextcriticError, match=r"shared/nothing.yaml: no such file"):
        schema(tmp_path / "s.yaml")


def test_every_text_of_a_value_comes_with_its_key_and_rules():
    full = complete(CAUSAL, "generators", "x")
    found = {key: (text, rules.get("registry")) for key, text, rules in leaves(full, schema("generators"))}
    assert found["kind"] == ("causal", None)
    assert found["encoding"] == ("gpt2", "encodings")
    assert found["init.hub"] == ("gpt2", "hub")
    assert found["training.schedule"] == ("linear", None)
    paths = {"extractor": "jsonl", "options": {"paths": ["a", "b"]}}
    texts = [(key, text) for key, text, _ in leaves(paths, schema("corpora")) if key == "options.paths"]
    assert texts == [("options.paths", "a"), ("options.paths", "b")]
