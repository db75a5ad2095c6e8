"""The command `textcritic`: a critic on a user's own files without the workflow, and a look at a study's table."""

import argparse
import math
import sys
from collections.abc import Sequence

from textcritic import __version__
from textcritic.errors import TextcriticError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0, or 2 for bad input, which is named in one line on stderr."""
    arguments = _parser().parse_args(argv)
    try:
        print(arguments.run(arguments))
    except TextcriticError as error:
        line = str(error).replace("\n", "\\n")  # a title may have a line break in it
        print(f"textcritic: {line}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="textcritic", description="Judge language models by the documents they write."
    )
    parser.add_argument("--version", action="version", version=f"textcritic {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_criticise(commands)
    _add_chains(commands)
    _add_topics(commands)
    _add_show(commands)
    return parser


CRITICISE = """\
Compare the articles of one or more files with those of a reference: from text to the table and the report.

Each line of a file (.jsonl, .jsonl.gz) is an article:
  {"id": "1", "sections": [{"title": "introduction", "text": "..."}, ...]}
The reference needs its titles: the critic learns from part of it in what order sections follow one another, the rest
is the yardstick. Where every section of every sample has a title, titles are given and the whole takes seconds;
otherwise a classifier is trained on the reference and infers the titles of all samples, which takes minutes.
"""
CRITICISE_OUTPUT = """\
The folder then has the study's configuration (config.yaml, registry, studies: yours to edit, the same command keeps
what you change) and its results: tables, figures, report.html. The same command again makes only what a change of
files or options reaches, and goes on where it was killed.
"""


def _add_criticise(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    criticise = commands.add_parser(
        "criticise",
        help="compare files of articles with a reference: table and report",
        description=CRITICISE,
        epilog=CRITICISE_OUTPUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    criticise.add_argument("reference", metavar="REFERENCE", help="JSONL of real articles")
    criticise.add_argument("samples", metavar="SAMPLES", nargs="+", help="JSONL of articles to compare, one or more")
    criticise.add_argument(
        "--output", metavar="FOLDER", default="own-text", help="for configuration and results (default own-text)"
    )
    criticise.add_argument(
        "--titles", choices=["given", "inferred"], help="of the samples; default: given if every section has one"
    )
    criticise.add_argument(
        "--minimum-title-count",
        metavar="N",
        type=_positive,
        help="leave out articles of the reference with a title on fewer sections of its training part (default 10; "
        "of fewer than 500 articles a fiftieth of their number, at least 2)",
    )
    criticise.add_argument(
        "--minimum-sections",
        metavar="N",
        type=_positive,
        help="fewest sections of a reference article (default 2)",
    )
    criticise.add_argument("--cores", metavar="N", type=_positive, help="CPU cores (default: all)")
    criticise.set_defaults(run=_criticise)


def _criticise(arguments: argparse.Namespace) -> str:
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


CHAINS = """\
Fit a transition critic on the chains of TRAIN and give the Latent PPL of the chains of TEST.

Each line of both files is a JSON object {"chain": ["title", ...]}: the section titles (or any other states) of one
document, in order. A chain of K titles has K + 1 steps: begin -> first title, ..., last title -> end.
"""
CHAINS_OUTPUT = """\
One JSON object is printed:
  latent_ppl          exp(sum of NLL / sum of steps), pooled over the documents scored
  ci95                [low, high], 95% percentile bootstrap over documents
  latent_nll_mean     mean NLL of a document, in nats
  steps, n            transitions and documents scored
  rejected            documents of TEST left out: no titles, or a title that TRAIN does not have
  rejected_by_reason  how many for each reason
  smoothing           the pseudo-count delta that was used
  unseen_transitions  [{"from", "to", "count"}] of the transitions of TEST to which the critic gives probability 0
                      (smoothing 0 only). If there are any, the Latent PPL is infinite, and latent_ppl, ci95 and
                      latent_nll_mean are null. No figure over the remaining transitions is given: leaving out the
                      impossible ones would reward a text for making them.
  skipped_transitions transitions next to a title that TRAIN does not have (--as-released only, else 0)
"""


def _add_chains(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    chains = commands.add_parser(
        "chains",
        help="Latent PPL of chains of section titles",
        description=CHAINS,
        epilog=CHAINS_OUTPUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    chains.add_argument("train", metavar="TRAIN", help="JSONL of chains to fit the critic on")
    chains.add_argument("test", metavar="TEST", help="JSONL of chains to score")
    chains.add_argument(
        "--smoothing",
        metavar="auto|DELTA",
        type=_smoothing,
        default=None,
        help="pseudo-count added to every transition, 0 or more; auto (the default): the one of 0.001 ... 10 with the "
        "lowest Latent PPL in 10-fold cross-validation on TRAIN (ties: the larger)",
    )
    chains.add_argument(
        "--as-released",
        action="store_true",
        help="do as the paper's released code does: rows are normalised over the begin state too, transitions next to "
        "an unknown title are skipped instead of the document rejected, auto chooses from 0 and 1",
    )
    chains.add_argument(
        "--resamples", metavar="N", type=_positive, default=10_000, help="of the bootstrap (default 10000)"
    )
    chains.add_argument(
        "--seed", metavar="S", type=_seed, default=1, help="of bootstrap and cross-validation (default 1)"
    )
    chains.set_defaults(run=_chains)


def _chains(arguments: argparse.Namespace) -> str:
    from textcritic.critics.jsonl import chains_report  # numpy and pyarrow are loaded for this command only

    return chains_report(
        arguments.train,
        arguments.test,
        smoothing=arguments.smoothing,
        mode="as_released" if arguments.as_released else "paper",
        resamples=arguments.resamples,
        seed=arguments.seed,
    )


TOPICS = """\
Fit a correlated topic model on the documents of TRAIN and give the Latent NLL of those of TEST.

Both files are LDA-C (.dat, .ldac), a document a line, "types id:count id:count ..." with ids from 0; or JSONL (.jsonl,
.jsonl.gz), each line {"text": "..."} or {"sections": [{"text": "..."}, ...]}, whose tokens are split at white space.
Of JSONL, words in more than half of the documents of TRAIN and words that contain xmath are left out, and see below.
"""
TOPICS_OUTPUT = """\
One JSON object is printed:
  bound            evidence lower bound of TRAIN in each iteration, before its M-step, in nats
  seconds          that the fit took
  converged        whether it ended by the tolerance
  latent_nll_mean  mean of -log p(topic coefficients) of a document of TEST, in nats: {"in_expectation", under its
                   posterior, as the paper defines it; "at_mean", at the posterior's mean, as its released code has it}
  ci95             [low, high] of each, 95% percentile bootstrap over documents
  n, empty         documents of TEST scored, and those left out as they have no word that TRAIN has
  tokens           of TEST, with words that TRAIN has
  tokens_unknown   of TEST, with other words, or with words that were left out of TRAIN: not counted above
  train            {"documents", "empty" among them, "words", "tokens", "removed": words left out, by reason (JSONL)}
  topics           K
  top_words        the ten most probable words of each topic; null where the words of the ids are not known
"""


def _add_topics(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    topics = commands.add_parser(
        "topics",
        help="Latent NLL of documents under a correlated topic model",
        description=TOPICS,
        epilog=TOPICS_OUTPUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    topics.add_argument("train", metavar="TRAIN", help="documents to fit the critic on")
    topics.add_argument("test", metavar="TEST", help="documents to score, in a file of the same kind")
    topics.add_argument("--num-topics", metavar="K", type=_positive, required=True, help="topics, 2 or more")
    topics.add_argument("--seed", metavar="S", type=_seed, default=1, help="of fit and bootstrap (default 1)")
    topics.add_argument("--iterations", metavar="N", type=_positive, default=1000, help="at most (default 1000)")
    topics.add_argument(
        "--tolerance",
        metavar="T",
        type=_tolerance,
        default=1e-3,
        help="the fit ends when the bound rises by less than this share of it (default 0.001)",
    )
    topics.add_argument("--workers", metavar="N", type=_positive, help="CPU cores (default: all)")
    topics.add_argument("--vocabulary", metavar="FILE", help="LDA-C: words, one a line, the first is that of id 0")
    topics.add_argument(
        "--stop-words",
        metavar="none|english|FILE",
        help="JSONL: words left out in any case; english: 318, FILE: one word a line (default none)",
    )
    topics.add_argument(
        "--minimum-count", metavar="N", type=_positive, help="JSONL: leave out words rarer in TRAIN (default 5)"
    )
    topics.add_argument(
        "--resamples", metavar="N", type=_positive, default=10_000, help="of the bootstrap (default 10000)"
    )
    topics.set_defaults(run=_topics)


def _topics(arguments: argparse.Namespace) -> str:
    from textcritic.critics.ctm import FitOptions
    from textcritic.critics.ctm.command import TopicFiles, topics_report

    return topics_report(
        TopicFiles(
            train=arguments.train,
            test=arguments.test,
            vocabulary=arguments.vocabulary,
            stop_words=arguments.stop_words,
            minimum_count=arguments.minimum_count,
        ),
        FitOptions(
            num_topics=arguments.num_topics,
            iterations=arguments.iterations,
            tolerance=arguments.tolerance,
            seed=arguments.seed,
        ),
        workers=arguments.workers,
        resamples=arguments.resamples,
    )


def _add_show(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    show = commands.add_parser("show", help="print a study's coherence table and the path of its report")
    show.add_argument("folder", metavar="FOLDER", help="the study's folder, results/studies/NAME")
    show.set_defaults(run=_show)


def _show(arguments: argparse.Namespace) -> str:
    from textcritic.report.show import show_study

    return show_study(arguments.folder)


def _smoothing(text: str) -> float | None:
    if text == "auto":
        return None
    value = _from_zero(text)
    if value is None:
        raise argparse.ArgumentTypeError(f"{text!r} is neither auto nor a finite number from 0 upwards")
    return value


def _tolerance(text: str) -> float:
    value = _from_zero(text)
    if value is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number from 0 upwards")
    return value


def _from_zero(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 upwards")
    return int(text)


def _seed(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 upwards")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
