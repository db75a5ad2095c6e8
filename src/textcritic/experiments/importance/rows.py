"""Perplexities by importance sampling in long format: estimates, strict bounds, curves, and single texts."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from textcritic.errors import TextcriticError
from textcritic.experiments.importance.files import MIXED, Beam, ImportanceFiles, Texts, Weighed
from textcritic.experiments.importance.intervals import over_texts
from textcritic.experiments.importance.names import keys_of
from textcritic.experiments.importance.own import GAP, by_own_texts
from textcritic.experiments.importance.particles import by_particles
from textcritic.experiments.importance.read import Known, groups_of, matching, read_weights
from textcritic.files import arrays_of
from textcritic.inference import Groups
from textcritic.inference.importance import (
    Curves,
    LogWeights,
    advice,
    beam_perplexity,
    corpus_over_pairings,
    corpus_perplexity,
    curves,
    effective_sample_sizes,
    for_truth,
    instance_perplexity,
    jackknife_log_likelihoods,
    log_likelihoods,
    over_draws,
    pareto_k,
    pareto_smoothed_log_likelihoods,
)
from textcritic.inference.importance.tails import GOOD
from textcritic.measures.material import Material
from textcritic.measures.published import Published
from textcritic.values import Row

Array = npt.NDArray[np.float64]
KEYS = ("generator", "temperature")
"""The keys of a published value; the temperature is written as `1.1`, `none` without peeking, "" for a beam."""
ROW = ("corpus", "generator", "proposal", "seed", "temperature", "peeks", "label")
ESTIMATES = (
    *ROW, "texts", "tokens", "draws", "ppl", "ci_low", "ci_high", "ci_why", "draws_low", "draws_high", "draws_why",
    "truth_at_most", "ppl_corpus", "pairing_mean", "pairing_low", "pairing_high", "exact", "too_high_percent", "ess",
    "ess_share", "k_hat", "k_hat_poor", "verdict", "advice", "bias_percent", "draws_needed", "jackknife", "pareto",
    "beside", "ratio", "ratio_low", "ratio_high", "ratio_why", "particles", "smc", "smc_low", "smc_high",
    *GAP, "published", "difference", "published_corpus", "difference_corpus",
)  # fmt: skip
BOUNDS = (
    "corpus", "generator", "proposal", "seed", "label", "states", "filled", "texts", "tokens", "ppl", "estimate",
    "exact", "published", "difference",
)  # fmt: skip
TEXT = (
    "proposal",
    "ci_why",
    "draws_why",
    "ratio_why",
    "gap_why",
    "gap_sign",
    "gap_says",
    "verdict",
    "advice",
    "beside",
    "id",
    "level",
    "name",
    "meaning",
    "value",
)
"""Columns that are text."""
CURVE_SEED = 1
EXACT = "exact"


@dataclass(frozen=True, slots=True)
class Estimated:
    """The results from the weights of one model with one proposal at one temperature.

    Attributes:
        row: of the table `estimates`.
        curves: rows of the table `curves`.
        texts: rows of the table `texts`.
    """

    row: Row
    curves: pd.DataFrame
    texts: pd.DataFrame


def estimate_rows(material: Material[ImportanceFiles]) -> pd.DataFrame:
    """Perplexity of each model, with each proposal at each temperature, or exact: one row each.

    Columns: `corpus`, `generator`, `proposal` ("" if the value is exact), `seed`, `temperature`, `peeks`, `label`;
    `texts`, `tokens` (T), `draws` (K of each text); `ppl`, at instance level, with three intervals that cover different
    things: `ci_low`, `ci_high` over texts (groups of texts as one), `draws_low`, `draws_high` over draws, and
    `truth_at_most`, a 95% upper bound of the model's own perplexity; `ppl_corpus`, with draw k of each text paired
    with draw k of the others, and over random pairings `pairing_mean`, `pairing_low`, `pairing_high` (no interval);
    `exact` if it is known, and how much too high `ppl` is; `ess`, `k_hat`: medians over texts; `ess_share` of K;
    `k_hat_poor`, the share of texts from 0.7 on; `verdict` and `advice`, whether K seems too small; `bias_percent`,
    `draws_needed` for 1%, if they can be estimated; `jackknife` and `pareto`, other estimates, which are not bounds;
    `beside`, a model of the same corpus whose perplexity is exact, and `ratio` of both over the same texts with its
    interval; `particles` and `smc`, the estimate by a particle filter with its interval over texts; those of
    `by_own_texts`; published values and ours minus them. A temperature of 0 is the mixture of all: its draws have no
    corpus level in their own order.

    Raises:
        TextcriticError: a file is missing or damaged, or files are not of the same texts.
    """
    rows = [estimated.row for estimated in material.get(all_estimates)]
    rows += [_exact_row(known, material) for known in material.get(all_known)]
    table = pd.DataFrame(rows).reindex(columns=list(ESTIMATES))
    words = [column for column in ESTIMATES if column in TEXT]
    table = table.astype(dict.fromkeys(words, "object")).fillna(dict.fromkeys(words, ""))
    numbers = [c for c in ESTIMATES if c not in (*words, "corpus", "generator", "seed", "peeks", "label")]
    return table.astype(dict.fromkeys(numbers, float)).astype(dict.fromkeys(("texts", "draws", "seed"), "Int64"))


def bound_rows(material: Material[ImportanceFiles]) -> pd.DataFrame:
    """Strict upper bounds of perplexity by summing over the likeliest states of each text: one row a beam.

    Columns: the keys; `states`, the number configured, and `filled`, the mean number that a text has; `texts`,
    `tokens`; `ppl`; `estimate`, by importance sampling with the same proposal at the temperature nearest to 1; `exact`
    if it is known; `published`, `difference`.

    Raises:
        TextcriticError: as `estimate_rows`.
    """
    estimates, files = material.get(estimate_rows), material.files
    rows = [_bound(beam, estimates, material.published) for beam in files.beams]
    table = pd.DataFrame(rows).reindex(columns=list(BOUNDS))
    whole = dict.fromkeys(("seed", "states", "texts"), "Int64")
    numbers = dict.fromkeys(("filled", "tokens", "ppl", "estimate", "exact", "published", "difference"), float)
    return table.astype(numbers).astype(whole)


def curve_rows(material: Material[ImportanceFiles]) -> pd.DataFrame:
    """Perplexity against K: one row for each estimate, level (`instance`, `corpus`) and number of draws.

    Columns: the keys; `level`; `draws`; `ppl`, the mean over random orders of the draws; `low`, `high`, the range of
    the middle 95% of them; `exact` if it is known.
    """
    parts = [estimated.curves for estimated in material.get(all_estimates)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(_CURVE))


def curves_alone(material: Material[ImportanceFiles]) -> pd.DataFrame:
    """The same rows without the other tables, whose intervals take longer."""
    parts = []
    for weighed in material.files.weighed:
        weights, keys = read_weights(weighed), keys_of(weighed)
        every = curves(weights, repeats=material.files.repeats, seed=CURVE_SEED)
        value = _exact_value(material, weighed, weights)
        parts.append(_points(every, keys | {"label": material.names.estimate(keys), "exact": value}))
    return pd.concat(parts, ignore_index=True)


def text_rows(material: Material[ImportanceFiles]) -> pd.DataFrame:
    """Each text of each estimate: `id`, `tokens`, `log_p` (its estimate, nats), `ess`, `k_hat`."""
    parts = [estimated.texts for estimated in material.get(all_estimates)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(_TEXT))


def setting_rows(material: Material[ImportanceFiles]) -> pd.DataFrame:
    """How the estimates were made: `name`, `value`, `meaning`."""
    files = material.files
    draws = sorted({int(row["draws"]) for row in (one.row for one in material.get(all_estimates))})
    temperatures = sorted({one.temperature for one in files.weighed if one.peeks and not one.mixed})
    particles = sorted({one.particles for one in files.filtered})
    settings = [
        ("draws", ", ".join(f"{k:,}" for k in draws), "K, latent states drawn for each text"),
        ("temperatures", ", ".join(f"{t:g}" for t in temperatures), "of the proposals"),
        ("beams", ", ".join(str(n) for n in sorted({b.states for b in files.beams})), "states of the strict bounds"),
        ("particles", ", ".join(f"{n:,}" for n in particles), "of each text, in the particle filters"),
        ("repeats", str(files.repeats), "random orders of the draws, averaged in a curve, and random pairings"),
        ("group", str(files.group), "draws in each of the repeated estimates of the density"),
        ("resamples", f"{files.resamples:,}", "of the intervals over texts"),
    ]
    return pd.DataFrame([{"name": name, "value": value or "none", "meaning": words} for name, value, words in settings])


def all_estimates(material: Material[ImportanceFiles]) -> list[Estimated]:
    """The results from each set of weights, in the order of the files; one set is in memory at a time."""
    estimates = []
    for weighed in material.files.weighed:
        try:
            estimates.append(_estimated(weighed, material))
        except TextcriticError as error:
            where = "" if ".npz: " in str(error) else f"{weighed.shards[0]}: "
            raise TextcriticError(f"{where}{error}") from error
    return estimates


def all_known(material: Material[ImportanceFiles]) -> list[Known]:
    """The exact values."""
    return [Known(exact, LogWeights.read(exact.weights)) for exact in material.files.exact]


_CURVE = (*ROW, "level", "draws", "ppl", "low", "high", "exact")
_TEXT = (*ROW, "id", "tokens", "log_p", "ess", "k_hat")


def _estimated(weighed: Weighed, material: Material[ImportanceFiles]) -> Estimated:
    files, weights = material.files, read_weights(weighed)
    keys = keys_of(weighed) | {"label": material.names.estimate(keys_of(weighed))}
    groups = groups_of(_texts_of(files, weighed.corpus), weights)
    likelihoods, sizes, tails = log_likelihoods(weights), effective_sample_sizes(weights), pareto_k(weights)
    exact = [one for one in material.get(all_known) if one.exact.corpus == weighed.corpus]
    value = _exact_value(material, weighed, weights)
    every = curves(weights, repeats=files.repeats, seed=CURVE_SEED)
    judged = advice(weights)
    others = over_texts(-likelihoods, weights.tokens, groups, files.resamples)
    redrawn, truth = over_draws(weights), for_truth(weights)
    pairings = corpus_over_pairings(weights, repeats=files.repeats, seed=CURVE_SEED)
    ppl, tokens = instance_perplexity(weights), weights.total_tokens
    defined = tails[np.isfinite(tails)]
    row = keys | {
        "texts": len(weights.ids),
        "tokens": tokens,
        "draws": weights.draws,
        "ppl": ppl,
        "ci_low": others.low,
        "ci_high": others.high,
        "ci_why": others.reason,
        "draws_low": redrawn.low,
        "draws_high": redrawn.high,
        "draws_why": redrawn.reason,
        "truth_at_most": truth.perplexity,
        # In their own order, all draws of a column are from one temperature and so not from the mixture.
        "ppl_corpus": None if weighed.mixed else corpus_perplexity(weights),
        "pairing_mean": pairings.mean,
        "pairing_low": pairings.low,
        "pairing_high": pairings.high,
        "exact": value,
        "too_high_percent": None if value is None else 100 * (ppl / value - 1),
        "ess": float(np.median(sizes)),
        "ess_share": float(np.median(sizes)) / weights.draws,
        "k_hat": float(np.median(defined)) if len(defined) else None,
        "k_hat_poor": float((defined >= GOOD).sum() / len(tails)) if len(defined) else None,
        "verdict": judged.verdict,
        "advice": " ".join(judged.sentences[:-1]),  # the last one is about an option of the command
        "bias_percent": None if judged.bias is None else 100 * judged.bias,
        "draws_needed": judged.draws_needed,
        "jackknife": _perplexity(jackknife_log_likelihoods(weights), tokens),
        "pareto": _perplexity(pareto_smoothed_log_likelihoods(weights), tokens),
        **_beside(exact, weights, likelihoods, groups, files.resamples),
        **by_particles(files, weighed, weights, groups),
        **by_own_texts(files, weighed),
        **_published(material.published, weighed, ppl, pairings.mean),
    }
    texts = pd.DataFrame(
        {"id": weights.ids, "tokens": weights.tokens, "log_p": likelihoods, "ess": sizes, "k_hat": tails}
    )
    return Estimated(row, _points(every, keys | {"exact": value}), _with_keys(texts, keys, _TEXT))


def _points(every: Curves, keys: Row) -> pd.DataFrame:
    """Rows of the table `curves`."""
    levels = {"instance": every.instance, "corpus": every.corpus}
    points = [
        {"level": level, "draws": int(k), "ppl": band.mean, "low": band.low, "high": band.high}
        for level, curve in levels.items()
        for k, band in zip(curve.draws, curve.bands, strict=True)
    ]
    return _with_keys(pd.DataFrame(points), keys, _CURVE).astype({"exact": float})


def _exact_value(material: Material[ImportanceFiles], weighed: Weighed, weights: LogWeights) -> float | None:
    """The model's own perplexity on the same texts, if it is known."""
    for known in material.get(all_known):
        exact = known.exact
        if exact.latent and (exact.corpus, exact.generator, exact.seed) == (
            weighed.corpus,
            weighed.generator,
            weighed.seed,
        ):
            return instance_perplexity(matching(known, weights))
    return None


def _exact_row(known: Known, material: Material[ImportanceFiles]) -> Row:
    exact, weights, files = known.exact, known.weights, material.files
    groups = groups_of(_texts_of(files, exact.corpus), weights)
    others = over_texts(-log_likelihoods(weights), weights.tokens, groups, files.resamples)
    keys = {"corpus": exact.corpus, "generator": exact.generator, "proposal": "", "seed": exact.seed, "peeks": False}
    ppl = instance_perplexity(weights)
    return keys | {
        "label": material.names.model(keys),
        "texts": len(weights.ids),
        "tokens": weights.total_tokens,
        "ppl": ppl,
        "ci_low": others.low,
        "ci_high": others.high,
        "ci_why": others.reason,
        "exact": ppl,
        "verdict": EXACT,
    }


def _bound(beam: Beam, estimates: pd.DataFrame, published: Published) -> Row:
    with arrays_of(beam.joint, "not an .npz file of a beam (ids, tokens, log_p); delete it and rerun") as arrays:
        tokens, log_p = arrays["tokens"], arrays["log_p"]
    try:
        ppl = beam_perplexity(log_p, tokens)
    except TextcriticError as error:
        raise TextcriticError(f"{beam.joint}: {error}") from error
    keys = {"corpus": beam.corpus, "generator": beam.generator, "seed": beam.seed}
    own = estimates[estimates["temperature"] != MIXED]
    for name, value in (keys | {"proposal": beam.proposal}).items():
        own = own[own[name] == value]
    nearest = own.iloc[(own["temperature"] - 1).abs().argsort()[:1]].to_dict("records") if len(own) else []
    place = {"generator": beam.generator, "temperature": ""}
    return {
        **keys,
        "proposal": beam.proposal,
        "label": beam.label,
        "states": beam.states,
        "filled": float(np.isfinite(log_p).sum(axis=1).mean()),
        "texts": len(log_p),
        "tokens": float(tokens.sum()),
        "ppl": ppl,
        "estimate": nearest[0]["ppl"] if nearest else None,
        "exact": nearest[0]["exact"] if nearest else None,
        **published.beside(f"beam_{beam.states}", place, ppl),
    }


def _beside(exact_values: list[Known], weights: LogWeights, likelihoods: Array, groups: Groups, resamples: int) -> Row:
    """The ratio of this perplexity to the exact one of another model of the same corpus, over the same texts."""
    other = next((one for one in exact_values if not one.exact.latent), None)
    if other is None:
        return {}
    exact = matching(other, weights)
    if not np.array_equal(exact.tokens, weights.tokens):
        return {"beside": other.exact.label, "ratio_why": "it counts other tokens"}
    ratio = over_texts(log_likelihoods(exact) - likelihoods, weights.tokens, groups, resamples)
    ends = {"ratio_low": ratio.low, "ratio_high": ratio.high, "ratio_why": ratio.reason}
    return {"beside": other.exact.label, "ratio": ratio.estimate} | ends


def _published(published: Published, weighed: Weighed, instance: float, corpus: float) -> Row:
    place = {"generator": weighed.generator, "temperature": f"{weighed.temperature:g}" if weighed.peeks else "none"}
    whole = published.beside("ppl_corpus", place, corpus, "_corpus")
    return {**published.beside("ppl_instance", place, instance), **whole}


def _texts_of(files: ImportanceFiles, corpus: str) -> Texts:
    return next(texts for texts in files.texts if texts.corpus == corpus)


def _perplexity(likelihoods: Array, tokens: float) -> float | None:
    total = float(likelihoods.sum())
    return float(np.exp(-total / tokens)) if np.isfinite(total) else None


def _with_keys(table: pd.DataFrame, keys: Row, columns: tuple[str, ...]) -> pd.DataFrame:
    return table.assign(**keys)[list(columns)]
