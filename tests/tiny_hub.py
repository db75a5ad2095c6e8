"""Tiny GPT-2, GPT-Neo and BERT as the hub has the large ones: names of weights, shards, files of tokenizers."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import BertWordPieceTokenizer, ByteLevelBPETokenizer

from textcritic.training.load import END  # and transformers is offline from here on

from transformers import (  # isort: skip
    BertConfig,
    BertForPreTraining,
    GPT2Config,
    GPT2LMHeadModel,
    GPTNeoConfig,
    GPTNeoForCausalLM,
    GPT2TokenizerFast,
)

SHARD_BYTES = 30_000


def tiny_gpt2(folder: Path, texts: Iterable[str], tokenizer_json: bool = False) -> Path:
    """As openai-community/gpt2: no `transformer.` before the names, masks among the weights, no padding token."""
    size = _bpe(folder, texts, tokenizer_json)
    torch.manual_seed(5)
    shape = {"n_positions": 32, "n_embd": 32, "n_layer": 2, "n_head": 2, "initializer_range": 0.2}
    config = GPT2Config(vocab_size=size, bos_token_id=size - 1, eos_token_id=size - 1, **shape)
    model = GPT2LMHeadModel(config)
    weights = {name.removeprefix("transformer."): weight for name, weight in model.state_dict().items()}
    del weights["lm_head.weight"]  # the embeddings, once more
    for layer in range(config.n_layer):
        weights[f"h.{layer}.attn.bias"] = torch.ones(32, 32).tril()[None, None]
    return _save(folder, model, weights, ["GPT2LMHeadModel"])


def tiny_gpt_neo(folder: Path, texts: Iterable[str]) -> Path:
    """As EleutherAI/gpt-neo-125m: every other layer sees the last few tokens alone; masks among the weights."""
    size = _bpe(folder, texts)
    torch.manual_seed(6)
    shape = {"max_position_embeddings": 64, "hidden_size": 32, "num_layers": 2, "num_heads": 2, "window_size": 8}
    kinds = [[["global", "local"], 1]]
    ends = {"bos_token_id": size - 1, "eos_token_id": size - 1}
    config = GPTNeoConfig(vocab_size=size, attention_types=kinds, **shape, **ends)
    model = GPTNeoForCausalLM(config)
    weights = dict(model.state_dict())
    del weights["lm_head.weight"]
    for layer in range(config.num_layers):
        weights[f"transformer.h.{layer}.attn.attention.bias"] = torch.ones(64, 64).tril()[None, None]
        weights[f"transformer.h.{layer}.attn.attention.masked_bias"] = torch.tensor(-1e9)
    return _save(folder, model, weights, ["GPTNeoForCausalLM"])


def tiny_bert(folder: Path, texts: Iterable[str]) -> Path:
    """As google-bert/bert-base-cased: 512 positions, both heads of pretraining, gamma and beta for norms' weights."""
    tokenizer = BertWordPieceTokenizer(lowercase=False)
    tokenizer.train_from_iterator(texts, vocab_size=300, min_frequency=1, show_progress=False)
    folder.mkdir(parents=True)
    tokenizer.save_model(str(folder))
    _write(folder / "tokenizer_config.json", {"do_lower_case": False, "model_max_length": 512})
    torch.manual_seed(7)
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = BertConfig(vocab_size=tokenizer.get_vocab_size(), initializer_range=0.1, **shape)
    model = BertForPreTraining(config)
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    weights = {}
    for name, weight in model.state_dict().items():
        end = ".".join(name.split(".")[-2:])
        weights[name.removesuffix(end) + old.get(end, end)] = weight
    del weights["cls.predictions.decoder.weight"], weights["cls.predictions.decoder.bias"]
    return _save(folder, model, weights, ["BertForMaskedLM"])


def _bpe(folder: Path, texts: Iterable[str], tokenizer_json: bool = False) -> int:
    """Write vocab.json and merges.txt, the end of text last, or tokenizer.json; return the number of tokens."""
    tokenizer = ByteLevelBPETokenizer(add_prefix_space=False)
    tokenizer.train_from_iterator(texts, vocab_size=320, show_progress=False)
    folder.mkdir(parents=True)
    tokenizer.save_model(str(folder))
    vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    _write(folder / "vocab.json", vocabulary | {END: len(vocabulary)})
    _write(folder / "tokenizer_config.json", {"model_max_length": 1024})
    if tokenizer_json:
        GPT2TokenizerFast.from_pretrained(folder).backend_tokenizer.save(str(folder / "tokenizer.json"))
        (folder / "vocab.json").unlink()
        (folder / "merges.txt").unlink()
    return len(vocabulary) + 1


def _save(folder: Path, model: Any, weights: dict[str, torch.Tensor], architectures: list[str]) -> Path:
    """config.json, and the weights in shards with their index."""
    config = model.config.to_dict() | {"architectures": architectures}
    _write(folder / "config.json", {key: value for key, value in config.items() if key != "transformers_version"})
    shards: list[dict[str, torch.Tensor]] = [{}]
    for name, weight in weights.items():
        if shards[-1] and sum(w.nbytes for w in [*shards[-1].values(), weight]) > SHARD_BYTES:
            shards.append({})
        shards[-1][name] = weight.contiguous().clone()
    names = [f"model-{number:05}-of-{len(shards):05}.safetensors" for number in range(1, len(shards) + 1)]
    for file, shard in zip(names, shards, strict=True):
        save_file(shard, folder / file, metadata={"format": "pt"})
    where = {name: file for file, shard in zip(names, shards, strict=True) for name in shard}
    total = sum(weight.nbytes for weight in weights.values())
    _write(folder / "model.safetensors.index.json", {"metadata": {"total_size": total}, "weight_map": where})
    return folder


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
