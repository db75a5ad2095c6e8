"""`textcritic workflow`: a folder to build on."""

import argparse

from textcritic.commands.arguments import Commands

WORKFLOW = """\
Write a Snakefile that uses the installed workflow as a module, a configuration to start from (a study, a corpus and
a generator of your own), a SLURM profile and a short README. Nothing is overwritten.
"""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    workflow = commands.add_parser(
        "workflow", help="write a Snakefile and a configuration to build on", description=WORKFLOW
    )
    workflow.add_argument("folder", metavar="DIR", help="where they go")
    workflow.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.workflow.start import write_start

    return write_start(arguments.folder)
