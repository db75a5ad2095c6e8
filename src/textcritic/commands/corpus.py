"""`textcritic corpus`: one corpus alone."""

import argparse

from textcritic.commands.arguments import Commands, add_accept, positive

CORPUS = """\
Build one corpus of the registry in the folder where it is called: ./results/corpora/NAME, train, validation and test
as Parquet, and statistics.json. Its files are fetched if its entry says from where.
"""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    corpus = commands.add_parser("corpus", help="build one corpus of the registry", description=CORPUS)
    corpus.add_argument("name", metavar="NAME", help="its entry in corpora.yaml, e.g. docstrings")
    corpus.add_argument(
        "--configfile", metavar="FILE", help="laid over the package's, e.g. with registry_folders of your own"
    )
    corpus.add_argument("--cores", metavar="N", type=positive, help="CPU cores (default: all)")
    add_accept(corpus)
    corpus.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.workflow.corpus import build_one_corpus

    return build_one_corpus(arguments.name, arguments.configfile, cores=arguments.cores, accept=arguments.accept)
