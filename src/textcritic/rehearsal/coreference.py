"""Small random checkpoints in the format of biu-nlp/f-coref and biu-nlp/lingmess-coref.

The keys of config.json and the names of the weights are those of the published files. They are written out here, and
not taken from our code. Only the sizes differ.
"""

import json
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from textcritic.values import JsonObject

WIDTH, LAYERS, HEAD, SEGMENT, WINDOW, LONGEST = 24, 2, 20, 32, 8, 160
ARCHITECTURES = {"f-coref": ("roberta", "FastCorefModel"), "lingmess": ("longformer", "LingMessCoref")}
CATEGORIES = 7
MENTION_BIAS = {"f-coref": -19.0, "lingmess": -48.0}
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
WORDS = (
    "Anna met Bob in the old house . She gave him her book and he thanked her . They walked to his car , and it was "
    "raining . The house of Bob was empty ; it's Anna's house now ."
)
Weights = dict[str, torch.Tensor]


def save_checkpoint(folder: Path, architecture: str) -> Weights:
    """Write a checkpoint as the authors published theirs, and return its weights."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = _save_tokenizer(folder)
    (folder / "config.json").write_text(json.dumps(config(architecture, vocabulary)), encoding="utf-8")
    weights = random_weights(architecture, vocabulary)
    torch.save(weights, folder / "pytorch_model.bin")
    return weights


def config(architecture: str, vocabulary: int) -> JsonObject:
    """The keys of the published config.json."""
    model_type, name = ARCHITECTURES[architecture]
    head = {"dropout_prob": 0.3, "ffnn_size": HEAD, "max_segment_len": SEGMENT, "max_span_length": 6}
    common = {
        "_name_or_path": f"biu-nlp/{architecture}",
        "architectures": [name],
        "attention_probs_dropout_prob": 0.1,
        "bos_token_id": 0,
        "classifier_dropout": None,
        "eos_token_id": 2,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "hidden_size": WIDTH,
        "initializer_range": 0.02,
        "intermediate_size": 2 * WIDTH,
        "layer_norm_eps": 1e-05,
        "max_position_embeddings": SEGMENT + 2,
        "model_type": model_type,
        "num_attention_heads": 2,
        "num_hidden_layers": LAYERS,
        "pad_token_id": 1,
        "position_embedding_type": "absolute",
        "torch_dtype": "float32",
        "transformers_version": "4.11.3",
        "type_vocab_size": 1,
        "use_cache": True,
        "vocab_size": vocabulary,
    }
    if architecture == "f-coref":
        return common | {"coref_head": head | {"top_lambda": 0.25}}
    return common | {
        "attention_mode": "longformer",
        "attention_window": [WINDOW] * LAYERS,
        "coref_head": head | {"top_lambda": 0.4, "max_doc_len": LONGEST},
        "gradient_checkpointing": False,
        "ignore_attention_mask": False,
        "max_position_embeddings": LONGEST + 2,
        "sep_token_id": 2,
    }


def random_weights(architecture: str, vocabulary: int) -> Weights:
    """Weights under the published names, such that a text has several entities."""
    generator = torch.Generator().manual_seed(0)
    made: Weights = {}
    for name, shape in _shapes(architecture, vocabulary).items():
        made[name] = torch.randn(shape, generator=generator) * 0.3
        if name.lower().endswith("norm.weight"):
            made[name] = 1 + made[name] / 3
        elif name.endswith("word_embeddings.weight"):
            made[name] *= 6
        elif name.startswith("antecedent") and "weight" in name:
            made[name] += torch.eye(HEAD) / 2
    made["mention_start_classifier.bias"] += MENTION_BIAS[architecture]
    prefix, positions = ARCHITECTURES[architecture][0], SEGMENT if architecture == "f-coref" else LONGEST
    made[f"{prefix}.embeddings.position_ids"] = torch.arange(positions + 2)[None]
    return made


def _shapes(architecture: str, vocabulary: int) -> dict[str, tuple[int, ...]]:
    prefix = ARCHITECTURES[architecture][0]
    positions = (SEGMENT if architecture == "f-coref" else LONGEST) + 2
    shapes: dict[str, tuple[int, ...]] = {
        f"{prefix}.embeddings.word_embeddings.weight": (vocabulary, WIDTH),
        f"{prefix}.embeddings.position_embeddings.weight": (positions, WIDTH),
        f"{prefix}.embeddings.token_type_embeddings.weight": (1, WIDTH),
        **_norm(f"{prefix}.embeddings.LayerNorm", WIDTH),
        **_linear(f"{prefix}.pooler.dense", WIDTH, WIDTH),
    }
    attention = ["query", "key", "value"]
    if architecture == "lingmess":
        attention += ["query_global", "key_global", "value_global"]
    for number in range(LAYERS):
        layer = f"{prefix}.encoder.layer.{number}"
        for name in attention:
            shapes |= _linear(f"{layer}.attention.self.{name}", WIDTH, WIDTH)
        shapes |= _linear(f"{layer}.attention.output.dense", WIDTH, WIDTH)
        shapes |= _norm(f"{layer}.attention.output.LayerNorm", WIDTH)
        shapes |= _linear(f"{layer}.intermediate.dense", WIDTH, 2 * WIDTH)
        shapes |= _linear(f"{layer}.output.dense", 2 * WIDTH, WIDTH)
        shapes |= _norm(f"{layer}.output.LayerNorm", WIDTH)
    return shapes | _heads(architecture)


def _heads(architecture: str) -> dict[str, tuple[int, ...]]:
    layers = {"start_mention_mlp": HEAD, "end_mention_mlp": HEAD}
    if architecture == "f-coref":
        layers |= {"start_coref_mlp": HEAD, "end_coref_mlp": HEAD}
    else:
        layers |= {"coref_start_all_mlps": CATEGORIES * HEAD, "coref_end_all_mlps": CATEGORIES * HEAD}
    shapes: dict[str, tuple[int, ...]] = {}
    for name, width in layers.items():
        shapes |= _linear(f"{name}.dense", WIDTH, width) | _norm(f"{name}.layer_norm", width)
    shapes |= _linear("mention_start_classifier", HEAD, 1) | _linear("mention_end_classifier", HEAD, 1)
    shapes |= _linear("mention_s2e_classifier", HEAD, HEAD)
    for pair in ("s2s", "e2e", "s2e", "e2s"):
        if architecture == "f-coref":
            shapes |= _linear(f"antecedent_{pair}_classifier", HEAD, HEAD)
        else:
            shapes[f"antecedent_{pair}_all_weights"] = (CATEGORIES, HEAD, HEAD)
            shapes[f"antecedent_{pair}_all_biases"] = (CATEGORIES, HEAD)
    return shapes


def _linear(name: str, fan_in: int, fan_out: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (fan_out, fan_in), f"{name}.bias": (fan_out,)}


def _norm(name: str, width: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (width,), f"{name}.bias": (width,)}


def _save_tokenizer(folder: Path) -> int:
    """A byte-level BPE with RoBERTa's special tokens in their places; returns the size of its vocabulary."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator([WORDS], trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    tokenizer.model.save(str(folder))
    kept = {"add_prefix_space": True, "model_max_length": 512, "tokenizer_class": "RobertaTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(kept), encoding="utf-8")
    return tokenizer.get_vocab_size()
