"""Parameters and floating-point operations of a transformer, from its configuration or a known checkpoint."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from textcritic.values import JsonObject


@dataclass(frozen=True, slots=True)
class Transformer:
    """What the cost of a transformer depends on.

    Args:
        layers: of encoder and decoder together.
        width: of its states.
        inner: of its feed-forward layers.
        vocabulary: rows of its embeddings.
        positions: rows of its position embeddings; 0 for sinusoids.
        head: whether a forward pass ends with scores over the vocabulary.
        pooled: whether a layer reads the first state, as in BERT.
        stored: parameters where layers share them or there is more than this says; None: as counted.
    """

    layers: int
    width: int
    inner: int
    vocabulary: int
    positions: int
    head: bool = True
    pooled: bool = False
    stored: int | None = None

    @property
    def parameters(self) -> int:
        """Weights, biases and norms; the output layer is that of the embeddings."""
        if self.stored is not None:
            return self.stored
        width, inner = self.width, self.inner
        layer = 4 * (width * width + width) + 2 * width * inner + inner + width + 4 * width
        tables = (self.vocabulary + self.positions) * width + 2 * width
        return self.layers * layer + tables + (width * width + width + 2 * width) * self.pooled

    def forward(self, length: float) -> float:
        """Operations for a token of a text of such a length: 2 a weight that it meets, and attention to every token."""
        layer = 4 * self.width**2 + 2 * self.width * self.inner
        head = self.vocabulary * self.width if self.head else 0
        return 2.0 * (self.layers * layer + head) + 4.0 * self.layers * self.width * length


def _like(layers: int, width: int, vocabulary: int, positions: int, head: bool = True, stored: int = 0) -> Transformer:
    return Transformer(
        layers, width, 4 * width, vocabulary, positions, head, pooled=not head, stored=stored * 1000 or None
    )


# Checkpoints by the last part of a repository's or folder's name: sizes of their published configurations, and, where
# layers share weights or there is more to them, thousands of stored parameters.
KNOWN: Mapping[str, Transformer] = {
    "gpt2": _like(12, 768, 50257, 1024),
    "gpt2-medium": _like(24, 1024, 50257, 1024),
    "gpt2-large": _like(36, 1280, 50257, 1024),
    "gpt2-xl": _like(48, 1600, 50257, 1024),
    "gpt-neo-125m": _like(12, 768, 50257, 2048),
    "bert-base-cased": _like(12, 768, 28996, 512, head=False),
    "bert-large-cased": _like(24, 1024, 28996, 512, head=False),
    "roberta-base": _like(12, 768, 50265, 514, head=False),
    "roberta-large": _like(24, 1024, 50265, 514, head=False),
    "xlnet-base-cased": _like(12, 768, 32000, 0, head=False, stored=116_718),
    "xlnet-large-cased": _like(24, 1024, 32000, 0, head=False, stored=360_269),
    "albert-large-v2": _like(24, 1024, 30000, 512, head=False, stored=17_684),
    "albert-xxlarge-v2": _like(12, 4096, 30000, 512, head=False, stored=222_596),
    "electra-base-discriminator": _like(12, 768, 30522, 512, head=False),
    "electra-large-discriminator": _like(24, 1024, 30522, 512, head=False),
    "f-coref": _like(6, 768, 50265, 514, head=False, stored=91_000),
    "lingmess-coref": _like(24, 1024, 50265, 4098, head=False, stored=590_000),
}
# fairseq's architectures (its own defaults): layers of encoder and decoder, width, inner width.
FAIRSEQ: Mapping[str, tuple[int, int, int, int]] = {
    "transformer_wmt_en_de": (6, 6, 512, 2048),
    "nonautoregressive_transformer": (6, 6, 512, 2048),
    "cmlm_transformer": (6, 6, 512, 2048),
    "transformer_lm": (0, 6, 512, 2048),
    "transformer_lm_big": (0, 12, 1024, 4096),
    "transformer_lm_wiki103": (0, 16, 1024, 4096),
}
# Parameters of two that are no transformers (Meister and Cotterell 2021, Table 1).
FAIRSEQ_STORED = {"fconv_lm_dauphin_wikitext103": 133_000_000, "lstm_lm": 59_000_000}
# Rows of full width that the tables of an adaptive softmax come to: the paper's 315 million parameters.
ADAPTIVE = {"transformer_lm_wiki103": 110_000}


def of_config(config: JsonObject, vocabulary: int) -> Transformer:
    """The transformer of a `transformers` configuration: of GPT-2, GPT-Neo, BERT and its kin, or XGLM."""

    def first(*names: str, default: int = 0) -> int:
        return next((int(config[name]) for name in names if config.get(name)), default)

    width = first("n_embd", "hidden_size", "d_model", default=768)
    encoder = config.get("model_type") in ("bert", "roberta", "electra", "albert")
    return Transformer(
        layers=first("n_layer", "num_hidden_layers", "num_layers", default=12),
        width=width,
        inner=first("n_inner", "intermediate_size", "ffn_dim", default=4 * width),
        vocabulary=vocabulary,
        positions=0 if config.get("model_type") == "xglm" else first("n_positions", "max_position_embeddings"),
        head=not encoder,
        pooled=encoder,
    )


def of_init(init: JsonObject, vocabulary: int) -> tuple[Transformer, bool]:
    """The transformer that an entry's `init` names, and whether its size is known; else GPT-2 small's."""
    if config := init.get("config"):
        return of_config(config, vocabulary), True
    name = Path(str(init.get("hub") or init.get("folder") or "")).name
    return KNOWN.get(name, KNOWN["gpt2"]), name in KNOWN


def of_fairseq(architecture: str, options: JsonObject, vocabulary: int) -> Transformer:
    """The model of an architecture of fairseq; one that is no transformer has one layer of all its parameters."""
    if stored := FAIRSEQ_STORED.get(architecture):
        return Transformer(0, max(1, stored // vocabulary), 0, vocabulary, 0, stored=stored)
    encoder, decoder, width, inner = FAIRSEQ.get(architecture, FAIRSEQ["transformer_lm"])
    if architecture in ADAPTIVE:
        vocabulary = min(vocabulary, ADAPTIVE[architecture])
    layers = (options.get("encoder_layers", encoder) if encoder else 0) + options.get("decoder_layers", decoder)
    width = options.get("decoder_embed_dim", width)
    return Transformer(layers, width, options.get("decoder_ffn_embed_dim", inner), vocabulary, 0)
