"""Coherence in long format, one row per source, for tables, figures and sentences."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa

from textcritic.critics import (
    TransitionCritic,
    decompose,
    document_columns,
    groups_of,
    latent_nll,
    latent_ppl,
    p_value_of,
    rejections,
    scored_transitions,
    unseen_transitions,
)
from textcritic.critics.smoothing import other_smoothings
from textcritic.critics.transitions import Counts
from textcritic.errors import named
from textcritic.experiments.coherence.files import DATA_GOLD, DATA_INFERRED, CoherenceFiles, Sample, Titled
from textcritic.files import read_json
from textcritic.measures.material import Material
from textcritic.measures.measure import LATENT_PPL, Scored
from textcritic.measures.rows import completed, source_rows
from textcritic.measures.scored import RECIPE, perplexity_of, read_scores, source_scores
from textcritic.plan.sources import RUN, data_keys
from textcritic.report.cells import PERPLEXITY
from textcritic.values import Row

TEXTS = ("infinite_because", "ppl_unit", "ppl_infinite_because")
PPL = replace(
    LATENT_PPL,
    means="how surprising the order of sections is to a critic that has seen only real text",
    section="values",
)
COLUMNS = (
    "label", "latent_ppl", "ci_low", "ci_high", "latent_nll", "latent_ppl_soft", "smoothing", "smoothing_less",
    "latent_ppl_less", "smoothing_more", "latent_ppl_more", "documents", "groups", "steps",
    "rejected", "rejected_share", "rejected_by_reason", *RECIPE, "p_value", "infinite_because",
    "published", "difference", "ppl_all", "ppl_all_low", "ppl_all_high", "ppl_body", "ppl_body_low", "ppl_body_high",
    "ppl_unit", "ppl_infinite_because", "ppl_published", "ppl_difference",
)  # fmt: skip


def coherence_rows(material: Material[CoherenceFiles]) -> pd.DataFrame:
    """Latent PPL of every source of a study (paper, Table 2).

    Columns: those of `rows.source_rows` for `latent_ppl`, tested against the real text with inferred titles;
    `latent_nll` (mean, nats per document); `latent_ppl_soft` (expectation under the classifier's posterior);
    `smoothing` of the critic, and the Latent PPL with the next smaller and larger one of its grid (`smoothing_less`,
    `latent_ppl_less`, `smoothing_more`, `latent_ppl_more`; empty at an end of the grid); `steps` scored;
    `seeds`, `seeds_mean`, `seeds_sd` over the seeds of a group; `infinite_because`; `ppl_all`, `ppl_body` with `_low`,
    `_high` (titles and separators included or not), per `ppl_unit` ("tokens" of the generator's encoding, or "words"),
    `ppl_infinite_because`; `published` and `difference` for the Latent PPL, `ppl_published` and `ppl_difference`.
    Infinite values have no interval and no p-value. If titles are given, real text has one row, "data-inferred".

    Raises:
        TextcriticError: a file is missing or damaged, scores do not belong to their sample, no document is left.
    """
    critics = {data.corpus: TransitionCritic.load(data.critic) for data in material.files.data}

    def read(source: Titled | Sample, _: Scored | None) -> Scored:
        with named(str(source.scores)):
            scored = read_scored(source_scores(source), critics[source.corpus])
        perplexity = perplexity_of(source.perplexity) if isinstance(source, Sample) else {}
        return replace(scored, more={**scored.more, **perplexity})

    rows = source_rows(material, read, [PPL, PERPLEXITY])
    whole = ("documents", "groups", "steps", "rejected")
    return completed(rows, COLUMNS, [PPL, PERPLEXITY], whole, TEXTS, DATA_INFERRED)


def titles_rows(material: Material[CoherenceFiles]) -> pd.DataFrame:
    """What titles in the training text change: each generator with against without, by a permutation test.

    Columns: corpus, generator, decoding, seed, draw, `with_titles`, `without_titles` (Latent PPL), `ratio` (without
    over with) and `p_value`. Only if the study has both of a pair.
    """
    experiment = material.files
    rows = []
    same = ("corpus", "generator", "decoding", *RUN)
    samples = {(*(getattr(s, key) for key in same), s.setting): s for s in experiment.samples}
    for (*pair, setting), sample in samples.items():
        other = samples.get((*pair, "wo-title"))
        if setting != "w-title" or other is None:
            continue
        first, second = read_scores(sample.scores), read_scores(other.scores)
        values = latent_ppl(first), latent_ppl(second)
        row = {key: sample.keys[key] for key in same}
        row |= {"with_titles": values[0], "without_titles": values[1], "ratio": values[1] / values[0]}
        rows.append(row | {"p_value": p_value_of(second, first, experiment.resamples)})
    columns = [*same, "with_titles", "without_titles", "ratio", "p_value"]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(RUN, "Int64"))


def read_scored(scores: pa.Table, critic: TransitionCritic) -> Scored:
    """The Latent PPL from one set of scores, also with the next smaller and larger smoothing.

    Raises:
        TextcriticError: no document is left.
    """
    columns = document_columns(scores)
    more: dict[str, object] = {"latent_nll": latent_nll(scores), "steps": int(columns[:, 1].sum())}
    more |= _of_smoothing(critic, scored_transitions(scores, critic))
    if not np.isfinite(columns).all():
        steps = sum(step["count"] for step in unseen_transitions(scores, critic))
        more["infinite_because"] = f"{steps:,} steps never occur in the training text and the critic is not smoothed"
    if scores["nll_soft"].null_count != scores.num_rows:
        more["latent_ppl_soft"] = latent_ppl(scores, "nll_soft")
    return Scored({PPL.value: columns}, len(columns), rejections(scores), more, groups_of(scores))


def _of_smoothing(critic: TransitionCritic, counts: Counts) -> dict[str, float]:
    """The critic's smoothing, the next ones of its grid, and the Latent PPL with each of these."""
    row = {"smoothing": critic.delta}
    for delta, value in other_smoothings(critic, counts):
        way = "less" if delta < critic.delta else "more"
        row |= {f"smoothing_{way}": delta, f"latent_ppl_{way}": value}
    return row


def scored_sources(files: CoherenceFiles, gold: bool = True) -> Iterator[tuple[Row, pa.Table, TransitionCritic]]:
    """Keys, scores and critic of every source: of each corpus the real text first, with gold titles too if `gold`."""
    for data in files.data:
        critic = TransitionCritic.load(data.critic)
        for source in files.titled(data):
            if gold or source.keys["source"] != DATA_GOLD:
                yield source.keys, source_scores(source), critic


def decomposition_rows(material: Material[CoherenceFiles]) -> pd.DataFrame:
    """Cross-entropy of each source as entropy plus Kullback-Leibler divergence, nats per step (paper, appendix B).

    Columns: the keys, `steps`, `cross_entropy`, `entropy`, `kl`, `entropy_corrected`, `kl_corrected`.
    """
    columns = ("steps", "cross_entropy", "entropy", "kl", "entropy_corrected", "kl_corrected")
    rows = []
    for keys, scores, critic in scored_sources(material.files):
        parts = decompose(scored_transitions(scores, critic), critic)
        rows.append({**keys, **{name: getattr(parts, name) for name in columns}})
    return pd.DataFrame(rows).astype(dict.fromkeys(RUN, "Int64"))


def classifier_rows(material: Material[CoherenceFiles]) -> pd.DataFrame:
    """How often the section classifier is right on each corpus (paper, appendix E); no rows if titles are given.

    Columns: corpus, metric (`classifier_accuracy_percent`), `split`, `value`, its 95% interval `ci_low`, `ci_high`, the
    number of `sections`, and `published` and `difference` for the validation split, which the paper uses.
    """
    experiment, published = material.files, material.published
    metric = "classifier_accuracy_percent"
    rows: list[Row] = []
    for data in experiment.data:
        if data.accuracy is None:
            continue
        for split in ("validation", "test"):
            measured = read_json(data.accuracy)[split]
            value, (low, high) = 100 * measured["accuracy"], measured["ci95"]
            printed = published.value(metric, data_keys(data.corpus)) if split == "validation" else None
            row = {"corpus": data.corpus, "metric": metric, "split": split, "value": value}
            row |= {"ci_low": None if low is None else 100 * low, "ci_high": None if high is None else 100 * high}
            row |= {"sections": measured["n"], "published": printed}
            rows.append(row | {"difference": None if printed is None else value - printed})
    columns = ["corpus", "metric", "split", "value", "ci_low", "ci_high", "sections", "published", "difference"]
    return pd.DataFrame(rows, columns=columns).astype({"ci_low": float, "ci_high": float})
