"""`textcritic rehearse`: a study from download to report, with small stand-ins."""

import argparse
from pathlib import Path

from textcritic.commands.arguments import Commands, add_command
from textcritic.extras import require_models

REHEARSE = """\
Run a study from download to report, with small stand-ins in the real formats in place of its downloads, pretrained
models and licensed corpora, and with small values: before it costs a thousand hours of GPUs, or after a rule has
changed. No network is needed. Every page, table and figure says REHEARSAL across it, and none is a result.
"""
BELOW = """
Further arguments behind -- are Snakemake's: textcritic rehearse latent-lms -- --profile slurm
"""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    command = add_command(
        commands, "rehearse", "a study with small stand-ins, from download to report", REHEARSE, BELOW
    )
    command.add_argument("study", metavar="STUDY", help="a study, e.g. model-criticism")
    command.add_argument(
        "--output", metavar="FOLDER", type=Path, help="for all that is made (default: rehearsal/STUDY)"
    )
    command.add_argument(
        "--size",
        choices=("smoke", "full"),
        default="smoke",
        help="smoke: one corpus and one model of each kind, so that every rule runs (default); full: the whole study",
    )
    command.add_argument(
        "--gpus",
        choices=("registry", "none"),
        default="registry",
        help="registry: jobs ask for the GPUs of their entries (default); none: for no GPU",
    )
    command.add_argument(
        "--configfile", metavar="FILE", type=Path, help="the configuration that the study is made with"
    )
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.rehearsal.run import Rehearsal, rehearse

    require_models("rehearse")
    return rehearse(
        Rehearsal(
            arguments.study,
            arguments.output,
            arguments.size,
            arguments.gpus != "none",
            arguments.configfile,
            tuple(arguments.behind),
        )
    )
