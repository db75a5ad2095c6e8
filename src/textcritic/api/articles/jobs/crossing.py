"""Cross-fitting of a study of one's own text: real documents judged by critics that have not seen them.

Nothing of it is in the workflow, whose corpora have one split.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from textcritic.api.articles.jobs.job import STAGES, Configured, Crossing, Job
from textcritic.api.chains import crossed_chains
from textcritic.api.coreference import crossed_mentions
from textcritic.api.crossed import Pool, estimates_of, fits_of
from textcritic.corpora import SPLITS, article_groups, gold_chains, read_articles, write_articles
from textcritic.corpora.build import build_corpus, words_of
from textcritic.critics.ctm import FitFiles, ProjectedFiles, project_articles, train_topics
from textcritic.critics.mentions.job import chain_options
from textcritic.critics.mentions.refit import MentionRefit
from textcritic.critics.recitation import MAIN_LENGTH, cutting_of
from textcritic.critics.recitation.job import documents_of
from textcritic.critics.recitation.refit import RecitationRefit
from textcritic.critics.recitation.scoring import EMPTY
from textcritic.critics.refits import TransitionRefit
from textcritic.experiments.recitation.rows import RECITED
from textcritic.experiments.topics.rows import AT_MEAN, DISTANCE, GAP, NLL, read_source
from textcritic.files import read_table
from textcritic.inference.clusters import unit_of
from textcritic.inference.crossfit import deal
from textcritic.latents.bags import count_corpus
from textcritic.latents.resolvers.chains import read_chains
from textcritic.latents.resolvers.mention_chains import MentionChains
from textcritic.measures.crossed import write_crossed
from textcritic.measures.measure import Estimate, Measure, Resampling, Scored
from textcritic.measures.rows import estimated
from textcritic.plan.experiment import Experiment

FOLDER = "results/crossfit"
FEWEST = 1_000  # resamples of each split
WIDER = 1.1436  # from 95% to 97.5%, by the quantiles of the normal distribution
Found = dict[str, Scored]
"""What was found of each source, by the path of its scores, real text first."""


def crossing_of(configured: Configured, experiment: Experiment) -> Job | None:
    """What judges the sources of an experiment by cross-fitting; None where one split does."""
    kinds = {"coherence": _order, "coreference": _mentions, "recitation": _recited, "topics": _topics}
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
            configured.decided("critics", experiment.block["critic"], experiment.kind),
            configured.decided("corpora", files.data[0].corpus, "build"),
            repr(configured.crossing),
        ]
    )
    return Job(STAGES[experiment.kind], needs, [made], decided_by, lambda: write_crossed(made, run()))


def whole_corpus(configured: Configured, corpus: str) -> Job:
    """All articles of a corpus that pass the filters of single articles, rare titles among them."""
    folder, entry = f"{FOLDER}/{corpus}", configured.entry("corpora", corpus)
    needs = [f"results/corpora/{corpus}/extracted.{suffix}" for suffix in ("parquet", "json")]
    spec = entry | {
        "splits": {**entry["splits"], "validation": 0, "test": 0},
        "sections": {**entry["sections"], "minimum_title_count": 1},
    }
    made = [f"{folder}/train.parquet"]
    decided_by = configured.decided("corpora", corpus, "build", "splits", "titles", "sections")
    return Job(STAGES["corpora"], needs, made, decided_by, lambda: build_corpus(needs[0], folder, spec, words_of))


Prepared = tuple[Sequence[str], Callable[[], Found]]
"""The files that are needed, and what finds."""


def _order(configured: Configured, experiment: Experiment, crossing: Crossing) -> Prepared | None:
    """The order of sections; with the critic of the released code, or rare titles dropped alone, one split is kept."""
    files: Any = experiment.files()
    (data,) = files.data
    entry, sections = (
        configured.entry("critics", experiment.block["critic"]),
        configured.entry("corpora", data.corpus)["sections"],
    )
    if entry["mode"] == "as_released" or sections["rare_title"] != "drop-article":
        return None
    whole = f"{FOLDER}/{data.corpus}/train.parquet"
    refit_of = partial(TransitionRefit, grid=entry["smoothing"], minimum=sections["minimum_title_count"])

    def find() -> Found:
        sets: dict[str, Any] = {str(data.inferred): gold_chains(whole)}
        groups = {str(data.inferred): article_groups(whole)["group"].to_pylist()}
        for sample in files.samples:
            latents = read_table(sample.latents)
            sets[str(sample.scores)] = latents["inferred"].to_pylist()
            groups[str(sample.scores)] = _groups(latents["id"].to_pylist(), [sample.articles])
        return _with_unread(crossed_chains(sets, groups, refit_of, crossing.how), files.samples)

    needs = [whole, *(str(path) for sample in files.samples for path in (sample.latents, *_of(sample)))]
    return needs, find


def _mentions(configured: Configured, experiment: Experiment, crossing: Crossing) -> Prepared:
    files: Any = experiment.files()
    (data,) = files.data
    entry = configured.entry("critics", experiment.block["critic"])
    options = chain_options(entry, configured.entry("resolvers", entry["resolver"]))
    splits = [f"results/corpora/{data.corpus}/{split}.parquet" for split in SPLITS]
    found = [f"results/mentions/{entry['resolver']}/{data.corpus}/data/{split}.parquet" for split in ("train", "test")]
    refit_of = partial(MentionRefit, order=entry["order"], discount=entry["discount"])

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

    return [*splits, *found, *(str(path) for sample in files.samples for path in (sample.mentions, *_of(sample)))], find


def _recited(configured: Configured, experiment: Experiment, crossing: Crossing) -> Prepared:
    files: Any = experiment.files()
    (data,) = files.data
    splits = [f"results/corpora/{data.corpus}/{split}.parquet" for split in SPLITS]
    cutting = cutting_of(configured.entry("critics", experiment.block["critic"]))

    def find() -> Found:
        articles = {str(data.scores): splits} | {str(s.scores): [str(s.articles)] for s in files.samples}
        read = {scores: _texts(paths) for scores, paths in articles.items()}
        lengths = {scores: cutting.words(texts)[1] for scores, (_, texts) in read.items()}
        kept = {scores: of >= MAIN_LENGTH for scores, of in lengths.items()}
        texts = {scores: texts.filter(pa.array(kept[scores])) for scores, (_, texts) in read.items()}
        groups = {
            scores: _groups(ids.filter(pa.array(kept[scores])).to_pylist(), articles[scores])
            for scores, (ids, _) in read.items()
        }
        real, *samples = read
        pools = {
            scores: Pool(
                RecitationRefit(pa.concat_arrays([texts[real], texts[scores]]), cutting),
                (groups[real], groups[scores]),
                (len(texts[real]), len(texts[scores])),
            )
            for scores in samples
            if len(texts[scores])
        }
        estimates = (
            estimates_of(fits_of(pools, replace(crossing.how, rare=True)), RECITED, real)
            if pools and len(texts[real])
            else {}
        )
        found = {}
        for scores, of in lengths.items():
            short = int(((of > 0) & (of < MAIN_LENGTH)).sum())
            reasons = {f"fewer than {MAIN_LENGTH} words": short, EMPTY: int((of == 0).sum())}
            one = {RECITED.value: estimates[scores]} if scores in estimates else {}
            runs = int(np.maximum(of - MAIN_LENGTH + 1, 0).sum())
            reasons = {why: n for why, n in reasons.items() if n}
            found[scores] = Scored({}, len(texts[scores]), reasons, {"ngrams": runs}, groups[scores], one)
        return _with_unread(found, files.samples) if estimates else {}

    return [*splits, *(str(path) for sample in files.samples for path in _of(sample))], find


def _topics(configured: Configured, experiment: Experiment, crossing: Crossing) -> Prepared:
    """Several held-out splits, each with a fit of its own: twice the median p (Meinshausen, Meier, Buehlmann 2009)."""
    files: Any = experiment.files()
    (data,) = files.data
    splits = [f"results/corpora/{data.corpus}/{split}.parquet" for split in SPLITS]
    critic = experiment.block["critic"]
    entry = configured.entry("critics", critic)
    resampling = Resampling(max(files.resamples // crossing.splits, FEWEST))
    starts = math.ceil(entry["starts"] / crossing.splits)

    def find() -> Found:
        articles = [article for path in splits for article in read_articles(path)]
        units = unit_of([article.group for article in articles], len(articles))
        order = np.random.default_rng(crossing.how.seed).permutation(int(units.max()) + 1)
        part_of = deal(units, order, len(order), crossing.splits)
        each: list[dict[str, tuple[Scored, dict[str, Estimate]]]] = []
        for part in np.unique(part_of).tolist():
            folder = Path(f"{FOLDER}/{critic}/{data.corpus}/split{part}")
            folder.mkdir(parents=True, exist_ok=True)
            for name, wanted in (("train", part_of != part), ("test", part_of == part)):
                write_articles(folder / f"{name}.parquet", [articles[n] for n in np.flatnonzero(wanted)])
            fitted = _Fitted(folder, entry | {"starts": starts}, configured)
            each.append(fitted.judged(files, resampling))
        return {scores: _over_splits([one[scores] for one in each]) for scores in each[0]}

    return [*splits, *(str(path) for sample in files.samples for path in _of(sample))], find


@dataclass(frozen=True, slots=True)
class _Fitted:
    """A topic model that is fitted on train.parquet of a folder."""

    folder: Path
    entry: Mapping[str, Any]
    configured: Configured

    def judged(self, files: Any, resampling: Resampling) -> dict[str, tuple[Scored, dict[str, Estimate]]]:
        """What it says of the held-out documents, and of each sample beside them."""
        folder = self.folder
        vocabulary, bags = folder / "vocabulary.parquet", folder / "bags"
        count_corpus(folder / "train.parquet", self.entry["vocabulary"], vocabulary, folder / "vocabulary.json", bags)
        model, starts = folder / "critic.npz", folder / "starts.npz"
        fit_files = FitFiles(bags, model, starts, folder / "training.json", state=folder / "checkpoints")
        version, threads = self.configured.project.stage("topics"), self.configured.cores
        train_topics(fit_files, self.entry, version=version, threads=threads)
        real = self._read(files.data[0], "test", folder / "test.parquet", None)
        found = {str(files.data[0].scores): (real, _estimates(real, None, resampling))}
        for number, sample in enumerate(files.samples):
            articles, unread = _of(sample)
            scored = self._read(sample, f"sample{number}", articles, real, unread)
            found[str(sample.scores)] = scored, _estimates(scored, real, resampling)
        return found

    def _read(self, source: Any, name: str, articles: Any, real: Scored | None, rejected: Any = None) -> Scored:
        """Project a set of documents, and read it as the tables do."""
        topics, scores, of_starts = (self.folder / f"{name}.{kind}.parquet" for kind in ("topics", "scores", "starts"))
        projected = ProjectedFiles(
            articles=articles,
            vocabulary=self.folder / "vocabulary.parquet",
            critic=self.folder / "critic.npz",
            topics=topics,
            scores=scores,
            rejected=rejected,
            starts=self.folder / "starts.npz",
            of_starts=of_starts,
        )
        project_articles(projected, threads=self.entry["threads"])
        return read_source(replace(source, scores=scores, posteriors=topics, of_starts=of_starts), real)


def _estimates(scored: Scored, real: Scored | None, resampling: Resampling) -> dict[str, Estimate]:
    found = {m.value: estimated(m, scored, real, resampling) for m in (NLL, GAP, AT_MEAN, DISTANCE)}
    return {value: estimate for value, estimate in found.items() if estimate is not None}


def _over_splits(each: Sequence[tuple[Scored, dict[str, Estimate]]]) -> Scored:
    """One source over the splits: of real text all documents, each held out once; a sample is the same in all."""
    first, estimates = each[0]
    is_real = estimates.get(GAP.value, Estimate()).value is None
    documents = sum(one.documents or 0 for one, _ in each) if is_real else first.documents
    groups = [group for one, _ in each for group in one.groups or ()] if is_real else first.groups
    reasons: dict[str, int] = {}
    for one, _ in each if is_real else each[:1]:
        for why, number in one.reasons.items():
            reasons[why] = reasons.get(why, 0) + number
    medians = {
        measure.value: _median(measure, [found[measure.value] for _, found in each if measure.value in found])
        for measure in (NLL, GAP, AT_MEAN, DISTANCE)
        if measure.value in estimates
    }
    return Scored({}, documents, reasons, {}, groups, medians)


def _median(measure: Measure, found: Sequence[Estimate]) -> Estimate:
    """The median value, twice the median p, and the medians of the ends of 97.5% intervals."""
    values = [one.value for one in found if one.value is not None]
    if not values:
        return found[0]
    ends = np.array([(one.value, one.low, one.high) for one in found], np.float64)
    low = high = None
    if np.isfinite(ends).all():
        low, high = map(float, np.median(ends[:, :1] + WIDER * (ends[:, 1:] - ends[:, :1]), axis=0))
        low = max(low, 0.0) if measure is DISTANCE else low
    tested = [one.p for one in found if one.p is not None]
    p = min(1.0, 2 * float(np.median(tested))) if tested and len(tested) == len(found) else None
    reason = next((one.reason for one in found if one.reason), "")
    more = {key: float(np.median([one.more[key] for one in found if key in one.more])) for key in dict(found[0].more)}
    return Estimate(float(np.median(values)), low, high, p, more, reason)


def _of(sample: Any) -> tuple[str, str]:
    """The articles of a sample, and those that were not read."""
    articles = Path(sample.articles)
    return str(articles), str(articles.with_suffix(".rejected.parquet"))


def _texts(paths: Sequence[str]) -> tuple[pa.Array, pa.Array]:
    """Ids and texts of some files."""
    batches = [batch for path in paths for batch in documents_of(path, "reading")]
    empty = pa.array([], pa.string())
    ids, texts = zip(*batches, strict=True) if batches else ((), ())
    return pa.concat_arrays([empty, *ids]), pa.concat_arrays([empty, *texts])


def _groups(ids: Sequence[str], paths: Sequence[Any]) -> list[str | None]:
    """The groups of documents by their ids."""
    known: dict[str, str | None] = {}
    for path in paths:
        known |= dict(zip(*article_groups(path).to_pydict().values(), strict=True))
    return [known.get(name) for name in ids]


def _with_unread(found: Found, samples: Sequence[Any]) -> Found:
    """With the documents of samples that could not be read."""
    for sample in samples:
        scores = str(sample.scores)
        if scores in found:
            found[scores] = _with_reasons(found[scores], read_table(_of(sample)[1])["why"].to_pylist())
    return found


def _with_reasons(scored: Scored, whys: Sequence[str]) -> Scored:
    reasons = dict(scored.reasons)
    for why in whys:
        reasons[why] = reasons.get(why, 0) + 1
    return replace(scored, reasons=reasons)
