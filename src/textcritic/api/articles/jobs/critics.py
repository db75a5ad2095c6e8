"""Jobs that fit critics on real text, and score real text and samples under them."""

import os
from pathlib import Path

from textcritic.api.articles.jobs.job import DATA_TEST, STAGES, Configured, Job, articles_of, articles_to_measure, given
from textcritic.corpora import article_groups, gold_chains
from textcritic.critics import TransitionCritic, ctm, score_latents, with_groups
from textcritic.critics.mentions.job import chain_options, fit_on_mentions, score_file
from textcritic.critics.order import OrderCritic, fit_order, score_order
from textcritic.critics.own import score_own
from textcritic.critics.recitation import (
    IndexFiles,
    TrainIndex,
    index_train,
    score_recitation,
)
from textcritic.critics.scores import unread
from textcritic.critics.tendencies.job import count_articles, count_draws
from textcritic.critics.tendencies.measure import measure_counts
from textcritic.critics.tendencies.options import stop_word_files, with_stop_words
from textcritic.experiments.metrics.plan import FROM_MEMORY, digest, folders_of, metric_name
from textcritic.experiments.topics.plan import stop_words
from textcritic.files import read_table, write_table
from textcritic.latents.bags import count_corpus
from textcritic.latents.resolvers.chains import ChainOptions
from textcritic.latents.resolvers.resolve import ResolvedFiles, resolve_articles
from textcritic.measures.own import load_metric
from textcritic.plan.entries import Ctm, Mentions, Recitation, Tendencies, Transitions


def transitions(configured: Configured, critic: str, corpus: str) -> Job:
    """A critic of the order of sections, fitted on the train split."""
    entry = configured.registries.of_kind("critics", critic, Transitions)
    train, made = f"results/corpora/{corpus}/train.parquet", f"results/critics/{critic}/{corpus}/critic.json"
    grid = None if entry.mode == "as_released" else entry.smoothing
    decided_by = configured.decided("critics", critic, "coherence")

    def fit() -> None:
        TransitionCritic.fit(gold_chains(train), mode=entry.mode, grid=grid).save(made)

    return Job(STAGES["coherence"], [train], [made], decided_by, fit)


def order_of_data(configured: Configured, critic: str, corpus: str, which: str) -> Job:
    """Scores of real documents by their titles."""
    articles, _ = articles_of(corpus, DATA_TEST)
    model, latents = _order_needs(configured, critic, corpus, DATA_TEST)
    made = f"results/scores/{critic}/{corpus}/{DATA_TEST}-{which}.parquet"

    def score() -> None:
        scores = score_latents(TransitionCritic.load(model), read_table(latents), which)  # type: ignore[arg-type]
        write_table(made, with_groups(scores, article_groups(articles)))

    return Job(STAGES["coherence"], [model, latents, articles], [made], configured.stage("coherence"), score)


def _order_needs(configured: Configured, critic: str, corpus: str, tail: str) -> tuple[str, str]:
    classifier = configured.registries.of_kind("critics", critic, Transitions).classifier
    return f"results/critics/{critic}/{corpus}/critic.json", f"results/latents/{classifier}/{corpus}/{tail}.parquet"


def scores_under(configured: Configured, critic: str, corpus: str, tail: str) -> Job:
    """The scores of a set of documents, by the kind of the critic."""
    of_kind = {
        "transitions": _order_of_sample,
        "ctm": topics,
        "mentions": _mention_scores,
        "recitation": _recited,
        "order": _ordered,
    }
    return of_kind[configured.registries.entry("critics", critic).kind](configured, critic, corpus, tail)


def _order_of_sample(configured: Configured, critic: str, corpus: str, tail: str) -> Job:
    articles, rejected = articles_of(corpus, tail)
    model, latents = _order_needs(configured, critic, corpus, tail)
    made = f"results/scores/{critic}/{corpus}/{tail}.parquet"

    def score() -> None:
        scores = score_latents(TransitionCritic.load(model), read_table(latents), "inferred", unread(rejected))
        write_table(made, with_groups(scores, article_groups(articles)))

    needs = given(model, latents, articles, rejected)
    return Job(STAGES["coherence"], needs, [made], configured.stage("coherence"), score)


def words(configured: Configured, critic: str, corpus: str, **_: str) -> Job:
    """The words of a topic model, and their counts in the train split."""
    folder, bags = f"results/critics/{critic}/{corpus}", f"results/bags/{critic}/{corpus}/train"
    train = f"results/corpora/{corpus}/train.parquet"
    options = configured.registries.of_kind("critics", critic, Ctm).vocabulary
    made = [f"{folder}/vocabulary.parquet", f"{folder}/vocabulary.json", bags]
    decided_by = configured.decided("critics", critic, "topics", "kind", "vocabulary", "fitted")
    needs = [train, *stop_words(critic, configured.registries)]
    return Job(STAGES["topics"], needs, made, decided_by, lambda: count_corpus(train, options, *made))


def fitted(configured: Configured, critic: str, corpus: str, file: str) -> Job:
    """The files of a fitted critic, by its kind."""
    of_kind = {"ctm": _topic_model, "mentions": _mention_model, "recitation": _index, "order": _order_model}
    return of_kind[configured.registries.entry("critics", critic).kind](configured, critic, corpus)


def _topic_model(configured: Configured, critic: str, corpus: str) -> Job:
    folder, bags = f"results/critics/{critic}/{corpus}", f"results/bags/{critic}/{corpus}/train"
    model, starts, training = (f"{folder}/{name}" for name in ("critic.npz", "starts.npz", "training.json"))
    entry, version = configured.registries.of_kind("critics", critic, Ctm), configured.project.stage("topics")
    files = ctm.FitFiles(bags, model, starts, training, state=Path(folder) / "checkpoints")
    decided_by = configured.decided("critics", critic, "topics")

    def fit() -> None:
        ctm.train_topics(files, entry, version=version, threads=configured.cores)

    return Job(STAGES["topics"], [bags], [model, starts, training], decided_by, fit)


def topics(configured: Configured, critic: str, corpus: str, tail: str, **_: str) -> Job:
    """The topics of a set of documents, and its scores."""
    articles, rejected = articles_of(corpus, tail)
    folder, found = f"results/critics/{critic}/{corpus}", f"results/topics/{critic}/{corpus}/{tail}"
    scores = f"results/scores/{critic}/{corpus}/{tail}.parquet"
    vocabulary, model, starts = (f"{folder}/{name}" for name in ("vocabulary.parquet", "critic.npz", "starts.npz"))
    files = ctm.ProjectedFiles(
        articles=articles,
        vocabulary=vocabulary,
        critic=model,
        topics=f"{found}.parquet",
        scores=scores,
        rejected=rejected,
        starts=starts,
        of_starts=f"{found}.starts.parquet",
    )
    made = [f"{found}.parquet", f"{found}.starts.parquet", scores]
    needs = given(articles, rejected, vocabulary, model, starts)
    threads = configured.registries.of_kind("critics", critic, Ctm).threads
    return Job(
        STAGES["topics"], needs, made, configured.stage("topics"), lambda: ctm.project_articles(files, threads=threads)
    )


def mentions(configured: Configured, resolver: str, corpus: str, tail: str) -> Job:
    """Who is mentioned in a set of documents."""
    articles, rejected = articles_of(corpus, tail)
    made = f"results/mentions/{resolver}/{corpus}/{tail}.parquet"
    entry = configured.registries.entry("resolvers", resolver)
    files = ResolvedFiles(articles=articles, mentions=made, rejected=rejected, folder=None)
    decided_by = configured.decided("resolvers", resolver, "coreference")
    needs = given(articles, rejected)
    return Job(STAGES["coreference"], needs, [made], decided_by, lambda: resolve_articles(files, entry, 1))


def _chains(configured: Configured, critic: str) -> tuple[Mentions, ChainOptions]:
    """A critic of mentions, and how its chains are made."""
    entry = configured.registries.of_kind("critics", critic, Mentions)
    return entry, chain_options(entry, configured.registries.entry("resolvers", entry.resolver))


def _mention_model(configured: Configured, critic: str, corpus: str) -> Job:
    entry, options = _chains(configured, critic)
    train = f"results/mentions/{entry.resolver}/{corpus}/data/train.parquet"
    model, training = (f"results/critics/{critic}/{corpus}/{name}" for name in ("critic.npz", "training.json"))
    decided_by = configured.decided("critics", critic, "coreference")

    def fit() -> None:
        fit_on_mentions(train, model, training, entry, options)

    return Job(STAGES["coreference"], [train], [model, training], decided_by, fit)


def _mention_scores(configured: Configured, critic: str, corpus: str, tail: str) -> Job:
    entry, options = _chains(configured, critic)
    found = f"results/mentions/{entry.resolver}/{corpus}/{tail}.parquet"
    articles, _ = articles_of(corpus, tail)
    model = f"results/critics/{critic}/{corpus}/critic.npz"
    made = f"results/scores/{critic}/{corpus}/{tail}.parquet"
    decided_by = configured.decided("critics", critic, "coreference")

    def score() -> None:
        score_file(found, articles, model, made, options)

    return Job(STAGES["coreference"], [found, articles, model], [made], decided_by, score)


def _index_files(critic: str, corpus: str) -> list[str]:
    names = ("suffixes.npz", "words.parquet", "documents.parquet")
    return [f"results/critics/{critic}/{corpus}/{name}" for name in names]


def _index(configured: Configured, critic: str, corpus: str) -> Job:
    train, made = f"results/corpora/{corpus}/train.parquet", _index_files(critic, corpus)
    entry = configured.registries.of_kind("critics", critic, Recitation)
    decided_by = configured.decided("critics", critic, "recitation")
    return Job(STAGES["recitation"], [train], made, decided_by, lambda: index_train(train, IndexFiles(*made), entry))


def _recited(configured: Configured, critic: str, corpus: str, tail: str) -> Job:
    articles, rejected = articles_of(corpus, tail)
    index, entry = _index_files(critic, corpus), configured.registries.of_kind("critics", critic, Recitation)
    made = f"results/scores/{critic}/{corpus}/{tail}.parquet"

    def look_up() -> None:
        score_recitation(TrainIndex.load(IndexFiles(*index), entry), articles, made, rejected)

    needs = given(articles, rejected, *index)
    return Job(STAGES["recitation"], needs, [made], configured.stage("recitation"), look_up)


def _order_model(configured: Configured, critic: str, corpus: str) -> Job:
    train, made = f"results/corpora/{corpus}/train.parquet", f"results/critics/{critic}/{corpus}/critic.npz"
    decided_by = configured.decided("critics", critic, "order")
    return Job(STAGES["order"], [train], [made], decided_by, lambda: fit_order(train, made))


def _ordered(configured: Configured, critic: str, corpus: str, tail: str) -> Job:
    articles, rejected = articles_of(corpus, tail)
    model, made = f"results/critics/{critic}/{corpus}/critic.npz", f"results/scores/{critic}/{corpus}/{tail}.parquet"

    def score() -> None:
        score_order(OrderCritic.load(model), articles, made, rejected)

    return Job(STAGES["order"], given(articles, rejected, model), [made], configured.stage("order"), score)


def counts(configured: Configured, critic: str, corpus: str, tail: str) -> Job:
    """The words of a set of documents, counted."""
    articles = articles_to_measure(configured, corpus, tail)
    made = f"results/tendencies/{critic}/{corpus}/{tail}.npz"
    entry = configured.registries.of_kind("critics", critic, Tendencies)
    files = stop_word_files(entry)
    decided_by = configured.decided("critics", critic, "tendencies")

    def count() -> None:
        options, shard = with_stop_words(entry, files), (0, entry.shards)
        count_articles(articles, options, shard, threads=entry.threads).save(made)

    return Job(STAGES["tendencies"], [articles, *files], [made], decided_by, count)


def draws(configured: Configured, critic: str, corpus: str) -> Job:
    """The words of second draws of real text, counted; none if all real text is compared with samples."""
    train, test = (f"results/corpora/{corpus}/{split}.parquet" for split in ("train", "test"))
    made = f"results/tendencies/{critic}/{corpus}/draws"
    entry = configured.registries.of_kind("critics", critic, Tendencies)
    files = stop_word_files(entry)
    number = entry.draws if configured.crossing is None else 0
    decided_by = configured.decided("critics", critic, "tendencies") + " none" * (not number)

    def draw() -> None:
        Path(made).mkdir(parents=True, exist_ok=True)
        options, shard = with_stop_words(entry, files), (0, entry.shards)
        count_draws(train, options, (number, test), made, shard, entry.threads)

    return Job(STAGES["tendencies"], [train, test, *files], [made], decided_by, draw)


def tendencies(configured: Configured, critic: str, corpus: str, tail: str, **_: str) -> Job:
    """The tendencies of real text, or of a sample compared with real text."""
    folder = f"results/tendencies/{critic}/{corpus}"
    entry = configured.registries.of_kind("critics", critic, Tendencies)
    real, seconds = f"{folder}/{DATA_TEST}.npz", f"{folder}/draws"
    sample = None if tail == DATA_TEST else f"{folder}/{tail}.npz"
    made = [f"{folder}/{tail}.json", f"{folder}/{tail}.curves.parquet"]
    decided_by = configured.decided("critics", critic, "tendencies")
    needs = given(real, seconds, sample)

    def measure() -> None:
        measure_counts(real, seconds, sample, entry).write(*made)

    return Job(STAGES["tendencies"], needs, made, decided_by, measure)


def measured(configured: Configured, metric: str, corpus: str, tail: str) -> Job:
    """The number of each document by a user's own measure; one that learns is compared with the test split only."""
    (articles, rejected), every = articles_of(corpus, tail), articles_to_measure(configured, corpus, tail)
    made, name = f"results/scores/metrics/{metric}/{corpus}/{tail}.parquet", metric_name(metric)
    from_memory = name.startswith(f"{FROM_MEMORY}:")
    config, here, train = (
        configured.project.config,
        configured.project.here,
        f"results/corpora/{corpus}/train.parquet",
    )

    strangers = configured.crossing is not None and configured.crossing.how.paired

    def measure() -> None:
        function = configured.here[name] if from_memory else load_metric(name, folders_of(config.metric_folders, here))
        read = every if function.fit is None else articles
        score_own(function, read, made, Path(rejected) if rejected else None, train, strangers)

    # A function of this process may be another one the next time: it is applied in every run.
    decided_by = os.urandom(8).hex() if from_memory else digest(metric, config, here) + configured.stage("metrics")
    decided_by += " strangers" * strangers
    return Job(STAGES["metrics"], given(articles, every, rejected, train), [made], decided_by, measure)
