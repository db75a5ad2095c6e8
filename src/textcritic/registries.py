"""What the entries of the registries say of one another, and the faults that would otherwise show only in a job."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from textcritic.errors import TextcriticError
from textcritic.options.corpora import WIKIPEDIA, check_derived, check_dump
from textcritic.options.process import recipe_and_counts
from textcritic.options.vocabulary import VocabularyOptions, require_stop_words
from textcritic.studies import CTM, PROCESS, SYMBOLS, Entry

Registry = Mapping[str, Mapping[str, Mapping[str, Any]]]

# Folders that rules/download.smk fills with files of the web, and how many parts the path of a file there has; the next
# part after the folder is an entry of the downloads registry.
FETCHED: Mapping[tuple[str, ...], int] = {("results", "raw", "downloads"): 4, ("results", "raw", "unpacked"): 5}


def check_registries(registry: Registry, entry: Entry) -> None:
    """Check what the entries name, and that their keys go together.

    Args:
        registry: of each kind, its entries by name, validated against their schemas, with defaults.
        entry: the entry of a registry by its name, as `Project.entry`.

    Raises:
        TextcriticError: the first fault found, naming the file, the entry and the key.
    """
    for name, critic in registry["critics"].items():
        _check_critic(name, critic, entry)
    for name, corpus in registry["corpora"].items():
        _check_corpus(name, corpus, registry["corpora"], entry)
    for name, encoding in registry["encodings"].items():
        _check_encoding(name, encoding, entry)
    for kind in ("generators", "classifiers"):
        for name, model in registry[kind].items():
            _check_model(kind, name, model, entry)


def check_stop_words(name: str, critic: Mapping[str, Any], here: Path) -> None:
    """See that the file of stop words is there that a topic model names, if it is not one that is downloaded.

    Args:
        name: of the critic, for the error line.
        critic: its entry.
        here: the working directory, which relative paths are relative to.

    Raises:
        TextcriticError: there is no such file.
    """
    stop_words = critic["vocabulary"]["stop_words"]
    if download_of(stop_words) is None:
        with _within("critics", f"{name}: vocabulary"):
            require_stop_words(stop_words, here)


def download_of(path: str | Path) -> str | None:
    """The entry of the downloads registry that a file comes from; None for a file of one's own."""
    parts = Path(path).parts
    return parts[3] if FETCHED.get(parts[:3]) == len(parts) else None


def _check_critic(name: str, critic: Mapping[str, Any], entry: Entry) -> None:
    if "classifier" in critic:
        _refer("critics", name, "classifiers", critic["classifier"], entry)
    if critic["kind"] == CTM:
        with _within("critics", f"{name}: vocabulary"):
            VocabularyOptions(**critic["vocabulary"])
        download = download_of(critic["vocabulary"]["stop_words"])
        if download is not None:
            _refer("critics", f"{name}: vocabulary: stop_words", "downloads", download, entry)


def _check_corpus(name: str, corpus: Mapping[str, Any], corpora: Mapping[str, Mapping[str, Any]], entry: Entry) -> None:
    if corpus["sections"]["length_unit"] != "words":
        _refer("corpora", name, "hub", corpus["sections"]["length_unit"], entry)
    if corpus["extractor"] == PROCESS:
        _check_recipe(name, corpus)
    _check_derived(name, corpora, entry)
    _check_dump(name, corpus)


def _check_encoding(name: str, encoding: Mapping[str, Any], entry: Entry) -> None:
    if "hub" in encoding["tokenizer"]:
        _refer("encodings", name, "hub", encoding["tokenizer"]["hub"], entry)
    if SYMBOLS in encoding["tokenizer"] and encoding["boundary"] != "single":
        raise TextcriticError(
            f"config/registry/encodings.yaml: {name}: boundary: {encoding['boundary']} is for text; with the"
            f" tokenizer {SYMBOLS} it must be single"
        )


def _check_model(kind: str, name: str, model: Mapping[str, Any], entry: Entry) -> None:
    where = f"config/registry/{kind}.yaml: {name}"
    if "encoding" in model:
        _refer(kind, name, "encodings", model["encoding"], entry)
        if kind == "classifiers" and SYMBOLS in entry("encodings", model["encoding"])["tokenizer"]:
            raise TextcriticError(
                f"{where}: encoding: {model['encoding']} is for the sequences of a process; a classifier reads text,"
                " so name one that is for text"
            )
    elif "config" in model.get("init", {}):
        raise TextcriticError(f"{where}: the key 'encoding' is missing; it gives the tokens")
    training = model["training"] if model.get("kind") == "causal" else {}
    if training and (training["steps"] is None) == (training["epochs"] is None):
        raise TextcriticError(f"{where}: training: give steps or epochs, one of the two")
    if training and training["batch_size"] % max(1, model["gpu"]):
        raise TextcriticError(
            f"{where}: gpu: {model['gpu']} GPUs cannot share training.batch_size, {training['batch_size']} blocks,"
            " evenly; change one of the two"
        )
    if "hub" in model.get("init", {}):
        _refer(kind, name, "hub", model["init"]["hub"], entry)


def _check_derived(name: str, corpora: Mapping[str, Mapping[str, Any]], entry: Entry) -> None:
    options = corpora[name]["options"]
    if "corpus" in options:
        _refer("corpora", name, "corpora", options["corpus"], entry)
    with _within("corpora", name):
        check_derived(name, corpora, PROCESS)


def _check_recipe(name: str, corpus: Mapping[str, Any]) -> None:
    with _within("corpora", name):
        recipe_and_counts(corpus["options"])


def _check_dump(name: str, corpus: Mapping[str, Any]) -> None:
    if corpus["extractor"] == WIKIPEDIA:
        with _within("corpora", name):
            check_dump(corpus["options"])


def _refer(kind: str, name: str, other: str, target: str, entry: Entry) -> None:
    with _within(kind, name):
        entry(other, target)


@contextmanager
def _within(kind: str, name: str) -> Iterator[None]:
    """Names the entry whose keys are checked in this block in the error line."""
    try:
        yield
    except TextcriticError as error:
        raise TextcriticError(f"config/registry/{kind}.yaml: {name}: {error}") from error
