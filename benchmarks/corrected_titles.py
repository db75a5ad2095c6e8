"""What the correction of inferred titles does on sections whose titles are known.

`python benchmarks/corrected_titles.py` in the folder of a `make demo`. The demo's classifier reads fewer and fewer
tokens of each section, so that it is right less often; the Latent PPL of the test split, as it is and with its sections
moved, is known by its own titles.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from textcritic.corpora import iter_articles
from textcritic.critics import Evidence, TransitionCritic, corrected_ppl
from textcritic.critics.correction import corrected_nll
from textcritic.latents.titles.infer import Classifier

TOKENS = (64, 16, 8, 5)
Ints = npt.NDArray[np.int64]


def evidence(results: Path, critic: TransitionCritic, split: str, tokens: int) -> Evidence:
    """What the classifier says of the sections of a split from their first tokens, and their titles."""
    classifier = Classifier(results / "classifiers/docstrings/bert-demo/model", tokens)
    found = classifier.posteriors(iter_articles(results / f"corpora/docstrings/{split}.parquet"))
    order = [found.titles.index(title) for title in critic.titles]
    probs = np.concatenate(found.probabilities)[:, order].astype(np.float64)
    gold = np.array([critic.titles.index(str(title)) for titles in found.gold for title in titles])
    lengths = np.array([len(titles) for titles in found.gold])
    return Evidence(probs / probs.sum(axis=1, keepdims=True), lengths, gold)


def moved(source: Evidence) -> Iterator[tuple[str, Evidence]]:
    """The documents as they are, all or three in ten of them with shuffled sections, and their first two sections."""
    rng = np.random.default_rng(1)
    starts = np.cumsum(source.lengths) - source.lengths
    whole = [start + np.arange(length) for start, length in zip(starts, source.lengths, strict=True)]
    shuffled = [rng.permutation(rows) for rows in whole]
    some = [two if rng.random() < 0.3 else one for one, two in zip(whole, shuffled, strict=True)]
    cut = [rows[:2] for rows in whole]
    for name, rows in (("as it is", whole), ("all shuffled", shuffled), ("30% shuffled", some), ("cut", cut)):
        yield name, _taken(source, rows)


def _taken(source: Evidence, rows: list[Ints]) -> Evidence:
    at = np.concatenate(rows)
    assert source.gold is not None
    return Evidence(source.posteriors[at], np.array([len(one) for one in rows]), source.gold[at])


def _ppl(source: Evidence, titles: npt.NDArray[np.float64], log_probs: npt.NDArray[np.float64]) -> float:
    """Latent PPL of sections whose titles are `titles` [sections, V]: one-hot, or a posterior."""
    as_features = Evidence(titles, source.lengths)
    only_titles = np.vstack([np.eye(titles.shape[1]), np.zeros((titles.shape[1],) * 2)])
    steps = (source.lengths + 1).sum()
    return float(np.exp(corrected_nll(as_features, only_titles, log_probs).sum() / steps))


def main(results: Path) -> None:
    """Print a row of the table for each number of tokens and each change."""
    critic = TransitionCritic.load(results / "critics/transitions-demo/docstrings/critic.json")
    known = np.eye(len(critic.titles))
    print("| tokens | right | sections | own titles | best guess | posterior | corrected | 95% interval |")
    for tokens in TOKENS:
        labelled, test = (evidence(results, critic, split, tokens) for split in ("validation", "test"))
        right = (test.posteriors.argmax(axis=1) == test.gold).mean()
        for name, one in moved(test):
            found = corrected_ppl(one, labelled, critic.log_probs)
            sets = (known[one.gold], known[one.posteriors.argmax(axis=1)], one.posteriors)
            values = " | ".join(f"{_ppl(one, titles, critic.log_probs):.3g}" for titles in sets)
            span = f"{found.value:.3g} | {found.low:.3g}–{found.high:.3g}"
            print(f"| {tokens} | {right:.0%} | {name} | {values} | {span} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results"))
