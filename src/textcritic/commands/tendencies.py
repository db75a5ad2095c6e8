"""`textcritic tendencies`: whether samples keep to the statistical tendencies of real text."""

import argparse
from pathlib import Path

from textcritic.api.options import TendencyOptions
from textcritic.commands.arguments import TEXTS, Commands, add_command, add_options, asked

TENDENCIES = """\
Say whether texts keep to the statistical tendencies of real text (Meister and Cotterell 2021): how often the words of
each rank are, how many different ones a document of some length has, which words they are, how long documents are,
their stop words and symbols, how words come in bursts and recur. Nothing is fitted that samples could be tuned to.

Half of REAL, drawn at random, is what samples are compared with. From the other half up to 5 second draws are taken,
disjoint and each of as many documents as the largest file of SAMPLES: how far real text is from real text. With too few
real documents for two of them, the draws are smaller, which makes verdicts milder, but of no fewer than 20 documents
(or those of SAMPLES). With too few for that, there are none: all of REAL is compared with, and p alone decides. The
texts of all files are held in memory.
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


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    tendencies = add_command(
        commands,
        "tendencies",
        "statistical tendencies of text: ranks, types, lengths, ...",
        TENDENCIES + TEXTS,
        TENDENCIES_OUTPUT,
    )
    tendencies.add_argument("real", metavar="REAL", help="real texts")
    tendencies.add_argument(
        "samples", metavar="SAMPLES", nargs="+", help="texts to compare with them, one file or more"
    )
    add_options(tendencies, TendencyOptions)
    tendencies.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.api.tendencies import compare_tendencies  # scipy is loaded for this command only

    samples = [Path(path) for path in arguments.samples]
    return compare_tendencies(arguments.real, samples, **asked(arguments)).to_json()
