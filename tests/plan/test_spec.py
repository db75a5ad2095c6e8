import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcritic.errors import TextcriticError
from textcritic.experiments import KINDS, kind_of
from textcritic.plan.entries import REGISTRIES, read_entry, registry_schema, restore
from textcritic.plan.entries.base import json_schema
from textcritic.plan.entries.config import Config, Study
from textcritic.plan.spec import leaves, load_yaml

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
    full = read_entry(CAUSAL, "generators", "here").plain()
    assert full["training"]["batch_size"] == 8
    assert full["training"]["gradient_clip"] == 1.0
    assert full["gpu"] == 0
    assert json.dumps(CAUSAL) == before


def test_canonical_leaves_out_defaults_ignores_order_and_restores():
    explicit = {**dict(reversed(CAUSAL.items())), "threads": 1, "training": {**CAUSAL["training"], "batch_size": 8}}
    assert read_entry(explicit, "generators", "x").canonical() == read_entry(CAUSAL, "generators", "x").canonical()
    text = read_entry(CAUSAL, "generators", "x").canonical()
    assert "batch_size" not in text
    assert restore(text, "generators") == read_entry(CAUSAL, "generators", "x")


@given(st.integers(2, 4096), st.floats(1e-8, 1), st.sampled_from(["constant", "linear", "cosine"]))
def test_canonical_is_a_round_trip(context, rate, schedule):
    entry = changed("training", {"context": context, "learning_rate": rate, "schedule": schedule})
    full = read_entry(entry, "generators", "x")
    assert restore(full.canonical(), "generators") == full


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
        (changed("training.batch_size", 0), r"training.batch_size: 0 should be at least 1"),
    ],
)
def test_faults_name_source_and_key(entry, message):
    with pytest.raises(TextcriticError, match=r"^file.yaml: e: " + message):
        read_entry(entry, "generators", "file.yaml: e").plain()


def test_yaml_faults_name_file_and_line(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("a: 1\nb: [1\n")
    with pytest.raises(TextcriticError, match=r"x.yaml, line \d: not valid YAML"):
        load_yaml(path)
    path.write_text("a: 1\na: 2\n")
    with pytest.raises(TextcriticError, match=r"x.yaml, line 2: .*'a' is there twice"):
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


@pytest.mark.parametrize("name", [*REGISTRIES, *KINDS, "config", "study"])
def test_schemas_are_closed_and_describe_every_key(name):
    models = {"config": Config, "study": Study}
    if name in KINDS:
        whole = kind_of(name).rules()
    else:
        whole = json_schema(models[name]) if name in models else registry_schema(name)
    assert whole["description"]
    for node, where in _objects(whole, name):
        if set(node["properties"]) not in OPEN and not where.endswith("stage_versions"):
            assert node.get("additionalProperties") is False, where
        for key, value in node["properties"].items():
            assert "description" in value or "oneOf" in value or "properties" in value, f"{where}.{key}"


def test_a_kind_that_is_the_default_may_be_left_out_and_reruns_nothing():
    entry = {"init": {"hub": "bert-base-cased"}, "training": {"learning_rate": 2.0e-5}}
    full = read_entry(entry, "classifiers", "here")
    assert (full.kind, full.max_tokens) == ("transformer", 512)
    assert json.loads(full.canonical()) == entry
    assert restore(full.canonical(), "classifiers") == full
    assert read_entry({"kind": "given"}, "classifiers", "here").plain() == {"kind": "given"}
    with pytest.raises(TextcriticError, match=r"here: kind: 'givn' is not one of transformer, given"):
        read_entry({"kind": "givn"}, "classifiers", "here").plain()
    with pytest.raises(TextcriticError, match=r"here: unknown key 'max_tokens'; known keys are kind"):
        read_entry({"kind": "given", "max_tokens": 8}, "classifiers", "here").plain()


def test_a_key_that_a_kind_declares_once_more_stays_in_its_place():
    block = kind_of("process").rules()["properties"]["sources"]
    assert block["description"] == "the samples compared; each block means all combinations of its lists"
    assert list(block["items"]["properties"]) == ["corpora", "settings", "generators", "decodings", "seeds", "draws"]
    settings = block["items"]["properties"]["settings"]
    assert (settings["default"], settings["minItems"]) == (["wo-title"], 1)
    assert settings["items"] == {"const": "wo-title"}
    text = kind_of("coherence").rules()["properties"]
    assert list(text)[:4] == ["kind", "name", "critic", "sources"]
    assert text["sources"]["items"]["properties"]["settings"]["default"] == ["w-title", "wo-title"]


def test_every_text_of_a_value_comes_with_its_key_and_rules():
    full = read_entry(CAUSAL, "generators", "x").plain()
    found = {key: (text, rules.get("registry")) for key, text, rules in leaves(full, registry_schema("generators"))}
    assert found["kind"] == ("causal", None)
    assert found["encoding"] == ("gpt2", "encodings")
    assert found["init.hub"] == ("gpt2", "hub")
    assert found["training.schedule"] == ("linear", None)
    paths = {"extractor": "jsonl", "options": {"paths": ["a", "b"]}}
    texts = [(key, text) for key, text, _ in leaves(paths, registry_schema("corpora")) if key == "options.paths"]
    assert texts == [("options.paths", "a"), ("options.paths", "b")]
