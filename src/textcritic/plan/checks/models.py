"""Options of encodings, generators and classifiers: what their schemas cannot say."""

from typing import TYPE_CHECKING

from textcritic.errors import TextcriticError
from textcritic.plan.entries import Causal, Fairseq, TransformerClassifier
from textcritic.plan.entries.encodings import SUBWORDS, SYMBOLS, WORDS, WholeWords
from textcritic.plan.entries.latent import Latent
from textcritic.plan.entries.parts import FromConfig

if TYPE_CHECKING:
    from textcritic.plan.registries import Registries

GRADIENT = ("causal", "fairseq")
"""Kinds of generators that are trained for so many steps or epochs, as transformers are."""


def check_encoding(name: str, registries: "Registries") -> None:
    """Check an entry of the encodings registry.

    Raises:
        TextcriticError: the mark between two articles of text, for sequences that are not text; a vocabulary of words
            with no limit or two.
    """
    encoding = registries.entry("encodings", name)
    if isinstance(encoding.tokenizer, WholeWords):
        words = encoding.tokenizer.words
        if (words.vocabulary is None) == (words.minimum_count is None):
            raise TextcriticError("tokenizer.words: give vocabulary or minimum_count, one of the two")
    if encoding.reads in (SYMBOLS, SUBWORDS) and encoding.boundary != "single":
        raise TextcriticError(
            f"boundary: {encoding.boundary} is for text; with the tokenizer {encoding.reads} it must be single"
        )


def check_generator(name: str, registries: "Registries") -> None:
    """Check an entry of the generators registry.

    Raises:
        TextcriticError: no length or two lengths of training, GPUs that cannot share a batch.
    """
    model = registries.entry("generators", name)
    if isinstance(model, Causal | Fairseq | Latent):
        model.training.check_length()
    if isinstance(model, Fairseq) and model.training.accumulation % max(1, model.gpu):
        raise TextcriticError(
            f"gpu: {model.gpu} GPUs cannot share training.accumulation, {model.training.accumulation} forward"
            " passes, evenly; change one of the two"
        )
    if isinstance(model, Causal):
        _check_causal(model)


def _check_causal(model: Causal) -> None:
    training = model.training
    if training.epochs == 0 and isinstance(model.init, FromConfig):
        raise TextcriticError("training.epochs: 0 leaves a model as it is, and init.config starts from random weights")
    if training.batch_size % max(1, model.gpu):
        raise TextcriticError(
            f"gpu: {model.gpu} GPUs cannot share training.batch_size, {training.batch_size} blocks,"
            " evenly; change one of the two"
        )


def check_classifier(name: str, registries: "Registries") -> None:
    """Check an entry of the classifiers registry.

    Raises:
        TextcriticError: no encoding, or one for what is not text.
    """
    model = registries.entry("classifiers", name)
    if not isinstance(model, TransformerClassifier):
        return
    if model.encoding is not None:
        check_text_encoding(model.encoding, registries)
    elif isinstance(model.init, FromConfig):
        raise TextcriticError("the key 'encoding' is missing; it gives the tokens")


def check_text_encoding(name: str, registries: "Registries") -> None:
    """See that an encoding is for text in parts of words, for classifiers and detectors; raises TextcriticError."""
    reads = registries.entry("encodings", name).reads
    wanted = {
        SYMBOLS: "the sequences of a process",
        SUBWORDS: "parallel corpora",
        WORDS: "language models of whole words",
    }
    if reads in wanted:
        raise TextcriticError(
            f"encoding: {name} is for {wanted[reads]}; a classifier reads text in parts of words, so name one that is"
            " for text"
        )
