"""What a study compares, expanded to single sources, and the faults that would otherwise show only after hours."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from textcritic.errors import TextcriticError

Entry = Callable[[str, str], dict[str, Any]]

# The extractor, and the tokenizer, of the sequences of a known process; all other corpora are text.
PROCESS, SYMBOLS = "process", "symbols"
# The kind of critic behind a study's `topics`, and the kinds of tables and figures that are made of them alone.
CTM, OF_TOPICS = "ctm", ("topics", "outliers", "covariances")
# What a decoding must have where articles are drawn as the model has them, and what only transformers heed.
_PLAIN = {"temperature": 1, "top_k": 0, "top_p": 1}
_PLAIN_TABLES = {**_PLAIN, "stride": None, "precision": "fp32"}


@dataclass(frozen=True, slots=True)
class Source:
    """One set of samples in a study; every field is a registry name or a seed, and so a wildcard of a path."""

    corpus: str
    setting: str
    generator: str
    decoding: str
    seed: int

    def under(self, prefix: str) -> str:
        """The artefact path of this source below `prefix`, without its suffix."""
        return f"{prefix}/{self.setting}/{self.generator}/seed{self.seed}/{self.decoding}"


def sources_of(study: Mapping[str, Any], key: str) -> list[Source]:
    """The sources under a key of a study (`sources`, `audit_sources`, `synthetic` or `topics`), in order, each once.

    Sequences of a process have no titles in their text, so their setting is always `wo-title`.
    """
    blocks = (study[key] or {"sources": []})["sources"] if key in ("synthetic", "topics") else study[key]
    if key == "synthetic":
        blocks = [{**block, "settings": ["wo-title"]} for block in blocks]
    return list(dict.fromkeys(source for block in blocks for source in _expand(block)))


def check_study(study: Mapping[str, Any], entry: Entry, where: str) -> None:
    """Check what a study names, and that it goes together.

    Args:
        study: validated against its schema, with defaults.
        entry: the entry of a registry by its name, as `Project.entry`.
        where: the study's file, for the error line.

    Raises:
        TextcriticError: the first fault found, naming the key and the entry.
    """
    _check_critic(study["critic"], "transitions", entry, f"{where}: critic")
    for key in ("sources", "audit_sources"):
        for source in sources_of(study, key):
            _check_text(source, entry, f"{where}: {key}")
            _check_titles(source, study["critic"], entry, f"{where}: {key}")
    _check_audit(sources_of(study, "sources"), sources_of(study, "audit_sources"), where)
    for key in ("tables", "figures"):
        _check_parts(study, key, f"{where}: {key}")
    for key, kind in (("synthetic", PROCESS), ("topics", CTM)):
        if study[key] is not None:
            _check_critic(study[key]["critic"], kind, entry, f"{where}: {key}.critic")
    for source in sources_of(study, "topics"):
        _check_text(source, entry, f"{where}: topics.sources")
    for source in sources_of(study, "synthetic"):
        _check_sequences(source, entry, f"{where}: synthetic.sources")
    for key in ("sources", "synthetic", "topics"):
        _check_labels(sources_of(study, key), entry, f"{where}: {key}")


def label_of(generator: str, entry: Entry) -> str:
    """What tables and figures call a generator: its label, or its name."""
    label: str = entry("generators", generator).get("label", generator)
    return label


def _expand(block: Mapping[str, Any]) -> Iterator[Source]:
    axes = (block["corpora"], block["generators"], block["settings"], block["decodings"], block["seeds"])
    for corpus, generator, setting, decoding, seed in product(*axes):
        yield Source(corpus, setting, generator, decoding, seed)


def _check_critic(name: str, kind: str, entry: Entry, where: str) -> None:
    found = entry("critics", name)["kind"]
    if found != kind:
        raise TextcriticError(f"{where}: {name} is of kind {found}; name an entry of kind {kind}")


def _check_labels(sources: list[Source], entry: Entry, where: str) -> None:
    """Tables and figures tell generators apart by their labels alone."""
    seen: dict[str, str] = {}
    for generator in dict.fromkeys(source.generator for source in sources):
        label = label_of(generator, entry)
        if label in seen:
            raise TextcriticError(
                f"{where}: the generators {seen[label]} and {generator} have the same label {label!r}; give one another"
            )
        seen[label] = generator


def _check_audit(sources: list[Source], audit: list[Source], where: str) -> None:
    bases = {replace(source, decoding="") for source in sources}
    for source in audit:
        if replace(source, decoding="") not in bases:
            raise TextcriticError(
                f"{where}: audit_sources: {source.generator} {source.setting} on {source.corpus}, seed"
                f" {source.seed}, is not among the sources; it is compared with the same at another decoding"
            )


def _check_parts(study: Mapping[str, Any], key: str, where: str) -> None:
    """Tables and figures of a paper: each name once, and nothing in them that the study does not compare."""
    names = [part["name"] for part in study[key]]
    for part in study[key]:
        name = f"{where}: {part['name']}"
        if names.count(part["name"]) > 1:
            raise TextcriticError(f"{name} stands twice; give each a name of its own")
        if part["kind"] not in OF_TOPICS:
            _check_part(part, sources_of(study, "sources"), name, "the sources")
        elif study["topics"] is None:
            raise TextcriticError(f"{name}: {part['kind']} are of topics, which the study has not; add the key topics")
        else:
            _check_part(part, sources_of(study, "topics"), name, "the sources of topics")


def _check_part(part: Mapping[str, Any], sources: list[Source], name: str, these: str) -> None:
    compared = {(source.corpus, source.generator) for source in sources}
    for corpus in part["corpora"]:
        if corpus not in {name for name, _ in compared}:
            raise TextcriticError(f"{name}: {corpus} is not among the corpora of {these}")
    for corpus, generator in product(part["corpora"], part["generators"]):
        if (corpus, generator) not in compared:
            raise TextcriticError(f"{name}: {generator} on {corpus} is not among {these}")
    if not part["generators"] and part["kind"] != "statistics":
        raise TextcriticError(f"{name}: generators: none; name those that it compares")


def _check_text(source: Source, entry: Entry, where: str) -> None:
    corpus, generator, decoding = _entries(source, entry)
    name = f"{where}: {source.generator}"
    if corpus["extractor"] == PROCESS:
        raise TextcriticError(f"{where}: {source.corpus} is a process; its sources stand under synthetic")
    if generator["kind"] == "hsmm":
        raise TextcriticError(f"{name} is of kind hsmm, which is for the corpora under synthetic")
    if "encoding" in generator and _symbols(generator, entry):
        raise TextcriticError(
            f"{name} has the encoding {generator['encoding']}, which is for the sequences of a process; {source.corpus}"
            " is text"
        )
    if generator["kind"] == "ngram":
        _check_plain(source, decoding, _PLAIN, f"{name} is an n-gram model")
    _check_stop(source, generator, decoding, where)


def _check_titles(source: Source, critic: str, entry: Entry, where: str) -> None:
    classifier = entry("critics", critic)["classifier"]
    if entry("classifiers", classifier)["kind"] == "given" and source.setting != "w-title":
        raise TextcriticError(
            f"{where}: {source.generator} {source.setting} has no titles in its text, and the critic {critic} goes by"
            " given ones; its setting must be w-title"
        )


def _check_sequences(source: Source, entry: Entry, where: str) -> None:
    corpus, generator, decoding = _entries(source, entry)
    name = f"{where}: {source.generator}"
    if corpus["extractor"] != PROCESS:
        raise TextcriticError(
            f"{where}: {source.corpus} has the extractor {corpus['extractor']}; name a corpus with the extractor"
            f" {PROCESS}"
        )
    if generator["kind"] not in ("causal", "hsmm"):
        raise TextcriticError(f"{name} is of kind {generator['kind']}; sequences come from the kinds causal and hsmm")
    if not _symbols(generator, entry):
        raise TextcriticError(
            f"{name} has the encoding {generator['encoding']}; on the process {source.corpus} it must be one whose"
            f" tokenizer is {SYMBOLS}"
        )
    if generator["kind"] == "hsmm":
        _check_plain(source, decoding, _PLAIN_TABLES, f"{name} is an HSMM")
        _check_longest(source, corpus, generator, name)
    _check_stop(source, generator, decoding, where)


def _check_plain(source: Source, decoding: Mapping[str, Any], plain: Mapping[str, Any], what: str) -> None:
    if any(decoding[key] != value for key, value in plain.items()):
        *keys, last = plain
        raise TextcriticError(
            f"{what}, which is drawn from as it is; {source.decoding} has a {', '.join(keys)} or {last}"
        )


def _check_longest(source: Source, corpus: Mapping[str, Any], generator: Mapping[str, Any], name: str) -> None:
    """An n-gram is a number of 64 bits in a lexicon, see `critics.hsmm.lexicon`."""
    symbols, longest = corpus["options"]["process"]["letters"] + 1, generator["longest"]
    if symbols**longest > 2**64:
        fits = max(n for n in range(1, 65) if symbols**n <= 2**64)
        raise TextcriticError(
            f"{name} has segments of up to {longest} tokens (longest); {source.corpus} has {symbols} symbols, of which"
            f" {fits} fit in 64 bits"
        )


def _check_stop(source: Source, generator: Mapping[str, Any], decoding: Mapping[str, Any], where: str) -> None:
    if decoding["stop"] == "given" and generator["kind"] != "hsmm":
        raise TextcriticError(
            f"{where}: {source.decoding} has `stop: given`, for generators of kind hsmm alone; {source.generator} is of"
            f" kind {generator['kind']}"
        )


def _entries(source: Source, entry: Entry) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    names = {"corpora": source.corpus, "generators": source.generator, "decodings": source.decoding}
    corpus, generator, decoding = (entry(registry, name) for registry, name in names.items())
    return corpus, generator, decoding


def _symbols(generator: Mapping[str, Any], entry: Entry) -> bool:
    return SYMBOLS in entry("encodings", generator["encoding"])["tokenizer"]
