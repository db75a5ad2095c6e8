"""`textcritic tendencies`: whether samples keep to the statistical tendencies of real text."""

import argparse

from textcritic.commands.arguments import positive, seed

TENDENCIES = """\
Say whether texts keep to the statistical tendencies of real text (Meister and Cotterell 2021): how often the words of
each rank are, how many different ones a document of some length has, which words they are, how long documents are,
their stop words and symbols, how words come in bursts and recur. Nothing is fitted that samples could be tuned to.

A file .txt or .txt.gz has a document a line. Any other is JSONL (.jsonl, .jsonl.gz), each line {"text": "..."} or
{"sections": [{"text": "..."}, ...]}, or a table with such columns (.parquet, .arrow). The texts of all files
are held in memory.

Half of REAL, drawn at random, is what samples are compared with. From the other half up to 5 second draws are taken,
disjoint and each of as many documents as the largest file of SAMPLES: how far real text is from real text. With too few
real documents for two of them, the draws are smaller, which makes verdicts milder, but of no fewer than 20 documents
(or those of SAMPLES). With too few for that, there are none: all of REAL is compared with, and p alone decides.
"""
TENDENCIES_OUTPUT = """\
One JSON object is printed:
  real             of the real texts that samples are compared with:
    documents, tokens, empty   counted, and documents without a token
    draws          {"number", "documents"}: second draws, and the documents of each
    estimates      each with "value" and its 95% interval, "low" to "high", null where there is none; and "sd" over the
                   second draws: s (of Zipf's law over all ranks to infinity; s_infinite_of_first: the same, fitted to
                   the counts of the first ranks alone; s_observed, s_first: over those that occur, over the first),
                   heaps_alpha and heaps_beta (types = alpha times length to the power of beta; heaps_bigram_...: of
                   pairs of words), types, types_chao1 (at least so many in endless text), length_mean, stopwords_mean,
                   symbols_mean, taylor (exponent; 0.5: words are spread evenly),
                   recurrence (how much likelier than by chance two tokens of a document are the same word)
    distances      from the laws of Zipf and Heaps alone: zipf_own, heaps_own, ...
    missing        what could not be measured, and why
  samples          of each file of SAMPLES, by its name, the same, and:
    distances      each with "value", "low", "high"; "p" of a test against real text; "floor" and "floor_most", the same
                   distance of second draws in the mean and of the farthest, null without draws; "by_chance", its mean
                   where documents are exchanged at random. rank, heaps, length_ks, stopwords_ks, symbols_ks: largest
                   differences of cumulative distributions; unigram_max, unigram_half_l1, unigram_chi_square: of the
                   frequencies of words; taylor_distance, recurrence_distance; and ..._difference, sample minus real
    verdicts       for each tendency {"verdict", "distance": which one decides, "times": as far as a second draw,
                   "way", "why"}. Verdicts: "keeps", no farther than the farthest second draw (without draws: p of
                   0.05 or more); "differs", farther, and p below 0.05; "unclear", farther, but chance may explain it;
                   "not measured", for the reason in "why"
    sentences      one in plain words for each tendency that differs
    fault          what shows that both were tokenised in different ways, or null
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the command line."""
    tendencies = commands.add_parser(
        "tendencies",
        help="statistical tendencies of text: ranks, types, lengths, ...",
        description=TENDENCIES,
        epilog=TENDENCIES_OUTPUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    tendencies.add_argument("real", metavar="REAL", help="real texts")
    tendencies.add_argument(
        "samples", metavar="SAMPLES", nargs="+", help="texts to compare with them, one file or more"
    )
    tendencies.add_argument(
        "--tokenizer",
        choices=["words", "whitespace"],
        default="words",
        help="words: for raw text; whitespace: for text that has been tokenised (default words)",
    )
    tendencies.add_argument("--keep-case", action="store_true", help="count words as they are, not in lower case")
    tendencies.add_argument(
        "--stop-words",
        metavar="LANGUAGE|none|FILE",
        default="english",
        help="english: 179 words; another language of NLTK's lists, if they are installed; FILE: one word a line"
        " (default english)",
    )
    tendencies.add_argument(
        "--held-out",
        metavar="SHARE",
        type=float,
        default=0.5,
        help="of REAL, that SAMPLES are compared with; second draws are taken from the rest (default 0.5)",
    )
    tendencies.add_argument("--draws", metavar="N", type=seed, default=5, help="second draws at most (default 5)")
    tendencies.add_argument("--workers", metavar="N", type=positive, help="threads that count (default 1)")
    tendencies.add_argument(
        "--resamples", metavar="N", type=positive, default=1000, help="of bootstrap and tests (default 1000)"
    )
    tendencies.add_argument("--seed", metavar="S", type=seed, default=1, help="of everything that is drawn (default 1)")
    tendencies.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from pathlib import Path

    from textcritic.api.tendencies import compare_tendencies  # scipy is loaded for this command only

    return compare_tendencies(
        arguments.real,
        [Path(path) for path in arguments.samples],
        tokenizer=arguments.tokenizer,
        lower_case=not arguments.keep_case,
        stop_words=arguments.stop_words,
        held_out=arguments.held_out,
        draws=arguments.draws,
        workers=arguments.workers,
        resamples=arguments.resamples,
        seed=arguments.seed,
    ).to_json()
