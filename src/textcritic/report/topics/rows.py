"""Topics in long format: Latent NLL (paper, Table 9), topics' words and shares, outliers (Table 14)."""

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from textcritic.critics import rejections
from textcritic.critics.ctm import CTM
from textcritic.critics.ctm.covariances import cluster_order
from textcritic.critics.ctm.outliers import outliers, top_words, topic_shares
from textcritic.critics.ctm.scoring import TOPIC_SCORES_SCHEMA, Column, compare_nll, mean_nll, posterior_moments
from textcritic.errors import TextcriticError
from textcritic.files import read_table
from textcritic.inference import aggregated_covariance, covariance_test, seed_summary
from textcritic.latents.bags import Vocabulary
from textcritic.report.published import Published
from textcritic.report.rows import check_counts, reasons_from_words, reasons_in_words
from textcritic.report.sources import GROUP, KEYS, SAMPLE, Names, sample_keys
from textcritic.report.topics.inputs import DATA, Source, TopicFiles, Topics, TopicSample

OUTLIERS, WORDS, NAMING = 5, 10, 2  # outliers of a source, words of a topic, and those in its name
DOT = " · "  # between words, any of which may end with a comma
COVARIANCE_RESAMPLES = 1000
COLUMNS = (
    *("label", "baseline", "latent_nll", "ci_low", "ci_high", "p_value"),
    *("latent_nll_at_mean", "at_mean_low", "at_mean_high", "p_value_at_mean", "documents"),
    *("rejected", "rejected_share", "rejected_by_reason", "seeds", "seeds_mean", "seeds_sd"),
    *("published", "difference"),
)
DISTANCES = ("distance", "distance_by_chance", "distance_p", "distance_corrected", "distance_low", "distance_high")
WHOLE, TEXTS = ("seed", "documents", "rejected", "seeds"), ("label", "rejected_by_reason")
OUTLIER_COLUMNS = ("label", "rank", "article", "nll", "nll_at_mean", "words", "topics", "text", "published")


def nll_rows(topics: Topics, published: Published) -> pd.DataFrame:
    """Latent NLL of real text and of every sample (paper, Table 9), one row a source.

    Columns: the keys; `label`; `baseline` (whether the generator learnt from shuffled words); `latent_nll` (in
    expectation, mean, nats per document) with its 95% document-bootstrap interval `ci_low`, `ci_high` and the `p_value`
    of a permutation test against real text; `latent_nll_at_mean`, as released, with `at_mean_low`, `at_mean_high`,
    `p_value_at_mean`; `documents` scored; `rejected`, `rejected_share`, `rejected_by_reason` ("reason: n; ..."); over
    the seeds of a group, `seeds`, and `seeds_mean`, `seeds_sd` of those of which something could be scored;
    `published` (at the mean) and `difference`, ours minus it. A sample of which nothing could be scored has none of
    these but the counts.

    Raises:
        TextcriticError: a file is missing or damaged, files do not belong together, or no real text could be scored.
    """
    names = Names.of(topics.samples)
    rows = []
    for files in topics.data:
        real = read_topic_scores(files)
        for source in topics.of(files):
            keys = source_keys(source)
            scores = real if source is files else read_topic_scores(source)
            row = keys | {"label": names.source(keys, corpus=False), "baseline": False}
            row |= _scored(scores, topics.resamples)
            if isinstance(source, TopicSample):
                check_counts(scores, source)
                row["baseline"] = source.baseline
                row |= _against(scores, real, topics.resamples) if row["documents"] else {}
            elif not row["documents"]:
                raise TextcriticError(f"{files.scores}: no document could be scored ({row['rejected_by_reason']})")
            place = (keys["corpus"], keys["setting"], keys["generator"])
            row["published"] = published.value(*place, "latent_nll_at_mean", keys["decoding"])
            rows.append(row)
    return _completed(pd.DataFrame(rows))


def topic_rows(topics: Topics, published: Published) -> pd.DataFrame:
    """The same with how far the covariances of each sample are from those of real text.

    Further columns: `distance` of the covariance from real text's, what it is by chance, `distance_by_chance`, and its
    `distance_p`; `distance_corrected` with its 95% interval `distance_low`, `distance_high`. A sample with fewer than
    two documents has none of these.

    Raises:
        TextcriticError: as `nll_rows`.
    """
    found: list[dict[str, float]] = []
    for files in topics.data:
        real = read_posteriors(files)
        found += [{}, *(_distance(read_posteriors(s), real, topics.resamples) for s in topics.of(files)[1:])]
    return pd.concat([nll_rows(topics, published), pd.DataFrame(found, columns=DISTANCES, dtype=float)], axis=1)


def word_rows(topics: Topics) -> pd.DataFrame:
    """Each topic's likeliest words and its share in real text and in the first seed of every sample.

    Columns: the keys, `label`, `topic` (from 1), `words` (a space between), `share` (empty where nothing could be
    scored); the commonest topic of real text first.
    """
    names = Names.of(topics.samples)
    rows = []
    for files in topics.data:
        words = _words(files, WORDS)
        found = {source: _shares(source) for source in topics.shown(files)}
        order = np.argsort(-np.array(found[files]), kind="stable")
        for topic in order:
            for source, shares in found.items():
                keys = source_keys(source)
                row = {"label": names.source(keys, corpus=False), "topic": int(topic) + 1}
                row |= {"words": " ".join(words[topic]), "share": None if shares is None else float(shares[topic])}
                rows.append(keys | row)
    return pd.DataFrame(rows).astype({"seed": "Int64", "share": float})


def outlier_rows(topics: Topics, published: Published, column: Column = "nll") -> pd.DataFrame:
    """The documents of real text, and of the first seed of every sample, with the highest NLL (paper, Table 14).

    Columns: the keys, `label`, `rank` (from 1 in each source), `article`, `nll` (in expectation), `nll_at_mean`,
    `words` (in the vocabulary), `topics` ("topic: share for its share in real text; ..."), `text` (an excerpt), and
    `published`, the paper's of that rank (at the mean).

    Args:
        topics: of the study.
        published: values that stand beside ours.
        column: by which NLL documents are ranked.
    """
    names = Names.of(topics.samples)
    rows: list[dict[str, Any]] = []
    for files in topics.data:
        critic, vocabulary, usual = CTM.load(files.critic), Vocabulary.load(files.vocabulary), _shares(files)
        for source in topics.shown(files):
            keys = source_keys(source)
            scores, posteriors = read_topic_scores(source), read_table(source.posteriors)
            found = outliers(critic, vocabulary, posteriors, scores, source.articles, usual, OUTLIERS, column)
            for rank, document in enumerate(found, start=1):
                place = (keys["corpus"], keys["setting"], keys["generator"])
                theirs = published.value(*place, f"outlier_nll_at_mean: {rank}", keys["decoding"])
                row = {"label": names.source(keys, corpus=False), "rank": rank, "article": document["id"]}
                row |= {key: document[key] for key in ("nll", "nll_at_mean", "words")}
                row |= {"topics": _strongest(document["topics"]), "text": document["excerpt"], "published": theirs}
                rows.append(keys | row)
    return pd.DataFrame(rows, columns=[*KEYS, *OUTLIER_COLUMNS]).astype({"seed": "Int64", "published": float})


def covariances(files: TopicFiles, topics: Topics, variances: bool = True) -> dict[str, Any]:
    """Covariances of the aggregated posterior: of real text, and of the first seed of every sample (None: too few).

    Args:
        files: real text of one corpus.
        topics: of the study.
        variances: whether those of the posteriors are added; if not, it is the covariance of their means alone, as
            the released code plots it.

    Returns:
        `order`, in which topics that vary alike in real text are neighbours [K-1], and `matrices` in this order, by
        what their sources are called, real text first.
    """
    names = Names.of(topics.samples)
    found = {}
    for source in topics.shown(files):
        means, spread = read_posteriors(source)
        label = names.source(source_keys(source), corpus=False, seed=False)
        found[label] = aggregated_covariance(means, spread if variances else None) if len(means) > 1 else None
    real = next(iter(found.values()))
    if real is None:
        raise TextcriticError(f"{files.posteriors}: fewer than two documents with words; there is no covariance")
    order = cluster_order(real)
    ordered = {label: None if matrix is None else matrix[np.ix_(order, order)] for label, matrix in found.items()}
    return {"order": order, "matrices": ordered}


def topic_names(files: TopicFiles) -> list[str]:
    """Names of all topics by number and likeliest words: [K]."""
    return [f"{number}: {DOT.join(words)}" for number, words in enumerate(_words(files, NAMING), start=1)]


def strong_topics(words: str) -> list[tuple[int, float, float]]:
    """What the column `topics` of `outlier_rows` says: topic (from 1), its share, and that in real text."""
    parts = (part.replace(": ", " for ").split(" for ") for part in words.split("; "))
    return [(int(topic), float(share), float(usual)) for topic, share, usual in parts]


def reasons_of(group: pd.DataFrame) -> dict[str, int]:
    """How many documents of all seeds of a sample were left out for each reason, the commonest first."""
    found: Counter[str] = Counter()
    for words in group["rejected_by_reason"]:
        found.update(reasons_from_words(words))
    return dict(found.most_common())


def source_keys(source: Source) -> dict[str, Any]:
    """The key columns of a row."""
    if isinstance(source, TopicSample):
        return sample_keys(source)
    return dict(zip(KEYS, (source.corpus, DATA, "", "data", "", None), strict=True))


def read_topic_scores(source: Source) -> pa.Table:
    """The scores of one source.

    Raises:
        TextcriticError: the file is missing or damaged, or is something else.
    """
    scores = read_table(source.scores)
    missing = set(TOPIC_SCORES_SCHEMA.names) - set(scores.column_names)
    if missing:
        raise TextcriticError(f"{source.scores}: no column {sorted(missing)[0]!r}; it is not a file of topic scores")
    return scores


def read_posteriors(source: Source) -> tuple[Any, Any]:
    """Means and variances of the documents of one source that have words, both [documents, K-1].

    Raises:
        TextcriticError: the file is missing or damaged, or is something else.
    """
    table = read_table(source.posteriors)
    missing = {"words", "mean", "variance"} - set(table.column_names)
    if missing:
        raise TextcriticError(f"{source.posteriors}: no column {sorted(missing)[0]!r}; it is not a file of posteriors")
    return posterior_moments(table)


def _scored(scores: pa.Table, resamples: int) -> dict[str, Any]:
    reasons = rejections(scores)
    rejected = sum(reasons.values())
    row: dict[str, Any] = {"documents": scores.num_rows - rejected, "rejected": rejected}
    row |= {"rejected_share": rejected / max(scores.num_rows, 1), "rejected_by_reason": reasons_in_words(reasons)}
    if row["documents"]:
        expected, at_mean = (mean_nll(scores, column, resamples) for column in ("nll", "nll_at_mean"))
        row |= {"latent_nll": expected.estimate, "ci_low": expected.low, "ci_high": expected.high}
        row |= {"latent_nll_at_mean": at_mean.estimate, "at_mean_low": at_mean.low, "at_mean_high": at_mean.high}
    return row


def _against(scores: pa.Table, real: pa.Table, resamples: int) -> dict[str, float]:
    return {
        "p_value": compare_nll(scores, real, "nll", resamples).p,
        "p_value_at_mean": compare_nll(scores, real, "nll_at_mean", resamples).p,
    }


def _distance(sample: tuple[Any, Any], real: tuple[Any, Any], resamples: int) -> dict[str, float]:
    """How far a sample's covariance is from real text's; nothing where one document is all there is."""
    if min(len(sample[0]), len(real[0])) < 2:
        return {}
    test = covariance_test(sample[0], real[0], sample[1], real[1], min(resamples, COVARIANCE_RESAMPLES))
    found = {"distance": test.distance, "distance_by_chance": test.by_chance, "distance_p": test.p}
    return found | {"distance_corrected": test.corrected, "distance_low": test.low, "distance_high": test.high}


def _shares(source: Source) -> Any:
    means, _ = read_posteriors(source)
    return topic_shares(means) if len(means) else None


def _words(files: TopicFiles, n: int) -> list[list[str]]:
    return top_words(CTM.load(files.critic), Vocabulary.load(files.vocabulary).words, n)


def _strongest(topics: list[dict[str, Any]]) -> str:
    return "; ".join(f"{t['topic'] + 1}: {t['share']:.6f} for {t['usual_share']:.6f}" for t in topics)


def _completed(table: pd.DataFrame) -> pd.DataFrame:
    """All columns in order, with the difference and the summary over the seeds of each group."""
    table = table.reindex(columns=[*KEYS, *COLUMNS])
    table = table.astype({column: float for column in COLUMNS if column not in (*TEXTS, "baseline")})
    table["difference"] = table["latent_nll_at_mean"] - table["published"]
    for _, group in table[table["source"] == SAMPLE].groupby(GROUP, sort=False):
        values = group["latent_nll"].dropna().tolist()
        table.loc[group.index, "seeds"] = len(group)
        if values:
            summary = seed_summary(values)
            table.loc[group.index, ["seeds_mean", "seeds_sd"]] = summary["mean"], summary["sd"]
    return table.astype(dict.fromkeys(WHOLE, "Int64"))
