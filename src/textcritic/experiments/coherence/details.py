"""What stands behind the Latent PPL, in long format: its two parts, corpora, and the audit."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from textcritic.corpora import SPLITS, gold_chains
from textcritic.critics import TransitionCritic, audit_transitions, decompose, scored_transitions
from textcritic.errors import TextcriticError
from textcritic.files import read_json, read_table
from textcritic.report.decodings import decoding_difference
from textcritic.report.inputs import SampleFiles, Study, bases
from textcritic.report.published import Published
from textcritic.report.rows import scored_sources
from textcritic.report.sources import DATA_GOLD, data_keys, sample_keys

TABLE_THRESHOLD = 0.01  # of Table 12
GRAPH_THRESHOLD = 0.05  # of Figures 1 and 4
DECODING = "decoding: "  # starts the name of the switch that an audit sample's decoding is
STATISTICS = ("section_types", "median_sections", "median_section_length", "max_section_length")


def decomposition_rows(study: Study) -> pd.DataFrame:
    """Cross-entropy of each source as entropy plus Kullback-Leibler divergence, nats per step (paper, appendix B).

    Columns: the keys, `steps`, `cross_entropy`, `entropy`, `kl`, `entropy_corrected`, `kl_corrected`.
    """
    rows = []
    for keys, scores, critic in scored_sources(study):
        parts = decompose(scored_transitions(scores, critic), critic)
        names = ("steps", "cross_entropy", "entropy", "kl", "entropy_corrected", "kl_corrected")
        rows.append(keys | {name: getattr(parts, name) for name in names})
    return pd.DataFrame(rows).astype({"seed": "Int64"})


def statistics_rows(corpora: Iterable[tuple[str, Path, Path | None]], published: Published) -> pd.DataFrame:
    """Statistics of the corpora (paper, Table 11) and the accuracy of their section classifiers.

    Args:
        corpora: name, statistics.json, and accuracy.json of the classifier if it is to be told, of each.
        published: values that stand beside ours.

    Returns:
        Columns: corpus, metric, value, published, difference.
    """
    rows = []
    for corpus, path, accuracy in corpora:
        statistics = read_json(path)
        try:
            values = {f"articles_{split}": statistics["splits"][split]["articles"] for split in SPLITS}
            values |= {name: statistics[name] for name in STATISTICS}
        except (KeyError, TypeError) as error:
            raise TextcriticError(f"{path}: no {error} in it; delete it and rerun its rule") from error
        if accuracy is not None:
            values["classifier_accuracy_percent"] = 100 * read_json(accuracy)["validation"]["accuracy"]
        for metric, value in values.items():
            theirs = published.value(corpus, "", "data", metric)
            row = {"corpus": corpus, "metric": metric, "value": value, "published": theirs}
            rows.append(row | {"difference": None if theirs is None else value - theirs})
    return pd.DataFrame(rows)


def audit_rows(study: Study) -> pd.DataFrame:
    """What each disputed detail does to the Latent PPL, for every source and for the study's audit samples.

    Columns: the keys, `switch`, `setting_of_switch`, `latent_ppl` (infinite where a step is impossible),
    `compared_with` (a switch) and `change_percent` against it, `documents`, `rejected` (unread ones too). The decoding
    of an audit sample is the switch "decoding: NAME", compared with the default of the study's own sample of the same
    generator, setting and seed; its setting says in what the two decodings differ.

    Raises:
        TextcriticError: see `critics.audit_transitions`; a decoding of an audit sample or of its base is not described.
    """
    rows: list[dict[str, Any]] = []
    for data in study.data:
        samples = {s.slug: s for s in (*study.samples, *study.audit_samples) if s.corpus == data.corpus}
        found = audit_transitions(
            TransitionCritic.load(data.critic),
            gold_chains(data.validation),
            read_table(data.latents),
            {slug: read_table(sample.latents) for slug, sample in samples.items()},
        )
        defaults = {row["source"]: row["latent_ppl"] for row in found if row["compared_with"] is None}
        unread = {slug: sum(read_json(sample.counts)["rejected"].values()) for slug, sample in samples.items()}
        for row in found:
            row["rejected"] += unread.get(row["source"], 0)
            files = samples.get(row["source"])
            if files is None or files in study.samples:
                keys = data_keys(data, DATA_GOLD) if files is None else sample_keys(files)
                rows.append(keys | _audit_row(row))
            elif row["compared_with"] is None:
                for base in bases(study.samples, files):
                    switched = _decoding_row(row, files, base, defaults[base.slug], study.decodings)
                    rows.append(sample_keys(base) | _audit_row(switched))
    return pd.DataFrame(rows).astype({"seed": "Int64"})


def _audit_row(row: dict[str, Any]) -> dict[str, Any]:
    value = float("inf") if row["latent_ppl"] is None else row["latent_ppl"]
    kept = {name: row[name] for name in ("compared_with", "change_percent")}
    kept |= {"documents": row["n"], "rejected": row["rejected"]}
    return {"switch": row["switch"], "setting_of_switch": row["setting"], "latent_ppl": value, **kept}


def _decoding_row(
    row: dict[str, Any],
    files: SampleFiles,
    base: SampleFiles,
    default: float | None,
    decodings: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    both = row["latent_ppl"] is not None and default is not None
    change = 100 * (row["latent_ppl"] / default - 1) if both else None
    missing = [name for name in (files.decoding, base.decoding) if name not in decodings]
    if missing:
        raise TextcriticError(f"study: decodings: {missing[0]!r} is missing; the audit says what a decoding changes")
    words = decoding_difference(decodings[files.decoding], decodings[base.decoding])
    switch = {"switch": DECODING + files.decoding, "setting": words, "compared_with": "default"}
    return row | switch | {"change_percent": change}
