"""A study like that of the model criticism paper, made up: its corpora, its generators, and the part of each table."""

from pathlib import Path
from typing import Any

import numpy as np
from report_study import Kind, build_study


def with_tables(root: Path, resamples: int = 200, documents: int = 120) -> dict[str, Any]:
    """A study like the paper's: four corpora, 22 sources, published tables of a part of it each."""
    pair, sizes = ("gpt2-small", "gpt-neo-125m"), ("gpt2-medium", "gpt2-large", "gpt2-xl")
    wiki = encyclopedia()
    built = [
        build_study(root, documents=documents, generators=pair, corpus="pubmed", resamples=resamples),
        build_study(root, documents=documents, generators=pair, corpus="arxiv", resamples=resamples),
        build_study(root, documents=documents, generators=pair + sizes, corpus="wiki", resamples=resamples, kind=wiki),
        build_study(root, documents=documents, generators=pair, corpus="wiki-short", resamples=resamples, kind=wiki),
    ]
    return {
        **built[0],
        "corpora": [corpus for study in built for corpus in study["corpora"]],
        "sources": [source for study in built for source in study["sources"]],
        "tables": [
            {"name": "table2", "kind": "coherence", "caption": "Two models on three corpora"},
            {"name": "table3", "kind": "coherence", "caption": "Short sections"},
            {"name": "table11", "kind": "statistics", "caption": "Statistics of the corpora"},
        ],
    }


def part_of(
    study: dict[str, Any], name: str, corpora: tuple[str, ...], generators: tuple[str, ...], kind: str = "coherence"
) -> dict[str, Any]:
    """A study cut down to what one of its tables compares, as `study_files.StudyFiles.part` does."""
    return {
        **{key: study[key] for key in ("name", "title", "resamples", "decodings")},
        "part": {"name": name, "kind": kind, "caption": "What it shows"},
        "corpora": [next(c for c in study["corpora"] if c["corpus"] == corpus) for corpus in corpora],
        "sources": [s for g in generators for s in study["sources"] if s["generator"] == g and s["corpus"] in corpora],
    }


def encyclopedia(types: int = 96) -> Kind:
    """Articles of many section types, some with long names: an abstract, then others in a loose order, then the end."""
    parts = (
        "early life",
        "career",
        "personal life and family",
        "discography",
        "critical reception and legacy",
        "geography",
    )
    titles = ("abstract", *(f"{parts[n % 6]} {n:02d}" if n > 5 else parts[n] for n in range(types - 1)))
    real = np.zeros((types + 1, types + 1))
    real[0, 0] = 1
    for row in range(1, types + 1):
        following = np.arange(row, min(row + 12, types))
        real[row, following] = (
            0.7 * 0.8 ** np.arange(len(following)) / (0.8 ** np.arange(len(following))).sum() if len(following) else 0
        )
        real[row, types] = 1 - real[row, :types].sum()
    texts = {
        title: f"Of its {title} little is known, and less of it is certain; see what others wrote of it then."
        for title in titles
    }
    return Kind(titles, real, texts)
