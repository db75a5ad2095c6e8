"""Articles for the report's viewer: each section with its inferred title, each step with its probability."""

import math
from typing import Any

import pyarrow as pa

from textcritic.corpora import Article, some_articles
from textcritic.critics import is_unlikely
from textcritic.errors import TextcriticError
from textcritic.experiments.coherence.files import DATA_INFERRED, CoherenceFiles, RealText, Sample
from textcritic.experiments.coherence.names import GRAPH_THRESHOLD, names_of
from textcritic.files import read_table
from textcritic.measures.scored import read_scores
from textcritic.plan.sources import data_keys

MAX_CHARACTERS = 4000


def viewer_data(experiment: CoherenceFiles) -> list[dict[str, Any]]:
    """What the viewer shows, ready for JSON: for every source its most incoherent articles and its first ones.

    Returns:
        One dict per source: `label`, `real` (whether real text), `total` (articles scored), `articles`. An article:
        `id`, `title`, `ppl` (its own Latent PPL, None if infinite), `errors` (steps with P < 0.05), `rank` (1 is the
        most incoherent of the source), `place` (in the order of the file), `sections` ({`text`, `cut` (characters left
        out), `title`, `sure`, `given`})
        and `steps`, the probability of each of its K + 1 steps.

    Raises:
        TextcriticError: articles, latents and scores of a source do not belong together.
    """
    sources = []
    names = names_of(experiment)
    for data in experiment.data:
        label = names.source(data_keys(data.corpus, DATA_INFERRED))
        sources.append(_source(label, data, data.inferred, experiment.report_articles) | {"real": True})
        for sample in (s for s in experiment.samples if s.corpus == data.corpus):
            label = names.source(sample.keys)
            sources.append(_source(label, sample, sample.scores, experiment.report_articles) | {"real": False})
    return sources


def _source(label: str, files: RealText | Sample, scores_path: Any, most: int) -> dict[str, Any]:
    scores = read_scores(scores_path)
    kept = [row for row in scores.select(["id", "nll", "steps", "rejected"]).to_pylist() if not row["rejected"]]
    ranked = sorted(kept, key=lambda row: (-row["nll"] / row["steps"], row["id"]))
    rank = {row["id"]: number for number, row in enumerate(ranked, start=1)}
    wanted = {row["id"] for row in ranked[: (most + 1) // 2]}
    wanted |= {row["id"] for row in [row for row in kept if row["id"] not in wanted][: most - len(wanted)]}
    articles = some_articles(files.articles, wanted)
    latents = _rows(read_table(files.latents), wanted)
    steps = _rows(scores, wanted)
    entries = []
    for place, row in enumerate(kept, start=1):
        name = row["id"]
        if name in wanted:
            if name not in articles or name not in latents:
                raise TextcriticError(
                    f"{scores_path}: article {name!r} is not in {files.articles} or {files.latents}; "
                    "they belong to different samples: delete the scores and rerun the rule that makes them"
                )
            entry = _article(articles[name], latents[name], steps[name], str(files.articles))
            entries.append(entry | {"rank": rank[name], "place": place})
    return {"label": label, "total": len(kept), "articles": entries}


def _rows(table: pa.Table, wanted: set[str]) -> dict[str, dict[str, Any]]:
    columns = [c for c in ("id", "inferred", "confidence", "chain", "step_nll") if c in table.column_names]
    return {row["id"]: row for row in table.select(columns).to_pylist() if row["id"] in wanted}


def _article(article: Article, latent: dict[str, Any], score: dict[str, Any], path: str) -> dict[str, Any]:
    if len(article.sections) != len(latent["inferred"]):
        raise TextcriticError(
            f"{path}: article {article.id!r} has another number of sections than its latents; rerun both"
        )
    probabilities = [math.exp(-nll) for nll in score["step_nll"]]
    mean = sum(score["step_nll"]) / max(len(score["step_nll"]), 1)
    return {
        "id": article.id,
        "title": article.title,
        "ppl": round(math.exp(mean), 2) if math.isfinite(mean) else None,
        "errors": sum(is_unlikely(probability, GRAPH_THRESHOLD) for probability in probabilities),
        "sections": [
            {
                "text": section.text[:MAX_CHARACTERS],
                "cut": max(0, len(section.text) - MAX_CHARACTERS),
                "title": title,
                "sure": round(float(confidence), 3),
                "given": section.title,
            }
            for section, title, confidence in zip(
                article.sections, latent["inferred"], latent["confidence"], strict=True
            )
        ],
        # Where the critic skipped steps next to an unknown title, the steps cannot be laid beside the sections.
        "steps": [float(f"{p:.3g}") for p in probabilities] if len(probabilities) == len(article.sections) + 1 else [],
    }
