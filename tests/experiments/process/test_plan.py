"""What a known process in the study of the model criticism paper is made of."""

from pathlib import Path

import pytest

from textcritic.plan.project import Project

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def experiments():
    return Project({"studies": ["model-criticism"]}, ROOT, ROOT).studies["model-criticism"].experiments


def test_the_files_of_the_process_and_of_its_samples(experiments):
    files = experiments["process"].files()
    (data,) = files.data
    assert str(data.process) == "results/corpora/process/process.npz"
    assert str(data.scores) == "results/scores/known-process/process/data/test.parquet"
    sample = next(sample for sample in files.samples if sample.decoding == "sequences-given")
    place = "process/wo-title/hsmm-800-adam/seed1"
    assert str(sample.scores) == (
        "results/scores/known-process/process/samples/wo-title/hsmm-800-adam/seed1/sequences-given/draw1.parquet"
    )
    assert str(sample.rejected) == f"results/samples/{place}/sequences-given/draw1.rejected.parquet"
    assert str(sample.perplexity) == f"results/generators/{place}/perplexity.json"
    assert files.decodings["sequences-given"]["stop"] == "given"
    assert all("process" in path for path in files.paths())


def test_the_experiments_of_the_study_need_nothing_of_each_other_but_articles_and_counts(experiments):
    coherence, process, topics = (set(experiments[name].files().paths()) for name in ("coherence", "process", "topics"))
    assert not process & (coherence | topics)
    shared = coherence & topics
    assert shared
    assert all(path.startswith(("results/samples/", "results/corpora/")) for path in shared)


def test_a_study_without_a_process_has_no_such_experiment():
    own = Project({"studies": ["own-text"]}, ROOT, ROOT).studies["own-text"]
    assert "process" not in {experiment.kind for experiment in own.experiments.values()}
