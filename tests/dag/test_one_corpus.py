"""One corpus alone: the target `corpora/NAME`, with a study configured or none, and `textcritic corpus`."""

from collections import Counter

import pytest
from plan import jobs, planned, snakemake

from textcritic.cli import main


@pytest.mark.parametrize(
    ("corpus", "made"),
    [
        ("docstrings", {"docstrings": 2}),
        ("process-demo", {"process-demo": 1}),
        ("wiki-short", {"wiki-short": 2, "wiki": 10}),  # 8 shards, joined, and built
        ("wiki-lines", {"wiki-lines": 65}),  # 64 shards, built
        # Each split cut and given candidates, then all of them built.
        ("bible-intruders-rank1", {"bible": 2, "bible-intruders-rank1": 7}),
        ("wikipedia-intruders", {"wiki": 10, "wikipedia-intruders": 7}),
        ("cnn-intruders", {"cnn-stories": 2, "cnn-intruders": 7}),
    ],
)
def test_a_corpus_needs_what_it_derives_from_and_no_study(corpus, made, tmp_path):
    run = snakemake(tmp_path, "--dry-run", f"corpora/{corpus}", "--config", "studies=[]")
    assert run.returncode == 0, run.stderr + run.stdout
    plan = planned(run.stdout)
    assert Counter(wildcards["corpus"] for _, wildcards, _ in plan if "corpus" in wildcards) == made
    assert {rule for rule, wildcards, _ in plan if "corpus" not in wildcards} <= {"download_file", "download_model"}
    assert jobs(run.stdout)["total"] == len(plan) + 1


def test_models_of_lines_have_jobs_of_their_own_for_tokens(tmp_path):
    models = [f"results/generators/wiki-lines/wo-title/{name}-lines/seed1/model" for name in ("transformer-as", "lstm")]
    run = snakemake(tmp_path, "--dry-run", *models, "--config", "studies=[]")
    assert run.returncode == 0, run.stderr + run.stdout
    assert jobs(run.stdout) == {
        **{"download_file": 1, "extract_lines": 64, "build_lines": 1, "make_lines_tokenizer": 2, "encode_lines": 2},
        **{"train_fairseq": 2, "total": 72},
    }


def test_samples_of_the_base_corpus_are_cut_as_the_documents_with_intruders(tmp_path):
    sample = "samples/wo-title/gpt2-small/seed1/ancestral/draw1"
    run = snakemake(tmp_path, "--dry-run", f"results/intruders/documents/wikipedia-intruders/{sample}.parquet")
    assert run.returncode == 0, run.stderr + run.stdout
    corpora = {rule: wildcards["corpus"] for rule, wildcards, _ in planned(run.stdout) if "corpus" in wildcards}
    assert corpora["cut_samples"] == "wikipedia-intruders"
    assert {corpora["collect_samples"], corpora["sample_causal"], corpora["train_causal"]} == {"wiki"}


@pytest.mark.parametrize("target", [(), ("data",)])
def test_without_a_study_it_is_said_what_can_be_asked_for(target, tmp_path):
    run = snakemake(tmp_path, "--dry-run", *target, "--config", "studies=[]")
    assert run.returncode == 1
    (line,) = [
        line for line in (run.stderr + run.stdout).splitlines() if "no study is configured (studies: [])" in line
    ]
    assert "`corpora/NAME` (NAME is one of docstrings, my-articles, " in line
    assert line.endswith(
        "configure one of the studies beyond-perplexity, code-mixing-demo, coreference-demo, demo, "
        "document-coherence, document-coherence-demo, latent-lms, latent-lms-demo, learning-rates, "
        "model-criticism, own-text"
    )


def test_a_table_of_a_paper_still_says_which_study_it_belongs_to(tmp_path):
    run = snakemake(tmp_path, "--dry-run", "table9", "--config", "studies=[]")
    assert run.returncode == 1
    assert "table9 belongs to the study model-criticism, which is not configured" in run.stderr + run.stdout


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("wikki", None, "config/registry/corpora.yaml has no entry 'wikki'; did you mean 'wiki'?"),
        ("wiki", "[studies]\n", "mine.yaml: is not a mapping of keys to values; write e.g. `studies: []`"),
        ("wiki", "study: demo\n", "config: unknown key 'study'; did you mean 'studies'?"),
        ("wiki", "a: [\n", "mine.yaml, line 2: not valid YAML"),
        ("wiki", "studies: []".encode("utf-16"), "mine.yaml: not a UTF-8 text file of YAML"),
        ("wiki", "directory", "mine.yaml: cannot be read: Is a directory"),
        ("wiki", "absent", "mine.yaml: no such file"),
    ],
)
def test_bad_input_is_one_line_before_anything_runs(name, content, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.yaml"
    if content == "directory":
        path.mkdir()
    elif content not in (None, "absent"):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main(["corpus", name, *(["--configfile", "mine.yaml"] if content is not None else [])]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("textcritic: ")
    assert message in line
    assert not (tmp_path / ".snakemake").exists()
