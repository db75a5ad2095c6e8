"""Tiny causal models of several architectures, with weights large enough for tokens and positions to matter."""

import torch
from transformers import (
    AutoModelForCausalLM,
    GPT2Config,
    GPTNeoConfig,
    LlamaConfig,
    PreTrainedConfig,
    PreTrainedModel,
    XGLMConfig,
)

TABLES = ("wte", "embed", "lm_head")


def configs(vocabulary: int, window: int, end: int = 0) -> dict[str, PreTrainedConfig]:
    """By architecture. Llama's heads share keys two by two; XGLM's positions are sinusoids."""
    return {
        "gpt2": GPT2Config(vocab_size=vocabulary, n_positions=window, n_embd=16, n_layer=2, n_head=2),
        "gpt-neo": GPTNeoConfig(
            vocab_size=vocabulary,
            max_position_embeddings=window,
            hidden_size=16,
            num_layers=2,
            num_heads=2,
            attention_types=[[["global", "local"], 1]],
            window_size=4,
        ),
        "llama": LlamaConfig(
            vocab_size=vocabulary,
            max_position_embeddings=window,
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
        ),
        "xglm": XGLMConfig(
            vocab_size=vocabulary,
            max_position_embeddings=window,
            d_model=16,
            ffn_dim=32,
            num_layers=2,
            attention_heads=2,
            pad_token_id=None,
            bos_token_id=end,
            eos_token_id=end,
        ),
    }


def tiny_model(config: PreTrainedConfig, seed: int, std: float = 0.45, tables: float = 0.3) -> PreTrainedModel:
    """Normal weights of standard deviation `std`, those of embeddings and of the output layer of `tables`."""
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim > 1:
                weight.normal_(std=tables if any(part in name for part in TABLES) else std)
    return model
