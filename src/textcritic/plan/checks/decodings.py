"""Options of decodings: which of their keys go together."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textcritic.errors import TextcriticError

if TYPE_CHECKING:
    from textcritic.plan.entries import Decoding
    from textcritic.plan.registries import Registries

DRAW, LIKELIEST, BEAM_SAMPLING, BEST_OF = "draw", "likeliest", "beam-sampling", "best-of"
"""Methods: draw tokens, take the likeliest, draw the extensions of a beam, or draw several texts and take the best."""
GIVEN = "given"
"""The value of `stop` with which a text is as long as it is told to be."""
AUTOREGRESSIVE = ("causal", "ngram", "fairseq")
# The kinds of generators that each method but `draw` is for; of kind fairseq, see also `check_architecture`.
KINDS: Mapping[str, tuple[str, ...]] = {
    LIKELIEST: ("fairseq",),
    BEAM_SAMPLING: AUTOREGRESSIVE,
    BEST_OF: AUTOREGRESSIVE,
}
# fairseq's non-autoregressive architectures, by how their names begin: that which makes a text in one pass, and others.
ONE_PASS = "nonautoregressive_transformer"
REFINING = ("iterative_nonautoregressive_transformer", "cmlm_transformer")
# What the names of fairseq's language models have in them.
LANGUAGE_MODELS = ("_lm", "_ulm", "hf_gpt2")
# What some methods do not read, with the value that changes nothing, and the methods that read it.
READ_BY: Mapping[str, tuple[float, tuple[str, ...]]] = {
    **{key: (value, (DRAW, BEST_OF)) for key, value in (("temperature", 1), ("top_k", 0), ("top_p", 1))},
    "beam": (1, (LIKELIEST, BEAM_SAMPLING, BEST_OF)),
    "iterations": (0, (LIKELIEST,)),
}


def check_decoding(name: str, registries: "Registries") -> None:
    """See that a decoding has no key that its method does not read.

    Raises:
        TextcriticError: it has; or a beam sampling or a best of several without a beam; or both a beam, for
            autoregressive models, and iterations, for the others.
    """
    decoding = registries.entry("decodings", name)
    method = decoding.method
    for key, (value, methods) in READ_BY.items():
        if getattr(decoding, key) != value and method not in methods:
            raise TextcriticError(
                f"{key}: has no effect with `method: {method}`; leave it out, or give `method: {methods[0]}`"
            )
    if method in (BEAM_SAMPLING, BEST_OF) and decoding.beam == 1:
        raise TextcriticError(f"beam: 1 makes `method: {method}` plain draws; give 2 or more, or `method: {DRAW}`")
    if decoding.beam > 1 and decoding.iterations > 0:
        raise TextcriticError(
            "iterations: `iterations` is for models that make all tokens at once, `beam` for models that make one token"
            " at a time; leave one of them out"
        )


def check_architecture(decoding: "Decoding", architecture: str) -> None:
    """See that a decoding can be used with an architecture of fairseq.

    Raises:
        TextcriticError: a beam for a model that makes all tokens at once, or iterations for one that cannot refine.
    """
    if decoding.beam > 1 and is_nonautoregressive(architecture):
        raise TextcriticError(
            f"beam: {decoding.beam} is for autoregressive models; {architecture} makes all tokens at once: leave it out"
        )
    if decoding.iterations > 0 and not architecture.startswith(REFINING):
        raise TextcriticError(
            f"iterations: {decoding.iterations} passes refine nothing: {architecture} makes a text in one; leave it"
            f" out, or train an {' or a '.join(REFINING)}"
        )


def translates(architecture: str) -> bool:
    """Whether an architecture of fairseq reads a source text and is no language model; known without fairseq."""
    return not any(part in architecture for part in LANGUAGE_MODELS)


def is_nonautoregressive(architecture: str) -> bool:
    """Whether an architecture of fairseq makes all tokens of a text at once; known without fairseq."""
    return architecture.startswith((ONE_PASS, *REFINING))
