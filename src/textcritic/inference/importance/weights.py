"""Log importance weights of texts: checked, joined over shards, read and written."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.files import arrays_of, write_arrays
from textcritic.inference.statistics import Array

ROUNDING = 1e-6  # by which log_p - log_q and log_weights may differ, as a share and in nats
MOST_NATS = 1e12  # of a log weight: more is a mistake, and sums of squares may overflow
MOST_TOKENS = 1e15
DRAWN = "give an array of N rows and K columns"
COUNTED = "give one for each text, or their total"
KINDS = {
    "b": "truth values",
    "c": "complex numbers",
    "M": "dates",
    "m": "spans of time",
    "V": "records with fields",
    "U": "texts",
    "S": "bytes",
    "O": "objects of Python",
}
"""What arrays may hold that are not real numbers, by numpy's letter."""


@dataclass(frozen=True, slots=True, eq=False)
class LogWeights:
    """log p(x_n, z_nk) - log q(z_nk | x_n) of K latent states z_nk drawn from q for each of N texts x_n, in nats.

    A weight of -inf is a draw that the model gives no probability; it counts as a draw. `ExactWeights` are those of
    draws from the posterior.

    Attributes:
        ids: of the texts (instances), all different: [N].
        log_weights: float64 [N, K].
        tokens: T_n, by which perplexity divides, float64 [N]; or [], their total, where no more is known.
        log_p: log p(x_n, z_nk), [N, K]; given with `log_q` or not at all.
        log_q: log q(z_nk | x_n), [N, K].

    Raises:
        TextcriticError: no text, no draw, values that are no real numbers, NaN, +inf, shapes that do not fit, ids that
            are not different, or tokens that are not whole numbers above 0.
    """

    ids: tuple[str, ...]
    log_weights: Array
    tokens: Array
    log_p: Array | None = None
    log_q: Array | None = None
    _known: dict[str, Array] = field(default_factory=dict, init=False, repr=False)

    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        ids = tuple(map(str, self.ids))
        weights = _draws(self.log_weights, "log weights", ids, self.exact)
        object.__setattr__(self, "ids", ids)
        object.__setattr__(self, "log_weights", weights)
        object.__setattr__(self, "tokens", checked_tokens(self.tokens, len(weights)))
        if len(set(ids)) < len(ids):
            twice = next(one for place, one in enumerate(ids) if one in ids[:place])
            raise TextcriticError(f"log weights: the id {twice!r} is given twice; each text has its own")
        if (self.log_p is None) != (self.log_q is None):
            raise TextcriticError("log weights: give log_p and log_q, or neither")
        if self.log_p is not None and self.log_q is not None:
            log_p, log_q = _draws(self.log_p, "log_p", ids), _draws(self.log_q, "log_q", ids)
            if log_p.shape != weights.shape or log_q.shape != weights.shape:
                raise TextcriticError(
                    f"log weights: shape {weights.shape}, but log_p has {log_p.shape} and log_q {log_q.shape}"
                )
            if not np.allclose(_difference(log_p, log_q, ids, self.exact), weights, ROUNDING, ROUNDING):
                raise TextcriticError("log weights: they are not log_p - log_q")
            object.__setattr__(self, "log_p", log_p)
            object.__setattr__(self, "log_q", log_q)

    @classmethod
    def of(
        cls, log_p: npt.ArrayLike, log_q: npt.ArrayLike, tokens: npt.ArrayLike, ids: Sequence[str] | None = None
    ) -> Self:
        """Of both log probabilities of each draw, which are kept.

        Args:
            log_p: log p(x_n, z_nk), [N, K]; -inf is allowed.
            log_q: log q(z_nk | x_n), [N, K]; finite, as what has no probability is not drawn.
            tokens: [N], or their total.
            ids: [N]; by default 0, 1, 2 and so on.

        Raises:
            TextcriticError: as the class.
        """
        p, q = real_numbers(log_p, "log_p", DRAWN), real_numbers(log_q, "log_q", DRAWN)
        names = numbered(p) if ids is None else tuple(ids)
        p, q = _draws(p, "log_p", names), _draws(q, "log_q", names)
        if p.shape != q.shape:
            raise TextcriticError(f"log weights: log_p has shape {p.shape} and log_q {q.shape}; give the same draws")
        return cls(names, _difference(p, q, names, cls.exact), checked_tokens(tokens), p, q)

    def once(self, name: str, make: Callable[[], Array]) -> Array:
        """What `make` makes of these weights, made when it is first asked for by this name: a pass takes seconds."""
        if name not in self._known:
            self._known[name] = make()
        return self._known[name].copy()

    @property
    def draws(self) -> int:
        """K."""
        return self.log_weights.shape[1]

    @property
    def total_tokens(self) -> float:
        """T, the tokens of all texts."""
        return float(self.tokens.sum())

    def joined(self, others: Sequence["LogWeights"]) -> Self:
        """The draws of this shard and then those of others of the same texts: 100 shards of 100 have K = 10,000.

        `log_p` and `log_q` are kept if all shards have them.

        Raises:
            TextcriticError: the texts or the tokens of a shard are others; it is named by its number, this one is 1.
        """
        for number, other in enumerate(others, 2):
            self.check_same_texts(other, f"shard {number}")
        if not others:
            return self
        shards: list[LogWeights] = [self, *others]
        parts = [np.concatenate([shard.log_weights for shard in shards], axis=1)]
        p = [shard.log_p for shard in shards if shard.log_p is not None]
        q = [shard.log_q for shard in shards if shard.log_q is not None]
        if len(p) == len(shards):
            parts += [np.concatenate(p, axis=1), np.concatenate(q, axis=1)]
        return type(self)(self.ids, parts[0], self.tokens, *parts[1:])

    def check_same_texts(self, other: "LogWeights", name: str, first: str = "the first shard") -> None:
        """Raise TextcriticError, which begins with the name, where other weights have other texts or tokens."""
        if other.ids != self.ids:
            pairs = zip(self.ids, other.ids, strict=False)
            what = next(
                (f"text {place} is {two!r}, not {one!r}" for place, (one, two) in enumerate(pairs) if one != two),
                f"{len(other.ids)} texts, not {len(self.ids)}",
            )
            raise TextcriticError(f"{name}: {what} as in {first}; both are of the same texts in one order")
        if not np.array_equal(other.tokens, self.tokens):
            raise TextcriticError(f"{name}: other numbers of tokens than in {first}; count those of the same texts")

    def save(self, path: str | os.PathLike[str], more: Mapping[str, Array] | None = None) -> None:
        """Write an .npz file, whole or not at all.

        Args:
            path: to write.
            more: other arrays to keep in the file, which `read` leaves out.

        Raises:
            TextcriticError: it cannot be written.
        """
        arrays = {"ids": np.array(self.ids), "log_weights": self.log_weights, "tokens": self.tokens}
        if self.log_p is not None and self.log_q is not None:
            arrays |= {"log_p": self.log_p, "log_q": self.log_q}
        if self.exact:
            arrays["exact"] = np.array(True)
        write_arrays(path, arrays | dict(more or {}))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote.

        Raises:
            TextcriticError: the file is missing or damaged, holds what the class does not allow, or `ExactWeights` that
                are read as other weights.
        """
        with arrays_of(path, "not an .npz file of log weights (ids, log_weights, tokens)") as arrays:
            ids = tuple(arrays["ids"].tolist())
            loaded = {name: arrays[name] for name in ("log_weights", "tokens", "log_p", "log_q") if name in arrays}
            weights, tokens = loaded.pop("log_weights"), loaded.pop("tokens")
            exact = "exact" in arrays
        if exact and not cls.exact:
            raise TextcriticError(f"{path}: log weights of exact states; give them as `reverse`")
        try:
            return cls(ids, weights, tokens, **loaded)
        except TextcriticError as error:
            raise TextcriticError(f"{path}: {error}") from error


@dataclass(frozen=True, slots=True, eq=False)
class ExactWeights(LogWeights):
    """The same of states that are drawn from the posterior, as those are that the model drew with the text: [N, R].

    A weight of +inf is a state that the proposal never draws; -inf cannot be, as the model has drawn the state.
    """

    exact: ClassVar[bool] = True


def numbered(weights: Array) -> tuple[str, ...]:
    """Ids of texts that have none: 0, 1, 2 and so on."""
    return tuple(map(str, range(len(np.atleast_1d(weights)))))


def checked_tokens(tokens: object, texts: int | None = None, name: str = "tokens") -> Array:
    """float64 [texts], or [] of a total.

    Args:
        tokens: to check.
        texts: how many there are; None: any number.
        name: of the tokens or their file, for errors.

    Raises:
        TextcriticError: another shape, or values that are not whole numbers above 0.
    """
    array = real_numbers(tokens, name, COUNTED)
    if texts is not None and array.shape not in ((), (texts,)):
        raise TextcriticError(f"{name}: shape {array.shape}; give one number for each of {texts} texts, or their total")
    faulty = np.flatnonzero(~((array > 0) & (array < MOST_TOKENS)))
    if len(faulty):
        value, most = np.atleast_1d(array)[faulty[0]], f"{MOST_TOKENS:g}"
        raise TextcriticError(f"{name}: {value:g} of text {faulty[0]}; tokens are numbers above 0 and below {most}")
    if (part := array[array != np.floor(array)]).size:
        raise TextcriticError(f"{name}: {part[0]:g} is not a whole number; give how many tokens there are")
    return array


def real_numbers(given: object, name: str, should: str) -> Array:
    """Real numbers as an array of float64.

    Args:
        given: whatever numpy makes an array of.
        name: of what is given, for errors.
        should: what would be right, for errors.

    Raises:
        TextcriticError: it holds anything else, such as truth values, dates, complex numbers or masked values.
    """
    try:
        array = np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:  # RuntimeError: a tensor of torch that has gradients
        raise TextcriticError(f"{name}: not an array of numbers; {should}") from error
    kind = "" if array.dtype.kind in "iuf" else KINDS.get(array.dtype.kind, f"values of type {array.dtype}")
    if np.ma.is_masked(given):
        kind = "masked values"
    elif isinstance(given, list | tuple) and _has_truth(given):  # numpy takes True for 1 among numbers
        kind = KINDS["b"]
    if kind:
        raise TextcriticError(f"{name}: not real numbers, but {kind}; {should}")
    if array.dtype == np.float16 and np.isinf(array).any():
        raise TextcriticError(f"{name}: infinite as float16, which ends at 65504; give float32 or float64")
    return array.astype(np.float64, order="C", copy=False)  # sums by another order differ in the last digit


def _has_truth(values: Sequence[object]) -> bool:
    return any(isinstance(v, bool | np.bool_) or (isinstance(v, list | tuple) and _has_truth(v)) for v in values)


def _draws(values: object, name: str, ids: tuple[str, ...], exact: bool = False) -> Array:
    """float64 [N, K] without NaN and +inf; of exact states without -inf."""
    array = real_numbers(values, name, DRAWN)
    if array.ndim != 2 or not array.size:
        raise TextcriticError(f"{name}: shape {array.shape}; give [texts, draws], with at least one of each")
    if len(array) != len(ids):
        raise TextcriticError(f"{name}: {len(array)} rows, but {len(ids)} ids; give one id for each text")
    # The largest of a row is NaN if any is.
    faulty = np.flatnonzero(~((-array.min(axis=1) if exact else array.max(axis=1)) < np.inf))
    if len(faulty):
        row = faulty[0]
        column = np.flatnonzero(~((-array[row] if exact else array[row]) < np.inf))[0]
        value = "NaN" if np.isnan(array[row, column]) else "-inf" if exact else "+inf"
        allowed = "or +inf where the proposal never draws the state" if exact else "or -inf where p is 0"
        raise TextcriticError(
            f"{name}: {value} at row {row} (text {ids[row]!r}), draw {column}; values are finite, {allowed}"
        )
    if any((np.isfinite(row) & (np.abs(row) > MOST_NATS)).any() for row in array):
        raise TextcriticError(f"{name}: one is beyond {MOST_NATS:g} nats; no text has such a probability")
    return array


def _difference(log_p: Array, log_q: Array, ids: tuple[str, ...], exact: bool) -> Array:
    if not exact and not np.isfinite(log_q).all():
        row, column = np.argwhere(~np.isfinite(log_q))[0]
        raise TextcriticError(
            f"log_q: -inf at row {row} (text {ids[row]!r}), draw {column}; the proposal has drawn it, so it has a "
            "probability"
        )
    return log_p - log_q
