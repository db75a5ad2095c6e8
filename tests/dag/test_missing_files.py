"""Studies in a clean clone, without the files that a user must bring: what is left is planned, each target too."""

import pytest
from plan import ROOT, jobs, planned, snakemake

from textcritic.plan.project import Project


def put(folder, *paths):
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()


@pytest.mark.parametrize("study", ["latent-lms", "document-coherence"])
def test_the_study_and_all_its_targets_are_planned(study, tmp_path):
    # The raw files of one corpus vanished after use: no row of it is left out.
    put(tmp_path, *(f"results/corpora/ptb-trees/{split}.parquet" for split in ("train", "validation", "test")))
    prefix = study.replace("-", "_")
    known = Project({"studies": [study]}, ROOT, tmp_path, leave_out=True).targets()
    targets = [name for name, target in known.items() if target.path and name.startswith(f"{prefix}_")]
    run = snakemake(tmp_path, "--dry-run", "--config", f"studies=['{study}']", "--", "all", *targets)
    assert run.returncode == 0, run.stderr + run.stdout
    assert jobs(run.stdout)["make_report"] == 1
    assert "MissingInputException" not in run.stderr + run.stdout
    used = {value for _, wildcards, _ in planned(run.stdout) for value in wildcards.values()}
    if study == "latent-lms":
        alone = snakemake(tmp_path, "--dry-run", "corpora/conll-mentions")
        assert "conll-mentions: there is no data/conll-2012/train.conll" in alone.stderr + alone.stdout
        assert (alone.returncode, "MissingInputException" in alone.stderr + alone.stdout) == (1, False)
        assert {"rnng", "ptb-trees", "entitynlm", "process-truth"} <= used
        assert not {"conll-mentions", "linked-wikitext", "kglm"} & used
        assert "latent-lms: conll-mentions: there is no data/conll-2012/train.conll" in run.stderr
        assert {f"{prefix}_{part}" for part in ("table1", "table2", "figure2")} == set(targets)
    else:
        assert {"roberta-large", "bert-base", "bow-glove", "gpt2-small"} <= used
        assert not {"albert-xxlarge", "bert-large"} & used
        assert len(targets) == 8
