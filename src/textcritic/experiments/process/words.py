"""What the numbers of a known process say, in words."""

import pandas as pd

from textcritic.experiments.process.names import ProcessNames
from textcritic.experiments.process.sheets import ENOUGH, seeds_read
from textcritic.inference import ALPHA
from textcritic.measures.numbers import count, plural
from textcritic.measures.scored import reasons_over_seeds
from textcritic.plan.sources import GROUP, SAMPLE
from textcritic.report.section import Finding

MOST = 0.5  # the largest share of its sequences that a source may lose and still be ranked
SAME = 0.005  # a share of a perplexity that the tables do not show
DEFINITIONS = (
    (
        "Known process",
        "A chain of hidden states, each of which writes one of a few sub-sequences of letters that no other state "
        "writes, and a delimiter. The states of a sequence can be read off without error, and the probability of each "
        "step is known, so no classifier and no fitted critic stand between a sample and its Latent PPL.",
    ),
    (
        "Step of a known process",
        "From one state to the next; the first is from the beginning. A sequence of M sub-sequences has M steps, and "
        "none to an end.",
    ),
    (
        "Word-level perplexity",
        "Perplexity per letter or delimiter of the test sequences. No model can expect less than the process's own.",
    ),
    (
        "Not read",
        "Sampled texts that the process could never have written: an unknown sub-sequence, another number of "
        "sub-sequences, or no end. They are in no Latent PPL, so their share stands beside it.",
    ),
)


def process_doubts(rows: pd.DataFrame, names: ProcessNames) -> list[Finding]:
    """What makes the scores of a model doubtful: sequences that could not be read, or too few to tell.

    Args:
        rows: as `rows.perplexity_rows` makes them.
        names: of the processes.
    """
    points = []
    for _, group in rows[rows["source"] == SAMPLE].groupby(GROUP, sort=False):
        rejected, kept = int(group["rejected"].sum()), int(group["documents"].sum())
        parts = []
        if rejected > MOST * (rejected + kept):
            commonest, *_ = reasons_over_seeds(group)
            of = plural(rejected + kept, "sequence")
            parts.append(f"{count(rejected)} of its {of} could not be read, most often for the reason “{commonest}”")
        if not kept:
            parts.append("it has no Latent PPL")
        elif kept < ENOUGH and not group["p_value"].max() < ALPHA:
            parts.append(f"{plural(kept, 'sequence is', 'sequences are')} too few to see a difference from the process")
        parts += seeds_read(group) if kept else []
        if parts:
            points.append(Finding(names.source(group.iloc[0].to_dict(), seed=False), f"{'; '.join(parts)}."))
    return points
