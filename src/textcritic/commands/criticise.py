"""`textcritic criticise`: files of articles against a reference, from text to the table and the report."""

import argparse
from pathlib import Path

from textcritic.api.options import (
    ArticleOptions,
    ChainOptions,
    CriticiseOptions,
    Drawn,
    MentionOptions,
    OwnMeasures,
    TopicFit,
)
from textcritic.commands.arguments import FILES, GROUPS, Commands, add_command, add_options, asked

CRITICISE = """\
Compare the documents of one or more files with those of a reference: from text to the table and the report.

Each line of a file (.jsonl, .jsonl.gz) is an article, a chain of titles or of mentions, or a text; all files hold the
same:
  {"id": "1", "sections": [{"title": "introduction", "text": "..."}, ...]}
  {"chain": ["introduction", "method", "result"]}
  {"mentions": [".", "he:3", "MALE:3"]}
  {"text": "..."}
Or a file has a text a line (.txt, .txt.gz).

Of chains, a critic of their order is fitted on part of the reference; of mentions, one of who is mentioned after whom;
of texts, a topic model, which says which topics go together. All take seconds; the rest of the reference is the
yardstick.

Of articles with titles the critic learns from part of it in what order sections follow one another,
the rest is the yardstick. Where nine of ten articles of every sample have a title on every section, titles are given,
the other articles are left out, and it takes seconds; otherwise a classifier is trained on the reference and infers the
titles of all samples, which takes minutes. Beside it
stands what the samples keep of the statistical tendencies of the reference's text (as `textcritic tendencies`), which
needs no titles: where no article of the reference has one on every section, that alone is compared.
"""
CRITICISE_OUTPUT = """\
The folder then has the study's configuration (config.yaml, registry, studies: yours to edit, the same command keeps
what you change) and its results: tables, figures, report.html. The same command again makes only what a change of
files or options reaches, and goes on where it was killed. Of all but articles it has report.html and table.csv.
"""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    criticise = add_command(
        commands,
        "criticise",
        "compare files of documents with a reference: table and report",
        CRITICISE + FILES + GROUPS,
        CRITICISE_OUTPUT,
        ["criticize"],
    )
    criticise.add_argument("reference", metavar="REFERENCE", help="real documents")
    criticise.add_argument("samples", metavar="SAMPLES", nargs="*", help="documents to compare, any number of files")
    groups = {
        OwnMeasures: "options for articles and texts",
        ArticleOptions: "options for articles",
        ChainOptions: "options for chains",
        MentionOptions: "options for chains of mentions",
        TopicFit: "options for texts",
        Drawn: "options for all but articles",
    }
    add_options(criticise, CriticiseOptions, groups)
    criticise.add_argument(
        "-n", "--dry-run", action="store_true", help="only list the jobs that would run, and say how long they take"
    )
    criticise.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.api.criticise import criticise, jobs_of

    samples = [Path(path) for path in arguments.samples]
    options = {"output": "own-text", **asked(arguments)}
    if arguments.dry_run:
        return jobs_of(arguments.reference, samples, **options)
    return repr(criticise(arguments.reference, samples, **options))
