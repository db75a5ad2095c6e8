"""The workflow as Snakemake sees it: studies dry-run, scripts and environments exist, bad config is refused."""

import math
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml
from plan import ROOT, jobs, logs, planned, put_lock, snakemake, targets_of
from submissions import PROFILE, chain, planned_jobs, submissions, ungrouped

RULES = sorted((ROOT / "rules").glob("*.smk"))
# Files of the study latent-lms that cannot be downloaded: users put them there.
OWN_DATA = (
    *(f"data/ptb/{split}.mrg" for split in ("train", "valid", "test")),
    *(f"data/conll-2012/{split}.conll" for split in ("train", "development", "test")),
    *(f"data/linked-wikitext-2/{split}.jsonl.gz" for split in ("train", "valid", "test")),
)


# The papers' studies at their own size: fewer submissions than these, and the hours that the longest chain of jobs
# asked for when each was submitted alone.
PAPERS = {
    "model-criticism": (250, 133),
    "beyond-perplexity": (400, 119),
    "latent-lms": (250, 88),
    "document-coherence": (200, 111),
}


@pytest.mark.parametrize("study", sorted(path.stem for path in (ROOT / "config/studies").glob("*.yaml")))
def test_every_study_dry_runs(study, tmp_path):
    for name in ("articles.jsonl", "samples.jsonl", *OWN_DATA):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text")
    put_lock(tmp_path)
    targets = targets_of(study, tmp_path)
    of_study = ("--config", f"studies=['{study}']", "--", "all", *targets)
    run = snakemake(tmp_path, *PROFILE, *of_study, configfile="config/config.yaml")
    assert run.returncode == 0, run.stderr + run.stdout
    assert jobs(run.stdout)["make_report"] == 1
    assert {name: jobs(run.stdout)[name] for name in targets} == dict.fromkeys(targets, 1)
    assert "left out" not in run.stderr + run.stdout
    # What a scheduler is sent, and the longest chain; audits of 200 GPU-hours aside.
    audits = "/as-released/", "/one-token/"
    sent = [job for job in planned_jobs(run.stdout) if not any(a in path for path in job.outputs for a in audits)]
    most, hours = PAPERS.get(study, (math.inf, math.inf))
    assert submissions(sent) < most
    assert chain(sent)[1] <= 1.1 * 60 * hours
    # Each job has a log, named after its rule and all of its wildcards, and shares it with no other job.
    written = logs(ungrouped(run.stdout))
    for rule, wildcards, files in written:
        assert [path.startswith(f"results/logs/{rule}/") for path in files] == [True], rule
        for name, value in wildcards.items():
            before = "[a-z]*" if re.fullmatch(r"[\d.]+(-(of-)?\d+)?", value) else f"({name})?"  # seed1, t0.5
            assert re.search(rf"[/-]{before}{re.escape(value)}[/.-]", files[0]), (rule, name)
    assert (
        len({files[0] for *_, files in written})
        == len(written)
        == sum(jobs(run.stdout).values()) // 2 - 1 - len(targets)
    )


def test_the_slurm_profile_builds_the_papers_study(tmp_path):
    run = snakemake(ROOT, "--profile", "slurm", "--directory", tmp_path, "--dry-run", "table2")
    assert run.returncode == 0, run.stderr + run.stdout
    found = jobs(run.stdout)
    # 3 corpora x 2 settings x 2 generators, those of arXiv in 2 shards; no other GPT-2 and no sample for the audit.
    assert found["train_causal"] == 12
    assert found["sample_causal"] == 12 + 4
    assert found["score_samples"] == 12


# Standing figures of the experiments, and the paper's Figures 4 to 13.
FIGURES = {"figures": 8} | {f"figure{number}": 1 for number in range(4, 14)}


@pytest.mark.parametrize("target", ["all", "figures", "report"])
def test_the_papers_figures_are_among_all_figures_and_part_of_the_whole_study(target, paper):
    _, plan = paper.of(target)
    assert Counter(w["part"] for rule, w, _ in plan if rule == "make_figures") == FIGURES


@pytest.mark.parametrize(
    ("target", "trained", "corpora"),
    [
        ("table3", 4, {"wiki-short"}),
        ("table4", 4, {"pubmed"}),
        ("table5", 8, {"wiki"}),
        ("table11", 0, set()),
        ("table12", 2, {"wiki"}),
        ("table13", 2, {"wiki"}),
        ("figure4", 2, {"wiki"}),
        ("table9", 6, {"pubmed", "arxiv", "wiki"}),
        ("table14", 1, {"arxiv"}),
        ("figure6", 2, {"wiki"}),
        ("figure8", 2, {"pubmed"}),
        ("figure9", 2, {"arxiv"}),
        ("table10", 0, set()),
    ],
)
def test_a_table_of_the_paper_needs_what_it_compares_alone(target, trained, corpora, paper):
    found, plan = paper.of(target)
    assert found.get("train_causal", 0) == trained
    assert {w["corpus"] for rule, w, _ in plan if rule in ("train_causal", "score_samples", "fit_topics")} == corpora
    by_fairseq = found.get("train_fairseq", 0)
    assert by_fairseq == 2 * (target == "table10")
    assert any(resources.get("gpu", "0") != "0" for _, _, resources in plan) is bool(trained + by_fairseq)


SYNTHETIC_JOBS = {
    "draw_process": 1,
    "encode_process": 1,
    "train_hsmm": 1,
    "measure_hsmm": 1,
    "sample_hsmm": 2,
    "score_process_data": 1,
}


def test_the_demo_has_a_synthetic_table(tmp_path):
    run = snakemake(tmp_path, "--dry-run", "--config", "studies=['demo']")
    assert run.returncode == 0, run.stderr + run.stdout
    found = jobs(run.stdout)
    # A transformer, and an HSMM that is drawn from in two ways.
    assert SYNTHETIC_JOBS.items() <= found.items()
    assert found["make_process_tables"] == 1
    assert found["parse_sequences"] == found["score_sequences"] == 3
    plan = planned(run.stdout)
    assert {(w["corpus"], w["encoding"]) for rule, w, _ in plan if rule == "encode_process"} == {
        ("process-demo", "symbols")
    }
    # Nothing that is for text is done to a process.
    text = ("extract_corpus", "build_corpus", "make_tokenizer", "encode_corpus", "collect_samples", "score_samples")
    assert all(w["corpus"] == "docstrings" for rule, w, _ in plan if rule in text)
    assert all(resources.get("gpu", "0") == "0" for _, _, resources in plan)


def test_table_1_of_the_paper_needs_its_process_and_models_alone(paper):
    found, plan = paper.of("table1")
    # An HSMM by Adam, as published, and one by EM.
    of_hsmms = {rule: 2 * number for rule, number in SYNTHETIC_JOBS.items() if rule.endswith("_hsmm")}
    assert (SYNTHETIC_JOBS | of_hsmms).items() <= found.items()
    assert found["make_part_table"] == 1
    assert "make_process_tables" not in found
    assert found["train_causal"] == found["measure_perplexity"] == 2
    assert found["parse_sequences"] == found["score_sequences"] == 6
    assert {w["corpus"] for _, w, _ in plan if "corpus" in w} == {"process"}
    on_gpu = {w["generator"] for rule, w, resources in plan if resources.get("gpu") == "1" and rule.startswith("train")}
    assert on_gpu == {"hsmm-800", "hsmm-800-adam", "transformer-released", "transformer-paper"}
    # A sample of an HSMM is drawn on CPU cores, as many as its generator has.
    drawn = [resources for rule, _, resources in plan if rule == "sample_hsmm"]
    assert all(resources.get("gpu", "0") == "0" for resources in drawn)
    assert all(r["mem_mb"] and r["runtime"] for rule, _, r in plan if rule.startswith(("train", "sample", "measure")))


@pytest.mark.parametrize(
    "path",
    [
        "results/corpora/process-demo/extracted.parquet",
        "results/encodings/process-demo/symbols/w-title/test.tokens.npy",
        "results/corpora/docstrings/process.npz",
        "results/critics/known-process/docstrings/critic.json",
        "results/scores/known-process/docstrings/data/test-gold.parquet",
        "results/scores/transitions-demo/process-demo/data/test.parquet",
        "results/samples/process-demo/wo-title/ngram-3/seed1/demo/draw1.parquet",
        "results/samples/process-demo/wo-title/ngram-3/seed1/demo/draw1/shard0.parquet",
        "results/samples/process-demo/wo-title/my-samples/seed1/given/draw1.parquet",
        "results/samples/docstrings/w-title/hsmm-demo/seed1/sequences-demo-given/draw1/shard0.parquet",
        "results/samples/process-demo/w-title/hsmm-demo/seed1/sequences-demo-given/draw1/shard0.parquet",
        "results/generators/docstrings/wo-title/hsmm-demo/seed1/training.json",
        "results/generators/docstrings/wo-title/hsmm-demo/seed1/perplexity.json",
        "results/generators/process-demo/wo-title/ngram-3/seed1/training.json",
        "results/critics/transitions-demo/process-demo/critic.json",
        "results/classifiers/process-demo/bert-demo/model",
        "results/classifiers/docstrings/given/accuracy.json",
        "results/latents/given/process-demo/data/test.parquet",
        "results/encodings/docstrings/symbols/tokenizer",
        "results/encodings/docstrings/symbols/wo-title/test.tokens.npy",
        "results/encodings/process-demo/bpe-2048/tokenizer",
        "results/critics/ctm-demo/process-demo/critic.npz",
        "results/critics/ctm-demo/docstrings/critic.json",
        "results/critics/transitions-demo/docstrings/critic.npz",
        "results/bags/known-process/docstrings/train",
        "results/bags/ctm-demo/process-demo/train",
        "results/topics/ctm-demo/process-demo/data/test.parquet",
        "results/scores/ctm-demo/docstrings/data/test-gold.parquet",
        "results/scores/ctm-demo/process-demo/samples/wo-title/hsmm-demo/seed1/sequences-demo/draw1.parquet",
        "results/topics/transitions-demo/docstrings/samples/wo-title/ngram-3/seed1/demo/draw1.parquet",
    ],
)
def test_rules_for_text_and_for_processes_do_not_overlap(path, tmp_path):
    run = snakemake(tmp_path, "--dry-run", "--", path)
    assert run.returncode == 1
    assert "MissingRuleException" in run.stderr + run.stdout


@pytest.mark.parametrize(
    ("path", "missing"),
    [
        ("generators/process-demo/wo-title/gpt2-demo/seed1/training.json", "encodings/process-demo/bpe-2048/tokenizer"),
        (
            "generators/docstrings/w-title/transformer-demo/seed1/training.json",
            "encodings/docstrings/symbols/tokenizer",
        ),
        ("scores/transitions-demo/process-demo/data/test-gold.parquet", "classifiers/process-demo/bert-demo/model"),
        ("latents/bert-demo/process-demo/data/test.parquet", "classifiers/process-demo/bert-demo/model"),
    ],
)
def test_what_is_for_text_lacks_its_inputs_where_the_corpus_is_a_process(path, missing, tmp_path):
    run = snakemake(tmp_path, "--dry-run", "--", f"results/{path}")
    assert run.returncode == 1
    assert "MissingInputException" in run.stderr + run.stdout
    assert f"results/{missing}" in run.stderr + run.stdout


@pytest.mark.parametrize(
    ("target", "says"),
    [
        *(
            (target, "the study model-criticism, which is not")
            for target in ("table9", "table11", "table14", "figure10")
        ),
        (
            "table1",
            "the studies beyond-perplexity, document-coherence, latent-lms and model-criticism, none of which is",
        ),
        ("figure6", "the studies beyond-perplexity and model-criticism, none of which is"),
    ],
)
def test_a_target_of_the_paper_says_which_configuration_it_needs(target, says, tmp_path):
    run = snakemake(tmp_path, "--dry-run", target)
    assert run.returncode == 1
    assert f"{target} belongs to {says} configured; add" in run.stderr + run.stdout
    assert "MissingInputException" not in run.stderr + run.stdout


def test_named_targets_exist(tmp_path):
    targets = ("data", "train", "samples", "tables", "figures", "report")
    run = snakemake(tmp_path, "--dry-run", *targets)
    assert run.returncode == 0, run.stderr
    assert {name: jobs(run.stdout).get(name) for name in targets} == dict.fromkeys(targets, 1)


def test_every_script_and_environment_exists():
    named = [
        (path, match)
        for path in RULES
        for match in re.findall(r'"(?:\.\.|\{ROOT\})/([\w/]+\.(?:py|yaml|rst))"', path.read_text())
    ]
    assert len(named) > 30
    for path, relative in named:
        assert (ROOT / relative).is_file(), f"{path.name}: {relative}"
    scripts = {Path(relative).name for _, relative in named if relative.endswith(".py")}
    assert scripts == {path.name for path in (ROOT / "workflow/scripts").glob("*.py")}


def test_environments_pin_what_the_lock_pins():
    locks = "".join((ROOT / f"requirements{name}.lock").read_text() for name in ("", "-fairseq", "-mauve")).lower()
    lock = dict(re.findall(r"^([\w.-]+)==(\S+)$", locks, re.MULTILINE))
    lock = {name.replace("_", "-"): version for name, version in lock.items()}
    other_names = {"matplotlib-base": "matplotlib", "snakemake-minimal": "snakemake"}
    for path in sorted((ROOT / "envs").glob("*.yaml")):
        packages = yaml.safe_load(path.read_text())["dependencies"]
        pip = [line for item in packages if isinstance(item, dict) for line in item["pip"]]
        for line in [item for item in packages if isinstance(item, str)] + pip:
            if line == "cxx-compiler":  # builds fairseq; its newest is right
                continue
            name, version = re.split(r" ?==?", line)
            name = other_names.get(name, name).replace("_", "-")
            if name != "python":
                assert lock[name] == version, f"{path.name}: {line}"


def test_sizes_that_keep_files_readable():
    limits = {"Snakefile": 85, "rules/*.smk": 150, "workflow/scripts/*.py": 40, "src/**/*.py": 400}
    for pattern, limit in limits.items():
        for path in ROOT.glob(pattern):
            lines = len(path.read_text(encoding="utf-8").splitlines())
            assert lines <= limit, f"{path.relative_to(ROOT)} has {lines} lines"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("studies=['demmo']", "there is no study 'demmo'"),
        ("sudies=['demo']", "unknown key 'sudies'; did you mean 'studies'?"),
        ("resamples='ten'", "resamples: 'ten' should be a whole number"),
    ],
)
def test_bad_config_ends_before_anything_runs_with_one_line(config, message, tmp_path):
    run = snakemake(tmp_path, "--dry-run", "--config", config)
    assert run.returncode == 1
    assert message in run.stderr + run.stdout
    assert "Traceback" not in run.stderr
    assert not (tmp_path / "results").exists()


def test_table_4_takes_mauve_of_every_system_by_one_model(paper):
    found, plan = paper.of("table4")
    # Four samples and real text, which has a second sample beside it.
    assert (found["embed_samples"], found["embed_data"]) == (4, 2)
    assert (found["score_mauve"], found["score_mauve_of_data"]) == (4, 1)
    assert {w["embedder"] for rule, w, _ in plan if rule.startswith("embed_")} == {"gpt2-large"}
    assert {w["model"] for rule, w, _ in plan if rule == "download_model"} >= {"gpt2-large"}
