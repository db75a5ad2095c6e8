"""Latent PPL of chains of mentions in long format (model criticism paper, Tables 7 and 8)."""

from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.critics import document_columns, latent_nll, latent_ppl, p_value_of, rejections
from textcritic.errors import TextcriticError
from textcritic.experiments.coreference.files import CoreferenceFiles, Sample
from textcritic.experiments.coreference.read import read_mention_scores, source_keys
from textcritic.inference import bootstrap_interval, exp_ratio_of_sums
from textcritic.report.names import KEYS, Names
from textcritic.report.published import Published
from textcritic.report.scored import add_seeds, check_counts, reasons_in_words

COLUMNS = (
    *("label", "latent_ppl", "ci_low", "ci_high", "p_value", "latent_nll", "documents", "tokens"),
    *("mentions_per_document", "people_per_document", "without_people"),
    *("rejected", "rejected_share", "rejected_by_reason", "seeds", "seeds_mean", "seeds_sd", "published", "difference"),
)
WHOLE = ("seed", "documents", "tokens", "without_people", "rejected", "seeds")
TEXTS = ("label", "rejected_by_reason")


def ppl_rows(files: CoreferenceFiles, published: Published) -> pd.DataFrame:
    """Latent PPL of real text and of every sample, one row a source.

    Columns: the keys; `label`; `latent_ppl` (a step is a token of a chain, sentence marks included) with its 95%
    document-bootstrap interval `ci_low`, `ci_high`, and the `p_value` of a permutation test against real text;
    `latent_nll`, mean nats a document; `documents` and `tokens` scored; `mentions_per_document`, `people_per_document`
    (distinct entities), `without_people` (documents with sentence marks alone); `rejected`, `rejected_share`,
    `rejected_by_reason` ("reason: n; ..."); over the seeds of a group `seeds`, and `seeds_mean`, `seeds_sd` of those of
    which something could be scored; `published`, and `difference`, ours minus it. A sample of which nothing could be
    scored has the counts alone.

    Raises:
        TextcriticError: a file is missing or damaged, files do not belong together, or no real text could be scored.
    """
    names = Names.of(files.samples)
    rows = []
    for data in files.data:
        real = read_mention_scores(data)
        for source in files.of(data):
            scores = real if source is data else read_mention_scores(source)
            keys = source_keys(source)
            row = keys | {"label": names.source(keys, corpus=False)} | scored(scores, files.resamples)
            if isinstance(source, Sample):
                check_counts(scores, source)
                row["p_value"] = p_value_of(scores, real, files.resamples) if row["documents"] else None
            elif not row["documents"]:
                raise TextcriticError(f"{data.scores}: no document could be scored ({row['rejected_by_reason']})")
            rows.append(row | {"published": published.value("latent_ppl", keys)})
    return _completed(pd.DataFrame(rows))


def scored(scores: pa.Table, resamples: int) -> dict[str, Any]:
    """The columns of `ppl_rows` that one set of scores says alone."""
    reasons = rejections(scores)
    rejected = sum(reasons.values())
    row: dict[str, Any] = {"documents": scores.num_rows - rejected, "rejected": rejected}
    row |= {"rejected_share": rejected / max(scores.num_rows, 1), "rejected_by_reason": reasons_in_words(reasons)}
    if not row["documents"]:
        return row
    columns = document_columns(scores)
    interval = bootstrap_interval(columns, exp_ratio_of_sums, resamples=resamples)
    kept = scores.filter(pc.invert(scores["rejected"]))
    people, mentions = (kept[name].to_numpy() for name in ("people", "mentions"))
    return row | {
        "latent_ppl": latent_ppl(scores),
        "ci_low": interval.low,
        "ci_high": interval.high,
        "latent_nll": latent_nll(scores),
        "tokens": int(columns[:, 1].sum()),
        "mentions_per_document": float(mentions.mean()),
        "people_per_document": float(people.mean()),
        "without_people": int((people == 0).sum()),
    }


def _completed(table: pd.DataFrame) -> pd.DataFrame:
    """All columns in order, with the difference and the summary over the seeds of each group."""
    table = table.reindex(columns=[*KEYS, *COLUMNS])
    table = table.astype({column: float for column in COLUMNS if column not in TEXTS})
    table["difference"] = table["latent_ppl"] - table["published"]
    add_seeds(table, "latent_ppl")
    return table.astype(dict.fromkeys(WHOLE, "Int64"))
