"""Topics of a study of one's own text over several held-out splits, each with a fit of its own."""

import math
import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from textcritic.api.articles.jobs.job import FOLDER, Configured, Crossing, Found, Prepared, articles_and_unread
from textcritic.corpora import SPLITS, read_articles, write_articles
from textcritic.critics import ctm
from textcritic.experiments.topics.files import Documents, Sample, TopicsFiles
from textcritic.experiments.topics.plan import Topics
from textcritic.experiments.topics.rows import AT_MEAN, DISTANCE, GAP, NLL, read_source
from textcritic.files import write_json
from textcritic.inference import unit_of
from textcritic.inference.crossfit import deal
from textcritic.latents.bags import count_corpus
from textcritic.measures.measure import Estimate, Measure, Resampling, Scored
from textcritic.measures.rows import estimated
from textcritic.plan.entries import Ctm
from textcritic.runlog import taken

FEWEST = 1_000  # resamples of each split
WIDER = 1.1436  # from 95% to 97.5%, by the quantiles of the normal distribution
PARTED = "parted"  # of what was read of a sample: whether each split has a part of it
Judged = tuple[Scored, dict[str, Estimate]]
"""A source as it was read, and its estimates by `Measure.value`."""


def topics(configured: Configured, experiment: Topics, crossing: Crossing) -> Prepared:
    """Several held-out splits, each with a fit of its own: twice the median p (Meinshausen, Meier, Buehlmann 2009)."""
    files = experiment.files()
    (data,) = files.data
    splits = [f"results/corpora/{data.corpus}/{split}.parquet" for split in SPLITS]
    critic = experiment.block.critic
    entry = configured.registries.of_kind("critics", critic, Ctm)
    resampling = Resampling(max(files.resamples // crossing.splits, FEWEST))
    starts = math.ceil(entry.starts / crossing.splits)

    def find() -> Found:
        articles = [article for path in splits for article in read_articles(path)]
        units = unit_of([article.group for article in articles], len(articles))
        order = np.random.default_rng(crossing.how.seed).permutation(int(units.max()) + 1)
        part_of = deal(units, np.ones(len(units), np.bool_), order, crossing.splits)
        each: list[dict[str, Judged]] = []
        for part in np.unique(part_of).tolist():
            folder = Path(f"{FOLDER}/{critic}/{data.corpus}/split{part}")
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            for name, wanted in (("train", part_of != part), ("test", part_of == part)):
                write_articles(folder / f"{name}.parquet", [articles[n] for n in np.flatnonzero(wanted)])
            fitted = _Fitted(folder, entry.changed(starts=starts), configured)
            each.append(fitted.judged(files, resampling, crossing.how.paired))
        return {
            scores: _over_splits([one[scores] for one in each if scores in one])
            for scores in dict.fromkeys(scores for one in each for scores in one)
        }

    return [*splits, *(str(path) for sample in files.samples for path in articles_and_unread(sample))], find


@dataclass(frozen=True, slots=True)
class _Fitted:
    """A topic model that is fitted on train.parquet of a folder."""

    folder: Path
    entry: Ctm
    configured: Configured

    def judged(self, files: TopicsFiles, resampling: Resampling, paired: bool) -> dict[str, Judged]:
        """Its results for the held-out documents, and for each sample compared with them."""
        folder = self.folder
        bags, made = folder / "bags", (folder / "vocabulary.parquet", folder / "vocabulary.json")
        count_corpus(folder / "train.parquet", self.entry.vocabulary, *made, bags)
        model, starts = folder / "critic.npz", folder / "starts.npz"
        fit_files = ctm.FitFiles(bags, model, starts, folder / "training.json", state=folder / "checkpoints")
        version, threads = self.configured.project.stage("topics"), self.configured.cores
        ctm.train_topics(fit_files, self.entry, version=version, threads=threads)
        taken([model])
        real = self._read(files.data[0], "test", folder / "test.parquet", None)
        found = {str(files.data[0].scores): (real, _estimates(real, None, resampling))}
        seen = {article.group for article in read_articles(folder / "train.parquet")} - {None}
        for number, sample in enumerate(files.samples):
            articles, unread = articles_and_unread(sample)
            part = _of_strangers(articles, seen if paired else set(), folder / f"sample{number}.parquet")
            if part is None:
                continue
            scored = self._read(sample, f"sample{number}", part, real, unread)
            scored = replace(scored, more={**scored.more, PARTED: part != articles})
            found[str(sample.scores)] = scored, _estimates(scored, real, resampling)
        return found

    def _read(
        self, source: Documents, name: str, articles: str | Path, real: Scored | None, rejected: str | None = None
    ) -> Scored:
        """Project a set of documents, and read it as the tables do."""
        topics, scores, of_starts = (self.folder / f"{name}.{kind}.parquet" for kind in ("topics", "scores", "starts"))
        projected = ctm.ProjectedFiles(
            articles=articles,
            vocabulary=self.folder / "vocabulary.parquet",
            critic=self.folder / "critic.npz",
            topics=topics,
            scores=scores,
            rejected=rejected,
            starts=self.folder / "starts.npz",
            of_starts=of_starts,
        )
        ctm.project_articles(projected, threads=self.entry.threads)
        read = replace(source, scores=scores, posteriors=topics, of_starts=of_starts)
        if isinstance(read, Sample):
            counts = self.folder / "counts.json"  # how many were drawn does not matter of a part of a sample
            write_json(counts, {})
            read = replace(read, counts=counts)
        return read_source(read, real)


def _of_strangers(articles: str, seen: Collection[str | None], target: Path) -> str | None:
    """The file of a sample's documents without those whose partners a model has seen; None if there is no other."""
    every = list(read_articles(articles)) if seen else []
    drawn = [article for article in every if article.group not in seen]
    if len(drawn) == len(every):
        return articles
    if not drawn:
        return None
    write_articles(target, drawn)
    return str(target)


def _estimates(scored: Scored, real: Scored | None, resampling: Resampling) -> dict[str, Estimate]:
    found = {m.value: estimated(m, scored, real, resampling) for m in (NLL, GAP, AT_MEAN, DISTANCE)}
    return {value: estimate for value, estimate in found.items() if estimate is not None}


def _over_splits(each: Sequence[Judged]) -> Scored:
    """One source over the splits: of real text all documents, each held out once; likewise a sample
    whose documents have partners in real text; of another one all documents, in each split.
    """
    first, estimates = each[0]
    is_real = estimates.get(GAP.value, Estimate()).value is None
    summed = each if is_real or first.more.get(PARTED) else each[:1]
    documents = sum(one.documents or 0 for one, _ in summed)
    groups = [group for one, _ in summed for group in one.groups or [None] * (one.documents or 0)]
    reasons: dict[str, int] = {}
    for one, _ in summed:
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
