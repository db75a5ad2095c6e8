"""`textcritic verify`: whether the files of a study are still what its jobs wrote."""

import argparse
import json

from textcritic.commands.arguments import Commands, add_command
from textcritic.commands.output import print_text
from textcritic.errors import TextcriticError

VERIFY = """\
Compare the files of a study, and all that these were made from, with the digests that were recorded when they were
made. Named are files that were changed, cut short or deleted, files that were made from another version of their
inputs, and jobs that another version of textcritic's code ran. Exit code 0: none; 2: some. Nothing is changed.
"""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    verify = add_command(commands, "verify", "compare the files of a study with their digests", VERIFY)
    verify.add_argument(
        "folder", metavar="FOLDER", help="the study's folder, results/studies/NAME, or what --output named"
    )
    verify.add_argument("--json", action="store_true", help="print one JSON object")
    verify.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.report.verify import verify_study

    verified = verify_study(arguments.folder)
    text = json.dumps(verified.as_json(), indent=2) if arguments.json else "\n".join(verified.lines())
    if not verified.differences and not verified.other_code:
        return text
    print_text(text)
    raise TextcriticError(f"{arguments.folder}: not all is as it was made; see above")
