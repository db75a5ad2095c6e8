"""How many mentions a critic finds unlikely, in real text and in samples."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from textcritic.critics.mentions import NO_ENTITY, THRESHOLD, MentionCritic
from textcritic.experiments.coreference.files import CoreferenceFiles, Documents
from textcritic.experiments.coreference.read import chained, critic_of, groups_of_ids
from textcritic.inference import Groups, ratio_of_sums
from textcritic.measures.material import Material
from textcritic.measures.measure import Measure, Scored
from textcritic.measures.names import Names
from textcritic.measures.numbers import count
from textcritic.measures.rows import source_rows, with_reasons
from textcritic.plan.sources import KEYS, RUN
from textcritic.report.cells import Column, measure_sheet
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Sheet

COLUMNS = ("mentions", "documents", "unlikely", "share", "ci_low", "ci_high", "p_value")
WHOLE = (*RUN, "mentions", "documents", "unlikely")


SHARE = Measure(name="Unlikely mentions", value="share", section="shares", statistic=ratio_of_sums, whole=1)


def share_rows(material: Material[CoreferenceFiles]) -> pd.DataFrame:
    """The share of unlikely mentions in real text and in every sample, one row a source.

    A mention is unlikely if its log P under the critic is below `THRESHOLD` (paper, Table 15); marks of sentences are
    not counted.

    Columns: the keys; `mentions` and the `documents` that have any; `unlikely`, the number of unlikely mentions;
    `share`, `unlikely` divided by `mentions`, with its 95% bootstrap interval `ci_low`, `ci_high`; `p_value` of a test
    against real text. Documents that belong together are one unit of both. A source without a mention has only counts.

    Raises:
        TextcriticError: a file is missing or damaged.
    """
    critics = {data.corpus: critic_of(data) for data in material.files.data}

    def read(source: Documents, _: Scored | None) -> Scored:
        columns, groups = _unlikely(source, material.files, critics[source.corpus])
        unlikely, mentions = columns.sum(axis=0)
        more = {"documents": len(columns), "unlikely": unlikely, "mentions": mentions}
        return Scored({SHARE.value: columns} if len(columns) else {}, more=more, groups=groups)

    rows = pd.DataFrame(source_rows(material, read, [SHARE]))
    table = with_reasons(rows, [*KEYS, *COLUMNS], [SHARE])
    return table.astype(dict.fromkeys(COLUMNS, float)).astype(dict.fromkeys(WHOLE, "Int64"))


def share_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """The share of unlikely mentions of each source; of several trainings their mean and how many of them differ."""
    columns: dict[str, Column] = {
        "Unlikely": SHARE,
        "Mentions": lambda group: count(group["mentions"].sum()),
        "Documents": lambda group: count(group["documents"].sum()),
    }
    heading, remarks = ("coreference-shares", "Unlikely mentions"), remarks_of(__file__, "share")
    return measure_sheet(heading, rows, names, columns, remarks)


def _unlikely(
    source: Documents, files: CoreferenceFiles, critic: MentionCritic
) -> tuple[npt.NDArray[np.int64], Groups]:
    """Unlikely mentions and all mentions of each document that has any, [documents, 2], and the documents' groups."""
    read = chained(source, files)
    chains = read.chains
    document = np.repeat(np.arange(len(chains.lengths)), chains.lengths)
    mention = chains.entities != NO_ENTITY
    below = mention & (critic.log_prob(chains) < THRESHOLD)
    columns = [np.bincount(document[which], minlength=len(chains.lengths)) for which in (below, mention)]
    counts = np.stack(columns, axis=1)
    some = np.flatnonzero(counts[:, 1])
    return counts[some], groups_of_ids(source, [read.ids[place] for place in some])
