"""Tokenizers and models: from a folder on disk, or initialised from a configuration; never from the network."""

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

os.environ["HF_HUB_OFFLINE"] = "1"  # read when transformers is imported; only the download rules use the network

import torch
from safetensors import SafetensorError, safe_open
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import AutoConfig, AutoTokenizer, PreTrainedTokenizerFast
from transformers.utils import logging as transformers_logging

from textcritic.corpora import END, SEPARATOR
from textcritic.download import code_mark
from textcritic.errors import TextcriticError, first_line, suggestion
from textcritic.files import read_json, whole_folder
from textcritic.values import JsonObject

if TYPE_CHECKING:
    from transformers import PreTrainedModel

transformers_logging.set_verbosity_error()
transformers_logging.disable_progress_bar()

Init: TypeAlias = Mapping[str, Any]
"""Where weights come from, see `load_causal`."""
PADDING, CLASSIFY, SEPARATE = "[PAD]", "[CLS]", "[SEP]"
SPECIAL_TOKENS = (END, PADDING, CLASSIFY, SEPARATE)
SMALLEST_VOCABULARY = 256 + len(SPECIAL_TOKENS) + 1
# Causal masks and position numbers that old releases saved with the weights; models now make their own.
NO_WEIGHTS = re.compile(r"\.attn(\.attention)?\.(masked_)?bias$|\.position_ids$")
# The same function (the tanh form of GELU), written out in Python and as one kernel: faster, and far less memory.
FASTER = {"gelu_new": "gelu_pytorch_tanh"}
# The weights of repositories that have no others.
PICKLED = "pytorch_model.bin"
COPY_AGAIN = "delete its whole folder, and make or copy that again"
# Where our jobs write tokenizers and models; Python files are among them only where such code was allowed to run.
WRITTEN = ("encodings", "generators", "classifiers", "intruders")


def train_tokenizer(texts: Iterable[str], out_dir: str | os.PathLike[str], vocabulary: int) -> None:
    """Train a byte-level BPE with GPT-2's pre-tokenisation and save it as a transformers tokenizer folder.

    The blank line between sections is one token, as the paper's special marker is (section 4).

    `add_special_tokens=True` puts a text between [CLS] and [SEP] (for classifiers), and a second text between that and
    another [SEP] (for detectors); language models never use it.

    Args:
        texts: the training texts; streamed.
        out_dir: folder to write, whole or not at all.
        vocabulary: number of entries, the 256 bytes, the 4 special tokens and the separator included; fewer are made
            when the texts hold fewer pairs.

    Raises:
        TextcriticError: the vocabulary is smaller than the bytes and special tokens.
    """
    if vocabulary < SMALLEST_VOCABULARY:
        raise TextcriticError(f"encoding: vocabulary: {vocabulary} is too small; at least {SMALLEST_VOCABULARY}")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary - 1,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_tokens([AddedToken(SEPARATOR, normalized=False)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{CLASSIFY} $A {SEPARATE}",
        pair=f"{CLASSIFY} $A {SEPARATE} $B:1 {SEPARATE}:1",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (CLASSIFY, SEPARATE)],
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=END,
        eos_token=END,
        pad_token=PADDING,
        cls_token=CLASSIFY,
        sep_token=SEPARATE,
        clean_up_tokenization_spaces=False,
    )
    with whole_folder(out_dir) as folder:
        fast.save_pretrained(folder)


def save_hub_tokenizer(folder: str | os.PathLike[str], out_dir: str | os.PathLike[str]) -> None:
    """Copy the tokenizer of a pretrained model's folder into a folder of its own; raises as `load_tokenizer`."""
    tokenizer = load_tokenizer(folder)
    with whole_folder(out_dir) as temporary:
        tokenizer.save_pretrained(temporary)


def load_tokenizer(folder: str | os.PathLike[str]) -> PreTrainedTokenizerFast:
    """Load a fast tokenizer from a folder.

    Raises:
        TextcriticError: the folder does not exist, or holds no fast tokenizer.
    """
    _require_folder(folder)
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            folder, local_files_only=True, use_fast=True, trust_remote_code=custom_code(folder)
        )
    except Exception as error:  # transformers raises OSError, ValueError, TypeError, KeyError ... for the same fault
        _refuse_code(folder, error)
        raise TextcriticError(
            f"{folder}: holds no tokenizer that can be read; a folder saved with save_pretrained has tokenizer.json "
            f"and tokenizer_config.json ({_error_text(error, folder)})"
        ) from error
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise TextcriticError(f"{folder}: holds no fast tokenizer; convert it so that the folder has tokenizer.json")
    if len(tokenizer) <= len(set(tokenizer.all_special_ids)):  # what transformers invents where there is no vocabulary
        raise TextcriticError(
            f"{folder}: holds no tokenizer's vocabulary; copy tokenizer.json, or vocab.json and merges.txt, or "
            "vocab.txt, into it"
        )
    return tokenizer


def tokens_of(folder: str | os.PathLike[str]) -> Callable[[list[str]], list[int]]:
    """A function that counts the tokens of texts, special tokens not included; raises as `load_tokenizer`."""
    tokenizer = load_tokenizer(folder)

    def lengths(texts: list[str]) -> list[int]:
        if not texts:
            return []
        encoded = tokenizer(
            texts, add_special_tokens=False, split_special_tokens=True, return_attention_mask=False, verbose=False
        )
        return [len(ids) for ids in encoded["input_ids"]]

    return lengths


def decode(tokenizer: PreTrainedTokenizerFast, ids: list[int]) -> str:
    """The text of drawn ids, without the special tokens at its two ends; one in the middle stays visible."""
    special = set(tokenizer.all_special_ids)
    start, stop = 0, len(ids)
    while start < stop and ids[start] in special:
        start += 1
    while stop > start and ids[stop - 1] in special:
        stop -= 1
    text = tokenizer.decode(ids[start:stop], skip_special_tokens=False, clean_up_tokenization_spaces=False)
    return str(text)


def load_causal(
    init: Init,
    tokenizer: PreTrainedTokenizerFast,
    seed: int = 0,
    context: int | None = None,
) -> "PreTrainedModel":
    """Load or initialise a causal language model: float32, on the CPU, in evaluation mode, sdpa attention if it has it.

    Args:
        init: `{"folder": path}` (a user's, or where a hub model was downloaded to) or `{"config": {"model_type": ...,
            ...}}`, whose vocabulary size and end-of-text ids are the tokenizer's.
        tokenizer: the tokenizer of the encoding.
        seed: seed of the initial weights when they come from a configuration.
        context: tokens that the model will be asked to read at once, checked against its position table.

    Raises:
        TextcriticError: a fault of the folder, its weights or the configuration; the line says which.
    """
    from transformers import AutoModelForCausalLM  # half of this module's import time, and tokenizers need no models

    model: PreTrainedModel = load_model(AutoModelForCausalLM, init, tokenizer, seed)
    positions = getattr(model.config, "max_position_embeddings", None)
    if context is not None and positions is not None and context > positions:
        raise TextcriticError(
            f"training.context: {context} is more than the model's positions; use at most {positions}"
        )
    return model


def load_model(
    auto_class: Any,
    init: Init,
    tokenizer: PreTrainedTokenizerFast,
    seed: int = 0,
    new_head: bool = False,
    **changes: object,
) -> Any:
    """As `load_causal` for any transformers auto class.

    Args:
        auto_class: e.g. `AutoModelForSequenceClassification`.
        init: see `load_causal`.
        tokenizer: see `load_causal`.
        seed: seed of every weight that is not loaded.
        new_head: whether weights outside the base model may be absent from the folder (they start at random).
        changes: configuration keys to set, e.g. `num_labels`.

    Raises:
        TextcriticError: as `load_causal`.
    """
    folder = init_folder(init)
    with torch.random.fork_rng(devices=[]):  # the caller's random numbers go on as if nothing was loaded
        torch.default_generator.manual_seed(seed)
        if folder is None:
            model = _from_config(auto_class, init["config"], tokenizer, changes)
        else:
            model = _from_folder(auto_class, folder, new_head, changes)
    entries = model.get_input_embeddings().weight.shape[0]
    if len(tokenizer) > entries:
        raise TextcriticError(
            f"{folder or 'init.config'}: the model embeds {entries} tokens, the encoding has {len(tokenizer)}; "
            "use the model's own tokenizer as the encoding"
        )
    return model.eval()


def init_folder(init: Init) -> Path | None:
    """The folder that `init` loads weights from; None when it starts from a configuration."""
    return Path(init["folder"]) if "folder" in init else None


def require_same_tokens(folder: Path, tokenizer: PreTrainedTokenizerFast) -> None:
    """Make sure that pretrained weights are given the token ids that they were trained on.

    Raises:
        TextcriticError: the folder's own tokenizer has another vocabulary.
    """
    own = load_tokenizer(folder).get_vocab()
    given = tokenizer.get_vocab()
    if own != given:
        raise TextcriticError(
            f"{folder}: its tokenizer has {len(own):,} tokens and is not the encoding's, of {len(given):,}; "
            "use an encoding with this model's own tokenizer"
        )


def _from_config(
    auto_class: Any, config: JsonObject, tokenizer: PreTrainedTokenizerFast, changes: Mapping[str, object]
) -> Any:
    keys = dict(config)
    model_type = keys.pop("model_type", None)
    if model_type is None:
        raise TextcriticError("init.config: the key 'model_type' is missing; e.g. gpt2")
    try:
        defaults = AutoConfig.for_model(model_type)
    except ValueError as error:
        raise TextcriticError(
            f"init.config.model_type: '{model_type}' is not a model type of transformers; e.g. gpt2"
        ) from error
    names = {*defaults.to_dict(), *defaults.attribute_map}
    for key in keys:
        if key not in names:
            hint = suggestion(key, names, "")
            raise TextcriticError(
                f"init.config.{key}: a {model_type} configuration has no such key{'; ' * bool(hint)}{hint}"
            )
    ids = {
        "vocab_size": len(tokenizer),
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    try:
        full = AutoConfig.for_model(model_type, **{**ids, **keys, **changes})
        return auto_class.from_config(full, dtype=torch.float32)
    except (ValueError, TypeError, KeyError, AssertionError, RuntimeError) as error:
        raise TextcriticError(f"init.config: no {model_type} can be built from it: {first_line(error)}") from error


def _from_folder(auto_class: Any, folder: Path, new_head: bool, changes: Mapping[str, object]) -> Any:
    """A model in float32, whole and of the kind that is asked for; see `load_model` for the arguments."""
    _require_folder(folder)
    _require_weights(folder)
    try:
        trusted = custom_code(folder)
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=trusted)
        faster = {"activation_function": FASTER.get(getattr(config, "activation_function", ""))}
        model, report = auto_class.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=trusted,
            dtype=torch.float32,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are in the report
            **{key: value for key, value in faster.items() if value},
            **changes,
        )
    except Exception as error:  # as with tokenizers; a configuration is checked field by field
        _refuse_code(folder, error)
        raise TextcriticError(
            f"{folder}: no model can be loaded from it: {_error_text(error, folder)}; copy it again, or save it again "
            "with save_pretrained"
        ) from error
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


def custom_code(folder: str | os.PathLike[str]) -> bool:
    """Whether Python files in a model's folder may run: its download marked it so, since its hub entry allows it.

    What was made here from such a model may run them too. A folder of the user's own may not, whatever it holds.
    """
    path, results = Path(folder).resolve(), Path("results").resolve()
    if path.parent == results / "raw/hub":
        return code_mark(path).is_file()
    return any(path.is_relative_to(results / part) for part in WRITTEN) and any(path.glob("*.py"))


def _error_text(error: Exception, folder: str | os.PathLike[str]) -> str:
    """What transformers says, without the folder, which is named already."""
    return first_line(error).replace(f"{os.fspath(folder)}/", "").replace(os.fspath(folder), "it")


def _refuse_code(folder: str | os.PathLike[str], error: Exception) -> None:
    if "trust_remote_code" in str(error):
        raise TextcriticError(
            f"{folder}: the model needs Python code of its own, which is not run; an entry of the hub registry, pinned"
            " to a commit that you have read, can allow it (`custom_code: true`)"
        ) from error


def _require_folder(folder: str | os.PathLike[str]) -> None:
    if not Path(folder).is_dir():
        raise TextcriticError(f"{folder}: no such folder; give the folder of a saved model or tokenizer")


def _require_kind(folder: Path, saved_as: object, model: "PreTrainedModel") -> None:
    """The weights were trained as this kind of model: a masked language model, for example, is not a causal one."""
    wanted = type(model).__name__
    if isinstance(saved_as, list) and saved_as and not {wanted, type(model.base_model).__name__} & set(saved_as):
        raise TextcriticError(
            f"{folder}: holds a {' and '.join(saved_as)}, which cannot serve as {wanted}; give a model of that kind"
        )


def _require_weights(folder: Path) -> None:
    """Make sure that every file of the weights is there and, in safetensors form, as long as its header says."""
    if not (folder / "config.json").is_file():
        raise TextcriticError(f"{folder}: has no config.json; give a folder saved with save_pretrained")
    if (folder / PICKLED).is_file() and not (folder / "model.safetensors").is_file():
        return  # transformers reads tensors alone from it
    index = folder / "model.safetensors.index.json"
    sharded = {"weight_map": {"": "model.safetensors"}}
    if index.is_file():
        sharded = read_json(index, COPY_AGAIN)
    shards = sharded.get("weight_map") if isinstance(sharded, dict) else None
    if not isinstance(shards, dict) or not all(isinstance(shard, str) for shard in shards.values()):
        raise TextcriticError(f"{index}: has no `weight_map` with the name of a file for each weight; {COPY_AGAIN}")
    for shard in sorted(set(shards.values())):
        path = folder / shard
        if not path.is_file():
            raise TextcriticError(f"{path}: no such file; the folder has no weights in safetensors form, or not all")
        try:
            with safe_open(path, framework="pt"):
                pass
        except (SafetensorError, OSError, json.JSONDecodeError) as error:
            raise TextcriticError(
                f"{path}: not a whole safetensors file ({first_line(error)}); {COPY_AGAIN}"
            ) from error
