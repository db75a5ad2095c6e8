"""The study's numbers in long format, one row per source: what the tables, figures and sentences are made of."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from textcritic.critics import (
    TransitionCritic,
    document_columns,
    latent_nll,
    latent_ppl,
    rejections,
    unseen_transitions,
)
from textcritic.errors import TextcriticError
from textcritic.files import read_json, read_table
from textcritic.inference import bootstrap_interval, exp_ratio_of_sums, permutation_test, ratio_of_sums, seed_summary
from textcritic.report.inputs import Drawn, Study
from textcritic.report.published import Published
from textcritic.report.sources import DATA_GOLD, DATA_INFERRED, GROUP, KEYS, SAMPLE, Names, data_keys, sample_keys


def coherence_rows(study: Study, published: Published) -> pd.DataFrame:
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
    names = Names.of(study.samples)
    for data in study.data:
        critic = TransitionCritic.load(data.critic)
        inferred = read_scores(data.inferred)
        rows.append(data_keys(data, DATA_INFERRED) | _scored(inferred, critic, study, data.inferred))
        if not data.titles_given:
            rows.append(data_keys(data, DATA_GOLD) | _scored(read_scores(data.gold), critic, study, data.gold))
        for sample in (s for s in study.samples if s.corpus == data.corpus):
            scores = read_scores(sample.scores)
            check_counts(scores, sample)
            row = sample_keys(sample) | _scored(scores, critic, study, sample.scores)
            row["p_value"] = p_value_of(scores, inferred, study.resamples)
            rows.append(row | perplexity_of(sample))
    for row in rows:
        row["label"] = names.source(row, corpus=False)
        key = (row["corpus"], row["setting"], row["generator"])
        row["published"] = published.value(*key, "latent_ppl", row["decoding"])
        row["ppl_published"] = published.value(*key, "ppl", row["decoding"])
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


def titles_rows(study: Study) -> pd.DataFrame:
    """What titles in the training text change: each generator with against without, by a permutation test.

    Columns: corpus, generator, decoding, seed, `with_titles`, `without_titles` (Latent PPL), `ratio` (without
    over with) and `p_value`. Only pairs that the study has both of.
    """
    rows = []
    found = {(s.corpus, s.generator, s.decoding, s.seed, s.setting): s for s in study.samples}
    for (corpus, generator, decoding, seed, setting), sample in found.items():
        other = found.get((corpus, generator, decoding, seed, "wo-title"))
        if setting != "w-title" or other is None:
            continue
        first, second = read_scores(sample.scores), read_scores(other.scores)
        values = latent_ppl(first), latent_ppl(second)
        row = {"corpus": corpus, "generator": generator, "decoding": decoding, "seed": seed}
        row |= {"with_titles": values[0], "without_titles": values[1], "ratio": values[1] / values[0]}
        rows.append(row | {"p_value": p_value_of(second, first, study.resamples)})
    columns = ["corpus", "generator", "decoding", "seed", "with_titles", "without_titles", "ratio", "p_value"]
    return pd.DataFrame(rows, columns=columns)


def perplexity_of(sample: Drawn) -> dict[str, Any]:
    """The perplexity columns of a sample's generator; empty for samples that came from a file."""
    if sample.perplexity is None:
        return {}
    report = read_json(sample.perplexity)
    unit = report.get("unit", "tokens")
    columns: dict[str, Any] = {"ppl_unit": unit}
    try:
        for part in ("all", "body"):
            ppl, (low, high) = report[part]["ppl"], report[part]["ci95"] or (None, None)
            columns |= {f"ppl_{part}": np.inf if ppl is None else ppl, f"ppl_{part}_low": low, f"ppl_{part}_high": high}
            if ppl is None:
                impossible = report["zero_probability_tokens"]
                columns["ppl_infinite_because"] = f"{impossible:,} {unit} of the test text have probability 0"
    except (KeyError, TypeError, ValueError) as error:
        raise TextcriticError(
            f"{sample.perplexity}: no perplexity in it ({error}); delete it and rerun its rule"
        ) from error
    return columns


def reasons_in_words(reasons: Mapping[str, int]) -> str:
    """`reason: n; ...`, as the tables hold them."""
    return "; ".join(f"{reason}: {n}" for reason, n in reasons.items())


def reasons_from_words(words: str) -> dict[str, int]:
    """The numbers that `reasons_in_words` wrote."""
    pairs = (part.rsplit(": ", 1) for part in words.split("; ") if part)
    return {reason: int(n) for reason, n in pairs}


def _scored(scores: pa.Table, critic: TransitionCritic, study: Study, path: Path) -> dict[str, Any]:
    try:
        columns = document_columns(scores)
    except TextcriticError as error:
        raise TextcriticError(f"{path}: {error}") from error
    value, reasons = latent_ppl(scores), rejections(scores)
    row: dict[str, Any] = {"latent_ppl": value, "latent_nll": latent_nll(scores)}
    if np.isfinite(value):
        found = bootstrap_interval(columns, exp_ratio_of_sums, resamples=study.resamples)
        row |= {"ci_low": found.low, "ci_high": found.high}
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


def p_value_of(first: pa.Table, second: pa.Table, resamples: int) -> float | None:
    """Permutation p-value of the difference in log Latent PPL; None if one of them is infinite."""
    one, two = document_columns(first), document_columns(second)
    if not (np.isfinite(one).all() and np.isfinite(two).all()):
        return None
    return permutation_test(one, two, ratio_of_sums, resamples=resamples).p


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


def check_counts(scores: pa.Table, sample: Drawn) -> None:
    """Refuse scores of more or fewer documents than were drawn."""
    drawn = read_json(sample.counts).get("drawn")
    if drawn is not None and drawn != scores.num_rows:
        raise TextcriticError(
            f"{sample.scores}: {scores.num_rows} documents, but {sample.counts} says {drawn} were drawn; "
            "they belong to different samples: delete the scores and rerun the rule that makes them"
        )


def scored_sources(study: Study, gold: bool = True) -> Iterator[tuple[dict[str, Any], pa.Table, TransitionCritic]]:
    """Keys, scores and critic of every source: of each corpus the real text first, with gold titles too if `gold`."""
    for data in study.data:
        critic = TransitionCritic.load(data.critic)
        yield data_keys(data, DATA_INFERRED), read_scores(data.inferred), critic
        if gold and not data.titles_given:
            yield data_keys(data, DATA_GOLD), read_scores(data.gold), critic
        for sample in (s for s in study.samples if s.corpus == data.corpus):
            yield sample_keys(sample), read_scores(sample.scores), critic


def read_scores(path: Path) -> pa.Table:
    """The scores of one source.

    Raises:
        TextcriticError: the file is missing or damaged, or is something else.
    """
    scores = read_table(path)
    missing = {"id", "nll", "steps", "nll_soft", "rejected", "why", "chain", "step_nll"} - set(scores.column_names)
    if missing:
        raise TextcriticError(f"{path}: no column {sorted(missing)[0]!r}; it is not a file of scores")
    return scores
