"""Latent Dirichlet allocation as a critic of code-mixing: each language is a topic (model criticism paper, appendix C).

tomotopy is loaded only where a model is fitted.
"""

from textcritic.critics.lda.model import LDA, FitOptions
from textcritic.critics.lda.posterior import Posterior, PosteriorOptions, infer

__all__ = ["LDA", "FitOptions", "Posterior", "PosteriorOptions", "infer"]
