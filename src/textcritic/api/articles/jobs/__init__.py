"""What makes each file of a study of one's own text: for each form of a path the function that its rule's script calls.

A job of the workflow is a process, and most of what a small one costs is to start it. Here the same function is called
in this process, with the same paths and entries, so that `snakemake` in the same folder makes the same tables to the
byte (tests/e2e/test_one_process.py). `workshop` runs the jobs.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache

from textcritic.api.articles.jobs import corpora, critics, crossing
from textcritic.api.articles.jobs.job import Configured, Job

WILDCARDS = {
    "tail": r"data/(?:train|test)|samples/[^/]+/[^/]+/seed\d+/[^/]+/draw\d+",
    "split": "train|validation|test",
    "which": "gold|inferred",
    "draw": r"draw\d+",
    "suffix": r"rejected\.parquet|parquet|json",
}


def job_for(path: str, configured: Configured) -> Job | None:
    """What makes a file; None of one that comes from the user."""
    for template, job in JOBS.items():
        if found := _pattern(template).fullmatch(path):
            return job(configured, **found.groupdict())
    return None


@cache
def _pattern(template: str) -> re.Pattern[str]:
    """The paths of a template: `{corpus}` is a name, and some wildcards are more than that."""
    parts = re.split(r"\{(\w+)\}", template)
    named = [
        f"(?P<{part}>{WILDCARDS.get(part, '[^/]+')})" if place % 2 else re.escape(part)
        for place, part in enumerate(parts)
    ]
    return re.compile("".join(named))


JOBS: Mapping[str, Callable[..., Job]] = {
    "results/corpora/{corpus}/extracted.{suffix}": corpora.extracted,
    "results/corpora/{corpus}/{split}.parquet": corpora.splits,
    "results/corpora/{corpus}/statistics.json": corpora.splits,
    "results/crossfit/{corpus}/train.parquet": crossing.whole_corpus,
    "results/crossfit/{corpus}/every.parquet": crossing.every_split,
    "results/corpora/{corpus}/overlap.json": corpora.overlap,
    "results/samples/{corpus}/{setting}/{generator}/{seed}/{decoding}/{draw}.{suffix}": corpora.sample,
    "results/latents/{classifier}/{corpus}/{tail}.parquet": corpora.titles,
    "results/critics/{critic}/{corpus}/critic.json": critics.transitions,
    "results/scores/{critic}/{corpus}/data/test-{which}.parquet": critics.order_of_data,
    "results/scores/metrics/{metric}/{corpus}/{tail}.parquet": critics.measured,
    "results/scores/{critic}/{corpus}/{tail}.parquet": critics.scores_under,
    "results/critics/{critic}/{corpus}/vocabulary.{suffix}": critics.words,
    "results/bags/{critic}/{corpus}/train": critics.words,
    "results/critics/{critic}/{corpus}/{file}": critics.fitted,
    "results/topics/{critic}/{corpus}/{tail}.parquet": critics.topics,
    "results/topics/{critic}/{corpus}/{tail}.starts.parquet": critics.topics,
    "results/mentions/{resolver}/{corpus}/{tail}.parquet": critics.mentions,
    "results/tendencies/{critic}/{corpus}/{tail}.npz": critics.counts,
    "results/tendencies/{critic}/{corpus}/draws": critics.draws,
    "results/tendencies/{critic}/{corpus}/{tail}.json": critics.tendencies,
    "results/tendencies/{critic}/{corpus}/{tail}.curves.parquet": critics.tendencies,
}
"""What makes the files of a path, for each form of it; the first form that fits decides."""
