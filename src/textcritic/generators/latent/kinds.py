"""Latent language models and proposals by their kinds; each is imported when it is asked for."""

import importlib
from pathlib import Path
from typing import TypeVar

from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.generators.latent.model import CONFIG, LatentModel, Learner, Proposal

PACKAGE = "textcritic.generators.latent"
MODELS = {
    "rnng": "rnng.model:RNNG",
    "entitynlm": "entitynlm:EntityNLM",
    "kglm": "kglm:KGLM",
    "lstm": "lstm:LSTM",
}
PROPOSALS = {
    "crf": "rnng.crf:CRF",
    "entity-disc": "entitynlm:EntityDisc",
    "kglm-disc": "kglm:KglmDisc",
}
Kind = TypeVar("Kind", bound=Learner)


def learner_of(kind: str) -> type[Learner]:
    """The class of a kind of model or proposal.

    Raises:
        TextcriticError: there is no such kind.
    """
    kinds = MODELS | PROPOSALS
    if kind not in kinds:
        raise TextcriticError(f"kind: {kind!r} is not one of {', '.join(kinds)}")
    module, _, name = kinds[kind].partition(":")
    learner: type[Learner] = getattr(importlib.import_module(f"{PACKAGE}.{module}"), name)
    return learner


def load_model(folder: Path, knowledge: Path | None = None) -> LatentModel:
    """A trained model of any kind; raises as `Learner.load`."""
    return _loaded(folder, knowledge, LatentModel)  # type: ignore[type-abstract]


def load_proposal(folder: Path, knowledge: Path | None = None) -> Proposal:
    """A trained proposal of any kind; raises as `Learner.load`."""
    return _loaded(folder, knowledge, Proposal)  # type: ignore[type-abstract]


def _loaded(folder: Path, knowledge: Path | None, expected: type[Kind]) -> Kind:
    kind = read_json(folder / CONFIG).get("kind")
    learner = learner_of(kind).load(folder, knowledge)
    if not isinstance(learner, expected):
        raise TextcriticError(f"{folder}: has a {kind}, which is no {expected.__name__}; name one that is")
    return learner
