"""`textcritic criticise`: files of articles against a reference, from text to the table and the report."""

import argparse
from pathlib import Path

from textcritic.commands.arguments import positive, seed, tolerance

CRITICISE = """\
Compare the documents of one or more files with those of a reference: from text to the table and the report.

Each line of a file (.jsonl, .jsonl.gz) is an article, a chain of titles or of mentions, or a text; all files hold the
same:
  {"id": "1", "sections": [{"title": "introduction", "text": "..."}, ...]}
  {"chain": ["introduction", "method", "result"]}
  {"mentions": [".", "he:3", "MALE:3"]}
  {"text": "..."}
Or a file is a table with such columns: .parquet, .arrow, a folder of these, or a folder that `datasets` saved.

Of chains, a critic of their order is fitted on part of the reference; of mentions, one of who is mentioned after whom;
of texts, a topic model, which says which topics go together. All take seconds; the rest of the reference is the
yardstick.

Of articles with titles the critic learns from part of it in what order sections follow one another,
the rest is the yardstick. Where every section of every sample has a title, titles are given, and it takes seconds;
otherwise a classifier is trained on the reference and infers the titles of all samples, which takes minutes. Beside it
stands what the samples keep of the statistical tendencies of the reference's text (as `textcritic tendencies`), which
needs no titles: where no article of the reference has one on every section, that alone is compared.
"""
CRITICISE_OUTPUT = """\
The folder then has the study's configuration (config.yaml, registry, studies: yours to edit, the same command keeps
what you change) and its results: tables, figures, report.html. The same command again makes only what a change of
files or options reaches, and goes on where it was killed. Of all but articles it has report.html and table.csv.
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the command line."""
    criticise = commands.add_parser(
        "criticise",
        help="compare files of documents with a reference: table and report",
        description=CRITICISE,
        epilog=CRITICISE_OUTPUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    criticise.add_argument("reference", metavar="REFERENCE", help="real documents")
    criticise.add_argument("samples", metavar="SAMPLES", nargs="*", help="documents to compare, any number of files")
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
    criticise.add_argument(
        "--model",
        metavar="NAME_OR_FOLDER",
        action="append",
        help="articles: draw samples from this causal language model; may be given several times. A local folder, or a"
        " name on the hub, OWNER/NAME or OWNER/NAME@COMMIT; a commit that is not named is looked up and recorded",
    )
    criticise.add_argument(
        "--fine-tune",
        metavar="EPOCHS",
        type=tolerance,
        help="train the models on the reference first; without, they go on from the first words of real articles",
    )
    criticise.add_argument("--articles", metavar="N", type=positive, help="drawn from each model (default 200)")
    criticise.add_argument(
        "--max-tokens",
        metavar="N",
        type=positive,
        help="of an article of a model, longer ones are rejected (default: twice the words of the longest real one)",
    )
    criticise.add_argument("--cores", metavar="N", type=positive, help="CPU cores (default: all)")
    criticise.add_argument(
        "--test",
        metavar="FILE",
        help="chains and texts: real ones that are the yardstick (default: a fifth of REFERENCE)",
    )
    criticise.add_argument("--num-topics", metavar="K", type=positive, help="texts: topics, 2 or more (default 20)")
    criticise.add_argument("--seed", metavar="S", type=seed, help="chains and texts: of all that is drawn (default 1)")
    criticise.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.api.criticise import criticise

    samples = [Path(path) for path in arguments.samples]
    options = {key: value for key, value in vars(arguments).items() if key not in ("reference", "samples", "run")}
    return repr(criticise(arguments.reference, samples, **options))
