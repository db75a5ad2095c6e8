"""`textcritic coreference`: Latent PPL of chains of mentions."""

import textcritic
from textcritic.api.options import CoreferenceOptions
from textcritic.commands.arguments import FILES, GROUPS, LABELS, TEXTS, Commands, add_command, add_comparison

COREFERENCE = """\
Fit a critic of who is mentioned after whom on part of REAL, and compare the Latent PPL of SAMPLES with that of the
other part, which is held out.

Each line of these files is a JSON object {"mentions": [".", "he:3", "MALE:3", ...]}: who is mentioned in one document,
in order. "." marks each start of a sentence. A mention is symbol:entity. The symbol is a pronoun as it is written, or
the gender of the entity (MALE, FEMALE, PLURAL, None). The entity is any text after the last colon, always the same for
the same person of a document. With --resolver, the files hold texts, and mentions are found first.
"""
COREFERENCE_OUTPUT = """\
With --json one JSON object is printed. With several files of SAMPLES it has real, order, discount and samples, and
samples has the other keys by label:
  latent_ppl          exp(sum of NLL / sum of tokens), pooled over the documents scored; tokens: mentions and "."
  ci95                [low, high], 95% studentised bootstrap over documents; null where there is none, and then
  ci95_reason         says why, such as fewer than 20 documents
  p                   permutation test of log Latent PPL against the held-out part of REAL
  real                latent_ppl, ci95, ci95_reason and n of that part
  latent_nll_mean     mean NLL of a document, in nats
  tokens, n           tokens and documents scored
  rejected            documents of SAMPLES left out, as they have neither a mention nor a sentence mark
  rejected_by_reason  how many for each reason
  without_people      documents scored in which nobody is mentioned
  order, discount     the options
  unseen              tokens scored that the critic never saw: no window of its part of REAL ends in this symbol with
                      this number, where the entities of a window are numbered from 0 by first appearance
"""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    about = "Latent PPL of chains of mentions: who is mentioned after whom"
    above = f"{COREFERENCE}{FILES}{TEXTS}{LABELS}{GROUPS}"
    coreference = add_command(commands, "coreference", about, above, COREFERENCE_OUTPUT)
    add_comparison(
        coreference,
        lambda: textcritic.coreference,
        CoreferenceOptions,
        "real chains: to fit the critic on, and to compare with",
        "chains to score, one file or more",
    )
