"""`textcritic.chains`: the Latent PPL of chains of titles under a transition critic, for one set of them or several."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from textcritic.api.crossed import estimates_of, facts_of_crossing, fits_of, how_of
from textcritic.api.declare import takes
from textcritic.api.documents import Given, documents_of
from textcritic.api.options import ChainOptions, CriticiseOptions
from textcritic.api.results import Result
from textcritic.api.scored import (
    ByLabel,
    OneLatentPpl,
    facts_of_draws,
    facts_of_groups,
    latent_ppl_of,
    resampling,
    with_given_groups,
)
from textcritic.corpora.readers.values import close_to
from textcritic.critics.chains import Chains
from textcritic.critics.refits import TransitionRefit
from textcritic.critics.scores import document_columns, latent_nll, latent_ppl, nothing_left
from textcritic.critics.scoring import score_chains, scored_transitions, unseen_transitions
from textcritic.critics.smoothing import other_smoothings, rests_on_smoothing
from textcritic.critics.transitions import PAPER_GRID, Mode, TransitionCritic
from textcritic.errors import TextcriticError, named
from textcritic.experiments.coherence.rows import PPL, read_scored
from textcritic.inference import Groups
from textcritic.inference.crossfit import CrossFit, CrossOptions, observed_parts
from textcritic.measures.measure import Estimate, Scored
from textcritic.measures.memory import REAL, scores_of_sets
from textcritic.measures.numbers import plural
from textcritic.values import Row

MOST_NEAR = 5  # titles that a warning names


@dataclass(frozen=True, repr=False, kw_only=True)
class ChainsResult(ByLabel[OneLatentPpl]):
    """What `chains` gives; `scores` has the Latent PPL of the test set, and it has the attributes of `OneLatentPpl`.

    Attributes:
        steps: transitions scored.
        smoothing: the pseudo-count that was used.
        other_smoothings: (pseudo-count, Latent PPL) for the neighbouring pseudo-counts of the grid, the smaller first.
        unseen_transitions: `from`, `to` and `count` of the transitions to which the critic gives probability 0.
        skipped_transitions: next to a title that the train set does not have (as released only, else 0).
    """

    steps: int
    smoothing: float
    other_smoothings: tuple[tuple[float, float], ...]
    unseen_transitions: tuple[Row, ...]
    skipped_transitions: int

    def to_json(self) -> str:
        """The object that `textcritic chains` prints; infinite values are null."""
        score = self.scores[0]
        value = {
            **self.only.head(),
            "steps": self.steps,
            "n": self.n,
            "rejected": score.rejected,
            "rejected_by_reason": dict(score.rejected_by_reason),
            "smoothing": self.smoothing,
            "other_smoothings": [
                {"smoothing": delta, "latent_ppl": ppl if math.isfinite(ppl) else None}
                for delta, ppl in self.other_smoothings
            ],
            "warnings": self.warnings,
            "unseen_transitions": self.unseen_transitions,
            "skipped_transitions": self.skipped_transitions,
        }
        return json.dumps(value, allow_nan=False)


@takes(ChainOptions)
def chains(train: Given, test: Given, *, options: ChainOptions) -> ChainsResult:
    """Fit a transition critic on the chains of `train`, and give the Latent PPL of those of `test`.

    A chain is the list of section titles, or of any other states, of one document, in order; one of K titles has K + 1
    steps. The command `textcritic chains` prints the same numbers.

    Args:
        train: chains, in any form that `documents_of` takes.
        test: likewise.
        options: see below.

    Raises:
        TextcriticError: bad input, in one line that names the argument and the item.
    """
    train_set, test_set = (
        documents_of(given, name, "chains", options.reading) for given, name in ((train, "train"), (test, "test"))
    )
    groups: list[str | None] = []
    spellings: dict[str, str] = {}
    train_chains = Chains.of(train_set.chains(spellings))
    test_chains = Chains.of(test_set.noting(groups).chains(spellings))
    critic = fit(train_chains, options, train_set.name)
    scores = with_given_groups(scored(critic, test_chains), groups)
    read = partial(read_scored, critic=critic)
    found, of_groups = latent_ppl_of({"test": scores}, read, PPL, options, {"test": test_set.name})
    kept = ~scores["rejected"].to_numpy()
    steps = int(document_columns(scores)[:, 1].sum())
    return ChainsResult(
        title="Chains of titles under a transition critic",
        scores=found,
        facts=(*facts_of(critic, train_chains, options), *of_groups),
        by_label={"test": OneLatentPpl(score=found[-1], latent_nll_mean=latent_nll(scores))},
        steps=steps,
        smoothing=critic.delta,
        other_smoothings=other_smoothings(critic, scored_transitions(scores, critic)),
        warnings=_warnings(critic, {"test": scores}),
        unseen_transitions=tuple(unseen_transitions(scores, critic)),
        skipped_transitions=int((test_chains.lengths[kept] + 1).sum()) - steps,
    )


def criticise_chains(
    train: list[list[str]],
    test: list[list[str]],
    samples: Mapping[str, list[list[str]]],
    options: ChainOptions,
    split: tuple[str, str],
    groups: Mapping[str, Groups],
) -> Result:
    """Fit a transition critic on real chains; score other real ones and each sample, and test samples against these.

    Args:
        train: real chains to fit on.
        test: real chains that samples are compared with.
        samples: chains by label.
        options: see `ChainOptions`.
        split: ("Real text", words on how `train` and `test` were parted).
        groups: by label, the group of each chain; the label of `test` is `REAL`.

    Raises:
        TextcriticError: nothing of a set can be fitted or scored; the line has its label.
    """
    train_chains = Chains.of(train)
    critic = fit(train_chains, options, "reference")
    sets = {
        label: with_given_groups(scored(critic, Chains.of(some)), groups[label])
        for label, some in {REAL: test, **samples}.items()
    }
    scores, of_groups = latent_ppl_of(sets, partial(read_scored, critic=critic), PPL, options)
    return Result(
        title="Chains of titles against real ones",
        scores=scores,
        facts=(split, *facts_of(critic, train_chains, options), *of_groups),
        warnings=_warnings(critic, sets),
    )


def criticise_crossed_chains(
    real: list[list[str]],
    samples: Mapping[str, list[list[str]]],
    options: CriticiseOptions,
    groups: Mapping[str, Groups],
) -> Result:
    """Like `criticise_chains`, but by cross-fitting: each real chain is scored by a critic that was not fitted on it.

    Args:
        real: real chains.
        samples: chains by label.
        options: see `CriticiseOptions`.
        groups: by label, the group of each chain; the label of real chains is `REAL`.

    Raises:
        TextcriticError: as `criticise_chains`.
    """
    every = Chains.of(real)
    critic = fit(every, options, "reference")
    grid = PAPER_GRID if options.smoothing is None else [options.smoothing]
    sets = crossed_chains({REAL: real, **samples}, groups, partial(TransitionRefit, grid=grid), how_of(options))
    for label, one in sets.items():
        if not one.documents:
            name = "reference" if label == REAL else label
            raise TextcriticError(f"{name}: {nothing_left(one.reasons)}")
    of_groups = facts_of_groups({label: one.groups for label, one in sets.items()})
    return Result(
        title="Chains of titles against real ones",
        scores=scores_of_sets(sets, [PPL], resampling(options)),
        facts=(facts_of(critic, every, options)[0], *facts_of_crossing(how_of(options), sets), *of_groups),
        warnings=tuple(filter(None, _warnings_of_crossed(critic, {REAL: real, **samples}, groups, how_of(options)))),
    )


def _warnings_of_crossed(
    critic: TransitionCritic,
    sets: Mapping[str, Sequence[Sequence[str | None]]],
    groups: Mapping[str, Groups],
    how: CrossOptions,
) -> Iterator[str]:
    """Which Latent PPLs of samples depend on the smoothing.

    They are computed with the smoothing of a critic that is fitted on all real text, and with the next values.
    """
    real, *samples = sets
    for label in samples:
        scores = scored(critic, Chains.of(sets[label]))
        deltas = [critic.delta, *(d for d, _ in other_smoothings(critic, scored_transitions(scores, critic)))]
        both, ppl = Chains.of([*sets[real], *sets[label]]), {}
        parts = observed_parts((groups[real], groups[label]), (len(sets[real]), len(sets[label])), how)
        for delta in deltas:
            nll, steps = TransitionRefit(both, [delta]).sums(parts)[1]
            ppl[delta] = math.exp(nll / steps) if steps and nll < math.inf else math.inf
        yield rests_on_smoothing(label, ppl[critic.delta], critic.delta, [(d, ppl[d]) for d in deltas[1:]])
        yield from _near_titles(label, critic, scores)


def crossed_chains(
    sets: Mapping[str, Sequence[Sequence[str | None]]],
    groups: Mapping[str, Groups],
    refit_of: Callable[[Chains], TransitionRefit],
    how: CrossOptions,
) -> dict[str, Scored]:
    """The Latent PPL of real chains (label `REAL`) and of the chains of each sample, by cross-fitting.

    Args:
        sets: chains by label, real ones first.
        groups: by label, the group of each chain.
        refit_of: makes the critics of two sets put together.
        how: the number of parts that documents are divided into, and how labels are exchanged.
    """
    real, *samples = sets
    refits = {label: refit_of(Chains.of([*sets[real], *sets[label]])) for label in samples}
    sizes = {label: len(some) for label, some in sets.items()}
    fits = fits_of(refits, groups, sizes, how)
    found = estimates_of(fits, PPL, real)
    return {
        label: _crossed(refits[one], fits[one], label == real, groups[label], found[label])
        for label, one in {real: samples[0], **dict(zip(samples, samples, strict=True))}.items()
    }


def _crossed(refit: TransitionRefit, fit: CrossFit, is_real: bool, groups: Groups, estimate: Estimate) -> Scored:
    """Real chains, or those of a sample, as rows have them: how many were judged, and why others were not."""
    parts, pairs = fit.parts, {} if is_real else {"pairs": fit.pairs, "narrower": fit.narrower}
    side = np.flatnonzero((parts >= 0) == is_real)
    judged = refit.judged(parts)[side] > 0
    why = Counter(refit.why(int(document), parts) for document in side[~judged])
    kept = None if groups is None else [group for group, stays in zip(groups, judged, strict=True) if stays]
    steps = refit.steps[side[judged]].sum()
    # Cross-fitting has no values under another smoothing or in expectation, as one split would.
    unknown = ("smoothing", "smoothing_less", "smoothing_more", "latent_ppl_soft", "latent_ppl_less", "latent_ppl_more")
    nll = math.log(estimate.value or math.nan) * steps / max(judged.sum(), 1)
    more = {**dict.fromkeys(unknown), "steps": int(steps), **pairs, "latent_nll": nll}
    return Scored({}, int(judged.sum()), dict(why.most_common()), more, kept, {PPL.value: estimate})


def fit(train: Chains, options: ChainOptions, name: str) -> TransitionCritic:
    """The critic; errors begin with `name`."""
    grid = None if options.smoothing is None else [options.smoothing]
    mode: Mode = "as_released" if options.as_released else "paper"
    with named(name):
        return TransitionCritic.fit(train, mode=mode, grid=grid, seed=options.seed)


def scored(critic: TransitionCritic, chains_of_set: Chains) -> pa.Table:
    """Scores of a set of chains, numbered from 0."""
    return score_chains(critic, np.arange(len(chains_of_set.lengths)).astype(str).tolist(), chains_of_set)


def _warnings(critic: TransitionCritic, scores_by_source: Mapping[str, pa.Table]) -> tuple[str, ...]:
    """Which Latent PPLs rest on the smoothing."""
    sentences = []
    for label, scores in scores_by_source.items():
        others = other_smoothings(critic, scored_transitions(scores, critic))
        sentences.append(rests_on_smoothing(label, latent_ppl(scores), critic.delta, others))
        sentences += _near_titles(label, critic, scores)
    return tuple(filter(None, sentences))


def _near_titles(label: str, critic: TransitionCritic, scores: pa.Table) -> Iterator[str]:
    """Which documents are rejected for a title that may be a known one misspelt."""
    begin, known = "unknown title: ", [str(title) for title in critic.titles]
    for reason, documents in Counter(filter(None, scores["why"].to_pylist())).most_common(MOST_NEAR):
        near = close_to(reason.removeprefix(begin), known) if reason.startswith(begin) else []
        if near:
            title = reason.removeprefix(begin)
            yield f"{label}: {plural(documents, 'document')} rejected for the title {title!r}; known is {near[0]!r}"


def facts_of(critic: TransitionCritic, train: Chains, options: ChainOptions) -> tuple[tuple[str, str], ...]:
    """How the numbers were computed, in words."""
    chosen = "as asked" if options.smoothing is not None else "chosen by cross-validation on the train set"
    way = "as the paper's released code" if options.as_released else "as the paper's text"
    return (
        (
            "Critic",
            f"first-order chain over {len(critic.titles):,} titles, {way}; fitted on {len(train.lengths):,} chains; "
            f"smoothing {critic.delta:g}, {chosen}",
        ),
        *facts_of_draws(options),
    )
