"""Options of encodings, generators and classifiers: what their schemas cannot say."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from textcritic.errors import TextcriticError
from textcritic.plan.checks.latent import LATENT, check_training

if TYPE_CHECKING:
    from textcritic.plan.registries import Registries

SYMBOLS = "symbols"
"""The tokenizer of the sequences of a synthetic process."""

SUBWORDS = "subwords"
"""The tokenizer of parallel corpora; all others but `SYMBOLS` are for text."""

WORDS = "words"
"""The tokenizer of whole words; it has no special tokens but the end of text."""

GRADIENT = ("causal", "fairseq")
"""Kinds of generators that are trained for so many steps or epochs, as transformers are."""


def check_encoding(name: str, registries: "Registries") -> None:
    """Check an entry of the encodings registry.

    Raises:
        TextcriticError: the mark between two articles of text, for sequences that are not text; a vocabulary of words
            with no limit or two.
    """
    encoding = registries.entry("encodings", name)
    words = encoding["tokenizer"].get(WORDS)
    if words is not None and len(words) != 1:
        raise TextcriticError("tokenizer.words: give vocabulary or minimum_count, one of the two")
    special = next((key for key in (SYMBOLS, SUBWORDS) if key in encoding["tokenizer"]), None)
    if special and encoding["boundary"] != "single":
        raise TextcriticError(
            f"boundary: {encoding['boundary']} is for text; with the tokenizer {special} it must be single"
        )


def check_generator(name: str, registries: "Registries") -> None:
    """Check an entry of the generators registry.

    Raises:
        TextcriticError: no encoding, no length or two lengths of training, GPUs that cannot share a batch.
    """
    model = registries.entry("generators", name)
    _check_encoded(model)
    if model["kind"] in (*GRADIENT, *LATENT):
        check_training(model)
    if model["kind"] == "fairseq" and model["training"]["accumulation"] % max(1, model["gpu"]):
        raise TextcriticError(
            f"gpu: {model['gpu']} GPUs cannot share training.accumulation, {model['training']['accumulation']} forward"
            " passes, evenly; change one of the two"
        )
    training = model["training"] if model["kind"] == "causal" else {}
    if training and training["epochs"] == 0 and "config" in model["init"]:
        raise TextcriticError("training.epochs: 0 leaves a model as it is, and init.config starts from random weights")
    if training and training["batch_size"] % max(1, model["gpu"]):
        raise TextcriticError(
            f"gpu: {model['gpu']} GPUs cannot share training.batch_size, {training['batch_size']} blocks,"
            " evenly; change one of the two"
        )


def check_classifier(name: str, registries: "Registries") -> None:
    """Check an entry of the classifiers registry.

    Raises:
        TextcriticError: no encoding, or one for what is not text.
    """
    model = registries.entry("classifiers", name)
    _check_encoded(model)
    if "encoding" in model:
        check_text_encoding(model["encoding"], registries)


def check_text_encoding(name: str, registries: "Registries") -> None:
    """See that an encoding is for text in parts of words, for classifiers and detectors; raises TextcriticError."""
    tokenizer = registries.entry("encodings", name)["tokenizer"]
    for key, kind in (
        (SYMBOLS, "the sequences of a process"),
        (SUBWORDS, "parallel corpora"),
        (WORDS, "language models of whole words"),
    ):
        if key in tokenizer:
            raise TextcriticError(
                f"encoding: {name} is for {kind}; a classifier reads text in parts of words, so name one that is for"
                " text"
            )


def _check_encoded(model: Mapping[str, Any]) -> None:
    if "encoding" not in model and "config" in model.get("init", {}):
        raise TextcriticError("the key 'encoding' is missing; it gives the tokens")
