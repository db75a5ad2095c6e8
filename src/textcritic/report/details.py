"""What stands behind the Latent PPL, in long format: its two parts, single unlikely steps, corpora, and the audit."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pyarrow as pa

from textcritic.corpora import read_articles
from textcritic.critics import TransitionCritic, audit_transitions, decompose, scored_transitions, transition_errors
from textcritic.errors import TextcriticError
from textcritic.files import read_json, read_table
from textcritic.report.inputs import DataFiles, SampleFiles, Study
from textcritic.report.published import Published
from textcritic.report.rows import DATA_GOLD, DATA_INFERRED, KEYS, data_keys, read_scores, sample_keys

TABLE_THRESHOLD = 0.01  # of Table 12
GRAPH_THRESHOLD = 0.05  # of Figures 1 and 4
ALL = "(all)"
SWITCHES = (
    *("default", "smoothing", "normalisation", "unknown titles", "titles", "generated titles, unknown titles"),
    *("posterior", "all as released", "decoding"),
)
SPLITS = ("train", "validation", "test")
STATISTICS = ("section_types", "median_sections", "median_section_length", "max_section_length")


def decomposition_rows(study: Study) -> pd.DataFrame:
    """Cross-entropy of each source as entropy plus Kullback-Leibler divergence, nats per step (paper, appendix B).

    Columns: the keys, `steps`, `cross_entropy`, `entropy`, `kl`, `entropy_corrected`, `kl_corrected`.
    """
    rows = []
    for keys, scores, critic in _sources(study):
        parts = decompose(scored_transitions(scores, critic), critic)
        names = ("steps", "cross_entropy", "entropy", "kl", "entropy_corrected", "kl_corrected")
        rows.append(keys | {name: getattr(parts, name) for name in names})
    return pd.DataFrame(rows).astype({"seed": "Int64"})


def error_rows(study: Study, published: Published, threshold: float = TABLE_THRESHOLD) -> pd.DataFrame:
    """Every kind of transition below a probability under the critic (paper, Table 12; Figure 4 uses 0.05).

    Columns: the keys; `from`, `to`; `count` and `percent` of the source's steps; `probability` under the critic;
    `data_percent`, the same step in the real text with inferred titles; `repetition_percent` and `published`. The first
    row of each source has `from` "(all)": all its errors together, and the share of them that repeat a title.
    """
    rows: list[dict[str, Any]] = []
    real: dict[tuple[str, str, str], float] = {}
    for keys, scores, critic in _sources(study):
        if keys["source"] == DATA_GOLD:
            continue
        found = transition_errors(scores, critic, threshold)
        shares = {(step["from"], step["to"]): step["frequency"] for step in found.transitions} | {
            (ALL, ""): found.total
        }
        if keys["source"] == DATA_INFERRED:
            real |= {(keys["corpus"], *step): share for step, share in shares.items()}
        total = {"from": ALL, "to": "", "count": sum(step["count"] for step in found.transitions)}
        total |= {"percent": found.total, "repetition_percent": found.repetitions}
        steps = [{"percent": step["frequency"], **step} for step in found.transitions]
        for step in [total, *steps]:
            cell = (step["from"], step["to"])
            metric = "total_errors_percent" if cell[0] == ALL else f"error_percent: {cell[0]} > {cell[1]}"
            step["data_percent"] = real.get((keys["corpus"], *cell), 0.0)
            step["published"] = published.value(keys["corpus"], keys["setting"], keys["generator"], metric)
            rows.append(keys | step)
    order = [*KEYS, "from", "to", "count", "percent", "probability", "data_percent", "repetition_percent", "published"]
    return pd.DataFrame(rows).reindex(columns=order).astype({"seed": "Int64"})


def statistics_rows(study: Study, published: Published) -> pd.DataFrame:
    """Statistics of the corpora (paper, Table 11) and the accuracy of their section classifiers.

    Columns: corpus, metric, value, published, difference.
    """
    rows = []
    for files in study.data:
        statistics = read_json(files.statistics)
        try:
            values = {f"articles_{split}": statistics["splits"][split]["articles"] for split in SPLITS}
            values |= {name: statistics[name] for name in STATISTICS}
        except (KeyError, TypeError) as error:
            raise TextcriticError(f"{files.statistics}: no {error} in it; delete it and rerun its rule") from error
        if files.accuracy is not None:
            values["classifier_accuracy_percent"] = 100 * read_json(files.accuracy)["validation"]["accuracy"]
        for metric, value in values.items():
            theirs = published.value(files.corpus, "", "data", metric)
            row = {"corpus": files.corpus, "metric": metric, "value": value, "published": theirs}
            rows.append(row | {"difference": None if theirs is None else value - theirs})
    return pd.DataFrame(rows)


def audit_rows(study: Study) -> pd.DataFrame:
    """What each disputed detail does to the Latent PPL, for every source and for the study's audit samples.

    Columns: the keys, `switch`, `setting_of_switch`, `latent_ppl` (infinite where a step is impossible),
    `change_percent` (against the default of the same source), `documents`, `rejected`. The decoding of an audit sample
    is the switch "decoding", compared with the study's own sample of the same generator, setting and seed.
    """
    rows: list[dict[str, Any]] = []
    for data in study.data:
        if data.train is None or data.validation is None:
            raise TextcriticError(f"study {study.name}: corpus {data.corpus}: the audit needs its train and validation")
        samples = {s.slug: s for s in (*study.samples, *study.audit_samples) if s.corpus == data.corpus}
        found = audit_transitions(
            _gold_chains(data.train),
            _gold_chains(data.validation),
            read_table(data.latents),
            {slug: read_table(sample.latents) for slug, sample in samples.items()},
        )
        defaults = {row["source"]: row["latent_ppl"] for row in found if row["switch"] == "default"}
        for row in found:
            files = samples.get(row["source"])
            if files is None or files in study.samples:
                keys = data_keys(data, DATA_GOLD) if files is None else sample_keys(files)
                rows.append(keys | _audit_row(row, row["switch"], row["setting"], row["change_percent"]))
            elif row["switch"] == "default":
                rows += [
                    sample_keys(base) | _decoding_row(row, files, defaults[base.slug]) for base in _bases(study, files)
                ]
    return pd.DataFrame(rows).astype({"seed": "Int64"})


def _audit_row(row: dict[str, Any], switch: str, words: str, change: float | None) -> dict[str, Any]:
    value = float("inf") if row["latent_ppl"] is None else row["latent_ppl"]
    kept = {"documents": row["n"], "rejected": row["rejected"]}
    return {"switch": switch, "setting_of_switch": words, "latent_ppl": value, "change_percent": change, **kept}


def _decoding_row(row: dict[str, Any], files: SampleFiles, default: float | None) -> dict[str, Any]:
    both = row["latent_ppl"] is not None and default is not None
    change = 100 * (row["latent_ppl"] / default - 1) if both else None
    return _audit_row(row, "decoding", files.decoding, change)


def _bases(study: Study, audit: SampleFiles) -> list[SampleFiles]:
    """The study's own samples that differ from an audit sample in the decoding alone."""
    same = ("corpus", "setting", "generator", "seed")
    return [s for s in study.samples if all(getattr(s, key) == getattr(audit, key) for key in same)]


def _gold_chains(path: Any) -> list[list[str | None]]:
    return [[section.title for section in article.sections] for article in read_articles(path)]


def _sources(study: Study) -> Iterator[tuple[dict[str, Any], pa.Table, TransitionCritic]]:
    """Keys, scores and critic of every source: of each corpus the real text first."""
    for data in study.data:
        critic = TransitionCritic.load(data.critic)
        yield data_keys(data, DATA_INFERRED), read_scores(data.inferred), critic
        yield data_keys(data, DATA_GOLD), read_scores(data.gold), critic
        for sample in _of(study, data):
            yield sample_keys(sample), read_scores(sample.scores), critic


def _of(study: Study, data: DataFiles) -> list[SampleFiles]:
    return [sample for sample in study.samples if sample.corpus == data.corpus]
