"""A known process in a study: its files, what the manifest records of it, and what is refused."""

import pytest
from own_study import assert_refused, experiment, own_folder, project, study, write

from textcritic.errors import TextcriticError
from textcritic.experiments.process.plan import steps
from textcritic.plan.paths import Paths
from textcritic.plan.sources import Source

TRAINING = {"context": 64, "learning_rate": 0.1, "steps": 10}
CONFIG = {"config": {"model_type": "gpt2"}}
BLOCK = {"corpora": ["drawn"], "generators": ["letters", "segments"], "decodings": ["sequences-demo"]}
TEXT = {"corpora": ["mine"], "settings": ["wo-title"], "generators": ["theirs"], "decodings": ["given"]}


@pytest.fixture
def folder(tmp_path):
    """Registries and a study of one's own, beside the shipped ones; the study goes together."""
    return own_folder(
        tmp_path,
        both(),
        corpora={
            "mine": {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}},
            "drawn": {"extractor": "process", "options": {"process": {"states": 8, "steps": 6}}},
        },
        generators={
            "theirs": {"kind": "file", "path": "theirs.jsonl"},
            "segments": {"kind": "hsmm", "encoding": "symbols", "states": 8},
            "letters": {"kind": "causal", "encoding": "symbols", "init": CONFIG, "training": TRAINING},
            "twin": {"kind": "hsmm", "encoding": "symbols", "states": 9, "label": "letters"},
            "words": {"kind": "causal", "encoding": "bpe-2048", "init": CONFIG, "training": TRAINING},
            "odd": {"kind": "hsmm", "encoding": "bpe-2048", "states": 8},
            "long": {"kind": "hsmm", "encoding": "symbols", "states": 8, "longest": 12},
        },
        decodings={
            "hot": {"temperature": 2.0},
            "known": {"stop": "given"},
            "best": {"method": "likeliest"},
            "rough": {"precision": "bf16"},
            "strided": {"stride": 1},
        },
    )


def both(sources=None, critic="known-process", **changes):
    """A study of text and of a process."""
    blocks = [{**BLOCK, **changes}] if sources is None else sources
    coherence = {"kind": "coherence", "critic": "transitions-demo", "sources": [TEXT]}
    return study(coherence, {"kind": "process", "critic": critic, "sources": blocks})


def test_sources_of_processes_stand_beside_those_of_text(folder):
    given = {"corpora": ["drawn"], "generators": ["segments"], "decodings": ["known"], "seeds": [1, 2]}
    write(folder / "studies/own.yaml", both([BLOCK, given, BLOCK]))
    found = project(folder)
    experiments = found.studies["own"].experiments
    sequences = [
        Source("drawn", "wo-title", "letters", "sequences-demo", 1),
        Source("drawn", "wo-title", "segments", "sequences-demo", 1),
        Source("drawn", "wo-title", "segments", "known", 1),
        Source("drawn", "wo-title", "segments", "known", 2),
    ]
    assert experiments["process"].sources() == sequences
    assert experiments["process"].corpora() == ["drawn"]
    assert experiments["coherence"].corpora() == ["mine"]
    assert [source.generator for source in experiments["coherence"].sources()] == ["theirs"]
    assert found.studies["own"].sources() == [*experiments["coherence"].sources(), *sequences]
    assert found.studies["own"].corpora() == ["mine", "drawn"]
    assert steps("drawn", found.registries) == 6
    assert Paths(found).perplexity(sequences[1]) == ["results/generators/drawn/wo-title/segments/seed1/perplexity.json"]


def test_what_the_tables_are_made_of(folder):
    process = experiment(folder, "process")
    files = process.files()
    (data,) = files.data
    assert data.paths() == [
        "results/corpora/drawn/process.npz",
        "results/corpora/drawn/statistics.json",
        "results/scores/known-process/drawn/data/test.parquet",
        "results/corpora/drawn/test.parquet",
    ]
    letters, segments = files.samples
    assert files.of(data)[1:] == [letters, segments]
    assert (
        str(segments.rejected) == "results/samples/drawn/wo-title/segments/seed1/sequences-demo/draw1.rejected.parquet"
    )
    assert str(letters.training) == "results/generators/drawn/wo-title/letters/seed1/training.json"
    assert set(files.decodings) == {"sequences-demo"}
    assert not [path for path in files.paths() if "/latents/" in path or "/mine/" in path]
    coherence = experiment(folder, "coherence")
    assert not [path for path in coherence.files().paths() if "/drawn/" in path]


def test_a_study_without_one_uses_no_process(folder):
    write(folder / "studies/own.yaml", study(both()["experiments"][0]))
    found = project(folder)
    assert found.experiments_of("process") == "(?!)"
    assert set(found.describe("own")["registry"]["critics"]) == {"transitions-demo"}
    assert set(found.describe("own")["registry"]["corpora"]) == {"mine"}


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
    assert description["experiments"] == ["coherence", "process"]
    assert description["study"]["experiments"][1]["critic"] == "known-process"


def test_only_processes_have_steps(folder):
    with pytest.raises(
        TextcriticError, match=r"corpora.yaml: mine: has the extractor jsonl; only .* extractor process"
    ):
        steps("mine", project(folder).registries)


def test_segments_as_long_as_a_lexicon_holds_are_taken(folder):
    """26 letters and the delimiter: 13 of them fit in 64 bits."""
    corpus = {"extractor": "process", "options": {"process": {"letters": 26}}}
    write(folder / "registry/corpora.yaml", {"mine": {"extractor": "jsonl"}, "drawn": corpus})
    write(folder / "studies/own.yaml", both(generators=["long"]))
    assert experiment(folder, "process").corpora() == ["drawn"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"corpora": ["mine"]}, r"sources: mine has the extractor jsonl; name a corpus with .* process"),
        ({"corpora": ["drwan"]}, r"sources.corpora: .*corpora.yaml has no entry 'drwan'; did you mean 'drawn'\?"),
        ({"generators": ["theirs"]}, r"sources: theirs is of kind file; .* the kinds causal and hsmm"),
        ({"generators": ["ngram-3"]}, r"sources: ngram-3 is of kind ngram; .* the kinds causal and hsmm"),
        ({"generators": ["words"]}, r"words has the encoding bpe-2048; on the process drawn it must .* is symbols"),
        ({"generators": ["odd"]}, r"odd has the encoding bpe-2048; on the process drawn it must .* is symbols"),
        (
            {"generators": ["letters", "twin"]},
            r"sources: the generators letters and twin have the same label 'letters'",
        ),
        (
            {"decodings": ["known"]},
            r"known has `stop: given`, for .* kind hsmm .* alone; letters is .* causal",
        ),
        ({"decodings": ["best"]}, r"best has `method: likeliest`, for .* kind fairseq alone; letters is .* causal"),
        ({"generators": ["segments"], "decodings": ["hot"]}, r"segments is an HSMM, .* hot has a temperature"),
        ({"generators": ["segments"], "decodings": ["rough"]}, r"segments is an HSMM, .* rough has a .* precision"),
        ({"generators": ["segments"], "decodings": ["strided"]}, r"segments is an HSMM, .* strided has a .* stride, "),
        (
            {"generators": ["long"]},
            r"long has segments of up to 12 .*; with the 53 symbols of drawn only segments of up to 11 fit in 64 bits",
        ),
        ({"settings": ["w-title"]}, r"sources.0.settings.0: 'w-title' should be 'wo-title'"),
        ({"critic": "known"}, r"critic: .*critics.yaml has no entry 'known'"),
        ({"sources": []}, r"sources: \[\] "),
    ],
)
def test_what_does_not_go_together_is_refused_in_a_line(folder, changes, message):
    assert_refused(folder, both(**changes), rf"own.yaml: experiments.2 \(process\): .*{message}")
