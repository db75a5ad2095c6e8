"""The workflow's part that criticises topics: what it asks for."""

import re
import shutil
import sys

import pytest
import yaml
from plan import ROOT, jobs, planned, snakemake

sys.path.insert(0, str(ROOT / "tests" / "micro"))

from recipes import write

PAIRS = {(corpus, model) for corpus in ("pubmed", "arxiv", "wiki") for model in ("gpt2-small", "gpt-neo-125m")}


def test_the_demo_criticises_topics_against_a_baseline_of_shuffled_words(tmp_path):
    run = snakemake(tmp_path, "--dry-run", "--config", "studies=['demo']")
    assert run.returncode == 0, run.stderr + run.stdout
    found = jobs(run.stdout)
    once = ("count_words", "fit_topics", "infer_data_topics", "measure_topic_power", "make_topics_tables")
    assert all(found[rule] == 1 for rule in once)
    assert found["infer_sample_topics"] == 4
    # All but the baseline are samples that coherence is criticised on too; it is drawn for the topics alone.
    assert found["collect_samples"] == 9
    assert found["total"] == 116
    plan = planned(run.stdout)
    scored = {w["generator"] for rule, w, _ in plan if rule in ("score_samples", "infer_sample_titles")}
    assert "ngram-shuffled" not in scored
    of_topics = [w for rule, w, _ in plan if rule == "infer_sample_topics"]
    assert {w["setting"] for w in of_topics} == {"wo-title"}
    assert {w["generator"] for w in of_topics} == scored | {"ngram-shuffled"}


def test_the_topics_of_a_study_need_nothing_that_its_coherence_does(tmp_path):
    study = "results/studies/demo"
    topics = (f"{study}/topics/tables/topics.csv", f"{study}/topics/figures")
    run = snakemake(tmp_path, "--dry-run", "--", *topics)
    assert run.returncode == 0, run.stderr + run.stdout
    coherence = ("train_classifier", "infer_data_titles", "infer_sample_titles", "fit_transitions", "score_samples")
    others = ("make_coherence_tables", "draw_process", "make_process_tables", "make_corpora_tables")
    assert not {*coherence, *others} & set(jobs(run.stdout))
    both = (f"{study}/coherence/tables/coherence.csv", f"{study}/process/tables/process.csv")
    run = snakemake(tmp_path, "--dry-run", "--", *both)
    assert run.returncode == 0, run.stderr + run.stdout
    assert not [rule for rule in jobs(run.stdout) if "topic" in rule or rule == "count_words"]
    assert {w["generator"] for rule, w, _ in planned(run.stdout) if rule == "fit_ngram"} == {
        "ngram-3",
        "ngram-3-interpolated",
    }


def test_table_9_needs_samples_without_titles_and_topic_models_alone(paper):
    found, plan = paper.of("table9")
    assert found["count_words"] == found["fit_topics"] == found["infer_data_topics"] == 3
    assert found["train_causal"] == found["infer_sample_topics"] == len(PAIRS)
    assert found["sample_causal"] == len(PAIRS) + 2  # those of arXiv take longer than an hour, in two shards
    assert {(w["corpus"], w["generator"]) for rule, w, _ in plan if rule == "infer_sample_topics"} == PAIRS
    assert {w["setting"] for _, w, _ in plan if "setting" in w} == {"wo-title"}
    assert {w["decoding"] for _, w, _ in plan if "decoding" in w} == {"ancestral"}
    others = ("measure_perplexity", "train_classifier", "infer_data_titles", "score_samples", "make_topics_tables")
    assert not {*others, "make_coherence_tables"} & set(found)
    assert all(r["mem_mb"] and r["runtime"] for rule, _, r in plan if "topics" in rule)


def test_the_whole_of_the_papers_study_draws_nothing_more_for_topics(paper):
    found, plan = paper.of("all")
    assert found["make_topics_tables"] == 1
    assert [w["experiment"] for rule, w, _ in plan if rule == "make_section"].count("topics") == 1
    # 22 samples; 22 fine-tunings and two transformers of the process.
    assert (found["collect_samples"], found["train_causal"]) == (22, 24)


def test_counting_words_and_inference_ask_for_little_whatever_the_fit_takes(tmp_path):
    run = snakemake(tmp_path, "--dry-run", "--cores", "64", "--config", "studies=['model-criticism']", "--", "table9")
    assert run.returncode == 0, run.stderr + run.stdout
    threads = dict(re.findall(r"^rule (\w+):\n(?: {4}.*\n)*? {4}threads: (\d+)$", run.stdout, re.MULTILINE))
    of_topics = ("count_words", "fit_topics", "infer_data_topics", "infer_sample_topics")
    asked = {rule: (r["mem_mb"], r["runtime"]) for rule, _, r in planned(run.stdout) if rule in of_topics}
    assert (threads["fit_topics"], *asked["fit_topics"]) == ("16", "16000", "240")
    assert "count_words" not in threads  # one
    assert threads["infer_data_topics"] == threads["infer_sample_topics"] == "4"
    assert {asked[rule] for rule in of_topics if rule != "fit_topics"} == {("8000", "120")}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The study of seconds as if it were finished: all files are there, empty, and recorded as made."""
    folder = tmp_path_factory.mktemp("finished")
    write(folder)
    configured = ("--configfile", ROOT / "tests/micro/config.yaml", "--cores", "1")
    run = snakemake(folder, *configured, "--dry-run")
    assert run.returncode == 0, run.stderr + run.stdout
    for line in re.findall(r"^ {4}output: (.*)$", run.stdout, re.MULTILINE):
        for path in map(folder.joinpath, line.split(", ")):
            (path.parent if path.suffix else path).mkdir(parents=True, exist_ok=True)
            if path.suffix:
                path.touch()
    run = snakemake(folder, *configured, "--touch", "--forceall")
    assert run.returncode == 0, run.stderr + run.stdout
    return folder


def test_the_reason_of_a_job_names_the_label_that_has_changed(finished, tmp_path):
    shutil.copytree(ROOT / "tests/micro/registry", tmp_path / "registry")
    generators = yaml.safe_load((tmp_path / "registry/generators.yaml").read_text())
    generators["ngram-2"]["label"] = "bigrams"
    (tmp_path / "registry/generators.yaml").write_text(yaml.safe_dump(generators))
    config = yaml.safe_load((ROOT / "tests/micro/config.yaml").read_text())
    (tmp_path / "changed.yaml").write_text(yaml.safe_dump({**config, "registry_folders": [str(tmp_path / "registry")]}))
    run = snakemake(finished, "--configfile", tmp_path / "changed.yaml", "--dry-run")
    assert run.returncode == 0, run.stderr + run.stdout
    reasons = re.findall(r"^ {4}reason: (Params have changed .*)$", run.stdout, re.MULTILINE)
    # The standing tables of each kind that compares its samples, and a numbered one of metrics.
    assert len(reasons) == 11
    assert all("bigrams" in reason for reason in reasons), reasons
    # The labels of all that a table names, and not the texts of its files, which are thousands of characters.
    assert max(map(len, reasons)) < 1000, sorted(map(len, reasons))


@pytest.mark.parametrize(
    ("changes", "rerun"),
    [
        ({}, False),
        ({"threads": 3, "mem_mb": 2000, "runtime": "20m"}, False),
        ({"tolerance": 0.1}, True),
    ],
)
def test_resources_rerun_nothing_and_options_the_fit_and_what_is_made_of_it(finished, tmp_path, changes, rerun):
    shutil.copytree(ROOT / "tests/micro/registry", tmp_path / "registry")
    critics = yaml.safe_load((tmp_path / "registry/critics.yaml").read_text())
    critics["ctm-micro"] |= changes
    (tmp_path / "registry/critics.yaml").write_text(yaml.safe_dump(critics))
    config = yaml.safe_load((ROOT / "tests/micro/config.yaml").read_text())
    (tmp_path / "changed.yaml").write_text(yaml.safe_dump({**config, "registry_folders": [str(tmp_path / "registry")]}))
    run = snakemake(finished, "--configfile", tmp_path / "changed.yaml", "--dry-run")
    assert run.returncode == 0, run.stderr + run.stdout
    found = jobs(run.stdout)
    if not rerun:
        assert not found, run.stdout
        assert "Nothing to be done" in run.stdout + run.stderr
    else:
        assert {"fit_topics", "infer_data_topics", "infer_sample_topics", "make_report"} <= set(found)
        assert not {"count_words", "score_samples", "train_causal"} & set(found)
        assert found["make_topics_tables"] == 1
        assert not {"make_coherence_tables", "make_process_tables", "make_corpora_tables"} & set(found)


@pytest.mark.parametrize(
    ("stage", "rerun", "kept"),
    [
        (
            "topics",
            {"count_words", "fit_topics", "infer_data_topics", "make_topics_tables"},
            {"fit_transitions", "score_data"},
        ),
        (
            "coherence",
            {"fit_transitions", "score_data", "score_samples"},
            {"fit_topics", "score_sequences", "train_hsmm"},
        ),
        ("process", {"score_sequences", "make_process_tables"}, {"fit_topics", "fit_transitions", "train_hsmm"}),
    ],
)
def test_a_kind_that_is_raised_reruns_itself_alone(finished, tmp_path, stage, rerun, kept):
    config = yaml.safe_load((ROOT / "tests/micro/config.yaml").read_text())
    (tmp_path / "raised.yaml").write_text(yaml.safe_dump({**config, "stage_versions": {stage: 2}}))
    run = snakemake(finished, "--configfile", tmp_path / "raised.yaml", "--dry-run")
    assert run.returncode == 0, run.stderr + run.stdout
    found = set(jobs(run.stdout))
    assert rerun <= found
    assert not (kept | {"train_causal", "train_classifier", "extract_corpus"}) & found
    tables = {rule for rule in found if re.fullmatch("make_(coherence|process|topics|corpora)_tables", rule)}
    assert tables == {f"make_{stage}_tables"}
