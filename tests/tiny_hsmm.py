"""Hidden semi-Markov models small enough to enumerate, and their enumeration in plain Python."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
import torch

from textcritic.generators.hsmm import HSMM, Lattice, Lexicon
from textcritic.plan.entries import Hsmm

torch.set_num_threads(1)  # tensors this small are slower with more


def hsmm_entry(states: int, **values: Any) -> Hsmm:
    """An entry; values are of its own keys or of those of its training."""
    return changed_entry(Hsmm(kind="hsmm", encoding="symbols", states=states), **values)


def changed_entry(entry: Hsmm, **values: Any) -> Hsmm:
    """With other values, which are not checked: with a tolerance below 0 a training never settles."""
    own = {key: value for key, value in values.items() if key in Hsmm.model_fields}
    training = entry.training.model_copy(update={key: value for key, value in values.items() if key not in own})
    return entry.model_copy(update={**own, "training": training})


Segments = list[tuple[int, int, int]]  # (first border, last border, row)


def random_model(
    seed: int, vocabulary: int = 3, longest: int = 3, states: int = 3, sharpness: float = 2.0, holes: bool = False
) -> HSMM:
    """In fp64; with `holes` a third of the segments is missing, and of the others a third for each state."""
    rng = np.random.default_rng(seed)
    tokens = rng.integers(0, vocabulary, 40 * vocabulary**longest)
    lexicon = Lexicon.count(tokens, np.array([0, len(tokens)]), vocabulary, longest)
    if holes:
        lexicon = lexicon.select(rng.random(len(lexicon)) < 2 / 3)

    def table(*shape: int, dim: int) -> torch.Tensor:
        values = np.exp(sharpness * rng.standard_normal(shape))
        if holes and len(shape) == 2 and shape[0] != shape[1]:
            values *= rng.random(shape) < 2 / 3
        return torch.from_numpy(values / values.sum(axis=dim, keepdims=True))

    return HSMM(
        lexicon=lexicon,
        emission=table(len(lexicon), states, dim=0),
        transition=table(states, states, dim=1),
        initial=table(states, dim=0),
        end=torch.from_numpy(rng.uniform(0.1, 0.9, states)),
    )


def flat(sequences: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Tokens one after the other, and where the sequences begin."""
    offsets = np.concatenate([[0], np.cumsum([len(sequence) for sequence in sequences])])
    return np.concatenate([np.asarray(sequence, np.int64) for sequence in sequences]), offsets


def lattice_of(model: HSMM, sequences: Sequence[Sequence[int]]) -> Lattice:
    tokens, offsets = flat(sequences)
    return Lattice.build(model.lexicon.rows(tokens, offsets), offsets)


def row_numbers(lexicon: Lexicon) -> dict[tuple[int, ...], int]:
    """Of every n-gram, by its tokens."""
    tokens, lengths = lexicon.segments(np.arange(len(lexicon)))
    return {tuple(gram[:n].tolist()): row for row, (gram, n) in enumerate(zip(tokens, lengths, strict=True))}


def segmentations(numbers: dict[tuple[int, ...], int], sequence: Sequence[int], first: int = 0) -> Iterator[Segments]:
    if first == len(sequence):
        yield []
    for last in range(first + 1, len(sequence) + 1):
        row = numbers.get(tuple(sequence[first:last]))
        if row is not None:
            for rest in segmentations(numbers, sequence, last):
                yield [(first, last, row), *rest]


def paths(model: HSMM, sequence: Sequence[int], end: bool) -> Iterator[tuple[Segments, tuple[int, ...], float]]:
    """All segmentations with all states, and their probabilities."""
    emission, transition = model.emission.tolist(), model.transition.tolist()
    initial, ends = model.initial.tolist(), model.end.tolist()
    for segments in segmentations(row_numbers(model.lexicon), sequence):
        for states in product(range(model.states), repeat=len(segments)):
            probability = initial[states[0]]
            for (_, _, row), state in zip(segments, states, strict=True):
                probability *= emission[row][state]
            for before, state in pairwise(states):
                probability *= transition[before][state] * (1 - ends[before] if end else 1)
            yield segments, states, probability * (ends[states[-1]] if end else 1)


def enumerate_all(model: HSMM, sequence: Sequence[int], end: bool) -> dict[str, Any]:
    """What the recursions compute of one sequence, by summing over `paths`."""
    found: dict[str, Any] = {name: getattr(model, name).numpy() * 0 for name in ("emission", "transition", "initial")}
    found |= {"end": model.end.numpy() * 0, "arcs": defaultdict(float), "states": defaultdict(float)}
    total, best = 0.0, (0.0, [], ())
    everything = list(paths(model, sequence, end))
    total = math.fsum(probability for _, _, probability in everything)
    found["log_marginal"] = math.log(total) if total else -math.inf
    for segments, states, probability in everything if total else []:
        share = probability / total
        best = max(best, (probability, segments, states))
        found["initial"][states[0]] += share
        found["end"][states[-1]] += share
        for before, state in pairwise(states):
            found["transition"][before, state] += share
        for segment, state in zip(segments, states, strict=True):
            found["emission"][segment[2], state] += share
            found["arcs"][segment] += share
            found["states"][segment, state] += share
    return found | {"best": best}
