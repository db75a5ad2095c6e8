"""Files of a small topics experiment in the formats of the workflow, by the functions that write them there."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from textcritic.corpora import Article, Section, write_articles
from textcritic.critics.ctm.model import CTM, save_critics
from textcritic.critics.ctm.power import PowerFiles, measure_topic_power
from textcritic.critics.ctm.project import ProjectedFiles, project_articles
from textcritic.experiments.topics.files import Fitted, Sample, TopicsFiles
from textcritic.files import write_json, write_table
from textcritic.inference import PowerOptions
from textcritic.latents.bags import Vocabulary, count_corpus
from textcritic.plan.entries.critics import VocabularyOptions

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


def tiny(root: Path, *, documents: int = 30, empty: bool = False) -> TopicsFiles:
    """Every file of a complete experiment below `root`, with a baseline.

    Args:
        root: where the files go.
        documents: of each sample; real text has more, as it must have a covariance.
        empty: of one sample nothing can be scored.
    """
    generators = (*GENERATORS, BROKEN) if empty else tuple(GENERATORS)
    return build_topics(root, generators=generators, documents=30, drawn=documents, resamples=20)


def build_topics(
    root: Path,
    *,
    corpus: str = "docstrings",
    documents: int = 60,
    drawn: int | None = None,
    generators: Sequence[str] = tuple(GENERATORS),
    seeds: Sequence[int] = (1,),
    resamples: int = 50,
    words: int = 40,
) -> TopicsFiles:
    """Write every file that the tables, figures and section read below `root`.

    Args:
        root: where the files go.
        corpus: its name.
        documents: of real text, of which the last `EMPTY` have no word of the vocabulary.
        drawn: of each sample; by default as many.
        generators: keys of `GENERATORS`, or `BROKEN`.
        seeds: of each generator.
        resamples: of intervals and tests.
        words: of a document.
    """
    rng = np.random.default_rng([11, *corpus.encode()])
    folder = root / corpus / "topics"
    folder.mkdir(parents=True)
    vocabulary = [*NASTY, *(f"{subject}{n}" for subject in SUBJECTS for n in range(OWN))]
    truth = _truth(len(SUBJECTS) + 1, len(vocabulary))
    write_articles(folder / "train.parquet", _articles(rng, truth, vocabulary, "train", 3 * documents, words))
    fitted = Fitted(
        corpus=corpus,
        critic=folder / "critic.npz",
        vocabulary_counts=folder / "vocabulary.json",
        training=folder / "training.json",
        of_starts=folder / "posteriors.starts.parquet",
        **{name: folder / f"{name}.parquet" for name in ("vocabulary", "posteriors", "scores", "articles", "power")},
    )
    options = VocabularyOptions(maximum_share=0.99, minimum_count=5)
    counts = (fitted.vocabulary, fitted.vocabulary_counts, folder / "bags" / "train")
    count_corpus(folder / "train.parquet", options, *counts)
    known = Vocabulary.load(fitted.vocabulary).words
    columns = np.exp(truth.log_topics[:, [vocabulary.index(word) for word in known]])
    critic = CTM(np.log(columns / columns.sum(axis=1, keepdims=True)), truth.mean, truth.covariance)
    critic.save(fitted.critic)
    # What another start of the fit might have found: other topics first, and wider.
    order = np.r_[1, 0, 2 : critic.num_topics]
    save_critics(folder / "starts.npz", [CTM(critic.log_topics[order], critic.mean, 1.5 * critic.covariance)])
    bounds = [-70_000.0, -61_000.0, -60_000.0]
    training = {"bounds": bounds, "seconds": 2.5, "iterations": 3, "converged": True, "empty": 2, "tokens": 20_000}
    starts = ((8, -60_000.0), (9, -60_500.0))
    training["starts"] = [{"seed": seed, "bound": bound, "converged": True} for seed, bound in starts]
    write_json(fitted.training, training | {"documents": 3 * documents, "options": {"num_topics": 8}})
    write_articles(fitted.articles, _articles(rng, truth, vocabulary, "test", documents, words, EMPTY))
    paths = (fitted.articles, fitted.vocabulary, fitted.critic, fitted.posteriors, fitted.scores)
    project_articles(ProjectedFiles(*paths, None, folder / "starts.npz", fitted.of_starts))
    power = PowerFiles(fitted.articles, fitted.vocabulary, fitted.critic, folder / "power.parquet")
    measure_topic_power(power, PowerOptions(shares=(0.5, 1.0), articles=(5, 10), repetitions=20))
    samples = [
        _sample(folder, rng, fitted, truth, vocabulary, generator, seed, documents if drawn is None else drawn, words)
        for generator in generators
        for seed in seeds
    ]
    decodings = {"demo": {"articles": documents}}
    return TopicsFiles(data=(fitted,), samples=tuple(samples), decodings=decodings, resamples=resamples)


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
    fitted: Fitted,
    truth: CTM,
    vocabulary: Sequence[str],
    generator: str,
    seed: int,
    documents: int,
    words: int,
) -> Sample:
    place = folder / generator / f"seed{seed}"
    place.mkdir(parents=True)
    articles, rejected, posteriors, scores, of_starts = (
        place / f"{name}.parquet" for name in ("articles", "rejected", "posteriors", "scores", "starts")
    )
    label, baseline, scale, chance = GENERATORS.get(generator, ("untrained model", False, 1.0, 0.0))
    diagonal = np.diag(np.diag(truth.covariance))
    drawn_from = CTM(truth.log_topics, truth.mean, scale * ((1 - chance) * truth.covariance + chance * diagonal))
    kept = 0 if generator == BROKEN else documents
    drawn = _articles(rng, drawn_from, vocabulary, f"{generator}-{seed}", kept, words, EMPTY)
    write_articles(articles, drawn)
    unread = [{"id": f"{generator}-x{n}", "text": "?", "why": "malformed"} for n in range(UNREAD + documents - kept)]
    write_table(rejected, pa.Table.from_pylist(unread))
    write_json(place / "counts.json", {"drawn": len(drawn) + len(unread), "kept": len(drawn)})
    starts = folder / "starts.npz", of_starts
    project_articles(ProjectedFiles(articles, fitted.vocabulary, fitted.critic, posteriors, scores, rejected, *starts))
    return Sample(
        corpus=fitted.corpus,
        setting="wo-title",
        generator=generator,
        decoding="demo",
        seed=seed,
        label=label,
        from_file=False,
        baseline=baseline,
        articles=articles,
        counts=place / "counts.json",
        scores=scores,
        posteriors=posteriors,
        of_starts=of_starts,
    )


def _articles(
    rng: Any, critic: CTM, vocabulary: Sequence[str], name: str, documents: int, words: int, empty: int = 0
) -> list[Article]:
    """Articles of two sections each; the last `empty` of them, but not the first, have no word of the vocabulary."""
    articles = []
    for number in range(documents):
        eta = np.append(rng.multivariate_normal(critic.mean, critic.covariance), 0.0)
        mixture = np.exp(eta - eta.max()) @ np.exp(critic.log_topics)
        drawn = rng.choice(len(vocabulary), size=words, p=mixture / mixture.sum())
        scorable = number < max(documents - empty, 1)
        tokens = [vocabulary[word] for word in drawn] if scorable else ["xmath7"] * words
        halves = (tokens[: words // 2], tokens[words // 2 :])
        sections = tuple(Section(None, " ".join(half)) for half in halves)
        articles.append(Article(f"{name}-{number}", None, sections, "made up"))
    return articles
