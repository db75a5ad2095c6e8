"""The block of an experiment of kind `order`."""

from typing import Annotated, Literal

from textcritic.plan.entries.base import key
from textcritic.plan.entries.blocks import SAMPLES, TABLES, Block, Table, TitlesUnread, recipes
from textcritic.plan.entries.parts import CriticName


class OrderBlock(Block):
    """The order of sentences (kind `order`): whether the sentences of a sample follow one another as those of real text
    do.
    """

    kind: Literal["order"] = key("the order of sentences, inside sections")
    critic: CriticName = key("an entry of the critics registry, of kind order")
    sources: list[TitlesUnread] = SAMPLES
    tables: Annotated[list[Table], recipes({"values": "how much order each source has"})] = TABLES
