"""Files of a small experiment on the order of sentences, by the functions that write them in the workflow."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from textcritic.corpora import Article, Section, write_articles
from textcritic.critics.order import OrderCritic, fit_order, score_order
from textcritic.experiments.order.files import OrderFiles, RealText
from textcritic.files import write_json, write_table
from textcritic.plan.sources import Drawn

# Words that HTML and LaTeX would take for their own are among them.
NASTY = (r"\alpha_1", "<b>bold</b>", "50%", "&amp;", "{{x}}", "$y$", "#1", "~z^2")
NAMES, THINGS = ("Lee", "Smith", "Jones", "Brown", "Adams"), ("river", "church", "wall", "letter", "boat", "horse")
LIFE = (
    "Ann {name} was born in {year}.",
    "She saw a {thing} in 19{late}.",
    "The {thing} was {nasty} and red.",
    "It pleased {name}, who made a {other} of it.",
    "The {other} was sold, and {name} died in 20{late}.",
)
GAME = (
    "Kick off near {thing}.",
    "Half time {nasty} nil nil.",
    "Goal by number {late}, near {other}.",
    "Whistle blows loudly.",
    "Everybody went home, {thing} or no {thing}.",
)
TRAIN, UNREAD = 60, 3
# Generator: label, its sentences, and the share of its documents whose sentences are shuffled.
GENERATORS: Mapping[str, tuple[str, Sequence[str], float]] = {
    "shuffler": ("a shuffler", LIFE, 1.0),
    "writer": ("a writer", LIFE, 0.2),
    "reporter": ("a reporter", GAME, 0.2),
}
REAL = 0.2
BRIEF = "brief"  # a generator whose documents have one sentence


def tiny(root: Path, *, documents: int = 30, empty: bool = False) -> OrderFiles:
    """Every file of a complete experiment below `root`.

    Args:
        root: where the files go.
        documents: of each sample; real text has 30.
        empty: no document of one sample has two sentences.
    """
    return build_order(root, generators=[*GENERATORS, *[BRIEF] * empty], drawn=documents)


def build_order(
    root: Path,
    *,
    corpora: Sequence[str] = ("docstrings",),
    generators: Sequence[str] = tuple(GENERATORS),
    seeds: Sequence[int] = (1,),
    drawn: int = 30,
    real: int = 30,
) -> OrderFiles:
    """Write every file that the tables, figures and section read below `root`.

    Args:
        root: where the files go.
        corpora: their names.
        generators: keys of `GENERATORS`, or `BRIEF`.
        seeds: of each generator.
        drawn: documents of each sample.
        real: documents of the test split.
    """
    data, samples = [], []
    for corpus in corpora:
        rng = np.random.default_rng([5, *corpus.encode()])
        folder = root / corpus
        folder.mkdir(parents=True)
        write_articles(folder / "train.parquet", articles(rng, "train", TRAIN, LIFE, REAL))
        fit_order(folder / "train.parquet", folder / "critic.npz")
        critic = OrderCritic.load(folder / "critic.npz")
        test = RealText(corpus=corpus, articles=folder / "test.parquet", scores=folder / "scores.parquet")
        write_articles(test.articles, articles(rng, "test", real, LIFE, REAL))
        score_order(critic, test.articles, test.scores)
        data.append(test)
        every = [(generator, seed) for generator in generators for seed in seeds]
        samples += [_sample(folder, corpus, critic, one, articles_of(rng, one, drawn)) for one in every]
    return OrderFiles(data=tuple(data), samples=tuple(samples), resamples=200)


def articles_of(rng: np.random.Generator, one: tuple[str, int], documents: int) -> list[Article]:
    """The documents of a generator."""
    if one[0] == BRIEF:
        return [Article(f"brief-{n}", None, (Section(None, "One sentence."),), "made up") for n in range(documents)]
    return articles(rng, f"{one[0]}-{one[1]}", documents, *GENERATORS[one[0]][1:])


def articles(
    rng: np.random.Generator, name: str, documents: int, templates: Sequence[str], share: float
) -> list[Article]:
    """Documents of two sections, the second of one sentence; in about this share the first one is shuffled."""
    made = []
    for number in range(documents):
        words = {
            **dict(zip(("thing", "other"), rng.choice(THINGS, 2, replace=False).tolist(), strict=True)),
            **{"name": str(rng.choice(NAMES)), "nasty": str(rng.choice(NASTY))},
            **{"year": int(rng.integers(1850, 1900)), "late": int(rng.integers(10, 24))},
        }
        sentences = [template.format(**words) for template in templates]
        if rng.random() < share:
            sentences = rng.permutation(sentences).tolist()
        sections = (Section(None, " ".join(sentences)), Section(None, f"That is all of {number}."))
        made.append(Article(f"{name}-{number}", None, sections, "made up"))
    return made


def _sample(folder: Path, corpus: str, critic: OrderCritic, one: tuple[str, int], drawn: Sequence[Article]) -> Drawn:
    generator, seed = one
    place = folder / generator / f"seed{seed}"
    place.mkdir(parents=True)
    rejected = [{"id": f"{generator}-x{n}", "text": "?", "why": "malformed"} for n in range(UNREAD)]
    write_articles(place / "articles.parquet", drawn)
    write_table(place / "rejected.parquet", pa.Table.from_pylist(rejected))
    write_json(place / "counts.json", {"drawn": len(drawn) + UNREAD, "kept": len(drawn)})
    score_order(critic, place / "articles.parquet", place / "scores.parquet", place / "rejected.parquet")
    return Drawn(
        corpus=corpus,
        setting="wo-title",
        generator=generator,
        decoding="demo",
        seed=seed,
        label=GENERATORS.get(generator, ("a brief model",))[0],
        from_file=False,
        articles=place / "articles.parquet",
        counts=place / "counts.json",
        scores=place / "scores.parquet",
    )
