"""Latent Dirichlet allocation as a critic of mixed languages: each is a topic (model criticism paper, appendix C).

tomotopy is loaded only where a model is fitted.
"""

from textcritic.critics.lda.mixing import CORNER, agreement, mixing_columns, topic_languages
from textcritic.critics.lda.model import LDA
from textcritic.critics.lda.posterior import Posterior, infer
from textcritic.critics.lda.posteriors import Posteriors

__all__ = [
    "CORNER",
    "LDA",
    "Posterior",
    "Posteriors",
    "agreement",
    "infer",
    "mixing_columns",
    "topic_languages",
]
