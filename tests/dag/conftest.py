"""Dry runs that several tests of this folder look at: each is made once, for all workers."""

import pytest
from plan import Plan, snakemake

STUDY = "model-criticism"
NUMBERED = (*(f"table{n}" for n in range(1, 19)), *(f"figure{n}" for n in range(4, 14)))


@pytest.fixture(scope="session")
def paper(shared_folder) -> Plan:
    """Of the study of model criticism, with every target that it has: `paper.of(target)` is what one of them needs."""

    def make(folder):
        (folder / "here").mkdir()
        targets = ("all", "data", "train", "samples", "tables", "figures", "report", *NUMBERED)
        run = snakemake(folder / "here", "--dry-run", "--config", f"studies=['{STUDY}']", "--", *targets)
        assert run.returncode == 0, run.stderr + run.stdout
        (folder / "printed.txt").write_text(run.stdout)

    return Plan((shared_folder("paper", make) / "printed.txt").read_text())
