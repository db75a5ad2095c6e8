"""Mixed languages in a study: their files, and what is refused."""

import pytest
from own_study import assert_refused, experiment, own_folder, study

from textcritic.experiments import kind_of

PARALLEL = {"extractor": "parallel", "options": {"parallel": {"source": "s.en", "targets": {"de": "s.de"}}}}
SOURCES = {"corpora": ["pairs"], "generators": ["nat", "theirs"], "decodings": ["plain"]}
TABLE = {"name": "table10", "of": "words", "caption": "Topics"}
FIGURE = {"name": "figure7", "of": "simplex", "generators": ["nat"]}
TRAINING = {"max_tokens": 100, "learning_rate": 0.1, "steps": 5}


@pytest.fixture
def folder(tmp_path):
    return own_folder(
        tmp_path,
        block(),
        corpora={
            "pairs": PARALLEL,
            "made-up": {"extractor": "languages"},
            "mine": {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}},
        },
        encodings={"joint": {"tokenizer": {"subwords": {"vocabulary": 300}}}},
        generators={
            "nat": {
                "kind": "fairseq",
                "label": "NAT",
                "encoding": "joint",
                "architecture": "nonautoregressive_transformer",
                "training": TRAINING,
            },
            "theirs": {"kind": "file", "path": "theirs.txt"},
            "words": {"kind": "ngram"},
        },
        decodings={"plain": {"articles": 10}},
        critics={"tongues": {"kind": "lda"}, "topics": {"kind": "ctm"}},
    )


def block(critic="tongues", known=("made-up",), tables=(TABLE,), figures=(FIGURE,), **changes):
    parts = {"known": list(known), "tables": list(tables), "figures": list(figures)}
    return study({"kind": "mixing", "critic": critic, "sources": [{**SOURCES, **changes}], **parts})


def test_its_files_are_posteriors_of_real_translations_and_of_samples(folder):
    mixing = experiment(folder, "mixing")
    files = mixing.files()
    assert [str(real.posteriors) for real in files.data] == ["results/topics/tongues/pairs/data/test.npz"]
    posteriors = [str(sample.posteriors) for sample in files.samples]
    assert posteriors[0] == "results/topics/tongues/pairs/samples/wo-title/nat/seed1/plain/draw1.npz"
    assert [sample.perplexity is None for sample in files.samples] == [False, True]
    assert [str(known.power) for known in files.known] == ["results/mixing/tongues/made-up.power.parquet"]


def test_a_numbered_figure_reads_its_own_samples_alone(folder):
    mixing = experiment(folder, "mixing")
    files = mixing.files("figure7")
    assert [sample.generator for sample in files.samples] == ["nat"]
    assert files.known == ()


def test_what_cannot_be_compared_is_refused(folder):
    for changed, message in (
        (block(critic="topics"), "critic: topics is of kind ctm; name an entry of kind lda"),
        (block(corpora=["mine"]), "mine has the extractor jsonl; name a parallel corpus"),
        (block(generators=["words"], figures=()), "words is of kind ngram; translations come from the kinds fairseq"),
        (block(known=["pairs"]), "known: pairs has the extractor parallel; name a corpus with the extractor languages"),
        (block(settings=["w-title"]), "settings"),
    ):
        assert_refused(folder, changed, message)


def test_its_tables_are_read_by_their_names():
    assert kind_of("mixing").tables == ("mixing", "mixing-pairs", "mixing-languages", "mixing-words", "mixing-power")
