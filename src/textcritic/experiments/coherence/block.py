"""The block of an experiment of kind `coherence`."""

from typing import Annotated, Literal

from textcritic.plan.entries.base import key
from textcritic.plan.entries.blocks import FIGURES, SAMPLES, TABLES, Block, Figure, Power, Table, recipes
from textcritic.plan.entries.parts import CriticName, SourceBlock


class CoherenceBlock(Block):
    """Coherence (kind `coherence`): the order of sections under a critic of title transitions that is fitted on real
    text (model criticism paper, section 4).
    """

    kind: Literal["coherence"] = key("the order of sections")
    critic: CriticName = key("an entry of the critics registry, of kind transitions")
    sources: list[SourceBlock] = SAMPLES
    audit: list[SourceBlock] = key(
        "further samples only for the audit, e.g. the same generators with the released code's decoding", []
    )
    costly_audit: list[SourceBlock] = key(
        "audit samples that take over an hour of a GPU: they are drawn only with `audits: true` in the configuration",
        [],
    )
    power: Power = key(
        "real text in which some documents have their sections out of order, to see from which share of such documents"
        " on the test notices it; `{shares: []}` leaves it out",
        Power,
    )
    tables: Annotated[
        list[Table],
        recipes(
            {
                "coherence": "perplexity and Latent PPL by generator, setting and corpus (Tables 2, 3 and 5)",
                "errors": "the commonest unlikely steps (Table 12)",
                "repetitions": "articles that repeat a section (Table 13)",
            }
        ),
    ] = TABLES
    figures: Annotated[list[Figure], recipes({"errors": "graphs of unlikely steps (Figures 1 and 4)"})] = FIGURES
