"""`textcritic reproduce`: numbers of the papers that need no training, computed again."""

import argparse
import json

from textcritic.commands.arguments import Commands, add_command

REPRODUCE = """\
Compute again the numbers of the four papers that need neither training nor a large download, and print each next to
the printed one: the known process of model-criticism, comparisons of the columns of its Table 4, and every number about
people of document-coherence, of the votes that it published (0.6 MB, downloaded to results/raw/downloads). Takes
seconds.
"""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    reproduce = add_command(commands, "reproduce", "numbers of the papers that need no training, again", REPRODUCE)
    reproduce.add_argument("--offline", action="store_true", help="download nothing; name what is not there")
    reproduce.add_argument(
        "--folder", metavar="FOLDER", default=".", help="the working directory (default: the current folder)"
    )
    reproduce.add_argument("--json", action="store_true", help="print one JSON object")
    reproduce.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.api.reproduce import reproduce

    found = reproduce(arguments.folder, arguments.offline)
    return json.dumps(found.as_json(), indent=2) if arguments.json else found.text()
