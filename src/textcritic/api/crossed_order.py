"""How much of the order of sentences of real texts samples have, by cross-fitting."""

from collections.abc import Mapping

import numpy as np

from textcritic.api.crossed import estimates_of, fits_of
from textcritic.critics.order.arrangements import Arranged, arranged
from textcritic.critics.order.critic import accuracies, shape_of
from textcritic.critics.order.features import Vocabulary
from textcritic.critics.order.own import own_evidence
from textcritic.critics.order.refit import OrderRefit, weights_of
from textcritic.critics.order.scoring import TOO_SHORT
from textcritic.critics.order.sentences import Floats, Ints, Sentences
from textcritic.experiments.order.rows import ORDERED, own_columns
from textcritic.inference import Groups, unit_of
from textcritic.inference.crossfit import PARTNER, SAMPLE, CrossOptions, Parts
from textcritic.measures.measure import Estimate, Scored


def crossed_order(
    sentences: Sentences, sizes: Mapping[str, int], groups: Mapping[str, Groups], how: CrossOptions
) -> dict[str, Scored]:
    """Evidence for the order of sentences, by cross-fitting: real documents are judged by critics of the other parts.

    For each sample, the vocabulary and scales of the critics are learnt again from real text and sample together,
    without their labels.

    Args:
        sentences: the sentences of all documents, one set after the other, real text first.
        sizes: by label, the number of documents of each set.
        groups: by label, the group of each document.
        how: the number of parts that documents are divided into, and how labels are exchanged.
    """
    ends = np.cumsum(list(sizes.values()))
    kept = {
        label: np.flatnonzero(sentences.counted[end - size : end]) + end - size
        for (label, size), end in zip(sizes.items(), ends, strict=True)
    }
    first = {label: end - size for (label, size), end in zip(sizes.items(), ends, strict=True)}
    kept_groups = {
        label: [(groups[label] or [None] * sizes[label])[n] for n in (of - first[label]).tolist()]
        for label, of in kept.items()
    }
    real, *others = sizes
    enough = len(np.unique(unit_of(kept_groups[real], len(kept[real])))) > 1
    judged = {
        label: _Judged(sentences.take(np.concatenate([kept[real], kept[label]])))
        for label in others
        if enough and len(kept[label])
    }
    refits = {label: one.refit for label, one in judged.items()}
    fits = fits_of(refits, kept_groups, {label: len(of) for label, of in kept.items()}, how)
    estimates: dict[str, Estimate] = estimates_of(fits, ORDERED, real) if fits else {}
    accuracy = {label: one.accuracies(fits[label].parts, how.seed) for label, one in judged.items()}
    scored = {}
    for label, of in kept.items():
        more: dict[str, object] = {"sentences": int(sentences.counted[of].sum())}
        if label in fits:
            more |= {"pairs": fits[label].pairs, "narrower": fits[label].narrower}
        if label in estimates:
            fit_of = label if label in fits else next(iter(fits))
            side = (np.arange(len(accuracy[fit_of])) < len(kept[real])) == (label == real)
            more |= judged[fit_of].own(side, kept_groups[label]) | {"accuracy": float(accuracy[fit_of][side].mean())}
        short = sizes[label] - len(of)
        one = {ORDERED.value: estimates[label]} if label in estimates else {}
        scored[label] = Scored({}, len(of), {TOO_SHORT: short} if short else {}, more, kept_groups[label], one)
    return scored


class _Judged:
    """Real documents and a sample, arranged."""

    def __init__(self, sentences: Sentences) -> None:
        self.sentences = sentences
        self.found: Arranged = arranged(sentences, Vocabulary.of(sentences))
        self.shape = shape_of(self.found)
        self.refit = OrderRefit(self.found.found, self.found.counted, self.shape)

    def own(self, of: np.ndarray, groups: Groups) -> dict[str, float | None]:
        """The order that the documents of one side have in common."""
        found, counted = self.found.found[of], self.found.counted[of]
        return own_columns(own_evidence(found, counted, self.shape, groups), counted, groups)

    def accuracies(self, parts: Parts, seed: int) -> Floats:
        """Each document by critics that have not seen it: [documents]."""
        weights = weights_of(self.found.found, self.found.counted, self.shape, parts)
        every = np.array([accuracies(self.sentences, self.found, of, seed) for of in [*weights, weights.mean(axis=0)]])
        critic: Ints = np.where(parts >= 0, parts, np.where(parts == SAMPLE, len(weights), PARTNER - parts))
        found: Floats = every[critic, np.arange(len(parts))]
        return found
