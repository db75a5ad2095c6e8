"""Options of parallel corpora."""

from typing import Annotated, Literal

from textcritic.plan.entries.base import Entry, Number, Unique, key, limits, optional, pattern
from textcritic.plan.entries.parts import DownloadPath


class PairFiles(Entry):
    """Two files that are aligned by line."""

    source: DownloadPath = key("file of the English sentences")
    target: DownloadPath = key("file of the translations")


class ParallelOptions(Entry):
    """The files of a parallel corpus and how they are read."""

    source: DownloadPath | None = optional(
        "file of the English sentences, one a line; with `format: tsv` the file of all languages. Files"
        " may be gzipped (.gz), and relative to the working directory, e.g."
        " results/raw/unpacked/{download}/{member}",
    )
    targets: dict[str, DownloadPath] | None = optional(
        "by language (e.g. de): the file of the translations, a line for each line of `source`; an empty"
        " line means that this translation is missing",
        min_length=1,
    )
    pairs: dict[str, PairFiles] | None = optional(
        "in place of `source` and `targets`: by language, two files that are aligned by line. The pairs"
        " are joined: a sentence is kept if all of them have the very same English line, each at its first"
        " occurrence",
        min_length=1,
    )
    documents: (
        Annotated[None, limits(title="none")]
        | Annotated[DownloadPath, limits(title="one file for all sides")]
        | Annotated[dict[str, DownloadPath], limits(title="a file for each side", min_length=2)]
    ) = key(
        "by language, `source` for the English side: a file with the document's id for each line of the"
        " side. Sides may then differ in length: a document whose sentences are not as many on every side"
        " is left out and counted. Or one path, where all sides have the same documents. Null for none",
        None,
    )
    format: Literal["lines", "tsv"] = key(
        "`lines`: a file for each side; `tsv`: one file, `source`, with a column for each side", "lines"
    )
    columns: dict[str, Annotated[int, limits(ge=1)]] | None = key(
        "tsv: by language, `source` for the English side (and `document`, if there is one), the number of"
        " its column from 1; null means that the first line names the columns, so that a column is called"
        " `source` (or `en`) and the others by their language",
        None,
        min_length=2,
    )
    normalise: bool = key("whether punctuation is normalised as Moses does it, before tokens are made", False)
    tokenise: bool = key(
        "whether sentences are tokenised as Moses does it (sacremoses, by language, nothing escaped);"
        " false: tokens are what white space separates",
        True,
    )
    lowercase: bool = key("whether all is put into lower case", False)
    most_tokens: int | None = key(
        "a translation is left out, and counted, if it or its sentence has more tokens; null for no limit",
        None,
        ge=1,
    )


class CatalogueOptions(Entry):
    """Whose messages, in which languages."""

    packages: Annotated[list[str], Unique] = key(
        "installed packages, by the names that pip knows", ["django"], min_length=1
    )
    languages: Annotated[list[str], Unique] = key(
        "a message is kept if it has a translation in all of them", ["de", "es", "fr"], min_length=1
    )
    least_tokens: int = key("fewest tokens of a message and of each translation", 3, ge=1)
    most_tokens: int = key("most tokens of a message and of each translation", 60, ge=1)


class LanguageOptions(Entry):
    """How large artificial languages are and how they are drawn."""

    sentences: int = key("sentences, each translated into all languages", 10000, ge=10)
    vocabulary: int = key("words of each language", 500, ge=10)
    targets: Annotated[list[Annotated[str, pattern("^[a-z]{2,3}$")]], Unique] = key(
        "what the languages are called; they have nothing to do with real ones", ["de", "es", "fr"], min_length=2
    )
    shared: Number = key("share of the words that are spelt alike in all languages", 0.1, ge=0, le=1)
    shortest: int = key("fewest words of a sentence", 4, ge=1)
    longest: int = key("most words of a sentence", 12, ge=1)
    mixing: Number = key(
        "probability that a word of a translation is replaced by the word of another language", 0, ge=0, le=1
    )
    seed: int = key("seed of the languages and of the sentences", 1, ge=0)
