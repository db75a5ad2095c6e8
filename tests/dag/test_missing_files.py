"""Studies in a clean clone, without the files that a user must bring: what is left is planned, each target too.

The others of the four papers lack nothing: test_dag has them.
"""

import pytest
from plan import jobs, planned, snakemake, targets_of


def put(folder, *paths):
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()


def splits(corpus):
    return [f"results/corpora/{corpus}/{split}.parquet" for split in ("train", "validation", "test")]


@pytest.mark.parametrize("study", ["latent-lms", "document-coherence"])
def test_the_study_and_all_its_targets_are_planned(study, tmp_path):
    prefix, targets = study.replace("-", "_"), targets_of(study, tmp_path)
    run = snakemake(tmp_path, "--dry-run", "--config", f"studies=['{study}']", "--", "all", *targets)
    assert run.returncode == 0, run.stderr + run.stdout
    assert "MissingInputException" not in run.stderr + run.stdout
    found = jobs(run.stdout)
    assert found["make_report"] == 1
    assert {name: found[name] for name in targets} == dict.fromkeys(targets, 1)
    lost = [name for name in targets if f"{name} is left out: " in run.stdout]
    used = {value for _, wildcards, _ in planned(run.stdout) for value in wildcards.values()}
    if study == "latent-lms":
        assert lost == [f"{prefix}_figure{number}" for number in (1, 2, 3, 4)]
        assert "process-truth" in used
        assert not {"ptb-trees", "conll-mentions", "linked-wikitext", "rnng", "kglm"} & used
        assert "latent-lms: conll-mentions: there is no data/conll-2012/train.conll" in run.stderr
    else:
        assert lost == [f"{prefix}_figure3"]
        assert {"roberta-large", "bert-base", "bow-glove", "gpt2-small"} <= used
        assert not {"albert-xxlarge", "bert-large"} & used


def test_files_that_vanished_after_use_and_those_that_are_needed_once_more(tmp_path):
    """No row of a corpus that is made is left out; where more is asked of it, the file is named and who needs it."""
    put(tmp_path, *splits("ptb-trees"), *splits("linked-wikitext"))
    study = "--config", "studies=['latent-lms']"
    run = snakemake(tmp_path, "--dry-run", *study, "--", "latent_lms_figure2")
    assert run.returncode == 0, run.stderr + run.stdout
    used = {value for _, wildcards, _ in planned(run.stdout) for value in wildcards.values()}
    assert {"rnng", "ptb-trees"} <= used
    alone = "corpora/conll-mentions", "results/corpora/linked-wikitext/knowledge"
    said = (
        "corpora.yaml: conll-mentions: options.paths.train: there is no data/conll-2012/train.conll (OntoNotes of",
        "corpora.yaml: linked-wikitext: options.paths.train: there is no data/linked-wikitext-2/train.jsonl.gz (Linked",
    )
    for target, line in zip(alone, said, strict=True):
        run = snakemake(tmp_path, "--dry-run", *study, "--", target)
        assert run.returncode == 1
        assert line in run.stderr + run.stdout
        assert "MissingInputException" not in run.stderr + run.stdout
