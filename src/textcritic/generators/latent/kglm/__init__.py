"""KGLM, a language model with a knowledge graph, and its proposal KglmDisc."""

from textcritic.generators.latent.kglm.model import KGLM
from textcritic.generators.latent.kglm.proposal import KglmDisc
from textcritic.generators.latent.kglm.states import Links, texts_of
from textcritic.generators.latent.kglm.steps import LinkSteps

__all__ = ["KGLM", "KglmDisc", "LinkSteps", "Links", "texts_of"]
