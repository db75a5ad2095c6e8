"""How a token stream is cut for a model: the blocks it is trained on, the windows its perplexity is measured in."""

from functools import lru_cache

import numpy as np

from textcritic.corpora import BOUNDARY
from textcritic.generators.encode import AS_RELEASED

PACKED, ARTICLES = "packed", "articles"

DESCRIPTIONS = {
    PACKED: "non-overlapping windows of {context} tokens, the last one shorter; every token but the first is predicted",
    AS_RELEASED: "non-overlapping blocks of {context} tokens, the first token of each is not predicted, and the last, "
    "partial block is dropped",
    ARTICLES: "windows of {context} tokens that begin with an article; an article that does not fit in what is left of "
    "a window begins the next one; every token but the first is predicted, once",
}


def training_starts(tokens: np.ndarray, kinds: np.ndarray, end: int, context: int, blocks: str) -> np.ndarray:
    """Where the training blocks of `context` inputs and targets begin in a stream.

    Args:
        tokens: ids [tokens].
        kinds: kinds [tokens].
        end: id of the end-of-text token.
        context: tokens in a block.
        blocks: `packed`, one block after the other (the papers' way), or `articles`: a block begins with an article,
            and the article that the block before cut off begins it again. A model that sees little text learns the
            beginnings of articles, which it is sampled from, far sooner.

    Returns:
        int64 [blocks]; blocks that the end of the stream would cut short are left out.
    """
    if blocks == PACKED:
        return np.arange((len(tokens) - 1) // context) * context
    starts = _article_starts(tokens, kinds, end, context)
    return starts[starts + context < len(tokens)]


def windows(tokens: np.ndarray, kinds: np.ndarray, end: int, context: int, kind: str = PACKED) -> np.ndarray:
    """The windows in which perplexity is measured, one of `DESCRIPTIONS`.

    Returns:
        int64 [windows, 3]: first input position, number of inputs, and how many of their predictions count.
    """
    count = len(tokens)
    if kind == AS_RELEASED:
        starts = np.arange(0, count - context + 1, context)
        inputs = np.full_like(starts, context - 1)
        return np.stack([starts, inputs, inputs], axis=1)
    packed = kind == PACKED
    starts = np.arange(0, count - 1, context) if packed else _article_starts(tokens, kinds, end, context)
    inputs = np.minimum(context, count - 1 - starts)
    return np.stack([starts, inputs, np.minimum(inputs, np.diff(starts, append=count - 1))], axis=1)


def block_at(seed: int, position: int, blocks: int) -> int:
    """The block at a position of the endless stream of epochs, each a fresh permutation of all blocks."""
    epoch, place = divmod(position, blocks)
    return int(_permutation(seed, epoch, blocks)[place])


@lru_cache(maxsize=2)
def _permutation(seed: int, epoch: int, blocks: int) -> np.ndarray:
    return np.random.default_rng([seed, epoch]).permutation(blocks)


def _article_starts(tokens: np.ndarray, kinds: np.ndarray, end: int, context: int) -> np.ndarray:
    """Starts of blocks that begin with an article, and inside one only where it is longer than a block."""
    opens = np.flatnonzero((tokens[:-1] == end) & (kinds[1:] != BOUNDARY))
    starts = [0]
    while starts[-1] + context < len(tokens) - 1:
        stop = starts[-1] + context
        cut = int(opens[np.searchsorted(opens, stop, side="right") - 1]) if len(opens) else 0
        starts.append(cut if cut > starts[-1] else stop)
    return np.array(starts, np.int64)
