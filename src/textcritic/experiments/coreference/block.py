"""The block of an experiment of kind `coreference`."""

from typing import Annotated, Literal

from textcritic.plan.entries.base import Number, Unique, key, limits
from textcritic.plan.entries.blocks import FIGURES, SAMPLES, TABLES, Block, Figure, Power, Table, recipes
from textcritic.plan.entries.parts import AnnotationsName, CriticName, SourceBlock


class MentionPower(Power):
    """Real text in which pronouns are exchanged."""

    shares: Annotated[list[Annotated[Number, limits(gt=0, le=1)]], Unique] = key(
        "shares of the pronouns; an empty list leaves it all out", [0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5]
    )


class CoreferenceBlock(Block):
    """Coreference (kind `coreference`): chains of mentions of people under an n-gram critic that is fitted on real
    text (model criticism paper, section 5).
    """

    kind: Literal["coreference"] = key("who is mentioned after whom")
    critic: CriticName = key("an entry of the critics registry, of kind mentions")
    sources: list[SourceBlock] = SAMPLES
    annotated: list[AnnotationsName] = key(
        "text in which people have marked coreference: the critic's resolver is measured on it, and how much its errors"
        " change the Latent PPL. Without any, earlier measurements are shown, if there are any",
        [],
    )
    variants: bool = key("whether the audit tries every switch of the critic: other discounts, orders, chains", True)
    power: MentionPower = key(
        "real text in which some of the pronouns are exchanged at random, to see from which share on the test notices"
        " it; `{shares: []}` leaves it out",
        MentionPower,
    )
    tables: Annotated[
        list[Table],
        recipes(
            {
                "ppl": "Latent PPL (Tables 7 and 8)",
                "contributions": "the n-grams that make the difference to real text (Table 6)",
                "unlikely": "unlikely n-grams and what would be likelier (Table 15)",
                "more": "n-grams likelier in samples than in real text (Table 16)",
                "less": "the other direction (Table 17)",
            }
        ),
    ] = TABLES
    figures: Annotated[
        list[Figure],
        recipes(
            {
                "typical": "one of middling probability (Figure 5)",
                "unlikely-name": "the least likely name or noun for a person whom the critic has in sight (Figure 10)",
                "unlikely-pronoun": "the least likely pronoun for such a person (Figure 11)",
                "outside-window": "for a person who was mentioned before, but out of its sight (Figure 12)",
                "unlikely-real": "the least likely mention of real text, mostly an error of the resolver (Figure 13)",
            },
            "a passage with its mentions in colours, its chain and the critic's view of one mention: ",
        ),
    ] = FIGURES
