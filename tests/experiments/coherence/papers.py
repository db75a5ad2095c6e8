"""An experiment like that of the model criticism paper, made up: its corpora, its generators, its numbered parts."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from experiments.coherence.tiny import Kind, build_coherence
from textcritic.experiments.coherence.files import CoherenceFiles
from textcritic.plan.experiment import Part


def of_paper(root: Path, resamples: int = 200, documents: int = 120) -> CoherenceFiles:
    """Like the paper's: four corpora, 22 sources."""
    pair, sizes = ("gpt2-small", "gpt-neo-125m"), ("gpt2-medium", "gpt2-large", "gpt2-xl")
    wiki = encyclopedia()
    shared = {"documents": documents, "resamples": resamples}
    built = [
        build_coherence(root, generators=pair, corpus="pubmed", **shared),
        build_coherence(root, generators=pair, corpus="arxiv", **shared),
        build_coherence(root, generators=pair + sizes, corpus="wiki", kind=wiki, **shared),
        build_coherence(root, generators=pair, corpus="wiki-short", kind=wiki, **shared),
    ]
    return replace(
        built[0],
        data=tuple(real for files in built for real in files.data),
        samples=tuple(sample for files in built for sample in files.samples),
    )


def cut_down(files: CoherenceFiles, corpora: tuple[str, ...], generators: tuple[str, ...]) -> CoherenceFiles:
    """Files cut down to what a numbered table compares, as `Coherence.files` does."""
    return replace(
        files,
        data=tuple(next(real for real in files.data if real.corpus == corpus) for corpus in corpora),
        samples=tuple(s for g in generators for s in files.samples if s.generator == g and s.corpus in corpora),
    )


def part(name: str, of: str = "coherence") -> Part:
    """A numbered table or figure."""
    return Part(name, of, "What it shows")


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
