"""`textcritic install`: packages that only a part of the workflow needs."""

import argparse

from textcritic.commands.arguments import Commands, add_command

INSTALL = """\
Install what a part of the workflow needs in addition to the package's own requirements, in exact versions, into the
environment of this command. Packages that are already installed are not changed.

  fairseq     generators of kind fairseq: fairseq 0.12.2, built from source (needs a C++ compiler and Python's headers)
  mauve       critics of kind mauve: mauve-text, which is under the GPL-3 and no part of textcritic, and faiss
  catalogues  the packages whose message catalogues are the parallel corpus of the demo of mixed languages
"""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    install = add_command(commands, "install", "install what only a part of the workflow needs, e.g. fairseq", INSTALL)
    install.add_argument("name", metavar="NAME", help="fairseq, mauve or catalogues")
    install.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.workflow.install import install

    return install(arguments.name)
