"""The command `textcritic`: a critic on a user's own files without the workflow, and a look at a study's findings."""

import argparse
import sys
from collections.abc import Sequence

from textcritic import __version__
from textcritic.commands import chains, criticise, show, topics
from textcritic.errors import TextcriticError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0, or 2 for bad input, which is named in one line on stderr."""
    arguments = _parser().parse_args(argv)
    try:
        print(arguments.run(arguments))
    except TextcriticError as error:
        line = str(error).replace("\n", "\\n")  # a title may have a line break in it
        print(f"textcritic: {line}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="textcritic", description="Judge language models by the documents they write."
    )
    parser.add_argument("--version", action="version", version=f"textcritic {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (criticise, chains, topics, show):
        command.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
