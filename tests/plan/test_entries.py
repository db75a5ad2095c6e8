"""Entries as models: the model, its JSON schema and the error line say the same of every value."""

import copy
import json
import random

import pytest
from jsonschema import Draft202012Validator
from own_study import ROOT

from textcritic.errors import TextcriticError
from textcritic.plan.entries import Causal, Detector, Ngram, read_entry, registry_schema
from textcritic.plan.registries import WITHOUT_EFFECT
from textcritic.plan.spec import load_yaml

# What takes the place of a value of a right entry; 8.0 and 1e9 are whole numbers to JSON schemas, not to us.
WRONG = (
    *(None, True, 0, -1, 1, 2, 2.5, 0.3, "x", "", "a b", "none", "5e-5", "8"),
    *([], {}, [1], ["a"], ["a", "a"], {"a": 1}),
)


def shipped():
    """Every entry that ships or that the micro study has, as YAML has it: registry, name, mapping."""
    for folder in (ROOT / "config/registry", ROOT / "tests/micro/registry"):
        for path in sorted(folder.glob("*.yaml")):
            for name, entry in (load_yaml(path) or {}).items():
                yield path.stem, name, entry


def places(value, place=()):
    yield place
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from places(part, (*place, key))


def spoilt(entry, rng):
    """An entry with a value replaced, left out or renamed, or with a key that nobody knows."""
    entry = copy.deepcopy(entry)
    place = rng.choice([place for place in places(entry) if place])
    at = entry
    for key in place[:-1]:
        at = at[key]
    how = rng.choice(("replace", "replace", "replace", "drop", "rename", "add"))
    if how == "drop" and isinstance(at, dict):
        del at[place[-1]]
    elif how == "rename" and isinstance(at, dict):
        at[f"{place[-1]}x"] = at.pop(place[-1])
    elif how == "add" and isinstance(at[place[-1]], dict):
        at[place[-1]]["nobody-knows"] = 1
    else:
        at[place[-1]] = rng.choice(WRONG)
    return entry


def refusal(entry, registry):
    """The line that refuses an entry; None if it is right."""
    try:
        read_entry(entry, registry, "file.yaml: it")
    except TextcriticError as error:
        line = str(error)
        assert line.startswith("file.yaml: it: ")
        assert len(line.splitlines()) == 1
        return line
    return None


@pytest.mark.parametrize("registry", sorted({registry for registry, _, _ in shipped()}))
def test_a_model_refuses_what_its_json_schema_refuses_and_nothing_else(registry):
    rng, validator = random.Random(registry), Draft202012Validator(registry_schema(registry))
    entries = [entry for of, _, entry in shipped() if of == registry and entry]
    refused = 0
    for _ in range(200):
        entry = spoilt(rng.choice(entries), rng)
        right = validator.is_valid(entry)
        line = refusal(entry, registry)
        assert (line is None) is right, (entry, line)
        refused += line is not None
    assert 20 < refused < 200


def test_the_one_text_of_an_entry_gives_it_back_and_has_no_defaults():
    for registry, name, entry in shipped():
        read = read_entry(entry, registry, name)
        text = read.canonical()
        assert type(read).restore(text) == read
        assert type(read).restore(json.dumps(read.plain())).canonical() == text
        validator = Draft202012Validator(registry_schema(registry))
        assert validator.is_valid(json.loads(text))
        assert validator.is_valid(read.plain())


def test_what_has_no_effect_is_left_out_of_the_text():
    entry = Ngram.read({"kind": "ngram", "label": "three", "mem_mb": 9000}, "it")
    assert entry.canonical(without=WITHOUT_EFFECT) == '{"kind": "ngram"}'
    assert entry.canonical("label") == '{"label": "three"}'


@pytest.mark.parametrize(
    ("model", "value", "message"),
    [
        (Ngram, {"kind": "ngram", "order": 3.0}, "order: 3.0 should be a whole number"),
        (Ngram, {"kind": "ngram", "order": True}, "order: True should be a whole number"),
        (Ngram, {"kind": "ngram", "label": None}, "label: None should be text"),
        (Ngram, {"kind": "ngram", "order": "3"}, "order: '3' should be a whole number; YAML reads it as text, write 3"),
        (Detector, {"kind": "detector", "model": {}}, "model: {} should be non-empty"),
        (Detector, {"kind": "detector", "model": {"bag": {}, "majority": {}}}, "model: .* has too many properties"),
    ],
)
def test_faults_are_one_line_with_the_key(model, value, message):
    with pytest.raises(TextcriticError, match=f"^here: {message}"):
        model.read(value, "here")


def test_values_have_types_and_cannot_be_changed():
    entry = Causal.read(
        {
            "kind": "causal",
            "encoding": "mine",
            "init": {"config": {"model_type": "gpt2", "n_layer": 2}},
            "training": {"context": 8, "learning_rate": 1, "steps": 3},
        },
        "it",
    )
    assert (entry.training.batch_size, entry.label, entry.init.config.plain()) == (
        8,
        None,
        {"model_type": "gpt2", "n_layer": 2},
    )
    assert entry.changed(gpu=2).gpu == 2
    with pytest.raises(TextcriticError, match="gpu: 9 should be at most 8"):
        entry.changed(gpu=9)
    with pytest.raises(Exception, match="frozen"):
        entry.gpu = 2
