"""Files of a small experiment on statistical tendencies, by the functions that write them in the workflow."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from textcritic.corpora import Article, Section, write_articles
from textcritic.critics.tendencies.counting import count_texts
from textcritic.critics.tendencies.counts import Counts
from textcritic.critics.tendencies.measure import measure_real, measure_sample
from textcritic.experiments.tendencies.files import Model, RealText, Sample, TendenciesFiles
from textcritic.files import write_json
from textcritic.plan.entries import Tendencies

# Words that HTML and LaTeX would take for their own are among the commonest.
COMMON = ("the", "of", "and", r"\alpha_1", "<b>", "50%", "&amp;", "{{x}}", "$y$", ".", "17")
OPTIONS = Tendencies(kind="tendencies", window=10, longest_lag=32, groups=10)
MEASURING = Tendencies(kind="tendencies", ranks=40, resamples=60, least=8)
DRAWS = 4
# Generators: label, tokens of a document in the mean, words of the language, exponent of their frequencies.
REAL = ("real", 30.0, 400, 1.1)
GENERATORS: Mapping[str, tuple[str, float, int, float]] = {
    "faithful": ("a faithful model", *REAL[1:]),
    "short": ("a short model", 12.0, 400, 1.1),
    "flat": ("a flat model", 30.0, 60, 0.3),
}
REJECTED: Mapping[str, Mapping[str, int]] = {"short": {"no end within 40 tokens": 7, "empty": 2}, "flat": {"empty": 1}}
UNFINISHED: Mapping[str, int] = {"short": 3}
EMPTY = "mute"  # a generator whose documents have no token


def tiny(root: Path, *, documents: int = 60, empty: bool = False) -> TendenciesFiles:
    """Every file of a complete experiment below `root`.

    Args:
        root: where the files go.
        documents: of each sample; real text has 60.
        empty: whether the documents of one sample have no token.
    """
    generators = [*GENERATORS, *[EMPTY] * empty]
    return build_tendencies(root, sources=[(one, "drawn", "wo-title") for one in generators], documents=documents)


def build_tendencies(
    root: Path,
    *,
    corpora: Sequence[str] = ("lines",),
    sources: Sequence[tuple[str, str, str]] = (("faithful", "drawn", "wo-title"), ("short", "drawn", "wo-title")),
    seeds: Sequence[int] = (1,),
    documents: int = 60,
    stop_words: str = "english",
) -> TendenciesFiles:
    """Write every file that the tables, figures and section read below `root`.

    Args:
        root: where the files go.
        corpora: their names.
        sources: generators, of `GENERATORS` or `EMPTY`, each with a decoding and a setting.
        seeds: of each of them.
        documents: of each sample; real text has 60.
        stop_words: the option of counting.
    """
    options = Tendencies(kind="tendencies", window=10, longest_lag=32, groups=10, stop_words=stop_words)
    data, samples = [], []
    for corpus in corpora:
        rng = np.random.default_rng([7, *corpus.encode()])
        folder = root / corpus
        folder.mkdir(parents=True)
        real, draws = (
            counted(texts(rng, 60, REAL), options),
            [counted(texts(rng, 60, REAL), options) for _ in range(DRAWS)],
        )
        of_real = RealText(corpus=corpus, scores=folder / "test.json", curves=folder / "test.parquet")
        measure_real(real, draws, MEASURING).write(of_real.scores, of_real.curves)
        data.append(of_real)
        for (generator, decoding, setting), seed in [(source, seed) for source in sources for seed in seeds]:
            sample = _sample(folder, corpus, (generator, decoding, setting, seed))
            write_texts(sample.articles, found := _found(rng, documents, generator))
            write_counts(sample, documents, REJECTED.get(generator, {}), UNFINISHED.get(generator))
            measured = measure_sample(real, counted(found, options), draws, MEASURING)
            measured.write(sample.scores, sample.curves)
            samples.append(sample)
    entry = {"tokenizer": "whitespace", "lower_case": True, "stop_words": stop_words, "ranks": 40, "draws": DRAWS}
    return TendenciesFiles(data=tuple(data), samples=tuple(samples), options=entry | {"window": 10})


def _found(rng: np.random.Generator, documents: int, generator: str) -> list[str]:
    return [""] * documents if generator == EMPTY else texts(rng, documents, GENERATORS[generator])


def write_texts(path: Path, found: Sequence[str]) -> None:
    """Documents as articles of one section."""
    write_articles(path, (Article(f"a{n}", None, (Section(None, text),), "made up") for n, text in enumerate(found)))


def counted(documents: Sequence[str], options: Tendencies = OPTIONS) -> Counts:
    """The counts of documents."""
    return count_texts([pa.array(documents, pa.string())], len(documents), options)


def texts(rng: np.random.Generator, documents: int, like: tuple[str, float, int, float] = REAL) -> list[str]:
    """Documents of independent words, whose length varies."""
    _, mean, types, s = like
    words = [*COMMON, *(f"w{n}" for n in range(len(COMMON), types))]
    shares = np.arange(1, types + 1.0) ** -s
    lengths = 1 + rng.poisson(mean * rng.choice([0.5, 1.0, 1.5], documents))
    return [" ".join(rng.choice(words, length, p=shares / shares.sum())) for length in lengths]


def _sample(folder: Path, corpus: str, drawn_by: tuple[str, str, str, int]) -> Sample:
    generator, decoding, setting, seed = drawn_by
    place = folder / setting / generator / decoding / f"seed{seed}"
    place.mkdir(parents=True)
    return Sample(
        corpus=corpus,
        setting=setting,
        generator=generator,
        decoding=decoding,
        seed=seed,
        label=GENERATORS.get(generator, ("a mute model",))[0],
        from_file=False,
        articles=place / "articles.parquet",
        counts=place / "counts.json",
        scores=place / "scores.json",
        curves=place / "curves.parquet",
    )


def write_counts(sample: Sample, kept: int, rejected: Mapping[str, int], unfinished: int | None = None) -> None:
    """How many texts of a sample were kept and rejected; without `unfinished` as older samples have it."""
    counts: dict[str, object] = {"drawn": kept + sum(rejected.values()), "kept": kept, "rejected": dict(rejected)}
    counts |= {"tokens": None} | ({} if unfinished is None else {"unfinished": unfinished})
    write_json(sample.counts, counts)


def model(folder: Path) -> Model:
    """A generator of the corpus `lines`, with a made-up perplexity."""
    per = {"ppl": 23.5, "ci95": [22.0, 25.0]}
    write_json(folder / "perplexity.json", {"unit": "tokens", "all": per, "body": per})
    write_json(folder / "training.json", {"parameters": 205_000_000})
    return Model(
        corpus="lines",
        setting="wo-title",
        generator="short",
        seed=1,
        label="a model",
        perplexity=folder / "perplexity.json",
        training=folder / "training.json",
    )
