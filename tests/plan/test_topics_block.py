"""The topics of a study: what they expand to, their files, what a change of configuration reruns, what is refused."""

import pytest
import yaml
from own_study import ROOT, assert_refused, own_folder, project, write
from textcritic.study_files import StudyFiles

from textcritic.errors import TextcriticError
from textcritic.options.vocabulary import STOP_LISTS
from textcritic.plan.paths import Paths
from textcritic.plan.project import Project, Source
from textcritic.plan.sources import check_study
from textcritic.plan.spec import complete, restore

COUNTED = ("kind", "vocabulary")


@pytest.fixture
def folder(tmp_path):
    """Registries and a study of one's own, beside the shipped ones; the study goes together."""
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists/mine.txt").write_text("the\n")
    return own_folder(
        tmp_path,
        study(),
        corpora={
            "mine": {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}},
            "other": {"extractor": "jsonl", "options": {"paths": ["other.jsonl"]}},
            "drawn": {"extractor": "process", "options": {"process": {"states": 8, "steps": 6}}},
        },
        generators={
            "theirs": {"kind": "file", "path": "theirs.jsonl"},
            "twin": {"kind": "file", "path": "twin.jsonl", "label": "theirs"},
            "segments": {"kind": "hsmm", "encoding": "symbols", "states": 8},
        },
        critics={"small": {"kind": "ctm", "topics": 5, "vocabulary": {"stop_words": "lists/mine.txt"}}},
    )


TEXT = {"corpora": ["mine"], "settings": ["w-title"], "generators": ["theirs"], "decodings": ["given"]}
BLOCK = {"corpora": ["other", "mine"], "generators": ["theirs", "ngram-shuffled"], "decodings": ["given"]}
TABLE = {"name": "table9", "kind": "topics", "caption": "Topics", "corpora": ["mine"], "generators": ["theirs"]}
FIGURE = {"name": "figure6", "kind": "covariances", "corpora": ["mine"], "generators": ["theirs"]}


def study(critic="small", tables=(), figures=(), topics=True, **changes):
    block = {"critic": critic, "sources": [{**BLOCK, **changes}]}
    parts = {"tables": list(tables), "figures": list(figures), "topics": block if topics else None}
    return {"title": "Own", "critic": "transitions-demo", "sources": [TEXT], **parts}


def files_of(folder):
    return StudyFiles(Paths(project(folder)), "own")


def test_the_text_of_topics_has_no_titles_and_need_not_be_among_the_sources(folder):
    found = project(folder)
    assert found.topic_sources("own") == [
        Source(corpus, "wo-title", generator, "given", 1)
        for corpus in ("other", "mine")
        for generator in ("theirs", "ngram-shuffled")
    ]
    assert found.topic_corpora("own") == ["other", "mine"]
    assert found.corpora("own") == ["mine"]
    assert found.every_source("own") == [*found.sources("own"), *found.topic_sources("own")]


def test_samples_that_are_compared_twice_are_the_same_files_and_listed_once(folder):
    same = {**TEXT, "settings": ["wo-title"]}
    write(folder / "studies/own.yaml", {**study(corpora=["mine"], generators=["theirs"]), "sources": [same]})
    found = project(folder)
    assert found.topic_sources("own") == found.sources("own") == found.every_source("own")
    description = files_of(folder).description()
    (source,), (again,) = description["sources"], description["topics"]["sources"]
    assert source["articles"] == again["articles"]
    assert source["scores"] != again["scores"]


def test_what_the_report_is_told_of_topics(folder):
    files = files_of(folder)
    found = files.topics()
    assert found["name"] == "own"
    assert found["resamples"] == 10_000
    topics = found["topics"]
    assert topics["corpora"][1] == {
        "corpus": "mine",
        "critic": "results/critics/small/mine/critic.npz",
        "vocabulary": "results/critics/small/mine/vocabulary.parquet",
        "vocabulary_counts": "results/critics/small/mine/vocabulary.json",
        "training": "results/critics/small/mine/training.json",
        "posteriors": "results/topics/small/mine/data/test.parquet",
        "scores": "results/scores/small/mine/data/test.parquet",
        "articles": "results/corpora/mine/test.parquet",
    }
    assert [source["baseline"] for source in topics["sources"]] == [False, True, False, True]
    assert [source["from_file"] for source in topics["sources"]] == [True, False, True, False]
    last = topics["sources"][-1]
    assert last == {
        **{"corpus": "mine", "setting": "wo-title", "generator": "ngram-shuffled", "decoding": "given", "seed": 1},
        "label": "shuffled words",
        "baseline": True,
        "from_file": False,
        "scores": "results/scores/small/mine/samples/wo-title/ngram-shuffled/seed1/given.parquet",
        "posteriors": "results/topics/small/mine/samples/wo-title/ngram-shuffled/seed1/given.parquet",
        "articles": "results/samples/mine/wo-title/ngram-shuffled/seed1/given.parquet",
        "counts": "results/samples/mine/wo-title/ngram-shuffled/seed1/given.json",
    }
    assert set(topics["decodings"]) == {"given"}
    assert files.description()["topics"] == topics
    assert set(files.inputs()) == {*files.coherence_inputs(), *files.topic_inputs()}
    assert not [path for path in files.coherence_inputs() if "/small/" in path]
    assert not [path for path in files.topic_inputs() if "/latents/" in path or "perplexity" in path]
    assert len(files.topic_tables()) == 9
    assert files.topic_figures() == ["results/studies/own/topic-figures"]


def test_a_study_without_topics(folder):
    write(folder / "studies/own.yaml", study(topics=False))
    files = files_of(folder)
    assert files.description()["topics"] is None
    assert files.topic_inputs() == files.topic_tables() == files.topic_figures() == []
    assert files.project.topic_sources("own") == files.project.topic_corpora("own") == []
    assert set(files.project.describe("own")["registry"]["critics"]) == {"transitions-demo"}


def test_tables_and_figures_of_topics_name_no_more_files_than_they_compare(folder):
    whole = {**TABLE, "name": "table14", "kind": "outliers", "corpora": ["mine", "other"]}
    whole["generators"] = ["ngram-shuffled", "theirs"]
    write(folder / "studies/own.yaml", study(tables=[TABLE, whole], figures=[FIGURE]))
    files = files_of(folder)
    small, large = files.part("table9"), files.part("table14")
    assert small["part"]["kind"] == "topics"
    assert [(s["corpus"], s["generator"]) for s in small["topics"]["sources"]] == [("mine", "theirs")]
    assert [corpus["corpus"] for corpus in large["topics"]["corpora"]] == ["mine", "other"]
    assert [s["generator"] for s in large["topics"]["sources"]] == ["ngram-shuffled"] * 2 + ["theirs"] * 2
    assert files.part_inputs("figure6") == files.part_inputs("table9")
    assert all("/mine/" in path and "ngram-shuffled" not in path for path in files.part_inputs("table9"))
    assert set(files.part_inputs("table14")) == set(files.topic_inputs())


def test_the_manifest_has_the_topic_model_and_every_generator(folder):
    used = project(folder).describe("own")
    assert set(used["registry"]["critics"]) == {"transitions-demo", "small"}
    assert used["registry"]["critics"]["small"]["topics"] == 5
    assert set(used["registry"]["generators"]) == {"theirs", "ngram-shuffled"}
    assert set(used["registry"]["corpora"]) == {"mine", "other"}
    assert {(s["corpus"], s["generator"]) for s in used["sources"]} >= {("other", "ngram-shuffled")}
    assert used["study"]["topics"]["critic"] == "small"


def test_the_number_of_topics_counts_nothing_again_and_the_vocabulary_does():
    shipped = Project({"studies": ["demo"]}, ROOT)
    entry = shipped.registry["critics"]["ctm-demo"]
    fitted = tuple(key for key in entry if key != "vocabulary")
    counted, model = (shipped.spec("critics", "ctm-demo", *keys) for keys in (COUNTED, fitted))
    for key, value in (("topics", 7), ("seed", 3), ("iterations", 9), ("tolerance", 0.1), ("shrinkage", 0.5)):
        before, entry[key] = entry[key], value
        assert shipped.spec("critics", "ctm-demo", *COUNTED) == counted
        assert shipped.spec("critics", "ctm-demo", *fitted) != model
        entry[key] = before
    entry |= {"threads": 8, "gpu": 1, "mem_mb": 9000, "runtime": "9h"}
    assert shipped.spec("critics", "ctm-demo", *fitted) == model
    entry["vocabulary"] = {**entry["vocabulary"], "minimum_count": 2}
    assert shipped.spec("critics", "ctm-demo", *COUNTED) != counted
    assert shipped.spec("critics", "ctm-demo", *fitted) == model


def test_the_rules_parameters_are_all_keys_of_an_entry_that_decide():
    """What `count_words` and `fit_topics` take, together: the whole canonical entry."""
    rules = (ROOT / "rules/topics.smk").read_text()
    named = [line for line in rules.splitlines() if "spec=spec(" in line]
    assert len(named) == 2
    keys = {key for line in named for key in line.split('"')[1::2]} - {"critics", "critic"}
    entry = complete({"kind": "ctm"}, "critics", "an entry")
    assert keys | {"threads", "gpu", "mem_mb", "runtime"} == set(entry)


def test_the_schemas_defaults_are_those_of_the_library():
    from textcritic.critics.ctm import FitOptions
    from textcritic.latents.bags import VocabularyOptions

    entry = restore('{"kind": "ctm"}', "critics")
    assert VocabularyOptions(**entry["vocabulary"]) == VocabularyOptions()
    options = {key: entry[key] for key in ("iterations", "tolerance", "shrinkage", "minibatch", "seed")}
    assert FitOptions(entry["topics"], **options) == FitOptions(entry["topics"])


def test_a_file_of_stop_words_is_an_input(folder):
    paths = Paths(project(folder))
    assert paths.stop_words("small") == ["lists/mine.txt"]
    assert paths.stop_words("ctm-demo") == []


def with_stop_words(folder, stop_words):
    entry = {"kind": "ctm", "vocabulary": {"stop_words": str(stop_words)}}
    write(folder / "registry/critics.yaml", {"small": entry})


def test_stop_words_are_a_list_or_a_file_that_is_there_or_is_fetched(folder):
    fetched = ["results/raw/downloads/mallet-stop-words", "results/raw/unpacked/pubmed/stop.txt"]
    for stop_words in (*STOP_LISTS, "lists/mine.txt", folder / "lists/mine.txt", *fetched):
        with_stop_words(folder, stop_words)
        wanted = [] if stop_words in STOP_LISTS else [str(stop_words)]
        assert Paths(project(folder)).stop_words("small") == wanted
    downloads = project(folder).describe("own")["registry"]["downloads"]
    assert set(downloads) == {"pubmed"}


@pytest.mark.parametrize(
    ("stop_words", "message"),
    [
        ("engish", r"vocabulary: stop_words: there is no file 'engish' in \S+; did you mean 'english'\?"),
        ("lists/mien.txt", r"no file 'lists/mien.txt' in \S+; give none, english or a file with one word a line"),
        ("lists", r"stop_words: there is no file 'lists' in"),
        ("", r"vocabulary.stop_words: '' should be non-empty"),
        (
            "results/raw/downloads/mallet-stopwords",
            r"vocabulary: stop_words: .*downloads.yaml has no entry 'mallet-stopwords'; did you mean 'mallet-stop-",
        ),
        ("results/raw/unpacked/pubmet/stop.txt", r"downloads.yaml has no entry 'pubmet'; did you mean 'pubmed'"),
        ("results/raw/downloads/mallet-stop-words/en.txt", r"no file 'results/raw/downloads/mallet-stop-words/en.txt'"),
        ("results/raw/downloads", r"there is no file 'results/raw/downloads' in"),
    ],
)
def test_stop_words_that_are_nowhere_are_refused_before_anything_runs(folder, stop_words, message):
    with_stop_words(folder, stop_words)
    with pytest.raises(TextcriticError, match=rf"registry/critics.yaml: small: .*{message}") as refused:
        project(folder)
    assert "\n" not in str(refused.value)


def test_the_stop_words_of_a_critic_that_no_study_uses_may_be_elsewhere(folder):
    with_stop_words(folder, "of/another/folder.txt")
    write(folder / "studies/own.yaml", study(topics=False))
    assert project(folder).topic_sources("own") == []


def test_what_the_manifest_records_is_the_same_on_another_machine(folder):
    before = project(folder).describe("own")
    entry = {"kind": "ctm", "topics": 5, "vocabulary": {"stop_words": "lists/mine.txt"}}
    resources = {"threads": 8, "gpu": 1, "mem_mb": 9000, "runtime": "9h"}
    write(folder / "registry/critics.yaml", {"small": {**entry, **resources}})
    assert project(folder).describe("own") == before
    write(folder / "registry/critics.yaml", {"small": {**entry, "tolerance": 0.1}})
    assert project(folder).describe("own") != before


def test_a_fit_takes_its_threads_but_for_two_beside_a_gpu(folder):
    for entry, threads in (({}, 1), ({"threads": 16}, 16), ({"threads": 16, "gpu": 1}, 2), ({"gpu": 1}, 1)):
        write(folder / "registry/critics.yaml", {"small": {"kind": "ctm", **entry}})
        assert project(folder).threads_of_fit("critics", "small") == threads


def test_the_block_that_ones_own_study_shows_goes_together():
    lines = (ROOT / "config/studies/own-text.yaml").read_text().splitlines()
    start = lines.index("# topics:")
    shown = yaml.safe_load("\n".join(line.removeprefix("# ") for line in lines[start:]))
    whole = complete({**yaml.safe_load("\n".join(lines)), **shown}, "study", "own-text")
    check_study(whole, Project({"studies": ["own-text"]}, ROOT).entry, "own-text")
    assert whole["topics"]["sources"][0]["settings"] == ["wo-title"]


def test_names_are_told_apart_for_constraints(folder):
    assert project(folder).names("critics", kind=["ctm"]).split("|") == ["ctm", "ctm-demo", "small"]


def test_a_model_of_shuffled_words_is_another_and_all_others_stay_what_they_were():
    shipped = Project({"studies": ["demo"]}, ROOT)
    assert "shuffled" in shipped.spec("generators", "ngram-shuffled")
    assert "shuffled" not in shipped.spec("generators", "ngram-3")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"critic": "transitions"}, r"topics.critic: transitions is of kind transitions; name an entry of kind ctm"),
        ({"critic": "smal"}, r"critics.yaml has no entry 'smal'; did you mean 'small'\?"),
        ({"corpora": ["drawn"]}, r"topics.sources: drawn is a process; its sources stand under synthetic"),
        ({"corpora": ["mien"]}, r"corpora.yaml has no entry 'mien'; did you mean 'mine'\?"),
        ({"generators": ["segments"]}, r"topics.sources: segments is of kind hsmm, which is for"),
        ({"generators": ["transformer-demo"]}, r"topics.sources: transformer-demo has the encoding symbols"),
        ({"decodings": ["demo-top-k-50"]}, r"topics.sources: ngram-shuffled is an n-gram model, .* top_k"),
        ({"decodings": ["sequences-given"]}, r"topics.sources: sequences-given has `stop: given`"),
        (
            {"generators": ["theirs", "twin"]},
            r"own.yaml: topics: the generators theirs and twin have the same label 'theirs'; give one another",
        ),
        ({"settings": ["titles"]}, r"topics.sources.0.settings.0: 'titles' is not one of w-title, wo-title"),
        ({"tables": [TABLE], "topics": False}, r"tables: table9: topics are of topics, which the study has not; add"),
        ({"figures": [FIGURE], "topics": False}, r"figures: figure6: covariances are of topics, which the study has"),
        ({"tables": [{**TABLE, "corpora": ["drawn"]}]}, r"table9: drawn is not among the corpora of the sources of"),
        (
            {"tables": [{**TABLE, "generators": ["ngram-3"]}]},
            r"tables: table9: ngram-3 on mine is not among the sources of topics",
        ),
        ({"tables": [{**TABLE, "generators": []}]}, r"table9: generators: none; name those that it compares"),
        ({"tables": [TABLE, {**TABLE, "kind": "outliers"}]}, r"tables: table9 stands twice"),
        ({"tables": [{**TABLE, "kind": "topic"}]}, r"tables.0.kind: 'topic' is not one of"),
        ({"figures": [{**FIGURE, "kind": "heatmap"}]}, r"figures.0.kind: 'heatmap' is not one of"),
        ({"figures": [{**FIGURE, "generators": ["ngram-3"]}]}, r"figure6: ngram-3 on mine is not among the sources of"),
        (
            {"figures": [{**FIGURE, "kind": "transition-errors", "generators": ["ngram-shuffled"]}]},
            r"figures: figure6: ngram-shuffled on mine is not among the sources$",
        ),
    ],
)
def test_what_does_not_go_together_is_refused_in_a_line(folder, changes, message):
    assert_refused(folder, study(**changes), message)


def test_a_topic_model_is_no_critic_of_coherence(folder):
    write(folder / "studies/own.yaml", {**study(), "critic": "small"})
    with pytest.raises(TextcriticError, match=r"own.yaml: critic: small is of kind ctm; name an entry of kind trans"):
        project(folder)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"topics": 1}, r"critics.yaml: new: topics: 1 is less than the minimum of 2"),
        ({"topics": "many"}, r"new: topics: 'many' should be of type integer"),
        ({"topcis": 20}, r"new: unknown key 'topcis'; did you mean 'topics'\?"),
        ({"shrinkage": 1.5}, r"new: shrinkage: 1.5 is greater than the maximum of 1"),
        ({"minibatch": 1}, r"new: minibatch: 1 is less than the minimum of 2"),
        ({"vocabulary": {"mode": "released"}}, r"new: vocabulary.mode: 'released' is not one of paper, as_released"),
        ({"vocabulary": {"placeholders": ["xmath", ""]}}, r"new: vocabulary.placeholders.1: '' should be non-empty"),
        ({"vocabulary": {"maximum_share": 0}}, r"new: vocabulary.maximum_share: 0 "),
        ({"vocabulary": {"stopwords": "english"}}, r"vocabulary: unknown key 'stopwords'; did you mean 'stop_words'\?"),
    ],
)
def test_registry_faults(folder, entry, message):
    write(folder / "registry/critics.yaml", {"new": {"kind": "ctm", **entry}})
    with pytest.raises(TextcriticError, match=message):
        project(folder)


def test_every_published_value_of_topics_is_there():
    from textcritic.report.published import read_published

    values = read_published(ROOT / "config/published/model-criticism.csv").in_tables("9", "14").values
    assert len(values) == 9 + 2
    metric = "latent_nll_at_mean: 100 topics"
    theirs = [values[(corpus, "", "data", "", metric)] for corpus in ("pubmed", "arxiv", "wiki")]
    assert theirs == [174.43, 163.95, 124.70]
    assert values[("arxiv", "wo-title", "gpt2-small", "", "outlier_nll_at_mean: 100 topics, example 1")] == 280.88
