"""Registry entries of parallel corpora and their encodings: what is refused, and which files they are made of."""

import pytest
from own_study import assert_refused, own_folder, project, study, write

from textcritic.errors import TextcriticError
from textcritic.plan.checks.corpora import is_parallel, is_text
from textcritic.plan.entries import restore
from textcritic.plan.paths import Paths

FILES = {"source": "news.en", "targets": {"de": "news.de", "es": "news.es"}}
FETCHED = "results/raw/unpacked/europarl-v7-de-en/europarl-v7.de-en"
PAIRS = {
    "de": {"source": f"{FETCHED}.en", "target": f"{FETCHED}.de"},
    "es": {"source": "b.en", "target": "b.es"},
}
CAUSAL = {
    "kind": "causal",
    "encoding": "parts",
    "init": {"config": {"model_type": "gpt2"}},
    "training": {"context": 8, "learning_rate": 0.1, "steps": 1},
}


def entry(**options):
    return {"extractor": "parallel", "options": {"parallel": options}}


@pytest.fixture
def folder(tmp_path):
    """Parallel corpora, an encoding of them, and a study that has nothing to do with them."""
    block = {"corpora": ["mine"], "settings": ["wo-title"], "generators": ["theirs"], "decodings": ["given"]}
    return own_folder(
        tmp_path,
        study({"kind": "coherence", "critic": "transitions-demo", "sources": [block]}),
        corpora={
            "mine": {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}},
            "news": entry(**FILES, documents={"source": "en.ids", "de": "de.ids", "es": "es.ids"}),
            "joined": entry(pairs=PAIRS),
            "messages": {"extractor": "catalogues", "options": {"catalogues": {"packages": ["pip"]}}},
        },
        encodings={"parts": {"tokenizer": {"subwords": {"vocabulary": 100}}}},
        generators={"theirs": {"kind": "file", "path": "theirs.jsonl"}, "parts": CAUSAL},
    )


def test_files_and_packages_of_a_parallel_corpus(folder):
    registries = project(folder).registries
    paths = Paths(project(folder))
    assert sorted(paths.parallel("news")) == ["de.ids", "en.ids", "es.ids", "news.de", "news.en", "news.es"]
    assert paths.parallel("joined") == [f"{FETCHED}.en", f"{FETCHED}.de", "b.en", "b.es"]
    assert paths.parallel("messages") == paths.parallel("languages") == []
    assert list(paths.corpus_packages("messages")) == ["pip"]
    assert paths.corpus_packages("news") == {}
    for name in ("news", "messages", "languages"):
        assert is_parallel(registries.entry("corpora", name))
        assert not is_text(registries.entry("corpora", name))
    assert not is_parallel(registries.entry("corpora", "mine"))
    assert not is_parallel(registries.entry("corpora", "process"))
    assert registries.references("corpora", "joined") == [
        ("options.parallel.pairs.de.source", "downloads", "europarl-v7-de-en"),
        ("options.parallel.pairs.de.target", "downloads", "europarl-v7-de-en"),
    ]
    spec = registries.spec("corpora", "news", "extractor", "options", "splits")
    assert restore(spec, "corpora") == registries.entry("corpora", "news")


@pytest.mark.parametrize(
    ("corpus", "fault"),
    [
        ({"extractor": "parallel"}, r"options\.parallel is missing"),
        (
            {**entry(**FILES), "extractor": "jsonl"},
            r"options\.parallel: is for the extractor parallel; this corpus has jsonl",
        ),
        (entry(targets=FILES["targets"]), r"options\.parallel\.source is missing; give source and targets, or pairs"),
        (entry(source="a.en"), r"options\.parallel\.targets is missing; give a file for each language"),
        (entry(**FILES, pairs=PAIRS), r"options\.parallel\.source: has no effect beside pairs"),
        (entry(pairs=PAIRS, format="tsv"), r"options\.parallel\.format: has no effect beside pairs"),
        (entry(**FILES, format="tsv"), r"options\.parallel\.targets: has no effect with format: tsv"),
        (entry(**FILES, columns={"source": 1, "de": 2}), r"options\.parallel\.columns: is for format: tsv"),
        (
            entry(source="a.tsv", format="tsv", columns={"de": 1, "es": 2}),
            r"options\.parallel\.columns: should name source, the English side, and a language",
        ),
        (entry(source="a", targets={"source": "b"}), r"targets: a language cannot be called source; give its code"),
        (
            entry(**FILES, documents={"source": "en.ids", "de": "de.ids"}),
            r"options\.parallel\.documents: should name exactly de, es, source; see es",
        ),
        (
            entry(source="a", targets={"de": "results/raw/downloads/no-such"}),
            r"options\.parallel\.targets\.de: .*downloads\.yaml has no entry 'no-such'",
        ),
        (entry(**FILES, tokenize=False), r"options\.parallel: unknown key 'tokenize'; did you mean 'tokenise'"),
    ],
)
def test_wrong_entries_are_refused_with_file_and_name(folder, corpus, fault):
    write(folder / "registry/corpora.yaml", {"mine": {"extractor": "docstrings"}, "wrong": corpus})
    with pytest.raises(TextcriticError, match=fault) as refused:
        project(folder)
    assert str(refused.value).startswith(f"{folder}/registry/corpora.yaml: wrong: ")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("corpora", "generators", "fault"),
    [
        (["languages"], ["theirs"], r"languages is a parallel corpus; this experiment is for articles of text"),
        (["mine"], ["parts"], r"parts has the encoding parts, which is for parallel corpora; mine is text"),
    ],
)
def test_experiments_of_text_refuse_parallel_corpora_and_their_encodings(folder, corpora, generators, fault):
    block = {"corpora": corpora, "settings": ["wo-title"], "generators": generators, "decodings": ["given"]}
    wrong = study({"kind": "coherence", "critic": "transitions-demo", "sources": [block]})
    assert_refused(folder, wrong, fault)


def test_statistics_of_corpora_and_the_process_refuse_parallel_corpora(folder):
    statistics = study({"kind": "corpora", "corpora": ["languages"]})
    assert_refused(folder, statistics, r"corpora: languages is a parallel corpus and has no sections")
    block = {"corpora": ["languages"], "settings": ["wo-title"], "generators": ["parts"], "decodings": ["given"]}
    process = study({"kind": "process", "critic": "known-process", "sources": [block]})
    assert_refused(folder, process, r"languages has the extractor languages; name a corpus with the extractor process")


def test_encodings_of_parallel_corpora_have_no_boundary_and_no_classifier(folder):
    encoding = {"tokenizer": {"subwords": {"vocabulary": 100}}, "boundary": "as_released"}
    write(folder / "registry/encodings.yaml", {"parts": encoding})
    with pytest.raises(TextcriticError, match=r"boundary: as_released is for text; with the tokenizer subwords"):
        project(folder)
    write(folder / "registry/encodings.yaml", {"parts": {"tokenizer": {"subwords": {"vocabulary": 100}}}})
    classifier = {"kind": "transformer", **{key: CAUSAL[key] for key in ("encoding", "init")}}
    write(folder / "registry/classifiers.yaml", {"sections": {**classifier, "training": {"learning_rate": 0.1}}})
    with pytest.raises(TextcriticError, match=r"encoding: parts is for parallel corpora; a classifier reads text"):
        project(folder)
