"""The correlated topic model as a critic: fitted by variational EM, it projects documents to coefficients of topics.

Torch is loaded only when a name is used that needs it, because tables and figures read a model where torch is missing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from textcritic.critics.ctm.model import CTM, FitOptions

if TYPE_CHECKING:
    from textcritic.critics.ctm.posterior import Posterior, infer
    from textcritic.critics.ctm.project import ProjectedFiles, project_articles
    from textcritic.critics.ctm.train import Fit, FitFiles, fit_ctm, train_topics

__all__ = [
    "CTM",
    "Fit",
    "FitFiles",
    "FitOptions",
    "Posterior",
    "ProjectedFiles",
    "fit_ctm",
    "infer",
    "project_articles",
    "train_topics",
]

# The modules of the names that need torch.
WITH_TORCH = {
    "Fit": "train",
    "FitFiles": "train",
    "Posterior": "posterior",
    "ProjectedFiles": "project",
    "fit_ctm": "train",
    "infer": "posterior",
    "project_articles": "project",
    "train_topics": "train",
}


def __getattr__(name: str) -> Any:
    if name not in WITH_TORCH:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{WITH_TORCH[name]}"), name)
