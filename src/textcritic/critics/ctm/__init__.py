"""The correlated topic model as a critic: fitted by variational EM, it projects documents to coefficients of topics.

Torch is loaded only when a name is used that needs it, because tables and figures read a model where torch is missing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from textcritic.critics.ctm.model import CTM

if TYPE_CHECKING:
    from textcritic.critics.ctm.job import FitFiles, train_topics
    from textcritic.critics.ctm.posterior import Posterior, infer
    from textcritic.critics.ctm.project import ProjectedFiles, project_articles
    from textcritic.critics.ctm.starts import Fits, fit_starts
    from textcritic.critics.ctm.train import Fit, fit_ctm

__all__ = [
    "CTM",
    "Fit",
    "FitFiles",
    "Fits",
    "Posterior",
    "ProjectedFiles",
    "fit_ctm",
    "fit_starts",
    "infer",
    "project_articles",
    "train_topics",
]

# The modules of the names that need torch.
WITH_TORCH = {
    "Fit": "train",
    "FitFiles": "job",
    "Fits": "starts",
    "Posterior": "posterior",
    "ProjectedFiles": "project",
    "fit_ctm": "train",
    "fit_starts": "starts",
    "infer": "posterior",
    "project_articles": "project",
    "train_topics": "job",
}


def __getattr__(name: str) -> Any:
    if name not in WITH_TORCH:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{WITH_TORCH[name]}"), name)
