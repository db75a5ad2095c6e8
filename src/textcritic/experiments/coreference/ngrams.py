"""Windows of mentions in long format: contributions, unlikely windows, ratios (Tables 6 and 15 to 17).

The rows of every table compare a sample with real text. The column `window` has the tokens of a window as the critic
reads them, with spaces between: `<bos> <bos> . MALE:0 his:0`; the predicted token is the last one. Of samples with
several seeds, the first is taken.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.critics.mentions import (
    NONE,
    THRESHOLD,
    MentionChains,
    MentionCritic,
    contributions,
    log_ratios,
    occurrences,
    unlikely,
)
from textcritic.critics.mentions.alternatives import Alternatives
from textcritic.critics.mentions.scoring import document_nll
from textcritic.errors import TextcriticError
from textcritic.experiments.coreference.files import CoreferenceFiles, Documents
from textcritic.experiments.coreference.read import chained, critic_of, groups_of_ids
from textcritic.inference import (
    GROUPS,
    Groups,
    bootstrap_difference,
    bootstrap_interval,
    ratio_of_sums,
    t_interval,
    unit_of,
    unit_sums,
)
from textcritic.measures.material import Material
from textcritic.measures.names import Names
from textcritic.measures.published import Published
from textcritic.plan.sources import KEYS, RUN
from textcritic.values import Row

CONTRIBUTING, UNLIKELY, RATIOS = 10, 13, 5  # windows of a sample that are shown, as many as in the paper
ALL, OTHERS = "(all)", "(others)"
MORE, LESS = "more", "less"
# The beginnings of the metrics of published values; the window follows, and after > the alternative.
PERCENT, LOG_PROB, ALTERNATIVE = "percent: ", "log_prob: ", "alternative_log_prob: "
PROBABILITY = {MORE: "probability_more: ", LESS: "probability_less: "}

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


_SHARES = ("count", "tokens", "percent", "ci_low", "ci_high", "published")
SHARES = (*_SHARES, *(f"real_{name}" for name in _SHARES))
CONTRIBUTION_COLUMNS = ("log_prob", "contribution", "contribution_low", "contribution_high", "of_difference")
UNLIKELY_COLUMNS = (
    *("windows", "log_prob", "alternative", "alternative_log_prob"),
    *("published_log_prob", "published_alternative", "published_alternative_log_prob"),
)
_RATIO = ("count", "probability", "low", "high", "published")
RATIO_COLUMNS = (
    *("direction", "windows", *_RATIO, *(f"real_{name}" for name in _RATIO)),
    *("log_ratio", "ratio_low", "ratio_high"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """A sample and the real text that it is compared with; documents without a token are left out.

    Attributes:
        keys: the key columns of the sample, and `label`.
        real_keys: the key columns of real text.
        critic: fitted on other real text.
        real, sample: their chains.
        groups: of the documents of real text and of the sample; intervals take a group as one document.
        resamples: of intervals.
    """

    keys: Row
    real_keys: Row
    critic: MentionCritic
    real: MentionChains
    sample: MentionChains
    groups: tuple[Groups, Groups]
    resamples: int

    @property
    def empty(self) -> bool:
        """Whether the sample has no token, so that there is nothing to compare."""
        return not len(self.sample.codes)

    def shares(self, windows: Sequence[Sequence[str]]) -> tuple[list[Ints], list[Row]]:
        """Counts of windows in real text and in the sample, and the columns `SHARES` of each window.

        Args:
            windows: each with as many tokens as the critic reads.

        Returns:
            The counts in real text and in the sample, each [documents, windows]; and a dictionary for each window.
        """
        counts = [occurrences(chains, windows, self.critic.order) for chains in (self.real, self.sample)]
        rows = [self._share([c[:, number] for c in counts]) for number in range(len(windows))]
        return counts, rows

    def share(self, real: Ints, sample: Ints) -> Row:
        """The columns `SHARES` of tokens counted by document, in real text and in the sample."""
        return self._share([real, sample])

    def _share(self, counts: Sequence[Ints]) -> Row:
        row: dict[str, object] = {}
        for prefix, chains, count, groups in zip(
            ("real_", ""), (self.real, self.sample), counts, self.groups, strict=True
        ):
            columns = unit_sums(np.column_stack([count, chains.lengths]), groups)
            interval = bootstrap_interval(columns, ratio_of_sums, resamples=self.resamples).times(100)
            row |= {f"{prefix}count": int(count.sum()), f"{prefix}tokens": int(chains.lengths.sum())}
            values = zip(
                ("percent", "ci_low", "ci_high"), (interval.estimate, interval.low, interval.high), strict=True
            )
            row |= {f"{prefix}{name}": value for name, value in values}
        return row

    def difference(self, real: Floats, sample: Floats) -> tuple[float, float, float]:
        """A sum over documents per token in the sample, minus the same in real text, with its 95% interval."""
        one, two = (
            unit_sums(np.column_stack([sums, chains.lengths]), groups)
            for sums, chains, groups in zip((real, sample), (self.real, self.sample), self.groups, strict=True)
        )
        interval = bootstrap_difference(two, one, ratio_of_sums, resamples=self.resamples)
        return interval.estimate, *interval.ends


def contribution_rows(material: Material[CoreferenceFiles]) -> pd.DataFrame:
    """The windows that contribute most to the difference in Latent NLL per token, and those published (Table 6).

    A window with share f in the sample and share g in real text contributes `(f - g) * -log P`. The sum over all
    windows is log Latent PPL(sample) - log Latent PPL(real text).

    Columns: the keys, `label`; `rank`, from 1, empty for windows that are shown only because they were published;
    `window`; `count` of the `tokens` of the sample and `percent` of them, with its 95% bootstrap interval `ci_low`,
    `ci_high` and the `published` value; the same of real text with the prefix `real_`; `log_prob` under the critic,
    nats; `contribution`, nats per token, with its bootstrap interval `contribution_low`, `contribution_high`;
    `of_difference`, contribution divided by that of all windows. The first row of a sample has the window "(all)". The
    last one, "(others)", has all windows without a row. All rows but the first add up to the first. If nothing of a
    sample could be scored, it has only the row "(all)".

    Raises:
        TextcriticError: a file is missing or damaged, or real text has no token.
    """
    return _table(material, _contributions, (*SHARES, *CONTRIBUTION_COLUMNS))


def unlikely_rows(material: Material[CoreferenceFiles]) -> pd.DataFrame:
    """The commonest windows with log P < -7 in each sample, and those published (Table 15).

    The paper shows windows at random; this table has the commonest, and equally common ones in alphabetical order.

    Columns: the keys, `label`, `rank`, `window`, shares as in `contribution_rows`; `log_prob`, nats; `alternative`, the
    likeliest mention in place of the last token, and `alternative_log_prob`, both empty if the critic knows none; the
    three of the paper. The first row of a sample has the window "(all)": all such windows together; `windows` is the
    number of distinct ones.

    Raises:
        TextcriticError: as `contribution_rows`.
    """
    return _table(material, _unlikely, (*SHARES, *UNLIKELY_COLUMNS))


def ratio_rows(material: Material[CoreferenceFiles]) -> pd.DataFrame:
    """Windows that a sample finds likelier than real text, and the reverse, and those published (Tables 16 and 17).

    A critic of the study's order and discount is fitted on the test split of real text, another on the sample. Only
    windows that occur at least 5 times in both are compared; `windows` is their number.

    Columns: the keys, `label`, `rank` in its `direction` ("more", likelier in the sample, or "less"), `window`;
    `count`, `probability` (of the last token after the others) with its 95% interval `low`, `high`, and the `published`
    value; the same of real text with the prefix `real_`; `log_ratio`, log of the sample's probability divided by real
    text's, with its interval `ratio_low`, `ratio_high`. The intervals are from a jackknife over groups of documents,
    see `log_ratios`; they do not account for the choice of the most extreme windows out of many. Published windows that
    are rarer here have only their counts. A sample without such a window has one row without a window.

    Raises:
        TextcriticError: as `contribution_rows`.
    """
    return _table(material, _ratios, RATIO_COLUMNS)


def _pairs(files: CoreferenceFiles) -> Iterator[Pair]:
    names = Names.of(files.samples)
    for real in files.data:
        critic, (chains, groups) = critic_of(real), _scored(real, files)
        if not len(chains.codes):
            raise TextcriticError(f"{real.mentions}: no mention and no sentence in it; nothing can be compared with it")
        for sample in files.shown(real)[1:]:
            keys = sample.keys
            label = names.source(keys, corpus=False, seed=False)
            written, of_sample = _scored(sample, files)
            both = {**keys, "label": label}, real.keys
            yield Pair(*both, critic, chains, written, (groups, of_sample), files.resamples)


def _scored(source: Documents, files: CoreferenceFiles) -> tuple[MentionChains, Groups]:
    """The chains of the documents that have a token, and their groups."""
    read = chained(source, files)
    some = read.chains.lengths > 0
    ids = [read.ids[place] for place in np.flatnonzero(some)]
    return read.chains.some(some), groups_of_ids(source, ids)


def _contributions(pair: Pair, published: Published) -> Iterator[Row]:
    if pair.empty:
        yield {"window": ALL, "count": 0, "tokens": 0}
        return
    table = contributions(pair.critic, pair.real, pair.sample)
    most = [tuple(window) for window in table["window"].slice(0, CONTRIBUTING).to_pylist()]
    asked, asked_real = (_published(published, keys, PERCENT, pair) for keys in (pair.keys, pair.real_keys))
    windows = list(dict.fromkeys([*most, *asked, *asked_real]))
    counts, shares = pair.shares(windows)
    log_prob = pair.critic.window_log_prob(pair.critic.windows.alphabet.items(windows))
    # Costs of each document: of all its tokens, of the tokens of each window, and of the rest.
    whole = [document_nll(pair.critic, chains) for chains in (pair.real, pair.sample)]
    each = [count * -log_prob for count in counts]
    total = pair.difference(*whole)[0]
    everything = pair.share(pair.real.lengths, pair.sample.lengths)
    yield {"window": ALL, **everything, **_contribution(pair, whole, total)}
    for number, window in enumerate(windows):
        rank = number + 1 if number < len(most) else None
        printed = {"published": asked.get(window), "real_published": asked_real.get(window)}
        own = _contribution(pair, [cost[:, number] for cost in each], total)
        share = {**shares[number], "log_prob": log_prob[number]}
        yield {"rank": rank, "window": " ".join(window), **share, **printed, **own}
    sets = (pair.real, pair.sample)
    others = [chains.lengths - count.sum(axis=1) for chains, count in zip(sets, counts, strict=True)]
    rest = [nll - cost.sum(axis=1) for nll, cost in zip(whole, each, strict=True)]
    yield {"window": OTHERS, **pair.share(*others), **_contribution(pair, rest, total)}


def _contribution(pair: Pair, costs: Sequence[Floats], total: float) -> Row:
    value, low, high = pair.difference(*costs)
    ends = {"contribution_low": low, "contribution_high": high}
    return {"contribution": value, **ends, "of_difference": value / total if total else None}


def _unlikely(pair: Pair, published: Published) -> Iterator[Row]:
    if pair.empty:
        yield {"window": ALL, "count": 0, "tokens": 0}
        return
    below = unlikely(pair.critic, pair.sample)
    table = pa.table({"count": below["count"], "text": pc.binary_join(below["window"], " ")})
    commonest = table.sort_by([("count", "descending"), ("text", "ascending")])["text"].slice(0, UNLIKELY).to_pylist()
    asked, alternatives = (_published(published, pair.keys, start, pair) for start in (LOG_PROB, ALTERNATIVE))
    expected = {window[:-2]: (window[-1], value) for window, value in alternatives.items()}
    windows = list(dict.fromkeys([*(tuple(text.split()) for text in commonest), *asked]))
    of_documents = [_below(pair.critic, chains) for chains in (pair.real, pair.sample)]
    yield {"window": ALL, "windows": below.num_rows, **pair.share(*of_documents)}
    if not windows:
        return
    shares = pair.shares(windows)[1]
    items = pair.critic.windows.alphabet.items(windows)
    log_prob, names = pair.critic.window_log_prob(items), pair.critic.windows.alphabet.names()
    best, best_log_prob = Alternatives(pair.critic, marks=False).of(items)
    for number, window in enumerate(windows):
        rank = number + 1 if number < len(commonest) else None
        row = {**shares[number], "log_prob": log_prob[number], "published_log_prob": asked.get(window)}
        if best[number] != NONE:
            row |= {"alternative": names[best[number]], "alternative_log_prob": best_log_prob[number]}
        printed = dict(zip(UNLIKELY_COLUMNS[-2:], expected.get(window, ("", None)), strict=True))
        yield {"rank": rank, "window": " ".join(window), **row, **printed}


def _ratios(pair: Pair, published: Published) -> Iterator[Row]:
    if pair.empty:
        yield {"windows": 0}
        return
    units = unit_of(pair.groups[0], len(pair.real.lengths)), unit_of(pair.groups[1], len(pair.sample.lengths))
    ratios = log_ratios(pair.real, pair.sample, pair.critic.order, pair.critic.discount, units=units).to_pandas()
    # With fewer units there is one group a unit, so the two sets may differ in their degrees of freedom.
    groups = min(GROUPS, *(int(unit.max()) + 1 for unit in units))
    for prefix, name in (("real_", "real"), ("", "sample")):
        logs, variance = ratios[f"log_prob_{name}"], ratios[f"variance_{name}"]
        low, high = t_interval(logs, variance, groups)
        ratios[f"{prefix}count"], ratios[f"{prefix}probability"] = ratios[f"count_{name}"], np.exp(logs)
        ratios[f"{prefix}low"], ratios[f"{prefix}high"] = np.exp(low), np.minimum(np.exp(high), 1.0)
    ratios["ratio_low"], ratios["ratio_high"] = t_interval(
        ratios["log_ratio"], ratios["variance_real"] + ratios["variance_sample"], groups
    )
    ratios["window"] = ratios["window"].str.join(" ")
    ratios["windows"] = len(ratios)
    of_window = ratios.set_index("window", drop=False)
    most = {MORE: ratios[ratios["log_ratio"] > 0][:RATIOS], LESS: ratios[ratios["log_ratio"] < 0][::-1][:RATIOS]}
    if not len(ratios):
        yield {"windows": 0}
    for direction, chosen in most.items():
        asked, asked_real = (
            _published(published, keys, PROBABILITY[direction], pair) for keys in (pair.keys, pair.real_keys)
        )
        published_windows = [" ".join(window) for window in dict.fromkeys([*asked, *asked_real])]
        ranks = {window: rank for rank, window in enumerate(chosen["window"], 1)}
        for window in dict.fromkeys([*ranks, *published_windows]):
            start = {"direction": direction, "rank": ranks.get(window), "window": window, "windows": len(ratios)}
            found = of_window.loc[window].to_dict() if window in of_window.index else _rare(pair, window)
            own = {name: found[name] for name in RATIO_COLUMNS if name in found and name != "direction"}
            key = tuple(window.split())
            yield {**start, **own, "published": asked.get(key), "real_published": asked_real.get(key)}


def _rare(pair: Pair, window: str) -> Row:
    """The counts of a window that is too rare for useful probabilities."""
    sets = (("real_count", pair.real), ("count", pair.sample))
    return {name: int(occurrences(chains, [window.split()], pair.critic.order).sum()) for name, chains in sets}


def _published(published: Published, keys: Row, start: str, pair: Pair) -> dict[tuple[str, ...], float]:
    """Published values of a source by window, of windows of the critic's order."""
    values = {
        tuple(metric.removeprefix(start).split()): value
        for metric, value in published.of_source(keys).items()
        if metric.startswith(start)
    }
    order = pair.critic.order
    return {w: value for w, value in values.items() if (w.index(">") if ">" in w else len(w)) == order}


def _below(critic: MentionCritic, chains: MentionChains) -> Ints:
    """Tokens of each document with log P < -7: [documents]."""
    return np.add.reduceat((critic.log_prob(chains) < THRESHOLD).astype(np.int64), chains.offsets[:-1])


def _table(
    material: Material[CoreferenceFiles], of: Callable[[Pair, Published], Iterator[Row]], columns: Sequence[str]
) -> pd.DataFrame:
    """The rows of all pairs with all columns in order, whole numbers as integers."""
    rows = [{**pair.keys, **row} for pair in _pairs(material.files) for row in of(pair, material.published)]
    table = pd.DataFrame(rows).reindex(columns=[*KEYS, "label", "rank", "window", *columns])
    texts = {"window", "direction", "alternative", "published_alternative"} & set(table.columns)
    whole = {*RUN, "rank", "windows", "count", "tokens", "real_count", "real_tokens"} & set(table.columns)
    numbers = [name for name in columns if name not in texts | whole]
    for name in texts:
        table[name] = table[name].astype(object).where(table[name].notna(), "")
    return table.astype(dict.fromkeys(numbers, float) | dict.fromkeys(sorted(whole), "Int64"))
