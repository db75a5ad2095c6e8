"""The block of an experiment of kind `mixing`."""

from collections.abc import Sequence
from typing import Annotated, Literal

from textcritic.plan.entries.base import key
from textcritic.plan.entries.blocks import FIGURES, SAMPLES, TABLES, Block, Figure, Table, recipes
from textcritic.plan.entries.parts import CorpusName, CriticName, SourceBlock


class MixingSamples(SourceBlock):
    """Translations."""

    settings: Sequence[Literal["wo-title"]] = key(
        "always without titles: a translation has none", ["wo-title"], min_length=1
    )


class MixingBlock(Block):
    """Mixing (kind `mixing`): do translations into several languages keep to one of them, under an LDA model that is
    fitted on real ones (model criticism paper, appendix C).
    """

    kind: Literal["mixing"] = key("languages that are mixed in a sentence")
    critic: CriticName = key("an entry of the critics registry, of kind lda")
    sources: list[MixingSamples] = SAMPLES
    known: list[CorpusName] = key(
        "corpora with the extractor `languages`, whose mixing is known: how much of it the critic recovers, and from"
        " which rate and how many sentences on the test notices it",
        [],
    )
    words: int = key("likeliest words of each topic that tables show; the paper's Table 10 has 20", 10, ge=1)
    tables: Annotated[list[Table], recipes({"words": "the likeliest words of each topic (Table 10)"})] = TABLES
    figures: Annotated[
        list[Figure], recipes({"simplex": "draws from the posteriors of real translations and of samples (Figure 7)"})
    ] = FIGURES
