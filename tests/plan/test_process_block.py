"""The synthetic block of a study: what it expands to, what the manifest records of it, and what is refused."""

import pytest
from own_study import assert_refused, own_folder, project, write

from textcritic.errors import TextcriticError
from textcritic.plan.paths import Paths
from textcritic.plan.project import Source

TRAINING = {"context": 64, "learning_rate": 0.1, "steps": 10}
CONFIG = {"config": {"model_type": "gpt2"}}


@pytest.fixture
def folder(tmp_path):
    """Registries and a study of one's own, beside the shipped ones; the study goes together."""
    return own_folder(
        tmp_path,
        study(),
        corpora={
            "mine": {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}},
            "drawn": {"extractor": "process", "options": {"process": {"states": 8, "steps": 6}}},
        },
        generators={
            "theirs": {"kind": "file", "path": "theirs.jsonl"},
            "segments": {"kind": "hsmm", "encoding": "symbols", "states": 8},
            "letters": {"kind": "causal", "encoding": "symbols", "init": CONFIG, "training": TRAINING},
            "words": {"kind": "causal", "encoding": "bpe-2048", "init": CONFIG, "training": TRAINING},
            "odd": {"kind": "hsmm", "encoding": "bpe-2048", "states": 8},
            "long": {"kind": "hsmm", "encoding": "symbols", "states": 8, "longest": 12},
        },
        decodings={
            "hot": {"temperature": 2.0},
            "known": {"stop": "given"},
            "rough": {"precision": "bf16"},
            "strided": {"stride": 1},
        },
    )


BLOCK = {"corpora": ["drawn"], "generators": ["letters", "segments"], "decodings": ["sequences-demo"]}
TEXT = {"corpora": ["mine"], "settings": ["wo-title"], "generators": ["theirs"], "decodings": ["given"]}


def study(sources=None, critic="known-process", text=None, **changes):
    blocks = [{**BLOCK, **changes}] if sources is None else sources
    return {
        "title": "Own",
        "critic": "transitions-demo",
        "sources": [{**TEXT, **(text or {})}],
        "synthetic": {"critic": critic, "sources": blocks},
    }


def test_sources_of_processes_stand_beside_those_of_text(folder):
    given = {"corpora": ["drawn"], "generators": ["segments"], "decodings": ["known"], "seeds": [1, 2]}
    write(folder / "studies/own.yaml", study([BLOCK, given, BLOCK]))
    found = project(folder)
    assert found.synthetic_sources("own") == [
        Source("drawn", "wo-title", "letters", "sequences-demo", 1),
        Source("drawn", "wo-title", "segments", "sequences-demo", 1),
        Source("drawn", "wo-title", "segments", "known", 1),
        Source("drawn", "wo-title", "segments", "known", 2),
    ]
    assert found.processes("own") == ["drawn"]
    assert found.corpora("own") == ["mine"]
    assert [source.generator for source in found.sources("own")] == ["theirs"]
    assert len(found.every_source("own")) == 5
    assert Paths(found).steps("drawn") == 6
    assert Paths(found).perplexity(found.synthetic_sources("own")[1]) == [
        "results/generators/drawn/wo-title/segments/seed1/perplexity.json"
    ]


def test_a_study_without_the_block_has_no_processes(folder):
    write(folder / "studies/own.yaml", {key: value for key, value in study().items() if key != "synthetic"})
    found = project(folder)
    assert found.studies["own"]["synthetic"] is None
    assert found.synthetic_sources("own") == found.processes("own") == []
    assert found.every_source("own") == found.sources("own")
    assert set(found.describe("own")["registry"]["critics"]) == {"transitions-demo"}


def test_the_manifest_has_every_entry_and_source(folder):
    description = project(folder).describe("own")
    used = description["registry"]
    assert set(used["corpora"]) == {"mine", "drawn"}
    assert set(used["generators"]) == {"theirs", "letters", "segments"}
    assert set(used["decodings"]) == {"given", "sequences-demo"}
    assert set(used["critics"]) == {"transitions-demo", "known-process"}
    assert set(used["encodings"]) == {"symbols", "bpe-2048"}  # the latter is the classifier's
    assert used["corpora"]["drawn"]["options"]["process"]["letters"] == 52
    assert {source["corpus"] for source in description["sources"]} == {"mine", "drawn"}
    assert description["study"]["synthetic"]["critic"] == "known-process"


def test_only_processes_have_steps(folder):
    with pytest.raises(
        TextcriticError, match=r"corpora.yaml: mine: has the extractor jsonl; only .* extractor process"
    ):
        Paths(project(folder)).steps("mine")


def test_segments_as_long_as_a_lexicon_holds_are_taken(folder):
    """26 letters and the delimiter: 13 of them fit in 64 bits."""
    corpus = {"extractor": "process", "options": {"process": {"letters": 26}}}
    write(folder / "registry/corpora.yaml", {"mine": {"extractor": "jsonl"}, "drawn": corpus})
    write(folder / "studies/own.yaml", study(generators=["long"]))
    assert project(folder).processes("own") == ["drawn"]


def test_names_are_told_apart_for_constraints(folder):
    found = project(folder)
    processes = found.names("corpora", extractor=["process"]).split("|")
    texts = found.names("corpora", others=True, extractor=["process"]).split("|")
    assert "drawn" in processes
    assert "mine" in texts
    assert sorted(processes + texts) == sorted(found.registry["corpora"])
    assert found.names("critics", kind=["process"]) == "known-process"
    assert found.names("critics", kind=["nothing"]) == "(?!)"


def test_how_a_sequence_stops_is_part_of_what_reruns_and_changes_no_other_decoding(folder):
    found = project(folder)
    assert found.spec("decodings", "known") == '{"stop": "given"}'
    assert "stop" not in found.spec("decodings", "sequences-demo")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"corpora": ["mine"]}, r"synthetic.sources: mine has the extractor jsonl; name a corpus with .* process"),
        ({"corpora": ["drwan"]}, r"corpora.yaml has no entry 'drwan'; did you mean 'drawn'\?"),
        ({"generators": ["theirs"]}, r"synthetic.sources: theirs is of kind file; .* the kinds causal and hsmm"),
        ({"generators": ["ngram-3"]}, r"synthetic.sources: ngram-3 is of kind ngram; .* the kinds causal and hsmm"),
        ({"generators": ["words"]}, r"words has the encoding bpe-2048; on the process drawn it must .* is symbols"),
        ({"generators": ["odd"]}, r"odd has the encoding bpe-2048; on the process drawn it must .* is symbols"),
        ({"decodings": ["known"]}, r"known has `stop: given`, for .* kind hsmm alone; letters is of kind causal"),
        ({"generators": ["segments"], "decodings": ["hot"]}, r"segments is an HSMM, .* hot has a temperature"),
        ({"generators": ["segments"], "decodings": ["rough"]}, r"segments is an HSMM, .* rough has a .* or precision"),
        ({"generators": ["segments"], "decodings": ["strided"]}, r"segments is an HSMM, .* strided has a .* stride or"),
        (
            {"generators": ["long"]},
            r"long has segments of up to 12 .*; drawn has 53 symbols, of which 11 fit in 64 bits",
        ),
        ({"settings": ["w-title"]}, r"synthetic.sources.0: unknown key 'settings'"),
        ({"critic": "transitions"}, r"synthetic.critic: transitions is of kind transitions; name .* kind process"),
        ({"critic": "known"}, r"critics.yaml has no entry 'known'"),
        ({"sources": []}, r"synthetic.sources: "),
        ({"text": {"corpora": ["drawn"]}}, r"own.yaml: sources: drawn is a process; its sources stand under synthetic"),
        ({"text": {"generators": ["segments"]}}, r"own.yaml: sources: segments is of kind hsmm, which is for"),
        ({"text": {"generators": ["letters"]}}, r"letters has the encoding symbols, which is for .*; mine is text"),
        ({"text": {"decodings": ["known"]}}, r"known has `stop: given`, for .*; theirs is of kind file"),
    ],
)
def test_what_does_not_go_together_is_refused_in_a_line(folder, changes, message):
    assert_refused(folder, study(**changes), message)


def test_a_study_of_text_needs_a_critic_of_text(folder):
    write(folder / "studies/own.yaml", {**study(), "critic": "known-process"})
    with pytest.raises(
        TextcriticError, match=r"own.yaml: critic: known-process is of kind process; .* kind transitions"
    ):
        project(folder)


@pytest.mark.parametrize(
    ("kind", "entry", "message"),
    [
        ("critics", {"kind": "process", "classifier": "bert-demo"}, r"critics.yaml: new: unknown key 'classifier'"),
        ("critics", {"kind": "chain"}, r"critics.yaml: new: kind: 'chain' is not one of transitions, process"),
        ("critics", {"kind": "transitions"}, r"critics.yaml: new: the key 'classifier' is missing"),
        ("decodings", {"stop": "never"}, r"decodings.yaml: new: stop: 'never' is not one of learnt, given"),
        ("critics", {}, r"critics.yaml: new: kind: None is not one of transitions, process"),
        ("generators", {"kind": "hsmm", "encoding": "letters", "states": 2}, r"new: .*encodings.yaml has no entry"),
        (
            "encodings",
            {"tokenizer": {"symbols": {}}, "boundary": "as_released"},
            r"encodings.yaml: new: boundary: as_released is for text; with the tokenizer symbols it must be single",
        ),
        (
            "classifiers",
            {"encoding": "symbols", "init": {"config": {"model_type": "bert"}}, "training": {"learning_rate": 0.1}},
            r"classifiers.yaml: new: encoding: symbols is for the sequences of a process; a classifier reads text",
        ),
        (
            "corpora",
            {"extractor": "process", "options": {"process": {"subsequences": 4, "states": 8}}},
            r"corpora.yaml: new: process: subsequences: 4 is too few; at least 8, one for each state",
        ),
        (
            "corpora",
            {"extractor": "process", "options": {"process": {"states": 1}}},
            r"corpora.yaml: new: options.process.states: 1 ",
        ),
    ],
)
def test_registry_faults(folder, kind, entry, message):
    write(folder / f"registry/{kind}.yaml", {"new": entry})
    with pytest.raises(TextcriticError, match=message):
        project(folder)
