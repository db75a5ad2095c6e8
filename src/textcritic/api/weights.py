"""Log importance weights and tokens as users give them: arrays, files, shards."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeGuard, TypeVar

import numpy as np

from textcritic.errors import TextcriticError, named
from textcritic.files import DAMAGED, read_json
from textcritic.inference.importance import ExactWeights, LogWeights, log_likelihoods
from textcritic.inference.importance.weights import DRAWN, checked_tokens, numbered, real_numbers
from textcritic.inference.statistics import Array

W = TypeVar("W", bound=LogWeights)


def weights_of(weights: object, tokens: object) -> LogWeights:
    """Shards put together, with their tokens.

    Both are as `textcritic.importance` takes them.

    Raises:
        TextcriticError: as `textcritic.importance`.
    """
    joined = _joined(weights, tokens, LogWeights, "weights")
    if not _are_shards(weights):
        with named(_name(weights, "weights")):
            log_likelihoods(joined)  # refuses texts without a draw of some probability
    return joined


def exact_of(reverse: object, tokens: object, weights: object) -> ExactWeights:
    """Shards of exact states put together; `weights` are those that were given with them.

    Raises:
        TextcriticError: as `textcritic.importance`; or one file is given as both.
    """
    paths = [Path(one) for one in (weights, reverse) if isinstance(one, str | os.PathLike)]
    if len(paths) == 2 and paths[0].exists() and paths[1].exists() and paths[0].samefile(paths[1]):
        raise TextcriticError(f"{paths[1]}: given as weights and as `reverse`; give as `reverse` those of exact states")
    return _joined(reverse, tokens, ExactWeights, "reverse")


def _joined(given: object, tokens: object, of: type[W], name: str) -> W:
    every = [(one, f"{name}[{n}]") for n, one in enumerate(given)] if _are_shards(given) else [(given, name)]
    counted = None if tokens is None else _tokens(tokens)
    shards = []
    for one, otherwise in every:
        with named(_name(one, otherwise)):
            shards.append(_shard(one, counted, of))
    return shards[0].joined(shards[1:])


def _are_shards(given: object) -> TypeGuard[Sequence[object]]:
    return isinstance(given, list | tuple) and any(map(_is_shard, given))


def _name(given: object, otherwise: str) -> str:
    return (os.fspath(given) if isinstance(given, str | os.PathLike) else "") or otherwise


def _is_shard(given: object) -> bool:
    """Whether this is a set of weights rather than a row of them."""
    return isinstance(given, str | os.PathLike | LogWeights) or getattr(given, "ndim", 1) == 2


def _shard(given: object, tokens: Array | None, of: type[W]) -> W:
    if isinstance(given, str | os.PathLike):
        path = Path(given)
        if not os.fspath(given):
            raise TextcriticError("is empty; give the path of a file")
        given = _array(path) if path.suffix != ".npz" else None
        if given is None or isinstance(given, np.lib.npyio.NpzFile):  # an archive with another ending
            given = of.read(path)
    if isinstance(given, LogWeights):
        if given.exact and not of.exact:
            raise TextcriticError("log weights of exact states; give them as `reverse`")
        found = of(given.ids, given.log_weights, given.tokens if tokens is None else tokens, given.log_p, given.log_q)
    elif tokens is None:
        raise TextcriticError("no `tokens`; give how many the texts have together, or a file with one number for each")
    else:
        array = real_numbers(given, "log weights", DRAWN)
        found = of(numbered(array), array, tokens)
    finite = found.log_weights[np.isfinite(found.log_weights)] if of.exact else found.log_weights
    if finite.size and finite.min() >= 0 and finite.max() > 0:
        raise TextcriticError(
            "log weights: not one is below 0, so these are no log weights of texts: perplexity would be below 1, which"
            " cannot be; give log p(x, z) - log q(z | x) in nats, and not the weights themselves"
        )
    return found


def _array(path: Path) -> object:
    try:
        return np.load(path, allow_pickle=False)
    except FileNotFoundError as error:
        raise TextcriticError(f"{path}: no such file") from error
    except MemoryError as error:
        raise TextcriticError(f"{path}: larger than memory, or damaged; give fewer draws at a time") from error
    except DAMAGED as error:
        raise TextcriticError(f"{path}: not a .npy file of numbers; write one by `numpy.save`") from error


def _tokens(given: object) -> Array:
    """One whole number, or one for each text; `LogWeights` checks their shape."""
    if isinstance(given, str) and _is_number(given):
        return checked_tokens(float(given))
    if isinstance(given, str | os.PathLike):
        return _tokens_of_file(Path(given))
    return checked_tokens(given)


def _tokens_of_file(path: Path) -> Array:
    if path.suffix == ".npy":
        found = _array(path)
    elif path.suffix == ".json":
        found = read_json(path, "give a list of numbers, one for each text")
    elif path.suffix in {".txt", ".csv"}:
        found = _column(path)
    else:
        raise TextcriticError(f"tokens: {path} is no number, and no .npy, .txt, .csv or .json file")
    array = checked_tokens(found, None, str(path))
    if array.ndim != 1:
        raise TextcriticError(f"{path}: shape {array.shape}; give a list of numbers, one for each text")
    return array


def _column(path: Path) -> list[float]:
    """A number a line; the first line may be a heading."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split()
    except FileNotFoundError as error:
        raise TextcriticError(f"{path}: no such file") from error
    except (OSError, ValueError) as error:
        raise TextcriticError(f"{path}: cannot be read as text") from error
    if lines and not _is_number(lines[0]):
        lines = lines[1:]
    faulty = next((line for line in lines if not _is_number(line)), None)
    if faulty is not None:
        raise TextcriticError(f"{path}: {faulty[:20]!r} is not a number; give a number a line, one for each text")
    return [float(line) for line in lines]


def _is_number(text: str) -> bool:
    """Whether it is a number as anybody writes one; Python reads `1_0` as 10, and digits of other scripts."""
    if "_" in text or not text.isascii():
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True
