"""Mixed languages in long format: how much each source mixes, and how that compares with real translations."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations, compress

import numpy as np
import pandas as pd

from textcritic.critics import rejections
from textcritic.critics.lda import CORNER
from textcritic.errors import TextcriticError
from textcritic.experiments.mixing.files import Documents, MixingFiles, RealText, Sample
from textcritic.experiments.mixing.read import Compared, Matrix, compared_of
from textcritic.files import read_json
from textcritic.inference import (
    ClusterTest,
    bootstrap_difference,
    bootstrap_interval,
    energy_test,
    one_of_each,
    paired_permutation_test,
    ratio_of_sums,
    two_sample_test,
    unit_sums,
    with_ones,
)
from textcritic.measures.material import Material
from textcritic.measures.measure import Estimate, Measure, Resampling, Scored
from textcritic.measures.published import Published
from textcritic.measures.rows import completed, source_rows
from textcritic.measures.scored import RECIPE, perplexity_of, reasons_in_words
from textcritic.plan.sources import KEYS, RUN
from textcritic.values import JsonObject, Row

REAL = {"data": "real translations"}
"""The label of a row of real text."""
PERCENT = 100.0


def _plain(name: str, value: str, low: str, high: str, whole: float | None = None) -> Measure:
    """A ratio of sums over sentences that is shown without a test."""
    return Measure(name=name, value=value, low=low, high=high, p="", statistic=ratio_of_sums, whole=whole)


def _mixed(scored: Scored, real: Scored | None, resampling: Resampling) -> Estimate:
    """Words outside the main topic; the test swaps the two texts of a pair, all pairs of a group together.

    `Scored.data["pairs"]` has the places of the pairs in both sources; None: there are no pairs.
    """
    columns, (draws, seed) = scored.data[MIXED.value], (resampling.resamples, resampling.seed)
    share = bootstrap_interval(unit_sums(columns, scored.groups), ratio_of_sums, draws, seed=seed).of_share()
    estimate = Estimate(share.estimate, share.low, share.high, reason=share.reason)
    if real is None:
        return estimate
    pairs = scored.data["pairs"]
    if pairs is None:
        both, groups = (columns, real.data[MIXED.value]), (scored.groups, real.groups)
        test = two_sample_test(*both, ratio_of_sums, groups, draws, seed)
        reasons = (estimate.reason, test.reason if isinstance(test, ClusterTest) else "")
        return replace(estimate, p=test.p, reason="; ".join(filter(None, reasons)))
    if not len(pairs[0]):
        return estimate
    groups_of_pairs = None if real.groups is None else [real.groups[place] for place in pairs[1]]
    both = columns[pairs[0]], real.data[MIXED.value][pairs[1]]
    first, second = (unit_sums(values, groups_of_pairs) for values in both)
    return replace(estimate, p=paired_permutation_test(first, second, ratio_of_sums, draws, seed).p)


def _distance(scored: Scored, real: Scored | None, resampling: Resampling) -> Estimate:
    """Energy distance of the posterior means, in `Scored.data["means"]`; of each group only one text or pair counts.

    `Scored.data["pairs"]` is as in `_mixed`.
    """
    if real is None:
        return Estimate()
    means, pairs = (scored.data["means"], real.data["means"]), scored.data["pairs"]
    if pairs is None:
        rows = [one_of_each(one.groups, len(points)) for one, points in zip((scored, real), means, strict=True)]
    else:
        groups = None if real.groups is None else [real.groups[place] for place in pairs[1]]
        kept = one_of_each(groups, len(pairs[0]))
        rows = [places[kept] for places in pairs]
    if min(map(len, rows)) < 2:
        what = "pairs of texts with known words" if pairs is not None else "texts, or groups of them, with known words"
        return Estimate(reason=f"no distance of fewer than two {what}")
    points = (means[0][rows[0]], means[1][rows[1]])
    test = energy_test(*points, pairs is not None, resampling.resamples, seed=resampling.seed)
    return Estimate(test.corrected, test.low, test.high, test.p, {"distance_measured": test.distance})


MIXED = Measure(
    name="Words of another language, %",
    means="words that are of another language than most of their sentence",
    value="mixed",
    low="mixed_low",
    high="mixed_high",
    p="mixed_p",
    section="values",
    estimate=_mixed,
    whole=100,
)
MIXED_TOPICS = replace(
    MIXED,
    name="Words of another topic, %",
    means="words that are of another topic than most of their text",
)
"""The same if topics are not languages."""
DIVIDED = _plain(f"Sentences below {CORNER:.0%}", "divided", "divided_low", "divided_high", 1)
CORNERS = _plain("Draws in a corner", "corners", "corners_low", "corners_high", 1)
ENTROPY = _plain("Entropy, nats", "entropy", "entropy_low", "entropy_high")
NLL = _plain("Latent NLL", "latent_nll", "latent_nll_low", "latent_nll_high")
DISTANCE = Measure(
    name="Energy distance",
    means="how far the shares of topics of its texts are from those of real texts",
    value="distance",
    key="energy",
    low="distance_low",
    high="distance_high",
    p="distance_p",
    estimate=_distance,
    of_real=0.0,
)
PARAMETERS = Measure(
    name="Parameters, millions",
    value="parameters_millions",
    low="",
    high="",
    p="",
    metric="parameters_millions",
    published="published",
    difference="difference",
)
MEASURES = (MIXED, DIVIDED, CORNERS, ENTROPY, NLL, DISTANCE, PARAMETERS)
COLUMNS = (
    "label", "iterations", "mixed", "mixed_low", "mixed_high", "divided", "divided_low", "divided_high", "corners",
    "corners_low", "corners_high", "entropy", "entropy_low", "entropy_high", "latent_nll", "latent_nll_low",
    "latent_nll_high", "mixed_p", "distance", "distance_low", "distance_high", "distance_measured", "distance_p",
    "ppl_all", "ppl_all_low", "ppl_all_high", "parameters_millions", "published", "difference", "documents", "groups",
    "words_per_sentence", "rejected", "rejected_share", "rejected_by_reason", "converged", *RECIPE,
)  # fmt: skip
WHOLE = ("iterations", "documents", "groups", "rejected", "seeds")


def mixing_rows(material: Material[MixingFiles]) -> pd.DataFrame:
    """How much every source mixes, one row a source.

    Columns: those of `rows.source_rows` for `mixed` (in percent), `divided`, `corners` and `entropy` (nats), see
    `critics.lda.mixing_columns`, and `latent_nll` (nats per sentence); `iterations` of the decoding (empty if it
    draws); `distance` (energy distance of posterior means without the bias of few sentences, paired by English
    sentence), `distance_measured` (with that bias) and the p-value of swaps within pairs, `distance_p`; `ppl_all` of
    the generator, its `parameters_millions`, the `published` ones and the `difference`; `words_per_sentence` of the
    vocabulary; `converged`, 1 if the critic's chains have converged, else 0; `seeds`, `seeds_mean`, `seeds_sd` of
    `mixed`.
    """
    fits = {real.corpus: fit_of(real) for real in material.files.data}
    read = {source.files: (one, source) for one in material.get(compared_of) for source in one.sources}

    def scored(files: Documents, _: Scored | None) -> Scored:
        one, source = read[files]
        more = _of_generator(files, material.files.decodings) if isinstance(files, Sample) else {}
        more["converged"] = fits[files.corpus]["converged"]
        if source.english:
            more["words_per_sentence"] = float(source.posteriors.tokens.mean())
        data: dict[str, object] = {}
        if source.english:
            pairs = None if source is one.real else one.pairs(source)
            data = {**source.columns, "means": source.posteriors.mean, "pairs": pairs}
        else:
            lost = f"no sentence could be scored ({reasons_in_words(rejections(source.scores)) or 'there is none'})"
            more |= {measure.why: lost for measure in (MIXED, DISTANCE)}
        return Scored(data, len(source.english), rejections(source.scores), more, source.groups)

    return completed(source_rows(material, scored, MEASURES), COLUMNS, MEASURES, WHOLE)


def pair_rows(material: Material[MixingFiles]) -> pd.DataFrame:
    """Every two samples of a corpus, of the first seed: `difference` of `mixed`, `low`, `high`, `p_value`.

    The test swaps translations of the same English sentence (`p_value` is None if there are none). The interval takes
    the two samples as independent, which makes it somewhat wider than necessary.
    """
    columns = ["corpus", "more", "less", "difference", "low", "high", "p_value", "documents_more", "documents_less"]
    files, names, rows = material.files, material.names, []
    for real, one in zip(files.data, material.get(compared_of), strict=True):
        shown = files.shown(real)
        samples = [source for source in one.sources[1:] if source.files in shown and source.english]
        for pair in combinations(samples, 2):
            less, more = sorted(pair, key=lambda source: _ratio(source.outside))
            first, second = (unit_sums(source.outside, source.groups) for source in (more, less))
            interval = bootstrap_difference(first, second, ratio_of_sums, files.resamples).times(PERCENT)
            places = one.pairs(more, less)
            pairs = more.outside[places[0]], less.outside[places[1]]
            p = paired_permutation_test(*pairs, ratio_of_sums, files.resamples).p if len(places[0]) else None
            labels = [names.source(source.files.keys, corpus=False, seed=False) for source in (more, less)]
            numbers = (interval.estimate, interval.low, interval.high, p, len(more.english), len(less.english))
            rows.append((real.corpus, *labels, *numbers))
    return pd.DataFrame(rows, columns=columns).sort_values("difference", ascending=False, kind="stable")


def language_rows(material: Material[MixingFiles]) -> pd.DataFrame:
    """A row for each source and topic: its share of sentences and of words; for real translations also how many of
    them have the right topic.

    Columns: the keys, `label`, `topic` (from 1), `language`, `share_of_sentences`, `share_of_words`; of real
    translations into the language `right_words`, `right_sentences`, each with `..._low`, `..._high`.
    """
    files, rows = material.files, []
    for real, one in zip(files.data, material.get(compared_of), strict=True):
        for source in one.sources:
            if source.files not in files.shown(real):
                continue
            counts = np.asarray(source.posteriors.counts, np.float64)
            main = np.bincount(counts.argmax(axis=1), minlength=counts.shape[1]) if len(counts) else None
            for topic, language in enumerate(one.topics):
                row = {**material.start(source.files), "topic": topic + 1, "language": language}
                if main is not None:
                    row["share_of_sentences"] = main[topic] / len(counts)
                    row["share_of_words"] = counts[:, topic].sum() / counts.sum()
                if source is one.real and language:
                    row |= _right(one, topic, language, files.resamples)
                rows.append(row)
    ends = [f"{name}{end}" for name in ("right_words", "right_sentences") for end in ("", "_low", "_high")]
    shares = ["share_of_sentences", "share_of_words"]
    table = pd.DataFrame(rows).reindex(columns=[*KEYS, "label", "topic", "language", *shares, *ends])
    return table.astype({**dict.fromkeys(RUN, "Int64"), **dict.fromkeys([*shares, *ends], float)})


def word_rows(material: Material[MixingFiles]) -> pd.DataFrame:
    """The topics (paper, Table 10), a row each.

    Columns: `corpus`, `topic`, `language`, `share` of words of real text, `alpha`, `words`; `published_words`, the
    likeliest first, and `as_published`, the number of our words among them.
    """
    rows = []
    for one in material.get(compared_of):
        counts = np.asarray(one.real.posteriors.counts, np.float64).sum(axis=0)
        for topic, likeliest in enumerate(one.critic.top_words(one.words, material.files.words)):
            corpus, language = one.real.files.corpus, one.topics[topic]
            row = {"corpus": corpus, "topic": topic + 1, "language": language}
            row |= {"share": counts[topic] / counts.sum(), "alpha": one.critic.alpha[topic]}
            printed = _published_words(material.published, corpus, language)
            both = len({*printed} & {*likeliest}) if printed else None
            row |= {"words": " ".join(likeliest), "published_words": " ".join(printed), "as_published": both}
            rows.append(row)
    return pd.DataFrame(rows).astype({"as_published": "Int64"})


def _published_words(published: Published, corpus: str, language: str) -> list[str]:
    """The published words of a language's topic, in their order: metrics such as `de: der`, whose value is the rank."""
    ranks = {
        metric.removeprefix(f"{language}: "): rank
        for (place, *_, metric), rank in published.values.items()
        if place == corpus and language and metric.startswith(f"{language}: ")
    }
    return sorted(ranks, key=ranks.__getitem__)


def fit_of(real: RealText) -> Row:
    """Whether the chains of the critic's fit have converged, see `Convergence.record`.

    Raises:
        TextcriticError: the record of the fit is missing or damaged, or of an earlier version.
    """
    training = read_json(real.training)
    try:
        convergence: JsonObject = training["convergence"]
    except (KeyError, TypeError) as error:
        raise TextcriticError(f"{real.training}: no {error} in it; delete it and rerun the rule fit_lda") from error
    return convergence


def _of_generator(sample: Sample, decodings: Mapping[str, Row]) -> dict[str, object]:
    """How a sample's generator decodes, its perplexity, and its millions of parameters if it was trained here."""
    decoding = decodings[sample.decoding]
    more = {"iterations": decoding["iterations"] if decoding.get("method") == "likeliest" else None}
    more |= perplexity_of(sample.perplexity)
    if sample.training is not None:
        report = read_json(sample.training)
        if "parameters" not in report:
            raise TextcriticError(
                f"{sample.training}: no 'parameters' in it; delete it and rerun the rule that makes it"
            )
        more["parameters_millions"] = report["parameters"] / 1e6
    return more


def _right(one: Compared, topic: int, language: str, resamples: int) -> dict[str, float]:
    row: dict[str, float] = {}
    counts = np.asarray(one.real.posteriors.counts, np.float64)
    into = np.array([name == language for name in one.real.languages])
    groups = None if one.real.groups is None else list(compress(one.real.groups, into))
    words = np.stack([counts[into, topic], counts[into].sum(axis=1)], axis=1)
    sentences = with_ones(counts[into].argmax(axis=1) == topic)
    for name, columns in (("right_words", words), ("right_sentences", sentences)):
        interval = bootstrap_interval(unit_sums(columns, groups), ratio_of_sums, resamples).of_share()
        low, high = interval.ends
        row |= {name: interval.estimate, f"{name}_low": low, f"{name}_high": high}
    return row


def _ratio(columns: Matrix) -> float:
    return float(ratio_of_sums(columns.sum(axis=0, keepdims=True))[0])
