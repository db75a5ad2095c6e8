"""The correlated topic model as a critic: fitted by variational EM, it projects documents to coefficients of topics."""

from textcritic.critics.ctm.bound import bounds_and_gradients, document_bounds
from textcritic.critics.ctm.fit import Fit, FitOptions, fit_ctm
from textcritic.critics.ctm.model import CTM
from textcritic.critics.ctm.posterior import Posterior, infer
from textcritic.critics.ctm.project import project_articles
from textcritic.critics.ctm.train import train_topics

__all__ = [
    "CTM",
    "Fit",
    "FitOptions",
    "Posterior",
    "bounds_and_gradients",
    "document_bounds",
    "fit_ctm",
    "infer",
    "project_articles",
    "train_topics",
]
