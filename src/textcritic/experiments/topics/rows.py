"""Topics in long format: Latent NLL (paper, Table 9), and topics' words and shares."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow.compute as pc

from textcritic.critics import groups_of, rejections
from textcritic.critics.ctm.model import CTM
from textcritic.critics.ctm.scoring import top_words, topic_shares
from textcritic.errors import TextcriticError
from textcritic.experiments.topics.covariances import corrected_distance, covariance_distance_of
from textcritic.experiments.topics.files import Documents, Fitted, Sample, TopicsFiles
from textcritic.experiments.topics.read import Matrix, Moments, read_posteriors, read_starts, read_topic_scores
from textcritic.inference import (
    ClusterTest,
    bootstrap_difference,
    one_of_each,
    ratio_of_sums,
    two_sample_test,
    unit_sums,
    with_fits,
    with_ones,
)
from textcritic.latents.bags import Vocabulary
from textcritic.measures.material import Material
from textcritic.measures.measure import Estimate, Measure, Resampling, Scored
from textcritic.measures.rows import completed, source_rows
from textcritic.measures.scored import RECIPE
from textcritic.plan.sources import RUN

WORDS, NAMING = 10, 2  # words of a topic, and those in its name
DOT = " · "  # between words, which may themselves end with a comma
COLUMNS = (
    "label", "baseline", "topics", "vocabulary", "latent_nll", "ci_low", "ci_high", "p_value", "latent_nll_at_mean",
    "at_mean_low", "at_mean_high", "p_value_at_mean", "documents", "groups", "words_per_document", "starts",
    "starts_low", "starts_high", "at_mean_starts_low", "at_mean_starts_high", "gap", "gap_low", "gap_high", "gap_p",
    "gap_starts_low", "gap_starts_high", "rejected", "rejected_share", "rejected_by_reason", *RECIPE, "published",
    "difference",
)  # fmt: skip
DISTANCE_COLUMNS = (
    "distance", "distance_by_chance", "distance_p", "distance_corrected", "distance_low", "distance_high",
    "distance_starts_low", "distance_starts_high",
)  # fmt: skip
WHOLE = ("topics", "vocabulary", "documents", "groups", "starts", "rejected", "seeds")


def topic_rows(material: Material[TopicsFiles]) -> pd.DataFrame:
    """Latent NLL of real text and of every sample, and how far its covariances are from real text's, one row a source.

    Columns: those of `rows.source_rows`; `baseline` (whether the generator learnt from shuffled words); `topics`
    and `vocabulary` (words) of the critic; `latent_nll` (in expectation, mean, nats per document), and
    `latent_nll_at_mean`, as released; `words_per_document`, the mean number of their words that are in the vocabulary;
    `starts`, the number of fits of the critic (converged or not), with the one that is kept; the least and the greatest
    value over them of Latent NLL (`starts_low`, `starts_high`; `at_mean_starts_low`, `at_mean_starts_high`) and of its
    difference from real text's (`gap_starts_low`, `gap_starts_high`); this `gap`, in expectation, as the mean over the
    fits, with an interval over documents and starts, and the p-value of the documents' means;
    `seeds`, `seeds_mean`, `seeds_sd`;
    `published` (at the mean, of a critic with as many topics) and `difference`, ours minus it.
    For samples with two documents or more, `distance` of the covariances (`covariances.covariances`) from real text's,
    its value by chance, `distance_by_chance`, and its `distance_p`, all under the critic; `distance_corrected`, the
    mean over the fits, with a 95% interval over documents and starts, and its range over the starts,
    `distance_starts_low`, `distance_starts_high`.

    Raises:
        TextcriticError: a file is missing or damaged, files do not belong together, or no real text could be scored.
    """
    return _rows(material, (*COLUMNS, *DISTANCE_COLUMNS), (NLL, GAP, AT_MEAN, DISTANCE))


def nll_rows(material: Material[TopicsFiles]) -> pd.DataFrame:
    """The same without the distances: the paper's Table 9."""
    return _rows(material, COLUMNS, (NLL, GAP, AT_MEAN))


def _rows(material: Material[TopicsFiles], columns: Sequence[str], measures: Sequence[Measure]) -> pd.DataFrame:
    critics = {fitted.corpus: CTM.load(fitted.critic) for fitted in material.files.data}

    def read(source: Documents, real: Scored | None) -> Scored:
        critic = critics[source.corpus]
        scored = read_source(source, real)
        published = material.published.value(f"latent_nll_at_mean: {of_topics(critic)}", source.keys)
        more = {"topics": critic.num_topics, "vocabulary": critic.num_words, "published": published}
        return replace(scored, more={**more, **scored.more})

    return completed(source_rows(material, read, measures), columns, measures, WHOLE, ("baseline",))


def read_source(source: Documents, real: Scored | None) -> Scored:
    """One source: its documents' Latent NLL, also under the other starts of the fit, and the posteriors."""
    scores = read_topic_scores(source)
    kept = scores.filter(pc.invert(scores["rejected"]))
    nll = {column: with_ones(kept[column].to_numpy()) for column in ("nll", "nll_at_mean")}
    starts = [(column[:, 0].mean() if len(column) else math.nan) for column in nll.values()]
    others = read_starts(source)
    of_starts = [tuple(starts), *((one.nll.mean(), one.nll_at_mean.mean()) for one in others)]
    more: dict[str, object] = {"baseline": isinstance(source, Sample) and source.baseline}
    if len(kept):
        more["words_per_document"] = float(kept["words"].to_numpy().mean())
        more |= _over_starts(source, of_starts, of_starts if real is None else real.data["starts"])
    data = {NLL.value: nll["nll"], AT_MEAN.value: nll["nll_at_mean"], "starts": of_starts}
    data[DISTANCE.value] = partial(_moments, source)
    if len(kept):
        data[GAP.value] = _of_fits(source, nll["nll"][:, 0], [one.nll for one in others])
    return Scored(data, len(kept), rejections(scores), more, groups_of(scores))


def word_rows(material: Material[TopicsFiles]) -> pd.DataFrame:
    """Each topic's likeliest words and its share in real text and in the first seed of every sample.

    Columns: the keys, `label`, `topic` (from 1), `words` (with spaces between), `share` (empty if nothing could be
    scored); the commonest topic of real text first.
    """
    topics, rows = material.files, []
    for fitted in topics.data:
        words = _words(fitted, WORDS)
        shares_by_source = {source: _shares(source) for source in topics.shown(fitted)}
        order = np.argsort(-np.array(shares_by_source[fitted]), kind="stable")
        for topic in order:
            for source, shares in shares_by_source.items():
                row = {**material.start(source), "topic": int(topic) + 1, "words": " ".join(words[topic])}
                rows.append(row | {"share": None if shares is None else float(shares[topic])})
    return pd.DataFrame(rows).astype({**dict.fromkeys(RUN, "Int64"), "share": float})


def topic_names(fitted: Fitted) -> list[str]:
    """Names of all topics by number and likeliest words: [K]."""
    return [f"{number}: {DOT.join(words)}" for number, words in enumerate(_words(fitted, NAMING), start=1)]


def of_topics(critic: CTM) -> str:
    """The end of a published value's metric, which names the number of the critic's topics."""
    return f"{critic.num_topics} topics"


def _over_starts(
    source: Documents, nll: Sequence[tuple[float, float]], real: Sequence[tuple[float, float]]
) -> dict[str, float]:
    """Latent NLL, and how far it is above real text's, under every start: the least and greatest of each.

    Args:
        source: the documents.
        nll: Latent NLL in expectation and at the mean, under the critic that is kept and under the other starts.
        real: the same of real text.
    """
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


def _of_fits(source: Documents, own: Matrix, others: Sequence[Matrix]) -> Matrix:
    """Latent NLL of the documents under the critic and under the other starts: [documents, fits]."""
    if any(len(other) != len(own) for other in others):
        raise TextcriticError(
            f"{source.of_starts}: not of the documents of {source.scores}; delete both and rerun the rule that "
            "makes them"
        )
    return np.column_stack([own, *others])


def _moments(source: Documents) -> list[Moments]:
    """Means and variances of the documents that have words, under the critic and under the other starts."""
    return [read_posteriors(source), *(one.moments for one in read_starts(source))]


def _gap(scored: Scored, real: Scored | None, resampling: Resampling) -> Estimate:
    """How far the Latent NLL is above real text's under the same fit, the mean over all fits.

    `Scored.data` has the Latent NLL of each document under each fit, in nats: [documents, fits].
    """
    if real is None:
        return Estimate()
    one, two = scored.data[GAP.value], real.data[GAP.value]
    columns, groups = (with_ones(one.mean(axis=1)), with_ones(two.mean(axis=1))), (scored.groups, real.groups)
    units = [unit_sums(*pair) for pair in zip(columns, groups, strict=True)]
    draws, seed = resampling.resamples, resampling.seed
    interval = bootstrap_difference(units[0], units[1], ratio_of_sums, draws, seed=seed)
    low, high = with_fits(interval.estimate, (interval.low, interval.high), one.mean(axis=0) - two.mean(axis=0))
    test = two_sample_test(*columns, ratio_of_sums, groups, draws, seed)
    reason = interval.reason or (test.reason if isinstance(test, ClusterTest) else "")
    return Estimate(interval.estimate, low, high, test.p, reason=reason)


def _distance(scored: Scored, real: Scored | None, resampling: Resampling) -> Estimate:
    """How far the covariances of a sample's topics are from real text's; one document of each group, at random.

    `Scored.data` has a function that gives the moments of the documents, [documents, K-1], under each fit.
    """
    if real is None:
        return Estimate()
    kept = [one_of_each(one.groups, one.documents or 0) for one in (scored, real)]
    both = zip(scored.data[DISTANCE.value](), real.data[DISTANCE.value](), strict=True)
    fits = [(_rows_of(one, kept[0]), _rows_of(other, kept[1])) for one, other in both]
    test = covariance_distance_of(*fits[0], resampling)
    if test is None:
        return Estimate(reason="fewer than two independent documents with words")
    others = (corrected_distance(*fit) for fit in fits[1:])
    values = [test.corrected, *(value for value in others if value is not None)]
    more = {"distance": test.distance, "distance_by_chance": test.by_chance}
    more |= {"distance_starts_low": min(values), "distance_starts_high": max(values)}
    low, high = with_fits(test.corrected, (test.low, test.high), values)
    return Estimate(float(np.mean(values)), None if low is None else max(low, 0.0), high, test.p, more)


GAP = Measure(
    name="Latent NLL minus real text's",
    means="how much more surprising the mixtures of topics are than those of real text; below 0: less",
    value="gap",
    key="nll_gap",
    low="gap_low",
    high="gap_high",
    p="gap_p",
    section="table-topics",
    estimate=_gap,
    of_real=0.0,
)
NLL = Measure(
    name="Latent NLL",
    means="how surprising the mixture of topics of a document is, in nats",
    value="latent_nll",
    section="table-topics",
    statistic=ratio_of_sums,
)
AT_MEAN = Measure(
    name="Latent NLL, at the mean",
    value="latent_nll_at_mean",
    low="at_mean_low",
    high="at_mean_high",
    p="p_value_at_mean",
    statistic=ratio_of_sums,
    published="published",
    difference="difference",
)
DISTANCE = Measure(
    name="Distance of topic covariances",
    means="how differently topics go together in documents: 0 as in real text, 1 as if nothing went together",
    value="distance_corrected",
    key="distance",
    low="distance_low",
    high="distance_high",
    p="distance_p",
    section="table-topics",
    estimate=_distance,
    of_real=0.0,
)


def _rows_of(moments: Moments, rows: npt.NDArray[np.int64]) -> Moments:
    return moments[0][rows], moments[1][rows]


def _shares(source: Documents) -> Matrix | None:
    """Share of each topic in a source [K]; None if no document has words."""
    means, _ = read_posteriors(source)
    return topic_shares(means) if len(means) else None


def _words(fitted: Fitted, n: int) -> list[list[str]]:
    return top_words(CTM.load(fitted.critic), Vocabulary.load(fitted.vocabulary).words, n)
