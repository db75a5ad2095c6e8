"""What a dry run of the studies on intruder sentences plans."""

import pytest
from plan import jobs, planned, put_lock, snakemake

PAPER = "studies=['document-coherence']"


@pytest.fixture
def folder(tmp_path):
    """A working directory with the commits of pretrained models."""
    put_lock(tmp_path)
    return tmp_path


def test_the_papers_study_is_planned_whole(folder):
    run = snakemake(folder, "--dry-run", "--config", PAPER)
    assert run.returncode == 0, run.stderr + run.stdout
    found, plan = jobs(run.stdout), planned(run.stdout)
    assert found["build_intruders"] == found["make_probes"] == 2
    trained = [w["detector"] for rule, w, _ in plan if rule == "train_detector"]
    # 13 detectors, 5 of artefacts and frozen, and 3 of ours, on both corpora; 5 without training on one.
    assert len(trained) == found["train_detector"] == 2 * (13 + 5 + 3) + 5
    assert found["predict_documents"] == found["predict_probes"] == 4 * 13 + 2 * (5 + 3) + 5
    assert found["cut_samples"] == 4
    assert found["predict_samples"] == 2 * 4
    assert found["make_part_table"] == 7
    assert found["download_file"] >= 9


@pytest.mark.parametrize(
    ("target", "rules"),
    [
        ("document_coherence_table2", {"make_part_table"}),
        ("document_coherence_table4", {"make_part_table"}),
        ("document_coherence_table5", {"make_part_table", "download_file"}),
        ("document_coherence_figure2", {"make_figures", "download_file"}),
    ],
)
def test_tables_of_people_need_their_votes_alone(target, rules, tmp_path):
    run = snakemake(tmp_path, "--dry-run", "--config", PAPER, "--", target)
    assert run.returncode == 0, run.stderr + run.stdout
    assert {rule for rule, _, _ in planned(run.stdout)} - {target} == rules


def test_the_demo_downloads_nothing_and_needs_no_gpu(tmp_path):
    run = snakemake(tmp_path, "--dry-run", "--config", "studies=['document-coherence-demo']")
    assert run.returncode == 0, run.stderr + run.stdout
    found, plan = jobs(run.stdout), planned(run.stdout)
    assert not any(rule.startswith("download") for rule in found)
    assert all(resources.get("gpu", "0") == "0" for _, _, resources in plan)
    assert found["build_intruders"] == 3
    # One detector across domains, four at home, and four without training on one corpus.
    assert found["predict_documents"] == 9 + 3 * 4 + 4
    assert found["predict_samples"] == 2 * 2
