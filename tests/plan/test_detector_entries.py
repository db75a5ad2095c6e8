"""Detectors in the registry of critics: what is refused, and which files their jobs need."""

import json
from types import SimpleNamespace

import pytest
from own_study import own_folder, project, study, write

from textcritic.errors import TextcriticError
from textcritic.plan.detector_paths import DetectorPaths
from textcritic.plan.entries import restore

STUDY = study({"kind": "corpora", "corpora": ["mine"]})
TRAINING = {"learning_rate": 1.0e-3, "epochs": 1}
CONFIG = {"init": {"config": {"model_type": "bert"}}}
NEW = {"transformer": {"encoding": "bpe-2048", **CONFIG}}


@pytest.fixture
def folder(tmp_path):
    base = {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}}
    # As a corpus with intruders does, this one names the corpus that it was made from.
    made = {"extractor": "derived", "options": {"corpus": "mine"}}
    return own_folder(tmp_path, STUDY, corpora={"mine": base, "made": made})


def entry(model, **more):
    return {"kind": "detector", "model": model, **more}


def registries(folder, **critics):
    write(folder / "registry/critics.yaml", critics)
    return project(folder).registries


@pytest.mark.parametrize(
    ("critic", "message"),
    [
        (entry({}), r"model: \{\} should be non-empty"),
        (entry({"bag": {}, "majority": {}}), "model: .* has too many properties"),
        (entry({"bags": {}}), "model: unknown key 'bags'; did you mean 'bag'"),
        (entry({"bag": {"min_count": 2}}), "model.bag: unknown key 'min_count'; did you mean 'minimum_count'"),
        (entry({"bag": {}}, training=TRAINING), "training: has no effect; model.bag is not trained by it"),
        (entry(NEW), "training: is missing; model.transformer is trained by it"),
        (entry(NEW, training={"learning_rate": 0.1}), "training: give steps or epochs, one of the two"),
        (entry(NEW, training={**TRAINING, "steps": 3}), "training: give steps or epochs, one of the two"),
        (entry({"transformer": CONFIG}, training=TRAINING), "model.transformer.encoding: is missing"),
        (
            entry({"transformer": {"encoding": "gpt2", "init": {"hub": "bert-base-cased"}}}, training=TRAINING),
            "model.transformer.encoding: has no effect beside init.hub",
        ),
        (
            entry({"transformer": {"encoding": "symbols", **CONFIG}}, training=TRAINING),
            "model.transformer.encoding: symbols is for the sequences of a process",
        ),
        (
            entry({"transformer": {"init": {"hub": "bert-base-case"}}}, training=TRAINING),
            "model.transformer.init.hub: .* no entry 'bert-base-case'; did you mean 'bert-base-cased'",
        ),
        (entry({"bag": {}}, test="order", reads="sentence"), "reads: is for `test: intruder`"),
        (entry({"bag": {}}, test="next", opening=True), "opening: is for `test: intruder`"),
        (entry({"embeddings": {"tuned": False}}, training=TRAINING), "model.embeddings.tuned: vectors that start at"),
        (entry({"surprise": {"generator": "ngram-3"}}), "surprise.generator: ngram-3 is of kind ngram; name one of"),
        (entry({"surprise": {"generator": "rnng"}}), "surprise.generator: rnng is of kind rnng; name one of kind"),
        (entry({"surprise": {"generator": "gpt3"}}), "model.surprise.generator: .* no entry 'gpt3'"),
        (entry({"surprise": {"generator": "gpt2-demo"}}, opening=True), "have no effect on model.surprise"),
        (entry({"nll": {"critic": "lda"}}), "nll.critic: lda is of kind lda; name one of kind ctm, mentions or order"),
        (entry({"nll": {"critic": "mentions-films"}}), "the resolver of mentions-films is of kind neural"),
    ],
)
def test_what_cannot_be_meant_is_refused(folder, critic, message):
    with pytest.raises(TextcriticError, match=message) as refused:
        registries(folder, mine=critic)
    assert "critics.yaml: mine: " in str(refused.value)
    assert "\n" not in str(refused.value)


def wildcards(detector, trained="made"):
    return SimpleNamespace(detector=detector, trained=trained, detector_seed="3")


def test_each_kind_of_detector_is_made_of_its_own_files(folder):
    found = registries(
        folder,
        new=entry(NEW, training=TRAINING),
        pinned=entry({"transformer": {"init": {"hub": "roberta-base"}}}, training=TRAINING),
        own=entry({"transformer": {"init": {"folder": "models/mine"}}}, training=TRAINING),
        vectors=entry({"bilstm": {"vectors": "glove.txt"}}, training={**TRAINING, "checkpoint_seconds": 7}),
        surprise=entry({"surprise": {"generator": "gpt2-demo", "setting": "w-title"}}),
        topics=entry({"nll": {"critic": "ctm-demo"}}),
        people=entry({"nll": {"critic": "mentions"}}),
    )
    paths = DetectorPaths(found)
    files = {
        name: (paths.tokenizer(w), paths.pretrained(w), paths.vectors(w), paths.scorer(w))
        for name in ("new", "pinned", "own", "vectors", "surprise", "topics", "people")
        for w in [wildcards(name)]
    }
    critics = "results/critics"
    assert files == {
        "new": ("results/encodings/made/bpe-2048/tokenizer", [], [], []),
        "pinned": ([], "results/raw/hub/roberta-base", [], []),
        "own": ([], "models/mine", [], []),
        "vectors": ([], [], "glove.txt", []),
        "surprise": ([], [], [], ["results/generators/mine/w-title/gpt2-demo/seed3/model"]),
        "topics": ([], [], [], [f"{critics}/ctm-demo/mine/critic.npz", f"{critics}/ctm-demo/mine/vocabulary.parquet"]),
        "people": ([], [], [], [f"{critics}/mentions/mine/critic.npz"]),
    }
    assert [paths.checkpoint_seconds(wildcards(name)) for name in ("new", "vectors", "people")] == [300, 7, 0]
    made_with = json.loads(paths.made_with(wildcards("people")))
    assert restore(made_with["critics"], "critics").kind == "mentions"
    assert restore(made_with["resolvers"], "resolvers").kind == "persons"
    assert list(json.loads(paths.made_with(wildcards("surprise")))) == ["generators"]
    assert paths.made_with(wildcards("new")) == "{}"
    with pytest.raises(TextcriticError, match="people: is made with a model of the corpus that documents are cut out"):
        paths.scorer(wildcards("people", "mine"))


def test_what_has_no_effect_on_results_is_not_in_the_specification(folder):
    more = {"label": "Mine", "threads": 3, "gpu": 1, "mem_mb": 999, "runtime": "9h"}
    trained = {**TRAINING, "checkpoint_seconds": 1}
    found = registries(folder, plain=entry(NEW, training=TRAINING), dressed=entry(NEW, training=trained, **more))
    assert found.spec("critics", "plain") == found.spec("critics", "dressed")
    assert ("model.transformer.encoding", "encodings", "bpe-2048") in found.references("critics", "plain")
