"""`textcritic criticise`: files of articles against a reference, from text to the table and the report."""

import argparse

from textcritic.api.options import (
    ArticleOptions,
    ChainOptions,
    CriticiseOptions,
    Drawn,
    FromFiles,
    MentionOptions,
    OwnMeasures,
    ScorecardOptions,
    TopicFit,
)
from textcritic.commands.arguments import (
    FILES,
    GROUPS,
    LABELS,
    Commands,
    add_command,
    add_options,
    asked,
    labelled_paths,
)

CRITICISE = """\
Compare what models wrote with real text, by every measure that applies: from files to one page.

Files hold texts, or articles with titled sections, chains of titles or of mentions; all files hold the same. Texts are
a text a line (.txt), or JSON lines, tables and more (below):
  {"text": "..."}
  {"id": "1", "sections": [{"title": "introduction", "text": "..."}, ...]}
  {"chain": ["introduction", "method", "result"]}
  {"mentions": [".", "he:3", "MALE:3"]}

Of texts are measured: tendencies (length, words, pairs of words, stop words, punctuation, ...), topics, mentions of
people (English), what is copied from the reference, repeated words and unfinished ends. Critics learn from part of the
reference; samples are compared with the rest. It takes seconds, in one process.

Of articles the order of sections is measured too, by their titles. Where nine of ten articles of every sample have a
title on every section, titles are given, and the other articles are left out; otherwise a classifier is trained on the
reference and infers the titles of all samples, which takes minutes.

Of chains, a critic of their order is fitted on part of the reference; of mentions, one of who is mentioned after whom.
"""
CRITICISE_OUTPUT = """\
The folder then has table.csv; of texts and articles the study's configuration (config.yaml, registry, studies: yours to
edit, the same command keeps what you change) and its results: tables, figures, report.html. `snakemake` with that
configuration makes the same tables. The same command again makes only what a change of files or options reaches.
"""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    criticise = add_command(
        commands,
        "criticise",
        "compare what models wrote with real text, by every measure that applies",
        CRITICISE + FILES + LABELS + GROUPS,
        CRITICISE_OUTPUT,
        ["criticize"],
    )
    criticise.add_argument("reference", metavar="REFERENCE", help="real documents")
    criticise.add_argument(
        "samples", metavar="SAMPLES", nargs="*", help="documents to compare, any number of files, or LABEL=FILE"
    )
    groups = {
        ScorecardOptions: "options for texts and articles",
        OwnMeasures: "measures of your own, of texts and articles",
        TopicFit: "topics of texts and articles",
        MentionOptions: "mentions of people",
        ArticleOptions: "options for articles",
        ChainOptions: "options for chains",
        FromFiles: "how files are read",
        Drawn: "options for all",
    }
    add_options(criticise, CriticiseOptions, groups)
    criticise.add_argument(
        "-n", "--dry-run", action="store_true", help="only say what would be done, and how long it takes"
    )
    criticise.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.api.criticise import criticise, jobs_of

    samples = labelled_paths(arguments.samples) if arguments.samples else []
    options = {"output": "own-text", **asked(arguments)}
    if controls := options.get("control"):
        options["control"] = labelled_paths(controls, "--control")
    if arguments.dry_run:
        return jobs_of(arguments.reference, samples, **options)
    return repr(criticise(arguments.reference, samples, **options))
