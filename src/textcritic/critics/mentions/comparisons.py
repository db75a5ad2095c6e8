"""Which windows of mentions make a sample differ from real text, and which ones a critic finds unlikely.

Tables of windows have these columns in common: `window`, its n tokens as they are read (`MALE:0`, `.`, `<bos>`), the
predicted one last; `log_prob`, of the predicted token after the others, in nats.
"""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from textcritic.critics.mentions.alternatives import NONE, Alternatives
from textcritic.critics.mentions.model import MentionCritic
from textcritic.critics.mentions.windows import CHUNK, Alphabet, Items, Windows, aligned, count_windows
from textcritic.errors import TextcriticError
from textcritic.inference import document_groups, jackknife_variance
from textcritic.latents.resolvers.mention_chains import MentionChains
from textcritic.plan.checks.critics import Discount

Units: TypeAlias = npt.NDArray[np.int64] | None
MINIMUM = 5
THRESHOLD = -7.0


def contributions(critic: MentionCritic, real: MentionChains, sample: MentionChains, chunk: int = CHUNK) -> pa.Table:
    """How much each window contributes to the difference of a sample from real text (paper, Table 6).

    A window whose share is f in the sample and g in real text contributes `(f - g) * -log P`. The sum over all windows
    is the difference of the mean NLL of a token, which is log Latent PPL(sample) - log Latent PPL(real).

    Args:
        critic: fitted on other real text.
        real: held-out real text.
        sample: what a model wrote.
        chunk: tokens in memory at a time; no effect on the result.

    Returns:
        A row for each distinct window of either set, the largest contribution first: `window`, `count_real`,
        `count_sample`, `share_real`, `share_sample`, `log_prob`, `contribution`.

    Raises:
        TextcriticError: a set without a token.
    """
    first, second = _both(real, sample, critic.order, chunk, critic.windows.alphabet.symbols)
    items, of_real, of_sample = aligned(first, second)
    log_prob = critic.window_log_prob(first.alphabet.translation(critic.windows.alphabet)[items])
    share_real, share_sample = of_real / of_real.sum(), of_sample / of_sample.sum()
    contribution = (share_sample - share_real) * -log_prob
    columns = {
        "count_real": of_real,
        "count_sample": of_sample,
        "share_real": share_real,
        "share_sample": share_sample,
        "log_prob": log_prob,
        "contribution": contribution,
    }
    return _table(items, first.alphabet, columns, np.argsort(-contribution, kind="stable"))


def log_ratios(
    real: MentionChains,
    sample: MentionChains,
    order: int = 5,
    discount: Discount = "kneser-ney",
    minimum: int = MINIMUM,
    units: tuple[Units, Units] = (None, None),
    chunk: int = CHUNK,
) -> pa.Table:
    """By how much a sample finds each window likelier than real text does, and the reverse (paper, Tables 16 and 17).

    One critic is fitted on each of the two sets. How much these logarithms depend on which documents a set happens to
    have is estimated by a jackknife: critics are fitted without each of 20 groups of its documents, or
    without each unit if there are fewer.

    Args:
        real: real text, for the paper the test set.
        sample: what a model wrote.
        order: n.
        discount: of both critics.
        minimum: only windows that occur at least this often in both sets are compared.
        units: [documents] of each set, the unit of each document (`inference.unit_of`); None: documents are units.
        chunk: tokens in memory at a time; no effect on the result.

    Returns:
        `window`, `count_real`, `count_sample`, `log_prob_real`, `log_prob_sample`, and `log_ratio`, the last minus the
        one before it. Windows that the sample favours most come first (Table 16), those that real text favours most
        come last (Table 17).
        `variance_real`, `variance_sample`: of the two logarithms; NaN where a set has one document.

    Raises:
        TextcriticError: a set without a token, or as `MentionCritic.fit`.
    """
    first, second = _both(real, sample, order, chunk)
    critics = [MentionCritic(windows, discount) for windows in (first, second)]
    items, of_real, of_sample = aligned(first, second)
    often = (of_real >= minimum) & (of_sample >= minimum)
    items, of_real, of_sample = items[often], of_real[often], of_sample[often]
    of_each = [critic.window_log_prob(items) for critic in critics]
    ratio = of_each[1] - of_each[0]
    variances = [
        _variance(critic, chains, items, unit)
        for critic, chains, unit in zip(critics, (real, sample), units, strict=True)
    ]
    columns = {
        "count_real": of_real,
        "count_sample": of_sample,
        "log_prob_real": of_each[0],
        "log_prob_sample": of_each[1],
        "log_ratio": ratio,
        "variance_real": variances[0],
        "variance_sample": variances[1],
    }
    return _table(items, first.alphabet, columns, np.argsort(-ratio, kind="stable"))


def unlikely(
    critic: MentionCritic,
    chains: MentionChains,
    threshold: float = THRESHOLD,
    marks: bool = False,
    chunk: int = CHUNK,
) -> pa.Table:
    """Windows that a critic finds unlikely, and what it would have expected (paper, Table 15).

    Args:
        critic: fitted on real text.
        chains: of any text.
        threshold: of log P, in nats; windows below it are given.
        marks: whether the mark of a sentence may be the alternative; the code that the paper's authors published
            first leaves it out.
        chunk: tokens in memory at a time; no effect on the result.

    Returns:
        `window`, `count`, `log_prob`, `alternative`, the likeliest token in place of the last one (null if there is
        none), and `alternative_log_prob`; the least likely window first.
    """
    used = _symbols(chains)
    windows = count_windows(chains, critic.order, sorted({*critic.windows.alphabet.symbols, *used}), chunk)
    items = windows.alphabet.translation(critic.windows.alphabet)[windows.items]
    log_prob = critic.window_log_prob(items)
    rows = np.flatnonzero(log_prob < threshold)
    best, best_log_prob = Alternatives(critic, marks).of(items[rows])
    names = pa.array(critic.windows.alphabet.names())
    columns = {
        "count": windows.counts[rows],
        "log_prob": log_prob[rows],
        "alternative": names.take(pa.array(np.maximum(best, 0), mask=best == NONE)),
        "alternative_log_prob": pa.array(best_log_prob, mask=best == NONE),
    }
    return _table(windows.items[rows], windows.alphabet, columns, np.argsort(log_prob[rows], kind="stable"))


def _variance(critic: MentionCritic, chains: MentionChains, items: Items, unit: Units) -> npt.NDArray[np.float64]:
    """Jackknife variance of the log P of windows under a critic that was fitted on these chains: [windows]."""
    unit = np.arange(len(chains.lengths)) if unit is None else unit
    group, alphabet = document_groups(int(unit.max()) + 1)[unit], critic.windows.alphabet
    without = []
    for left_out in range(int(group.max()) + 1):
        rest = chains.some(group != left_out)
        if len(rest.codes):
            windows = count_windows(rest, critic.order, alphabet.symbols)
            without.append(MentionCritic(windows, critic.discount).window_log_prob(items))
    return jackknife_variance(without) if without else np.full(len(items), np.nan)


def _both(
    real: MentionChains, sample: MentionChains, order: int, chunk: int, more: tuple[str, ...] = ()
) -> tuple[Windows, Windows]:
    """The windows of two sets, of an alphabet that has the symbols of both."""
    for name, chains in (("real", real), ("sample", sample)):
        if not len(chains.codes):
            raise TextcriticError(f"{name}: no mention and no sentence mark in it; there is nothing to compare")
    symbols = sorted({*_symbols(real), *_symbols(sample), *more})
    return count_windows(real, order, symbols, chunk), count_windows(sample, order, symbols, chunk)


def _symbols(chains: MentionChains) -> list[str]:
    return [chains.symbols[code] for code in np.unique(chains.codes).tolist()]


def _table(
    items: Items,
    alphabet: Alphabet,
    columns: Mapping[str, npt.NDArray[np.generic] | pa.Array],
    order: npt.NDArray[np.int64],
) -> pa.Table:
    tokens = pa.array(alphabet.names()).take(pa.array(items[order].ravel()))
    offsets = np.arange(len(order) + 1, dtype=np.int32) * np.int32(items.shape[1])
    window = pa.ListArray.from_arrays(offsets, tokens)
    return pa.table({"window": window} | {name: pa.array(column).take(order) for name, column in columns.items()})
