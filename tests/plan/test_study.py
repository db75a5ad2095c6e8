"""A study is a list of experiments: what it may hold, and what is refused in one line."""

import pytest
from own_study import assert_refused, experiment, own_folder, project, study, write

from textcritic.errors import TextcriticError
from textcritic.plan.sources import Source

SAMPLES = {"corpora": ["mine"], "settings": ["wo-title"], "generators": ["theirs"], "decodings": ["given"]}
COHERENCE = {"kind": "coherence", "critic": "transitions-demo", "sources": [SAMPLES]}
TOPICS = {"kind": "topics", "critic": "ctm-demo", "sources": [SAMPLES]}
CORPORA = {"kind": "corpora", "corpora": ["mine"]}
SEQUENCES = {"corpora": ["process-demo"], "generators": ["hsmm-demo"], "decodings": ["sequences-demo"]}
PROCESS = {"kind": "process", "critic": "known-process", "sources": [SEQUENCES]}
TABLE = {"name": "table9", "of": "nll", "caption": "Topics"}
FIGURE = {"name": "figure6", "of": "covariances"}


@pytest.fixture
def folder(tmp_path):
    return own_folder(
        tmp_path,
        study(COHERENCE),
        corpora={
            "mine": {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}},
            "other": {"extractor": "jsonl", "options": {"paths": ["other.jsonl"]}},
        },
        generators={
            "theirs": {"kind": "file", "path": "theirs.jsonl"},
            "twin": {"kind": "file", "path": "twin.jsonl", "label": "theirs"},
        },
    )


def with_(block, **changes):
    return {**block, **changes}


@pytest.mark.parametrize("block", [COHERENCE, TOPICS, PROCESS, CORPORA], ids=lambda block: block["kind"])
def test_every_kind_can_stand_alone(folder, block):
    """A study of topics, or of a known process, has no section titles."""
    write(folder / "studies/own.yaml", study(block))
    found = project(folder).studies["own"]
    ((name, only),) = found.experiments.items()
    assert name == only.name == only.kind == block["kind"]
    assert only.folder == f"results/studies/own/{name}"
    assert only.files().paths()
    assert (
        found.corpora() == only.corpora() == block.get("corpora", [SEQUENCES, SAMPLES][block is not PROCESS]["corpora"])
    )


def test_experiments_stand_in_the_order_of_the_yaml_and_share_their_samples(folder):
    write(folder / "studies/own.yaml", study(PROCESS, TOPICS, CORPORA, COHERENCE, summary="Why."))
    found = project(folder).studies["own"]
    assert list(found.experiments) == ["process", "topics", "corpora", "coherence"]
    assert (found.name, found.title, found.summary) == ("own", "Own", "Why.")
    assert found.corpora() == ["process-demo", "mine"]
    assert found.sources() == [
        Source("process-demo", "wo-title", "hsmm-demo", "sequences-demo", 1),
        Source("mine", "wo-title", "theirs", "given", 1),
    ]
    assert found.experiments["corpora"].sources() == []


def test_two_experiments_of_one_kind_have_names_and_folders_of_their_own(folder):
    blocks = [with_(TOPICS, name=f"topics-{k}", critic=critic) for k, critic in ((20, "ctm-demo"), (100, "ctm"))]
    write(folder / "studies/own.yaml", study(*blocks))
    found = project(folder)
    small, large = found.studies["own"].experiments.values()
    assert (small.kind, large.kind) == ("topics", "topics")
    assert small.folder == "results/studies/own/topics-20"
    assert found.experiments_of("topics") == "topics-100|topics-20"
    assert found.experiments_of("coherence") == "(?!)"
    assert not {"ctm-demo", "ctm"} & {part for path in small.table_files() for part in path.split("/")}
    assert any("/critics/ctm/" in path for path in large.files().paths())
    assert not any("/critics/ctm/" in path for path in small.files().paths())
    assert set(found.describe("own")["registry"]["critics"]) == {"ctm", "ctm-demo"}


def test_parts_are_what_a_paper_numbers_and_all_of_the_experiment_by_default(folder):
    sources = [with_(SAMPLES, corpora=["mine", "other"], generators=["theirs", "ngram-3"], decodings=["given"])]
    tables = [TABLE, {**TABLE, "name": "table14", "of": "outliers", "corpora": ["other"], "generators": ["ngram-3"]}]
    write(folder / "studies/own.yaml", study(with_(TOPICS, sources=sources, tables=tables, figures=[FIGURE]), CORPORA))
    found = project(folder).studies["own"]
    topics = found.experiments["topics"]
    assert {part: owner.name for part, owner in found.parts().items()} == dict.fromkeys(
        ("table9", "table14", "figure6"), "topics"
    )
    assert topics.files("table9") == topics.files("figure6")
    assert set(topics.files().paths()) - set(topics.files("table9").paths()) == {
        f"results/studies/own/topics/power/{corpus}.parquet" for corpus in ("mine", "other")
    }
    corpora, compared = topics.compared("table14")
    assert (corpora, compared) == (["other"], [Source("other", "wo-title", "ngram-3", "given", 1)])
    assert set(topics.files("table14").paths()) < set(topics.files().paths())
    assert topics.figure_folders() == ["results/studies/own/topics/figures", "results/studies/own/topics/figure6"]
    tables = ("topics", "topic-words", "topic-outliers", "topic-power", "table9", "table14")
    assert topics.table_files() == [
        f"results/studies/own/topics/tables/{table}.{suffix}" for table in tables for suffix in ("csv", "tex", "html")
    ]
    assert topics.table_files("topics") == topics.table_files()[:3]
    assert set(topics.artefacts()) == {*topics.files().paths(), *topics.table_files()}


def test_a_key_of_an_experiment_at_the_head_of_a_study_is_refused(folder):
    assert_refused(folder, study(COHERENCE, critic="transitions-demo"), r"own.yaml: unknown key 'critic'")


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([], r"own.yaml: experiments: \[\] "),
        (
            [{**COHERENCE, "kind": "coherance"}],
            r"experiments.1: kind: 'coherance' is not one of coherence, coreference, corpora, ",
        ),
        ([COHERENCE, {"critic": "ctm"}], r"own.yaml: experiments.1: the key 'kind' is missing"),
        (
            [COHERENCE, COHERENCE],
            r"experiments.2 \(coherence\): another experiment has the name 'coherence'; give this",
        ),
        (
            [with_(TOPICS, name="many"), with_(COHERENCE, name="many")],
            r"experiments.2 \(many\): another experiment has the name 'many'",
        ),
        (
            [with_(TOPICS, name="coherence")],
            r"experiments.1 \(coherence\): 'coherence' is the name of another kind of experiment; choose another",
        ),
        ([with_(TOPICS, name="Many Topics")], r"experiments.1 \(Many Topics\): name: 'Many Topics' does not match"),
        ([with_(TOPICS, name=100)], r"experiments.1 \(100\): name: 100 should be text"),
        (
            [with_(TOPICS, tables=[TABLE, TABLE])],
            r"experiments.1 \(topics\): table9 is there twice; rename one",
        ),
        (
            [with_(TOPICS, tables=[TABLE]), with_(TOPICS, name="again", tables=[TABLE])],
            r"experiments.2 \(again\): table9 is there twice; rename one",
        ),
        ([with_(TOPICS, tables=[{**TABLE, "name": "figure9"}])], r"tables.0.name: 'figure9' does not match"),
        ([with_(TOPICS, tables=[{**TABLE, "name": "table09"}])], r"tables.0.name: 'table09' does not match"),
        ([with_(TOPICS, figures=[{**FIGURE, "name": "table9"}])], r"figures.0.name: 'table9' does not match"),
        ([with_(TOPICS, tables=[{**TABLE, "corpora": ["other"]}])], r"table9: other is not among the experiment's cor"),
        (
            [with_(TOPICS, figures=[{**FIGURE, "generators": ["ngram-3"]}])],
            r"experiments.1 \(topics\): figure6: ngram-3 on mine is not among the sources of this experiment",
        ),
        (
            [with_(CORPORA, tables=[{**TABLE, "of": "statistics", "generators": ["theirs"]}])],
            r"experiments.1 \(corpora\): table9: theirs on mine is not among the sources",
        ),
    ],
)
def test_what_does_not_go_together_is_refused_in_a_line(folder, blocks, message):
    assert_refused(folder, study(*blocks), message)


@pytest.mark.parametrize(
    ("block", "wrong", "right"),
    [
        (block, wrong, right)
        for block in (COHERENCE, TOPICS, PROCESS)
        for wrong, right in (("crtic", "critic"), ("source", "sources"), ("table", "tables"), ("nmae", "name"))
    ]
    + [(COHERENCE, "audits", "audit"), (CORPORA, "corpra", "corpora"), (CORPORA, "figures_", None)],
)
def test_a_misspelt_key_of_a_block_is_named_with_file_and_experiment(folder, block, wrong, right):
    hint = rf"did you mean '{right}'\?" if right else "known keys are "
    message = rf"own.yaml: experiments.2 \(second\): unknown key '{wrong}'; {hint}"
    misspelt = {**block, "name": "second", wrong: 1}
    assert_refused(folder, study(with_(COHERENCE, name="first"), misspelt), message)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (with_(COHERENCE, sources=[{**SAMPLES, "generator": []}]), r"sources.0: unknown key 'generator'; .* 'gener"),
        (
            with_(COHERENCE, sources=[{**SAMPLES, "settings": ["with-title"]}]),
            r"sources.0.settings.0: 'with-title' is not",
        ),
        (
            with_(COHERENCE, sources=[{**SAMPLES, "seeds": ["one"]}]),
            r"sources.0.seeds.0: 'one' should be a whole number",
        ),
        (
            with_(COHERENCE, sources=[{**SAMPLES, "seeds": ["1"]}]),
            r"sources.0.seeds.0: '1' should be a whole number; YAML reads it as text, write 1 without quotes",
        ),
        (with_(COHERENCE, sources=[]), r"sources: \[\] "),
        (with_(TOPICS, tables=[{**TABLE, "off": "nll"}]), r"tables.0: unknown key 'off'; did you mean 'of'\?"),
        (with_(TOPICS, tables=[{"name": "table9", "of": "nll"}]), r"tables.0: the key 'caption' is missing"),
        (with_(TOPICS, tables=[{**TABLE, "of": "topic"}]), r"tables.0.of: 'topic' is not one of nll, outliers"),
        (with_(TOPICS, figures=[{**FIGURE, "of": "heatmap"}]), r"figures.0.of: 'heatmap' is not one of covariances"),
        (with_(TOPICS, figures=[{**FIGURE, "caption": "x"}]), r"figures.0: unknown key 'caption'"),
    ],
)
def test_faults_inside_a_block_are_named_by_their_keys(folder, block, message):
    assert_refused(folder, study(block), rf"own.yaml: experiments.1 \({block['kind']}\): {message}")


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (
            with_(COHERENCE, sources=[{**SAMPLES, "generators": ["gpt2-demoo"]}]),
            r"sources.generators: config/registry/generators.yaml has no entry 'gpt2-demoo'; did you mean 'gpt2-demo",
        ),
        (
            with_(COHERENCE, sources=[{**SAMPLES, "corpora": ["wikipedia"]}]),
            r"sources.corpora: config/registry/corpora.yaml has no entry 'wikipedia'; ",
        ),
        (
            with_(TOPICS, sources=[SAMPLES, {**SAMPLES, "decodings": ["gven"]}]),
            r"sources.decodings: .*decodings.yaml has no entry 'gven'; did you mean 'given'\?",
        ),
        (with_(COHERENCE, audit=[{**SAMPLES, "corpora": ["mien"]}]), r"audit.corpora: .* 'mien'; did you mean 'mine'"),
        (with_(PROCESS, critic="known"), r"critic: config/registry/critics.yaml has no entry 'known'"),
        (with_(CORPORA, corpora=["mine", "mien"]), r"corpora: .*corpora.yaml has no entry 'mien'; did you mean 'mine'"),
    ],
)
def test_a_wrong_name_is_told_with_the_key_that_names_it(folder, block, message):
    assert_refused(folder, study(block), rf"own.yaml: experiments.1 \({block['kind']}\): {message}")


def test_values_of_a_paper_that_are_nowhere_are_refused(folder):
    write(folder / "studies/own.yaml", study(COHERENCE, published="nature"))
    with pytest.raises(TextcriticError, match=r"own.yaml: published: there is no folder 'config/published/nature' in "):
        project(folder)


def test_keys_of_a_study_are_checked(folder):
    assert_refused(folder, study(COHERENCE, sumary="x"), r"own.yaml: unknown key 'sumary'; did you mean 'summary'\?")
    assert_refused(folder, {"experiments": [COHERENCE]}, r"own.yaml: the key 'title' is missing")
    assert_refused(folder, ["title"], r"own.yaml: \['title'\] should be a mapping of keys to values")
    write(folder / "studies/Bad_Name.yaml", study(COHERENCE))
    with pytest.raises(TextcriticError, match=r"'Bad_Name': a name is lower-case letters"):
        project(folder, studies=["Bad_Name"])


def test_a_request_says_all_that_a_job_needs_and_no_more(folder):
    """What Snakemake compares: a table is made again when the files that it compares change, or the kind's version."""
    write(folder / "studies/own.yaml", study(with_(TOPICS, tables=[TABLE], figures=[FIGURE])))
    topics = experiment(folder, "topics")
    assert topics.request() != topics.section_request()
    assert '"part": null' in topics.request()["job"]
    assert '"name": "table9"' in topics.request("table9")["job"]
    assert str(folder) not in str(topics.section_request())
    before = {part: topics.request(part) for part in (None, "table9")}
    changed = {**TABLE, "caption": "Other words"}
    write(folder / "studies/own.yaml", study(with_(TOPICS, tables=[changed], figures=[FIGURE])))
    again = experiment(folder, "topics")
    assert again.request() == before[None]
    assert again.request("table9") != before["table9"]


def test_a_name_belongs_to_one_kind_in_all_studies(folder):
    """Rules know a kind by the names of its experiments."""
    write(folder / "studies/own.yaml", study(with_(COHERENCE, name="main")))
    write(folder / "studies/other.yaml", study(with_(CORPORA, name="main")))
    with pytest.raises(TextcriticError, match=r"other.yaml: experiments.1 \(main\): another study has an experiment"):
        project(folder, studies=["own", "other"])


@pytest.mark.parametrize("name", ["finding", "definitions", "provenance"])
def test_an_experiment_has_no_name_that_is_a_heading_of_the_report(folder, name):
    assert_refused(folder, study(with_(CORPORA, name=name)), rf"'{name}' is a heading of every report")


def test_published_values_of_one_s_own_stand_in_the_working_directory(folder):
    values = folder / "config/published/nature/corpora.csv"
    values.parent.mkdir(parents=True)
    values.touch()
    write(folder / "studies/own.yaml", study(CORPORA, COHERENCE, published="nature"))
    experiments = project(folder).studies["own"].experiments
    assert experiments["corpora"].published == ["config/published/nature/corpora.csv"]
    assert experiments["coherence"].published == []
