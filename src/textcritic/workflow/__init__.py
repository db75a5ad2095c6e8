"""The workflow itself: where its files are, and how Snakemake is started on a folder."""

from textcritic.place import stored, workflow_folder
from textcritic.workflow.run import alone, run_workflow, snakemake_command

__all__ = ["alone", "run_workflow", "snakemake_command", "stored", "workflow_folder"]
