"""Corpora derived from other corpora: the same articles and splits, but for those that a filter leaves out.

Two of the model criticism paper's corpora are of this kind: Wiki-Short, the articles of Wiki whose sections have at
most 500 tokens (section 4, Table 3), and the articles about films (section 5, appendix G), whose first section matches
`.*is a.*film.*`. The released code does something else for films: of the first section it takes the first sentence as
spaCy finds it, and wants the token `film` in it and the token `born` not; that switch belongs to the study of
coreference, where the sentences are.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from textcritic.corpora.articles import Article, iter_articles
from textcritic.errors import TextcriticError
from textcritic.spec import complete

DERIVED = "derived"
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


def check_derived(name: str, corpora: Mapping[str, Mapping[str, Any]], synthetic: str) -> None:
    """Check the options that belong to derived corpora: that this entry has them, or has none of them.

    Args:
        name: the entry.
        corpora: the whole registry, with defaults.
        synthetic: the extractor whose corpora have no sections.

    Raises:
        TextcriticError: no base, or one that is not there, that is synthetic, or that derives from this very entry; an
            opening that is no regular expression; a key that has no effect here.
    """
    entry = corpora[name]
    options = entry["options"]
    if entry["extractor"] != DERIVED:
        if stray := next((key for key in ("corpus", "opening") if options.get(key) is not None), None):
            raise TextcriticError(
                f"options.{stray}: is for the extractor {DERIVED}; this entry's is {entry['extractor']}"
            )
        return
    if "corpus" not in options:
        raise TextcriticError("options.corpus is missing; name the corpus that this one derives from")
    _check_chain(name, corpora, synthetic)
    _check_opening(options["opening"])
    _check_other_keys(entry)


def _check_chain(name: str, corpora: Mapping[str, Mapping[str, Any]], synthetic: str) -> None:
    chain = [name]
    while corpora[chain[-1]]["extractor"] == DERIVED and "corpus" in corpora[chain[-1]]["options"]:
        base = corpora[chain[-1]]["options"]["corpus"]
        if base not in corpora:
            return  # `Project` says so, with names that are close
        if base in chain:
            raise TextcriticError(
                f"options.corpus: {' derives from '.join([*chain, base])}; name a corpus that does not derive from it"
            )
        if corpora[base]["extractor"] == synthetic:
            raise TextcriticError(f"options.corpus: {base} is a process and has no sections; name a corpus of text")
        chain.append(base)


def _check_opening(opening: str | None) -> None:
    try:
        re.compile(opening or "")
    except re.error as error:
        raise TextcriticError(f"options.opening: {opening!r} is not a regular expression ({error})") from error


def _check_other_keys(entry: Mapping[str, Any]) -> None:
    """Keys that a derived corpus does not heed are at their defaults."""
    default = complete({"extractor": DERIVED}, "corpora", DERIVED)
    given = {
        **{f"options.{key}": value != default["options"].get(key) for key, value in entry["options"].items()},
        **{key: entry[key] != default[key] for key in ("splits", "titles")},
    }
    for key, differs in given.items():
        if differs and key not in ("options.corpus", "options.opening"):
            raise TextcriticError(
                f"{key}: has no effect on a derived corpus, whose articles come from {entry['options']['corpus']}; "
                "leave it out"
            )
