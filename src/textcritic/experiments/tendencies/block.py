"""The block of an experiment of kind `tendencies`."""

from typing import Annotated, Literal

from textcritic.plan.entries.base import key
from textcritic.plan.entries.blocks import FIGURES, SAMPLES, TABLES, Block, Figure, Table, TitlesUnread, recipes
from textcritic.plan.entries.parts import CriticName


class TendenciesBlock(Block):
    """Tendencies (kind `tendencies`): whether samples keep to the statistical tendencies of real text: how often words
    occur, how many distinct ones there are, how long documents are (Meister and Cotterell 2021).
    """

    kind: Literal["tendencies"] = key("statistical tendencies of text")
    critic: CriticName = key("an entry of the critics registry, of kind tendencies")
    sources: list[TitlesUnread] = SAMPLES
    tables: Annotated[
        list[Table],
        recipes(
            {
                "models": "parameters and perplexity of the generators (Table 1)",
                "laws": "distances of the rank-frequency and unigram distributions (Table 2)",
                "distributions": "distances of lengths, stop words and symbols (Table 3)",
                "real": "statistics of real text (Table 4)",
                "coefficients": "of Zipf's and Heaps' laws (Table 5)",
                "means": "differences of means (Table 6)",
                "samples": "the first two documents of each source, to read (Table 7)",
            }
        ),
    ] = TABLES
    figures: Annotated[
        list[Figure],
        recipes(
            {
                "types": "different words by length (Figure 1)",
                "vocabulary": "sizes of vocabularies (Figure 2)",
                "type-token": "the same with pairs of words (Figure 3)",
                "type-token-distances": "by length (Figure 4)",
                "lengths": "box plots (Figure 5)",
                "rank-frequency": "how often words occur by their rank (Figure 6)",
                "permutations": "of the differences of means and of the largest difference of words (Figure 7)",
                "boxes": "of lengths, stop words and symbols (Figure 8)",
                "unigrams-and-lengths": "second draws of real text, and its lengths (Figure 9)",
            }
        ),
    ] = FIGURES
