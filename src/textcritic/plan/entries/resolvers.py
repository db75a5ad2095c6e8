"""Entries of the registries `resolvers` and `annotations`: who is who in a text."""

from typing import Literal

from textcritic.plan.entries.base import Entry, key, optional
from textcritic.plan.entries.parts import LANGUAGE, OPENING, DownloadPath, GpuJob, HubName, Job, Precision


class Opening(Entry):
    """Which articles are resolved, by how their first section opens."""

    matches: str = key(
        "a regular expression that it must match from its beginning, a dot standing for line breaks too",
        min_length=1,
    )
    of: Literal["section", "sentence"] = key(
        "`section`, the whole text of the first section; `sentence`, its first sentence", "section"
    )
    word: str | None = key("a word that must be in it, exactly so", None)
    without: str | None = key("a word that must not be in it", None)


class Rules(Job):
    """A resolver by rules."""

    label: str | None = optional(
        "what tables and figures call it; by default its name, hyphens as blanks", min_length=1
    )
    language: str = key(LANGUAGE, "en", min_length=1)
    opening: Opening | None = key(OPENING, None)
    threads: int = key("processes of its jobs", 1, ge=1)
    mem_mb: int = key("memory of its jobs", 2000, ge=500)


class Persons(Rules, title="people by their names, titles and pronouns; no download (kind persons)"):
    """People by their names, titles and pronouns."""

    kind: Literal["persons"] = key(
        "people only: names, titles of address, nouns, pronouns of all persons (I is who speaks), plurals;"
        " rules, no model, the same result everywhere",
    )


class Nearest(Rules, title="a baseline that links each pronoun to the nearest name before it (kind nearest)"):
    """A baseline: each pronoun goes to the nearest name before it."""

    kind: Literal["nearest"] = key(
        "the mentions of `persons`; a pronoun is linked to the nearest name before it, whatever it is"
    )


class Neural(GpuJob, title="a neural resolver of English (kind neural)"):
    """A neural resolver of English."""

    kind: Literal["neural"] = key("a pretrained neural coreference model")
    label: str | None = optional(
        "what tables and figures call it; by default its name, hyphens as blanks", min_length=1
    )
    architecture: Literal["f-coref", "lingmess"] = key("`f-coref`, the fast model; `lingmess`, the accurate one")
    model: HubName = key("an entry of the hub registry")
    opening: Opening | None = key(OPENING, None)
    batch_tokens: int = key("word pieces of a batch; no effect on the result but for rounding", 16384, ge=1)
    precision: Precision = key("of the encoder; auto: bf16 on a GPU, fp32 on a CPU", "fp32")
    mem_mb: int = key("memory of its jobs", 8000, ge=500)
    runtime: str = key("time limit of its jobs", "24h")

    @property
    def language(self) -> str:
        """Both models read English."""
        return "en"


class GivenMentions(Rules, title="mentions from files that another tool, or people, wrote (kind given)"):
    """Mentions from files."""

    kind: Literal["given"] = key(
        "mentions from files: CoNLL-2012 columns (.conll), CoNLL-U with `Entity=` (.conllu) or JSON lines (.jsonl)",
    )
    files: list[DownloadPath] = key(
        "the files, relative to the working directory, gold or predicted. CoNLL: the document's name is"
        ' the id of the article. JSON lines: `{"id": ..., "mentions": [{"start": 0, "end": 4, "entity":'
        " ...}]}`, characters, counted as Python does, of the sections' texts with a blank line between"
        " them. These are the texts in the Parquet file of the corpus or sample: there, empty lines and"
        " white space at the ends are gone. `head` (a pair of characters), `sentence` and `person` may be"
        " there",
        min_length=1,
    )
    threads: int = key("CPU threads of its jobs", 1, ge=1)


class Annotations(Entry):
    """Text in which people have marked coreference."""

    files: list[DownloadPath] = key(
        "its files in CoNLL-2012 or CoNLL-U columns (or .tar.gz archives with such files, named .conll or"
        " .conllu), relative to the working directory, e.g. results/raw/downloads/{download}",
        min_length=1,
    )
    folder: str | None = key("of archives: only files whose path has this folder in it", None)
    language: str = key("what tells people from things in it, see the resolvers", "en")
    singletons: bool = key(
        "whether entities of one mention are marked in it; where they are not, those of a resolver do not count",
        True,
    )
    documents: Literal["all", "even", "odd"] = key(
        "which of its documents, sorted by name and counted from 0, are measured on: all, or those at even"
        " or odd places, where the others served to develop a resolver",
        "all",
    )
