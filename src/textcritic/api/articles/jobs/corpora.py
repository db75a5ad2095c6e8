"""Jobs that make corpora and samples: real text in its splits, what a model wrote, and given titles."""

from textcritic.api.articles.jobs.job import STAGES, Configured, Job, articles_of
from textcritic.corpora.build import build_corpus, words_of
from textcritic.corpora.extract import extract_corpus
from textcritic.critics.recitation import measure_overlap
from textcritic.generators.collect import SampleFiles, import_samples
from textcritic.latents.titles.posteriors import take_titles


def extracted(configured: Configured, corpus: str, **_: str) -> Job:
    """The articles of a corpus as they come."""
    entry, inputs = configured.registries.entry("corpora", corpus), configured.paths.corpus(corpus)
    made = [f"results/corpora/{corpus}/extracted.{suffix}" for suffix in ("parquet", "json")]
    decided_by = configured.decided("corpora", corpus, "extract", "extractor", "options", "normalise")
    return Job(STAGES["corpora"], inputs, made, decided_by, lambda: extract_corpus(entry, inputs, made[0], made[1]))


def splits(configured: Configured, corpus: str, **_: str) -> Job:
    """Its splits, and what was left out."""
    folder, entry = f"results/corpora/{corpus}", configured.registries.entry("corpora", corpus)
    needs = [f"{folder}/extracted.parquet", f"{folder}/extracted.json"]
    made = [*(f"{folder}/{split}.parquet" for split in ("train", "validation", "test")), f"{folder}/statistics.json"]
    decided_by = configured.decided("corpora", corpus, "build", "splits", "titles", "sections")
    return Job(STAGES["corpora"], needs, made, decided_by, lambda: build_corpus(needs[0], folder, entry, words_of))


def overlap(configured: Configured, corpus: str) -> Job:
    """What validation and test share with train."""
    folder = f"results/corpora/{corpus}"
    train, *others = needs = [f"{folder}/{split}.parquet" for split in ("train", "validation", "test")]
    made = f"{folder}/overlap.json"
    parts = dict(zip(("validation", "test"), others, strict=True))
    return Job(
        STAGES["corpora"], needs, [made], configured.stage("corpora"), lambda: measure_overlap(train, parts, made)
    )


def sample(configured: Configured, corpus: str, setting: str, generator: str, **drawn: str) -> Job:
    """A file of a model's documents, taken in."""
    path = f"results/samples/{corpus}/{setting}/{generator}/{drawn['seed']}/{drawn['decoding']}/{drawn['draw']}"
    made = [f"{path}.parquet", f"{path}.rejected.parquet", f"{path}.json"]
    inputs, entry = configured.paths.samples(generator), configured.registries.entry("corpora", corpus)
    decided_by = configured.decided("corpora", corpus, "sample", "titles", "normalise")
    files = SampleFiles(*made)
    return Job("samples", inputs, made, decided_by, lambda: import_samples(inputs[0], setting, entry, files))


def titles(configured: Configured, classifier: str, corpus: str, tail: str) -> Job:
    """The titles that a set of documents comes with."""
    articles, _ = articles_of(corpus, tail)
    made = f"results/latents/{classifier}/{corpus}/{tail}.parquet"
    return Job(
        STAGES["coherence"], [articles], [made], configured.stage("classify"), lambda: take_titles(articles, made)
    )
