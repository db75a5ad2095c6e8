"""The samples that experiments compare: what blocks stand for, their files, and what is refused."""

from contextlib import nullcontext

import pytest
from own_study import ROOT, assert_refused, experiment, own_folder, project, study, write

from textcritic.errors import TextcriticError
from textcritic.generators.fairseq.shim import installed
from textcritic.plan.checks.decodings import is_nonautoregressive, translates
from textcritic.plan.checks.sources import check_fairseq, check_supported, check_text
from textcritic.plan.paths import Paths, with_contents
from textcritic.plan.project import Project
from textcritic.plan.sources import Source, drawn, entries_of, from_file, label_of, measured, sources_of

TRAINING = {"context": 64, "learning_rate": 0.1, "steps": 10}
FAIRSEQ = {"kind": "fairseq", "training": {"max_tokens": 99, "learning_rate": 0.1, "steps": 10}}
CONFIG = {"config": {"model_type": "gpt2"}}
BLOCK = {"corpora": ["mine"], "settings": ["wo-title"], "generators": ["theirs"], "decodings": ["given"]}


@pytest.fixture
def folder(tmp_path):
    return own_folder(
        tmp_path,
        own("coherence"),
        corpora={
            "mine": {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}},
            "drawn": {"extractor": "process", "options": {"process": {"states": 8, "steps": 6}}},
            "artificial": {"extractor": "languages"},
        },
        generators={
            "theirs": {"kind": "file", "path": "theirs.jsonl"},
            "twin": {"kind": "file", "path": "twin.jsonl", "label": "theirs"},
            "segments": {"kind": "hsmm", "encoding": "symbols", "states": 8},
            "letters": {"kind": "causal", "encoding": "symbols", "init": CONFIG, "training": TRAINING},
            "lm": {**FAIRSEQ, "encoding": "bpe-2048", "architecture": "transformer_lm_wiki103"},
            "ar": {**FAIRSEQ, "encoding": "subwords-2000", "architecture": "transformer_wmt_en_de"},
            "nat": {**FAIRSEQ, "encoding": "subwords-2000", "architecture": "nonautoregressive_transformer"},
            "cmlm": {**FAIRSEQ, "encoding": "subwords-2000", "architecture": "cmlm_transformer"},
        },
        decodings={
            "known": {"stop": "given"},
            "hot": {"temperature": 2.0},
            "begun": {"opening": 3},
            "beam": {"method": "likeliest", "beam": 2},
            "refined": {"method": "likeliest", "iterations": 2},
            "beams": {"method": "beam-sampling", "beam": 2},
            "best": {"method": "best-of", "beam": 2, "top_p": 0.9},
        },
    )


def own(kind, **changes):
    critic = {"coherence": "transitions-demo", "topics": "ctm-demo"}[kind]
    return study({"kind": kind, "critic": critic, "sources": [{**BLOCK, **changes}]})


def test_blocks_expand_to_every_combination_once(folder):
    changes = {
        "generators": ["ngram-shuffled", "ngram-3"],
        "seeds": [1, 2],
        "draws": [1, 5],
        "settings": ["w-title", "wo-title"],
    }
    write(folder / "studies/own.yaml", own("coherence", **changes))
    sources = experiment(folder, "coherence").sources()
    assert len(sources) == 16
    assert Source("mine", "w-title", "ngram-3", "given", 2, 5) in sources
    block = {**BLOCK, "seeds": [2, 1], "draws": [1]}
    assert sources_of([block, block]) == [Source("mine", "wo-title", "theirs", "given", seed) for seed in (2, 1)]
    assert sources_of([]) == []


def test_no_sample_is_compared_twice(folder):
    for changes, line in (
        ({"seeds": [1, 2]}, "theirs is read from a file, which is one sample: put it into a block without `seeds`"),
        ({"draws": [1, 2]}, "theirs is read from a file, which is one sample: put it into a block without `seeds`"),
        (
            {"generators": ["lm"], "decodings": ["beam"], "draws": [1, 2]},
            "beam has `method: likeliest`, which gives the same texts in every draw: put it into a block without",
        ),
    ):
        assert_refused(folder, own("coherence", **changes), line)
    write(folder / "studies/own.yaml", own("coherence", generators=["lm"], decodings=["beam"], seeds=[1, 2]))
    assert len(experiment(folder, "coherence").sources()) == 2


def test_settings_are_both_by_default_and_without_titles_where_the_paper_has_none(folder):
    block = {key: value for key, value in BLOCK.items() if key != "settings"}
    for kind, critic, settings in (
        ("coherence", "transitions-demo", ["w-title", "wo-title"]),
        ("topics", "ctm-demo", ["wo-title"]),
    ):
        write(folder / "studies/own.yaml", study({"kind": kind, "critic": critic, "sources": [block]}))
        assert [source.setting for source in experiment(folder, kind).sources()] == settings


def test_artefact_paths_follow_from_names():
    source = Source("pubmed", "w-title", "gpt2-small", "ancestral", 3)
    assert source.under("results/samples/pubmed") == "results/samples/pubmed/w-title/gpt2-small/seed3/ancestral/draw1"
    assert source.sample == source.under("results/samples/pubmed")
    assert source.model == "results/generators/pubmed/w-title/gpt2-small/seed3"
    paths = Paths(Project({"studies": ["model-criticism"]}, ROOT))
    assert paths.corpus("pubmed") == [f"results/raw/unpacked/pubmed/{name}.txt" for name in ("train", "val", "test")]
    hub = "results/raw/datasets/scientific-papers-pubmed"
    assert paths.corpus("scientific-papers-pubmed-titles") == paths.corpus("scientific-papers-pubmed") == [hub]
    assert paths.pretrained("generators", "gpt2-small") == "results/raw/hub/gpt2"
    assert paths.pretrained("generators", "gpt2-demo") == []
    assert paths.length_tokenizer("pubmed") == "results/raw/hub/gpt2"
    assert paths.length_tokenizer("docstrings") == []


def test_of_a_folder_its_files_count_too(tmp_path):
    """Else a data set that is saved anew into its folder would go unnoticed."""
    for name in ("b.arrow", "a.arrow", ".hidden"):
        (tmp_path / name).touch()
    (tmp_path / "inner").mkdir()
    assert with_contents(tmp_path) == [str(tmp_path), str(tmp_path / "a.arrow"), str(tmp_path / "b.arrow")]
    assert with_contents(tmp_path / "a.arrow") == [str(tmp_path / "a.arrow")]
    assert with_contents("articles.jsonl") == ["articles.jsonl"]


def test_what_a_job_is_told_of_a_sample(folder):
    registries = project(folder).registries
    source = Source("mine", "wo-title", "ngram-shuffled", "given", 1)
    told = drawn(source, "small", registries)
    assert {key: str(value) for key, value in told.items()} == {
        **{"corpus": "mine", "setting": "wo-title", "generator": "ngram-shuffled", "decoding": "given", "seed": "1"},
        "draw": "1",
        "label": "shuffled words",
        "from_file": "False",
        "control": "False",
        "articles": "results/samples/mine/wo-title/ngram-shuffled/seed1/given/draw1.parquet",
        "counts": "results/samples/mine/wo-title/ngram-shuffled/seed1/given/draw1.json",
        "scores": "results/scores/small/mine/samples/wo-title/ngram-shuffled/seed1/given/draw1.parquet",
    }
    assert {key: str(path) for key, path in measured(source, registries).items()} == {
        "perplexity": "results/generators/mine/wo-title/ngram-shuffled/seed1/perplexity.json",
        "training": "results/generators/mine/wo-title/ngram-shuffled/seed1/training.json",
    }
    assert label_of("theirs", registries) == "theirs"
    assert label_of("twin", registries) == "theirs"


def test_samples_from_a_file_have_no_perplexity(folder):
    found = project(folder)
    source = Source("mine", "wo-title", "theirs", "given", 1)
    assert from_file(source, found.registries)
    assert measured(source, found.registries) == {"perplexity": None, "training": None}
    assert Paths(found).perplexity(source) == []
    files = found.studies["own"].experiments["coherence"].files()
    assert files.samples[0].perplexity is None
    assert files.samples[0].training is None
    assert "results/corpora/mine/train.parquet" in files.paths()


@pytest.mark.parametrize("kind", ["coherence", "topics"])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"corpora": ["drawn"]}, r"sources: drawn is not text but synthetic; this experiment is for text"),
        ({"generators": ["segments"]}, r"sources: segments is of kind hsmm, which is for synthetic sequences"),
        (
            {"generators": ["letters"]},
            r"sources: letters has the encoding symbols, which is for synthetic sequences; mine is text",
        ),
        (
            {"decodings": ["known"]},
            r"sources: known has `stop: given`, for .* kind hsmm .* alone; theirs is of kind file",
        ),
        (
            {"generators": ["ngram-3-interpolated"], "decodings": ["demo-top-k-50"]},
            r"sources: ngram-3-interpolated is an n-gram model with `smoothing: interpolated`, .* demo-top-k-50 has a",
        ),
        (
            {"generators": ["ngram-3-interpolated"], "decodings": ["hot"]},
            r"sources: ngram-3-interpolated is an n-gram model with .* hot has a temperature",
        ),
        (
            {"generators": ["ngram-3-interpolated"], "decodings": ["beams"]},
            r"sources: ngram-3-interpolated is an n-gram model with .* beams has a .* or method",
        ),
        (
            {"generators": ["ngram-3"], "decodings": ["begun"]},
            r"sources: ngram-3 is an n-gram model, whose articles begin with no given words; begun has an opening",
        ),
        (
            {"generators": ["theirs", "twin"]},
            r"sources: the generators theirs and twin have the same label 'theirs'; give one another",
        ),
    ],
)
def test_samples_that_cannot_be_drawn_or_told_apart_are_refused(folder, kind, changes, message):
    assert_refused(folder, own(kind, **changes), rf"own.yaml: experiments.1 \({kind}\): {message}")


@pytest.mark.parametrize("decoding", ["demo-top-k-50", "hot", "beams", "best", "demo"])
def test_an_n_gram_model_of_maximum_likelihood_is_drawn_from_in_every_way(folder, decoding):
    check_text(Source("mine", "wo-title", "ngram-3", decoding, 1), project(folder).registries, "s")


@pytest.mark.parametrize(
    ("kind", "critic", "message"),
    [
        ("coherence", "known-process", r"known-process is of kind process; name an entry of kind transitions"),
        ("coherence", "ctm-demo", r"ctm-demo is of kind ctm; name an entry of kind transitions"),
        ("topics", "transitions", r"transitions is of kind transitions; name an entry of kind ctm"),
        ("process", "transitions", r"transitions is of kind transitions; name an entry of kind process"),
    ],
)
def test_each_kind_has_critics_of_its_own(folder, kind, critic, message):
    sequences = {"corpora": ["drawn"], "generators": ["segments"], "decodings": ["known"]}
    sources = [sequences if kind == "process" else BLOCK]
    refused = study({"kind": kind, "critic": critic, "sources": sources})
    assert_refused(folder, refused, rf"own.yaml: experiments.1 \({kind}\): critic: {message}")


@pytest.mark.parametrize(
    ("corpus", "generator", "decoding", "message"),
    [
        ("mine", "lm", "beam", None),
        ("mine", "lm", "hot", None),
        ("artificial", "ar", "beam", None),
        ("artificial", "nat", "hot", None),
        ("artificial", "cmlm", "refined", None),
        (
            "mine",
            "ar",
            "hot",
            r"ar has the architecture transformer_wmt_en_de, which translates and needs a parallel c",
        ),
        (
            "artificial",
            "lm",
            "hot",
            r"lm has the .* which is a language model and needs articles of text; artificial has",
        ),
        ("mine", "lm", "begun", r"lm is of kind fairseq, on which opening has no effect; begun has it"),
        ("artificial", "ar", "best", None),
        ("artificial", "nat", "beam", r"nat with beam: beam: 2 is for autoregressive models"),
        ("artificial", "nat", "best", r"nat with best: beam: 2 is for autoregressive models"),
        ("artificial", "cmlm", "beams", r"cmlm with beams: beam: 2 is for autoregressive models"),
        ("artificial", "nat", "refined", r"nat with refined: iterations: 2 passes refine nothing"),
        ("artificial", "ar", "refined", r"ar with refined: iterations: 2 passes refine nothing"),
    ],
)
def test_models_of_fairseq_go_with_corpora_and_decodings(folder, corpus, generator, decoding, message):
    source = Source(corpus, "wo-title", generator, decoding, 1)
    if message is None:
        check_fairseq(source, project(folder).registries, "s")
        return
    with pytest.raises(TextcriticError, match=f"^s: {message}"):
        check_fairseq(source, project(folder).registries, "s")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"generators": ["ar"]}, r"sources: ar has the encoding subwords-2000, which is for parallel corpora"),
        ({"generators": ["lm"], "decodings": ["refined"]}, r"sources: lm with refined: iterations: 2 passes refine"),
        (
            {"generators": ["ngram-3"], "decodings": ["beam"]},
            r"beam has `method: likeliest`, for generators of kind fair",
        ),
    ],
)
def test_articles_of_text_by_models_of_fairseq(folder, changes, message):
    assert_refused(folder, own("topics", **changes), message)


@pytest.mark.parametrize("decoding", ["beam", "beams", "best", "known"])
@pytest.mark.parametrize("generator", ["letters", "segments", "ngram-3", "lm", "theirs"])
def test_methods_are_for_some_kinds_of_generators(folder, generator, decoding):
    registries = project(folder).registries
    source = Source("mine", "wo-title", generator, decoding, 1)
    _, entry, scheme = entries_of(source, registries)
    possible = {
        "causal": {"beams", "best"},
        "ngram": {"beams", "best"},
        "fairseq": {"beam", "beams", "best"},
        "hsmm": {"known"},
        "file": set(),
    }
    with nullcontext() if decoding in possible[entry.kind] else pytest.raises(TextcriticError) as refused:
        check_supported(source, entry, scheme, "s")
    if refused is not None:
        kinds = {"beam": "fairseq", "known": "hsmm or entitynlm or kglm or lstm"}.get(
            decoding, "causal or ngram or fairseq"
        )
        assert f"for generators of kind {kinds} alone; {generator} is of kind {entry.kind}" in str(refused.value)


@pytest.mark.skipif(not installed(), reason="run make fairseq")
def test_the_two_kinds_of_architecture_are_known_without_fairseq():
    """By their names alone, so that a study is checked where fairseq is not installed."""
    from fairseq.models import ARCH_MODEL_REGISTRY, FairseqEncoderDecoderModel, FairseqLanguageModel
    from fairseq.models.nat import FairseqNATModel

    for architecture, model in ARCH_MODEL_REGISTRY.items():
        # Of fairseq's benchmarks, and those that are not built, see `generators.fairseq.models`.
        if architecture.startswith(("dummy_model", "levenshtein", "insertion", "nacrf")):
            continue
        if issubclass(model, FairseqLanguageModel | FairseqEncoderDecoderModel):
            assert translates(architecture) is issubclass(model, FairseqEncoderDecoderModel)
        assert is_nonautoregressive(architecture) is issubclass(model, FairseqNATModel)
