"""Topics in long format: Latent NLL (paper, Table 9), and topics' words and shares."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.critics import rejections
from textcritic.critics.ctm.model import CTM
from textcritic.critics.ctm.scoring import compare_nll, mean_nll, top_words, topic_shares
from textcritic.errors import TextcriticError
from textcritic.experiments.topics.covariances import (
    DISTANCE_STARTS,
    DISTANCES,
    corrected_distance,
    covariance_distance_of,
)
from textcritic.experiments.topics.files import Documents, Fitted, Sample, TopicsFiles
from textcritic.experiments.topics.read import Matrix, read_posteriors, read_starts, read_topic_scores, source_keys
from textcritic.latents.bags import Vocabulary
from textcritic.report.names import KEYS, Names
from textcritic.report.published import Published
from textcritic.report.scored import add_seeds, check_counts, reasons_in_words

WORDS, NAMING = 10, 2  # words of a topic, and those in its name
DOT = " · "  # between words, any of which may end with a comma
COLUMNS = (
    *("label", "baseline", "topics", "vocabulary", "latent_nll", "ci_low", "ci_high", "p_value"),
    *("latent_nll_at_mean", "at_mean_low", "at_mean_high", "p_value_at_mean", "documents", "words_per_document"),
    *("starts", "starts_low", "starts_high", "at_mean_starts_low", "at_mean_starts_high"),
    *("gap_starts_low", "gap_starts_high"),
    *("rejected", "rejected_share", "rejected_by_reason", "seeds", "seeds_mean", "seeds_sd"),
    *("published", "difference"),
)
WHOLE = ("seed", "topics", "vocabulary", "documents", "starts", "rejected", "seeds")
TEXTS = ("label", "rejected_by_reason")


def nll_rows(topics: TopicsFiles, published: Published) -> pd.DataFrame:
    """Latent NLL of real text and of every sample (paper, Table 9), one row a source.

    Columns: the keys; `label`; `baseline` (whether the generator learnt from shuffled words); `topics` and `vocabulary`
    (words) of the critic; `latent_nll` (in expectation, mean, nats per document) with its 95% document-bootstrap
    interval `ci_low`, `ci_high` and the `p_value` of a permutation test against real text; `latent_nll_at_mean`, as
    released, with `at_mean_low`, `at_mean_high`, `p_value_at_mean`; `documents` scored and `words_per_document`, the
    mean number of their words that are in the vocabulary; `starts`, the fits of the critic that converged or ended, the
    one that is kept among them, and the least and greatest value over them of Latent NLL (`starts_low`, `starts_high`;
    `at_mean_starts_low`, `at_mean_starts_high`) and of how far it is above real text's (`gap_starts_low`,
    `gap_starts_high`); `rejected`, `rejected_share`, `rejected_by_reason`
    ("reason: n; ..."); over the seeds of a group, `seeds`, and `seeds_mean`, `seeds_sd` of those of which something
    could be scored; `published` (at the mean, of a critic of as many topics) and `difference`, ours minus it. A sample
    of which nothing could be scored has none of these but the counts.

    Raises:
        TextcriticError: a file is missing or damaged, files do not belong together, or no real text could be scored.
    """
    names = Names.of(topics.samples)
    rows = []
    for fitted in topics.data:
        critic, real = CTM.load(fitted.critic), read_topic_scores(fitted)
        real_nll = [_means(real), *((one.nll.mean(), one.nll_at_mean.mean()) for one in read_starts(fitted))]
        for source in topics.of(fitted):
            keys = source_keys(source)
            scores = real if source is fitted else read_topic_scores(source)
            row = keys | {"label": names.source(keys, corpus=False), "baseline": False}
            row |= {"topics": critic.num_topics, "vocabulary": critic.num_words}
            row |= _scored(scores, topics.resamples)
            if isinstance(source, Sample):
                check_counts(scores, source)
                row["baseline"] = source.baseline
                row |= _against(scores, real, topics.resamples) if row["documents"] else {}
            elif not row["documents"]:
                raise TextcriticError(f"{fitted.scores}: no document could be scored ({row['rejected_by_reason']})")
            row |= _over_starts(source, scores, real_nll) if row["documents"] else {}
            row["published"] = published.value(f"latent_nll_at_mean: {of_topics(critic)}", keys)
            rows.append(row)
    return _completed(pd.DataFrame(rows))


def topic_rows(topics: TopicsFiles, published: Published) -> pd.DataFrame:
    """The same with how far the covariances of each sample are from those of real text.

    Further columns: `distance` of the covariances (`covariances.covariances`) from real text's, what it is by chance,
    `distance_by_chance`, and its `distance_p`; `distance_corrected` with its 95% interval `distance_low`,
    `distance_high`, and over the starts of the fit `distance_starts_low`, `distance_starts_high`. A sample with fewer
    than two documents has none of these.

    Raises:
        TextcriticError: as `nll_rows`.
    """
    distances: list[dict[str, float]] = []
    for fitted in topics.data:
        real = read_posteriors(fitted)
        real_starts = [one.moments for one in read_starts(fitted)]
        distances.append({})
        for sample in topics.of(fitted)[1:]:
            found = covariance_distance_of(read_posteriors(sample), real, topics.resamples)
            distances.append(found | _distance_over_starts(sample, real_starts, found.get("distance_corrected")))
    columns = [*DISTANCES, *DISTANCE_STARTS]
    return pd.concat([nll_rows(topics, published), pd.DataFrame(distances, columns=columns, dtype=float)], axis=1)


def word_rows(topics: TopicsFiles) -> pd.DataFrame:
    """Each topic's likeliest words and its share in real text and in the first seed of every sample.

    Columns: the keys, `label`, `topic` (from 1), `words` (a space between), `share` (empty where nothing could be
    scored); the commonest topic of real text first.
    """
    names = Names.of(topics.samples)
    rows = []
    for fitted in topics.data:
        words = _words(fitted, WORDS)
        shares_by_source = {source: _shares(source) for source in topics.shown(fitted)}
        order = np.argsort(-np.array(shares_by_source[fitted]), kind="stable")
        for topic in order:
            for source, shares in shares_by_source.items():
                keys = source_keys(source)
                row = {"label": names.source(keys, corpus=False), "topic": int(topic) + 1}
                row |= {"words": " ".join(words[topic]), "share": None if shares is None else float(shares[topic])}
                rows.append(keys | row)
    return pd.DataFrame(rows).astype({"seed": "Int64", "share": float})


def topic_names(fitted: Fitted) -> list[str]:
    """Names of all topics by number and likeliest words: [K]."""
    return [f"{number}: {DOT.join(words)}" for number, words in enumerate(_words(fitted, NAMING), start=1)]


def of_topics(critic: CTM) -> str:
    """What the metric of a published value ends with that is of a critic with as many topics."""
    return f"{critic.num_topics} topics"


def _scored(scores: pa.Table, resamples: int) -> dict[str, Any]:
    reasons = rejections(scores)
    rejected = sum(reasons.values())
    row: dict[str, Any] = {"documents": scores.num_rows - rejected, "rejected": rejected}
    row |= {"rejected_share": rejected / max(scores.num_rows, 1), "rejected_by_reason": reasons_in_words(reasons)}
    if row["documents"]:
        expected, at_mean = (mean_nll(scores, column, resamples) for column in ("nll", "nll_at_mean"))
        row |= {"latent_nll": expected.estimate, "ci_low": expected.low, "ci_high": expected.high}
        row["words_per_document"] = float(scores.filter(pc.invert(scores["rejected"]))["words"].to_numpy().mean())
        row |= {"latent_nll_at_mean": at_mean.estimate, "at_mean_low": at_mean.low, "at_mean_high": at_mean.high}
    return row


def _over_starts(source: Documents, scores: pa.Table, real: list[tuple[float, float]]) -> dict[str, float]:
    """Latent NLL, and how far it is above real text's, under every start: the least and greatest of each.

    Args:
        source: the documents.
        scores: under the critic that is kept.
        real: Latent NLL of real text in expectation and at the mean, under the critic and the other starts.
    """
    nll = [_means(scores), *((one.nll.mean(), one.nll_at_mean.mean()) for one in read_starts(source))]
    if len(nll) != len(real):
        raise TextcriticError(
            f"{source.of_starts}: {len(nll) - 1} other starts, and real text has {len(real) - 1}; delete it and rerun "
            "the rule that makes it"
        )
    expected, at_mean = (np.array(values) for values in zip(*nll, strict=True))
    gaps = expected - [one for one, _ in real]
    row: dict[str, float] = {"starts": len(nll)}
    for name, values in (("starts", expected), ("at_mean_starts", at_mean), ("gap_starts", gaps)):
        row |= {f"{name}_low": float(values.min()), f"{name}_high": float(values.max())}
    return row


def _distance_over_starts(sample: Documents, real: list[tuple[Matrix, Matrix]], kept: float | None) -> dict[str, float]:
    """The least and greatest corrected distance of covariances under the starts."""
    if kept is None:
        return {}
    others = (corrected_distance(one.moments, of_real) for one, of_real in zip(read_starts(sample), real, strict=True))
    values = [kept, *(value for value in others if value is not None)]
    return dict(zip(DISTANCE_STARTS, (min(values), max(values)), strict=True))


def _means(scores: pa.Table) -> tuple[float, float]:
    """Latent NLL of a set in expectation and at the mean; NaN where nothing could be scored."""
    kept = scores.filter(pc.invert(scores["rejected"]))
    if not kept.num_rows:
        return math.nan, math.nan
    return float(kept["nll"].to_numpy().mean()), float(kept["nll_at_mean"].to_numpy().mean())


def _against(scores: pa.Table, real: pa.Table, resamples: int) -> dict[str, float]:
    return {
        "p_value": compare_nll(scores, real, "nll", resamples).p,
        "p_value_at_mean": compare_nll(scores, real, "nll_at_mean", resamples).p,
    }


def _shares(source: Documents) -> Matrix | None:
    """Share of each topic in a source [K]; None where no document has words."""
    means, _ = read_posteriors(source)
    return topic_shares(means) if len(means) else None


def _words(fitted: Fitted, n: int) -> list[list[str]]:
    return top_words(CTM.load(fitted.critic), Vocabulary.load(fitted.vocabulary).words, n)


def _completed(table: pd.DataFrame) -> pd.DataFrame:
    """All columns in order, with the difference and the summary over the seeds of each group."""
    table = table.reindex(columns=[*KEYS, *COLUMNS])
    table = table.astype({column: float for column in COLUMNS if column not in (*TEXTS, "baseline")})
    table["difference"] = table["latent_nll_at_mean"] - table["published"]
    add_seeds(table, "latent_nll")
    return table.astype(dict.fromkeys(WHOLE, "Int64"))
