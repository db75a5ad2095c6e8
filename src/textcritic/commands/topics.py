"""`textcritic topics`: Latent NLL of documents under a correlated topic model."""

import argparse

from textcritic.commands.arguments import add_resamples, positive, seed, tolerance

TOPICS = """\
Fit a correlated topic model on the documents of TRAIN and give the Latent NLL of those of TEST.

Both files are LDA-C (.dat, .ldac), a document a line, "types id:count id:count ..." with ids from 0; or text: JSONL
(.jsonl, .jsonl.gz), each line {"text": "..."} or {"sections": [{"text": "..."}, ...]}, or a table with such a column
(.parquet, .arrow, a folder of these, a folder that `datasets` saved), whose tokens are split at white space.
Of text, words in more than half of the documents of TRAIN and words that contain xmath are left out, and see below.
"""
TOPICS_OUTPUT = """\
One JSON object is printed:
  bound            evidence lower bound of TRAIN in each iteration, before its M-step, in nats; of the fit that is kept
  seconds          that the fits took
  converged        whether it ended by the tolerance
  starts           last bounds of the fits from all starts, the one that is kept first
  latent_nll_mean  mean of -log p(topic coefficients) of a document of TEST, in nats: {"in_expectation", under its
                   posterior, as the paper defines it; "at_mean", at the posterior's mean, as its released code has it}
  ci95             [low, high] of each, 95% percentile bootstrap over documents
  over_starts      [least, greatest] of each over the fits from all starts: how far it depends on the start
  n, empty         documents of TEST scored, and those left out as they have no word that TRAIN has
  tokens           of TEST, with words that TRAIN has
  tokens_unknown   of TEST, with other words, or with words that were left out of TRAIN: not counted above
  train            {"documents", "empty" among them, "words", "tokens", "removed": words left out, by reason (text)}
  topics           K
  top_words        the ten most probable words of each topic; null where the words of the ids are not known
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the command line."""
    topics = commands.add_parser(
        "topics",
        help="Latent NLL of documents under a correlated topic model",
        description=TOPICS,
        epilog=TOPICS_OUTPUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    topics.add_argument("train", metavar="TRAIN", nargs="?", help="documents to fit the critic on; none with --critic")
    topics.add_argument("test", metavar="TEST", help="documents to score, in a file of the same kind")
    topics.add_argument("--num-topics", metavar="K", type=positive, help="topics, 2 or more")
    topics.add_argument(
        "--critic",
        metavar="FOLDER",
        help="score TEST under a model that Blei's ctm-c has fitted: final-mu.dat, final-cov.dat, final-log-beta.dat",
    )
    topics.add_argument(
        "--starts", metavar="N", type=positive, default=4, help="fits; the highest bound is kept (default 4)"
    )
    topics.add_argument("--seed", metavar="S", type=seed, default=1, help="of fit and bootstrap (default 1)")
    topics.add_argument("--iterations", metavar="N", type=positive, default=1000, help="at most (default 1000)")
    topics.add_argument(
        "--tolerance",
        metavar="T",
        type=tolerance,
        default=1e-4,
        help="a fit ends when the bound rises by less than this share of it an iteration (default 0.0001)",
    )
    topics.add_argument("--workers", metavar="N", type=positive, help="CPU cores (default: all)")
    topics.add_argument(
        "--vocabulary",
        metavar="FILE",
        help="LDA-C, or text with --critic: words, one a line, the first is that of id 0",
    )
    topics.add_argument(
        "--stop-words",
        metavar="none|english|FILE",
        help="text: words left out in any case; english: 318, FILE: one word a line (default none)",
    )
    topics.add_argument(
        "--minimum-count", metavar="N", type=positive, help="text: leave out words rarer in TRAIN (default 5)"
    )
    add_resamples(topics)
    topics.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.api.topics import topics  # torch is loaded for this command only

    return topics(
        arguments.train,
        arguments.test,
        arguments.num_topics,
        vocabulary=arguments.vocabulary,
        stop_words=arguments.stop_words,
        minimum_count=arguments.minimum_count,
        critic=arguments.critic,
        iterations=arguments.iterations,
        tolerance=arguments.tolerance,
        starts=arguments.starts,
        workers=arguments.workers,
        resamples=arguments.resamples,
        seed=arguments.seed,
    ).to_json()
