"""Coherence in long format, one row per source: what the tables, figures and sentences are made of."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from textcritic.critics import (
    TransitionCritic,
    decompose,
    document_columns,
    latent_nll,
    latent_ppl,
    p_value_of,
    rejections,
    scored_transitions,
    unseen_transitions,
)
from textcritic.errors import TextcriticError
from textcritic.experiments.coherence.files import CoherenceFiles
from textcritic.experiments.coherence.names import DATA_GOLD, DATA_INFERRED, names_of
from textcritic.files import read_json
from textcritic.inference import bootstrap_interval, exp_ratio_of_sums, seed_summary
from textcritic.report.names import GROUP, KEYS, SAMPLE, data_keys, sample_keys
from textcritic.report.published import Published
from textcritic.report.scored import check_counts, perplexity_of, read_scores, reasons_in_words


def coherence_rows(experiment: CoherenceFiles, published: Published) -> pd.DataFrame:
    """Latent PPL of every source of a study (paper, Table 2).

    Columns: the keys; `label`, the source in words, without its corpus; `latent_ppl` with its 95% document-bootstrap
    interval `ci_low`, `ci_high`; `latent_nll` (mean, nats per document); `latent_ppl_soft` (expectation under the
    classifier's posterior); `documents`, `steps` scored; `rejected`, `rejected_share`, `rejected_by_reason`
    ("reason: n; ..."); `seeds`, `seeds_mean`, `seeds_sd` over the seeds of a group; `p_value` of a permutation test
    against the real text with inferred titles; `infinite_because`; `ppl_all`, `ppl_body` with `_low`, `_high` (titles
    and separators included or not), per `ppl_unit` ("tokens" of the generator's encoding, or "words"),
    `ppl_infinite_because`; `published` and `difference` for the Latent PPL, `ppl_published` and `ppl_difference`.
    Infinite values have no interval and no p-value. Where titles are given, real text has one row, "data-inferred".

    Raises:
        TextcriticError: a file is missing or damaged, scores do not belong to their sample, no document is left.
    """
    rows: list[dict[str, Any]] = []
    names = names_of(experiment)
    for data in experiment.data:
        critic = TransitionCritic.load(data.critic)
        inferred = read_scores(data.inferred)
        rows.append(data_keys(data.corpus, DATA_INFERRED) | _scored(inferred, critic, experiment, data.inferred))
        if not data.titles_given:
            rows.append(
                data_keys(data.corpus, DATA_GOLD) | _scored(read_scores(data.gold), critic, experiment, data.gold)
            )
        for sample in (s for s in experiment.samples if s.corpus == data.corpus):
            scores = read_scores(sample.scores)
            check_counts(scores, sample)
            row = sample_keys(sample) | _scored(scores, critic, experiment, sample.scores)
            row["p_value"] = p_value_of(scores, inferred, experiment.resamples)
            rows.append(row | perplexity_of(sample.perplexity))
    for row in rows:
        row["label"] = names.source(row, corpus=False)
        row["published"] = published.value("latent_ppl", row)
        row["ppl_published"] = published.value("ppl", row)
    table = pd.DataFrame(rows)
    table["difference"] = table["latent_ppl"] - pd.to_numeric(table["published"])
    table["ppl_difference"] = pd.to_numeric(table.get("ppl_all")) - pd.to_numeric(table["ppl_published"])
    return _with_seeds(table)[[*KEYS, *COHERENCE_COLUMNS]].astype({"seed": "Int64"})


COHERENCE_COLUMNS = (
    *("label", "latent_ppl", "ci_low", "ci_high", "latent_nll", "latent_ppl_soft", "documents", "steps"),
    *("rejected", "rejected_share", "rejected_by_reason", "seeds", "seeds_mean", "seeds_sd", "p_value"),
    *("infinite_because", "published", "difference", "ppl_all", "ppl_all_low", "ppl_all_high"),
    *("ppl_body", "ppl_body_low", "ppl_body_high", "ppl_unit", "ppl_infinite_because"),
    *("ppl_published", "ppl_difference"),
)


def titles_rows(experiment: CoherenceFiles) -> pd.DataFrame:
    """What titles in the training text change: each generator with against without, by a permutation test.

    Columns: corpus, generator, decoding, seed, `with_titles`, `without_titles` (Latent PPL), `ratio` (without
    over with) and `p_value`. Only pairs that the study has both of.
    """
    rows = []
    samples = {(s.corpus, s.generator, s.decoding, s.seed, s.setting): s for s in experiment.samples}
    for (corpus, generator, decoding, seed, setting), sample in samples.items():
        other = samples.get((corpus, generator, decoding, seed, "wo-title"))
        if setting != "w-title" or other is None:
            continue
        first, second = read_scores(sample.scores), read_scores(other.scores)
        values = latent_ppl(first), latent_ppl(second)
        row = {"corpus": corpus, "generator": generator, "decoding": decoding, "seed": seed}
        row |= {"with_titles": values[0], "without_titles": values[1], "ratio": values[1] / values[0]}
        rows.append(row | {"p_value": p_value_of(second, first, experiment.resamples)})
    columns = ["corpus", "generator", "decoding", "seed", "with_titles", "without_titles", "ratio", "p_value"]
    return pd.DataFrame(rows, columns=columns)


def _scored(scores: pa.Table, critic: TransitionCritic, experiment: CoherenceFiles, path: Path) -> dict[str, Any]:
    try:
        columns = document_columns(scores)
    except TextcriticError as error:
        raise TextcriticError(f"{path}: {error}") from error
    value, reasons = latent_ppl(scores), rejections(scores)
    row: dict[str, Any] = {"latent_ppl": value, "latent_nll": latent_nll(scores)}
    if np.isfinite(value):
        interval = bootstrap_interval(columns, exp_ratio_of_sums, resamples=experiment.resamples)
        row |= {"ci_low": interval.low, "ci_high": interval.high}
    else:
        steps = sum(step["count"] for step in unseen_transitions(scores, critic))
        row["infinite_because"] = f"{steps:,} steps never occur in the training text and the critic is not smoothed"
    if scores["nll_soft"].null_count != scores.num_rows:
        row["latent_ppl_soft"] = latent_ppl(scores, "nll_soft")
    rejected = sum(reasons.values())
    return row | {
        "documents": len(columns),
        "steps": int(columns[:, 1].sum()),
        "rejected": rejected,
        "rejected_share": rejected / scores.num_rows,
        "rejected_by_reason": reasons_in_words(reasons),
    }


def _with_seeds(table: pd.DataFrame) -> pd.DataFrame:
    """Add the summary over the seeds of each group; real text has none."""
    parts = []
    for _, group in table.groupby([*GROUP, "source"], sort=False, dropna=False):
        if group["source"].iloc[0] == SAMPLE:
            summary = seed_summary(group["latent_ppl"].tolist()) if np.isfinite(group["latent_ppl"]).all() else {}
            mean, sd, seeds = summary.get("mean", np.inf), summary.get("sd"), len(group)
            group = group.assign(seeds=seeds, seeds_mean=mean, seeds_sd=sd)
        parts.append(group)
    return pd.concat(parts).reindex(columns=[*KEYS, *COHERENCE_COLUMNS]).sort_index()


def scored_sources(
    experiment: CoherenceFiles, gold: bool = True
) -> Iterator[tuple[dict[str, Any], pa.Table, TransitionCritic]]:
    """Keys, scores and critic of every source: of each corpus the real text first, with gold titles too if `gold`."""
    for data in experiment.data:
        critic = TransitionCritic.load(data.critic)
        yield data_keys(data.corpus, DATA_INFERRED), read_scores(data.inferred), critic
        if gold and not data.titles_given:
            yield data_keys(data.corpus, DATA_GOLD), read_scores(data.gold), critic
        for sample in (s for s in experiment.samples if s.corpus == data.corpus):
            yield sample_keys(sample), read_scores(sample.scores), critic


def decomposition_rows(experiment: CoherenceFiles) -> pd.DataFrame:
    """Cross-entropy of each source as entropy plus Kullback-Leibler divergence, nats per step (paper, appendix B).

    Columns: the keys, `steps`, `cross_entropy`, `entropy`, `kl`, `entropy_corrected`, `kl_corrected`.
    """
    rows = []
    for keys, scores, critic in scored_sources(experiment):
        parts = decompose(scored_transitions(scores, critic), critic)
        names = ("steps", "cross_entropy", "entropy", "kl", "entropy_corrected", "kl_corrected")
        rows.append(keys | {name: getattr(parts, name) for name in names})
    return pd.DataFrame(rows).astype({"seed": "Int64"})


def classifier_rows(experiment: CoherenceFiles, published: Published) -> pd.DataFrame:
    """How often the section classifier is right on each corpus (paper, appendix E); no row where titles are given.

    Columns: corpus, metric (`classifier_accuracy_percent`), `split`, `value`, its 95% interval `ci_low`, `ci_high`, the
    number of `sections`, and `published` and `difference` for the validation split, which is the paper's.
    """
    metric = "classifier_accuracy_percent"
    rows: list[dict[str, Any]] = []
    for data in experiment.data:
        if data.accuracy is None:
            continue
        for split in ("validation", "test"):
            measured = read_json(data.accuracy)[split]
            value, (low, high) = 100 * measured["accuracy"], measured["ci95"]
            printed = published.value(metric, data_keys(data.corpus)) if split == "validation" else None
            row = {"corpus": data.corpus, "metric": metric, "split": split, "value": value}
            row |= {"ci_low": 100 * low, "ci_high": 100 * high, "sections": measured["n"], "published": printed}
            rows.append(row | {"difference": None if printed is None else value - printed})
    columns = ["corpus", "metric", "split", "value", "ci_low", "ci_high", "sections", "published", "difference"]
    return pd.DataFrame(rows, columns=columns)
