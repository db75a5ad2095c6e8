"""Cross-fitting of a study of one's own text: real documents judged by critics that have not seen them.

Nothing of it is in the workflow, whose corpora have one split.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from textcritic.api.articles.jobs.crossed_topics import topics
from textcritic.api.articles.jobs.job import (
    FOLDER,
    STAGES,
    Configured,
    Crossing,
    Found,
    Job,
    Prepared,
    articles_and_unread,
)
from textcritic.api.chains import crossed_chains
from textcritic.api.coreference import crossed_mentions
from textcritic.api.crossed import words_of_pairs
from textcritic.api.crossed_order import crossed_order
from textcritic.api.crossed_recitation import crossed_recitation
from textcritic.corpora import SPLITS, article_groups, gold_chains, iter_articles, write_articles
from textcritic.corpora.build import build_corpus, words_of
from textcritic.critics.mentions.job import chain_options
from textcritic.critics.mentions.refit import MentionRefit
from textcritic.critics.order import read_sentences
from textcritic.critics.recitation.job import documents_of
from textcritic.critics.refits import TransitionRefit
from textcritic.experiments.coherence.plan import Coherence
from textcritic.experiments.coreference.plan import Coreference
from textcritic.experiments.order.plan import Order
from textcritic.experiments.recitation.plan import Recitation
from textcritic.files import read_table
from textcritic.latents.resolvers.chains import read_chains
from textcritic.latents.resolvers.mention_chains import MentionChains
from textcritic.measures.crossed import read_crossed, write_crossed
from textcritic.measures.measure import Scored
from textcritic.plan import entries
from textcritic.plan.experiment import Experiment
from textcritic.plan.sources import Drawn


def crossing_of(configured: Configured, experiment: Experiment) -> Job | None:
    """What judges the sources of an experiment by cross-fitting; None where one split does."""
    kinds: dict[str, Callable[[Configured, Any, Crossing], Prepared | None]] = {
        "coherence": _order,
        "coreference": _mentions,
        "order": _sentences,
        "recitation": _recited,
        "topics": topics,
    }
    if configured.crossing is None or experiment.kind not in kinds:
        return None
    files: Any = experiment.files()
    found = kinds[experiment.kind](configured, experiment, configured.crossing)
    if found is None:
        return None
    needs, run = found
    made = f"{FOLDER}/{experiment.name}.json"
    decided_by = " ".join(
        [
            configured.decided("critics", experiment.block.critic, experiment.kind),
            configured.decided("corpora", files.data[0].corpus, "build"),
            repr(configured.crossing),
        ]
    )
    return Job(STAGES[experiment.kind], needs, [made], decided_by, lambda: write_crossed(made, run()))


def notes_of(crossing: Crossing | None, experiments: Iterable[str]) -> list[str]:
    """What is to be said of all numbers of some experiments; nothing where one split is held out."""
    if crossing is None:
        return []
    how, pairs = crossing.how, dict[str, str]()
    for path in (Path(f"{FOLDER}/{name}.json") for name in experiments):
        for scores, one in (read_crossed(path) if path.is_file() else {}).items():
            if one.more.get("pairs"):
                sample = Path(scores).parts[-4]
                pairs.setdefault(sample, words_of_pairs(sample, one.more["pairs"], one.more["narrower"]))
    return [
        *(f"{words} (--unpaired takes them for strangers)." for words in pairs.values()),
        "All real documents count: each is judged by critics that have not seen it (cross-fitting: "
        f"{how.parts} parts, seed {how.seed}; topics: {crossing.splits} held-out splits). What learns from "
        "real text by itself, such as the order of words, is compared with the fifth that it has not learnt from. The "
        "configuration in this folder describes one split of this seed. Single steps, windows, topics and passages are "
        "shown under its critics, and a run by Snakemake gives its numbers.",
    ]


def every_split(configured: Configured, corpus: str) -> Job:
    """The articles of all splits of a corpus, for measures that learn nothing."""
    needs, made = [f"results/corpora/{corpus}/{split}.parquet" for split in SPLITS], f"{FOLDER}/{corpus}/every.parquet"

    def join() -> None:
        write_articles(made, chain.from_iterable(map(iter_articles, needs)))

    return Job(STAGES["corpora"], needs, [made], configured.stage("corpora"), join)


def whole_corpus(configured: Configured, corpus: str) -> Job:
    """All articles of a corpus that pass the filters of single articles, rare titles among them."""
    folder, entry = f"{FOLDER}/{corpus}", configured.registries.entry("corpora", corpus)
    needs = [f"results/corpora/{corpus}/extracted.{suffix}" for suffix in ("parquet", "json")]
    everything = {
        "splits": entry.splits.model_copy(update={"validation": 0, "test": 0}),
        "sections": entry.sections.model_copy(update={"minimum_title_count": 1}),
    }
    whole = entry.model_copy(update=everything)  # an entry itself cannot have an empty test split
    made = [f"{folder}/train.parquet"]
    decided_by = configured.decided("corpora", corpus, "build", "splits", "titles", "sections")
    return Job(STAGES["corpora"], needs, made, decided_by, lambda: build_corpus(needs[0], folder, whole, words_of))


def _order(configured: Configured, experiment: Coherence, crossing: Crossing) -> Prepared | None:
    """The order of sections; with the critic of the released code, or rare titles dropped alone, one split is kept."""
    files = experiment.files()
    (data,) = files.data
    entry = configured.registries.of_kind("critics", experiment.block.critic, entries.Transitions)
    sections = configured.registries.entry("corpora", data.corpus).sections
    if entry.mode == "as_released" or sections.rare_title != "drop-article":
        return None
    whole = f"{FOLDER}/{data.corpus}/train.parquet"
    refit_of = partial(TransitionRefit, grid=entry.smoothing, minimum=sections.minimum_title_count)

    def find() -> Found:
        sets: dict[str, Sequence[Sequence[str | None]]] = {str(data.inferred): gold_chains(whole)}
        groups = {str(data.inferred): article_groups(whole)["group"].to_pylist()}
        for sample in files.samples:
            latents = read_table(sample.latents)
            sets[str(sample.scores)] = latents["inferred"].to_pylist()
            groups[str(sample.scores)] = _groups(latents["id"].to_pylist(), [sample.articles])
        return _with_unread(crossed_chains(sets, groups, refit_of, crossing.how), files.samples)

    needs = [whole, *(str(path) for sample in files.samples for path in (sample.latents, *articles_and_unread(sample)))]
    return needs, find


def _mentions(configured: Configured, experiment: Coreference, crossing: Crossing) -> Prepared:
    files = experiment.files()
    (data,) = files.data
    entry = configured.registries.of_kind("critics", experiment.block.critic, entries.Mentions)
    options = chain_options(entry, configured.registries.entry("resolvers", entry.resolver))
    splits = [f"results/corpora/{data.corpus}/{split}.parquet" for split in SPLITS]
    found = [f"results/mentions/{entry.resolver}/{data.corpus}/data/{split}.parquet" for split in ("train", "test")]
    refit_of = partial(MentionRefit, order=entry.order, discount=entry.discount)

    def find() -> Found:
        chained = {str(data.scores): [read_chains(path, options) for path in found]}
        chained |= {str(sample.scores): [read_chains(sample.mentions, options)] for sample in files.samples}
        articles = {str(data.scores): splits} | {str(s.scores): [str(s.articles)] for s in files.samples}
        sets = {scores: MentionChains.joined([one.chains for one in some]) for scores, some in chained.items()}
        ids = {scores: [name for one in some for name in one.ids] for scores, some in chained.items()}
        groups = {scores: _groups(ids[scores], articles[scores]) for scores in sets}
        crossed = crossed_mentions(sets, groups, refit_of, crossing.how, {})
        unresolved = {scores: [why for one in some for _, why in one.rejected] for scores, some in chained.items()}
        for scores, whys in unresolved.items():
            crossed[scores] = _with_reasons(crossed[scores], whys)
        return crossed

    return [
        *splits,
        *found,
        *(str(path) for sample in files.samples for path in (sample.mentions, *articles_and_unread(sample))),
    ], find


def _recited(configured: Configured, experiment: Recitation, crossing: Crossing) -> Prepared:
    files = experiment.files()
    (data,) = files.data
    splits = [f"results/corpora/{data.corpus}/{split}.parquet" for split in SPLITS]
    entry = configured.registries.of_kind("critics", experiment.block.critic, entries.Recitation)

    def find() -> Found:
        articles = {str(data.scores): splits} | {str(s.scores): [str(s.articles)] for s in files.samples}
        read = {scores: _texts(paths) for scores, paths in articles.items()}
        groups = {scores: _groups(ids.to_pylist(), articles[scores]) for scores, (ids, _) in read.items()}
        texts = {scores: of for scores, (_, of) in read.items()}
        return _with_unread(crossed_recitation(texts, groups, entry, crossing.how), files.samples)

    return [*splits, *(str(path) for sample in files.samples for path in articles_and_unread(sample))], find


def _sentences(configured: Configured, experiment: Order, crossing: Crossing) -> Prepared:
    """The order of sentences."""
    files = experiment.files()
    (data,) = files.data
    splits = [f"results/corpora/{data.corpus}/{split}.parquet" for split in SPLITS]
    articles = {str(data.scores): splits} | {str(s.scores): [str(s.articles)] for s in files.samples}

    def find() -> Found:
        _, sentences = read_sentences([path for paths in articles.values() for path in paths])
        groups = {
            scores: [group for path in paths for group in article_groups(path)["group"].to_pylist()]
            for scores, paths in articles.items()
        }
        sizes = {scores: len(of) for scores, of in groups.items()}
        return _with_unread(crossed_order(sentences, sizes, groups, crossing.how), files.samples)

    return [*splits, *(str(path) for sample in files.samples for path in articles_and_unread(sample))], find


def _texts(paths: Sequence[str]) -> tuple[pa.Array, pa.Array]:
    """Ids and texts of some files."""
    batches = [batch for path in paths for batch in documents_of(path, "reading")]
    empty = pa.array([], pa.string())
    ids, texts = zip(*batches, strict=True) if batches else ((), ())
    return pa.concat_arrays([empty, *ids]), pa.concat_arrays([empty, *texts])


def _groups(ids: Sequence[str], paths: Sequence[str | Path]) -> list[str | None]:
    """The groups of documents by their ids."""
    known: dict[str, str | None] = {}
    for path in paths:
        known |= dict(zip(*article_groups(path).to_pydict().values(), strict=True))
    return [known.get(name) for name in ids]


def _with_unread(found: Found, samples: Sequence[Drawn]) -> Found:
    """With the documents of samples that could not be read."""
    for sample in samples:
        scores = str(sample.scores)
        if scores in found:
            found[scores] = _with_reasons(found[scores], read_table(articles_and_unread(sample)[1])["why"].to_pylist())
    return found


def _with_reasons(scored: Scored, whys: Sequence[str]) -> Scored:
    reasons = dict(scored.reasons)
    for why in whys:
        reasons[why] = reasons.get(why, 0) + 1
    return replace(scored, reasons=reasons)
