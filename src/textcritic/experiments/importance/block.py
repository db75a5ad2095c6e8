"""The block of an experiment of kind `importance`."""

from typing import Annotated, Literal

from textcritic.plan.entries.base import Entry, Number, Unique, key, limits
from textcritic.plan.entries.blocks import FIGURES, TABLES, Block, Figure, Seeds, Table, recipes
from textcritic.plan.entries.parts import CorpusName, GeneratorName, ProposalName


class ImportanceSource(Entry):
    """A model whose perplexity is estimated."""

    corpus: CorpusName = key(
        "an entry of the corpora registry with the extractor `trees`, `mentions` or `links`; the texts of its test"
        " split are scored"
    )
    generator: GeneratorName = key(
        "an entry of the generators registry of kind rnng, entitynlm, kglm, or lstm, whose perplexity is exact"
    )
    proposals: list[ProposalName] = key(
        "entries of the proposals registry, which draw the latent states; none for a generator of kind lstm", []
    )
    no_peeking: ProposalName | None = key(
        "a proposal that has not seen the tokens for which it draws states; it is used only at temperature 1; null for"
        " none",
        None,
    )
    seeds: Seeds = key(
        "random seeds, one for each training of the generator and of its proposals; they also seed the draws",
        [1],
        min_length=1,
    )


class ImportanceBlock(Block):
    """Importance (kind `importance`): the perplexity of latent language models, estimated by importance sampling, and
    how far the estimate can be trusted (Logan et al. 2020).
    """

    kind: Literal["importance"] = key("perplexity by importance sampling")
    sources: list[ImportanceSource] = key("the models whose perplexity is estimated", min_length=1)
    temperatures: Annotated[list[Annotated[Number, limits(gt=0)]], Unique] = key(
        "of the proposals; above 1 their draws vary more", [0.5, 0.9, 1.0, 1.1, 2.0, 5.0], min_length=1
    )
    samples: int = key("draws of each text in one job", 100, ge=1)
    shards: int = key(
        "number of shards with `samples` draws each; a job draws one shard, or several if a shard is little work; K is"
        " the product of both",
        1,
        ge=1,
    )
    repeats: int = key(
        "repeats: random orders of the draws, averaged in curves; pairings of the corpus level; and estimates of"
        " `group` draws each for the density",
        100,
        ge=1,
    )
    group: int = key("draws in each of the estimates whose density is drawn", 100, ge=1)
    mixture: bool = key(
        "whether the draws of all temperatures together are also weighted as draws from their mixture: one more"
        " estimate without more evaluations of the model; its files have a number for each draw and temperature",
        True,
    )
    particles: int | None = key(
        "particles of a particle filter, shown with the estimates at temperature 1, for generators of kind entitynlm,"
        " kglm and hsmm; `samples` times `shards` particles evaluate the model as often as the draws do; null for none",
        None,
        ge=1,
    )
    own_texts: int | None = key(
        "texts that each model draws itself, with its states, to see whether its proposals find the posterior: the gap"
        " between the two bounds of log p is shown with the estimates at temperature 1; not for models and proposals"
        " `as_released` or with noise; null for none",
        None,
        ge=20,
    )
    beams: Annotated[list[Annotated[int, limits(ge=1)]], Unique] = key(
        "numbers of the likeliest states of each text that are summed for strict bounds", [1, 10, 100]
    )
    tables: Annotated[
        list[Table],
        recipes(
            {
                "estimates": "perplexity by temperature at both levels (Table 1)",
                "beams": "strict bounds (Table 2)",
            }
        ),
    ] = TABLES
    figures: Annotated[
        list[Figure],
        recipes(
            {
                "states": "an example of latent states (Figure 1)",
                "curves": "perplexity against K (Figures 2 and 3)",
                "density": "repeated estimates (Figure 4)",
            }
        ),
    ] = FIGURES
