"""`textcritic chains`: Latent PPL of chains of section titles."""

import argparse

from textcritic.api.options import ChainOptions
from textcritic.commands.arguments import FILES, GROUPS, Commands, add_command, add_json, add_options, asked, printed

CHAINS = """\
Fit a transition critic on the chains of TRAIN and give the Latent PPL of the chains of TEST.

Each line of both files is a JSON object {"chain": ["title", ...]}: the section titles (or any other states) of one
document, in order. A chain of K titles has K + 1 steps: begin -> first title, ..., last title -> end.
"""
CHAINS_OUTPUT = """\
With --json one JSON object is printed:
  latent_ppl          exp(sum of NLL / sum of steps), pooled over the documents scored
  ci95                [low, high], 95% studentised bootstrap over documents; null where there is none, and then
  ci95_reason         says why, such as fewer than 20 documents
  latent_nll_mean     mean NLL of a document, in nats
  steps, n            transitions and documents scored
  rejected            documents of TEST left out: no titles, or a title that TRAIN does not have
  rejected_by_reason  how many for each reason
  smoothing           the pseudo-count delta that was used
  other_smoothings    [{"smoothing", "latent_ppl"}] for the next smaller and larger delta of the grid: if latent_ppl
                      changes much, TEST has many transitions that are rare in TRAIN, and their probability depends on
                      the choice of delta
  warnings            the same in a sentence, if latent_ppl changes by more than a tenth
  unseen_transitions  [{"from", "to", "count"}] of the transitions of TEST to which the critic gives probability 0
                      (smoothing 0 only). If there are any, the Latent PPL is infinite, and latent_ppl, ci95 and
                      latent_nll_mean are null. No figure over the remaining transitions is given: leaving out the
                      impossible ones would reward a text for making them.
  skipped_transitions transitions next to a title that TRAIN does not have (--as-released only, else 0)
"""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    above = CHAINS + FILES + GROUPS
    chains = add_command(commands, "chains", "Latent PPL of chains of section titles", above, CHAINS_OUTPUT)
    chains.add_argument("train", metavar="TRAIN", help="chains to fit the critic on")
    chains.add_argument("test", metavar="TEST", help="chains to score")
    add_json(chains)
    add_options(chains, ChainOptions)
    chains.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.api.chains import chains  # numpy and pyarrow are loaded for this command only

    return printed(chains(arguments.train, arguments.test, **asked(arguments)), arguments)
