"""Corpora derived from other corpora: the same articles and splits, but for those that a filter leaves out.

Two of the model criticism paper's corpora are of this kind: Wiki-Short, the articles of Wiki whose sections have at
most 500 tokens (section 4, Table 3), and the articles about films (section 5, appendix G), whose first section matches
`.*is a.*film.*`. The released code does something else for films: of the first section it takes the first sentence as
spaCy finds it, and wants the token `film` in it and the token `born` not; that switch belongs to the study of
coreference, where the sentences are.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from textcritic.corpora.articles import Article, iter_articles

OPENING = "the opening does not match"


class TitlesAsBuilt:
    """In place of `Titles`: the base's titles are in standard form already, and what it drops is gone."""

    drop: frozenset[str] = frozenset()

    def standardise(self, title: str) -> str:
        """The title as it stands."""
        return title


def read_derived(path: Path, opening: str | None, skipped: Counter[str]) -> Iterator[Article]:
    """Stream the articles of one split of the base.

    Args:
        path: Parquet of articles with at least one section each, as `build_corpus` writes it.
        opening: regular expression that the text of the first section must match from its beginning; a dot stands for
            line breaks too, so that `.*is a.*film.*` looks through the whole section. None lets every article pass.
        skipped: counts the articles that do not match.

    Raises:
        TextcriticError: the file is missing or not whole.
    """
    pattern = re.compile(opening or "", re.DOTALL)
    for article in iter_articles(path):
        if pattern.match(article.sections[0].text):
            yield article
        else:
            skipped[OPENING] += 1
