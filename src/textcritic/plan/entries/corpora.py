"""Entries of the registry `corpora`."""

from typing import Literal

from textcritic.plan.entries.base import Entry, Number, key, optional
from textcritic.plan.entries.extraction import CorpusOptions
from textcritic.plan.entries.intruders import ProbeOptions
from textcritic.plan.entries.parts import HubName


class Splits(Entry):
    """How articles are divided into train, validation and test."""

    validation: Number = key(
        "share of articles, less than 1; wikipedia-lines: or, from 1 on, the number of lines. 0 makes an empty"
        " split, for corpora on which no model is trained",
        0.1,
        ge=0,
    )
    test: Number = key("share of articles, less than 1; wikipedia-lines: or, from 1 on, the number of lines", 0.1, gt=0)
    train: int | None = optional(
        "wikipedia-lines: the most lines of train, of all that validation and test leave; without it all of them",
        ge=1,
    )
    seed: int = key("seed of the permutation", 1, ge=0)


class TitleOptions(Entry):
    """How section titles are standardised."""

    lemmatise: bool = key("lemmatise each word with NLTK's WordNet (which must be installed, and is English)", False)
    spelling: dict[str, str] = key("words and the spelling that replaces them, after lemmatisation", {})
    drop: list[str] = key(
        "standardised titles whose sections are removed; the default is for English, another language needs its own",
        ["see also", "external link", "reference", "further reading", "note", "source"],
    )


class SectionOptions(Entry):
    """Which articles are kept."""

    minimum: int = key("fewest sections of an article", 3, ge=1)
    minimum_tokens: int = key("fewest tokens of a section; 0 keeps sections without text", 30, ge=0)
    maximum_tokens: int = key("most tokens of a section", 2000, ge=1)
    out_of_range: Literal["drop-article", "drop-section", "drop-empty"] = key(
        "what goes when a section is too short or too long: the article, as the paper says; that section;"
        " or (`drop-empty`) the section if it has no text at all, as one that holds a box or a list of"
        " references only, and else the article. A corpus counts the sections that went",
        "drop-article",
    )
    minimum_title_count: int = key(
        "articles with a title that fewer sections of the train split have are removed", 1, ge=1
    )
    rare_title: Literal["drop-article", "drop-section"] = key(
        "what goes when a title is too rare; the paper removes the article, which leaves little of a small corpus",
        "drop-article",
    )
    length_unit: HubName = key(
        "what a token is here: `words` (split at white space, which counts little in Chinese, Japanese or"
        " Thai) or the name of a hub entry, whose tokenizer counts",
        "words",
        besides=["words"],
    )


class Corpus(Entry):
    """One corpus, from where its text comes to how it is filtered and split."""

    bring: str | None = optional(
        "how to get its files, where they are not downloaded, for the line that says that they are missing",
        min_length=1,
    )
    label: str | None = optional(
        "what tables and figures call it; by default its name, hyphens as blanks", min_length=1
    )
    extractor: Literal[
        "docstrings",
        "bible",
        "jsonl",
        "conll",
        "scientific",
        "wikipedia",
        "wikipedia-lines",
        "hub-dataset",
        "derived",
        "process",
        "parallel",
        "catalogues",
        "languages",
        "trees",
        "mentions",
        "links",
        "intruders",
        "stories",
    ] = key(
        "where articles come from: `docstrings` (the numpydoc docstrings of installed packages), `bible`"
        " (chapters of an English Bible in the public domain, from a Python package), `jsonl` (your own"
        " articles, in JSONL, Parquet or Arrow, with the keys or columns `sections`, `id`, `title`,"
        " `source` and `group`), `conll` (text with coreference in CoNLL-2012 columns, or in CoNLL-U with"
        " `Entity=`, as GUM and CorefUD; a section a document, whose mentions a resolver of kind `given`"
        " reads), `scientific` (the PubMed and arXiv files of Cohan et al. 2018), `wikipedia` (a dump of a"
        " Wikipedia), `wikipedia-lines` (the same, a document for each line: titles of pages and"
        " paragraphs, tokenised as Moses does it, lower-cased and without accents, in random order;"
        " `titles` and `sections` have no effect on them), `hub-dataset` (a data set of the Hugging Face"
        " hub), `stories` (news stories, a file each, as CNN's of Hermann et al. 2015), `process`"
        " (sequences of a synthetic process, drawn from a seed; `splits`, `titles` and `sections` have no"
        " effect on them), `parallel` (files of sentences with their translations), `catalogues` (the"
        " message catalogues of installed packages, whose English strings are the sentences), `languages`"
        " (artificial languages, drawn from a seed; `titles` and `sections` have no effect on these three,"
        " whose articles are translations of a sentence, and `splits` goes by sentence), `trees`"
        " (sentences with binary trees, from Penn brackets), `mentions` (texts with mentions of entities,"
        " from CoNLL-2012 or CoNLL-U columns), `links` (texts with links into a knowledge graph, from the"
        " JSON lines of Linked WikiText-2; with each of these three, texts are tokens with a structure"
        " behind them, for latent language models; `titles` and `sections` have no effect on them),"
        " `intruders` (documents of a few sentences, cut out of another corpus, some with a sentence of"
        " another document; `splits`, `titles` and `sections` have no effect on them), `derived` (the"
        " articles and splits of another corpus, but for those that `opening` or `sections` leaves out;"
        " titles stay as they are there)",
    )
    normalise: Literal["none", "unicode"] = key(
        "docstrings, bible, jsonl, scientific, stories: what is done to the characters of titles and"
        " texts, of the corpus and of samples that come from files: `none`, nothing; `unicode`, letters"
        " with accents get one form (NFC) and invisible characters go, such as soft hyphens. What was"
        " changed is counted in extracted.json and in the table left-out. Own texts of `textcritic"
        " criticise` have `unicode`",
        "none",
    )
    options: CorpusOptions = key("what the extractor needs", CorpusOptions)
    splits: Splits = key(
        "seeded random splits, for corpora that do not bring their own. Intervals and tests treat articles as"
        " independent. Articles that belong together, such as the chapters of a book or the pages of a site,"
        " have a `group`, the book or the site. A group stays in one split, so that the shares are as near to"
        " the given ones as whole groups allow, and intervals and tests treat it as one unit. Extractors set the"
        " group if it is known: docstrings the module, bible the book, conll the document that a part belongs"
        " to, parallel, catalogues and languages the English sentence",
        Splits,
    )
    titles: TitleOptions = key(
        "how section titles are standardised (appendix E of the model-criticism paper)", TitleOptions
    )
    sections: SectionOptions = key("which articles are kept", SectionOptions)
    probes: ProbeOptions = key("intruders: the linguistic edits of test documents, probes.parquet", ProbeOptions)
    threads: int = key(
        "processes that extract a shard of a dump, and CPU cores of the job that builds the corpus", 1, ge=1
    )
    mem_mb: int = key("memory of the jobs that extract and build the corpus", 16000, ge=500)
    runtime: str = key("time limit of the jobs that extract and build the corpus", "12h")
