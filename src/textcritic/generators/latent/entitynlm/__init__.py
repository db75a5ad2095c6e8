"""EntityNLM, a language model with entities (Ji et al. 2017), and EntityDisc, the proposal of its latent states."""

from textcritic.generators.latent.entitynlm.model import EntityNLM
from textcritic.generators.latent.entitynlm.proposal import EntityDisc
from textcritic.generators.latent.entitynlm.states import EntityStates, mentions_of, possible, states_of_texts
from textcritic.generators.latent.entitynlm.steps import EntitySteps

__all__ = ["EntityDisc", "EntityNLM", "EntityStates", "EntitySteps", "mentions_of", "possible", "states_of_texts"]
