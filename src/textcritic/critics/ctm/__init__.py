"""The correlated topic model as a critic: fitted by variational EM, it projects documents to coefficients of topics.

Torch is loaded once a name is used that computes with it: tables and figures read a model, where there is no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from textcritic.critics.ctm.model import CTM
from textcritic.critics.ctm.options import FitOptions

if TYPE_CHECKING:
    from textcritic.critics.ctm.bound import bounds_and_gradients, document_bounds
    from textcritic.critics.ctm.fit import Fit, fit_ctm
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

# The modules of the names that need torch.
WITH_TORCH = {
    "Fit": "fit",
    "Posterior": "posterior",
    "bounds_and_gradients": "bound",
    "document_bounds": "bound",
    "fit_ctm": "fit",
    "infer": "posterior",
    "project_articles": "project",
    "train_topics": "train",
}


def __getattr__(name: str) -> Any:
    if name not in WITH_TORCH:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{WITH_TORCH[name]}"), name)
