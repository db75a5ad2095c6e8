"""A hidden semi-Markov language model: its tables, their validation, and a folder that holds them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from textcritic.errors import TextcriticError
from textcritic.files import read_json, whole_folder, write_json
from textcritic.generators.hsmm.lexicon import Lexicon

WEIGHTS, CONFIG = "model.safetensors", "config.json"
TABLES = ("emission", "transition", "initial", "end")
TOLERANCE = 1e-4  # of what a distribution sums to; columns of millions of rows are normalised in fp32


@dataclass(frozen=True)
class HSMM:
    """A hidden semi-Markov language model with K states (section 3 and appendix D of the paper).

    A state emits a segment of 1 to D tokens, a row of the lexicon; then the sequence ends or another state follows.
    The published model has no end: there the number of segments is given.

    Attributes:
        lexicon: the segments that can be emitted, R rows.
        emission: p(length, n-gram | state), [R, K]; each column sums to one.
        transition: p(next state | state), [K, K]; each row sums to one.
        initial: p(first state), [K].
        end: p(the sequence ends after this segment | its state), [K].
    """

    lexicon: Lexicon
    emission: torch.Tensor
    transition: torch.Tensor
    initial: torch.Tensor
    end: torch.Tensor

    def __post_init__(self) -> None:
        states, rows = len(self.initial), len(self.lexicon)
        shapes = {"emission": (rows, states), "transition": (states, states), "initial": (states,), "end": (states,)}
        for name, shape in shapes.items():
            table = getattr(self, name)
            if tuple(table.shape) != shape:
                raise TextcriticError(f"hsmm: {name} has shape {tuple(table.shape)}; {shape} would be right")
            if (table.dtype, table.device) != (self.emission.dtype, self.emission.device):
                raise TextcriticError(f"hsmm: {name} is {table.dtype} on {table.device}, unlike the emission table")

    @property
    def states(self) -> int:
        """Number of states K."""
        return len(self.initial)

    @property
    def parameters(self) -> int:
        """Number of probabilities held: R K + K K + 2 K."""
        return sum(getattr(self, name).numel() for name in TABLES)

    def to(self, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> "HSMM":
        """The same model with its tables on another device or of another type."""
        return replace(self, **{name: getattr(self, name).to(device=device, dtype=dtype) for name in TABLES})

    def validate(self) -> None:
        """Check the tables' values.

        Raises:
            TextcriticError: an entry is negative or not finite, or a distribution does not sum to one.
        """
        sums = {
            "emission": self.emission.sum(0, dtype=torch.float64),
            "transition": self.transition.sum(1, dtype=torch.float64),
            "initial": self.initial.sum(0, keepdim=True, dtype=torch.float64),
        }
        for name, total in sums.items():
            worst = float((total - 1).abs().max())  # NaN and infinity are in the sums
            if not worst < TOLERANCE:
                raise TextcriticError(f"hsmm: a distribution of {name} is off one by {worst:.2g}; normalise it")
        for name in TABLES:
            least = float(getattr(self, name).min())
            if not least >= 0:
                raise TextcriticError(f"hsmm: {name} has an entry of {least:.2g}; probabilities are 0 to 1")
        if not float(self.end.max()) <= 1:
            raise TextcriticError(f"hsmm: end has an entry of {float(self.end.max()):.2g}; probabilities are 0 to 1")

    def tensors(self) -> dict[str, torch.Tensor]:
        """What a file holds besides `vocabulary` and `longest` of the lexicon.

        The tables stay on their device and keep their layout in memory: a matrix product with another layout is rounded
        otherwise, and a training that goes on from a file would not equal one that was never interrupted.
        """
        tensors = {name: getattr(self, name) for name in TABLES}
        for n, codes in enumerate(self.lexicon.codes, start=1):
            tensors[f"codes{n}"] = torch.from_numpy(codes.view(np.int64))
        return {**tensors, "counts": torch.from_numpy(self.lexicon.counts)}

    @classmethod
    def of_tensors(cls, tensors: Mapping[str, torch.Tensor], vocabulary: int, longest: int) -> "HSMM":
        """The inverse of `tensors`; a KeyError where one is missing."""
        codes = (tensors[f"codes{n}"].cpu().numpy().view(np.uint64) for n in range(1, longest + 1))
        lexicon = Lexicon(vocabulary, tuple(codes), tensors["counts"].cpu().numpy())
        return cls(lexicon, **{name: tensors[name] for name in TABLES})

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write a model folder, whole or not at all.

        Raises:
            TextcriticError: the model is not valid, or the folder cannot be written.
        """
        self.validate()
        config = {
            "kind": "hsmm",
            "states": self.states,
            "vocabulary": self.lexicon.vocabulary,
            "longest": self.lexicon.longest,
            "rows": len(self.lexicon),
        }
        with whole_folder(folder) as temporary:
            save_file({name: tensor.contiguous() for name, tensor in self.tensors().items()}, temporary / WEIGHTS)
            write_json(temporary / CONFIG, config)

    @classmethod
    def load(cls, folder: str | os.PathLike[str], device: torch.device | str = "cpu") -> "HSMM":
        """Read a model folder.

        Raises:
            TextcriticError: it holds no such model, or one that is damaged or not valid.
        """
        config = read_json(Path(folder) / CONFIG)
        if not isinstance(config, dict) or config.get("kind") != "hsmm":
            raise TextcriticError(f"{Path(folder) / CONFIG}: not of a hidden semi-Markov model; give the folder of one")
        path = Path(folder) / WEIGHTS
        try:
            with safe_open(path, framework="pt", device=str(device)) as weights:
                tensors = {name: weights.get_tensor(name) for name in weights.keys()}  # noqa: SIM118
            model = cls.of_tensors(tensors, config["vocabulary"], config["longest"])
            model.validate()
        except FileNotFoundError as error:
            raise TextcriticError(f"{path}: no such file; give the folder of a hidden semi-Markov model") from error
        except (OSError, KeyError, TypeError, ValueError, SafetensorError, TextcriticError) as error:
            raise TextcriticError(
                f"{path}: not a whole model ({error}); delete its folder and train it again"
            ) from error
        return model
