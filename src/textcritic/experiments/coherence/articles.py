"""Articles to read in the report: their sections, and the probability of each step between them."""

import math
from collections.abc import Sequence
from itertools import pairwise, zip_longest
from pathlib import Path

import pyarrow as pa

from textcritic.corpora import Article, some_articles
from textcritic.corpora.articles import Section as ArticleSection
from textcritic.critics import is_unlikely
from textcritic.errors import TextcriticError
from textcritic.experiments.coherence.examples import hues_of
from textcritic.experiments.coherence.files import DATA_INFERRED, CoherenceFiles, RealText, Sample
from textcritic.experiments.coherence.names import UNLIKELY
from textcritic.experiments.coherence.repetitions import chance
from textcritic.files import read_table
from textcritic.measures.names import Names
from textcritic.measures.numbers import count, number, percent, plural
from textcritic.measures.score import Score
from textcritic.measures.scored import read_scores
from textcritic.plan.sources import data_keys
from textcritic.report.reader import Document, Reading, Shelf
from textcritic.values import Row

MOST_CHARACTERS = 4000  # of a section
LONG, LONG_LINES = 700, 9  # characters, lines; longer sections are clipped until a button shows all
MOST_LISTED = 500  # articles of a source in the table, most of them without their text
NAMED = 2  # unlikely steps that the table of articles names
HEADS = ("Article", "Latent PPL", "Steps", "Unlikely steps")


def reading(experiment: CoherenceFiles, names: Names, card: Sequence[Score]) -> Reading:
    """For each source its most incoherent articles, the worst one first, and the first of the others.

    Raises:
        TextcriticError: articles, latents and scores of a source do not belong together.
    """
    shelves = []
    for data in experiment.data:
        files: list[tuple[Row, RealText | Sample, Path]] = [
            (data_keys(data.corpus, DATA_INFERRED), data, data.inferred)
        ]
        files += [(s.keys, s, s.scores) for s in experiment.samples if s.corpus == data.corpus]
        for keys, source, scores in files:
            total, documents = _documents(source, scores, experiment.report_articles)
            read = sum(document.shown is not None for document in documents)
            note = f"{plural(total, 'article')} scored, {count(read)} to read here." if documents else ""
            shelves.append(Shelf(keys, names.source(keys), documents, note))
    return Reading.of(HEADS, _coloured(shelves), card)


def _documents(files: RealText | Sample, scores_path: Path, most: int) -> tuple[int, list[Document]]:
    """The number of scored articles, and the articles that are listed, some with their text."""
    scores = read_scores(scores_path)
    kept = [row for row in scores.select(["id", "nll", "steps", "rejected"]).to_pylist() if not row["rejected"]]
    ranked = sorted(kept, key=lambda row: (-row["nll"] / row["steps"], row["id"]))
    wanted = {row["id"] for row in ranked[: (most + 1) // 2]}
    wanted |= {row["id"] for row in [row for row in kept if row["id"] not in wanted][: most - len(wanted)]}
    articles = some_articles(files.articles, wanted)
    latents, steps = _rows(read_table(files.latents), wanted), _rows(scores, wanted)
    documents = []
    for rank, row in enumerate(ranked, start=1):
        name = row["id"]
        if name not in wanted:
            if rank <= MOST_LISTED:
                documents.append(Document(name, _numbers(row["nll"], row["steps"])))
            continue
        if name not in articles or name not in latents:
            raise TextcriticError(
                f"{scores_path}: article {name!r} is not in {files.articles} or {files.latents}; "
                "they belong to different samples: delete the scores and rerun the rule that makes them"
            )
        if len(articles[name].sections) != len(latents[name]["inferred"]):
            raise TextcriticError(
                f"{files.articles}: article {name!r} has another number of sections than its latents; rerun both"
            )
        place = f"Number {count(rank)} of {count(len(kept))} from the most incoherent."
        documents.append(_document(articles[name], latents[name], steps[name]["step_nll"], place))
    return len(kept), documents


def _rows(table: pa.Table, wanted: set[str]) -> dict[str, Row]:
    columns = [c for c in ("id", "inferred", "confidence", "step_nll") if c in table.column_names]
    return {row["id"]: row for row in table.select(columns).to_pylist() if row["id"] in wanted}


def _document(article: Article, latent: Row, step_nll: Sequence[float], place: str) -> Document:
    ends = ["begin", *latent["inferred"], "end"]
    steps = [_step(before, after, nll) for (before, after), nll in zip_longest(pairwise(ends), step_nll)]
    wrong = [str(step["from_to"]) for step in steps if step["unlikely"]]
    (ppl, _), _ = numbers = _numbers(sum(step_nll), len(step_nll))
    more = f" and {count(len(wrong) - NAMED)} more" if len(wrong) > NAMED else ""
    reasons = f"{len(wrong)}: {'; '.join(wrong[:NAMED])}{more}" if wrong else "0"
    errors = plural(len(wrong), "unlikely step") if wrong else "no unlikely step"
    sections = [*map(_section, article.sections, latent["inferred"], latent["confidence"]), None]
    shown = {
        "words": f"Latent PPL of this article: {ppl}; {errors}. {place}",
        "parts": [{"step": step, "section": section} for step, section in zip(steps, sections, strict=True)],
    }
    title = article.title or article.id
    return Document(title, (*numbers, reasons), shown, article.id if article.id != title else "")


def _numbers(nll: float, steps: int) -> tuple[tuple[str, float], tuple[str, float]]:
    """The Latent PPL and the number of steps of an article, as in the table of articles."""
    ppl = math.exp(nll / max(steps, 1))
    return (number(ppl), ppl), (count(steps), steps)


def _step(before: str, after: str, nll: float | None) -> dict[str, str | bool]:
    """A step; it has no probability if the critic leaves it out."""
    probability = 1.0 if nll is None else math.exp(-nll)
    words = "" if nll is None else chance(probability)
    return {"from_to": f"{before} → {after}", "chance": words, "unlikely": bool(is_unlikely(probability, UNLIKELY))}


def _section(section: ArticleSection, title: str, confidence: float) -> dict[str, object]:
    text = section.text
    return {
        "title": title,
        "sure": percent(float(confidence)),
        "given": section.title if section.title != title else "",
        "text": text[:MOST_CHARACTERS],
        "cut": count(len(text) - MOST_CHARACTERS) if len(text) > MOST_CHARACTERS else "",
        "long": len(text) > LONG or text.count("\n") >= LONG_LINES,
    }


def _coloured(shelves: Sequence[Shelf]) -> Sequence[Shelf]:
    """The same shelves with a hue for each section; a title has one hue everywhere."""
    documents = [document for shelf in shelves for document in shelf.documents if document.shown]
    sections = [part["section"] for document in documents for part in document.shown["parts"] if part["section"]]
    hues = hues_of({section["title"] for section in sections})
    for section in sections:
        section["hue"] = hues[section["title"]]
    return shelves
