"""Options of corpora of documents with intruder sentences, as the corpora registry asks for them."""

from typing import TYPE_CHECKING

from textcritic.errors import TextcriticError
from textcritic.plan.checks.corpora import is_structured, is_text
from textcritic.plan.entries import Corpus, Detector, kind_of
from textcritic.plan.entries.intruders import Candidates, Filter, IntruderOptions

if TYPE_CHECKING:
    from textcritic.plan.registries import Registries

INTRUDERS = "intruders"
"""Name of the extractor."""

OPENING, SECTION, ARTICLE, PASSAGES = "opening", "section", "article", "passages"
"""What a document is cut out of: the first section, each section, an article, or each section again and again."""

RETRIEVED, RANDOM = "retrieved", "random"
"""Which documents intruders come from: those that are most like the document, or any."""


def has_intruders(corpus: Corpus) -> bool:
    """Whether an entry of the corpora registry is documents of a few sentences, some with an intruder."""
    return corpus.extractor == INTRUDERS


def check_intruders(name: str, registries: "Registries") -> None:
    """Check an entry with the extractor `intruders`; no other entry has its options.

    Raises:
        TextcriticError: options that do not go together, have no effect, or name an entry that does not fit.
    """
    entry, defaults = registries.entry("corpora", name), Corpus(extractor="intruders")
    options = entry.options.intruders
    if not has_intruders(entry):
        if options != defaults.options.intruders:
            raise TextcriticError(f"options.intruders: is for the extractor {INTRUDERS}; this one is {entry.extractor}")
        return
    for key in ("titles", "sections"):
        if getattr(entry, key) != getattr(defaults, key):
            raise TextcriticError(
                f"{key}: has no effect on documents with intruders, which have one section; leave it out"
            )
    if options.official is not None:
        _check_official(entry)
        return
    if entry.options.corpus is None:
        raise TextcriticError("options.corpus is missing; name the corpus that documents are cut out of")
    if entry.splits != defaults.splits:
        raise TextcriticError("splits: has no effect on documents with intruders, whose splits are those of the base")
    _check_base(entry.options.corpus, "options.corpus", registries)
    _check_sentences(options)
    _check_candidates(options.candidates)
    if options.later is not None:
        if options.document not in (OPENING, ARTICLE):
            raise TextcriticError(
                f"options.intruders.later: needs one document for an article; document should be {OPENING} or {ARTICLE}"
            )
        _check_base(options.later.corpus, "options.intruders.later.corpus", registries)
        if options.later.corpus == entry.options.corpus:
            raise TextcriticError("options.intruders.later.corpus: is the corpus itself; name one from a later dump")
    if options.filter is not None:
        _check_filter(name, options.filter, registries)


def check_probes(name: str, registries: "Registries") -> None:
    """Check that an entry of the corpora registry asks for edits only where there are intruders.

    Raises:
        TextcriticError: it has `probes.documents`, but its extractor is not `intruders`.
    """
    entry = registries.entry("corpora", name)
    if not has_intruders(entry) and entry.probes.documents is not None:
        raise TextcriticError(
            f"probes.documents: is for the extractor {INTRUDERS}; this entry's is {entry.extractor}; leave it out"
        )


def _check_official(entry: Corpus) -> None:
    options, defaults = entry.options.intruders.plain(), IntruderOptions().plain()
    if entry.options.corpus is not None:
        raise TextcriticError("options: give corpus or intruders.official, one of the two")
    for key, value in options.items():
        if key not in ("official", "seed") and value != defaults[key]:
            raise TextcriticError(f"options.intruders.{key}: has no effect on official files; leave it out")


def _check_base(name: str, key: str, registries: "Registries") -> None:
    if name not in registries.entries["corpora"]:
        return  # the check of references reports it, with names that are close
    base = registries.entry("corpora", name)
    if not is_text(base) or is_structured(base):
        raise TextcriticError(f"{key}: {name} is not articles of text (extractor {base.extractor}); name one that is")
    if has_intruders(base):
        raise TextcriticError(f"{key}: {name} has intruders itself; name the corpus that it was made from")


def _check_sentences(options: IntruderOptions) -> None:
    sentences = options.sentences
    if sentences.least > sentences.most:
        raise TextcriticError(
            f"options.intruders.sentences: least {sentences.least} is more than most {sentences.most}"
        )
    if options.document == PASSAGES and not sentences.random:
        raise TextcriticError(
            "options.intruders.sentences.random: should be true for passages, whose numbers of sentences are drawn"
        )


def _check_candidates(candidates: Candidates) -> None:
    rank, top = candidates.rank, candidates.top
    if candidates.from_ == RANDOM and rank is not None:
        raise TextcriticError("options.intruders.candidates.rank: random documents have no rank; leave it out")
    if rank is not None and rank > top:
        raise TextcriticError(f"options.intruders.candidates.rank: {rank} is more than top, {top}; raise top")


def _check_filter(name: str, chosen: Filter, registries: "Registries") -> None:
    where = "options.intruders.filter"
    detector = registries.entries["critics"].get(chosen.detector)
    if detector is not None and not isinstance(detector, Detector):
        kind = kind_of(type(detector))
        raise TextcriticError(f"{where}.detector: {chosen.detector} is of kind {kind}; name a detector")
    if chosen.corpus not in registries.entries["corpora"]:
        return
    corpus = registries.entry("corpora", chosen.corpus)
    if not has_intruders(corpus):
        raise TextcriticError(f"{where}.corpus: {chosen.corpus} has no intruders that a detector could be trained on")
    if chosen.corpus == name or corpus.options.intruders.filter is not None:
        raise TextcriticError(
            f"{where}.corpus: {chosen.corpus} is filtered too; name one that is made without a filter"
        )
