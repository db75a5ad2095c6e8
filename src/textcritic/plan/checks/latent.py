"""Latent language models and proposals: which corpora they need, and which go together."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textcritic.errors import TextcriticError
from textcritic.plan.checks.corpora import LINKS, MENTIONS, PROCESS, STRUCTURED, TREES
from textcritic.plan.entries import HsmmProposal

if TYPE_CHECKING:
    from textcritic.plan.registries import Registries

LSTM = "lstm"
"""The kind of generator that has no latent states; its likelihood is exact."""

HSMM = "hsmm"
"""The kind of generator, and of proposals for it, whose likelihood is exact too though it has latent states."""

STRUCTURE_OF: Mapping[str, tuple[str, ...]] = {
    "rnng": (TREES,),
    "entitynlm": (MENTIONS,),
    "kglm": (LINKS,),
    LSTM: STRUCTURED,
    HSMM: (PROCESS,),
    "crf": (TREES,),
    "entity-disc": (MENTIONS,),
    "kglm-disc": (LINKS,),
}
"""The extractors whose texts have the states that a kind of model or proposal is trained on."""

LATENT = ("rnng", "entitynlm", "kglm", LSTM)
"""The kinds of generators whose log-likelihood is estimated, or known of the last."""

PROPOSES: Mapping[str, str] = {"crf": "rnng", "entity-disc": "entitynlm", "kglm-disc": "kglm", HSMM: HSMM}
"""The kind of model whose states a kind of proposal draws."""

STEPWISE = ("entitynlm", "kglm", HSMM)
"""The kinds of generators whose states are decided step by step, so that a particle filter can follow them."""

WITH_TEMPERATURE = ("tempered", "noisy")
"""The qualities of a proposal of kind hsmm that have a temperature; the others are used as they are."""

WITH_VALUE = ("flattened", "withheld", "floored")
"""Those that have a number of their own."""


def check_proposal(name: str, registries: "Registries") -> None:
    """Check an entry of the proposals registry.

    Raises:
        TextcriticError: no length of training, or two; a number that is missing or has no effect.
    """
    entry = registries.entry("proposals", name)
    if not isinstance(entry, HsmmProposal):
        entry.training.check_length()
    elif (entry.value is None) == (entry.quality in WITH_VALUE):
        says = f"is missing; {entry.quality} needs it" if entry.value is None else "has no effect"
        raise TextcriticError(f"value: {says}; it is for {' and '.join(WITH_VALUE)}")


def check_structure(model: str, kind: str, corpus: str, registries: "Registries") -> None:
    """See that a model or proposal can be trained on a corpus.

    Args:
        model: its name.
        kind: its kind.
        corpus: an entry of the corpora registry.
        registries: all entries.

    Raises:
        TextcriticError: the corpus has other texts, or none with structure.
    """
    extractor, fits = registries.entry("corpora", corpus).extractor, STRUCTURE_OF.get(kind)
    if fits is None:
        raise TextcriticError(f"{model} is of kind {kind}; name one of kind {', '.join((*LATENT, HSMM))}")
    if extractor not in fits:
        raise TextcriticError(
            f"{model} is of kind {kind}, which needs a corpus with the extractor {' or '.join(fits)}; {corpus} has"
            f" {extractor}"
        )
