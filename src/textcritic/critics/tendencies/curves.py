"""What figures draw of a set of documents: curves, as one table with the columns curve, x, y, low, high, p."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from textcritic.critics.tendencies.counts import BIGRAMS, LENGTH, TYPES, Counts
from textcritic.critics.tendencies.distances import VALUES, Pair
from textcritic.critics.tendencies.estimates import estimates, histogram_of
from textcritic.errors import TextcriticError
from textcritic.inference import DISTANCES, Histogram, group_permutation, half_l1, quantile
from textcritic.plan.entries import Tendencies

Floats = npt.NDArray[np.float64]
SCHEMA = pa.schema([("curve", pa.string()), *((name, pa.float64()) for name in ("x", "y", "low", "high", "p"))])
POINTS = 120  # of ranks
STEP = 1.15  # ratio of neighbouring classes of lengths
SHARES = 40  # classes of a share, of 0.025 each
QUANTILES = np.linspace(0, 1, 101)
SPLITS = 20  # random splits that estimate the effect of chance
PARTS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # of the groups, for estimates by number of documents


class Curve:
    """Points of one curve; `low`, `high` and `p` are NaN where they are not given."""

    def __init__(self, name: str, x: npt.ArrayLike, y: npt.ArrayLike, **more: npt.ArrayLike) -> None:
        self.name = name
        columns = {"x": x, "y": y, **more}
        self.columns = {key: np.asarray(value, dtype=np.float64).ravel() for key, value in columns.items()}

    def table(self) -> pa.Table:
        """Its rows."""
        size = len(self.columns["x"])
        empty = np.full(size, np.nan)
        values = [pa.array(self.columns.get(name, empty), from_pandas=True) for name in SCHEMA.names[1:]]
        return pa.table([pa.array([self.name] * size, pa.string()), *values], schema=SCHEMA)


def curves_table(curves: Sequence[Curve]) -> pa.Table:
    """All curves in one table."""
    return pa.concat_tables([curve.table() for curve in curves]) if curves else SCHEMA.empty_table()


def own_curves(counts: Counts) -> dict[str, Curve]:
    """The curves of a set of documents alone.

    `rank-frequency` (share of tokens by rank), `types` and `bigrams` (mean number by length, in classes of lengths,
    with intervals of two standard errors), `length`, `stopwords`, `symbols` (densities; of lengths per unit of log
    length), `box.length`, `box.stopwords`, `box.symbols` (quantiles: x the share of documents, y the value). Where
    there are too few documents or tokens for a curve, it is left out or has no points.
    """
    curves = [*_rank_frequency(counts), *_types(counts), *_densities(counts)]
    return {curve.name: curve for curve in curves}


def with_band(real: dict[str, Curve], draws: Sequence[dict[str, Curve]]) -> dict[str, Curve]:
    """The curves of real text with the range of those of second draws as `low` and `high`, at the same x."""
    banded = {}
    for name, curve in real.items():
        x, y = curve.columns["x"], curve.columns["y"]
        others = [draw[name].columns for draw in draws if name in draw and len(draw[name].columns["x"]) > 1]
        if others and not name.startswith("box."):
            # fmin and fmax leave out NaN, and warn if there is nothing else.
            low, high = (end.reduce([_at(x, other) for other in others]) for end in (np.fmin, np.fmax))
            banded[name] = Curve(name, x, y, low=low, high=high)
        else:
            banded[name] = curve
    return banded


def size_curves(counts: Counts, real: Counts | None, options: Tendencies) -> Iterator[Curve]:
    """Estimates on random parts of the documents: `size.s` and so on, one curve for each of `estimates`.

    `size.types_chao1` is `size.types` with the estimated bias removed. If there is real text to compare with,
    `size.unigram_half_l1` follows; its `low` is the value minus the effect of chance: the mean distance if documents of
    both sets are exchanged at random.

    x is the number of documents. Documents without a token have no curve, and a curve has no point for a part on which
    its number cannot be estimated.
    """
    if not counts.tokens:
        return
    order = np.random.default_rng(options.seed).permutation(counts.groups)
    points_by_name: dict[str, list[tuple[float, float, float]]] = {}
    for part in dict.fromkeys(max(1, round(share * counts.groups)) for share in PARTS):
        some = counts.take(order[:part].tolist())
        for name, (value, corrected) in _sized(some, real, options).items():
            points_by_name.setdefault(name, []).append((len(some.documents), value, corrected))
    for name, points in points_by_name.items():
        x, y, low = np.array(points).T
        yield Curve(f"size.{name}", x, y, low=low)


def _sized(counts: Counts, real: Counts | None, options: Tendencies) -> Mapping[str, tuple[float, float]]:
    estimates_by_name, _ = estimates(counts, options, intervals=False)
    by_name = {name: (estimate.value, np.nan) for name, estimate in estimates_by_name.items()}
    if real is not None:
        with suppress(TextcriticError):
            by_name["unigram_half_l1"] = _words_apart(real, counts, options)
    return by_name


def _words_apart(real: Counts, counts: Counts, options: Tendencies) -> tuple[float, float]:
    """Total variation distance of the words from real text, and the same minus that of random splits of both."""
    pair = Pair(real, counts)
    value, chosen = float(half_l1(*pair.totals)), {"half_l1": DISTANCES["half_l1"]}
    test = group_permutation(*pair.matrices, pair.sizes(), chosen, resamples=SPLITS, seed=options.seed)
    return value, value - test["half_l1"].chance


def _rank_frequency(counts: Counts) -> Iterator[Curve]:
    words = counts.unigrams()
    if len(words):
        ranks = np.unique(np.geomspace(1, len(words), POINTS).round().astype(np.int64))
        yield Curve("rank-frequency", ranks, words[ranks - 1] / words.sum())


def _types(counts: Counts) -> Iterator[Curve]:
    for name, column in (("types", TYPES), ("bigrams", BIGRAMS)):
        length, number = counts.column(LENGTH), counts.column(column).astype(np.float64)
        some = length > (column == BIGRAMS)
        length, number = length[some], number[some]
        classes = np.floor(np.log(np.maximum(length, 1)) / np.log(STEP) + 1e-9).astype(np.int64)
        used, place, size = np.unique(classes, return_inverse=True, return_counts=True)
        x, y, squares = (np.bincount(place, v, len(used)) / np.maximum(size, 1) for v in (length, number, number**2))
        error = np.sqrt(np.maximum(squares - y**2, 0) / np.maximum(size - 1, 1))
        kept = size > 1
        yield Curve(name, x[kept], y[kept], low=(y - 2 * error)[kept], high=(y + 2 * error)[kept])


def _densities(counts: Counts) -> Iterator[Curve]:
    for name in VALUES:
        try:
            histogram = histogram_of(counts, name)
        except TextcriticError:
            continue
        if not histogram.total:
            continue
        # Quotients, as shares are: 0.3 is where a class begins, and not an ulp below it.
        edges = _length_edges(histogram) if name == "length" else np.arange(SHARES + 1) / SHARES
        share, _ = np.histogram(histogram.values, edges, weights=histogram.counts / histogram.total)
        width = np.diff(np.log(edges)) if name == "length" else np.diff(edges)
        middle = np.sqrt(edges[1:] * edges[:-1]) if name == "length" else (edges[1:] + edges[:-1]) / 2
        yield Curve(name, middle, share / width)
        yield Curve(f"box.{name}", QUANTILES, quantile(histogram, QUANTILES))


def _length_edges(histogram: Histogram) -> Floats:
    """Borders of classes of lengths, half a token below whole numbers."""
    last = max(2.0, float(histogram.values.max()) + 1)
    whole = np.unique(np.round(STEP ** np.arange(0, np.ceil(np.log(last) / np.log(STEP)) + 2)))
    return whole - 0.5


def _at(x: Floats, other: Mapping[str, Floats]) -> Floats:
    """Another curve's y at these x, NaN beyond its ends."""
    order = np.argsort(other["x"])
    return np.interp(x, other["x"][order], other["y"][order], left=np.nan, right=np.nan)
