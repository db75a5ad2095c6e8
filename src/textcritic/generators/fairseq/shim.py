"""fairseq 0.12.2, of 2022, on Python 3.11 and today's torch and numpy: the import, and nothing else.

The only place that imports fairseq. What is changed in other libraries is put back as soon as the import has ended.
"""

import dataclasses
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import nn

from textcritic.errors import TextcriticError, first_line

INSTALL = "run `textcritic install fairseq`"
# Names that numpy 1.24 removed; modules of fairseq read them when they are imported.
REMOVED = {"float": float, "int": int, "bool": bool}
# Copies of an encoder layer's weights, for torch's fast path (see `_take_the_ordinary_path`).
COPIES = tuple(f"{part}_{kind}" for part in ("in_proj", "out_proj", "fc1", "fc2") for kind in ("weight", "bias"))


@cache
def load_fairseq() -> ModuleType:
    """Import fairseq; afterwards its modules can be imported as usual, inside functions.

    Raises:
        TextcriticError: fairseq is not installed, or something that it needs is not.
    """
    spec = find_spec("fairseq")
    if spec is None or spec.origin is None:  # find_spec finds a folder of this name next to a script, without origin
        raise TextcriticError(f"fairseq is not installed; {INSTALL}")
    with ExitStack() as changed:
        for change in (_relaxed_dataclasses, _removed_names, _quiet):
            changed.enter_context(change())
        try:
            import fairseq
        except ImportError as error:
            raise TextcriticError(f"fairseq cannot be imported ({first_line(error)}); {INSTALL}") from error
    _take_the_ordinary_path()
    _embed_in_full_precision()
    # Of the masks that fairseq's attention gives to torch's, one is of truth values and the other of numbers.
    warnings.filterwarnings("ignore", "Support for mismatched key_padding_mask and attn_mask", UserWarning)
    module: ModuleType = fairseq
    return module


def installed() -> bool:
    """Whether fairseq can be imported."""
    try:
        load_fairseq()
    except TextcriticError:
        return False
    return True


@contextmanager
def _relaxed_dataclasses() -> Iterator[None]:
    """Let fairseq's dataclasses be defaults of fields of others.

    Since Python 3.11, a default that has no hash is refused, and a dataclass has none unless it is frozen. A
    `default_factory` in its place would break the configurations that fairseq makes of these classes.
    """
    real: Any = dataclasses.dataclass

    def relaxed(cls: Any = None, /, **options: Any) -> Any:
        def wrap(plain: Any) -> Any:
            decorated = real(plain, **options)
            if plain.__module__.partition(".")[0] == "fairseq" and decorated.__hash__ is None:
                decorated.__hash__ = object.__hash__
            return decorated

        return wrap if cls is None else wrap(cls)

    with _attribute(dataclasses, "dataclass", relaxed):
        yield


@contextmanager
def _removed_names() -> Iterator[None]:
    with ExitStack() as changed:
        for name, value in REMOVED.items():
            if name not in vars(np):
                changed.enter_context(_attribute(np, name, value))
        yield


@contextmanager
def _quiet() -> Iterator[None]:
    """No lines of fairseq's own, and the root logger, which its import sets up, as it was."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    logging.getLogger("fairseq").setLevel(logging.ERROR)
    try:
        yield
    finally:
        root.handlers[:], root.level = handlers, level


@contextmanager
def _attribute(owner: object, name: str, value: object) -> Iterator[None]:
    """Set an attribute within a `with` block."""
    absent = object()
    before = vars(owner).get(name, absent)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if before is absent:
            delattr(owner, name)
        else:
            setattr(owner, name, before)


def _take_the_ordinary_path() -> None:
    """Keep fairseq's encoder layers from torch's fast path, whose private function has changed since.

    A layer takes it once weights have been loaded into it: from copies of its weights, which it keeps as parameters
    that nothing trains. Without the copies, a layer has the parameters of the architecture and no others.
    """
    from fairseq.modules.transformer_layer import TransformerEncoderLayerBase

    real: Callable[..., None] = TransformerEncoderLayerBase.__init__

    def without_copies(self: nn.Module, *args: Any, **options: Any) -> None:
        real(self, *args, **options)
        for name in COPIES:
            delattr(self, name)

    TransformerEncoderLayerBase.__init__ = without_copies
    # fairseq's own fills the copies and turns the fast path on.
    TransformerEncoderLayerBase._load_from_state_dict = nn.Module._load_from_state_dict


def _embed_in_full_precision() -> None:
    """Keep autocast from adaptive embeddings, which put what is in bf16 then into a tensor that is not."""
    from fairseq.modules import AdaptiveInput

    real: Callable[..., torch.Tensor] = AdaptiveInput.forward

    def forward(self: nn.Module, symbols: torch.Tensor) -> torch.Tensor:
        with torch.autocast(symbols.device.type, enabled=False):
            return real(self, symbols)

    AdaptiveInput.forward = forward
