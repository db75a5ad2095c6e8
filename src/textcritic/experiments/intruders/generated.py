"""Generated text in long format: the share of documents in which a detector flags a sentence, at equal lengths."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from textcritic.corpora.intruders.documents import Document, read_documents
from textcritic.experiments.intruders.files import Coherent, Generated, IntruderFiles
from textcritic.experiments.intruders.read import flagged, groups_of, predictions_of, some_documents
from textcritic.files import lacking, read_json
from textcritic.inference import (
    Groups,
    Trials,
    bootstrap_interval,
    ratio_of_sums,
    standardised_share,
    unit_sums,
    with_ones,
)
from textcritic.measures.material import Material
from textcritic.measures.measure import Estimate, Measure, Resampling, Scored
from textcritic.measures.rows import completed, source_rows
from textcritic.measures.scored import RECIPE, perplexity_of
from textcritic.report.cells import PERPLEXITY as PPL

PPL_TEXT = ("ppl_unit", "ppl_infinite_because")
LONGER = "more sentences than any real document"


def measures_of(files: IntruderFiles) -> list[Measure]:
    """The share of documents that each judge flags, at the lengths of real text."""
    return [
        Measure(
            name=f"Flagged by {judge.label}, %",
            means="documents in which this detector flags a sentence as not belonging",
            value=f"flagged_{number}",
            low=f"flagged_{number}_low",
            high=f"flagged_{number}_high",
            p=f"flagged_{number}_p",
            section="generated",
            estimate=_Flagged(f"flagged_{number}"),
            whole=100,
        )
        for number, judge in enumerate(files.judges)
    ]


PERPLEXITY = replace(PPL, section="generated", metric="", published="", difference="", compared=False)
"""Perplexity of the generator, so that the front page has it in the row of each model."""


def generated_rows(material: Material[IntruderFiles]) -> pd.DataFrame:
    """The share of documents of each source that each judge flags: one row a source.

    A document is flagged if any of its sentences is. A longer document has more chances of that, so shares are
    standardised to the lengths of the real documents (`inference.standardised_share`), and the test compares documents
    of equal length.

    Columns: those of `rows.source_rows`; `sentences`, the mean of a document; for judge n `flagged_n`, percent, with
    its interval `_low`, `_high` over documents, or groups of them, `_p` against real text, and `flagged_n_plain`, the
    share without weights; `ppl_all`, the perplexity of its generator, per `ppl_unit`; `scored.RECIPE`, of the first
    judge.

    Raises:
        TextcriticError: a file is missing or damaged, or files are of other documents.
    """
    judged = measures_of(material.files)
    measures = [*judged, PERPLEXITY]
    if not judged:
        return pd.DataFrame(columns=["corpus", "source", "label", "documents"])
    rows = source_rows(material, _read, measures)
    columns = ["label"]
    for measure in judged:
        columns += [measure.value, measure.low, measure.high, measure.p, f"{measure.value}_plain"]
    columns += ["ppl_all", "ppl_all_low", "ppl_all_high", "ppl_unit", "ppl_infinite_because"]
    columns += ["sentences", "documents", "rejected", "groups", "rejected_share", "rejected_by_reason", *RECIPE]
    return completed(rows, columns, measures, ("documents", "groups", "rejected", "seeds"), PPL_TEXT)


class _Flagged:
    """The estimate of one judge."""

    def __init__(self, value: str) -> None:
        self.value = value

    def __call__(self, scored: Scored, real: Scored | None, resampling: Resampling) -> Estimate:
        """The share standardised to the lengths of real text; for real text itself the plain share."""
        trials: Trials = scored.data[self.value]
        plain = {f"{self.value}_plain": 100 * float(trials.hits.mean())}
        if real is None:
            columns = unit_sums(with_ones(trials.hits), trials.groups)
            interval = bootstrap_interval(columns, ratio_of_sums, resampling.resamples, seed=resampling.seed).of_share()
            return Estimate(interval.estimate, interval.low, interval.high, None, plain, interval.reason)
        share = standardised_share(trials, real.data[self.value], resampling.resamples, seed=resampling.seed)
        if share is None:
            return Estimate(more=plain, reason="no real document has as many sentences")
        reason = "; ".join(filter(None, (share.interval.reason, share.reason)))
        return Estimate(share.interval.estimate, share.interval.low, share.interval.high, share.p, plain, reason)


def _read(source: Coherent | Generated, real: Scored | None) -> Scored:
    """One source: for each judge whether each document is flagged, with its number of sentences."""
    documents = some_documents(source.documents) if isinstance(source, Coherent) else _documents(source)
    if not documents:
        return Scored(documents=0, reasons=_left_out(source), more=_perplexity(source))
    lengths = np.array([len(document.sentences) for document in documents])
    data = {}
    for number, path in enumerate(source.predictions):
        predictions = predictions_of(documents, path)
        hits = np.array([bool(flagged(one)) for one in predictions])
        data[f"flagged_{number}"] = Trials(hits, lengths, groups_of(documents))
    reasons = _left_out(source)
    if real is not None:
        lengths_of_real = real.data["flagged_0"].strata
        if longer := int((~np.isin(lengths, lengths_of_real)).sum()):
            reasons = {**reasons, LONGER: longer}
    kept = len(documents) - reasons.get(LONGER, 0)
    more = {"sentences": float(lengths.mean())} | _perplexity(source)
    return Scored(data, kept, reasons, more, _groups(documents, kept))


def _documents(source: Generated) -> list[Document]:
    """The documents of a sample; may be empty."""
    return read_documents(source.documents)


def _groups(documents: Sequence[Document], kept: int) -> Groups:
    """Groups for the counts; None if some documents are not compared, because then the groups are not needed."""
    return groups_of(documents) if kept == len(documents) else None


def _perplexity(source: Coherent | Generated) -> dict[str, object]:
    return {} if isinstance(source, Coherent) else perplexity_of(source.perplexity)


def _left_out(source: Coherent | Generated) -> dict[str, int]:
    """Texts of a sample that gave no document, and articles that were rejected when it was drawn."""
    if isinstance(source, Coherent):
        return {}
    with lacking(source.cut):
        counts, cut = read_json(source.counts), read_json(source.cut)
        reasons = {"not an article": int(counts["drawn"]) - int(counts["kept"]), **cut["left_out"]}
    return {reason: number for reason, number in reasons.items() if number > 0}
