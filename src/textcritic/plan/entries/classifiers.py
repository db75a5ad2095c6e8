"""Entries of the registries `classifiers` and `embedders`: transformers that read text for a critic."""

from typing import Literal

from textcritic.plan.entries.base import Entry, Number, key, optional
from textcritic.plan.entries.parts import (
    MATMUL,
    EncodingName,
    FromConfig,
    FromFolder,
    FromHub,
    GeneratorName,
    GpuJob,
    Matmul,
    Precision,
    Setting,
    Steps,
)


class ClassifierTraining(Steps):
    """How a section classifier is trained."""

    batch_size: int = key("sections in one update", 32, ge=1)
    schedule: Literal["constant", "linear", "cosine"] = key("decay after the warm-up", "linear")
    epochs: Number = key("passes over the sections of the train split", 3, gt=0)
    seed: int = key("seed of initialisation and order", 1, ge=0)


class TransformerClassifier(
    GpuJob, title="a transformer that infers each section's title from its text (kind transformer)"
):
    """Infers each section's title from its text."""

    kind: Literal["transformer"] = key("infers each section's title from its text", "transformer")
    encoding: EncodingName | None = optional(
        "an entry of the encodings registry; needed with `config`, otherwise the model's own tokenizer is used",
    )
    init: FromHub | FromFolder | FromConfig = key("where its weights come from")
    max_tokens: int = key("word pieces of a section that are read", 512, ge=4)
    training: ClassifierTraining = key("how it is trained")
    runtime: str = key("time limit of its training job", "2h")


class GivenTitles(Entry, title="no classifier, titles are given (kind given)"):
    """Takes the titles that come with the text."""

    kind: Literal["given"] = key(
        "takes the titles that come with the text; an article that has one the train split does not have is rejected",
    )


class Embedder(GpuJob):
    """A language model whose last hidden states are points of documents."""

    max_tokens: int = key(
        "tokens of a document, from its beginning; fewer where the model has fewer positions", 1024, ge=1
    )
    precision: Precision = key("`auto`, bf16 on a GPU that has it, else fp32", "auto")
    float32_matmul_precision: Matmul = key(MATMUL, "highest")
    batch_size: int = key("documents in a forward pass", 8, ge=1)
    runtime: str = key("time limit of each of its jobs", "4h")


class PretrainedEmbedder(Embedder, title="a pretrained model (kind pretrained)"):
    """A pretrained causal language model."""

    kind: Literal["pretrained"] = key("a pretrained causal language model", "pretrained")
    init: FromHub | FromFolder = key("where it comes from")


class GeneratorEmbedder(Embedder, title="a generator that was trained on the corpus (kind generator)"):
    """A generator that was trained on the corpus."""

    kind: Literal["generator"] = key(
        "a generator that was trained on the same corpus: no download, and no value that compares with published ones",
    )
    generator: GeneratorName = key("an entry of the generators registry of kind causal")
    setting: Setting = key("in which it was trained", "wo-title")
    seed: int = key("of its training", 1, ge=0)
