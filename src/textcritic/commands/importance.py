"""`textcritic importance`: the perplexity of a latent language model, estimated from log importance weights."""

import argparse

from textcritic.api.options import ImportanceOptions
from textcritic.commands.arguments import Commands, add_command, add_json, add_options, asked, printed

IMPORTANCE = """\
Estimate the perplexity of a language model with latent states z from log importance weights: log p(x, z) - log q(z | x)
of K states drawn from a proposal q for each of N texts x, in nats (Logan et al. 2020). WEIGHTS are .npy files, arrays
of N rows and K columns, or .npz files that textcritic wrote. Several files are shards: their draws are put together.

Printed are the estimates at instance and at corpus level, three intervals that cover different things, diagnostics, the
curve in K, and whether K is seen to be too small.
"""
IMPORTANCE_OUTPUT = """\
With --json one JSON object is printed; null means not known or infinite:
  texts, draws, tokens   N, K, T
  perplexity       {"instance", "corpus", "jackknife", "pareto_smoothed", "as_released" (null without the option)}; the
                   first two are too high in expectation; the others are no bounds
  log_likelihood   {"instance", "corpus"}, in nats
  corpus_over_pairings   {"mean", "low", "high", "repeats"}: perplexity at corpus level, and the range of 95% of the
                   pairings of the draws of different texts
  intervals        of the perplexity at instance level, 95%, each with what it "covers":
    over_instances, over_draws   {"low", "high", "reason": why there is none}
    for_truth      {"high": upper bound of the model's own perplexity, "log_likelihood": lower bound of log p}
  curve            {"draws", "instance", "corpus"}: lists; perplexity is the mean over sub-samples
  gap              with --reverse, for texts of the model: {"sign": "missed", "too few", "small", "none" or "unclear",
                   "nats" a text and "ratio" of perplexities, each {"value", "low", "high", "reason"}, "perplexity" from
                   exact states (too low), "explained" by the spread of the weights, "reached": the gap of texts whose
                   states the proposal can draw, "unreached": ids of the others, "states": how many, "sentences",
                   "by_text": nats}; null without the option
  advice           {"verdict": "no sign", "too few" or "unclear", "sentences", "bias", "draws_needed", "fall",
                   "worst": [[text, share of the error], ...]}
  warnings         sentences on what cannot be: a perplexity below 1, a text with a probability above 1
  by_text          {"id", "tokens" (null if only their sum is known), "log_likelihood", "ess", "k_hat"}: lists
"""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    about = "perplexity of a latent language model from log importance weights"
    importance = add_command(commands, "importance", about, IMPORTANCE, IMPORTANCE_OUTPUT)
    importance.add_argument("weights", metavar="WEIGHTS", nargs="+", help="log weights, one file or several shards")
    add_json(importance)
    add_options(importance, ImportanceOptions)
    importance.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.api.importance import importance  # numpy is loaded for this command only

    return printed(importance(arguments.weights, **asked(arguments)), arguments)
