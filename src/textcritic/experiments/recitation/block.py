"""The block of an experiment of kind `recitation`."""

from typing import Annotated, Literal

from textcritic.plan.entries.base import key
from textcritic.plan.entries.blocks import SAMPLES, TABLES, Block, Table, TitlesUnread, recipes
from textcritic.plan.entries.parts import CriticName


class RecitationBlock(Block):
    """Recitation (kind `recitation`): how much of a sample occurs word for word in the text that its generator was
    trained on, compared with real text that it was not trained on (McCoy et al. 2023, RAVEN).
    """

    kind: Literal["recitation"] = key("text copied from the training text")
    critic: CriticName = key("an entry of the critics registry, of kind recitation")
    sources: list[TitlesUnread] = SAMPLES
    tables: Annotated[
        list[Table], recipes({"lengths": "the share of n-grams that occur in the training text, for each n"})
    ] = TABLES
