"""Writes config/measured/resolvers.csv: how good the resolvers that need no download are, on annotated text.

    python tools/measure_resolvers.py "2 cores of an AMD EPYC" litbank=litbank-conll.tar.gz ontogum=ontogum.tar.gz

Each annotated text is an entry of the annotations registry and a file of one's own to read instead of the entry's.
"""

import sys
from datetime import UTC, datetime
from pathlib import Path

from textcritic import __version__
from textcritic.critics.mentions.measure import annotated_texts
from textcritic.latents.resolvers.measured import About, Figure, figures_of, write_figures
from textcritic.latents.resolvers.quality import measure_resolver, summary_of
from textcritic.latents.resolvers.resolve import resolver_of
from textcritic.plan.entries import Nearest, Persons
from textcritic.plan.registries import Registries

ROOT = Path(__file__).parents[1]
RESOLVERS = (Persons(kind="persons"), Nearest(kind="nearest"))


def main(hardware: str, *texts: str) -> None:
    """Measure each resolver on each text, in that order."""
    figures: list[Figure] = []
    registries = Registries([ROOT / "config/registry"], ROOT)
    for name, path in (text.split("=", 1) for text in texts):
        entry = registries.entry("annotations", name).changed(files=[path], folder=None)
        documents = annotated_texts(entry)
        for resolver in RESOLVERS:
            table = measure_resolver(resolver_of(resolver), documents, entry.singletons, entry.language)
            today = datetime.now(UTC).date().isoformat()
            about = About(resolver=resolver.kind, annotation=name, version=__version__, date=today, hardware=hardware)
            figures += figures_of(summary_of(table), about)
    write_figures(ROOT / "config/measured/resolvers.csv", figures)


if __name__ == "__main__":
    main(*sys.argv[1:])
