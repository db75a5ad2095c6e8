"""`textcritic.importance`: perplexity of a latent language model from log importance weights, and how sure it is."""

import json
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from textcritic.api.declare import takes
from textcritic.api.options import ImportanceOptions
from textcritic.errors import TextcriticError, listed, named
from textcritic.files import DAMAGED, read_json
from textcritic.inference import Interval
from textcritic.inference.importance import (
    COVERS,
    Advice,
    Band,
    Curves,
    Intervals,
    LogWeights,
    advice,
    corpus_log_likelihood,
    curves,
    effective_sample_sizes,
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
from textcritic.inference.importance.weights import DRAWN, checked_tokens, numbered, real_numbers
from textcritic.inference.statistics import Array

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 110  # of printed text
NAMED = 5  # texts
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
        effective_sample_sizes, k_hat: of each text: [N]; NaN of K = 1 or where there is none.
        advice: whether K is seen to be too small.
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
                "over_instances": _ends(self.intervals.over_instances, "over_instances"),
                "over_draws": _ends(self.intervals.over_draws, "over_draws"),
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
def importance(weights: Any, *, options: ImportanceOptions) -> ImportanceResult:
    """Estimate the perplexity of a latent language model from log importance weights (Logan et al. 2020).

    The weights are log p(x_n, z_nk) - log q(z_nk | x_n) of K latent states drawn from a proposal q for each of N texts.
    What is computed is what the command `textcritic importance` prints.

    Args:
        weights: an array [N, K] in nats, -inf where p is 0; `textcritic.inference.importance.LogWeights`; the path of
            a .npy file, or of an .npz file that `LogWeights.save` wrote; or a list of some of these, whose draws are
            put together.
        options: see below; tokens may be an array too, [N].

    Raises:
        TextcriticError: bad input, in one line that names the file, row or option; no tokens; all weights of a text
            are -inf.
    """
    given = _read(weights, options.tokens)
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
    )


# What may be given.


def _read(weights: Any, tokens: Any) -> LogWeights:
    """Shards put together, with their tokens."""
    several = isinstance(weights, list | tuple) and any(map(_is_shard, weights))
    every = list(weights) if several else [weights]
    counted = None if tokens is None else _tokens(tokens)
    shards = []
    for place, one in enumerate(every):
        with named(_name(one, f"weights[{place}]" if several else "weights")):
            shards.append(_shard(one, counted))
    found = shards[0].joined(shards[1:])
    if not several:
        with named(_name(weights, "weights")):
            log_likelihoods(found)  # refuses texts without a draw of some probability
    return found


def _name(given: Any, otherwise: str) -> str:
    return (os.fspath(given) if isinstance(given, str | os.PathLike) else "") or otherwise


def _is_shard(given: Any) -> bool:
    """Whether this is a set of weights rather than a row of them."""
    return isinstance(given, str | os.PathLike | LogWeights) or getattr(given, "ndim", 1) == 2


def _shard(given: Any, tokens: Array | None) -> LogWeights:
    if isinstance(given, str | os.PathLike):
        path = Path(given)
        if not os.fspath(given):
            raise TextcriticError("is empty; give the path of a file")
        given = _array(path) if path.suffix != ".npz" else None
        if given is None or isinstance(given, np.lib.npyio.NpzFile):  # an archive with another ending
            given = LogWeights.read(path)
    if isinstance(given, LogWeights):
        found = given
        if tokens is not None:
            found = LogWeights(given.ids, given.log_weights, tokens, given.log_p, given.log_q)
    elif tokens is None:
        raise TextcriticError("no `tokens`; give how many the texts have together, or a file with one number for each")
    else:
        array = real_numbers(given, "log weights", DRAWN)
        found = LogWeights(numbered(array), array, tokens)
    if found.log_weights.min() >= 0 and found.log_weights.max() > 0:
        raise TextcriticError(
            "log weights: not one is below 0, so these are no log weights of texts: perplexity would be below 1, which"
            " cannot be; give log p(x, z) - log q(z | x) in nats, and not the weights themselves"
        )
    return found


def _array(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except FileNotFoundError as error:
        raise TextcriticError(f"{path}: no such file") from error
    except MemoryError as error:
        raise TextcriticError(f"{path}: larger than memory, or damaged; give fewer draws at a time") from error
    except DAMAGED as error:
        raise TextcriticError(f"{path}: not a .npy file of numbers; write one by `numpy.save`") from error


def _tokens(given: Any) -> Array:
    """One whole number, or one for each text; `LogWeights` checks their shape."""
    if isinstance(given, str) and _is_number(given):
        return checked_tokens(float(given))
    if isinstance(given, str | os.PathLike):
        return _tokens_of_file(Path(given))
    return checked_tokens(given)


def _tokens_of_file(path: Path) -> Array:
    if path.suffix == ".npy":
        found = _array(path)
    elif path.suffix == ".json":
        found = read_json(path, "give a list of numbers, one for each text")
    elif path.suffix in {".txt", ".csv"}:
        found = _column(path)
    else:
        raise TextcriticError(f"tokens: {path} is no number, and no .npy, .txt, .csv or .json file")
    array = checked_tokens(found, None, str(path))
    if array.ndim != 1:
        raise TextcriticError(f"{path}: shape {array.shape}; give a list of numbers, one for each text")
    return array


def _column(path: Path) -> list[float]:
    """A number a line; the first line may be a heading."""
    try:
        lines = path.read_text(encoding="utf-8").split()
    except FileNotFoundError as error:
        raise TextcriticError(f"{path}: no such file") from error
    except (OSError, ValueError) as error:
        raise TextcriticError(f"{path}: cannot be read as text") from error
    if lines and not _is_number(lines[0]):
        lines = lines[1:]
    faulty = next((line for line in lines if not _is_number(line)), None)
    if faulty is not None:
        raise TextcriticError(f"{path}: {faulty[:20]!r} is not a number; give a number a line, one for each text")
    return [float(line) for line in lines]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


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


def _ends(interval: Interval, name: str) -> dict[str, Any]:
    return {"low": interval.low, "high": interval.high, "reason": interval.reason, "covers": COVERS[name]}


def _finite(value: Any) -> Any:
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
        rows.append((NAMES[name], ends, one.reason or COVERS[name]))
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
    yield from ("", "Are the draws too few?", "")
    for sentence in result.advice.sentences:
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
