"""`textcritic tendencies`: whether samples keep to the statistical tendencies of real text."""

import textcritic
from textcritic.api.options import TendencyOptions
from textcritic.commands.arguments import GROUPS, LABELS, TEXTS, Commands, add_command, add_comparison

TENDENCIES = """\
Say whether texts keep to the statistical tendencies of real text (Meister and Cotterell 2021): how often the words of
each rank are, how many different ones a document of some length has, which words they are, how long documents are,
which follow each other, their stop words and symbols, how words come in bursts and recur. Nothing is fitted that
samples could be tuned to.

All of REAL is compared with. With --draws half of it is, drawn at random, and from the other half second draws are
taken, disjoint and each of as many documents as the largest file of SAMPLES: how far real text is from real text; they
decide no verdict. The texts of all files are held in memory.
"""
TENDENCIES_OUTPUT = """\
With --json one JSON object is printed:
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
  samples          of each file of SAMPLES, by its label, the same, and:
    one_size       estimates that depend on how much text there is, of the sample and of real text of as many tokens,
                   "tokens"; the larger one is thinned. "estimates": each with "value", "real", "difference", and the
                   95% interval of the difference
    distances      each with "value"; the 95% interval of the distance of the two sources, "low" to "high", null of
                   fewer than 20 documents; "p" of a test against real text; "by_chance", the mean where documents are
                   exchanged at random; "noticed", what as many documents would notice in 80% of cases; "floor" and
                   "floor_most", the distance of second draws in the mean and of the farthest, null without draws.
                   rank, heaps, length_ks, stopwords_ks, symbols_ks: largest differences of cumulative distributions;
                   unigram_max, unigram_half_l1, unigram_chi_square: of the frequencies of words; bigram_max: of pairs
                   of neighbouring words; taylor_distance, recurrence_distance; and ..._difference, sample minus real
    verdicts       for each tendency {"verdict", "distance": which one decides, "p_adjusted": Holm's p for nine tests at
                   once, "margin", "noticed", "times": as far as by chance, "way", "why"}. Verdicts: "differs", p is
                   below 0.05; "keeps", it is not, and the interval ends below the margin; "unclear", neither;
                   "not measured", for the reason in "why"
    sentences      one in plain words for each tendency that differs
    fault          what shows that both were tokenised in different ways, or null
"""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    about = "statistical tendencies of text: ranks, types, lengths, ..."
    above = TENDENCIES + TEXTS + LABELS + GROUPS
    tendencies = add_command(commands, "tendencies", about, above, TENDENCIES_OUTPUT)
    add_comparison(
        tendencies,
        lambda: textcritic.compare_tendencies,
        TendencyOptions,
        "real texts",
        "texts to compare with them, one file or more",
    )
