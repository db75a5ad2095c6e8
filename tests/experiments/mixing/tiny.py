"""Files of a small experiment on mixed languages, by the functions that write them in the workflow."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from textcritic.corpora import Article, Section, write_articles
from textcritic.critics.lda.job import InferFiles, infer_mixing, train_lda
from textcritic.experiments.mixing.files import Known, MixingFiles, RealText, Sample
from textcritic.files import write_json, write_table
from textcritic.latents.bags import count_corpus
from textcritic.plan.entries import Lda

LANGUAGES = ("de", "es", "fr")
# Words that HTML and LaTeX would take for their own are among those that the languages share.
SHARED = (r"\alpha_1", "<b>", "50%", "&amp;", "{{x}}", "$y$")
OWN = 30  # words of a language alone
EMPTY, UNREAD = 2, 3  # sentences of each sample without a word of the vocabulary, and texts that did not parse
# Generator: label, share of words of another language, whether it refines.
GENERATORS: Mapping[str, tuple[str, float]] = {
    "translator": ("transformer", 0.0),
    "writer": ("non-autoregressive transformer", 0.5),
    "refiner": ("iterative transformer", 0.3),
}
DECODINGS = {
    "drawn": {"articles": 20, "method": "draw", "iterations": 0},
    "refined-0": {"articles": 20, "method": "likeliest", "iterations": 0},
    "refined-2": {"articles": 20, "method": "likeliest", "iterations": 2},
}
BROKEN = "untrained"  # a generator of which nothing can be scored


def tiny(root: Path, *, documents: int = 20, empty: bool = False) -> MixingFiles:
    """Every file of a complete experiment below `root`.

    Args:
        root: where the files go.
        documents: sentences of each sample; there are three real translations of each of 20.
        empty: of one sample nothing can be scored.
    """
    sources = [("translator", "drawn"), ("writer", "drawn"), ("refiner", "refined-0"), ("refiner", "refined-2")]
    return build_mixing(root, sources=[*sources, *[(BROKEN, "drawn")] * empty], drawn=documents)


def build_mixing(
    root: Path,
    *,
    corpus: str = "news",
    sources: Sequence[tuple[str, str]] = (("translator", "drawn"), ("writer", "drawn")),
    seeds: Sequence[int] = (1,),
    drawn: int = 20,
    known: bool = True,
    resamples: int = 50,
) -> MixingFiles:
    """Write every file that the tables, figures and section read below `root`.

    Args:
        root: where the files go.
        corpus: its name.
        sources: generators, of `GENERATORS` or `BROKEN`, each with a decoding of `DECODINGS`.
        seeds: of each of them.
        drawn: sentences of each sample.
        known: whether there is a corpus of artificial languages.
        resamples: of intervals and tests.
    """
    rng = np.random.default_rng([5, *corpus.encode()])
    folder = root / corpus
    folder.mkdir(parents=True)
    write_articles(folder / "train.parquet", _real(rng, 60))
    write_articles(folder / "test.parquet", _real(rng, 20))
    entry = Lda(kind="lda", iterations=150, draws=4, sweeps=5, starts=2)
    paths = (folder / "vocabulary.parquet", folder / "vocabulary.json", folder / "bags")
    count_corpus(folder / "train.parquet", entry.vocabulary, *paths)
    train_lda(folder / "bags", folder / "critic.npz", folder / "training.json", entry)
    real = RealText(
        corpus=corpus,
        critic=folder / "critic.npz",
        vocabulary=folder / "vocabulary.parquet",
        vocabulary_counts=folder / "vocabulary.json",
        training=folder / "training.json",
        posteriors=folder / "posteriors.npz",
        scores=folder / "scores.parquet",
        articles=folder / "test.parquet",
    )
    infer_mixing(InferFiles(real.articles, real.vocabulary, real.critic, real.posteriors, real.scores), entry)
    samples = [
        _sample(folder, rng, real, entry, (generator, decoding, seed), drawn)
        for generator, decoding in sources
        for seed in seeds
    ]
    return MixingFiles(
        data=(real,),
        samples=tuple(samples),
        known=(_known(folder),) if known else (),
        decodings=DECODINGS,
        resamples=resamples,
        report_articles=6,
        words=7,
    )


def _real(rng: np.random.Generator, sentences: int) -> list[Article]:
    return [
        Article(f"{n:06d}-{language}", f"sentence {n}", (Section(language, _text(rng, place, 0.0)),), "made up")
        for n in range(sentences)
        for place, language in enumerate(LANGUAGES)
    ]


def _text(rng: np.random.Generator, language: int, mixing: float) -> str:
    """Eight words, one in eight of them shared by all languages, `mixing` of the others of any language."""
    words = []
    for _ in range(8):
        of = int(rng.integers(3)) if rng.random() < mixing else language
        shared = rng.random() < 0.125
        words.append(SHARED[rng.integers(len(SHARED))] if shared else f"{LANGUAGES[of]}{rng.integers(OWN)}")
    return " ".join(words)


def _sample(
    folder: Path,
    rng: np.random.Generator,
    real: RealText,
    entry: Lda,
    drawn_by: tuple[str, str, int],
    sentences: int,
) -> Sample:
    generator, decoding, seed = drawn_by
    place = folder / generator / decoding / f"seed{seed}"
    place.mkdir(parents=True)
    label, mixing = GENERATORS.get(generator, ("untrained model", 0.0))
    mixing = mixing / 2 if decoding == "refined-2" else mixing
    kept = 0 if generator == BROKEN else sentences
    articles = []
    for n in range(kept):
        text = "unheard" if n >= max(kept - EMPTY, 1) else _text(rng, int(rng.integers(3)), mixing)
        articles.append(Article(f"{generator}-{n:06d}", f"sentence {n % 20}", (Section(None, text),), generator))
    write_articles(place / "articles.parquet", articles)
    unread = [{"id": f"{generator}-x{n}", "text": "?", "why": "empty"} for n in range(UNREAD + sentences - kept)]
    write_table(place / "rejected.parquet", pa.Table.from_pylist(unread))
    write_json(place / "counts.json", {"drawn": len(articles) + len(unread), "kept": len(articles)})
    per = {"ppl": 7.5, "ci95": [7.0, 8.0]}
    write_json(place / "perplexity.json", {"unit": "tokens", "all": per, "body": per})
    write_json(place / "training.json", {"parameters": 918_656})
    files = InferFiles(
        place / "articles.parquet",
        real.vocabulary,
        real.critic,
        place / "posteriors.npz",
        place / "scores.parquet",
        place / "rejected.parquet",
    )
    infer_mixing(files, entry)
    return Sample(
        corpus=real.corpus,
        setting="wo-title",
        generator=generator,
        decoding=decoding,
        seed=seed,
        label=label,
        from_file=False,
        articles=place / "articles.parquet",
        counts=place / "counts.json",
        scores=place / "scores.parquet",
        posteriors=place / "posteriors.npz",
        perplexity=place / "perplexity.json",
        training=place / "training.json",
    )


def _known(folder: Path) -> Known:
    """A table of power as it might come out."""
    rows = []
    for rate in (0.0, 0.05, 0.2):
        for sentences in (25, 100):
            detected = 0.05 if not rate else min(1.0, rate * sentences / 10)
            row = {"rate": rate, "sentences": sentences, "expected": 0.9 * rate, "recovered": 0.88 * rate + 0.01}
            row |= {"recovered_low": 0.8 * rate, "recovered_high": 0.95 * rate + 0.02, "detected": detected}
            row |= {"detected_low": max(0.0, detected - 0.05), "detected_high": min(1.0, detected + 0.05)}
            row |= {f"share_{name}": row[name] for name in ("detected", "detected_low", "detected_high")}
            rows.append(row | {"repetitions": 100})
    write_table(folder / "power.parquet", pa.Table.from_pylist(rows))
    write_json(folder / "power.json", {})
    return Known(corpus="made-up", power=folder / "power.parquet", summary=folder / "power.json")
