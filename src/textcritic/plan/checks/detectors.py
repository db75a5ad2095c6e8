"""Options of detectors of intruder sentences: what their schema cannot say, and what each is made of."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from textcritic.errors import TextcriticError
from textcritic.plan.checks.latent import check_training
from textcritic.plan.checks.models import check_text_encoding

if TYPE_CHECKING:
    from textcritic.plan.registries import Registries

DETECTOR = "detector"
"""The kind of critic."""

DESCENDING = ("embeddings", "bilstm", "transformer")
"""The models that are trained by gradient steps."""

INTRUDER = "intruder"
"""The question of the paper; the other ones are baselines of our own."""


def check_detector(name: str, registries: "Registries") -> None:
    """Check an entry of the critics registry, if it is a detector.

    Raises:
        TextcriticError: no length of training or two; an encoding that is missing or not for text; a key that has no
            effect.
    """
    entry = registries.entry("critics", name)
    if entry["kind"] != DETECTOR:
        return
    ((kind, settings),) = entry["model"].items()
    if (entry["training"] is None) == (kind in DESCENDING):
        says = "is missing" if entry["training"] is None else "has no effect"
        raise TextcriticError(f"training: {says}; model.{kind} is {'' if kind in DESCENDING else 'not '}trained by it")
    if entry["training"] is not None:
        check_training(entry)
    if entry["test"] != INTRUDER and (entry["reads"] != "pair" or entry["opening"]):
        key = "opening" if entry["reads"] == "pair" else "reads"
        raise TextcriticError(f"{key}: is for `test: {INTRUDER}`; `test: {entry['test']}` asks about two neighbours")
    if kind == "transformer":
        _check_transformer(settings, registries)
    if not settings.get("tuned", True) and settings["vectors"] is None:
        raise TextcriticError(f"model.{kind}.tuned: vectors that start at random are trained; name a file of vectors")


def _check_transformer(settings: Mapping[str, Any], registries: "Registries") -> None:
    new = "config" in settings["init"]
    if new != ("encoding" in settings):
        says = (
            "is missing; it gives the tokens" if new else "has no effect beside init.hub and init.folder; leave it out"
        )
        raise TextcriticError(f"model.transformer.encoding: {says}")
    if new:
        try:
            check_text_encoding(settings["encoding"], registries)
        except TextcriticError as error:
            raise TextcriticError(f"model.transformer.{error}") from error
