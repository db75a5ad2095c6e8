"""KGLM, a language model with a knowledge graph, and its proposal KglmDisc."""

from textcritic.generators.latent.kglm.model import KGLM
from textcritic.generators.latent.kglm.proposal import KglmDisc
from textcritic.generators.latent.kglm.states import Links, texts_of

__all__ = ["KGLM", "KglmDisc", "Links", "texts_of"]
