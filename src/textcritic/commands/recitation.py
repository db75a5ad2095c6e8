"""`textcritic recitation`: how much of samples is in the training text, word for word."""

import textcritic
from textcritic.api.options import RecitationOptions
from textcritic.commands.arguments import LABELS, TEXTS, Commands, add_command, add_comparison

RECITATION = """\
Measure how much of SAMPLES is in TRAIN, the texts that their model was trained on, word for word (McCoy et al. 2023,
RAVEN): the share of all runs of 13 words. SAMPLES are compared with REAL, texts that the model was not trained on,
because people repeat one another too. Higher than REAL: the model recites. Lower: it repeats less than people do. TRAIN
is held in memory, with 40 bytes more for each of its words.
"""
RECITATION_OUTPUT = """\
With --json one JSON object is printed:
  real             of REAL:
    recited        {"value", "low", "high", "p", "reason"}: the share of runs of 13 words that are in TRAIN, with its
                   95% interval (null where there is none), p of a test against REAL (null for REAL itself), and why
                   interval or p is missing
    n              texts of 13 words or more
    rejected, rejected_by_reason   shorter texts
    seen, all      for each n from 4 to 16, the number of runs of n words that are in TRAIN, and of all
    longest        {"words", "document", "begin", "train_document", "train_begin"}: the longest passage that is in
                   TRAIN: its text and a text of TRAIN that has it, and its first word in each, all counted from 0
  samples          the same for each file of SAMPLES, by its label
"""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    about = "what samples have word for word from their training text"
    recitation = add_command(commands, "recitation", about, RECITATION + TEXTS + LABELS, RECITATION_OUTPUT)
    add_comparison(
        recitation,
        lambda: textcritic.recitation,
        RecitationOptions,
        "real texts that the model was not trained on",
        "what it wrote, one file or more",
    )
