"""What the numbers of a known process say, in words."""

import pandas as pd

from textcritic.experiments.process.names import ProcessNames
from textcritic.experiments.process.sheets import ENOUGH, seeds_read
from textcritic.inference import ALPHA
from textcritic.measures.card import MOST_LOST
from textcritic.measures.numbers import count, plural
from textcritic.measures.scored import reasons_over_seeds
from textcritic.plan.sources import GROUP, SAMPLE
from textcritic.report.section import Finding


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
        if rejected > MOST_LOST * (rejected + kept):
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
