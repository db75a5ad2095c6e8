"""Snakemake's lock on a working directory: one that a killed run of ours left is removed, any other is respected."""

import pytest

from textcritic.errors import TextcriticError
from textcritic.workflow import alone, run_workflow

OPTIONS = ("--config", "studies=[]", "--cores", "1")
EXTRACTED = "results/corpora/docstrings/extracted.json"


@pytest.mark.parametrize("ours", [True, False])
def test_a_lock_is_removed_only_if_a_run_of_ours_left_it(ours, tmp_path, capfd, monkeypatch):
    """With a home that cannot be made, as in a container for another user: Snakemake's cache is then elsewhere."""
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOME", str(tmp_path / "file/home"))
    lock_file = tmp_path / ".snakemake/locks/0.output.lock"
    lock_file.parent.mkdir(parents=True)
    lock_file.write_text(f"{EXTRACTED}\n")
    (tmp_path / ".textcritic.lock").write_text("at work\n" if ours else "")
    with alone(tmp_path) as lock:
        if ours:
            run_workflow(tmp_path, lock, *OPTIONS, "--touch", targets=["corpora/docstrings"])
        else:
            with pytest.raises(TextcriticError, match="the workflow stopped before it was done"):
                run_workflow(tmp_path, lock, *OPTIONS, "--touch", targets=["corpora/docstrings"])
            assert "Directory cannot be locked" in capfd.readouterr().err
    assert (tmp_path / ".snakemake/cache").is_dir()
    assert lock_file.exists() is not ours
    assert (tmp_path / ".textcritic.lock").read_text() == ""
