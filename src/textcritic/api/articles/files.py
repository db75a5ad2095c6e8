"""The user's files: checked line by line before anything runs, and summarised."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from textcritic.corpora import Titles, given_articles, standard_article
from textcritic.corpora.intruders.sentences import split_sentences
from textcritic.corpora.words import is_unspaced, words_of_most
from textcritic.critics.tendencies.options import ENGLISH
from textcritic.critics.tendencies.words import stop_words_of
from textcritic.errors import TextcriticError
from textcritic.plan.entries.corpora import TitleOptions

ENGLISH_SHARE = 0.2  # English prose has about 0.4, its manuals 0.3; other languages have less than 0.1

BEGINNING = 2000  # characters of a section that are searched for the end of a sentence


@dataclass(frozen=True, slots=True)
class Outline:
    """Counts of a file of articles.

    Attributes:
        path: absolute.
        articles: number of articles.
        titled: articles that have sections, each with a title.
        sections: sections of all articles.
        untitled: sections without a title, or whose title is empty once it is standardised.
        longest: words of the longest article, titles not included.
        words: of all articles, titles not included.
        english: how many of these are on the list of English stop words.
        unspaced: articles that are written without spaces between words.
        ordered: articles with two sentences in the beginning of a section.
        digests: of the text of each article that has one, titles not included, and how many articles have it.
    """

    path: Path
    articles: int
    titled: int
    sections: int
    untitled: int
    longest: int = 0
    words: int = 0
    english: int = 0
    unspaced: int = 0
    ordered: int = 0
    digests: Mapping[bytes, int] = field(default_factory=dict)

    @property
    def usual_words(self) -> str:
        """How words are found if no option says so."""
        return words_of_most(self.unspaced, len(self.digests))

    @property
    def looks_english(self) -> bool:
        """Whether so many of its words are English function words as in no other language."""
        return self.english >= ENGLISH_SHARE * self.words

    def copies_of(self, other: "Outline") -> int:
        """How many articles have the text of an article of another file."""
        return sum(number for digest, number in self.digests.items() if digest in other.digests)


def outlines(paths: Sequence[str | os.PathLike[str]], titles: TitleOptions) -> list[Outline]:
    """Read every file once; only the ids of articles and digests of their texts stay in memory.

    Args:
        paths: JSON lines, Parquet or Arrow, see `corpora.given_articles`; `~` is the user's own folder.
        titles: of the corpus.

    Raises:
        TextcriticError: the first fault of each file that has one, in one line; one file is named twice; or a path has
            a brace in it.
    """
    whole = [Path(path).expanduser().absolute() for path in paths]
    standard = Titles(titles)
    read: list[Outline] = []
    faults: list[str] = []
    for path in whole:
        if any(path.exists() and other.exists() and path.samefile(other) for other in whole[: len(read)]):
            raise TextcriticError(f"{path}: the same file twice; name the reference and each file of samples once")
        if set("{}") & set(str(path)):  # Snakemake would take them for wildcards
            raise TextcriticError(f"{path}: a path with {{ or }} in it cannot be used; rename it or copy the file")
        try:
            read.append(_outline(path, standard))
        except TextcriticError as error:
            faults.append(str(error))
            read.append(Outline(path, 0, 0, 0, 0))
    if faults:
        raise TextcriticError(" | ".join(faults))
    return read


def _outline(path: Path, standard: Titles) -> Outline:
    articles = titled = sections = untitled = longest = words = english = unspaced = ordered = 0
    digests: Counter[bytes] = Counter()
    function_words = stop_words_of(ENGLISH)
    changed = Counter[str]()  # is said where the corpus is made
    for article in (standard_article(one, changed) for one in given_articles(path)):
        bare = sum(not standard.standardise(section.title or "") for section in article.sections)
        articles += 1
        titled += bool(article.sections) and not bare
        sections += len(article.sections)
        untitled += bare
        tokens = [section.text.split() for section in article.sections]
        length = sum(map(len, tokens))
        longest, words = max(longest, length), words + length
        english += sum(token.lower() in function_words for text in tokens for token in text)
        unspaced += is_unspaced("".join(section.text for section in article.sections))
        ordered += any(len(split_sentences(section.text[:BEGINNING])) > 1 for section in article.sections)
        if length:
            digests[blake2b("\n".join(map(" ".join, tokens)).encode(), digest_size=8).digest()] += 1
    return Outline(path, articles, titled, sections, untitled, longest, words, english, unspaced, ordered, digests)
