"""`textcritic mixing`: how much texts mix topics, such as languages, compared with real ones."""

import textcritic
from textcritic.api.options import MixingOptions
from textcritic.commands.arguments import GROUPS, LABELS, TEXTS, Commands, add_command, add_comparison

MIXING = """\
Fit latent Dirichlet allocation on part of the texts of REAL, and say how much the others, and those of SAMPLES, mix its
topics. Where each real text is in one of K languages, K topics become the languages: what is measured is code-mixing.

Tokens are split at white space, and all of them count; texts should be tokenised, punctuation apart from words.
Texts of REAL may have the key "language" in addition to "text". The files may also be counts in the format LDA-C (.dat,
.ldac).
"""
MIXING_OUTPUT = """\
With --json one JSON object is printed. With several files of SAMPLES, samples has, by label, the keys that it has for
one file, and mixed_p and energy_distance:
  real, samples    of the real texts that were held out, and of the samples, each number with its 95% interval by
                   bootstrap over texts (ci95; where it is nulls, ci95_reason says why):
    mixed          share of the words outside the main topic of their text, expected under the posterior
    divided        share of the texts with less than 90% in one topic (posterior mean)
    corners        share of the posterior draws with at least 90% in one topic
    entropy        of the topic shares, nats, mean over posterior draws
    latent_nll     mean of -log p(topic shares) of a text, in expectation under its posterior, nats. It is that of a
                   density: it may be below 0, and exp of it means nothing
    topic_shares   share of all words in each topic
    n, rejected    texts scored, and those left out as they have no word that the fit has
    tokens, tokens_unknown   counted, and left out as the fit does not have them
  mixed_p          permutation test: do samples and real texts differ in mixed; with --paired by exchange within pairs
  energy_distance  of the posterior means of samples and real texts: {"value", "corrected" for what finite sets add,
                   "ci95" of that, "p" by permutation, "paired"}. It notices also which topics samples prefer
  topics           of each its "language" (where REAL has them), "alpha" of the prior and the 20 likeliest "words"
  agreement        of the held-out real texts: share of "words" in the topic of their language, and of "documents" whose
                   main topic it is; null where REAL has no languages
  fit              {"documents", "seconds", "log_prob": nats a token, log p(words, topics); "converged", "sweeps" of
                   each chain; "drift", R-hat between the halves of the chains, and "agreement", R-hat of all of them,
                   null where there are too few sweeps (or one chain); "words": the same in a sentence}
"""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    above = MIXING + TEXTS + LABELS + GROUPS
    mixing = add_command(commands, "mixing", "how much texts mix topics, such as languages", above, MIXING_OUTPUT)
    add_comparison(
        mixing, lambda: textcritic.mixing, MixingOptions, "real texts", "texts to compare with them, one file or more"
    )
