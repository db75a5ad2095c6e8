"""`textcritic topics`: Latent NLL of documents under a correlated topic model."""

import argparse

from textcritic.api.options import TopicOptions
from textcritic.commands.arguments import (
    GROUPS,
    LABELS,
    TEXTS,
    Commands,
    add_command,
    add_json,
    add_options,
    asked,
    labelled_paths,
    printed,
)

TOPICS = """\
Fit a correlated topic model on the documents of TRAIN and give the Latent NLL of those of TEST.
Several files of TEST are scored under one fit. With --critic there is no TRAIN, and all files are TEST.

All files are LDA-C (.dat, .ldac), a document a line, "types id:count id:count ..." with ids from 0; or text, whose
tokens are split at white space: words in more than half of the documents of TRAIN and words that contain xmath are left
out, and see below.
"""
TOPICS_OUTPUT = """\
With --json one JSON object is printed. With several files of TEST, latent_nll_mean, ci95, over_starts, over_fits, n,
empty, tokens and tokens_unknown are in samples, by label:
  bound            evidence lower bound of TRAIN in each iteration, before its M-step, in nats; of the fit that is kept
  seconds          that the fits took
  converged        whether it ended by the tolerance
  starts           last bounds of the fits from all starts, the one that is kept first
  latent_nll_mean  mean of -log p(topic coefficients) of a document of TEST under the fit that is kept, in nats:
                   {"in_expectation", under its posterior, as the paper defines it; "at_mean", at the posterior's mean,
                   as its released code has it}
  ci95             [low, high] of each, 95% studentised bootstrap over documents; nulls where there is none, and then
  ci95_reason      of each says why, such as fewer than 20 documents
  over_starts      [least, greatest] of each over the fits from all starts: how far it depends on the start
  over_fits        {"mean", "ci95", "ci95_reason"} of each over the fits from all starts: this interval holds documents
                   and starts
  n, empty         documents of TEST scored, and those left out as they have no word that TRAIN has
  tokens           of TEST, with words that TRAIN has
  tokens_unknown   of TEST, with other words, or with words that were left out of TRAIN: not counted above
  train            {"documents", "empty" among them, "words", "tokens", "removed": words left out, by reason (text)}
  topics           K
  top_words        the ten most probable words of each topic; null where the words of the ids are not known
  search           of several numbers of topics: the one that is "taken", and of each in "numbers" the log-likelihood of
                   a held-out word in nats with its interval, how far it is below the best on the same documents, and of
                   each file of TEST but the first its Latent NLL, tested against that of the first
"""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    about = "Latent NLL of documents under a correlated topic model"
    above = TOPICS + TEXTS + LABELS.replace("SAMPLES", "TEST") + GROUPS
    topics = add_command(commands, "topics", about, above, TOPICS_OUTPUT)
    topics.add_argument("train", metavar="TRAIN", nargs="?", help="documents to fit the critic on; none with --critic")
    topics.add_argument("test", metavar="TEST", nargs="+", help="documents to score, in files of the same kind")
    add_json(topics)
    add_options(topics, TopicOptions)
    topics.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.api.topics import topics  # torch is loaded for this command only

    options, train, tests = asked(arguments), arguments.train, arguments.test
    if "critic" in options and train is not None:
        train, tests = None, [train, *tests]
    return printed(topics(train, labelled_paths(tests, "TEST"), **options), arguments)
