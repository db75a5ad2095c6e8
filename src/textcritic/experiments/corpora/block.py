"""The block of an experiment of kind `corpora`."""

from typing import Annotated, Literal

from textcritic.plan.entries.base import key
from textcritic.plan.entries.blocks import TABLES, Block, Table, recipes
from textcritic.plan.entries.parts import CorpusName


class CorporaBlock(Block):
    """Corpora (kind `corpora`): statistics of real text, and what was left out of it (model criticism paper,
    appendix E).
    """

    kind: Literal["corpora"] = key("what corpora contain")
    corpora: list[CorpusName] = key(
        "entries of the corpora registry, of text, in the order of the tables", min_length=1
    )
    tables: Annotated[list[Table], recipes({"statistics": "articles and sections (Table 11)"})] = TABLES
