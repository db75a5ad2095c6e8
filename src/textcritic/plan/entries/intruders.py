"""Options of corpora with intruder sentences."""

from typing import Literal

from textcritic.plan.entries.base import Entry, Number, key
from textcritic.plan.entries.parts import CorpusName, CriticName, DownloadPath


class SentencesOfDocument(Entry):
    """How many sentences a document has."""

    least: int = key("fewest sentences", 3, ge=2)
    most: int = key("most sentences", 8, ge=2)
    random: bool = key(
        "false: a text is a document if it has `least` to `most` sentences (the paper's Wikipedia); true:"
        " its first n sentences are, n drawn from `least` to `most` for each document (the paper's CNN)",
        False,
    )
    by: Literal["rules", "punkt"] = key(
        "what cuts sentences: `rules`, which need no data and are English; `punkt`, NLTK's, whose data"
        " `punkt_tab` must be installed, and which the paper's files agree with",
        "rules",
    )


class DocumentCounts(Entry):
    """The most documents of each split."""

    train: int = key("documents of the train split", ge=2)
    validation: int = key("documents of the validation split", ge=2)
    test: int = key("documents of the test split", ge=2)


class Candidates(Entry):
    """The documents that intruders come from."""

    from_: Literal["retrieved", "random"] = key(
        "`retrieved`: those that are most like the document, as DrQA ranks them; `random`: any",
        "retrieved",
        alias="from",
    )
    top: int = key("how many of them each give a candidate", 10, ge=1)
    rank: int | None = key(
        "retrieved: only the document at this rank, the most alike is 1; null for all to `top`", None, ge=1
    )


class Filter(Entry):
    """A detector that looks at every candidate."""

    detector: CriticName = key("a critic of kind `detector`")
    corpus: CorpusName = key("the corpus with intruders that it was trained on, which is made without a filter")
    seed: int = key("of its training", 1, ge=0)


class Later(Entry):
    """A later state of the base corpus."""

    corpus: CorpusName = key("the base corpus, made from a later dump")
    similarity: Number = key("a document goes whose cosine is this or more", 0.72, gt=0, le=1)


class IntruderOptions(Entry):
    """How documents are cut out of articles, and where intruders come from."""

    document: Literal["opening", "section", "article", "passages"] = key(
        "what a document is cut out of: `opening`, the first section of an article; `section`, each"
        " section; `article`, all sections together; `passages`, each section, cut into one document after"
        " the other",
        "opening",
    )
    sentences: SentencesOfDocument = key(
        "how many sentences a document has; other texts are left out and counted", SentencesOfDocument
    )
    documents: DocumentCounts | None = key(
        "the most documents of each split, of more a random part; null for all", None
    )
    attacked: Number = key("share of the documents that get an intruder, if there is one for them", 0.5, gt=0, le=1)
    candidates: Candidates = key("the documents, of the same split, that intruders come from", Candidates)
    similarity: Number | None = key(
        "a candidate goes whose TF-IDF cosine with the sentence that it would replace is this or more;"
        " null for no limit",
        0.6,
        gt=0,
        le=1,
    )
    filter: Filter | None = key(
        "a detector that looks at every candidate; the intruder is drawn from those that it misses, if"
        " there are any, else from all. Null for none",
        None,
    )
    later: Later | None = key(
        "a later state of the base corpus. Only those test documents stay whose text has changed so much"
        " that nobody can look up which sentence is new: their TF-IDF cosine with the later text of the"
        " article with the same id, or else title, is less than `similarity`. Null for none",
        None,
    )
    official: DownloadPath | None = key(
        "in place of `corpus`, a file of the published data (official_wikipedia.jsonl,"
        " official_cnn.jsonl), for those who have it; its count is checked",
        None,
    )
    seed: int = key("of all that is drawn", 1, ge=0)


class ProbeOptions(Entry):
    """The linguistic edits of test documents."""

    documents: int | None = key(
        "the most incoherent documents, and the most coherent ones, that each edit is made in; a larger"
        " number adds documents and changes none. Null for all",
        None,
        ge=1,
    )
