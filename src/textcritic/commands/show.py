"""`textcritic show`: what a study found."""

import argparse

from textcritic.commands.arguments import Commands


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    show = commands.add_parser("show", help="print what a study found and the path of its report")
    show.add_argument(
        "folder", metavar="FOLDER", help="the study's folder, results/studies/NAME, or what --output named"
    )
    show.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.report.show import show_study

    return show_study(arguments.folder)
