"""A small study on a real SLURM: whole, with a job that fails, and with a training on two GPUs that is cancelled."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from cluster import ROOT, THREADS, TIMEOUT, Run, environments, output, wait_for
from submissions import planned_jobs, submissions

pytestmark = pytest.mark.slurm

ON_GPU = [
    "collected_collect_samples_infer_sample_titles",
    "infer_data_titles",
    "perplexities-recipes-w-title_measure_perplexity",
    "sample_causal",
    "train_causal",
    "train_classifier",
]
SPOILT = "results/corpora/spoilt/statistics.json"
INDEPENDENT = "results/generators/recipes/wo-title/ngram-2/seed1/perplexity.json"
CANCELLED = "results/generators/recipes/w-title/gpt2-patient/seed1"
STEPS = 1000  # of gpt2-patient, see registry/generators.yaml
BAD_LINE = 7


# Made by a group, of which the first member is the critic that the second scores by.
SCORES = "scores-transitions-micro-recipes"
GROUP = f"{SCORES}_fit_transitions_score_samples"
CRITIC = "results/critics/transitions-micro/recipes/critic.json"
SCORED = "results/scores/transitions-micro/recipes/samples/w-title/gpt2-micro/seed1/micro-top-k/draw1.parquet"


class Mishaps(NamedTuple):
    """A run with a bad line in a corpus, a cancelled training and a cancelled group; the same command after mending."""

    first: Run
    second: Run
    gpus: set[str]  # CUDA_VISIBLE_DEVICES of the training's processes
    scored: bytes  # what the group had written before


@pytest.fixture(scope="module")
def folder(cluster: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("study")
    subprocess.run([sys.executable, ROOT / "tests/micro/recipes.py", made], check=True)
    return made


@pytest.fixture(scope="module")
def counted(folder: Path) -> int:
    """The submissions of the study, counted before the first."""
    return submissions(planned_jobs(Run(folder, options=["--dry-run"]).wait().said))


@pytest.fixture(scope="module")
def study(folder: Path, counted: int) -> Run:
    """The study of studies/queue.yaml, from raw text to report."""
    return Run(folder).wait()


@pytest.fixture(scope="module")
def mishaps(study: Run) -> Mishaps:
    assert study.code == 0, "the study did not get through"
    folder = study.folder
    lines = (folder / "recipes.jsonl").read_text().splitlines(keepends=True)
    half = lines[BAD_LINE - 1][:40] + "\n"
    (folder / "spoilt.jsonl").write_text("".join([*lines[: BAD_LINE - 1], half, *lines[BAD_LINE:]]))
    targets = SPOILT, INDEPENDENT, f"{CANCELLED}/training.json", SCORED
    scored = (folder / SCORED).read_bytes()
    for path in (CRITIC, SCORED):
        (folder / path).unlink()

    first = Run(folder, *targets)
    try:
        wait_for((folder / CRITIC).exists, TIMEOUT, "the first file of the group")
        output("scancel", next(job["JobId"] for job in first.jobs() if job["rule"].startswith(SCORES)))
        wait_for(lambda: list((folder / CANCELLED / "checkpoints").glob("state-*.pt")), TIMEOUT, "a checkpoint")
        training = next(job["JobId"] for job in first.jobs() if job["rule"] == "train_causal")
        gpus = {variables.get("CUDA_VISIBLE_DEVICES", "") for variables in environments(training)}
        output("scancel", training)
        first.wait()
    finally:
        first.stop()

    (folder / "spoilt.jsonl").write_text("".join(lines))
    return Mishaps(first, Run(folder, *targets).wait(), gpus, scored)


def test_whole_study(study: Run, counted: int) -> None:
    assert study.code == 0, study.brief()
    assert {"results/studies/queue/report.html", "results/studies/queue/manifest.json"} <= study.results
    jobs = study.jobs()
    assert len(jobs) == counted
    assert {job["JobState"] for job in jobs} == {"COMPLETED"}
    assert sorted({job["rule"] for job in jobs if job.get("TresPerJob") == "gres:gpu:1"}) == ON_GPU
    # Members of a group run one after the other: cores and memory of the largest, the time of all.
    scores = next(job for job in jobs if job["rule"].startswith(SCORES))
    assert scores["rule"] == f"{SCORES}_fit_transitions_score_data_score_samples"
    assert [scores[key] for key in ("NumCPUs", "MinMemoryNode", "TimeLimit")] == ["1", "4000M", "00:30:00"]


def test_second_run_submits_nothing(study: Run) -> None:
    again = Run(study.folder).wait()
    assert again.code == 0, again.brief()
    assert "Nothing to be done" in again.said
    assert not again.jobs()


def test_bad_line_stops_its_corpus_only(mishaps: Mishaps) -> None:
    first, second, *_ = mishaps
    assert first.code != 0
    assert re.search(rf"^\[extract spoilt\] error: spoilt\.jsonl:{BAD_LINE}: ", first.said, re.M), first.brief()
    assert {job["rule"]: job["JobState"] for job in first.jobs()} == {
        GROUP: "CANCELLED",
        "extract_corpus": "FAILED",
        "fit_ngram": "COMPLETED",
        "train_causal": "CANCELLED",
    }
    assert INDEPENDENT in first.results
    # Threads are not cut to what the machine has where Snakemake is called.
    assert {job["NumCPUs"] for job in first.jobs() if job["rule"] == "fit_ngram"} == {str(THREADS)}
    assert not [path for path in first.results if "corpora/spoilt" in path or path.endswith(".tmp")]
    assert second.code == 0, second.brief()
    assert SPOILT in second.results


def test_cancelled_training_resumes(mishaps: Mishaps) -> None:
    first, second, gpus, _ = mishaps
    assert gpus
    assert all(re.fullmatch(r"\d,\d", two) for two in gpus), gpus
    assert not [path for path in first.results if path.startswith((f"{CANCELLED}/model", f"{CANCELLED}/training"))]
    assert second.rules() == {"extract_corpus": 1, "build_corpus": 1, "train_causal": 1, GROUP: 1}
    log = (second.folder / "results/logs/train_causal/recipes/w-title/gpt2-patient/seed1.log").read_text()
    resumed = re.search(r"resuming from step (\d+)", log)
    assert resumed, log
    assert 0 < int(resumed[1]) < STEPS
    report = json.loads((second.folder / CANCELLED / "training.json").read_text())
    assert [point["step"] for point in report["curve"]] == list(range(1, STEPS + 1))
    assert report["processes"] == 2
    assert (second.folder / CANCELLED / "checkpoints/finished").is_file()  # nothing has read the model yet


def test_cancelled_group_is_made_again(mishaps: Mishaps) -> None:
    first, second, _, scored = mishaps
    assert not [path for path in first.results if path in (CRITIC, SCORED)]
    assert {CRITIC, SCORED} <= second.results
    assert (second.folder / SCORED).read_bytes() == scored
