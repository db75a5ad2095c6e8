"""The command `textcritic`: critics on a user's own files, the demo, one corpus, a workflow to build on."""

import argparse
import os
import sys
from collections.abc import Sequence

from textcritic import __version__
from textcritic.commands import (
    annotate,
    chains,
    coreference,
    corpus,
    criticise,
    demo,
    device_check,
    importance,
    install,
    lock,
    mixing,
    plan,
    plan_annotation,
    recitation,
    rehearse,
    reproduce,
    show,
    tendencies,
    topics,
    verify,
    workflow,
)
from textcritic.commands.arguments import in_flags
from textcritic.commands.output import NOBODY_READS, print_text
from textcritic.errors import TextcriticError, first_line
from textcritic.extras import OUT_OF_MEMORY, needing_extras

LONGEST = 1500  # characters of an error line


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns:
        The exit code: 0; 2 for bad input, which is named in one line on stderr; 141 if the reader of a pipe has gone.
    """
    # For NumPy, which is loaded later: matrix products are small here, and threads would mostly wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    words = list(sys.argv[1:] if argv is None else argv)
    # One command passes the arguments after -- to another program.
    end = words.index("--") if words[:1] == ["rehearse"] and "--" in words else len(words)
    arguments, unknown = _parser().parse_known_args(words[:end])
    arguments.behind = words[end + 1 :]
    if unknown:
        arguments.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    try:
        _require_names(arguments)
        with needing_extras(words[0]):
            return print_text(arguments.run(arguments))
    except TextcriticError as error:
        if isinstance(error.__cause__, BrokenPipeError):
            return NOBODY_READS
        line = in_flags(str(error), arguments)
        line = line.replace("\n", "\\n")  # a title may contain a line break
        line = line if len(line) <= LONGEST else f"{line[:LONGEST]}..."  # or be a whole text
    except (MemoryError, ImportError) as error:
        if isinstance(error, ImportError) and OUT_OF_MEMORY not in str(error):
            raise
        what = f" ({first_line(error)})" if str(error) else ""
        line = f"out of memory{what}; give it more (see `ulimit -v`), or fewer or shorter documents"
    print(f"textcritic: {line}", file=sys.stderr)
    return 2


def _require_names(arguments: argparse.Namespace) -> None:
    """Refuse an empty word: as the name of a file it would be the working directory."""
    for name, value in vars(arguments).items():
        if "" in (value if isinstance(value, list) else [value]):
            raise TextcriticError(f"{name}: is empty; give a name or a value")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="textcritic", description="Judge language models by the documents they write."
    )
    parser.add_argument("--version", action="version", version=f"textcritic {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (
        criticise,
        chains,
        coreference,
        topics,
        mixing,
        tendencies,
        recitation,
        importance,
        plan_annotation,
        show,
        verify,
        plan,
        demo,
        annotate,
        corpus,
        reproduce,
        rehearse,
        install,
        lock,
        device_check,
        workflow,
    ):
        command.add(commands)
    for one in {*commands.choices.values()}:
        one.set_defaults(parser=one)  # so that an error about an unknown argument names the command
    return parser


if __name__ == "__main__":
    sys.exit(main())
