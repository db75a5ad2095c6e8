"""`textcritic.importance`: perplexity of a latent language model from log importance weights, and how sure it is."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from textcritic.api.declare import takes
from textcritic.api.options import ImportanceOptions
from textcritic.api.weights import exact_of, weights_of
from textcritic.errors import listed
from textcritic.inference import Interval
from textcritic.inference.bootstrap import LEAST_UNITS
from textcritic.inference.importance import (
    COVERS,
    Advice,
    Band,
    Curves,
    Gap,
    Intervals,
    LogWeights,
    advice,
    corpus_log_likelihood,
    curves,
    effective_sample_sizes,
    gap,
    instance_perplexity,
    intervals,
    jackknife_log_likelihoods,
    log_likelihoods,
    pareto_k,
    pareto_smoothed_log_likelihoods,
    perplexity,
)
from textcritic.inference.importance.advice import CERTAIN, IMPOSSIBLE
from textcritic.inference.importance.tails import GOOD
from textcritic.inference.statistics import Array
from textcritic.values import JsonObject

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 110  # of printed text
NAMED = 5  # texts
FEW = "; of so few texts in 80% of runs alone, where a few draws decide"
NAMES = {"over_instances": "over texts", "over_draws": "over draws", "for_truth": "for the truth"}


@dataclass(frozen=True, repr=False, kw_only=True)
class ImportanceResult:
    """What `importance` gives; `print` shows it.

    Attributes:
        weights: what was given, shards put together.
        log_likelihoods: log p-hat of each text, in nats: [N].
        instance_perplexity, corpus_perplexity: the paper's two estimates; too high in expectation.
        corpus_log_likelihood: in nats.
        jackknife_perplexity, pareto_smoothed_perplexity: with less bias, and no bounds; NaN where there is none.
        as_released: what the released code prints; None if it was not asked for.
        intervals: three that cover different things (`textcritic.inference.importance.COVERS`).
        curves: perplexity against the number of draws.
        effective_sample_sizes, k_hat: for each text [N]; NaN for K = 1, or if a value cannot be computed.
        advice: whether K seems too small.
        gap: the gap between both bounds of log p, for texts drawn from the model; None without `reverse`.
    """

    weights: LogWeights
    log_likelihoods: Array
    instance_perplexity: float
    corpus_perplexity: float
    corpus_log_likelihood: float
    jackknife_perplexity: float
    pareto_smoothed_perplexity: float
    as_released: float | None
    intervals: Intervals
    curves: Curves
    effective_sample_sizes: Array
    k_hat: Array
    advice: Advice
    gap: Gap | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Which numbers cannot be, in sentences."""
        return tuple(_impossible(self))

    @property
    def corpus_over_pairings(self) -> Band:
        """Corpus-level perplexity over pairings of the draws of different texts."""
        return self.curves.corpus.bands[-1]

    @property
    def table(self) -> "pd.DataFrame":
        """A row for each text: id, tokens (NaN if only their sum is known), log_likelihood (nats), ess, k_hat."""
        import pandas as pd

        tokens = self.weights.tokens if self.weights.tokens.ndim else np.nan
        columns = {"id": self.weights.ids, "tokens": tokens, "log_likelihood": self.log_likelihoods}
        return pd.DataFrame(columns | {"ess": self.effective_sample_sizes, "k_hat": self.k_hat})

    def to_json(self) -> str:
        """The object that `textcritic importance --json` prints."""
        weights, curve = self.weights, self.curves
        found = {
            "texts": len(weights.ids),
            "draws": weights.draws,
            "tokens": weights.total_tokens,
            "perplexity": {
                "instance": self.instance_perplexity,
                "corpus": self.corpus_perplexity,
                "jackknife": self.jackknife_perplexity,
                "pareto_smoothed": self.pareto_smoothed_perplexity,
                "as_released": self.as_released,
            },
            "log_likelihood": {
                "instance": float(self.log_likelihoods.sum()),
                "corpus": self.corpus_log_likelihood,
            },
            "corpus_over_pairings": asdict(self.corpus_over_pairings),
            "intervals": {
                "level": self.intervals.over_draws.level,
                "over_instances": _ends(self, "over_instances"),
                "over_draws": _ends(self, "over_draws"),
                "for_truth": {
                    "high": self.intervals.for_truth.perplexity,
                    "log_likelihood": self.intervals.for_truth.log_likelihood,
                    "covers": COVERS["for_truth"],
                },
            },
            "curve": {
                "draws": curve.instance.draws.tolist(),
                "instance": curve.instance.mean.tolist(),
                "corpus": curve.corpus.mean.tolist(),
            },
            "advice": asdict(self.advice),
            "gap": None if self.gap is None else _gap(self.gap),
            "warnings": list(self.warnings),
            "by_text": {
                "id": list(weights.ids),
                "tokens": weights.tokens.tolist() if weights.tokens.ndim else None,
                "log_likelihood": self.log_likelihoods.tolist(),
                "ess": self.effective_sample_sizes.tolist(),
                "k_hat": self.k_hat.tolist(),
            },
        }
        return json.dumps(_finite(found), allow_nan=False, ensure_ascii=False)

    def __repr__(self) -> str:
        return "\n".join(_lines(self))


@takes(ImportanceOptions)
def importance(weights: object, *, options: ImportanceOptions) -> ImportanceResult:
    """Estimate the perplexity of a latent language model from log importance weights (Logan et al. 2020).

    The weights are log p(x_n, z_nk) - log q(z_nk | x_n) of K latent states drawn from a proposal q for each of N texts.
    The command `textcritic importance` prints the same numbers.

    Args:
        weights: an array [N, K] in nats, -inf where p is 0; `textcritic.inference.importance.LogWeights`; the path of
            a .npy file, or of an .npz file that `LogWeights.save` wrote; or a list of some of these, whose draws are
            put together.
        options: see below; tokens may be an array too, [N], and `reverse` whatever `weights` may be.

    Raises:
        TextcriticError: bad input, in one line that names the file, row or option; no tokens; all weights of a text
            are -inf; `reverse` of other texts.
    """
    given = weights_of(weights, options.tokens)
    exact = None if options.reverse is None else exact_of(options.reverse, options.tokens, weights)
    of_texts, of_corpus = log_likelihoods(given), corpus_log_likelihood(given)
    found = curves(given, repeats=options.repeats, seed=options.seed)
    tokens, one = given.total_tokens, given.draws == 1
    return ImportanceResult(
        weights=given,
        log_likelihoods=of_texts,
        instance_perplexity=instance_perplexity(given),
        corpus_perplexity=perplexity(of_corpus, tokens),
        corpus_log_likelihood=of_corpus,
        jackknife_perplexity=math.nan if one else perplexity(float(jackknife_log_likelihoods(given).sum()), tokens),
        pareto_smoothed_perplexity=perplexity(float(pareto_smoothed_log_likelihoods(given).sum()), tokens),
        as_released=instance_perplexity(given, options.as_released) if options.as_released else None,
        intervals=intervals(given, options.resamples, seed=options.seed),
        curves=found,
        effective_sample_sizes=np.full(len(given.ids), np.nan) if one else effective_sample_sizes(given),
        k_hat=pareto_k(given),
        advice=advice(given),
        gap=None if exact is None else gap(given, exact, options.resamples, seed=options.seed),
    )


# What is shown.


def _impossible(result: ImportanceResult) -> Iterator[str]:
    estimates = {
        "instance level": result.instance_perplexity,
        "corpus level": result.corpus_perplexity,
        "jackknife": result.jackknife_perplexity,
        "Pareto smoothed": result.pareto_smoothed_perplexity,
    }
    if below := [name for name, value in estimates.items() if value < 1 - CERTAIN]:
        yield f"{listed(below)}: {IMPOSSIBLE[0].lower()}{IMPOSSIBLE[1:]}"
    above = np.flatnonzero(result.log_likelihoods > CERTAIN)
    if len(above):
        names = listed([result.weights.ids[row] for row in above[:NAMED]])
        what = f"{len(above):,} of {len(result.log_likelihoods):,} texts {'has' if len(above) == 1 else 'have'}"
        yield f"{what} an estimated probability above 1, which cannot be ({'such as ' * (len(above) > NAMED)}{names})."


def _ends(result: ImportanceResult, name: str) -> JsonObject:
    interval: Interval = getattr(result.intervals, name)
    return {"low": interval.low, "high": interval.high, "reason": interval.reason, "covers": _covers(result, name)}


def _covers(result: ImportanceResult, name: str) -> str:
    few = name == "over_draws" and len(result.weights.ids) < LEAST_UNITS
    return COVERS[name] + (FEW if few else "")


def _gap(gap: Gap) -> JsonObject:
    nats, ratio = (
        {"value": one.estimate, "low": one.low, "high": one.high, "reason": one.reason} for one in (gap.nats, gap.ratio)
    )
    names = ("sign", "perplexity", "explained", "reached", "unreached", "states", "sentences")
    values = {name: getattr(gap, name) for name in names}
    return values | {"nats": nats, "ratio": ratio, "by_text": gap.by_text.tolist()}


def _finite(value: object) -> object:
    """The same with None for what JSON has no number for."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, list | tuple) else value


def _lines(result: ImportanceResult) -> Iterator[str]:
    from textcritic.measures.numbers import count, number, plural

    def shown(value: float) -> str:
        return "none" if math.isnan(value) else number(value, 5)

    weights, pairings = result.weights, result.corpus_over_pairings
    yield (
        f"Perplexity by importance sampling: {plural(len(weights.ids), 'text')}, "
        f"{plural(int(weights.total_tokens), 'token')}, {plural(weights.draws, 'draw')} a text"
    )
    yield from (line for words in result.warnings for line in ("", *wrap(f"warning: {words}", WIDTH)))
    yield from ("", "Estimate (lower is better; at both levels too high in the mean over draws)", "")
    paired = f"{shown(pairings.low)}–{shown(pairings.high)} over {plural(pairings.repeats, 'pairing')} of draws"
    estimates = [
        ("instance level", shown(result.instance_perplexity), "each text by itself"),
        ("corpus level", shown(result.corpus_perplexity), f"all texts as one; {paired}"),
        ("jackknife", shown(result.jackknife_perplexity), "instance level with less bias; no bound"),
        ("Pareto smoothed", shown(result.pareto_smoothed_perplexity), "instance level with a smoothed tail; no bound"),
    ]
    if result.as_released is not None:
        estimates.append(("as released", shown(result.as_released), "as the released code prints it: too low"))
    yield from _columns(estimates)
    yield from ("", f"Interval of the instance level, {100 * result.intervals.over_draws.level:g}%", "")
    rows = []
    for name in ("over_instances", "over_draws"):
        one: Interval = getattr(result.intervals, name)
        ends = "none" if one.low is None or one.high is None else f"{shown(one.low)}–{shown(one.high)}"
        rows.append((NAMES[name], ends, one.reason or _covers(result, name)))
    high = f"at most {shown(result.intervals.for_truth.perplexity)}"
    yield from _columns([*rows, (NAMES["for_truth"], high, COVERS["for_truth"])])
    yield from _diagnostics(result)
    yield from (
        "",
        f"Draws and perplexity (mean of {plural(pairings.repeats, 'sub-sample')}; instance and corpus level)",
        "",
    )
    points = zip(result.curves.instance.draws, result.curves.instance.mean, result.curves.corpus.mean, strict=True)
    yield from _columns([(count(int(k)), shown(one), shown(two)) for k, one, two in points], right=True)
    if result.gap:
        yield from ("", "Does the proposal find the posterior? (texts drawn from the model)", "", *_of_gap(result.gap))
    yield from ("", "Are the draws too few?", "")
    for sentence in result.advice.sentences[: -1 if result.gap else None]:  # the last one says that there is `reverse`
        yield from wrap(sentence, WIDTH)


def _of_gap(found: Gap) -> Iterator[str]:
    from textcritic.measures.numbers import number, significant

    rows = []
    for name, one in (("gap, nats a text", found.nats), ("ratio of perplexities", found.ratio)):
        ends = "" if one.low is None or one.high is None else f"{significant(one.low, 4)} to {significant(one.high, 4)}"
        rows.append((name, significant(one.estimate, 4), f"{ends} (95% over texts)" if ends else one.reason))
    low = number(found.perplexity, 5) if found.perplexity else "none"
    yield from _columns([*rows, ("perplexity", low, "with the exact states: too low in the mean over draws")])
    yield ""
    for sentence in found.sentences:
        yield from wrap(sentence, WIDTH)


def _diagnostics(result: ImportanceResult) -> Iterator[str]:
    from textcritic.measures.numbers import decimals

    sizes, tails = result.effective_sample_sizes, result.k_hat[np.isfinite(result.k_hat)]
    if np.isnan(sizes).all():
        return
    rows = [("effective sample size", decimals(float(np.median(sizes)), 1), decimals(float(sizes.min()), 1), "")]
    if len(tails):
        good = f"{100 * (tails < GOOD).mean():.0f}% of texts are below {GOOD}"
        rows.append(("k-hat", decimals(float(np.median(tails)), 2), decimals(float(tails.max()), 2), good))
    yield from ("", *_columns([("", "median", "worst", ""), *rows]))


def _columns(rows: Sequence[Sequence[str]], right: bool = False) -> Iterator[str]:
    """Lines of a table; numbers are in the second and the third of four columns, or in all."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for cells in rows:
        placed = [
            cell.rjust(width) if right or 0 < place < max(2, len(cells) - 1) else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        yield "  ".join(placed).rstrip()
