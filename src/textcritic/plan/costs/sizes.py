"""How many documents a corpus has, and how long they are: counted where it is built, else as declared, else a guess."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textcritic.plan.registries import Registries
from textcritic.plan.stage_costs import TOKENS, USUAL_TOKENS


@dataclass(frozen=True, slots=True)
class Size:
    """Documents of each split and tokens of a document in the mean; `source` says from where."""

    train: float
    validation: float
    test: float
    tokens: float
    source: str = "declared"

    @property
    def documents(self) -> float:
        """Of all splits."""
        return self.train + self.validation + self.test


# Of the papers: Table 11 of model-criticism, section 5 of beyond-perplexity, the shared tasks of latent-lms; films by
# guess. Of the demos: what they are made of. Documents of each split, tokens of a document.
DECLARED: Mapping[str, Size] = {
    "pubmed": Size(32350, 1800, 1840, TOKENS["pubmed"]),
    "arxiv": Size(4910, 170, 150, TOKENS["arxiv"]),
    "wiki": Size(111400, 13970, 13980, TOKENS["wiki"]),
    "wiki-short": Size(69300, 8560, 8680, TOKENS["wiki-short"]),
    "films": Size(2000, 250, 250, TOKENS["wiki"]),
    "wiki-lines": Size(44_700_000, 10_000, 1_000_000, TOKENS["wiki-lines"]),
    "europarl": Size(3_600_000, 450_000, 450_000, 35),
    "ptb-trees": Size(39832, 1700, 2416, 24),
    "conll-mentions": Size(2802, 343, 348, 460),
    "linked-wikitext": Size(600, 60, 60, 3500),
    "litbank-mentions": Size(70, 10, 20, 2100),
    "cnn-stories": Size(65000, 9300, 18500, 800),
    "docstrings": Size(3700, 500, 750, 350),
    "bible": Size(540, 100, 420, 1000),
    "bible-intruders-random": Size(4600, 850, 3600, 140),
    "bible-intruders-rank10": Size(4600, 850, 3600, 140),
    "bible-intruders-rank1": Size(4600, 850, 3600, 140),
    "catalogues": Size(25000, 3100, 3100, 20),
}
GUESSED = Size(10_000, 1_000, 1_000, USUAL_TOKENS, "guessed")
MADE_TOKENS = {"trees": 8, "mentions": 28, "links": 30}
INTRUDED_TOKENS = 200  # of an opening of Wikipedia or CNN with an intruder


class Sizes:
    """The sizes of corpora in a working directory.

    Args:
        registries: their entries.
        here: the working directory, where some may be built already.
    """

    def __init__(self, registries: Registries, here: Path) -> None:
        self._registries, self._here = registries, here
        self._known: dict[str, Size] = {}

    def of(self, corpus: str) -> Size:
        """The size of a corpus by its name."""
        if corpus not in self._known:
            self._known[corpus] = self._counted(corpus) or self._declared(corpus)
        return self._known[corpus]

    def _counted(self, corpus: str) -> Size | None:
        path = self._here / f"results/corpora/{corpus}/statistics.json"
        try:
            splits: Any = json.loads(path.read_text(encoding="utf-8"))["splits"]
            train, validation, test = (float(splits[split]["articles"]) for split in ("train", "validation", "test"))
            tokens = splits["test"].get("tokens")
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None  # not there, not whole yet, or of another form
        each = tokens / max(test, 1) if tokens else self._declared(corpus).tokens
        return Size(train, validation, test, each, "counted")

    def _declared(self, corpus: str) -> Size:
        if corpus in DECLARED or corpus not in self._registries.entries["corpora"]:
            return DECLARED.get(corpus, GUESSED)
        entry = self._registries.entry("corpora", corpus)
        options, made, drawn = entry.options, entry.options.made, entry.options.process
        if entry.extractor == "process":
            segment = (drawn.shortest + drawn.longest) / 2
            return Size(drawn.train, drawn.validation, drawn.test, drawn.steps * segment)
        if made:
            return Size(made.train, made.validation, made.test, MADE_TOKENS.get(entry.extractor, 30))
        if entry.extractor == "languages":
            pairs = options.languages.sentences * len(options.languages.targets)
            return Size(0.8 * pairs, 0.1 * pairs, 0.1 * pairs, 2 * options.languages.longest)
        documents = options.intruders.documents
        if entry.extractor == "intruders" and documents:
            return Size(documents.train, documents.validation, documents.test, INTRUDED_TOKENS)
        return self.of(options.corpus) if options.corpus else GUESSED
