"""Cross-entropy of each source as entropy and divergence (model criticism paper, section 2), and its table.

The entropy is estimated as the cross-entropy under a critic of the same kind that was fitted on the other documents of
the same source (`critics.mentions.cross_fitted_nll`): an upper bound, because no such critic is perfect.
"""

import numpy as np
import pandas as pd

from textcritic.critics.mentions import cross_fitted_nll
from textcritic.critics.mentions.scoring import document_nll
from textcritic.experiments.coreference.files import CoreferenceFiles
from textcritic.experiments.coreference.read import chained, critic_of, groups_of_ids
from textcritic.inference import bootstrap_interval, ratio_of_sums, unit_sums
from textcritic.measures.material import Material
from textcritic.measures.names import Names
from textcritic.measures.numbers import count, interval, missing, number
from textcritic.plan.sources import KEYS, RUN
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Line, Sheet, plain_sheet
from textcritic.values import Row

TERMS = ("cross_entropy", "entropy", "kl")
COLUMNS = ("documents", "tokens", *(f"{term}{end}" for term in TERMS for end in ("", "_low", "_high")))


def decomposition_rows(material: Material[CoreferenceFiles]) -> pd.DataFrame:
    """The parts of the cross-entropy of every source, seeds included.

    Columns: the keys, `label`; `documents` and `tokens`; in nats per token `cross_entropy` (log Latent PPL), `entropy`
    (an upper bound) and `kl` (cross-entropy minus entropy, a lower bound of the divergence from the critic), each with
    its 95% bootstrap interval over documents (a group counts as one), `_low` and `_high`, for fixed critics. A source
    with fewer than two documents has no parts.

    Raises:
        TextcriticError: a file is missing or damaged.
    """
    files, rows = material.files, []
    for real in files.data:
        critic = critic_of(real)
        for source in files.of(real):
            read = chained(source, files)
            some = np.flatnonzero(read.chains.lengths)
            chains = read.chains.some(read.chains.lengths > 0)
            row = material.start(source) | {"documents": len(chains.lengths), "tokens": len(chains.codes)}
            if len(chains.lengths) > 1:
                nll = document_nll(critic, chains)
                own = cross_fitted_nll(critic, chains)
                groups = groups_of_ids(source, [read.ids[place] for place in some])
                for term, sums in zip(TERMS, (nll, own, nll - own), strict=True):
                    columns = np.column_stack([sums, chains.lengths])
                    interval = bootstrap_interval(unit_sums(columns, groups), ratio_of_sums, resamples=files.resamples)
                    row |= {term: interval.estimate, f"{term}_low": interval.low, f"{term}_high": interval.high}
            rows.append(row)
    table = pd.DataFrame(rows).reindex(columns=[*KEYS, "label", *COLUMNS])
    whole = (*RUN, "documents", "tokens")
    return table.astype(dict.fromkeys(COLUMNS, float) | dict.fromkeys(whole, "Int64"))


def decomposition_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """Cross-entropy, entropy and divergence of every source."""
    body: list[Line] = [
        [names.source(row), *(Cell(number(row[term]), _span(row, term)) for term in TERMS), count(row["documents"])]
        for row in rows.to_dict("records")
    ]
    heads = ("Source", "Cross-entropy", "Entropy, at most", "Divergence, at least", "Documents")
    caption = "Cross-entropy of chains of mentions and its two parts"
    return plain_sheet("coreference-decomposition", caption, heads, body, remarks_of(__file__, "decomposition"))


def _span(row: Row, term: str) -> tuple[str, ...]:
    low, high = row[f"{term}_low"], row[f"{term}_high"]
    if missing(low):
        return ()
    # A dash between two numbers would be misread if one is below 0.
    return (f"{number(low)} to {number(high)}" if low < 0 else interval(low, high),)
