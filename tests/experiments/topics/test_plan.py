"""What topics in the study of the model criticism paper are made of."""

from pathlib import Path

import pytest

from textcritic.plan.project import Project

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def topics():
    return Project({"studies": ["model-criticism"]}, ROOT, ROOT).studies["model-criticism"].experiments["topics"]


def test_a_part_names_no_more_files_than_it_compares(topics):
    files = topics.files("table14")
    assert [fitted.corpus for fitted in files.data] == ["arxiv"]
    assert {(s.corpus, s.generator) for s in files.samples} == {("arxiv", "gpt2-small")}
    assert {s.corpus for s in topics.files("figure6").samples} == {"wiki"}
    assert {s.corpus for s in topics.files("table9").samples} == {"pubmed", "arxiv", "wiki"}
    assert set(files.paths()) < set(topics.files().paths())


def test_the_files_of_a_corpus_and_of_a_sample(topics):
    files = topics.files("table14")
    assert str(files.data[0].critic) == "results/critics/ctm/arxiv/critic.npz"
    sample = next(sample for sample in files.samples if sample.setting == "wo-title")
    tail = "arxiv/samples/wo-title/gpt2-small/seed1/ancestral/draw1.parquet"
    assert str(sample.posteriors) == f"results/topics/ctm/{tail}"
    assert str(sample.scores) == f"results/scores/ctm/{tail}"
    assert not sample.baseline


def test_its_figures_are_those_of_the_paper(topics):
    folder = "results/studies/model-criticism/topics"
    assert topics.figure_folders() == [f"{folder}/{name}" for name in ("figures", "figure6", "figure8", "figure9")]
