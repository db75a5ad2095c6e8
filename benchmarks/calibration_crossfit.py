"""Cross-fitting: is p < 0.05 in 5% of studies of one population, how often is a fault found, do intervals hold?

Real documents and a sample are drawn anew from a pool in each study. Order of sections: articles made of the docstrings
of installed packages; mentions and recitation: texts, one a line of a file. `before` is one fifth held out, judged by a
critic of the rest. An interval is held to the mean value over all studies of the row. In Markdown.

python benchmarks/calibration_crossfit.py order --sizes 50,50 200,50 --runs 400
python benchmarks/calibration_crossfit.py mentions TEXTS.txt ... --sizes 50,200 [--fault | --pairs | --spread]
"""

import argparse
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from textcritic.corpora.readers.docstrings import extract_docstrings
from textcritic.critics import TransitionCritic, document_columns, score_chains
from textcritic.critics.chains import Chains
from textcritic.critics.mentions import MentionChains, MentionCritic, score_mentions
from textcritic.critics.mentions.refit import MentionRefit
from textcritic.critics.recitation import MAIN_LENGTH, index_articles, score_texts
from textcritic.critics.recitation.refit import RecitationRefit
from textcritic.critics.recitation.scoring import counts_of
from textcritic.critics.refits import TransitionRefit
from textcritic.inference import permutation_test, ratio_of_sums, share_interval
from textcritic.inference.crossfit import CrossFit, CrossOptions, Refit, cross_fit
from textcritic.plan.checks.critics import PARTS
from textcritic.plan.entries import Recitation

PACKAGES = ("numpy", "scipy", "pandas", "sklearn", "torch", "matplotlib", "nltk")
HEAD = "real, sample | studies | p < 0.05 | before"
PAIRS = 5
SPOILT = 0.2  # of the documents of a sample with a fault


@dataclass(frozen=True)
class Kind:
    """A measure: its pool of documents, its critics of both ways, and its fault."""

    pool: Sequence[Any]
    refit: Callable[[Sequence[Any]], Refit]
    one_fit: Callable[[Sequence[Any], Sequence[Any]], Any]
    spoil: Callable[[Any, random.Random], Any]


def main() -> None:
    """Print a row for each pair of sizes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("measure", choices=[*KINDS])
    parser.add_argument("texts", nargs="*")
    parser.add_argument("--sizes", nargs="+", default=["50,50"])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--parts", type=int, default=PARTS)
    parser.add_argument("--spread", action="store_true", help="of log10 p over dealings, on five pairs of files")
    parser.add_argument("--pairs", action="store_true", help="both sides have a half of each document, at random")
    parser.add_argument("--fault", action="store_true", help="20%% of the sample are spoilt")
    asked = parser.parse_args()
    kind = KINDS[asked.measure]([line for path in asked.texts for line in Path(path).read_text("utf-8").splitlines()])
    if asked.spread:
        print("| measure, real, sample | sd of log10 p over dealings, before | now |", "|---|---|---|", sep="\n")
    else:
        print(f"| measure | {HEAD} | real held | sample held | exchanges | CPU s each |")
        print("|---|---|---|---|---|---|---|---|---|")
    for pair in asked.sizes:
        real, sample = map(int, pair.split(","))
        if asked.spread:
            print(f"| {asked.measure} {real}, {sample} {spread(kind, (real, sample), asked)} |", flush=True)
            continue
        start, found = time.process_time(), []
        for run in range(asked.runs):
            found.append(study(kind, (real, sample), asked, run))
        seconds = (time.process_time() - start) / asked.runs
        print(
            f"| {asked.measure}{' spoilt' * asked.fault} {row_of((real, sample), found)} | {seconds:.2f} |", flush=True
        )


def spread(kind: Kind, sizes: tuple[int, int], asked: argparse.Namespace) -> str:
    """Of five pairs of files each dealt 20 times, in another order each time; the mean over the pairs."""
    found = []
    for pair in range(PAIRS):
        p_values = [(fit.p or 1.0, before) for fit, before in (study(kind, sizes, asked, pair, d) for d in range(20))]
        found.append(np.log10(p_values).std(axis=0, ddof=1))
    now, before = np.mean(found, axis=0)
    return f"| {before:.2f} | {now:.2f}"


def study(
    kind: Kind, sizes: tuple[int, int], asked: argparse.Namespace, run: int, dealing: int = 0
) -> tuple[CrossFit, float]:
    """What cross-fitting finds in a study, and p as it was before."""
    rng = random.Random(f"{asked.measure} {sizes} {run}")
    drawn = rng.sample(kind.pool, sum(sizes))
    if asked.fault:
        for place in rng.sample(range(sizes[0], sum(sizes)), round(SPOILT * sizes[1])):
            drawn[place] = kind.spoil(drawn[place], rng)
    if dealing:
        first, second = drawn[: sizes[0]], drawn[sizes[0] :]
        again = random.Random(dealing)
        drawn = [*again.sample(first, len(first)), *again.sample(second, len(second))]
    groups = (None, None)
    if asked.pairs:
        halves = [rng.sample(_halves(document), 2) for document in drawn[: sizes[0]]]
        drawn = [half[side] for side in (0, 1) for half in halves]
        sizes, groups = (sizes[0], sizes[0]), (names(halves), names(halves))
    options = CrossOptions(parts=asked.parts, seed=run + 1 + dealing, rare=asked.measure == "recitation")
    held = max(1, round(sizes[0] / 5))
    real, sample = drawn[: sizes[0]], drawn[sizes[0] :]
    one, two = (kind.one_fit(real[held:], some) for some in (real[:held], sample))
    before = permutation_test(two, one, ratio_of_sums, 999, run).p if len(one) and len(two) else 1.0
    return cross_fit(kind.refit(drawn), groups, sizes, options), before


def _halves(document: Any) -> list[Any]:
    """Both halves of a chain, or of a text."""
    parts = document.split() if isinstance(document, str) else document
    both = [parts[: len(parts) // 2], parts[len(parts) // 2 :]]
    return [" ".join(half) for half in both] if isinstance(document, str) else both


def row_of(sizes: tuple[int, int], found: Sequence[tuple[CrossFit, float]]) -> str:
    """Cells of a row."""
    cells = [f"{sizes[0]}, {sizes[1]}", str(len(found))]
    for p_values in ([fit.p if fit.p is not None else 1.0 for fit, _ in found], [p for _, p in found]):
        cells.append(share([p < 0.05 for p in p_values]))
    for side in ("real", "sample"):
        every = [getattr(fit, side) for fit, _ in found]
        truth = float(np.mean([one.value for one in every]))
        held = [one.low <= truth <= one.high for one in every if one.low is not None]
        cells.append(share(held) if held else "-")
    return "| " + " | ".join([*cells, f"{np.mean([fit.exchanges for fit, _ in found]):.0f}"])


def share(of: Sequence[bool]) -> str:
    """In percent with its exact 95% interval."""
    low, high = share_interval(sum(of), len(of))
    return f"{100 * np.mean(of):.1f} ({100 * low:.1f}-{100 * high:.1f})"


def names(documents: Sequence[Any]) -> list[str]:
    """Ids."""
    return [str(number) for number in range(len(documents))]


def order(_: Sequence[str]) -> Kind:
    """Chains of titles."""
    articles = [[s.title or "" for s in a.sections] for package in PACKAGES for a in extract_docstrings([package])]

    def one_fit(train: Sequence[Any], documents: Sequence[Any]) -> Any:
        scores = score_chains(TransitionCritic.fit(train), names(documents), documents)
        return document_columns(scores) if not all(scores["rejected"].to_pylist()) else np.empty((0, 2))

    def swapped(chain: list[str], rng: random.Random) -> list[str]:
        place = rng.randrange(len(chain) - 1)
        return [*chain[:place], chain[place + 1], chain[place], *chain[place + 2 :]]

    pool = [chain for chain in articles if len(chain) > 1]
    return Kind(pool, lambda drawn: TransitionRefit(Chains.of(drawn)), one_fit, swapped)


def mentions(texts: Sequence[str]) -> Kind:
    """Chains of mentions; in a spoilt one each mention is of an entity at random."""
    from textcritic.latents.resolvers.chains import ChainOptions, chains_of
    from textcritic.latents.resolvers.resolve import resolver_of
    from textcritic.plan.entries import Persons

    resolved = resolver_of(Persons(kind="persons")).resolve(zip(names(texts), texts, strict=True))
    chains = chains_of(resolved, ChainOptions(gender="majority")).chains
    tokens = [
        "." if entity < 0 else f"{chains.symbols[code]}:{entity}"
        for code, entity in zip(chains.codes.tolist(), chains.entities.tolist(), strict=True)
    ]
    pool = [tokens[start:end] for start, end in zip(chains.offsets, chains.offsets[1:], strict=False) if end > start]

    def one_fit(train: Sequence[Any], documents: Sequence[Any]) -> Any:
        critic = MentionCritic.fit(MentionChains.of(train))
        return document_columns(score_mentions(critic, names(documents), MentionChains.of(documents)))

    def shuffled(chain: list[str], rng: random.Random) -> list[str]:
        entities = [token.rpartition(":")[2] for token in chain if token != "."]
        rng.shuffle(entities)
        return [t if t == "." else f"{t.rpartition(':')[0]}:{entities.pop()}" for t in chain]

    return Kind(pool, lambda drawn: MentionRefit(MentionChains.of(drawn), 5, "kneser-ney"), one_fit, shuffled)


def recitation(texts: Sequence[str]) -> Kind:
    """Texts; a spoilt one has a passage of another one."""
    entry = Recitation(kind="recitation", straight_quotes=True)

    def one_fit(train: Sequence[Any], documents: Sequence[Any]) -> Any:
        index = index_articles([(pa.array(names(train)), pa.array(train))], entry)
        return counts_of(score_texts(index, pa.array(names(documents)), pa.array(documents)), MAIN_LENGTH).astype(float)

    def copied(text: str, rng: random.Random) -> str:
        other = rng.choice(texts).split()
        return f"{text} {' '.join(other[:40])}"

    return Kind(texts, lambda drawn: RecitationRefit(pa.array(drawn), entry), one_fit, copied)


KINDS: dict[str, Callable[[Sequence[str]], Kind]] = {"order": order, "mentions": mentions, "recitation": recitation}

if __name__ == "__main__":
    main()
