"""The tables and figures of papers as targets: their names, their files, and what they say where there is none."""

import pytest
from own_study import ROOT, own_folder, project, study, write

from textcritic.plan.project import Project

TEXT = {"corpora": ["docstrings"], "generators": ["ngram-3"], "decodings": ["demo"]}
NLL = {"name": "table9", "of": "nll", "caption": "Topics"}
COVARIANCES = {"name": "figure6", "of": "covariances"}
NUMBERED = {f"table{n}" for n in range(1, 8)} | {f"figure{n}" for n in range(1, 10)}  # of Beyond Perplexity
TITLES = {"name": "table2", "of": "coherence", "caption": "Titles"}


@pytest.fixture
def folder(tmp_path):
    topics = {"kind": "topics", "critic": "ctm-demo", "sources": [TEXT], "tables": [NLL], "figures": [COVARIANCES]}
    return own_folder(tmp_path, study({**topics, "name": "my-topics"}))


def test_every_numbered_part_of_the_papers_study_is_a_target():
    shipped = Project({"studies": ["model-criticism"]}, ROOT)
    parts = set(shipped.studies["model-criticism"].parts())
    tables = {f"table{n}" for n in range(1, 19)}
    assert parts == tables | {f"figure{n}" for n in range(4, 14)}
    targets = shipped.targets()
    others = {f"beyond_perplexity_{part}" for part in NUMBERED}
    others |= {f"latent_lms_{part}" for part in (*(f"table{n}" for n in (1, 2)), *(f"figure{n}" for n in range(1, 5)))}
    others |= {f"document_coherence_{part}" for part in (*(f"table{n}" for n in range(1, 8)), "figure2", "figure3")}
    others |= {"document_coherence_demo_table3", "document_coherence_demo_table7"}
    assert set(targets) == parts | NUMBERED | others | {f"model_criticism_{part}" for part in parts}
    for part in parts:
        assert targets[part] == targets[f"model_criticism_{part}"]
        assert not targets[part].refusal
    folder = "results/studies/model-criticism"
    assert targets["table2"].path == f"{folder}/coherence/tables/table2.csv"
    assert targets["table1"].path == f"{folder}/process/tables/table1.csv"
    assert targets["table11"].path == f"{folder}/corpora/tables/table11.csv"
    assert targets["figure6"].path == f"{folder}/topics/figure6"
    assert list(targets) == sorted(targets)


def test_a_target_of_a_study_that_is_not_configured_says_how_to_configure_it():
    targets = Project({"studies": ["demo"]}, ROOT).targets()
    for name in ("table17", "model_criticism_table2", "figure13", "model_criticism_figure6"):
        assert not targets[name].path
        assert targets[name].refusal.startswith(
            f"{name} belongs to the study model-criticism, which is not configured; add --config"
            " studies=\"['model-criticism']\""
        )
    for name, studies in (
        ("table2", "beyond-perplexity, document-coherence, latent-lms and"),
        ("figure6", "beyond-perplexity and"),
    ):
        assert not targets[name].path
        assert targets[name].refusal.startswith(
            f"{name} belongs to the studies {studies} model-criticism, none of which is configured; add "
            "one of them, e.g. --config studies=\"['beyond-perplexity']\""
        )


def test_two_configured_studies_with_one_number_are_asked_for_by_full_name(folder):
    both = {"studies": ["own", "model-criticism"], "study_folders": ["studies", "config/studies"]}
    targets = project(folder, **both).targets()
    refusal = "several configured studies have a table9; ask for own_table9 and model_criticism_table9"
    assert targets["table9"].refusal == refusal
    assert targets["own_table9"].path == "results/studies/own/my-topics/tables/table9.csv"
    assert targets["own_figure6"].path == "results/studies/own/my-topics/figure6"
    assert targets["model_criticism_table9"].path == "results/studies/model-criticism/topics/tables/table9.csv"
    assert targets["table2"].path == "results/studies/model-criticism/coherence/tables/table2.csv"


def test_the_short_name_is_that_of_the_only_configured_study_that_has_it(folder):
    folders = {"study_folders": ["studies", "config/studies"]}
    targets = project(folder, **folders).targets()
    assert targets["table9"].path == targets["own_table9"].path == "results/studies/own/my-topics/tables/table9.csv"
    assert "belongs to the study model-criticism" in targets["model_criticism_table9"].refusal
    assert (
        "belongs to the studies beyond-perplexity, document-coherence, latent-lms and model-criticism"
        in targets["table2"].refusal
    )


def test_a_study_that_is_not_configured_need_not_be_right(folder):
    """Nothing of it is checked; what can be read off it are names."""
    other = {"kind": "coherence", "tables": [TITLES, {"of": "x"}, "odd"], "figures": None}
    for content in ([1, 2], {"experiments": ["odd"]}, {"experiments": [other]}):
        write(folder / "studies/spoilt.yaml", content)
        targets = project(folder).targets()
        assert targets["own_table9"].path
    assert "belongs to the study spoilt" in targets["table2"].refusal
    assert "belongs to the study spoilt" in targets["spoilt_table2"].refusal


@pytest.mark.parametrize(
    "text",
    [
        "title: [half",
        "- title",
        "title: Half\nexperiments:\n",
        "title: Half\nexperiments: [topics, 5]\n",
        "title: Half\nexperiments: [{kind: topics, tables: 5}]\n",
        "title: Half\nexperiments: [{kind: topics, tables: [table3, {of: nll}, {name: 5}, {name: chart}]}]\n",
    ],
)
def test_a_half_written_study_that_is_not_configured_stops_nothing(folder, text):
    before = project(folder).targets()
    (folder / "studies/half.yaml").write_text(text)
    assert project(folder).targets() == before
