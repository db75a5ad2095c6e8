"""Topics in a study: their files, what the manifest records of them, and what is refused."""

import pytest
from own_study import ROOT, assert_refused, experiment, own_folder, project, study, write

from textcritic.errors import TextcriticError
from textcritic.experiments.topics.plan import fitted_files, fitted_words, stop_words
from textcritic.plan.checks.vocabulary import STOP_LISTS
from textcritic.plan.project import Project
from textcritic.plan.sources import Source

TEXT = {"corpora": ["mine"], "settings": ["w-title"], "generators": ["theirs"], "decodings": ["given"]}
BLOCK = {"corpora": ["other", "mine"], "generators": ["theirs", "ngram-shuffled"], "decodings": ["given"]}
TABLE = {"name": "table9", "of": "nll", "caption": "Topics", "corpora": ["mine"], "generators": ["theirs"]}
FIGURE = {"name": "figure6", "of": "covariances", "corpora": ["mine"], "generators": ["theirs"]}
COHERENCE = {"kind": "coherence", "critic": "transitions-demo", "sources": [TEXT]}


@pytest.fixture
def folder(tmp_path):
    """Registries and a study of one's own, beside the shipped ones; the study goes together."""
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists/mine.txt").write_text("the\n")
    return own_folder(
        tmp_path,
        both(),
        corpora={
            "mine": {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}},
            "other": {"extractor": "jsonl", "options": {"paths": ["other.jsonl"]}},
        },
        generators={"theirs": {"kind": "file", "path": "theirs.jsonl"}},
        critics={"small": {"kind": "ctm", "topics": 5, "vocabulary": {"stop_words": "lists/mine.txt"}}},
    )


def both(critic="small", tables=(), figures=(), **changes):
    """A study of titles and of topics."""
    parts = {"tables": list(tables), "figures": list(figures)}
    return study(COHERENCE, {"kind": "topics", "critic": critic, "sources": [{**BLOCK, **changes}], **parts})


def test_the_text_of_topics_has_no_titles_and_need_not_be_that_of_coherence(folder):
    found = project(folder).studies["own"]
    coherence, topics = found.experiments.values()
    assert topics.sources() == [
        Source(corpus, "wo-title", generator, "given", 1)
        for corpus in ("other", "mine")
        for generator in ("theirs", "ngram-shuffled")
    ]
    assert topics.corpora() == ["other", "mine"]
    assert coherence.corpora() == ["mine"]
    assert found.sources() == [*coherence.sources(), *topics.sources()]


def test_samples_that_are_compared_twice_are_the_same_files_and_listed_once(folder):
    same = {**COHERENCE, "sources": [{**TEXT, "settings": ["wo-title"]}]}
    topics = {"kind": "topics", "critic": "small", "sources": [{**TEXT, "settings": ["wo-title"]}]}
    write(folder / "studies/own.yaml", study(same, topics))
    found = project(folder).studies["own"]
    coherence, topics = found.experiments.values()
    assert topics.sources() == coherence.sources() == found.sources()
    (sample,), (again,) = coherence.files().samples, topics.files().samples
    assert sample.articles == again.articles
    assert sample.scores != again.scores


def test_what_the_tables_are_made_of(folder):
    topics = experiment(folder, "topics")
    files = topics.files()
    assert files.resamples == 10_000
    fitted = files.data[1]
    assert fitted.corpus == "mine"
    assert fitted.paths() == [
        "results/critics/small/mine/critic.npz",
        "results/critics/small/mine/vocabulary.parquet",
        "results/critics/small/mine/vocabulary.json",
        "results/critics/small/mine/training.json",
        "results/topics/small/mine/data/test.parquet",
        "results/scores/small/mine/data/test.parquet",
        "results/corpora/mine/test.parquet",
        "results/topics/small/mine/data/test.starts.parquet",
        "results/studies/own/topics/power/mine.parquet",
    ]
    assert [sample.baseline for sample in files.samples] == [False, True, False, True]
    assert [sample.from_file for sample in files.samples] == [True, False, True, False]
    last = files.samples[-1]
    assert (last.corpus, last.setting, last.generator) == ("mine", "wo-title", "ngram-shuffled")
    assert (last.decoding, last.seed, last.label) == ("given", 1, "shuffled words")
    assert last.paths() == [
        "results/samples/mine/wo-title/ngram-shuffled/seed1/given/draw1.parquet",
        "results/samples/mine/wo-title/ngram-shuffled/seed1/given/draw1.json",
        "results/scores/small/mine/samples/wo-title/ngram-shuffled/seed1/given/draw1.parquet",
        "results/topics/small/mine/samples/wo-title/ngram-shuffled/seed1/given/draw1.parquet",
        "results/topics/small/mine/samples/wo-title/ngram-shuffled/seed1/given/draw1.starts.parquet",
    ]
    assert files.of(fitted) == [fitted, *files.samples[2:]]
    assert set(files.decodings) == {"given"}
    assert not [path for path in files.paths() if "/latents/" in path or "perplexity" in path]
    assert not [path for path in experiment(folder, "coherence").files().paths() if "/small/" in path]
    assert len(topics.table_files()) == 12
    assert topics.figure_folders() == ["results/studies/own/topics/figures"]


def test_a_study_without_topics(folder):
    write(folder / "studies/own.yaml", study(COHERENCE))
    found = project(folder)
    assert found.experiments_of("topics") == "(?!)"
    assert set(found.describe("own")["registry"]["critics"]) == {"transitions-demo"}


def test_tables_and_figures_of_topics_name_no_more_files_than_they_compare(folder):
    whole = {**TABLE, "name": "table14", "of": "outliers", "corpora": ["mine", "other"]}
    whole["generators"] = ["ngram-shuffled", "theirs"]
    write(folder / "studies/own.yaml", both(tables=[TABLE, whole], figures=[FIGURE]))
    topics = experiment(folder, "topics")
    small, large = topics.files("table9"), topics.files("table14")
    assert topics.parts["table9"].of == "nll"
    assert [(s.corpus, s.generator) for s in small.samples] == [("mine", "theirs")]
    assert [fitted.corpus for fitted in large.data] == ["mine", "other"]
    assert [s.generator for s in large.samples] == ["ngram-shuffled"] * 2 + ["theirs"] * 2
    assert topics.files("figure6").paths() == small.paths()
    assert all("/mine/" in path and "ngram-shuffled" not in path for path in small.paths())
    power = {f"results/studies/own/topics/power/{corpus}.parquet" for corpus in ("mine", "other")}
    assert set(large.paths()) == set(topics.files().paths()) - power


def test_the_manifest_has_the_topic_model_and_every_generator(folder):
    used = project(folder).describe("own")
    assert set(used["registry"]["critics"]) == {"transitions-demo", "small"}
    assert used["registry"]["critics"]["small"]["topics"] == 5
    assert set(used["registry"]["generators"]) == {"theirs", "ngram-shuffled"}
    assert set(used["registry"]["corpora"]) == {"mine", "other"}
    assert {(s["corpus"], s["generator"]) for s in used["sources"]} >= {("other", "ngram-shuffled")}
    assert used["study"]["experiments"][1]["critic"] == "small"


def test_a_file_of_stop_words_is_an_input(folder):
    registries = project(folder).registries
    assert stop_words("small", registries) == ["lists/mine.txt"]
    assert stop_words("ctm-demo", registries) == []


def with_stop_words(folder, words):
    entry = {"kind": "ctm", "vocabulary": {"stop_words": str(words)}}
    write(folder / "registry/critics.yaml", {"small": entry})


def test_a_model_that_ctm_c_fitted_is_read_if_its_files_are_there(folder):
    entry = {"kind": "ctm", "fitted": {"folder": "ctm-c/", "vocabulary": "words.txt"}}
    write(folder / "registry/critics.yaml", {"small": entry})
    files = ["ctm-c/final-mu.dat", "ctm-c/final-cov.dat", "ctm-c/final-log-beta.dat", "words.txt"]
    (folder / "ctm-c").mkdir()
    for name in files:
        with pytest.raises(TextcriticError, match=f"critics.yaml: small: fitted: {name}: no such file"):
            project(folder)
        (folder / name).write_text("1\n")
    registries = project(folder).registries
    assert fitted_files("small", registries) + fitted_words("small", registries) == files
    assert stop_words("small", registries) == []
    write(folder / "registry/critics.yaml", {"small": {"kind": "ctm"}})
    registries = project(folder).registries
    assert fitted_files("small", registries) == fitted_words("small", registries) == []


def test_stop_words_are_a_list_or_a_file_that_is_there_or_is_fetched(folder):
    fetched = ["results/raw/downloads/mallet-stop-words", "results/raw/unpacked/pubmed/stop.txt"]
    for words in (*STOP_LISTS, "lists/mine.txt", folder / "lists/mine.txt", *fetched):
        with_stop_words(folder, words)
        wanted = [] if words in STOP_LISTS else [str(words)]
        assert stop_words("small", project(folder).registries) == wanted
    downloads = project(folder).describe("own")["registry"]["downloads"]
    assert set(downloads) == {"pubmed"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("engish", r"vocabulary: stop_words: there is no file 'engish' in \S+; did you mean 'english'\?"),
        ("lists/mien.txt", r"no file 'lists/mien.txt' in \S+; give none, english or a file with one word a line"),
        ("lists", r"stop_words: there is no file 'lists' in"),
        ("", r"vocabulary.stop_words: '' should be non-empty"),
        (
            "results/raw/downloads/mallet-stopwords",
            r"vocabulary.stop_words: .*downloads.yaml has no entry 'mallet-stopwords'; did you mean 'mallet-stop-",
        ),
        ("results/raw/unpacked/pubmet/stop.txt", r"downloads.yaml has no entry 'pubmet'; did you mean 'pubmed'"),
        ("results/raw/downloads/mallet-stop-words/en.txt", r"no file 'results/raw/downloads/mallet-stop-words/en.txt'"),
        ("results/raw/downloads", r"there is no file 'results/raw/downloads' in"),
    ],
)
def test_stop_words_that_are_nowhere_are_refused_before_anything_runs(folder, words, message):
    with_stop_words(folder, words)
    with pytest.raises(TextcriticError, match=rf"registry/critics.yaml: small: .*{message}") as refused:
        project(folder)
    assert "\n" not in str(refused.value)


def test_the_stop_words_of_a_critic_that_no_study_uses_may_be_elsewhere(folder):
    with_stop_words(folder, "of/another/folder.txt")
    write(folder / "studies/own.yaml", study(COHERENCE))
    assert list(project(folder).studies["own"].experiments) == ["coherence"]


def test_what_the_manifest_records_is_the_same_on_another_machine(folder):
    before = project(folder).describe("own")
    entry = {"kind": "ctm", "topics": 5, "vocabulary": {"stop_words": "lists/mine.txt"}}
    resources = {"threads": 8, "mem_mb": 9000, "runtime": "9h"}
    write(folder / "registry/critics.yaml", {"small": {**entry, **resources}})
    assert project(folder).describe("own") == before
    write(folder / "registry/critics.yaml", {"small": {**entry, "tolerance": 0.1}})
    assert project(folder).describe("own") != before


def test_the_study_of_ones_own_text_can_be_used_by_hand(tmp_path):
    found = Project({"studies": ["own-text"]}, ROOT, tmp_path).studies["own-text"]
    *kinds, last = found.experiments
    assert (kinds, last) == (
        ["coherence", "tendencies", "topics", "coreference", "recitation", "order", "form"],
        "corpora",
    )
    assert {source.setting for source in found.sources()} == {"wo-title"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"critic": "transitions"}, r"critic: transitions is of kind transitions; name an entry of kind ctm"),
        ({"critic": "smal"}, r"critic: .*critics.yaml has no entry 'smal'; did you mean 'small'\?"),
        ({"corpora": ["process-demo"]}, r"sources: process-demo is not text but synthetic; this experiment is for"),
        ({"corpora": ["mien"]}, r"sources.corpora: .*corpora.yaml has no entry 'mien'; did you mean 'mine'\?"),
        ({"generators": ["hsmm-demo"]}, r"sources: hsmm-demo is of kind hsmm, which is for"),
        ({"generators": ["transformer-demo"]}, r"sources: transformer-demo has the encoding symbols"),
        (
            {"generators": ["theirs", "ngram-3-interpolated"], "decodings": ["demo-top-k-50"]},
            r"sources: ngram-3-interpolated is an n-gram model with .* top_k",
        ),
        ({"decodings": ["sequences-given"]}, r"sources: sequences-given has `stop: given`"),
        ({"settings": ["titles"]}, r"sources.0.settings.0: 'titles' is not one of w-title, wo-title"),
        ({"tables": [{**TABLE, "corpora": ["docstrings"]}]}, r"table9: docstrings is not among the experiment's corp"),
        ({"tables": [{**TABLE, "generators": ["ngram-3"]}]}, r"table9: ngram-3 on mine is not among the sources of"),
        ({"tables": [TABLE, {**TABLE, "of": "outliers"}]}, r"table9 is there twice"),
        ({"figures": [{**FIGURE, "generators": ["ngram-3"]}]}, r"figure6: ngram-3 on mine is not among the sources of"),
    ],
)
def test_what_does_not_go_together_is_refused_in_a_line(folder, changes, message):
    assert_refused(folder, both(**changes), rf"own.yaml: experiments.2 \(topics\): {message}")


def test_every_published_value_of_topics_is_there():
    from textcritic.measures.published import read_published

    published = read_published(ROOT / "config/published/model-criticism/topics.csv")
    cells = {number: published.in_table(number).values for number in ("9", "14")}
    assert (len(cells["9"]), len(cells["14"])) == (9, 2)
    metric = "latent_nll_at_mean: 100 topics"
    real = [cells["9"][(corpus, "", "data", "", metric)] for corpus in ("pubmed", "arxiv", "wiki")]
    assert real == [174.43, 163.95, 124.70]
    outlier = ("arxiv", "wo-title", "gpt2-small", "", "outlier_nll_at_mean: 100 topics, example 1")
    assert cells["14"][outlier] == 280.88
