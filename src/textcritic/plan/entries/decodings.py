"""Entries of the registry `decodings`."""

from typing import Any, Literal

from textcritic.errors import TextcriticError
from textcritic.plan.entries.base import Entry, Number, key, optional
from textcritic.plan.entries.parts import MATMUL, Matmul

# The keys that say which articles are drawn and kept, and what computes them.
OF_SAMPLE = (
    "label",
    "articles",
    "unfinished",
    "stop",
    "opening",
    "shards",
    "batch_size",
    "precision",
    "float32_matmul_precision",
)


class Decoding(Entry):
    """How articles are drawn from a generator."""

    label: str | None = optional(
        "what tables and figures call it; by default what it does, e.g. `sampled, top-k 50`", min_length=1
    )
    articles: int = key("articles drawn", 500, ge=1)
    max_tokens: int = key(
        "tokens after which an article that has not ended is cut, and rejected unless `unfinished` keeps it",
        20000,
        ge=1,
    )
    unfinished: Literal["reject", "keep"] = key(
        "what becomes of a text that has not ended after max_tokens: `reject` it, as malformed articles are, or"
        " `keep` it as far as it goes. Keep it for lines and other texts whose beginnings are valid texts too:"
        " without unfinished texts, the sample would be shorter than what the model writes. Sequences of a known"
        " process are always rejected",
        "reject",
    )
    temperature: Number = key("divides the logits", 1.0, gt=0)
    top_k: int = key("draw among the k likeliest tokens; 0 means all (50 is the released code's)", 0, ge=0)
    top_p: Number = key("draw among the likeliest tokens that hold this mass", 1.0, gt=0, le=1)
    stride: int | None = key(
        "tokens dropped at once when the context window is full; null means half the window, 1 is the"
        " published behaviour",
        None,
        ge=1,
    )
    precision: Literal["fp32", "bf16"] = key("of weights and cache while sampling; logits are fp32 either way", "fp32")
    float32_matmul_precision: Matmul = key(MATMUL, "highest")
    shards: int | None = key(
        "jobs that share the work; null: as the work asks for, up to an hour and a half each, or as many"
        " as drew what is there; does not change the result",
        None,
        ge=1,
    )
    batch_size: int = key(
        "articles drawn side by side, fewer where a GPU's memory has no room for so many; does not change the result",
        64,
        ge=1,
    )
    stop: Literal["learnt", "given"] = key(
        "when a sequence of a known process ends: `learnt`, when the model ends it, or `given`, after the"
        " number of sub-sequences that the process has, which the paper tells its HSMM and no other model;"
        " of a latent language model without an end (kinds entitynlm, kglm, and lstm without `ends`)"
        " `given`: after as many tokens as some text of train has, drawn at random, at most max_tokens",
        "learnt",
    )
    opening: int = key(
        "tokens of a real article, of the test split, that each article begins with: given, not drawn, for"
        " transformers that were not trained on the corpus and so do not know how its articles begin;"
        " article i goes on from the i-th real one",
        0,
        ge=0,
    )
    method: Literal["draw", "likeliest", "beam-sampling", "best-of"] = key(
        "`draw`: tokens are drawn from the model; `likeliest`, for generators of kind fairseq alone: the"
        " likeliest tokens, or the likeliest text that a search finds; of a model that makes all tokens at"
        " once, the likeliest length first; `beam-sampling`, for models that make a token at a time: from"
        " each of `beam` hypotheses `beam` extensions are drawn, and the most probable of all stay, by the"
        " sum of their log probabilities; `best-of`, for the same models: `beam` texts are drawn"
        " independently, and the one with the highest mean log probability of a token is the text (all of"
        " them, not the best alone, would be `draw`)",
        "draw",
    )
    beam: int = key(
        "hypotheses that a beam search or a beam sampling keeps, or texts that the best is taken of, for"
        " autoregressive models; with `method: likeliest`, 1 takes the likeliest token each time; the"
        " score of a search and of `best-of` is the mean log probability of a token, its end included,"
        " fairseq's default, of the model at this temperature, whatever top_k and top_p leave out",
        1,
        ge=1,
    )
    iterations: int = key(
        "passes after the first, with `method: likeliest`, in which a non-autoregressive model refines"
        " what it made; 0 is one pass, and all that the architecture nonautoregressive_transformer can do",
        0,
        ge=0,
    )

    @property
    def is_ancestral(self) -> bool:
        """Whether tokens are drawn, and from the model's own distribution, untouched."""
        return self.method == "draw" and self.temperature == 1 and self.top_k == 0 and self.top_p == 1

    def stride_in(self, window: int) -> int:
        """The stride, in tokens, for a model that sees `window` tokens.

        Raises:
            TextcriticError: it would drop the whole context.
        """
        stride = max(window // 2, 1) if self.stride is None else self.stride
        if stride >= window:
            raise TextcriticError(
                f"decoding: stride: {stride} is not possible; give less than the model's window of {window} tokens"
            )
        return stride

    def of_article(self) -> dict[str, Any]:
        """The keys that decide how a model draws one article, with their values; a new key is among them."""
        return {key: value for key, value in self.plain().items() if key not in OF_SAMPLE}
