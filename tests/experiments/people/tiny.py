"""Files of a small experiment on what people say: those of coherence, MAUVE, and answers that follow the critic.

The answers are made up by a program; their header does not say so, as the kind refuses simulated answers.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from experiments.coherence.tiny import TITLES, build_coherence
from textcritic.annotation.answers import (
    ATTENTION,
    SECTIONS,
    TASK,
    Answer,
    Answers,
    Header,
    RealSource,
    SectionsAnswer,
    text_hash,
    write_answers,
)
from textcritic.corpora import read_articles
from textcritic.critics.mauve import Mauve
from textcritic.experiments.people.files import Beside, PeopleFiles, RealText, Sample
from textcritic.files import read_table
from textcritic.plan.sources import Source

HEADER = Header(campaign="made-up", task=SECTIONS, titles=TITLES, consent={"1": "I agree."})
START = datetime(2026, 11, 23, 9, tzinfo=UTC)
# By annotator: how strict, and whether at random.
PEOPLE = {"careful": 0.0, "strict": -1.0, "lenient": 1.0, "clicker": None}


def tiny(root: Path, *, documents: int = 30, empty: bool = False) -> PeopleFiles:
    """Every file of a complete experiment below `root`.

    Args:
        root: where the files go.
        documents: of each source.
        empty: nobody has answered.
    """
    return build_people(root, documents=documents, asked=not empty)


def build_people(
    root: Path,
    *,
    documents: int = 30,
    asked: bool = True,
    corpus: str = "docstrings",
    generators: tuple[str, ...] = ("gpt2-demo", "ngram-3"),
    people: Sequence[str] = tuple(PEOPLE),
) -> PeopleFiles:
    """Write every file that tables and section read below `root`; each annotator answers on every third article."""
    made = build_coherence(root, documents=documents, corpus=corpus, generators=generators, resamples=50)
    base = made.data[0]
    real = RealText(
        corpus=corpus,
        critic=base.critic,
        scores=base.inferred,
        articles=base.articles,
        latents=base.latents,
        mauve=root / corpus / "second.json",
        beside=(Beside(critic="other", scores=base.inferred),),
    )
    mauve(0.95).save(real.mauve)
    samples = []
    for number, one in enumerate(made.samples):
        fields = {key: getattr(one, key) for key in Sample.__dataclass_fields__ if hasattr(one, key)}
        path = one.scores.with_name("mauve.json")
        mauve(0.9 - 0.1 * number).save(path)
        samples.append(Sample(**fields | {"mauve": path, "beside": (Beside(critic="other", scores=one.scores),)}))
    paths = (root / "answers.jsonl",) if asked else ()
    files = PeopleFiles(
        data=(real,), samples=tuple(samples), decodings=made.decodings, resamples=50, annotations=paths,
        embedder="gpt2-large",
    )  # fmt: skip
    if asked:
        rows = [row for n, name in enumerate(people) for row in answers_of(files, name, n)]
        write_answers(paths[0], Answers(HEADER, tuple(rows)))
    return files


def mauve(value: float, **changes: Any) -> Mauve:
    """MAUVE of 100 documents in 10 buckets; histograms are not read."""
    said = {"value": value, "by_seed": [value - 0.01, value + 0.01], "smoothed": [value, value], "low": value - 0.04}
    said |= {"high": min(1.0, value + 0.04), "p": 0.2, "documents": 100, "buckets": 10, "first": [], "second": []}
    return Mauve(**said | changes)


def answers_of(files: PeopleFiles, name: str, number: int) -> list[Answer]:
    """The answers of one annotator: types as the classifier has them but for one in ten; verdicts by the critic."""
    rng, rows = np.random.default_rng([3, number]), []
    items = [
        (source, article, latents)
        for source in (*files.data, *files.samples)
        for place, (article, latents) in enumerate(
            zip(read_articles(source.articles), read_table(source.latents).to_pylist(), strict=True)
        )
        if (place + number) % 3 == 0 or place % 5 == 0
    ]
    nll = {id(source): by_id(source.scores) for source in (*files.data, *files.samples)}
    for order, place in enumerate(rng.permutation(len(items)), start=1):
        source, article, latents = items[place]
        strict = PEOPLE[name]
        if strict is None:
            titles = rng.choice(TITLES, len(article.sections)).tolist()
            coherent = bool(rng.random() < 0.5)
        else:
            titles = [str(rng.choice(TITLES)) if rng.random() < 0.1 else title for title in latents["inferred"]]
            score = nll[id(source)][article.id] / max(len(titles), 1)
            coherent = bool(rng.random() < 1 / (1 + np.exp(3 * (score - 1.2) - strict)))
        said = SectionsAnswer(tuple(titles), coherent)
        rows.append(answer(source, article, name, order, said))
    wrong = PEOPLE[name] is None
    right = SectionsAnswer((TITLES[0],), False)
    check = replace(
        rows[0], item="attention", document="attention", order=len(rows) + 1, phase=ATTENTION, right=right,
        sha256=text_hash(["read me"]), answer=replace(right, coherent=True) if wrong else right,
    )  # fmt: skip
    return [*rows, check]


def answer(source: RealText | Sample, article: Any, name: str, order: int, said: SectionsAnswer) -> Answer:
    """An answer of the study; a minute and ten seconds a section."""
    begun = START + timedelta(minutes=20 * order)
    return Answer(
        annotator=name,
        item=f"{source.slug if isinstance(source, Sample) else 'data'}-{article.id}",
        document=article.id,
        source=source_of(source),
        sha256=text_hash([section.text for section in article.sections]),
        order=order,
        phase=TASK,
        pilot=False,
        started=begun,
        answered=begun + timedelta(seconds=60 + 10 * len(article.sections)),
        answer=said,
        consent_version="1",
    )


def source_of(source: RealText | Sample) -> Source | RealSource:
    """As an export names it."""
    if isinstance(source, RealText):
        return RealSource(source.corpus)
    return Source(source.corpus, source.setting, source.generator, source.decoding, source.seed, source.draw)


def by_id(path: Path) -> dict[str, float]:
    """Latent NLL by document."""
    return {row["id"]: row["nll"] for row in read_table(path).to_pylist()}
