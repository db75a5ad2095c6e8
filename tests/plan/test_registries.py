"""The registries: what is refused, what of an entry reruns jobs, what entries say of one another."""

import importlib
import json
import re

import pytest
import yaml
from own_study import ROOT, own_folder, project, study, write

from textcritic.errors import TextcriticError
from textcritic.experiments import KINDS, kind_of
from textcritic.plan import entries
from textcritic.plan.entries import Tendencies, read_entry, registry_schema, restore
from textcritic.plan.project import Project
from textcritic.plan.registries import REGISTRIES, Overlay, download_of

SAMPLES = {"corpora": ["mine"], "settings": ["wo-title"], "generators": ["theirs"], "decodings": ["given"]}
STUDY = study({"kind": "coherence", "critic": "transitions-demo", "sources": [SAMPLES]})
TRAINING = {"context": 8, "learning_rate": 0.1, "steps": 1}
FAIRSEQ = {
    "kind": "fairseq",
    "encoding": "bpe-2048",
    "architecture": "lstm_lm",
    "training": {"max_tokens": 100, "learning_rate": 1.0e-3, "steps": 1},
}
CAUSAL = {"kind": "causal", "encoding": "gpt2", "init": {"hub": "gpt2"}, "training": TRAINING}
BERT = {"init": {"hub": "bert-base-cased"}, "training": {"learning_rate": 0.1}}
COUNTED = ("kind", "vocabulary")


@pytest.fixture
def folder(tmp_path):
    """A registry and a study of one's own, beside the shipped ones."""
    return own_folder(
        tmp_path,
        STUDY,
        corpora={
            "mine": {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}},
            "drawn": {"extractor": "process", "options": {"process": {"states": 8, "steps": 6}}},
        },
        generators={"theirs": {"kind": "file", "path": "theirs.jsonl"}},
        decodings={"known": {"stop": "given"}},
        critics={"small": {"kind": "ctm", "topics": 5}},
    )


@pytest.fixture(scope="module")
def shipped():
    return Project({"studies": ["demo"]}, ROOT).registries


def fresh():
    return Project({"studies": ["demo"]}, ROOT).registries


def schemas():
    """All schemas, of the configuration and of the kinds of experiment."""
    return [*map(registry_schema, REGISTRIES), *(kind_of(kind).rules() for kind in KINDS)]


def every(keyword, node):
    """The values of a keyword anywhere in a schema."""
    if isinstance(node, dict):
        yield from [node[keyword]] if isinstance(node.get(keyword), (str, list)) else []
        for value in node.values():
            yield from every(keyword, value)
    elif isinstance(node, list):
        for value in node:
            yield from every(keyword, value)


def test_every_registry_of_the_schemas_is_one():
    named = [name for found in schemas() for name in every("registry", found)]
    assert len(named) > 20
    assert set(named) <= set(REGISTRIES)


def test_every_check_of_the_schemas_can_be_called():
    named = [check for about in entries.REGISTRIES.values() for check in about.checks]
    assert len(named) >= 5
    for check in named:
        module, _, function = check.partition(":")
        assert callable(getattr(importlib.import_module(module), function)), check


def test_every_shipped_reference_is_to_an_entry(shipped):
    """Some of them, written out here; that all exist is checked at every start."""
    assert shipped.references("critics", "transitions") == [("classifier", "classifiers", "bert-base-cased")]
    assert shipped.references("critics", "ctm") == [("vocabulary.stop_words", "downloads", "mallet-stop-words")]
    assert shipped.references("critics", "ctm-demo") == []
    assert shipped.references("corpora", "wiki-short") == [
        ("options.corpus", "corpora", "wiki"),
        ("sections.length_unit", "hub", "gpt2"),
    ]
    assert shipped.references("corpora", "pubmed")[:3] == [
        (f"options.paths.{split}", "downloads", "pubmed") for split in ("train", "validation", "test")
    ]
    assert set(shipped.references("generators", "gpt2-small")) == {
        ("encoding", "encodings", "gpt2"),
        ("init.hub", "hub", "gpt2"),
    }
    assert shipped.references("decodings", "ancestral") == []


@pytest.mark.parametrize(
    ("registry", "entry", "message"),
    [
        (
            "generators",
            {**CAUSAL, "encoding": "gtp2"},
            r"encoding: config/registry/encodings.yaml .* 'gtp2'; did you m",
        ),
        ("generators", {**CAUSAL, "init": {"hub": "gpt3"}}, r"init.hub: config/registry/hub.yaml has no entry 'gpt3'"),
        (
            "generators",
            {"kind": "hsmm", "encoding": "letters", "states": 2},
            r"encoding: .*encodings.yaml has no entry",
        ),
        (
            "encodings",
            {"tokenizer": {"hub": "gpt3"}},
            r"tokenizer.hub: .*hub.yaml has no entry 'gpt3'; did you mean 'g",
        ),
        ("classifiers", {**BERT, "init": {"hub": "bert"}}, r"init.hub: config/registry/hub.yaml has no entry 'bert'"),
        ("classifiers", {**BERT, "encoding": "bpe"}, r"encoding: config/registry/encodings.yaml has no entry 'bpe'"),
        (
            "critics",
            {"kind": "transitions", "classifier": "bert"},
            r"classifier: .*classifiers.yaml has no entry 'bert'",
        ),
        ("corpora", {"extractor": "derived", "options": {"corpus": "wik"}}, r"options.corpus: .*corpora.yaml .* 'wik'"),
        (
            "corpora",
            {"extractor": "scientific", "options": {"paths": ["results/raw/unpacked/pubmet/train.txt"]}},
            r"options.paths: .*downloads.yaml has no entry 'pubmet'; did you mean 'pubmed'\?",
        ),
        (
            "corpora",
            {"extractor": "jsonl", "options": {"paths": ["x"]}, "sections": {"length_unit": "gpt3"}},
            r"sections.length_unit: .*hub.yaml has no entry 'gpt3'",
        ),
    ],
)
def test_a_wrong_name_in_an_entry_is_told_with_file_entry_and_key(folder, registry, entry, message):
    write(folder / f"registry/{registry}.yaml", {"new": entry})
    with pytest.raises(TextcriticError, match=rf"^{folder}/registry/{registry}.yaml: new: {message}") as refused:
        project(folder)
    assert "\n" not in str(refused.value)


def test_the_closure_has_all_that_is_named_one_after_the_other(shipped):
    used = shipped.closure([("generators", "gpt2-small")])
    assert {registry: set(entries) for registry, entries in used.items()} == {
        "generators": {"gpt2-small"},
        "encodings": {"gpt2"},
        "hub": {"gpt2"},
    }
    used = shipped.closure([("critics", "transitions-demo"), ("corpora", "wiki-short"), ("critics", "ctm")])
    assert {registry: set(entries) for registry, entries in used.items()} == {
        "critics": {"transitions-demo", "ctm"},
        "classifiers": {"bert-demo"},
        "encodings": {"bpe-2048"},
        "corpora": {"wiki-short", "wiki"},
        "hub": {"gpt2"},
        "downloads": {"enwiki-20211201", "mallet-stop-words"},
    }
    assert "threads" not in used["critics"]["ctm"]
    assert used["critics"]["ctm"]["topics"] == 100
    assert "shards" not in used["corpora"]["wiki"]["options"]
    assert shipped.closure([]) == {}


def test_which_files_are_fetched():
    assert download_of("results/raw/downloads/mallet-stop-words") == "mallet-stop-words"
    assert download_of("results/raw/unpacked/pubmed/train.txt") == "pubmed"
    for path in ("mine.jsonl", "results/raw/downloads", "results/raw/unpacked/pubmed", "results/raw/unpacked/a/b/c"):
        assert download_of(path) is None


def test_a_registry_that_is_no_mapping_of_names_is_refused(folder):
    for value, message in (
        (["a"], "is not a mapping of names"),
        ({123: {}}, "the key 123 is not text; put it in quotes"),
    ):
        write(folder / "registry/critics.yaml", value)
        with pytest.raises(TextcriticError, match=message):
            project(folder)
    (folder / "registry/critics.yaml").write_bytes(b"caf\xe9: {}")
    with pytest.raises(TextcriticError, match=r"critics.yaml: not a UTF-8 text file"):
        project(folder)


def test_names_of_entries(folder):
    transitions = {"kind": "transitions", "classifier": "bert-demo"}
    write(folder / "registry/critics.yaml", {"Bad_Name": transitions})
    with pytest.raises(TextcriticError, match=r"'Bad_Name': a name is lower-case"):
        project(folder)
    write(folder / "registry/critics.yaml", {"transitions-demo": transitions})
    with pytest.raises(TextcriticError, match=r"transitions-demo: the name is taken"):
        project(folder)


@pytest.mark.parametrize(
    ("registry", "entry", "message"),
    [
        ("generators", {**CAUSAL, "training": {"context": 8, "learning_rate": 0.1}}, r"training: give steps or epochs"),
        (
            "generators",
            {**CAUSAL, "training": {**TRAINING, "epochs": 1}},
            r"training: give steps or epochs, one of the",
        ),
        (
            "generators",
            {**FAIRSEQ, "gpu": 2, "training": {**FAIRSEQ["training"], "accumulation": 3}},
            r"gpu: 2 GPUs cannot share training.accumulation, 3 forward passes, evenly",
        ),
        (
            "generators",
            {**FAIRSEQ, "training": {"max_tokens": 1, "learning_rate": 1}},
            r"training: give steps or epochs",
        ),
        ("generators", {**CAUSAL, "gpu": 3}, r"gpu: 3 GPUs cannot share training.batch_size, 8 blocks, evenly"),
        (
            "classifiers",
            {"init": {"config": {"model_type": "bert"}}, "training": {"learning_rate": 0.1}},
            r"the key 'encoding' is missing",
        ),
        ("critics", {"kind": "process", "classifier": "bert-demo"}, r"unknown key 'classifier'"),
        ("critics", {"kind": "chain"}, r"kind: 'chain' is not one of transitions, process"),
        ("critics", {"kind": "transitions"}, r"the key 'classifier' is missing"),
        ("critics", {}, r"kind: None is not one of transitions, process"),
        ("decodings", {"stop": "never"}, r"stop: 'never' is not one of learnt, given"),
        ("decodings", {"beam": 2}, r"beam: has no effect with `method: draw`; .* or give `method: likeliest`"),
        ("decodings", {"iterations": 2}, r"iterations: has no effect with `method: draw`"),
        ("decodings", {"method": "likeliest", "top_k": 5}, r"top_k: has no effect with `method: likeliest`; leave it"),
        (
            "decodings",
            {"method": "beam-sampling"},
            r"beam: 1 makes `method: beam-sampling` plain draws; give 2 or more",
        ),
        ("decodings", {"method": "best-of"}, r"beam: 1 makes `method: best-of` plain draws; give 2 or more"),
        ("decodings", {"method": "beam-sampling", "beam": 2, "top_p": 0.9}, r"top_p: has no effect with `method: beam"),
        ("decodings", {"method": "best-of", "beam": 2, "iterations": 1}, r"iterations: has no effect with `method: be"),
        (
            "decodings",
            {"method": "likeliest", "beam": 2, "iterations": 1},
            r"iterations: `iterations` is for models that make all",
        ),
        (
            "encodings",
            {"tokenizer": {"symbols": {}}, "boundary": "as_released"},
            r"boundary: as_released is for text; with the tokenizer symbols it must be single",
        ),
        (
            "classifiers",
            {"encoding": "symbols", "init": {"config": {"model_type": "bert"}}, "training": {"learning_rate": 0.1}},
            r"encoding: symbols is for the sequences of a process; a classifier reads text",
        ),
        (
            "corpora",
            {"extractor": "process", "options": {"process": {"subsequences": 4, "states": 8}}},
            r"process: subsequences: 4 is too few; at least 8, one for each state",
        ),
        ("corpora", {"extractor": "process", "options": {"process": {"states": 1}}}, r"options.process.states: 1 "),
        ("critics", {"kind": "ctm", "topics": 1}, r"topics: 1 should be at least 2"),
        ("critics", {"kind": "ctm", "topics": "many"}, r"topics: 'many' should be a whole number"),
        ("critics", {"kind": "ctm", "topcis": 20}, r"unknown key 'topcis'; did you mean 'topics'\?"),
        ("critics", {"kind": "ctm", "tolerance": -0.5}, r"tolerance: -0.5 should be at least 0"),
        (
            "critics",
            {"kind": "ctm", "vocabulary": {"mode": "released"}},
            r"vocabulary.mode: 'released' is not one of paper, as_released",
        ),
        (
            "critics",
            {"kind": "ctm", "vocabulary": {"placeholders": ["xmath", ""]}},
            r"vocabulary.placeholders.1: '' should be non-empty",
        ),
        ("critics", {"kind": "ctm", "vocabulary": {"maximum_share": 0}}, r"vocabulary.maximum_share: 0 "),
        (
            "critics",
            {"kind": "ctm", "vocabulary": {"stopwords": "english"}},
            r"vocabulary: unknown key 'stopwords'; did you mean 'stop_words'\?",
        ),
    ],
)
def test_faults_of_an_entry_name_file_entry_and_key(folder, registry, entry, message):
    write(folder / f"registry/{registry}.yaml", {"new": entry})
    with pytest.raises(TextcriticError, match=rf"registry/{registry}.yaml: new: {message}") as refused:
        project(folder)
    assert "\n" not in str(refused.value)


def test_labels_and_resources_are_no_part_of_what_reruns(folder):
    plain = project(folder).registries.spec("generators", "ngram-3")
    registry = yaml.safe_load((ROOT / "config/registry/generators.yaml").read_text())
    write(
        folder / "registry/generators.yaml",
        {
            "theirs": {"kind": "file", "path": "theirs.jsonl"},
            "renamed": {**registry["ngram-3"], "label": "other", "mem_mb": 9000, "runtime": "9h"},
            "changed": {**registry["ngram-3"], "order": 4},
        },
    )
    registries = project(folder).registries
    assert registries.spec("generators", "renamed") == plain
    assert registries.spec("generators", "changed") != plain


def test_a_part_of_an_entry_changes_only_with_its_keys(folder):
    before = project(folder).registries.spec("corpora", "mine", "extractor", "options")
    entry = {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}, "sections": {"minimum": 2}}
    write(folder / "registry/corpora.yaml", {"mine": entry})
    assert project(folder).registries.spec("corpora", "mine", "extractor", "options") == before


def test_what_runs_faster_or_saves_oftener_is_no_part_of_what_reruns():
    registries = fresh()
    for registry, name, values in (
        ("decodings", "demo", {"batch_size": 8}),
        ("generators", "gpt2-demo", {"training": {"checkpoint_seconds": 1}}),
        ("classifiers", "bert-demo", {"training": {"checkpoint_seconds": 1}}),
    ):
        before = registries.spec(registry, name)
        lay_over(registries, registry, name, values)
        assert registries.spec(registry, name) == before
    before = registries.spec("generators", "gpt2-demo")
    lay_over(registries, "generators", "gpt2-demo", {"training": {"batch_size": 5}})
    assert registries.spec("generators", "gpt2-demo") != before


def lay_over(registries, registry, name, values):
    registries.lay_over(Overlay("a test", {registry: {name: values}}))


def test_names_are_told_apart_for_constraints(folder):
    registries = project(folder).registries
    processes = registries.names("corpora", extractor=["process"]).split("|")
    texts = registries.names("corpora", others=True, extractor=["process"]).split("|")
    assert "drawn" in processes
    assert "mine" in texts
    assert sorted(processes + texts) == sorted(registries.entries["corpora"])
    assert registries.names("critics", kind=["process"]) == "known-process"
    assert registries.names("critics", kind=["ctm"]).split("|") == ["ctm", "ctm-demo", "ctm-own", "small"]
    assert registries.names("critics", kind=["nothing"]) == "(?!)"


def test_what_is_left_at_its_default_changes_no_other_entry(folder):
    registries = project(folder).registries
    assert registries.spec("decodings", "known") == '{"stop": "given"}'
    assert "stop" not in registries.spec("decodings", "sequences-demo")
    assert "shuffled" in registries.spec("generators", "ngram-shuffled")
    assert "shuffled" not in registries.spec("generators", "ngram-3")


def test_the_number_of_topics_counts_nothing_again_and_the_vocabulary_does():
    registries = fresh()
    entry = registries.entry("critics", "ctm-demo").plain()
    fitted = tuple(key for key in entry if key != "vocabulary")
    counted, model = (registries.spec("critics", "ctm-demo", *keys) for keys in (COUNTED, fitted))
    for key, value in (("topics", 7), ("seed", 3), ("iterations", 9), ("tolerance", 0.1)):
        lay_over(registries, "critics", "ctm-demo", {key: value})
        assert registries.spec("critics", "ctm-demo", *COUNTED) == counted
        assert registries.spec("critics", "ctm-demo", *fitted) != model
        lay_over(registries, "critics", "ctm-demo", {key: entry[key]})
    lay_over(registries, "critics", "ctm-demo", {"threads": 8, "mem_mb": 9000, "runtime": "9h"})
    assert registries.spec("critics", "ctm-demo", *fitted) == model
    lay_over(registries, "critics", "ctm-demo", {"vocabulary": {"minimum_count": 2}})
    assert registries.spec("critics", "ctm-demo", *COUNTED) != counted
    assert registries.spec("critics", "ctm-demo", *fitted) == model


def test_the_parameters_of_the_topic_rules_are_all_keys_of_an_entry_that_decide():
    """What `count_words` and `fit_topics` take, together: the whole canonical entry."""
    rules = (ROOT / "rules/topics.smk").read_text()
    named = re.findall(r"spec=spec\((.*?)\)", rules, re.DOTALL)
    assert len(named) == 2
    keys = {key for call in named for key in call.split('"')[1::2]} - {"critics", "critic"}
    entry = read_entry({"kind": "ctm"}, "critics", "an entry").plain()
    assert keys | {"threads", "mem_mb", "runtime"} == set(entry)


def test_the_parameters_of_the_mixing_rules_are_all_keys_of_an_entry_that_decide():
    """What `count_words` takes of an LDA entry, and the rules of mixing: the whole canonical entry."""
    counted = re.findall(r"spec=spec\((.*?)\)", (ROOT / "rules/topics.smk").read_text(), re.DOTALL)[0]
    named = re.findall(r" spec=spec\((.*?)\)", (ROOT / "rules/mixing.smk").read_text(), re.DOTALL)
    assert len(named) == 3
    keys = {key for call in (counted, *named) for key in call.split('"')[1::2]} - {"critics", "critic", "fitted"}
    assert keys | {"threads", "mem_mb", "runtime"} == set(read_entry({"kind": "lda"}, "critics", "an entry").plain())


def test_the_parameters_of_the_rules_of_tendencies_are_all_keys_of_an_entry_that_decide():
    rules = "".join((ROOT / f"rules/{name}.smk").read_text() for name in ("tendencies", "tendency_measures"))
    named = re.findall(r"^(?:COUNTING|MEASURING) = \((.*)\)$", rules, re.MULTILINE)
    assert len(named) == 2
    keys = {key for line in named for key in line.split('"')[1::2]} | {"draws", "shards"}
    assert keys | {"threads", "mem_mb", "runtime"} == set(Tendencies.model_fields)


def test_two_trainings_share_the_cores_of_a_machine(folder):
    for entry, cores, threads in (
        ({}, 16, 1),
        ({"threads": 4}, 1, 1),
        ({"threads": 4}, 2, 1),
        ({"threads": 4}, 4, 2),
        ({"threads": 4}, 16, 4),
        ({"threads": 4}, None, 4),
        ({"threads": 4, "gpu": 1}, 2, 4),
    ):
        entries = {"small": {**CAUSAL, **entry}, "theirs": {"kind": "file", "path": "t.jsonl"}}
        write(folder / "registry/generators.yaml", entries)
        registries = project(folder).registries
        assert registries.threads_side_by_side("generators", "small", cores) == threads
        assert registries.threads_side_by_side("generators", "small", cores, jobs=1) == (
            min(entry.get("threads", 1), cores) if cores and "gpu" not in entry else threads
        )


def test_a_lone_transformer_has_all_cores():
    lone, two = (Project({"studies": [study]}, ROOT) for study in ("coreference-demo", "demo"))
    assert (lone.trained_side_by_side(), two.trained_side_by_side()) == (1, 2)
    assert Project({"studies": []}, ROOT).trained_side_by_side() == 1


def test_the_windows_of_the_released_code_go_with_its_boundary(folder):
    encoding = {"tokenizer": {"hub": "gpt2"}, "boundary": "as_released"}
    write(folder / "registry/encodings.yaml", {"released": encoding})
    entries = {"old": {**CAUSAL, "encoding": "released"}, "new": CAUSAL}
    entries |= {
        "theirs": {"kind": "file", "path": "t.jsonl"},
        "short": {**CAUSAL, "training": TRAINING | {"blocks": "articles"}},
    }
    write(folder / "registry/generators.yaml", entries)
    registries = project(folder).registries
    assert [registries.boundary(name) for name in ("old", "new")] == ["as_released", "single"]
    windows = {name: registries.perplexity_windows(name) for name in ("old", "new", "short")}
    assert windows == {"old": "as_released", "new": "packed", "short": "articles"}


def test_a_spec_is_all_that_a_job_needs_of_an_entry(shipped):
    for registry in REGISTRIES:
        for name in shipped.entries[registry]:
            text = shipped.spec(registry, name)
            assert json.loads(text).keys() <= shipped.entry(registry, name).plain().keys()
            assert restore(text, registry).plain().keys() >= json.loads(text).keys()


def test_the_specs_of_the_rules_name_keys_that_entries_have():
    """A key that is misspelt in a rule would silently be no part of what reruns."""
    known = {
        registry: {key for branch in (node.get("oneOf") or [node]) for key in branch["properties"]}
        for registry, node in zip(REGISTRIES, map(registry_schema, REGISTRIES), strict=True)
    }
    found = 0
    for path in (ROOT / "rules").glob("*.smk"):
        for arguments in re.findall(r'spec\(("[^)]*")\)', path.read_text()):
            registry, _, *keys = (word.strip('"') for word in arguments.split(", "))
            assert set(keys) <= known[registry], f"{path.name}: {arguments}"
            found += 1
    assert found > 15


def test_a_job_that_is_submitted_again_asks_for_half_as_much_memory_more(tmp_path):
    folder = own_folder(
        tmp_path,
        STUDY,
        generators={"theirs": {**CAUSAL, "mem_mb": 9001}},
        corpora={"mine": {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}}},
    )
    registries = project(folder).registries
    assert [registries.memory("generators", "theirs", attempt) for attempt in (1, 2, 3)] == [9001, 13501, 18002]
