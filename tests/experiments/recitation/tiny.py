"""Files of a small experiment on recitation, by the functions that write them in the workflow."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from textcritic.corpora import Article, Section, write_articles
from textcritic.critics.recitation import IndexFiles, TrainIndex, index_train, score_recitation
from textcritic.experiments.recitation.files import RealText, RecitationFiles
from textcritic.files import write_json, write_table
from textcritic.plan.entries import Recitation
from textcritic.plan.sources import Drawn

# Words that HTML and LaTeX would take for their own are among them.
NASTY = (r"\alpha_1", "<b>bold</b>", "50%", "&amp;", "{{x}}", "$y$", "#1", "~z^2")
WORDS = (*NASTY, *(f"word{n}" for n in range(300)))
TRAIN, UNREAD = 60, 3
# Generator: label, and the share of a document that it copies from the training text.
GENERATORS: Mapping[str, tuple[str, float]] = {
    "parrot": ("a parrot", 0.9),
    "writer": ("a writer", 0.3),
    "inventor": ("an inventor", 0.0),
}
REAL = 0.3
BRIEF = "brief"  # a generator of which no document has so many words


def tiny(root: Path, *, documents: int = 30, empty: bool = False) -> RecitationFiles:
    """Every file of a complete experiment below `root`.

    Args:
        root: where the files go.
        documents: of each sample; real text has 30.
        empty: of one sample no document is long enough.
    """
    return build_recitation(root, generators=[*GENERATORS, *[BRIEF] * empty], drawn=documents)


def build_recitation(
    root: Path,
    *,
    corpora: Sequence[str] = ("docstrings",),
    generators: Sequence[str] = tuple(GENERATORS),
    settings: Sequence[str] = ("wo-title",),
    seeds: Sequence[int] = (1,),
    drawn: int = 30,
) -> RecitationFiles:
    """Write every file that the tables, figures and section read below `root`.

    Args:
        root: where the files go.
        corpora: their names.
        generators: keys of `GENERATORS`, or `BRIEF`.
        settings: of each generator.
        seeds: of each generator.
        drawn: documents of each sample; real text has 30.
    """
    data, samples = [], []
    for corpus in corpora:
        rng = np.random.default_rng([5, *corpus.encode()])
        folder = root / corpus
        folder.mkdir(parents=True)
        train = articles(rng, "train", TRAIN, [], 0.0)
        write_articles(folder / "train.parquet", train)
        files = IndexFiles(folder / "suffixes.npz", folder / "words.parquet", folder / "documents.parquet")
        index_train(folder / "train.parquet", files, Recitation(kind="recitation"))
        index = TrainIndex.load(files, Recitation(kind="recitation"))
        real = RealText(corpus=corpus, articles=folder / "test.parquet", scores=folder / "scores.parquet")
        write_articles(real.articles, articles(rng, "test", 30, train, REAL))
        score_recitation(index, real.articles, real.scores)
        data.append(real)
        every = [(generator, setting, seed) for generator in generators for setting in settings for seed in seeds]
        samples += [_sample(folder, corpus, index, one, articles_of(rng, one, drawn, train)) for one in every]
    cutting = {"tokenizer": "words", "lower_case": True, "straight_quotes": False, "words": "spaces"}
    return RecitationFiles(data=tuple(data), samples=tuple(samples), resamples=200, cutting=cutting)


def articles_of(
    rng: np.random.Generator, one: tuple[str, str, int], documents: int, train: Sequence[Article]
) -> list[Article]:
    """The documents of a generator."""
    if one[0] == BRIEF:
        return [Article(f"brief-{n}", None, (Section(None, "too few words"),), "made up") for n in range(documents)]
    return articles(rng, f"{one[0]}-{one[1]}-{one[2]}", documents, train, GENERATORS[one[0]][1])


def articles(
    rng: np.random.Generator, name: str, documents: int, train: Sequence[Article], share: float
) -> list[Article]:
    """Documents of two sections; about this share of their words are passages of training documents."""
    made = []
    for number in range(documents):
        words: list[str] = []
        while len(words) < 40 + number:
            if rng.random() < share:
                copied = train[rng.integers(len(train))].sections[0].text.split()
                begin = rng.integers(0, max(len(copied) - 20, 1))
                words += copied[begin : begin + 20]
            else:
                words += rng.choice(WORDS, 20).tolist()
        halves = (words[: len(words) // 2], words[len(words) // 2 :])
        sections = tuple(Section(None, " ".join(half)) for half in halves)
        made.append(Article(f"{name}-{number}", None, sections, "made up"))
    return made


def _sample(folder: Path, corpus: str, index: TrainIndex, one: tuple[str, str, int], drawn: Sequence[Article]) -> Drawn:
    generator, setting, seed = one
    place = folder / setting / generator / f"seed{seed}"
    place.mkdir(parents=True)
    rejected = [{"id": f"{generator}-x{n}", "text": "?", "why": "malformed"} for n in range(UNREAD)]
    write_articles(place / "articles.parquet", drawn)
    write_table(place / "rejected.parquet", pa.Table.from_pylist(rejected))
    write_json(place / "counts.json", {"drawn": len(drawn) + UNREAD, "kept": len(drawn)})
    score_recitation(index, place / "articles.parquet", place / "scores.parquet", place / "rejected.parquet")
    return Drawn(
        corpus=corpus,
        setting=setting,
        generator=generator,
        decoding="demo",
        seed=seed,
        label=GENERATORS.get(generator, ("a brief model",))[0],
        from_file=False,
        articles=place / "articles.parquet",
        counts=place / "counts.json",
        scores=place / "scores.parquet",
    )
