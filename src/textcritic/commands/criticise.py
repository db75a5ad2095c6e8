"""`textcritic criticise`: files of articles against a reference, from text to the table and the report."""

import argparse

from textcritic.commands.arguments import positive

CRITICISE = """\
Compare the articles of one or more files with those of a reference: from text to the table and the report.

Each line of a file (.jsonl, .jsonl.gz) is an article:
  {"id": "1", "sections": [{"title": "introduction", "text": "..."}, ...]}
Or a file is a table with such columns: .parquet, .arrow, a folder of these, or a folder that `datasets` saved.
The reference needs its titles: the critic learns from part of it in what order sections follow one another, the rest
is the yardstick. Where every section of every sample has a title, titles are given and the whole takes seconds;
otherwise a classifier is trained on the reference and infers the titles of all samples, which takes minutes.
"""
CRITICISE_OUTPUT = """\
The folder then has the study's configuration (config.yaml, registry, studies: yours to edit, the same command keeps
what you change) and its results: tables, figures, report.html. The same command again makes only what a change of
files or options reaches, and goes on where it was killed.
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the command line."""
    criticise = commands.add_parser(
        "criticise",
        help="compare files of articles with a reference: table and report",
        description=CRITICISE,
        epilog=CRITICISE_OUTPUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    criticise.add_argument("reference", metavar="REFERENCE", help="real articles")
    criticise.add_argument("samples", metavar="SAMPLES", nargs="+", help="articles to compare, one file or more")
    criticise.add_argument(
        "--output", metavar="FOLDER", default="own-text", help="for configuration and results (default own-text)"
    )
    criticise.add_argument(
        "--titles", choices=["given", "inferred"], help="of the samples; default: given if every section has one"
    )
    criticise.add_argument(
        "--minimum-title-count",
        metavar="N",
        type=positive,
        help="leave out articles of the reference with a title on fewer sections of its training part (default 10; "
        "of fewer than 500 articles a fiftieth of their number, at least 2)",
    )
    criticise.add_argument(
        "--minimum-sections",
        metavar="N",
        type=positive,
        help="fewest sections of a reference article (default 2)",
    )
    criticise.add_argument("--cores", metavar="N", type=positive, help="CPU cores (default: all)")
    criticise.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.owntext import criticise

    return criticise(
        arguments.reference,
        arguments.samples,
        arguments.output,
        titles=arguments.titles,
        minimum_title_count=arguments.minimum_title_count,
        minimum_sections=arguments.minimum_sections,
        cores=arguments.cores,
    )
