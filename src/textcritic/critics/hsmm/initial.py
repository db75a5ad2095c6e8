"""The model that training begins with: segments, then classes of segments as states."""

import numpy as np
import torch

from textcritic.critics.hsmm.classes import class_bigrams, find_classes
from textcritic.critics.hsmm.lexicon import Lexicon
from textcritic.critics.hsmm.model import HSMM
from textcritic.critics.hsmm.multigram import Segments
from textcritic.critics.hsmm.recursion import Counts
from textcritic.critics.hsmm.smoothing import estimate
from textcritic.critics.hsmm.text import Settings

ELSEWHERE = 0.01  # of a state's emissions, the share that it begins with of what other states emit


def initial_model(segments: Segments, tokens: np.ndarray, settings: Settings, seed: int) -> HSMM:
    """A model whose states are classes of segments that stand between the same others, on the CPU.

    Args:
        segments: of the training text, see `multigram.find_segments`.
        tokens: the training text.
        settings: of the training; the model has fewer states where the text does not tell so many apart.
        seed: of the clustering.

    Returns:
        A model over the lexicon of `segments` and all single tokens.
    """
    types, offsets = segments.types, segments.offsets
    labels = find_classes(types, offsets, len(segments.lexicon), settings.states, seed)
    lexicon, place = with_single_tokens(segments.lexicon)
    classes = int(labels.max()) + 1
    seen = np.flatnonzero(labels >= 0)
    emission = np.zeros((len(lexicon), classes))
    emission[place[seen], labels[seen]] = segments.lexicon.counts[seen]
    size = emission.sum(axis=0)
    emission += ELSEWHERE * size * (emission.sum(axis=1) / size.sum())[:, None]
    cut = np.flatnonzero(np.diff(offsets))
    first = np.bincount(labels[types[offsets[:-1][cut]]], minlength=classes)
    last = np.bincount(labels[types[offsets[1:][cut] - 1]], minlength=classes)
    transition = class_bigrams(types, offsets, labels)
    counts = Counts(
        emission=torch.from_numpy(emission).float(),
        transition=torch.from_numpy(transition),
        initial=torch.from_numpy(first).double(),
        end=torch.from_numpy(last).double(),
        proceed=torch.from_numpy(transition.sum(axis=1)),
        log_marginal=torch.zeros(0),
    )
    return estimate(counts, lexicon, np.bincount(tokens, minlength=lexicon.vocabulary), settings.transition_prior)


def with_single_tokens(lexicon: Lexicon) -> tuple[Lexicon, np.ndarray]:
    """The lexicon with a row for every single token, without which new text may have no segmentation at all.

    Returns:
        the lexicon, and which row each of the old rows now is, int64 [R].
    """
    single = np.arange(lexicon.vocabulary, dtype=np.uint64)
    old = lexicon.codes[0].astype(np.int64)
    place = np.arange(len(lexicon)) + len(single) - len(old)
    place[: len(old)] = old
    counts = np.zeros(len(lexicon) + len(single) - len(old), np.int64)
    counts[place] = lexicon.counts
    return Lexicon(lexicon.vocabulary, (single, *lexicon.codes[1:]), counts), place
