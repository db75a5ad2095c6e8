"""Files of a small coherence experiment in the formats of the workflow: functions and their documentation."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from textcritic.corpora.articles import Article, Section, write_articles
from textcritic.critics import TransitionCritic, score_latents
from textcritic.experiments.coherence.files import CoherenceFiles, RealText, Sample
from textcritic.files import read_table, write_json, write_table
from textcritic.latents.titles.posteriors import Posteriors, write_posteriors

TITLES = ("summary", "parameters", "returns", "raises", "see also", "notes", "references", "examples")
# P(next | previous): rows begin and the titles, columns the titles and the end.
REAL = np.array(
    [
        [0.97, 0.03, 0, 0, 0, 0, 0, 0, 0],
        [0, 0.88, 0.05, 0, 0.02, 0.03, 0, 0.02, 0],
        [0, 0, 0.80, 0.05, 0.05, 0.03, 0, 0.05, 0.02],
        [0, 0, 0, 0.20, 0.22, 0.20, 0, 0.28, 0.10],
        [0, 0, 0, 0, 0.30, 0.30, 0, 0.30, 0.10],
        [0, 0, 0, 0, 0, 0.45, 0.05, 0.40, 0.10],
        [0, 0, 0, 0, 0.02, 0, 0.33, 0.45, 0.20],
        [0, 0, 0, 0, 0, 0, 0, 0.75, 0.25],
        [0, 0, 0, 0, 0, 0.01, 0.01, 0, 0.98],
    ]
)
WORDS = {
    "summary": "Compute the weighted mean of an array along the given axis, ignoring entries that are not finite.",
    "parameters": "a : array_like\n    Input data. Integers are converted to float64 before the sum.\naxis : int",
    "returns": "mean : ndarray\n    The mean of the finite entries; nan where a slice holds none of them.",
    "raises": "ValueError\n    If `weights` has another shape than `a`, or if all weights of a slice are zero.",
    "see also": "average : the plain mean of all entries\nmedian : the middle entry along an axis",
    "notes": "The sum is compensated, so that the error does not grow with the length of the axis.",
    "references": ".. [1] N. J. Higham, Accuracy and Stability of Numerical Algorithms, second edition, SIAM, 2002.",
    "examples": ">>> weighted_mean([1.0, 2.0, 4.0], weights=[1, 1, 2])\n2.75",
}


@dataclass(frozen=True)
class Kind:
    """What the articles of a corpus are like: section types, P(next | previous) as in `REAL`, and a text of each."""

    titles: tuple[str, ...] = TITLES
    real: np.ndarray = field(default_factory=lambda: REAL)
    words: Mapping[str, str] = field(default_factory=lambda: WORDS)


PLAIN = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "stride": None, "max_tokens": 800, "articles": 500}
LABELS = {"gpt2-demo": "small GPT-2", "ngram-3": "trigram"} | {
    "gpt2-small": "GPT-2 small (LM1)",
    "gpt-neo-125m": "GPT-Neo 125M (LM2)",
    **{f"gpt2-{size}": f"GPT-2 {name}" for size, name in (("medium", "medium"), ("large", "large"), ("xl", "XL"))},
}
ACCURACY = {"accuracy": 0.942, "ci95": [0.931, 0.953], "n": 612, "documents": 150, "mean_confidence": 0.91}


def tiny(root: Path, *, documents: int = 30, empty: bool = False) -> CoherenceFiles:
    """Every file of a complete experiment below `root`, with two decodings for the audit.

    Args:
        root: where the files go.
        documents: of each source.
        empty: of one sample no article could be read; coherence refuses such a sample.
    """
    return audited(build_coherence(root, documents=documents, generators=("gpt2-demo",), resamples=20, empty=empty))


def build_coherence(
    root: Path,
    *,
    documents: int = 150,
    generators: tuple[str, ...] = ("gpt2-demo", "ngram-3"),
    seeds: tuple[int, ...] = (1,),
    corpus: str = "docstrings",
    delta: float | None = None,
    resamples: int = 200,
    kind: Kind | None = None,
    empty: bool = False,
) -> CoherenceFiles:
    """Write every file that the tables, figures and section read below `root`.

    Args:
        root: where the files go.
        documents: of each source.
        generators: keys of `LABELS`; each has samples with titles and without.
        seeds: of each generator.
        corpus: its name.
        delta: the critic's smoothing; by default chosen as in the workflow.
        resamples: of intervals and tests.
        kind: what the articles are like.
        empty: of the first sample no article could be read.
    """
    kind = kind or Kind()
    rng = np.random.default_rng([7, *corpus.encode()])
    train = [_chain(rng, kind, kind.real) for _ in range(7 * documents)]
    critic = TransitionCritic.fit(train, titles=kind.titles, grid=None if delta is None else (delta,))
    folder = root / corpus
    critic.save(folder / "critic.json")
    _source(folder / "data", rng, critic, documents, kind, kind.real, [], gold=True)
    write_articles(folder / "train.parquet", _articles(rng, kind, "train", train, titled=True))
    # Their own numbers, so that whatever else is made stays as it is.
    _posteriors(folder / "labelled.parquet", np.random.default_rng(8), kind, "validation", train[:documents], gold=True)
    write_json(folder / "statistics.json", _statistics(corpus, kind, train, documents))
    write_json(
        folder / "accuracy.json", {"titles": list(kind.titles), **{k: dict(ACCURACY) for k in ("validation", "test")}}
    )
    real = RealText(
        corpus=corpus,
        critic=folder / "critic.json",
        accuracy=folder / "accuracy.json",
        train=folder / "train.parquet",
        labelled=folder / "labelled.parquet",
        **{name: folder / "data" / f"{name}.parquet" for name in ("gold", "inferred", "articles", "latents")},
    )
    samples = []
    for number, generator in enumerate(generators):
        for setting in ("w-title", "wo-title"):
            for seed in seeds:
                noise = 0.01 + 0.09 * number + (0.02 if setting == "wo-title" else 0) + 0.005 * seed
                kept = 0 if empty and not samples else documents
                samples.append(_sample(folder, rng, critic, kept, kind, noise, generator, setting, seed))
    return CoherenceFiles(
        data=(real,),
        samples=tuple(samples),
        audit_samples=(),
        decodings={"plain": dict(PLAIN)},
        resamples=resamples,
        report_articles=12,
        power={"shares": [0.5], "articles": [10], "repetitions": 20, "seed": 1},
    )


def audited(files: CoherenceFiles) -> CoherenceFiles:
    """The same with two decodings for the audit of its first sample."""
    first, second = files.samples[:2]
    of_second = {key: getattr(second, key) for key in ("scores", "latents", "articles", "counts")}
    return replace(
        files,
        audit_samples=(replace(first, decoding="top-k-50"), replace(first, **of_second, decoding="as-released")),
        decodings={
            "plain": dict(PLAIN),
            "top-k-50": {**PLAIN, "top_k": 50, "articles": 250},
            "as-released": {**PLAIN, "top_k": 50, "stride": 1},
        },
    )


def with_second_corpus(root: Path, files: CoherenceFiles) -> CoherenceFiles:
    """The same with another corpus beside its own."""
    other = build_coherence(root, documents=40, generators=("gpt2-demo",), corpus="recipes", resamples=files.resamples)
    return replace(files, data=files.data + other.data, samples=files.samples + other.samples)


def _sample(
    folder: Path,
    rng: Any,
    critic: TransitionCritic,
    documents: int,
    kind: Kind,
    noise: float,
    generator: str,
    setting: str,
    seed: int,
) -> Sample:
    place = folder / setting / generator / f"seed{seed}"
    bent = (1 - noise) * kind.real + noise * np.full_like(kind.real, 1 / kind.real.shape[1])
    bent[1:, :-1] += noise * 1.5 * np.eye(len(kind.titles))
    rejected = {"section without title": 7, "empty section": 2} if setting == "w-title" else {"empty": 1}
    unread = [(f"unread-{why}-{i}", why) for why, n in rejected.items() for i in range(n)]
    _source(place, rng, critic, documents, kind, bent / bent.sum(1, keepdims=True), unread)
    write_json(
        place / "counts.json",
        {"drawn": documents + sum(rejected.values()), "kept": documents, "rejected": rejected, "tokens": 210_000},
    )
    infinite = generator.startswith("ngram")
    part = {"ppl": None if infinite else 21.3 + 9 * noise, "nll": None if infinite else 3.06, "tokens": 40_512}
    part["ci95"] = [None, None] if infinite else [20.9 + 9 * noise, 21.8 + 9 * noise]
    write_json(
        place / "perplexity.json",
        {
            "all": part,
            "body": part,
            "documents": documents,
            "zero_probability_tokens": 14 if infinite else 0,
            "windows": "non-overlapping windows of 512 tokens",
            **({"unit": "words"} if infinite else {}),
        },
    )
    curve = [
        {"step": s, "train_loss": 8 * 0.99**s + 2, "validation_loss": 8 * 0.99**s + 2.2} for s in range(0, 601, 50)
    ]
    write_json(place / "training.json", {"steps": 600, "best_step": 600, "curve": curve, "parameters": 1_200_000})
    return Sample(
        corpus=folder.name,
        setting=setting,
        generator=generator,
        decoding="plain",
        seed=seed,
        label=LABELS[generator],
        from_file=False,
        articles=place / "articles.parquet",
        counts=place / "counts.json",
        scores=place / "inferred.parquet",
        latents=place / "latents.parquet",
        perplexity=place / "perplexity.json",
        training=None if infinite else place / "training.json",
    )


def _source(
    place: Path,
    rng: Any,
    critic: TransitionCritic,
    documents: int,
    kind: Kind,
    matrix: np.ndarray,
    rejected: list[tuple[str, str]],
    gold: bool = False,
) -> None:
    chains = [_chain(rng, kind, matrix) for _ in range(documents)]
    articles = _articles(rng, kind, place.name, chains, titled=gold)
    write_articles(place / "articles.parquet", articles)
    _posteriors(place / "latents.parquet", rng, kind, place.name, chains, gold)
    latents = read_table(place / "latents.parquet")
    write_table(place / "inferred.parquet", score_latents(critic, latents, "inferred", rejected))
    if gold:
        write_table(place / "gold.parquet", score_latents(critic, latents, "gold"))


def _posteriors(path: Path, rng: Any, kind: Kind, name: str, chains: list[list[str]], gold: bool) -> None:
    posteriors = Posteriors(
        titles=kind.titles,
        ids=[f"{name}-{i}" for i in range(len(chains))],
        gold=[list(chain) if gold else [None] * len(chain) for chain in chains],
        probabilities=[_posterior(rng, kind, chain) for chain in chains],
    )
    write_posteriors(path, posteriors)


def _articles(rng: Any, kind: Kind, name: str, chains: list[list[str]], titled: bool) -> list[Article]:
    return [
        Article(
            f"{name}-{i}",
            f"{name}.function_{i}" if titled else None,
            tuple(Section(title if titled else None, _text(rng, kind, title)) for title in chain),
            "numpy" if titled else "generator",
        )
        for i, chain in enumerate(chains)
    ]


def _chain(rng: Any, kind: Kind, matrix: np.ndarray) -> list[str]:
    chain: list[str] = []
    state = 0
    while len(chain) < 12:
        target = int(rng.choice(len(kind.titles) + 1, p=matrix[state] / matrix[state].sum()))
        if target == len(kind.titles):
            if chain:
                break
            continue
        chain.append(kind.titles[target])
        state = target + 1
    return chain


def _posterior(rng: Any, kind: Kind, chain: list[str]) -> np.ndarray:
    noise = rng.dirichlet(np.full(len(kind.titles), 0.2), size=len(chain))
    sure = np.where(rng.random((len(chain), 1)) < 0.02, 0.3, rng.uniform(0.85, 0.999, size=(len(chain), 1)))
    truth = np.eye(len(kind.titles))[[kind.titles.index(title) for title in chain]]
    mixed = sure * truth + (1 - sure) * noise
    return (mixed / mixed.sum(1, keepdims=True)).astype(np.float32)


def _text(rng: Any, kind: Kind, title: str) -> str:
    return "\n".join([kind.words[title]] * int(rng.integers(1, 4)))


def _statistics(corpus: str, kind: Kind, train: list[list[str]], documents: int) -> dict[str, Any]:
    counts = {title: sum(chain.count(title) for chain in train) for title in kind.titles}
    split = {"articles": documents, "sections": 4 * documents, "tokens": 160 * documents}
    return {
        "corpus": corpus,
        "length_unit": "words",
        "splits": {"train": {**split, "articles": len(train)}, "validation": split, "test": split},
        "section_types": len(kind.titles),
        "titles": counts,
        "median_sections": 4,
        "median_section_length": 31.5,
        "max_section_length": 400,
        "rejected": {"fewer than 4 sections": 1204, "rare title": 311},
        "provenance": {"numpy": "2.4.0"},
    }
