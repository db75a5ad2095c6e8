"""Options of detectors of intruder sentences: what their schema cannot say, and what each is made of."""

from typing import TYPE_CHECKING

from textcritic.errors import TextcriticError
from textcritic.plan.checks.models import check_text_encoding
from textcritic.plan.entries import Causal, Detector, Mentions, Ngram
from textcritic.plan.entries.detectors import Descending, Embeddings, Nll, Surprise, TransformerDetector, Untrained
from textcritic.plan.entries.parts import FromConfig

if TYPE_CHECKING:
    from textcritic.plan.registries import Registries

INTRUDER = "intruder"
"""The question of the paper; the other ones are baselines of our own."""


def check_detector(name: str, registries: "Registries") -> None:
    """Check an entry of the critics registry, if it is a detector.

    Raises:
        TextcriticError: no length of training or two; an encoding that is missing or not for text; a key that has no
            effect.
    """
    entry = registries.entry("critics", name)
    if not isinstance(entry, Detector):
        return
    kind, settings = entry.model.kind, entry.model.settings
    descends = isinstance(settings, Descending)
    if (entry.training is None) == descends:
        says = "is missing" if entry.training is None else "has no effect"
        raise TextcriticError(f"training: {says}; model.{kind} is {'' if descends else 'not '}trained by it")
    if entry.training is not None:
        entry.training.check_length()
    if entry.test != INTRUDER and (entry.reads != "pair" or entry.opening):
        key = "opening" if entry.reads == "pair" else "reads"
        raise TextcriticError(f"{key}: is for `test: {INTRUDER}`; `test: {entry.test}` asks about two neighbours")
    if isinstance(settings, Untrained) and (entry.test != INTRUDER or entry.reads != "pair" or entry.opening):
        raise TextcriticError(f"test, reads and opening: have no effect on model.{kind}; leave them out")
    match settings:
        case Surprise():
            _check_generator(settings.generator, registries)
        case Nll():
            _check_critic(settings.critic, registries)
        case TransformerDetector():
            _check_transformer(settings, registries)
        case Embeddings(tuned=False, vectors=None):
            raise TextcriticError(
                f"model.{kind}.tuned: vectors that start at random are trained; name a file of vectors"
            )


def _check_generator(name: str, registries: "Registries") -> None:
    generator = registries.entry("generators", name)
    if not isinstance(generator, Causal) and not (isinstance(generator, Ngram) and generator.smoothing != "none"):
        raise TextcriticError(
            f"model.surprise.generator: {name} is of kind {generator.kind}; name one of kind causal, or ngram"
            " with `smoothing: interpolated`, which gives no sentence probability 0"
        )


def _check_critic(name: str, registries: "Registries") -> None:
    critic = registries.entry("critics", name)
    if critic.kind not in ("ctm", "mentions", "order"):
        raise TextcriticError(
            f"model.nll.critic: {name} is of kind {critic.kind}; name one of kind ctm, mentions or order"
        )
    resolver = registries.entry("resolvers", critic.resolver).kind if isinstance(critic, Mentions) else "persons"
    if resolver not in ("persons", "nearest"):
        raise TextcriticError(
            f"model.nll.critic: the resolver of {name} is of kind {resolver}; name a critic with one of kind persons or"
            " nearest, which are quick enough for parts of documents"
        )


def _check_transformer(settings: TransformerDetector, registries: "Registries") -> None:
    new = isinstance(settings.init, FromConfig)
    if new != (settings.encoding is not None):
        says = (
            "is missing; it gives the tokens" if new else "has no effect beside init.hub and init.folder; leave it out"
        )
        raise TextcriticError(f"model.transformer.encoding: {says}")
    if settings.encoding is not None:
        try:
            check_text_encoding(settings.encoding, registries)
        except TextcriticError as error:
            raise TextcriticError(f"model.transformer.{error}") from error
