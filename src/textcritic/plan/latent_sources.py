"""Samples of latent language models as sources of an experiment: what is checked before anything runs."""

from textcritic.errors import TextcriticError
from textcritic.plan.checks.decodings import DRAW, GIVEN
from textcritic.plan.checks.latent import LATENT, check_structure
from textcritic.plan.checks.sources import FP32, check_plain, check_supported
from textcritic.plan.entries import EntityNlm, Kglm, Lstm, Rnng
from textcritic.plan.entries.latent import LstmModel, RnngModel
from textcritic.plan.registries import Registries
from textcritic.plan.sources import Source, entries_of

# What a decoding must have: such a model is drawn from as it is, in single precision.
AS_IT_IS = {"method": DRAW, "temperature": 1, "top_k": 0, "top_p": 1, "opening": 0, **FP32}


def check_latent(source: Source, registries: Registries, where: str) -> None:
    """See that a source is a sample of a latent language model of a corpus with structure, or of its baseline.

    Raises:
        TextcriticError: a generator of another kind, or one that goes with another corpus; titles; a decoding that is
            not plain drawing; a text whose end neither the model nor the decoding decides.
    """
    _, generator, decoding = entries_of(source, registries)
    name = f"{where}: {source.generator}"
    if not isinstance(generator, Rnng | EntityNlm | Kglm | Lstm):
        raise TextcriticError(
            f"{name} is of kind {generator.kind}; {source.corpus} is tokens with a structure behind them, of which"
            f" {', '.join(LATENT)} draw texts"
        )
    try:
        check_structure(source.generator, generator.kind, source.corpus, registries)
    except TextcriticError as error:
        raise TextcriticError(f"{where}: {error}") from error
    if source.setting != "wo-title":
        raise TextcriticError(f"{where}: {source.corpus} has no titles; give the setting wo-title")
    check_plain(source, decoding, AS_IT_IS, f"{name} is a latent language model")
    check_supported(source, generator, decoding, where)
    if ends_by_itself(generator) and decoding.stop == GIVEN:
        raise TextcriticError(f"{name} ends its texts itself; {source.decoding} has `stop: given`, which tells them")
    if not ends_by_itself(generator) and decoding.stop != GIVEN and decoding.unfinished == "reject":
        raise TextcriticError(
            f"{name} never ends a text, so that all would be rejected; {source.decoding} should have `stop: given`, as"
            " long as a text of train, or `unfinished: keep`, max_tokens long"
        )


def ends_by_itself(generator: Rnng | EntityNlm | Kglm | Lstm) -> bool:
    """Whether an entry's model decides where a text ends; else it is one of texts of a given length."""
    match generator.model:
        case LstmModel(ends=ends):
            return ends
        case RnngModel(end=end):
            return end == "stop"
        case _:
            return False
