"""Importance sampling against the exact log p(x) of a hidden semi-Markov language model, at the scale of section 3.

python benchmarks/importance_truth.py MODEL TEST OUT    # a folder of a model of kind hsmm, an encoded split, a folder

Prints tables in Markdown. In OUT: weights.npz (log p and log q of every draw), methods.npz (log p-hat of better
estimators) and curves.csv (perplexity against K). Takes about 5 CPU minutes; `--part` does one half.
"""

import argparse
import csv
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from annealing import WindowMoves, annealed_weights, powers_of, reversed_weights, upper_bound

from textcritic.files import whole_file, write_arrays
from textcritic.generators.hsmm import HSMM, draw
from textcritic.generators.hsmm.best import k_best
from textcritic.generators.hsmm.posterior import Paths, log_potential, posterior
from textcritic.generators.hsmm.proposals import make_proposal
from textcritic.generators.hsmm.samplers import SegmentSteps
from textcritic.generators.hsmm.text import Text
from textcritic.generators.hsmm.truth import Weighed, curve_rows, tables_and_graph, weigh
from textcritic.generators.symbols import read_sequences
from textcritic.inference import particle_filter
from textcritic.inference.importance import (
    LogWeights,
    curves,
    effective_sample_sizes,
    for_truth,
    jackknife_log_likelihoods,
    log_likelihoods,
    over_draws,
    pareto_k,
    pareto_smoothed_log_likelihoods,
)
from textcritic.training.hardware import cpu_settings

TEMPERATURES = (0.5, 0.9, 1.0, 1.1, 1.5, 2.0)
KNOWN = tuple(("tempered", t) for t in TEMPERATURES)
LEARNT = tuple(("noisy", t) for t in TEMPERATURES)
HOT = (("tempered", 5.0), ("noisy", 5.0))  # spells every word: dear to draw, and of no use at any K
OTHERS = (
    ("flattened", 0.1),
    ("flattened", 0.5),
    ("withheld", 1.0),
    ("withheld", 2.0),
    ("floored", 1.0),
    ("segment", 0.0),
    ("blind", 0.0),
)
WORDS = {"tempered": "posterior, tau", "noisy": "noisy posterior, tau", "flattened": "posterior, share uniform"}
WORDS |= {"withheld": "posterior, states a segment kept", "floored": "the same, others x 0.001, kept"}
WORDS |= {"segment": "one segment ahead", "blind": "no peeking"}
WINDOW = 0.1  # share of the text that a move of annealing draws again
BASES = (("tempered", 2.0), ("noisy", 1.1), ("noisy", 2.0), ("segment", 0.0), ("blind", 0.0))
FEW = 20  # sequences that sequential Monte Carlo and annealing estimate


def label(name: str, value: float) -> str:
    return f"{WORDS[name]} {value:g}" if value else WORDS[name]


def counts_to(draws: int) -> list[int]:
    """1, 2, 5, 10, ... up to the number of draws."""
    return [k for power in range(6) for k in (10**power, 2 * 10**power, 5 * 10**power) if k <= draws]


def families(model: HSMM, text: Text, draws: int) -> Iterator[Weighed]:
    for number, family in enumerate((KNOWN, LEARNT, OTHERS), 1):
        yield weigh(model, text, family, draws, number)
    yield weigh(model, text, HOT, min(draws, 100), 5)


def table(head: str, rows: list[str]) -> None:
    print(f"\n{head}\n{'|---' * (head.count('|') - 1)}|\n" + "\n".join(rows), flush=True)


def proposals_table(weighed: Weighed, draws: int) -> None:
    """Perplexity against K, diagnostics, and how many draws come within 1% and 0.1%."""
    exact, ks = weighed.exact_perplexity, counts_to(draws)
    rows = []
    for number, spec in enumerate(weighed.proposals):
        weights = weighed.weights(number)
        both = curves(weights, ks, 50)
        instance, corpus = dict(zip(ks, both.instance.mean, strict=True)), dict(zip(ks, both.corpus.mean, strict=True))
        enough = [next((str(k) for k in ks if instance[k] <= exact * (1 + off)), f"> {draws}") for off in (0.01, 0.001)]
        k_hat, effective = pareto_k(weights), effective_sample_sizes(weights)
        cells = [f"{instance[k]:.4f}" for k in (1, 10, 100, draws)] + [f"{corpus[k]:.4f}" for k in (100, draws)]
        nats = (log_likelihoods(weights) - weighed.exact).mean()
        known = np.isfinite(k_hat)
        tail = f"{np.median(k_hat[known]):.2f} ({(k_hat[known] > 0.7).mean():.0%})" if known.any() else "none"
        reached = f"{weighed.reached[:, number].mean():.3f}" if spec[0] == "withheld" else ""
        cells += [f"{nats:.3f}", reached, f"{np.median(effective):.1f}", tail, *enough]
        rows.append(f"| {label(*spec)} | {' | '.join(cells)} |")
    head = f"| proposal | instance, K = 1 | 10 | 100 | {draws} | corpus, 100 | {draws} | nats a sequence, K = {draws} "
    head += "| of these withheld | ESS | k-hat (above 0.7) | K for 1% | K for 0.1% |"
    table(head, rows)


def coverage_table(weighed: Weighed) -> None:
    """How often, over disjoint groups of draws, each kind of interval holds the exact value."""
    rows = []
    for number, spec in enumerate(weighed.proposals):
        weights, cells = weighed.weights(number), []
        for size in (10, 100):
            parts = [
                LogWeights(weights.ids, weights.log_weights[:, at : at + size], weights.tokens)
                for at in range(0, weights.draws - size + 1, size)
            ]
            # A text of which no draw is possible has no estimate.
            parts = [part for part in parts if np.isfinite(part.log_weights.max(axis=1)).all()]
            if not parts:
                cells += ["no estimate"] * 3
                continue
            truth = [for_truth(part).perplexity >= weighed.exact_perplexity for part in parts]
            single = [(log_likelihoods(part) - np.log(20) <= weighed.exact).mean() for part in parts]
            ends = [over_draws(part).ends for part in parts]
            inside = [low <= weighed.exact_perplexity <= high for low, high in ends]
            cells += [f"{np.mean(truth):.0%}", f"{np.mean(single):.2%}", f"{np.mean(inside):.0%}"]
        rows.append(f"| {label(*spec)} | {' | '.join(cells)} |")
    head = "| proposal | bound for the truth, corpus, K = 10 | of each sequence | interval over draws "
    table(head + "| K = 100: corpus | of each sequence | interval over draws |", rows)


def same_draws_table(model: HSMM, text: Text, weighed: Weighed) -> dict[str, np.ndarray]:
    """Estimators that need no draw more, at K = 100 in all."""
    found, size = {}, min(100, weighed.log_p.shape[2])
    members = [number for number, (_, value) in enumerate(weighed.proposals) if 0.9 <= value <= 2]
    for number in members:
        weights = weighed.weights(number)
        part = LogWeights(weights.ids, weights.log_weights[:, :size], weights.tokens)
        name = label(*weighed.proposals[number])
        found[f"{name}: plain"] = log_likelihoods(part)
        found[f"{name}: jackknife"] = jackknife_log_likelihoods(part)
        found[f"{name}: Pareto smoothed"] = pareto_smoothed_log_likelihoods(part)
    specs = [weighed.proposals[number] for number in members]
    few = weigh(model, text, specs, size // len(specs), 4, across=True)
    mixed = few.mixture(range(len(specs)))
    found[f"mixture over tau {', '.join(f'{value:g}' for _, value in specs)}"] = log_likelihoods(mixed)
    table(f"| estimator, K = {size} in all | {ERRORS} |", errors(found, weighed.exact, weighed.tokens))
    return found


ERRORS = "perplexity | off by | nats a sequence | standard error | sequences above log p"


def errors(found: dict[str, np.ndarray], exact: np.ndarray, tokens: np.ndarray) -> list[str]:
    truth, rows = np.exp(-exact.sum() / tokens.sum()), []
    for name, estimate in found.items():
        known = np.isfinite(estimate)
        if not known.all():
            rows.append(f"| {name} | no estimate of {(~known).sum()} sequences | | | | |")
            continue
        ppl, off = np.exp(-estimate.sum() / tokens.sum()), estimate - exact
        se = off.std(ddof=1) / np.sqrt(len(off))
        nats = f"{off.mean():+.3f} | {se:.3f} | {(off > 1e-9).mean():.0%}"
        rows.append(f"| {name} | {ppl:.4f} | {ppl / truth - 1:+.3%} | {nats} |")
    return rows


def same_work_table(model: HSMM, text: Text, evaluations: int, nats_per_token: float) -> dict[str, np.ndarray]:
    """Sequential Monte Carlo and annealing, at the same number of evaluated paths as importance sampling."""
    tables, graph = tables_and_graph(model, text)
    exact = posterior(tables, graph).log_normaliser
    found, rng = {}, np.random.default_rng(7)
    for spec in BASES:
        name, proposal = label(*spec), make_proposal(*spec, model, tables, graph)
        paths = [proposal_weights(proposal, tables, graph, rng) for _ in range(evaluations // 100)]
        found[f"{name}: importance sampling, K = {evaluations}"] = mean_weight(np.concatenate(paths, axis=1))
        began = time.process_time()
        filtered = particle_filter(SegmentSteps(tables, proposal, nats_per_token), evaluations, rng)
        seconds = time.process_time() - began
        found[f"{name}: SMC, {evaluations} particles ({seconds:.0f} s)"] = filtered.log_p_hat
        if proposal.log_normaliser is None:
            continue
        for chains in (evaluations // 10, evaluations // 100):
            steps = round((evaluations / chains - 1) / WINDOW) + 1
            began = time.process_time()
            weights = annealed_weights(WindowMoves(tables, proposal, WINDOW), chains, powers_of(steps), rng)
            seconds = time.process_time() - began
            found[f"{name}: AIS, {chains} chains of {steps} steps ({seconds:.0f} s)"] = mean_weight(weights)
    for count in (1, 10, 100):
        found[f"{count} best paths (strict bound)"] = np.logaddexp.reduce(k_best(tables, graph, count).log_prob, axis=1)
    table(f"| {evaluations} evaluated paths a sequence | {ERRORS} |", errors(found, exact, graph.tokens))
    return {**found, "exact": exact}


def sandwich_table(model: HSMM, sequences: int) -> dict[str, np.ndarray]:
    """Bidirectional Monte Carlo on text that the model wrote: from below and from above."""
    drawn = draw(model, range(sequences), 1, segments=50)
    tables, graph = tables_and_graph(model, Text(drawn.tokens, drawn.offsets))
    truth, rng, found, chains = posterior(tables, graph), np.random.default_rng(8), {}, 10
    for spec in (("tempered", 2.0), ("noisy", 1.1), ("noisy", 2.0)):
        moves = WindowMoves(tables, make_proposal(*spec, model, tables, graph), WINDOW)
        for steps in (1, 11, 101, 1001):
            powers = powers_of(steps)
            one = truth.draw(1, rng)[0]
            start = Paths(np.repeat(one.arcs, chains, axis=1), np.repeat(one.states, chains, axis=1))
            name = f"{label(*spec)}: {chains} chains of {steps} steps"
            found[f"{name}, from below"] = mean_weight(annealed_weights(moves, chains, powers, rng))
            found[f"{name}, from above"] = upper_bound(reversed_weights(moves, moves.of_paths(start), powers, rng))
    table(f"| bound, text that the model wrote | {ERRORS} |", errors(found, truth.log_normaliser, graph.tokens))
    return {**found, "exact": truth.log_normaliser}


def proposal_weights(proposal, tables, graph, rng) -> np.ndarray:
    paths, log_q = proposal.draw(100, rng)
    return log_potential(tables, graph, paths) - log_q


def mean_weight(weights: np.ndarray) -> np.ndarray:
    return np.logaddexp.reduce(weights, axis=1) - np.log(weights.shape[1])


def speed(model: HSMM, text: Text) -> None:
    tables, graph = tables_and_graph(model, text)
    rows, rng = [], np.random.default_rng(9)
    for spec in (("tempered", 1.0), ("noisy", 1.1), ("noisy", 2.0), ("segment", 0.0), ("blind", 0.0), ("noisy", 5.0)):
        makers: list[Callable[[], object]] = [lambda spec=spec: make_proposal(*spec, model, tables, graph)]
        proposal = makers[0]()
        times = []
        for call in (*makers, lambda p=proposal: proposal_weights(p, tables, graph, rng)):
            began = time.process_time()
            call()
            times.append(time.process_time() - began)
        paths = len(graph.begins) * 100
        rows.append(f"| {label(*spec)} | {times[0]:.2f} s | {paths / times[1]:,.0f} |")
    table("| proposal | made for 20 sequences | paths drawn and weighed a second |", rows)


def measure_weights(model: HSMM, text: Text, out: Path, draws: int) -> None:
    """Proposals at growing K; writes weights.npz and curves.csv."""
    arrays, rows = {}, []
    for number, weighed in enumerate(families(model, text, draws)):
        drawn = weighed.log_p.shape[2]
        if not number:
            print(f"\nexact perplexity: {weighed.exact_perplexity:.5f}")
        proposals_table(weighed, drawn)
        coverage_table(weighed)
        own = np.arange(len(weighed.proposals))
        arrays |= {f"{number}_{key}": value for key, value in weighed.arrays().items() if key != "log_q"}
        arrays[f"{number}_log_q"] = weighed.log_q[:, own, :, own].transpose(1, 0, 2)
        if weighed.proposals in (KNOWN, LEARNT):
            arrays |= {f"{number}_{key}": value for key, value in same_draws_table(model, text, weighed).items()}
            by_value = {value: weighed.weights(n) for n, (_, value) in enumerate(weighed.proposals)}
            family = weighed.proposals[0][0]
            curve = curve_rows(by_value, weighed.exact_perplexity, counts_to(drawn))
            rows += [{"proposal": family, **row} for row in curve]
    write_arrays(out / "weights.npz", arrays)
    with whole_file(out / "curves.csv") as path, path.open("w", newline="") as handle:
        writer = csv.DictWriter(handle, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


def measure_methods(model: HSMM, text: Text, out: Path, evaluations: int) -> None:
    """Sequential Monte Carlo, annealing and bounds; writes methods.npz."""
    speed(model, text.part(0, FEW))
    # What the particle filter is told of the loss is that of other sequences.
    others = weigh(model, text.part(FEW, len(text)), (("tempered", 1.0),), 1, 6)
    nats = -float(others.exact.sum() / others.tokens.sum())
    found = same_work_table(model, text.part(0, FEW), evaluations, nats)
    found |= {f"model's own text, {key}": value for key, value in sandwich_table(model, FEW).items()}
    write_arrays(out / "methods.npz", found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("model", "test", "out"):
        parser.add_argument(name)
    parser.add_argument("--part", choices=("weights", "methods"))
    parser.add_argument("--sequences", type=int, default=100, help=f"more than {FEW}")
    parser.add_argument("--draws", type=int, default=1000)
    options = parser.parse_args()
    with cpu_settings(1):
        lm = HSMM.load(options.model).to(dtype=torch.float64)
        texts = Text(*read_sequences(options.test, lm.lexicon.vocabulary)).part(0, options.sequences)
        sizes = f"{options.sequences} sequences, {len(texts.tokens):,} tokens"
        print(f"{lm.states} states, {len(lm.lexicon):,} segments, {sizes}")
        for part, measure in (("weights", measure_weights), ("methods", measure_methods)):
            if options.part in (None, part):
                measure(lm, texts, Path(options.out), options.draws)
