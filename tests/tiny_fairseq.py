"""Tiny models of fairseq with random weights, and sentences for them, as symbols."""

import numpy as np
import torch

SMALL = {
    **{f"{side}_embed_dim": 16 for side in ("encoder", "decoder")},
    **{f"{side}_ffn_embed_dim": 32 for side in ("encoder", "decoder")},
    **{f"{side}_layers": 2 for side in ("encoder", "decoder")},
    **{f"{side}_attention_heads": 2 for side in ("encoder", "decoder")},
}
DECODER = {key: value for key, value in SMALL.items() if key.startswith("decoder")}
POSITIONS = {"max_source_positions": 64, "max_target_positions": 64}
# name: architecture and options
TRANSLATORS = {
    "transformer": ("transformer_wmt_en_de", {**SMALL, **POSITIONS, "share_all_embeddings": True}),
    "learned positions": (
        "transformer_iwslt_de_en",
        {**SMALL, **POSITIONS, "encoder_learned_pos": True, "decoder_learned_pos": True},
    ),
    "convolutions": ("fconv_iwslt_de_en", POSITIONS),
    "lstm": (
        "lstm",
        {"encoder_embed_dim": 16, "decoder_embed_dim": 16, "decoder_out_embed_dim": 16, **POSITIONS},
    ),
}
LANGUAGE_MODELS = {
    "transformer_lm": ("transformer_lm", {**DECODER, **POSITIONS}),
    "adaptive transformer_lm": (
        "transformer_lm_wiki103",
        {
            **DECODER,
            **POSITIONS,
            "decoder_input_dim": 16,
            "decoder_output_dim": 16,
            "adaptive_input_cutoff": "10,20",
            "adaptive_softmax_cutoff": "10,20",
            "tie_adaptive_proj": False,
        },
    ),
    "lstm_lm": (
        "lstm_lm",
        {"decoder_embed_dim": 16, "decoder_hidden_size": 16, "decoder_out_embed_dim": 16, **POSITIONS},
    ),
    "fconv_lm": ("fconv_lm", {"decoder_embed_dim": 16, "decoder_layers": "[(16, 3)] * 2", **POSITIONS}),
}
AT_ONCE = {
    "nonautoregressive_transformer": ("nonautoregressive_transformer", {**SMALL, **POSITIONS}),
    "with offset and copies": (
        "nonautoregressive_transformer",
        {**SMALL, **POSITIONS, "pred_length_offset": True, "src_embedding_copy": True},
    ),
    "iterative_nonautoregressive_transformer": (
        "iterative_nonautoregressive_transformer",
        {**SMALL, **POSITIONS, "share_all_embeddings": True},
    ),
    "cmlm_transformer": ("cmlm_transformer", {**SMALL, **POSITIONS}),
}


def built(choice, words=30, seed=1, tokenizer=None):
    """A model of one of the tables above, with weights so large that its distributions are not flat."""
    from textcritic.generators.fairseq.models import build_model

    architecture, options = choice
    # Token 0 is the end, as with an encoding of END first.
    order = np.array([-1, -1, 0, -1, *range(1, words + 1)], np.int32)
    model = build_model(architecture, options, order, seed=seed, tokenizer=tokenizer)
    with torch.no_grad():
        for name, weight in model.module.named_parameters():
            if "embed_tokens" in name:
                weight.mul_(3)
            if "embed_length" in name:  # fairseq begins with zeros; lengths are from 5 to 12, or differ by -2 to 5
                usual = torch.randn(4, 16, generator=torch.Generator().manual_seed(seed))
                first = 126 if options.get("pred_length_offset") else 5
                weight[first : first + 8] = torch.cat([usual, -usual])
    return model


def sentences(number, symbols, autoregressive=True, seed=0):
    """Random sentences of 1 to 8 words as symbols, with their ends."""
    rng = np.random.default_rng(seed)
    beginning = [] if autoregressive else [0]
    return [np.array([*beginning, *rng.integers(4, symbols, rng.integers(1, 9)), 2]) for _ in range(number)]


LETTERS = "abcdefghijklmnopqrstuvwxyz"
END_OF_LETTERS = 27  # as `make_symbol_tokenizer` numbers letters, delimiter and end
SPLITS = {"train": 200, "validation": 30, "test": 30}


def tiny_data(folder):
    """A tokenizer of letters, pairs ({split}.npz) of which the target says the source in other letters, and streams."""
    from textcritic.generators.pairs import Pairs
    from textcritic.generators.symbols import make_symbol_tokenizer

    make_symbol_tokenizer(folder / "tokenizer", LETTERS)
    rng = np.random.default_rng(1)
    for split, number in SPLITS.items():
        sources = [rng.integers(0, 13, rng.integers(2, 9)).astype(np.int32) for _ in range(number)]
        offsets = np.cumsum([0, *map(len, sources)], dtype=np.int64)
        tokens = np.concatenate(sources)
        Pairs(tokens, offsets, tokens + 13, offsets, np.arange(number) // 2).save(folder / f"{split}.npz")
        stream = np.insert(tokens, offsets, END_OF_LETTERS).astype(np.int32)
        np.save(folder / f"{split}.tokens.npy", stream)
        np.save(folder / f"{split}.kinds.npy", np.where(stream == END_OF_LETTERS, 0, 2).astype(np.uint8))


def split_of(folder, choice, split):
    """Where the examples of a split are for an architecture of the tables above."""
    from textcritic.generators.fairseq.models import translates

    return folder / f"{split}.npz" if translates(choice[0]) else folder / split
