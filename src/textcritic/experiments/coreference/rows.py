"""Latent PPL of chains of mentions in long format (model criticism paper, Tables 7 and 8)."""

from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.critics import document_columns, groups_of, latent_nll, rejections
from textcritic.experiments.coreference.files import CoreferenceFiles, Documents
from textcritic.experiments.coreference.read import read_mention_scores
from textcritic.measures.material import Material
from textcritic.measures.measure import LATENT_PPL, Scored
from textcritic.measures.rows import completed, source_rows
from textcritic.measures.scored import RECIPE

PPL = replace(
    LATENT_PPL,
    name="Latent PPL of mentions",
    means="how surprising it is who is mentioned after whom",
    section="values",
)
COLUMNS = (
    "label", "latent_ppl", "ci_low", "ci_high", "p_value", "latent_nll", "documents", "groups", "tokens",
    "mentions_per_document", "people_per_document", "without_people", "rejected", "rejected_share",
    "rejected_by_reason", *RECIPE, "published", "difference",
)  # fmt: skip
WHOLE = ("documents", "groups", "tokens", "without_people", "rejected", "seeds")


def ppl_rows(material: Material[CoreferenceFiles]) -> pd.DataFrame:
    """Latent PPL of real text and of every sample, one row a source.

    Columns: those of `rows.source_rows` for `latent_ppl` (a step is a token of a chain, sentence marks included);
    `latent_nll`, mean nats a document; `tokens` scored; `mentions_per_document`, `people_per_document` (distinct
    entities), `without_people` (documents with only sentence marks); over the seeds of a group `seeds`, and
    `seeds_mean`, `seeds_sd` of the seeds with a score; `published`, and `difference`, ours minus it.

    Raises:
        TextcriticError: a file is missing or damaged, files do not belong together, or no real text could be scored.
    """

    def read(source: Documents, _: Scored | None) -> Scored:
        return read_scored(read_mention_scores(source))

    return completed(source_rows(material, read, [PPL]), COLUMNS, [PPL], WHOLE)


def read_scored(scores: pa.Table) -> Scored:
    """The Latent PPL and the counts from one set of scores."""
    kept = scores.filter(pc.invert(scores["rejected"]))
    if not len(kept):
        return Scored({}, 0, rejections(scores))
    columns = document_columns(scores)
    people, mentions = (kept[name].to_numpy() for name in ("people", "mentions"))
    more = {
        "latent_nll": latent_nll(scores),
        "tokens": int(columns[:, 1].sum()),
        "mentions_per_document": float(mentions.mean()),
        "people_per_document": float(people.mean()),
        "without_people": int((people == 0).sum()),
    }
    return Scored({PPL.value: columns}, len(kept), rejections(scores), more, groups_of(scores))
