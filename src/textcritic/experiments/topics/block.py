"""The block of an experiment of kind `topics`."""

from collections.abc import Sequence
from typing import Annotated, Literal

from textcritic.plan.entries.base import key
from textcritic.plan.entries.blocks import FIGURES, SAMPLES, TABLES, Block, Figure, Power, Table, recipes
from textcritic.plan.entries.parts import CriticName, Setting, SourceBlock


class TopicsSamples(SourceBlock):
    """Samples whose topics are compared."""

    settings: Sequence[Setting] = key(
        "with titles in the text, without, or both; without is the paper's", ["wo-title"], min_length=1
    )


class TopicsBlock(Block):
    """Topics (kind `topics`): documents under a correlated topic model that is fitted on real text (model criticism
    paper, section 6).
    """

    kind: Literal["topics"] = key("topics of documents")
    critic: CriticName = key("an entry of the critics registry, of kind ctm")
    sources: list[TopicsSamples] = SAMPLES
    power: Power = key(
        "real text in which some documents have half of their words from another document, to see from which share of"
        " such documents on the test notices it; `{shares: []}` leaves it out",
        Power,
    )
    tables: Annotated[
        list[Table],
        recipes(
            {
                "nll": "Latent NLL (Table 9)",
                "outliers": "documents whose topics are the least likely (Table 14)",
            }
        ),
    ] = TABLES
    figures: Annotated[
        list[Figure], recipes({"covariances": "of topics in real text and in samples (Figures 6, 8 and 9)"})
    ] = FIGURES
