"""The block of an experiment of kind `process`."""

from collections.abc import Sequence
from typing import Annotated, Literal

from textcritic.plan.entries.base import key
from textcritic.plan.entries.blocks import SAMPLES, TABLES, Block, Table, recipes
from textcritic.plan.entries.parts import CorpusName, CriticName, GeneratorName, SourceBlock


class ProcessSamples(SourceBlock):
    """Sequences of models."""

    corpora: list[CorpusName] = key("entries of the corpora registry, with the extractor `process`", min_length=1)
    settings: Sequence[Literal["wo-title"]] = key("sequences have no titles in their text", ["wo-title"], min_length=1)
    generators: list[GeneratorName] = key(
        "entries of the generators registry, of kind hsmm or, with the encoding `symbols`, causal", min_length=1
    )


class KnownProcessBlock(Block):
    """A known process (kind `process`): sequences of models that were trained on a known process, which is also their
    critic (model criticism paper, section 3).
    """

    kind: Literal["process"] = key("sequences of a known process")
    critic: CriticName = key("an entry of the critics registry, of kind process")
    sources: list[ProcessSamples] = SAMPLES
    tables: Annotated[
        list[Table], recipes({"perplexity": "word-level and latent perplexity with the exact values (Table 1)"})
    ] = TABLES
