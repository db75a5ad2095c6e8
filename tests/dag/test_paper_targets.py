"""The papers' tables and figures as targets, and studies with several experiments, as Snakemake sees them."""

import re

import pytest
import yaml
from plan import jobs, planned, snakemake

PAPER = "studies=['model-criticism']"
SAMPLES = {"corpora": ["docstrings"], "settings": ["wo-title"], "generators": ["ngram-3"], "decodings": ["demo"]}
TOPICS = {"kind": "topics", "critic": "ctm-demo", "sources": [SAMPLES]}
NLL = {"name": "table2", "of": "nll", "caption": "Topics"}


def own_study(folder, *experiments, name="own"):
    """A study of one's own, and the options that configure it beside the shipped ones."""
    (folder / "studies").mkdir(exist_ok=True)
    study = {"title": "Own", "experiments": list(experiments)}
    (folder / f"studies/{name}.yaml").write_text(yaml.safe_dump(study))


def configured(*studies):
    return "--config", f"studies={list(studies)!r}", "study_folders=['studies','config/studies']"


def test_the_targets_are_listed(tmp_path):
    run = snakemake(tmp_path, "--list")
    assert run.returncode == 0, run.stderr + run.stdout
    listed = set(re.findall(r"^\W*(\w+)\W*$", run.stdout, re.MULTILINE))
    parts = [f"table{n}" for n in range(1, 19)] + [f"figure{n}" for n in range(4, 14)]
    assert {name for part in parts for name in (part, f"model_criticism_{part}")} <= listed
    assert {"all", "data", "train", "samples", "tables", "figures", "report"} <= listed


def test_the_short_and_the_full_name_of_a_target_are_the_same(tmp_path, paper):
    """The one is asked for alone, and the other with all that the study has (see `Plan`)."""
    run = snakemake(tmp_path, "--dry-run", "--config", PAPER, "--", "model_criticism_table2")
    assert run.returncode == 0, run.stderr + run.stdout
    alone, (among, plan) = jobs(run.stdout), paper.of("table2")
    assert among["train_causal"] == 12
    assert alone.pop("model_criticism_table2") == among.pop("table2") == 1
    assert alone.pop("total") == len(plan)
    assert alone == among
    jobs_alone, jobs_among = (
        sorted(
            [rule, sorted(w.items()), sorted(asked.items())] for rule, w, asked in plan if not rule.endswith("table2")
        )
        for plan in (planned(run.stdout), plan)
    )
    assert jobs_alone == jobs_among


def test_a_short_name_of_two_configured_studies_is_refused_with_the_full_ones(tmp_path):
    own_study(tmp_path, TOPICS | {"tables": [NLL]})
    options = configured("own", "model-criticism")
    run = snakemake(tmp_path, "--dry-run", *options, "--", "table2")
    assert run.returncode == 1
    said = "several configured studies have a table2; ask for own_table2 and model_criticism_table2"
    assert said in run.stderr + run.stdout
    assert "MissingInputException" not in run.stderr + run.stdout
    run = snakemake(tmp_path, "--dry-run", *options, "--", "own_table2")
    assert run.returncode == 0, run.stderr + run.stdout
    found = jobs(run.stdout)
    assert found["fit_topics"] == found["make_part_table"] == 1
    assert "train_causal" not in found
    assert [w["experiment"] for rule, w, _ in planned(run.stdout) if rule == "make_part_table"] == ["topics"]


def test_a_short_name_of_no_configured_study_says_how_to_configure_one(tmp_path):
    for target in ("table9", "model_criticism_table9"):
        run = snakemake(tmp_path, "--dry-run", "--", target)
        assert run.returncode == 1
        said = f"{target} belongs to the study model-criticism, which is not configured; add --config"
        assert said in run.stderr + run.stdout
        assert "config/paper.yaml" in run.stderr + run.stdout


def test_two_topic_models_in_one_study(tmp_path):
    small, large = TOPICS | {"name": "topics-20"}, TOPICS | {"name": "topics-100", "critic": "ctm"}
    figure = {"name": "figure6", "of": "covariances"}
    own_study(tmp_path, small | {"tables": [NLL]}, large | {"figures": [figure]})
    run = snakemake(tmp_path, "--dry-run", *configured("own"))
    assert run.returncode == 0, run.stderr + run.stdout
    found, plan = jobs(run.stdout), planned(run.stdout)
    assert found["fit_topics"] == found["infer_data_topics"] == found["infer_sample_topics"] == 2
    assert {w["critic"] for rule, w, _ in plan if rule == "fit_topics"} == {"ctm", "ctm-demo"}
    # What both compare is drawn once.
    assert found["fit_ngram"] == found["collect_samples"] == 1
    names = sorted(w["experiment"] for rule, w, _ in plan if rule == "make_topics_tables")
    assert names == sorted(w["experiment"] for rule, w, _ in plan if rule == "make_section")
    assert names == ["topics-100", "topics-20"]
    figures = {(w["experiment"], w["part"]) for rule, w, _ in plan if rule == "make_figures"}
    assert figures == {("topics-20", "figures"), ("topics-100", "figures"), ("topics-100", "figure6")}
    assert not {"train_classifier", "fit_transitions", "make_coherence_tables"} & set(found)
    # Each is asked for alone.
    run = snakemake(tmp_path, "--dry-run", *configured("own"), "--", "results/studies/own/topics-20/tables/topics.csv")
    assert run.returncode == 0, run.stderr + run.stdout
    assert {w["critic"] for rule, w, _ in planned(run.stdout) if rule == "fit_topics"} == {"ctm-demo"}


PROCESS = {
    "kind": "process",
    "critic": "known-process",
    "sources": [{"corpora": ["process-demo"], "generators": ["hsmm-demo"], "decodings": ["sequences-demo"]}],
}


@pytest.mark.parametrize(
    ("block", "without"),
    [
        (TOPICS, {"train_classifier", "fit_transitions", "infer_data_titles", "score_data", "draw_process"}),
        (PROCESS, {"extract_corpus", "make_tokenizer", "train_classifier", "fit_transitions", "fit_topics"}),
        (
            {"kind": "corpora", "corpora": ["docstrings"]},
            {"make_tokenizer", "fit_ngram", "collect_samples", "train_classifier", "fit_topics"},
        ),
    ],
    ids=lambda value: value.get("kind") if isinstance(value, dict) else "",
)
def test_a_study_without_section_titles_makes_its_report_and_nothing_of_coherence(block, without, tmp_path):
    own_study(tmp_path, block)
    run = snakemake(tmp_path, "--dry-run", *configured("own"))
    assert run.returncode == 0, run.stderr + run.stdout
    found = jobs(run.stdout)
    assert found["make_report"] == found["make_manifest"] == found["make_section"] == 1
    assert found[f"make_{block['kind']}_tables"] == 1
    assert not without & set(found)


def test_a_study_with_an_unknown_key_ends_with_one_line(tmp_path):
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies/own.yaml").write_text(yaml.safe_dump({"title": "Own", "critic": "transitions-demo"}))
    run = snakemake(tmp_path, "--dry-run", *configured("own"))
    assert run.returncode == 1
    assert "studies/own.yaml: unknown key 'critic'" in run.stderr + run.stdout
    assert "Traceback" not in run.stderr + run.stdout
