"""Values laid over a registry entry on the command line: they reach the job, and other ones are then refused.

In a folder of `textcritic workflow`, whose Snakefile uses the workflow as a module.
"""

from plan import snakemake as forked
from snake import snakemake

from textcritic.files import read_json
from textcritic.workflow.start import write_start

TARGET = "corpora/process-demo"
SIZES = "corpora: {process-demo: {options: {process: {states: 6, train: %d, validation: 5, test: 5}}}}"


def laid_over(train):
    return [TARGET, "--config", f"registry={{{SIZES % train}}}"]


def test_values_reach_the_job_and_other_ones_are_said_and_refused(tmp_path):
    write_start(tmp_path)
    start = {"configfile": tmp_path / "config.yaml"}
    module = ["--snakefile", tmp_path / "Snakefile"]
    run = snakemake(tmp_path, *module, *laid_over(20), **start)
    assert run.returncode == 0, run.stderr
    assert "config: registry: corpora.process-demo: options.process.states: 6, was 64; " in run.stderr
    statistics = tmp_path / "results/corpora/process-demo/statistics.json"
    assert read_json(statistics)["articles"]["train"] == 20
    # Before anything runs, in a dry run too; the values of the last run are the old ones.
    said = "corpora: process-demo is another recipe than that of the results here (options.process.train: 10, was 20)"
    made, before = "files that would be made again: 5 in results/corpora", statistics.read_bytes()
    for options, code in ((["--dry-run"], 0), (["--cores", "1"], 1)):
        run = forked(tmp_path, *module, *options, *laid_over(10), **start)
        assert (said in run.stderr, made in run.stderr, run.returncode) == (True, True, code)
    assert "add `--config accept=process-demo`" in run.stderr
    assert statistics.read_bytes() == before
