"""The block of an experiment of kind `people`."""

from typing import Annotated, Literal

from textcritic.plan.entries.base import Unique, key
from textcritic.plan.entries.blocks import SAMPLES, TABLES, AnswerFiles, Block, Table, recipes
from textcritic.plan.entries.parts import CriticName, SourceBlock


class PeopleBlock(Block):
    """People (kind `people`): what people say of articles, and which metric agrees with them (model criticism paper,
    section 4 and appendix H).
    """

    kind: Literal["people"] = key("what people say, compared with perplexity, MAUVE and Latent PPL")
    critic: CriticName = key("an entry of the critics registry, of kind transitions")
    mauve: CriticName | None = key("an entry of the critics registry, of kind mauve; null leaves MAUVE out", None)
    beside: Annotated[list[CriticName], Unique] = key(
        "further critics of kind ctm or mentions, whose score of each article is compared with what people say of it",
        [],
    )
    sources: list[SourceBlock] = SAMPLES
    annotations: AnswerFiles = key(
        "files of answers, as `textcritic annotate export` writes them, relative to the working directory; none: the"
        " section says how to collect them",
        [],
    )
    tables: Annotated[
        list[Table],
        recipes(
            {
                "metrics": "perplexity, MAUVE, Latent PPL and people (Table 4)",
                "orders": "orders of sections that people call incoherent (Table 18)",
            }
        ),
    ] = TABLES
