"""A small study of topics in the formats of the workflow, written by the functions that write them there."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from textcritic.corpora import Article, Section, write_articles
from textcritic.critics.ctm.model import CTM
from textcritic.critics.ctm.project import ProjectedFiles, project_articles
from textcritic.files import write_json, write_table
from textcritic.latents.bags import Vocabulary, count_corpus

# Words that HTML and LaTeX would take for their own are among those of the first topic.
NASTY = (r"\alpha_1", "<b>bold</b>", "50%", "&amp;", "{{x}}", "$y$", "#1", "~z^2")
SUBJECTS = ("linear", "sparse", "signal", "image", "optimise", "integrate", "graph")
OWN = 8  # words of a topic
EMPTY, UNREAD = 4, 3  # documents of each sample without a word of the vocabulary, and texts that did not parse
# Generator: label, baseline, how far its topics vary against the data's, how much of them is chance.
GENERATORS: Mapping[str, tuple[str, bool, float, float]] = {
    "gpt2-demo": ("small GPT-2", False, 0.55, 0.0),
    "shuffled": ("shuffled words", True, 0.1, 1.0),
    "ngram-3": ("trigram", False, 1.6, 0.6),
}
BROKEN = "untrained"  # a generator of which nothing can be scored


def build_topics(
    root: Path,
    *,
    corpus: str = "docstrings",
    documents: int = 60,
    generators: Sequence[str] = tuple(GENERATORS),
    seeds: Sequence[int] = (1,),
    resamples: int = 50,
    words: int = 40,
) -> dict[str, Any]:
    """Write every artefact that the report reads of a study's topics; returns what `read_topics` takes."""
    rng = np.random.default_rng([11, *corpus.encode()])
    folder = root / corpus / "topics"
    folder.mkdir(parents=True)
    vocabulary = [*NASTY, *(f"{subject}{n}" for subject in SUBJECTS for n in range(OWN))]
    truth = _truth(len(SUBJECTS) + 1, len(vocabulary))
    write_articles(folder / "train.parquet", _articles(rng, truth, vocabulary, "train", 3 * documents, words))
    data = {name: str(folder / f"{name}.parquet") for name in ("vocabulary", "posteriors", "scores", "articles")}
    data |= {"vocabulary_counts": str(folder / "vocabulary.json"), "training": str(folder / "training.json")}
    data |= {"corpus": corpus, "critic": str(folder / "critic.npz")}
    options = {"maximum_share": 0.99, "minimum_count": 5}
    count_corpus(
        folder / "train.parquet", options, data["vocabulary"], data["vocabulary_counts"], folder / "bags" / "train"
    )
    known = Vocabulary.load(data["vocabulary"]).words
    columns = np.exp(truth.log_topics[:, [vocabulary.index(word) for word in known]])
    critic = CTM(np.log(columns / columns.sum(axis=1, keepdims=True)), truth.mean, truth.covariance)
    critic.save(data["critic"])
    bounds = [-70_000.0, -61_000.0, -60_000.0]
    training = {"bounds": bounds, "seconds": 2.5, "iterations": 3, "converged": True, "empty": 2, "tokens": 20_000}
    write_json(data["training"], training | {"documents": 3 * documents, "options": {"num_topics": 8}})
    write_articles(data["articles"], _articles(rng, truth, vocabulary, "test", documents, words, EMPTY))
    _infer(data, None)
    sources = []
    for generator in generators:
        for seed in seeds:
            sources.append(_sample(folder, rng, data, truth, vocabulary, generator, seed, documents, words))
    block = {"corpora": [data], "sources": sources, "decodings": {"demo": {"articles": documents}}}
    return {"name": "demo", "resamples": resamples, "topics": block}


def _truth(topics: int, words: int) -> CTM:
    """Topics of `OWN` words each and a little of all others; neighbouring topics go together."""
    free = topics - 1
    probabilities = np.full((topics, words), 0.1 / words)
    for topic in range(topics):
        probabilities[topic, topic * OWN : (topic + 1) * OWN] += 0.9 * (0.8 ** np.arange(OWN))[: words - topic * OWN]
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    distance = np.abs(np.subtract.outer(np.arange(free), np.arange(free)))
    covariance = 3.0 * np.where(distance == 0, 1.0, np.where(distance == 1, 0.45, 0.0))
    return CTM(np.log(probabilities), np.linspace(0.5, -0.5, free), covariance)


def _sample(
    folder: Path,
    rng: Any,
    data: Mapping[str, str],
    truth: CTM,
    vocabulary: Sequence[str],
    generator: str,
    seed: int,
    documents: int,
    words: int,
) -> dict[str, Any]:
    place = folder / generator / f"seed{seed}"
    place.mkdir(parents=True)
    names = ("articles", "rejected", "posteriors", "scores")
    files = {name: str(place / f"{name}.parquet") for name in names} | {"counts": str(place / "counts.json")}
    label, baseline, scale, chance = GENERATORS.get(generator, ("untrained model", False, 1.0, 0.0))
    diagonal = np.diag(np.diag(truth.covariance))
    theirs = CTM(truth.log_topics, truth.mean, scale * ((1 - chance) * truth.covariance + chance * diagonal))
    kept = 0 if generator == BROKEN else documents
    articles = _articles(rng, theirs, vocabulary, f"{generator}-{seed}", kept, words, EMPTY)
    write_articles(files["articles"], articles)
    unread = [{"id": f"{generator}-x{n}", "text": "?", "why": "malformed"} for n in range(UNREAD + documents - kept)]
    write_table(files["rejected"], pa.Table.from_pylist(unread))
    write_json(files["counts"], {"drawn": len(articles) + len(unread), "kept": len(articles)})
    _infer({**data, **files}, files["rejected"])
    keys = {"corpus": data["corpus"], "setting": "wo-title", "generator": generator, "decoding": "demo", "seed": seed}
    return {**keys, "label": label, "baseline": baseline, **{name: files[name] for name in files if name != "rejected"}}


def _infer(files: Mapping[str, str], rejected: str | None) -> None:
    paths = [files[name] for name in ("articles", "vocabulary", "critic", "posteriors", "scores")]
    project_articles(ProjectedFiles(*paths, rejected))


def _articles(
    rng: Any, critic: CTM, vocabulary: Sequence[str], name: str, documents: int, words: int, empty: int = 0
) -> list[Article]:
    """Articles of two sections each; the last `empty` of them have no word of the vocabulary."""
    articles = []
    for number in range(documents):
        eta = np.append(rng.multivariate_normal(critic.mean, critic.covariance), 0.0)
        mixture = np.exp(eta - eta.max()) @ np.exp(critic.log_topics)
        drawn = rng.choice(len(vocabulary), size=words, p=mixture / mixture.sum())
        tokens = [vocabulary[word] for word in drawn] if number < documents - empty else ["xmath7"] * words
        halves = (tokens[: words // 2], tokens[words // 2 :])
        sections = tuple(Section(None, " ".join(half)) for half in halves)
        articles.append(Article(f"{name}-{number}", None, sections, "made up"))
    return articles
