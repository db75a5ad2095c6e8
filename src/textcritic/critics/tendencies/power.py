"""Power of the tests of tendencies: how often each notices real documents that are cut short or shuffled."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from textcritic.corpora.articles import iter_batches, num_articles
from textcritic.critics.power import power_table
from textcritic.critics.tendencies.calibration import Population
from textcritic.critics.tendencies.distances import SCALING, VALUES, Pair, documents_of
from textcritic.critics.tendencies.estimates import Options, histogram_of
from textcritic.critics.tendencies.job import SECTIONS_SCHEMA, texts_of
from textcritic.critics.tendencies.tokens import tokenize
from textcritic.critics.tendencies.type_token import type_token_test
from textcritic.errors import TextcriticError
from textcritic.files import write_table
from textcritic.inference import (
    ALPHA,
    DISTANCES,
    PowerDraws,
    PowerOptions,
    group_permutation,
    ks_test,
    rank_permutation,
    share_interval,
)
from textcritic.plan.checks.tendencies import CountOptions

Ints = npt.NDArray[np.int64]


def measure_tendency_power(
    articles: str | os.PathLike[str],
    out: str | os.PathLike[str],
    counting: CountOptions,
    measuring: Options,
    options: PowerOptions,
) -> None:
    """The job: write the table of `tendency_power` for the documents of a Parquet file of articles.

    Raises:
        TextcriticError: a file is missing or not whole, or no repetitions.
    """
    texts = [
        text
        for batch in iter_batches(articles, SECTIONS_SCHEMA, range(num_articles(articles)))
        for text in texts_of(batch).to_pylist()
    ]
    write_table(out, tendency_power(texts, counting, measuring, options))


def tendency_power(texts: Sequence[str], counting: CountOptions, measuring: Options, options: PowerOptions) -> pa.Table:
    """How often the test of each tendency notices that a share of the documents of one side has a fault.

    Faults: see `FAULTS`. In each repetition 2n documents are drawn without replacement, one by one, whatever their
    groups: n stay as they are, and each of the other n has the fault with probability `share`. The documents of a
    repetition are the same for all faults and shares. The tests are those of the tables (`distances.distances`). Each
    document is counted once, and once with each fault. Documents without two tokens are left out.

    Args:
        texts: real documents.
        counting: how tokens are counted.
        measuring: of the tests; with fewer than 20 `resamples` p is never below `ALPHA`.
        options: what is tried.

    Returns:
        Table of schema `critics.power.POWER_SCHEMA`; `kind` is the fault and the tendency's distance, as in
        "cut: length_ks". No rows where there are too few documents; no row of a tendency that could not be tested in
        any repetition. A repetition in which it could not be tested is one that does not notice.

    Raises:
        TextcriticError: no repetitions.
    """
    rng = np.random.default_rng(options.seed)
    tokens = [some for some in tokens_of(texts, counting) if len(some) > 1]
    chosen = [tokens[place] for place in options.some(len(tokens), rng).tolist()]
    rows: list[dict[str, Any]] = []
    if options.tried() and (sizes := options.sizes(len(chosen))):
        versions = [chosen, *(fault(chosen, rng) for fault in FAULTS.values())]
        population = Population([" ".join(some) for version in versions for some in version], counting)
        for size in sizes:
            draws = PowerDraws.of(len(chosen), size, options.repetitions, 1, rng)
            chance = rng.random(draws.changed.shape)
            rows += _rows(population, draws, chance, len(chosen), measuring, options)
    return power_table(rows)


def tokens_of(texts: Sequence[str], counting: CountOptions) -> list[list[str]]:
    """The tokens of each text, as they are written and in their order."""
    cut = tokenize(pa.array(texts, pa.string()), counting.tokenizer)
    words = np.array(cut.types.to_pylist(), dtype=object)[cut.ids]
    return [part.tolist() for part in np.split(words, np.cumsum(cut.lengths)[:-1])]


def cut_short(documents: Sequence[Sequence[str]], _: np.random.Generator) -> list[list[str]]:
    """The first half of the tokens of each document; of an odd number one more."""
    return [list(tokens[: (len(tokens) + 1) // 2]) for tokens in documents]


def shuffled(documents: Sequence[Sequence[str]], rng: np.random.Generator) -> list[list[str]]:
    """The tokens of each document in a random order."""
    return [[tokens[place] for place in rng.permutation(len(tokens)).tolist()] for tokens in documents]


def redrawn(documents: Sequence[Sequence[str]], rng: np.random.Generator) -> list[list[str]]:
    """As many tokens for each document, drawn with replacement from those of all documents."""
    pool = [token for tokens in documents for token in tokens]
    return [[pool[place] for place in rng.integers(0, len(pool), len(tokens)).tolist()] for tokens in documents]


FAULTS: Mapping[str, Callable[[Sequence[Sequence[str]], np.random.Generator], list[list[str]]]] = {
    "cut": cut_short,
    "shuffled": shuffled,
    "redrawn": redrawn,
}
"""Documents without their second half; all words of a document in random order; words of a document replaced by random
words of all documents."""


def p_values(pair: Pair, options: Options) -> dict[str, float]:
    """P of the test of each tendency by its distance, as `distances.distances` has it, without intervals.

    A tendency that cannot be tested is not there.
    """
    sizes, resamples, seed = pair.sizes()[::-1], options.resamples, options.seed
    largest = {"largest": DISTANCES["max_difference"]}
    words, pairs = pair.matrices[::-1], (pair.sample.pairs, pair.real.pairs)
    both = documents_of(pair.real), documents_of(pair.sample)
    tests: dict[str, Callable[[], float]] = {
        "rank": lambda: rank_permutation(*words, options.ranks, sizes, resamples, seed).p,
        "heaps": lambda: type_token_test(*both, options.least, resamples, seed).test.p,
        "unigram_max": lambda: group_permutation(*words, sizes, largest, resamples, seed)["largest"].p,
        "bigram_max": lambda: group_permutation(*pairs, sizes, largest, resamples, seed)["largest"].p,
    }
    tests |= {f"{name}_ks": partial(_value_p, pair, name, options) for name in VALUES}
    tests |= {f"{name}_distance": partial(_scaling_p, pair, name, options) for name in SCALING}
    found = {}
    for name, test in tests.items():
        try:
            found[name] = test()
        except TextcriticError:
            continue
    return found


def _value_p(pair: Pair, name: str, options: Options) -> float:
    first, second = (histogram_of(counts.one_of_each(), name) for counts in (pair.sample, pair.real))
    return ks_test(first, second, options.resamples, options.seed).p


def _scaling_p(pair: Pair, name: str, options: Options) -> float:
    return SCALING[name](*pair.sums()).test(options.resamples, options.seed).p


def _rows(
    population: Population,
    draws: PowerDraws,
    chance: npt.NDArray[np.float64],
    documents: int,
    measuring: Options,
    options: PowerOptions,
) -> Iterator[dict[str, Any]]:
    """The rows of one number of documents: without a fault the test is the same for all, and is made once."""
    size = draws.kept.shape[1]
    facts = {"articles": size, "repetitions": options.repetitions, "documents": documents}
    none = _tested(population, draws, draws.changed, measuring)
    for number, fault in enumerate(FAULTS, start=1):
        for share in options.tried():
            shifted = np.where(chance < share, draws.changed + number * documents, draws.changed)
            found = none if share == 0 else _tested(population, draws, shifted, measuring)
            for name, p in found.items():
                hits = int((p < ALPHA).sum())
                low, high = share_interval(hits, len(p))
                noticed = {"detected": hits / len(p), "low": float(low), "high": float(high)}
                yield {"kind": f"{fault}: {name}", "share": share, **facts, **noticed}


def _tested(
    population: Population, draws: PowerDraws, changed: Ints, measuring: Options
) -> dict[str, npt.NDArray[np.float64]]:
    """P of each tendency in each repetition, 1 where it could not be tested: by distance, [repetitions]."""
    found: dict[str, npt.NDArray[np.float64]] = {}
    for repetition, (kept, others) in enumerate(zip(draws.kept, changed, strict=True)):
        real, sample = (population.draw(some, seed=2 * repetition + side) for side, some in enumerate((kept, others)))
        for name, p in p_values(Pair(real, sample), measuring).items():
            found.setdefault(name, np.ones(len(changed)))[repetition] = p
    return found
