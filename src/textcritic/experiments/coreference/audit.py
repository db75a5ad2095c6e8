"""Audit: how each switch of the critic changes the Latent PPL of every source."""

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.critics import with_groups
from textcritic.critics.mentions import MENTION_SCORES_SCHEMA
from textcritic.critics.mentions.variants import ITSELF, VARIANTS_SCHEMA
from textcritic.errors import TextcriticError
from textcritic.experiments.coreference.files import CoreferenceFiles, Documents
from textcritic.experiments.coreference.read import read_mention_scores
from textcritic.experiments.coreference.rows import PPL, read_scored
from textcritic.files import read_table
from textcritic.inference import DIFFERENT, UNCLEAR, verdict
from textcritic.measures.material import Material
from textcritic.measures.measure import Resampling
from textcritic.measures.names import Names
from textcritic.measures.numbers import missing
from textcritic.measures.rows import columns_of, counted, estimated
from textcritic.plan.sources import DATA, GROUP, KEYS, RUN, SAMPLE
from textcritic.report.cells import matching, measure_cell, unique
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Line, Sheet, plain_sheet

HIGHER, LOWER = "higher", "lower"
COLUMNS = (
    *KEYS,
    *("label", "variant", "latent_ppl", "ci_low", "ci_high", "p_value", "latent_nll", "documents", "tokens", "verdict"),
    *("verdict_changes", "order_changes"),
)
TEXT = ("variant", "verdict")
WORDS: Mapping[str, str] = {
    ITSELF: "The critic as it is",
    "discount: kneser-ney": "Kneser-Ney discounting",
    "discount: as_released": "Discounting as released",
    "discount: modified": "Modified Kneser-Ney",
    **{f"order: {order}": f"Windows of {order} tokens" for order in range(1, 10)},
    "case: keep": "He is not he",
    "case: fold": "Case of pronouns ignored",
    "sentence_marks: true": "Sentence marks",
    "sentence_marks: false": "No sentence marks",
    "people: resolver": "People as the resolver says",
    "people: as_released": "People as in the released code",
    "people: all": "All entities, not only people",
    "gender: majority": "Gender labels",
    "gender: none": "No gender labels",
    "left_out: nothing": "No pronoun left out",
    "token: head": "A mention is its head",
    "token: first": "A mention is its first word",
    "token: last": "A mention is its last word",
    "shared_token: last": "Of mentions with the same word, the last",
    "shared_token: first": "Of mentions with the same word, the first",
    "shared_token: all": "Of mentions with the same word, all",
}


PLAIN = replace(PPL, published="", difference="")
"""Without published values: there are none for variants."""


def audit_rows(material: Material[CoreferenceFiles]) -> pd.DataFrame:
    """Latent PPL of every source under every variant of the critic; no rows if variants are not configured.

    Columns: the keys, `label`; `variant` (as `critics.mentions.variants`); `latent_ppl`, `ci_low`, `ci_high`,
    `p_value`, `latent_nll`, `documents`, `tokens` as in `rows.ppl_rows`; `verdict`: "higher" or "lower" than real text
    if p is below `ALPHA`, else "unclear", "" for real text; `verdict_changes`, whether it differs from the verdict
    under the unchanged critic; `order_changes`, whether the order of the corpus' sources differs.

    Raises:
        TextcriticError: a file is missing or damaged, or is something else.
    """
    files, rows = material.files, []
    for data in files.data:
        if data.variants is None:
            continue
        real = _by_variant(data)
        for source in files.of(data):
            by_variant = real if source is data else _by_variant(source)
            for variant, scores in by_variant.items():
                row = material.start(source) | {"variant": variant}
                scored, of_real = read_scored(scores), None if source is data else read_scored(real[variant])
                row |= counted(scored) | dict(scored.more)
                rows.append(row | columns_of(PPL, estimated(PPL, scored, of_real, Resampling(files.resamples))))
    return _compared(pd.DataFrame(rows).reindex(columns=list(COLUMNS)))


def audit_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """A row for each variant, a column for each source, and the changes."""
    sources = rows[GROUP].drop_duplicates().to_dict("records")
    heads = [names.source(source | {"source": DATA}, seed=False) for source in sources]
    body: list[Line] = []
    for variant, group in rows.groupby("variant", sort=False):
        cells = [measure_cell(matching(group, source), PLAIN) for source in sources]
        changes = Cell("" if variant == ITSELF else _changes(group, names), words=True)
        body.append([WORDS.get(str(variant), str(variant)), *cells, changes])
    caption, remarks = "Latent PPL under each switch of the critic", remarks_of(__file__, "audit")
    return plain_sheet("coreference-audit", caption, ["Variant", *heads, "What changes"], body, remarks)


def audit_sentence(rows: pd.DataFrame) -> str:
    """How many variants change the order of the sources or a verdict; "" without any variant."""
    others = rows[rows["variant"] != ITSELF]
    order, verdict = (
        others.loc[others[column].astype(bool), "variant"].nunique() for column in ("order_changes", "verdict_changes")
    )
    total = others["variant"].nunique()
    if not total:
        return ""
    return (
        f"Of {total} variants of the critic, each with one switch changed, {order or 'none'} put the sources in "
        f"another order, and {verdict or 'none'} changed what differs from real text."
    )


def _by_variant(source: Documents) -> dict[str, pa.Table]:
    """The scores of a source by variant, in the order of the file, with the groups of its documents."""
    assert source.variants is not None
    table = read_table(source.variants)
    if table.schema.names != VARIANTS_SCHEMA.names:
        raise TextcriticError(f"{source.variants}: not scores of variants; delete it and rerun the rule that makes it")
    table = with_groups(table, read_mention_scores(source))
    return {
        name: table.filter(pc.equal(table["variant"], name)).select(MENTION_SCORES_SCHEMA.names)
        for name in unique(table["variant"].to_pylist())
    }


def _compared(table: pd.DataFrame) -> pd.DataFrame:
    """With verdicts, and the changes from the unchanged critic."""
    table["verdict"], table["verdict_changes"], table["order_changes"] = "", False, False
    for _, corpus in table.groupby("corpus", sort=False):
        groups = {str(variant): group for variant, group in corpus.groupby("variant", sort=False)}
        itself = groups[ITSELF]
        for group in groups.values():
            table.loc[group.index, "verdict"] = _verdicts(group)
            # Every variant has the same sources, in the same order.
            table.loc[group.index, "verdict_changes"] = [
                one != two for one, two in zip(_verdicts(group), _verdicts(itself), strict=True)
            ]
            table.loc[group.index, "order_changes"] = _order(group) != _order(itself)
    return table.astype({**dict.fromkeys(RUN, "Int64"), "documents": "Int64", "tokens": "Int64"})


def _verdicts(group: pd.DataFrame) -> list[str]:
    """The verdict on each source of a corpus under one variant."""
    real = group.loc[group["source"] != SAMPLE, "latent_ppl"].iloc[0]
    words = []
    for row in group.to_dict("records"):
        p = None if missing(row["p_value"]) else row["p_value"]
        differs = verdict(p, None, None) == DIFFERENT
        words.append((HIGHER if row["latent_ppl"] > real else LOWER) if differs else UNCLEAR)
    return [word if source == SAMPLE else "" for word, source in zip(words, group["source"], strict=True)]


def _order(group: pd.DataFrame) -> list[tuple[str, ...]]:
    """The sources of a corpus by their Latent PPL, the mean over seeds."""
    scored = group.dropna(subset="latent_ppl")
    return scored.groupby(["source", *GROUP], sort=False)["latent_ppl"].mean().sort_values(kind="stable").index.tolist()


def _changes(group: pd.DataFrame, names: Names) -> str:
    parts = ["order of the sources"] if group["order_changes"].any() else []
    changed = group[group["verdict_changes"].astype(bool)]
    parts += [f"{names.source(row)}: {row['verdict']}" for row in changed.to_dict("records")]
    return "; ".join(parts) or "nothing"
