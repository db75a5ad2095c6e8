"""A model from a folder in the hub's format: whole, and what the task asks for, or one clear line."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from transformers import AutoConfig

from textcritic.errors import TextcriticError, first_line
from textcritic.files import read_json

# Causal masks and position numbers that old releases saved with the weights; models now make their own.
NO_WEIGHTS = re.compile(r"\.attn(\.attention)?\.(masked_)?bias$|\.position_ids$")
# The same function (the tanh form of GELU), written out in Python and as one kernel: faster, and far less memory.
FASTER = {"gelu_new": "gelu_pytorch_tanh"}


def from_folder(auto_class: Any, folder: Path, new_head: bool, changes: Mapping[str, Any]) -> Any:
    """Load a model in float32; see `load.load_model` for the arguments.

    Raises:
        TextcriticError: a missing, truncated or superfluous file or weight, a weight of another shape, or a model of
            another kind.
    """
    require_folder(folder)
    _require_weights(folder)
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        faster = {"activation_function": FASTER.get(getattr(config, "activation_function", ""))}
        model, report = auto_class.from_pretrained(
            folder,
            local_files_only=True,
            dtype=torch.float32,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are in the report
            **{key: value for key, value in faster.items() if value},
            **changes,
        )
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
        raise TextcriticError(f"{folder}: no model can be loaded from it: {first_line(error)}") from error
    if not new_head:
        _require_kind(folder, config.architectures, model)
    base = model.base_model_prefix + "."
    reshaped = [name for name, *_ in report["mismatched_keys"]]
    for names, fault in (
        (report["missing_keys"], "are missing"),
        (reshaped, "have other shapes than its config.json says"),
        (report["unexpected_keys"], "have no place in the model"),
    ):
        wrong = sorted(name for name in names if not NO_WEIGHTS.search(name))
        wrong = [name for name in wrong if not new_head or name.startswith(base)]
        if wrong:
            raise TextcriticError(
                f"{folder}: {len(wrong)} weights {fault}, the first is {wrong[0]}; copy the folder again, or give one "
                "whose config.json matches its weights"
            )
    return model


def require_folder(folder: str | os.PathLike[str]) -> None:
    """Make sure that there is a folder; raises TextcriticError."""
    if not Path(folder).is_dir():
        raise TextcriticError(f"{folder}: no such folder; give the folder of a saved model or tokenizer")


def _require_kind(folder: Path, saved_as: list[str] | None, model: Any) -> None:
    """The weights were trained as this kind of model: a masked language model, say, is no causal one."""
    wanted = type(model).__name__
    if saved_as and not {wanted, type(model.base_model).__name__} & set(saved_as):
        raise TextcriticError(
            f"{folder}: holds a {' and '.join(saved_as)}, which cannot serve as {wanted}; give a model of that kind"
        )


def _require_weights(folder: Path) -> None:
    """Every file of the weights is there and as long as its header says (a truncated copy is not)."""
    if not (folder / "config.json").is_file():
        raise TextcriticError(f"{folder}: has no config.json; give a folder saved with save_pretrained")
    index = folder / "model.safetensors.index.json"
    sharded = read_json(index).get("weight_map", {}) if index.is_file() else {"": "model.safetensors"}
    for shard in sorted(set(sharded.values())):
        path = folder / shard
        if not path.is_file():
            raise TextcriticError(f"{path}: no such file; the folder has no weights in safetensors form, or not all")
        try:
            with safe_open(path, framework="pt"):
                pass
        except (SafetensorError, OSError, json.JSONDecodeError) as error:
            raise TextcriticError(
                f"{path}: not a whole safetensors file ({first_line(error)}); delete it and make or copy it again"
            ) from error
