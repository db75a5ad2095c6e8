"""Windows of chains of mentions: n tokens each, their entities relabelled, and how often each window occurs.

The window of a token is that token and the n - 1 before it in its document. `<bos>` fills the places before the first
token, and nothing follows the last one. Inside a window, entities are numbered from 0 by first appearance, the
predicted token included: what matters is whether two mentions are of the same entity, not which one it is (model
criticism paper, section 5).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.latents.resolvers.mention_chains import NO_ENTITY, SENTENCE, MentionChains
from textcritic.plan.checks.critics import MAXIMUM_ORDER

BOS = "<bos>"
UNKNOWN = "<unknown>"
# Tokens whose windows are in memory at a time: 8 MB for each of a few dozen columns.
CHUNK = 1 << 20

Ints = npt.NDArray[np.int64]
Items = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Alphabet:
    """What a window consists of: `<bos>`, or a symbol with or without the label of an entity, as whole numbers.

    0 is `<bos>`; `2 + (order + 1) * symbol + label` is a symbol with a label, -1 where there is no entity. A symbol
    that is not among `symbols` counts as one more, the unknown one.

    Attributes:
        symbols: distinct.
        order: n, tokens of a window; the labels are 0 ... n - 1.
    """

    symbols: tuple[str, ...]
    order: int

    @property
    def size(self) -> int:
        """How many items there are, those with the unknown symbol included."""
        return 1 + (len(self.symbols) + 1) * (self.order + 1)

    def bases(self, symbols: Sequence[str]) -> Ints:
        """The item of each symbol with label 0: [symbols]."""
        places = {symbol: place for place, symbol in enumerate(self.symbols)}
        codes = np.array([places.get(symbol, len(places)) for symbol in symbols], dtype=np.int64)
        return 2 + (self.order + 1) * codes

    def labels(self, items: npt.NDArray[np.integer]) -> Ints:
        """The label of each item, -1 where it has none: the shape of `items`."""
        return np.where(items > 0, (items - 1) % (self.order + 1) - 1, -1).astype(np.int64)

    def translation(self, to: "Alphabet") -> Items:
        """The item of another alphabet of the same order for each item of this one: [size]."""
        items = np.arange(self.size)
        bases = to.bases((*self.symbols, UNKNOWN))
        codes = np.maximum(items - 1, 0) // (self.order + 1)
        return np.where(items > 0, bases[codes] + self.labels(items), 0).astype(np.int32)

    def names(self) -> list[str]:
        """Each item as it is read, such as `<bos>`, `.` and `MALE:0`: [size]."""
        labels = ["", *(f":{label}" for label in range(self.order))]
        return [BOS, *(f"{symbol}{label}" for symbol in (*self.symbols, UNKNOWN) for label in labels)]

    def items(self, windows: Sequence[Sequence[str]]) -> Items:
        """The items of windows as `names` writes them: [windows, n]; a symbol that is not here is the unknown one.

        Raises:
            TextcriticError: a window of another order, or a token that is none.
        """
        items = {name: item for item, name in enumerate(self.names())}
        items_of_windows = np.empty((len(windows), self.order), np.int32)
        for row, window in enumerate(windows):
            if len(window) != self.order:
                raise TextcriticError(f"{' '.join(window)}: a window of {len(window)} tokens, not {self.order}")
            for column, token in enumerate(window):
                items_of_windows[row, column] = items.get(token, items.get(f"{UNKNOWN}:{token.rpartition(':')[2]}", -1))
        if (items_of_windows < 0).any():
            row = int(np.argwhere(items_of_windows < 0)[0][0])
            raise TextcriticError(f"{' '.join(windows[row])}: a token is none of {BOS}, {SENTENCE} and symbol:number")
        return items_of_windows

    def mark(self) -> int:
        """The item of the mark of a sentence (that of the unknown symbol if the mark is not among the symbols)."""
        return int(self.bases([SENTENCE])[0]) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """The distinct windows of a set of documents.

    Attributes:
        alphabet: of the items.
        items: int32 [windows, n], the predicted item last; sorted by the items in the order last but one, ..., first,
            last, so that windows with the same end of their context are neighbours.
        counts: int64 [windows], how often each occurs.
    """

    alphabet: Alphabet
    items: Items
    counts: Ints

    def tokens(self) -> list[list[str]]:
        """The tokens of the windows, as they are read: [windows][n]."""
        names = self.alphabet.names()
        return [[names[item] for item in window] for window in self.items.tolist()]


def count_windows(
    chains: MentionChains, order: int, symbols: Sequence[str] | None = None, chunk: int = CHUNK
) -> Windows:
    """Count the distinct windows of `order` tokens; the memory does not grow with windows that occur again.

    Args:
        chains: of all documents.
        order: n, from 1 to `MAXIMUM_ORDER`.
        symbols: of the alphabet; None: the symbols that occur in the chains, sorted.
        chunk: tokens at a time; no effect on the result.

    Raises:
        TextcriticError: an order outside 1 ... `MAXIMUM_ORDER`.
    """
    if isinstance(order, bool) or order not in range(1, MAXIMUM_ORDER + 1):
        raise TextcriticError(f"order: {order!r} is not a whole number from 1 to {MAXIMUM_ORDER}")
    used = np.unique(chains.codes).tolist()
    alphabet = Alphabet(tuple(sorted({chains.symbols[code] for code in used}) if symbols is None else symbols), order)
    # Each table has at least twice as many windows as the next one, so that each is merged only a few times.
    runs: list[tuple[Ints, Ints]] = []
    for _, keys in iter_keys(chains, alphabet, chunk):
        runs.append(_distinct(keys, np.ones(keys.shape[1], np.int64)))
        while len(runs) > 1 and len(runs[-2][1]) < 2 * len(runs[-1][1]):
            runs.append(_merged(runs.pop(), runs.pop()))
    while len(runs) > 1:
        runs.append(_merged(runs.pop(), runs.pop()))
    keys, counts = runs[0] if runs else (np.empty((_shape(alphabet)[1], 0), np.int64), np.empty(0, np.int64))
    return Windows(alphabet, items_of(keys, alphabet), counts)


def aligned(one: Windows, two: Windows) -> tuple[Items, Ints, Ints]:
    """The windows of two sets over the same alphabet, and the counts of each in both: [windows, n], [windows] twice."""
    keys = np.concatenate([_keys_of(windows.items, windows.alphabet) for windows in (one, two)], axis=1)
    counts = np.zeros((2, keys.shape[1]), np.int64)
    counts[0, : len(one.counts)], counts[1, len(one.counts) :] = one.counts, two.counts
    keys, counts = _distinct(keys, counts)
    return items_of(keys, one.alphabet), counts[0], counts[1]


def occurrences(chains: MentionChains, windows: Sequence[Sequence[str]], order: int, chunk: int = CHUNK) -> Ints:
    """How often each of a few windows occurs in each document: [documents, windows].

    Args:
        chains: of the documents.
        windows: as `Windows.tokens` writes them; symbols that the chains do not have are fine.
        order: n, tokens of a window.
        chunk: tokens at a time; no effect on the result.
    """
    named = {token.rpartition(":")[0] for window in windows for token in window if token.rpartition(":")[0]}
    alphabet = Alphabet(tuple(sorted({*chains.symbols, *named, SENTENCE})), order)
    wanted = _keys_of(alphabet.items(windows), alphabet)
    documents = len(chains.lengths)
    document = np.repeat(np.arange(documents), chains.lengths)
    occurrences = np.zeros((documents, len(windows)), np.int64)
    for some, keys in iter_keys(chains, alphabet, chunk):
        for column, key in enumerate(wanted.T):
            is_it = (keys == key[:, None]).all(axis=0)
            occurrences[:, column] += np.bincount(document[some][is_it], minlength=documents)
    return occurrences


def iter_keys(chains: MentionChains, alphabet: Alphabet, chunk: int = CHUNK) -> Iterator[tuple[slice, Ints]]:
    """Stream the windows of all tokens in order, packed: (which tokens, keys [words, tokens]).

    A key is a window as a number of base `alphabet.size`, its digits in the order of `Windows.items`, cut into as
    many words of 63 bits as it takes; keys sort as the windows do.
    """
    bases = alphabet.bases(chains.symbols)
    for start in range(0, len(chains.codes), chunk):
        some = slice(start, min(start + chunk, len(chains.codes)))
        yield some, _packed(_columns(chains, bases, alphabet.order, some), alphabet)


def items_of(keys: Ints, alphabet: Alphabet) -> Items:
    """The windows of keys: [words, windows] -> [windows, n]."""
    per_word, _ = _shape(alphabet)
    items = np.empty((keys.shape[1], alphabet.order), np.int32)
    rest = keys.copy()
    for place, column in reversed(list(enumerate(_sorting_order(alphabet.order)))):
        word = rest[place // per_word]
        items[:, column] = word % alphabet.size
        word //= alphabet.size
    return items


def sorted_runs(keys: Ints) -> tuple[Ints, Ints]:
    """Sort keys [words, windows]: the order [windows], and where in it each distinct key begins [distinct]."""
    order = np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])
    ordered = keys[:, order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    return order, np.flatnonzero(first)


def run_of_each(order: Ints, runs: Ints) -> Ints:
    """Which of the distinct keys that `sorted_runs` found each key is: [windows]."""
    run = np.empty(len(order), np.int64)
    run[order] = np.repeat(np.arange(len(runs)), np.diff(runs, append=len(order)))
    return run


def _columns(chains: MentionChains, bases: Ints, order: int, some: slice) -> list[Ints]:
    """The items of the windows of some tokens: [n][tokens], the predicted ones last."""
    tokens = np.arange(some.start, some.stop)
    place = tokens - chains.offsets[np.searchsorted(chains.offsets, tokens, side="right") - 1]
    before = max(0, some.start - order + 1)
    padding = np.zeros(order - 1 - (some.start - before), np.int64)
    symbols = np.concatenate([padding, bases[chains.codes[before : some.stop]]])
    entities = np.concatenate([padding, chains.entities[before : some.stop]])
    absent = [place < order - 1 - column for column in range(order)]
    entity_of = [np.where(absent[c], NO_ENTITY, entities[c : c + len(tokens)]) for c in range(order)]
    labels = _relabelled(entity_of)
    return [np.where(absent[c], 0, symbols[c : c + len(tokens)] + labels[c]) for c in range(order)]


def _relabelled(entities: Sequence[Ints]) -> list[npt.NDArray[np.int8]]:
    """Numbers of entities by first appearance in each window, -1 without an entity: [n][windows]."""
    labels: list[npt.NDArray[np.int8]] = []
    following = np.zeros(len(entities[0]), np.int8)
    for column, entity in enumerate(entities):
        label = np.full(len(entity), -1, np.int8)
        for earlier in range(column):
            np.copyto(label, labels[earlier], where=entity == entities[earlier])  # -1 where both have none
        new = (entity != NO_ENTITY) & (label < 0)
        np.copyto(label, following, where=new)
        following += new
        labels.append(label)
    return labels


def _keys_of(items: Items, alphabet: Alphabet) -> Ints:
    """The reverse of `items_of`."""
    return _packed(items.T, alphabet)


def _packed(columns: Sequence[Ints] | Items, alphabet: Alphabet) -> Ints:
    """Keys of windows given by columns: [n][windows] -> [words, windows]."""
    per_word, words = _shape(alphabet)
    keys = np.zeros((words, len(columns[0])), np.int64)
    for place, column in enumerate(_sorting_order(alphabet.order)):
        word = keys[place // per_word]
        word *= alphabet.size
        word += columns[column]
    return keys


def _sorting_order(order: int) -> list[int]:
    """Columns of a window by weight in sorting: last but one, ..., first, last."""
    return [*range(order - 2, -1, -1), order - 1]


def _shape(alphabet: Alphabet) -> tuple[int, int]:
    """Items in a word of a key, and words of a key."""
    per_word = 1
    while per_word < alphabet.order and alphabet.size ** (per_word + 1) < 1 << 63:
        per_word += 1
    return per_word, -(-alphabet.order // per_word)


def _distinct(keys: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Sorted distinct keys, and the sums of their counts: [words, windows], [..., windows]."""
    order, first = sorted_runs(keys)
    if not len(order):
        return keys, counts
    return keys[:, order[first]], np.add.reduceat(counts[..., order], first, axis=-1)


def _merged(one: tuple[Ints, Ints], two: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    return _distinct(np.concatenate([one[0], two[0]], axis=1), np.concatenate([one[1], two[1]]))
