"""`textcritic mixing`: how much texts mix topics, such as languages, beside real ones."""

import argparse

from textcritic.commands.arguments import add_resamples, positive, seed

MIXING = """\
Fit latent Dirichlet allocation on part of the texts of REAL, and say how much the others, and those of SAMPLES, mix its
topics. Where each real text is in one of K languages, K topics become the languages: what is measured is code-mixing.

Both files have a text a line; or JSONL (.jsonl, .jsonl.gz), each line {"text": "..."}, of REAL also {"text": "...",
"language": "de"}; or a table with such columns (.parquet, .arrow); or counts in the format LDA-C (.dat, .ldac). Tokens
are split at white space, and all of them count; texts should be tokenised, punctuation apart from words.
"""
MIXING_OUTPUT = """\
One JSON object is printed:
  real, samples    of the real texts that were held out, and of the samples, each number with its 95% interval by
                   bootstrap over texts (ci95):
    mixed          share of the words outside the main topic of their text, expected under the posterior
    divided        share of the texts with less than 90% in one topic (posterior mean)
    corners        share of the posterior draws with at least 90% in one topic
    entropy        of the topic shares, nats, mean over posterior draws
    latent_nll     mean of -log p(topic shares) of a text, in expectation under its posterior, nats. It is that of a
                   density: it may be below 0, and exp of it means nothing
    topic_shares   share of all words in each topic
    n, rejected    texts scored, and those left out as they have no word that the fit has
    tokens, tokens_unknown   counted, and left out as the fit does not have them
  mixed_p          permutation test: do samples and real texts differ in mixed
  energy_distance  of the posterior means of samples and real texts: {"value", "corrected" for what finite sets add,
                   "ci95" of that, "p" by permutation, "paired"}. It notices also which topics samples prefer
  topics           of each its "language" (where REAL has them), "alpha" of the prior and the 20 likeliest "words"
  agreement        of the held-out real texts: share of "words" in the topic of their language, and of "documents" whose
                   main topic it is; null where REAL has no languages
  fit              {"documents", "seconds", "log_prob": nats a token, log p(words, topics)}
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the command line."""
    mixing = commands.add_parser(
        "mixing",
        help="how much texts mix topics, such as languages",
        description=MIXING,
        epilog=MIXING_OUTPUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    mixing.add_argument("real", metavar="REAL", help="real texts")
    mixing.add_argument("samples", metavar="SAMPLES", help="texts to compare with them")
    mixing.add_argument("--topics", metavar="K", type=positive, default=3, help="topics, 2 or more (default 3)")
    mixing.add_argument(
        "--paired",
        action="store_true",
        help="text i of both files translates the same sentence: the energy test exchanges the texts of a pair alone",
    )
    mixing.add_argument(
        "--held-out",
        metavar="SHARE",
        type=float,
        default=0.2,
        help="of REAL, drawn at random, that is compared with SAMPLES; the model is fitted on the rest (default 0.2)",
    )
    mixing.add_argument("--iterations", metavar="N", type=positive, default=1000, help="of the fit (default 1000)")
    mixing.add_argument(
        "--starts", metavar="N", type=positive, default=4, help="chains; the most probable is kept (default 4)"
    )
    mixing.add_argument("--draws", metavar="N", type=positive, default=20, help="posterior draws a text (default 20)")
    mixing.add_argument("--lowercase", action="store_true", help="lower-case the tokens")
    mixing.add_argument("--workers", metavar="N", type=positive, help="CPU cores (default: all)")
    add_resamples(mixing)
    mixing.add_argument("--seed", metavar="S", type=seed, default=1, help="of everything that is drawn (default 1)")
    mixing.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.api.mixing import mixing  # tomotopy is loaded for this command only

    return mixing(
        arguments.real,
        arguments.samples,
        topics=arguments.topics,
        paired=arguments.paired,
        held_out=arguments.held_out,
        iterations=arguments.iterations,
        starts=arguments.starts,
        draws=arguments.draws,
        lowercase=arguments.lowercase,
        workers=arguments.workers,
        resamples=arguments.resamples,
        seed=arguments.seed,
    ).to_json()
