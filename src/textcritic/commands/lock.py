"""`textcritic lock`: commits of models and data sets of the Hugging Face hub."""

import argparse

from textcritic.commands.arguments import Commands, add_command

LOCK = """\
Look up the commits of the models and data sets of the Hugging Face hub whose entries name a branch or a tag, and write
them to ./hub.lock, which every run reads. Needs a network; HF_ENDPOINT names another hub. A commit that is already in
the file is kept. Keep the file: if a commit changes, all that was made from it is made again.
"""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    lock = add_command(commands, "lock", "look up commits of the Hugging Face hub and write hub.lock", LOCK)
    lock.add_argument(
        "names",
        metavar="NAME",
        nargs="*",
        help="a study, or an entry of the registries hub and datasets (default: the studies of the configuration)",
    )
    lock.add_argument("--configfile", metavar="FILE", help="laid over the package's, e.g. with studies of your own")
    lock.add_argument("--update", action="store_true", help="look those up again that are there already")
    lock.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.workflow.lock import lock

    return lock(arguments.names, arguments.configfile, update=arguments.update)
