"""fairseq's models: built by the name of an architecture, saved as a folder without pickles, and loaded again."""

import argparse
import os
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from transformers import PreTrainedTokenizerFast

from textcritic.errors import TextcriticError, first_line, suggestion
from textcritic.files import read_json, write_json
from textcritic.generators.fairseq.shim import load_fairseq
from textcritic.training.load import load_tokenizer
from textcritic.values import JsonObject

FORMAT = "textcritic/fairseq-1"
CONFIG, WEIGHTS, DICTIONARY = "config.json", "model.safetensors", "dictionary.npy"
NO_TOKEN = -1
PIECE = 1 << 24  # tokens of a stream that are counted together
SPECIAL_SYMBOLS = 4  # <s>, <pad>, </s> and <unk>, in this order, begin every dictionary of fairseq
# Options that fairseq takes from a task or a criterion and that its models read, in addition to the model's own.
POSITIONS = 1024
OTHER_OPTIONS = {
    "max_source_positions": POSITIONS,
    "max_target_positions": POSITIONS,
    "criterion": "cross_entropy",
    "noise": None,
}
LONGEST_PREDICTED = 255  # of the length that a non-autoregressive model predicts, both ends counted: 256 classes
# fairseq evaluates such options as Python: `[(850, 6)] * 3`.
EVALUATED = re.compile(r"[\d\s\[\](),.*+-]*|True|False")


@dataclass(frozen=True)
class FairseqModel:
    """A model of fairseq, and what it reads and writes.

    Attributes:
        module: the torch module.
        dictionary: fairseq's Dictionary of its symbols.
        tokenizer: tokenizer of the encoding that it is trained on; None if the model was built without one.
        order: tokenizer id of each symbol, -1 for one that is no token [symbols].
        architecture: its name in fairseq.
        options: fairseq's arguments, where they differ from the architecture's.
        task: fairseq's task object; for a non-autoregressive model it adds noise to targets (`inject_noise`).
    """

    module: Any
    dictionary: Any
    tokenizer: Any
    order: np.ndarray
    architecture: str
    options: Mapping[str, object]
    task: Any

    @property
    def translates(self) -> bool:
        """Whether it reads a source text."""
        return hasattr(self.module, "encoder")

    @property
    def autoregressive(self) -> bool:
        """Whether each token is predicted from those before it."""
        return not is_nonautoregressive(self.module)

    @property
    def adaptive(self) -> bool:
        """Whether its output is an adaptive softmax."""
        return getattr(self.module.decoder, "adaptive_softmax", None) is not None

    @property
    def longest_source(self) -> int:
        """Tokens of the longest source text that it can read, the end not counted; 0 if it reads none."""
        if not self.translates:
            return 0
        return int(self.module.encoder.max_positions()) - (1 if self.autoregressive else 2)

    @property
    def longest_target(self) -> int:
        """Tokens of the longest text that it can write, the end not counted."""
        # A convolutional model has no positions of its own.
        positions = min(self.module.decoder.max_positions(), self.options.get("max_target_positions", POSITIONS))
        if hasattr(self.module.decoder, "embed_length"):
            positions = min(positions, LONGEST_PREDICTED)
        return int(positions) - (1 if self.autoregressive else 2)

    @property
    def parameters(self) -> int:
        """Number of parameters, a shared one counted once."""
        return sum(parameter.numel() for parameter in self.module.parameters())

    @cached_property
    def symbols(self) -> np.ndarray:
        """The symbol of each tokenizer id, int64 [ids]; END is </s>, a token that is not a symbol <unk>."""
        table = np.full(len(self.tokenizer), self.dictionary.unk(), np.int64)
        has_token = np.flatnonzero(self.order != NO_TOKEN)
        table[self.order[has_token]] = has_token
        return table

    def to_fairseq(self, ids: np.ndarray) -> torch.Tensor:
        """Symbols (int64) of tokenizer ids, in the same shape."""
        return torch.from_numpy(self.symbols[np.asarray(ids, np.int64)])

    def from_fairseq(self, ids: torch.Tensor | Iterable[int]) -> list[int]:
        """Tokenizer ids of symbols [symbols]; <s>, <pad> and <unk> are left out."""
        tokens = self.order[np.asarray(torch.as_tensor(ids).tolist(), np.int64)]
        return [int(token) for token in tokens[tokens != NO_TOKEN]]


def symbol_order(tokenizer: PreTrainedTokenizerFast, streams: Iterable[np.ndarray]) -> np.ndarray:
    """The tokenizer id of each symbol of a dictionary, the commonest token first, as an adaptive softmax needs it.

    Args:
        tokenizer: its END token is fairseq's </s>; its other special tokens are left out.
        streams: tokens of the train split.

    Returns:
        int32 [symbols], beginning with those of <s>, <pad>, </s> and <unk>. Ties are in the order of ids.
    """
    counts = np.zeros(len(tokenizer), np.int64)
    for stream in streams:
        for first in range(0, len(stream), PIECE):  # bincount makes a copy of 64 bits a token
            counts += np.bincount(stream[first : first + PIECE], minlength=len(tokenizer))
    special = set(tokenizer.all_special_ids)
    ranked = [int(token) for token in np.argsort(-counts, kind="stable") if token not in special]
    return np.array([NO_TOKEN, NO_TOKEN, tokenizer.eos_token_id, NO_TOKEN, *ranked], np.int32)


def build_model(
    architecture: str,
    options: Mapping[str, object],
    order: np.ndarray,
    seed: int = 0,
    tokenizer: PreTrainedTokenizerFast | None = None,
    device: str = "cpu",
) -> FairseqModel:
    """Build a model with random weights, in evaluation mode.

    Args:
        architecture: a name that fairseq knows, e.g. `transformer_wmt_en_de`, `transformer_lm`.
        options: fairseq's own arguments by name, underscores for hyphens, true for a switch: those of the model, and
            `OTHER_OPTIONS`. `max_target_positions` is a language model's `tokens_per_sample` too. `criterion:
            adaptive_loss` gives `fconv_lm` and `lstm_lm` their adaptive softmax.
        order: see `symbol_order`.
        seed: of the weights; torch's random numbers go on as if nothing was drawn.
        tokenizer: of the encoding; None where only the module is wanted.
        device: `meta` builds it without weights, to count them.

    Raises:
        TextcriticError: an architecture or option that fairseq does not have, or that cannot be built.
    """
    fairseq = load_fairseq()
    arguments = _arguments(fairseq, architecture, options)
    dictionary = _dictionary(order)
    task = _task(fairseq, architecture, arguments, dictionary)
    try:
        with torch.random.fork_rng(devices=[]), torch.device(device), warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of torch's weight_norm, which the convolutions use
            torch.default_generator.manual_seed(seed)
            module = fairseq.models.build_model(arguments, task)
    except Exception as error:  # fairseq raises AttributeError, AssertionError, ValueError ... for the same fault
        raise TextcriticError(
            f"options: no {architecture} can be built with them: {type(error).__name__}: {first_line(error)}"
        ) from error
    return FairseqModel(module.eval(), dictionary, tokenizer, order, architecture, dict(options), task)


def save_model(model: FairseqModel, folder: Path) -> None:
    """Write a model into an existing folder: config.json, model.safetensors, dictionary.npy and its tokenizer."""
    model.tokenizer.save_pretrained(folder)
    save_file({name: weight.contiguous() for name, weight in weights(model.module).items()}, folder / WEIGHTS)
    np.save(folder / DICTIONARY, model.order, allow_pickle=False)
    described = {"format": FORMAT, "architecture": model.architecture, "options": dict(model.options)}
    write_json(folder / CONFIG, described)


def load_model(folder: str | os.PathLike[str], architecture: str | None = None) -> FairseqModel:
    """Load a model that `save_model` wrote: on the CPU, in evaluation mode.

    Args:
        folder: model folder.
        architecture: what it must hold; None takes any.

    Raises:
        TextcriticError: no such folder, one that this project did not write, another architecture, or a fault of its
            files. Pickles, as fairseq's own checkpoints are, are never read.
    """
    path = Path(folder)
    config = _config(path)
    if architecture not in (None, config["architecture"]):
        raise TextcriticError(
            f"{path}: holds a {config['architecture']}, not a {architecture}; delete it and train the generator again"
        )
    tokenizer = load_tokenizer(path)
    order = _order(path / DICTIONARY, tokenizer)
    model = build_model(config["architecture"], config["options"], order, tokenizer=tokenizer)
    try:
        set_weights(model.module, load_file(path / WEIGHTS))
    except (OSError, RuntimeError, SafetensorError) as error:
        raise TextcriticError(f"{path / WEIGHTS}: does not hold the weights of a {model.architecture}") from error
    return model


def weights(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """The parameters by name, a shared one once. Buffers are left out: fairseq recomputes them on loading."""
    return {name: parameter.detach() for name, parameter in module.named_parameters()}


@torch.no_grad()
def set_weights(module: torch.nn.Module, values: Mapping[str, torch.Tensor]) -> None:
    """Copy `weights` into a module; raises RuntimeError where names or shapes are others."""
    own = dict(module.named_parameters())
    if {name: value.shape for name, value in values.items()} != {name: value.shape for name, value in own.items()}:
        raise RuntimeError("the weights have other names or shapes")
    for name, value in values.items():
        own[name].copy_(value)


def translates(architecture: str) -> bool:
    """Whether the models of an architecture read a source text; raises TextcriticError if fairseq does not have it."""
    fairseq = load_fairseq()
    return not issubclass(_class(fairseq, architecture), fairseq.models.FairseqLanguageModel)


def is_nonautoregressive(module: object) -> bool:
    """Whether a module is one of fairseq's non-autoregressive translators."""
    from fairseq.models.nat import FairseqNATModel

    return isinstance(module, FairseqNATModel)


def _config(path: Path) -> JsonObject:
    """What config.json says; refuses whatever `save_model` did not write."""
    if path.is_file():
        raise TextcriticError(f"{path}: a file; checkpoints of fairseq are pickles, which are not read: train here")
    if not path.is_dir():
        raise TextcriticError(f"{path}: no such folder; give the folder of a trained model")
    config = read_json(path / CONFIG, "train the generator again") if (path / CONFIG).is_file() else None
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise TextcriticError(f"{path}: not a model of kind fairseq that was trained here: {CONFIG} does not say so")
    return config


def _order(path: Path, tokenizer: PreTrainedTokenizerFast) -> np.ndarray:
    try:
        order: np.ndarray = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise TextcriticError(f"{path}: not a whole .npy file; train the generator again") from error
    special = order[:SPECIAL_SYMBOLS].tolist()
    if special != [NO_TOKEN, NO_TOKEN, tokenizer.eos_token_id, NO_TOKEN] or order.max() >= len(tokenizer):
        raise TextcriticError(
            f"{path}: its symbols are not those of the tokenizer in its folder; train the generator again"
        )
    return order


def _dictionary(order: Sequence[int] | np.ndarray) -> Any:
    """The Dictionary of fairseq: its four special symbols, then one for each token, by the number of its id."""
    from fairseq.data import Dictionary

    dictionary = Dictionary()
    for token in order[SPECIAL_SYMBOLS:]:
        dictionary.add_symbol(str(token))
    if len(dictionary) != len(order):
        raise TextcriticError("dictionary: holds a token twice; make it again")
    return dictionary


def _class(fairseq: ModuleType, architecture: str) -> Any:
    """The class of an architecture's models."""
    registry = fairseq.models.ARCH_MODEL_REGISTRY
    if architecture not in registry:
        hint = suggestion(architecture, registry, "e.g. transformer_wmt_en_de, transformer_lm")
        raise TextcriticError(f"architecture: fairseq has no architecture {architecture!r}; {hint}")
    return registry[architecture]


class _Parser(argparse.ArgumentParser):
    """Raises where argparse would end the program."""

    def error(self, message: str) -> NoReturn:
        raise TextcriticError(f"options: {message}")


def _arguments(fairseq: ModuleType, architecture: str, options: Mapping[str, object]) -> argparse.Namespace:
    """The architecture's arguments as fairseq's command line would give them."""
    parser = _Parser(prog="options", argument_default=argparse.SUPPRESS, allow_abbrev=False, add_help=False)
    _class(fairseq, architecture).add_args(parser)
    actions = {action.dest: action for action in parser._actions}
    words = []
    for name, value in options.items():
        if name in OTHER_OPTIONS:
            continue
        if name not in actions:
            hint = suggestion(name, {*actions, *OTHER_OPTIONS}, f"fairseq lists those of {architecture}")
            raise TextcriticError(f"options.{name}: a {architecture} has no such option; {hint}")
        words += _words(name, actions[name], value)
    arguments = parser.parse_args(words)
    others = {**OTHER_OPTIONS, **{name: options[name] for name in OTHER_OPTIONS if name in options}}
    # How the targets that a non-autoregressive model reads are spoilt in training: fairseq's examples/
    # nonautoregressive_translation/scripts.md masks them as a whole, and some tokens of a masked language model's.
    others["noise"] = others["noise"] or ("random_mask" if architecture.startswith("cmlm") else "full_mask")
    for name, value in {**others, "arch": architecture}.items():
        setattr(arguments, name, value)
    arguments.tokens_per_sample = arguments.max_target_positions
    arguments.label_smoothing = 0.0
    arguments.add_bos_token = arguments.tpu = False
    fairseq.models.ARCH_CONFIG_REGISTRY[architecture](arguments)
    return arguments


def _words(name: str, action: argparse.Action, value: object) -> list[str]:
    """An option as the words of a command line."""
    flag = action.option_strings[-1]
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise TextcriticError(f"options.{name}: {value!r} should be true or false")
        return [flag] if value == action.const else []
    if name.endswith("_path"):
        raise TextcriticError(f"options.{name}: files of fairseq are not read; leave it out")
    if isinstance(value, str) and re.search(r"[\[(_]", value) and not EVALUATED.fullmatch(value):
        raise TextcriticError(f"options.{name}: {value!r} should have only numbers between its brackets")
    return [f"{flag}={value}"]


def _task(fairseq: ModuleType, architecture: str, arguments: argparse.Namespace, dictionary: Any) -> Any:
    """The task of fairseq for the architecture, made without data."""
    from fairseq.models import FairseqEncoderDecoderModel, FairseqLanguageModel
    from fairseq.models.nat import FairseqNATModel, NACRFTransformerModel, NATransformerModel
    from fairseq.tasks.language_modeling import LanguageModelingTask
    from fairseq.tasks.translation import TranslationTask
    from fairseq.tasks.translation_lev import TranslationLevenshteinTask

    model = _class(fairseq, architecture)
    if issubclass(model, FairseqNATModel):
        # The others have no likelihood that one pass gives, or need extensions that fairseq's wheel lacks.
        if not issubclass(model, NATransformerModel) or issubclass(model, NACRFTransformerModel):
            raise TextcriticError(
                f"architecture: {architecture} does not predict length and tokens independently; of the "
                "non-autoregressive ones use nonautoregressive_transformer, iterative_nonautoregressive_transformer or "
                "cmlm_transformer"
            )
        return TranslationLevenshteinTask(arguments, dictionary, dictionary)
    if issubclass(model, FairseqEncoderDecoderModel):
        return TranslationTask(arguments, dictionary, dictionary)
    if issubclass(model, FairseqLanguageModel):
        return LanguageModelingTask(arguments, dictionary)
    raise TextcriticError(f"architecture: {architecture} neither translates text nor is a language model")
