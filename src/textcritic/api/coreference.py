"""`textcritic.coreference`: the Latent PPL of chains of mentions under a critic that real text was fitted with."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.api.crossed import estimates_of, facts_of_crossing, fits_of, how_of, is_crossed
from textcritic.api.declare import takes
from textcritic.api.documents import Documents, Given, Kind, documents_of
from textcritic.api.options import CoreferenceOptions, CriticiseOptions, MentionOptions
from textcritic.api.results import Result
from textcritic.api.scored import (
    ByLabel,
    OneLatentPpl,
    facts_of_draws,
    facts_of_groups,
    latent_ppl_of,
    reason_of,
    resampling,
    with_given_groups,
)
from textcritic.api.sets import held_out_of, labelled
from textcritic.critics.mentions import MentionChains, MentionCritic, score_mentions
from textcritic.critics.mentions.refit import MentionRefit
from textcritic.critics.mentions.scoring import EMPTY, people_of
from textcritic.critics.scores import document_columns, nothing_left
from textcritic.errors import TextcriticError, named
from textcritic.experiments.coreference.rows import PPL, read_scored
from textcritic.inference import Groups
from textcritic.inference.crossfit import CrossOptions
from textcritic.latents.resolvers.mention_chains import NO_ENTITY
from textcritic.measures.measure import Estimate, Scored
from textcritic.measures.memory import REAL, scores_of_sets
from textcritic.measures.score import Score
from textcritic.values import JsonObject

WAYS: Mapping[str, str] = {
    "kneser-ney": "interpolated Kneser-Ney",
    "as_released": "absolute discounting, as the paper's released code",
    "modified": "modified Kneser-Ney",
}


@dataclass(frozen=True, kw_only=True)
class MentionsOfSample(OneLatentPpl):
    """The results for the chains of mentions of one sample.

    Attributes:
        tokens: mentions and sentence marks scored.
        without_people: documents scored that mention nobody.
        unseen: tokens scored that are never the last one of a window of the real text that the critic was fitted on,
            labels relabelled.
    """

    tokens: int
    without_people: int
    unseen: int

    def described(self) -> JsonObject:
        """As JSON has it."""
        return {
            **self.head(),
            "p": self.score.p,
            "tokens": self.tokens,
            "n": self.score.n,
            "rejected": self.score.rejected,
            "rejected_by_reason": dict(self.score.rejected_by_reason),
            "without_people": self.without_people,
            "unseen": self.unseen,
        }


@dataclass(frozen=True, repr=False, kw_only=True)
class CoreferenceResult(ByLabel[MentionsOfSample]):
    """What `coreference` gives; `scores` has the Latent PPL of held-out real text, and that of each sample.

    The attributes of `MentionsOfSample` are there of the sample, where there is one; of several, `by_label` has them.

    Attributes:
        options: how it was done.
    """

    options: CoreferenceOptions

    def to_json(self) -> str:
        """The object that `textcritic coreference` prints: of one sample; of several, by label under `samples`."""
        real, samples = self.scores[0], {label: one.described() for label, one in self.by_label.items()}
        value = {
            **({"samples": samples} if len(samples) > 1 else self.only.described()),
            "real": {
                "latent_ppl": real.value,
                "ci95": [real.low, real.high],
                "ci95_reason": reason_of(real),
                "n": real.n,
            },
            "order": self.options.order,
            "discount": self.options.discount,
        }
        return json.dumps(value, allow_nan=False)


@takes(CoreferenceOptions)
def coreference(real: Given, samples: Given, *, options: CoreferenceOptions) -> CoreferenceResult:
    """Fit a critic of mentions on real text, and compare the Latent PPL of samples with that of held-out real text.

    A chain of mentions is the list of who is mentioned in a document, in order: `.` at each start of a sentence, and
    `symbol:entity`, such as `he:3` or `MALE:3`, where the symbol is a pronoun as it is written or the gender of the
    entity, and the entity is any text after the last colon, the same one for the same person. What is computed is
    what the command `textcritic coreference` prints.

    Args:
        real: chains of mentions, in any form that `documents_of` takes; texts or articles with a resolver.
        samples: likewise; or a dict of them by label, or a list of `Path`s.
        options: see below.

    Raises:
        TextcriticError: bad input, in one line that names the argument and the item.
    """
    kind: Kind = "mentions" if options.resolver is None else "texts"
    sets = {REAL: documents_of(real, "real", kind, options.reading)}
    sets |= {label: documents_of(given, name, kind, options.reading) for label, name, given in labelled(samples)}
    groups: dict[str, list[str | None]] = {label: [] for label in sets}
    chains = {label: mentions_of(documents.noting(groups[label]), options) for label, documents in sets.items()}
    real_chains = chains.pop(REAL)
    names = {label: documents.name for label, documents in sets.items()}
    if is_crossed(groups[REAL], options, sets[REAL].name):
        critic = _fit(real_chains, options, sets[REAL].name)
        crossed = crossed_mentions({REAL: real_chains, **chains}, groups, _refit_of(options), how_of(options), names)
        found = scores_of_sets(crossed, [PPL], resampling(options))
        scored = {label: _scored(critic, some) for label, some in chains.items()}
        return _result(critic, chains, scored, found, _facts_of_crossed(critic, real_chains, crossed, options), options)
    held = np.isin(np.arange(len(real_chains.lengths)), [*held_out_of(groups[REAL], options, sets[REAL].name)])
    train = real_chains.some(~held)
    critic = _fit(train, options, sets[REAL].name)
    groups[REAL] = [groups[REAL][place] for place in np.flatnonzero(held)]
    scored = {
        label: with_given_groups(_scored(critic, some), groups[label])
        for label, some in {REAL: real_chains.some(held), **chains}.items()
    }
    found, of_groups = latent_ppl_of(scored, read_scored, PPL, options, names)
    parts = f"{held.sum():,} documents held out at random (seed {options.seed})"
    facts = (("Real text", parts), *_facts(critic, train, options), *of_groups)
    return _result(critic, chains, scored, found, facts, options)


def _result(
    critic: MentionCritic,
    chains: Mapping[str, MentionChains],
    scored: Mapping[str, pa.Table],
    found: Sequence[Score],
    facts: tuple[tuple[str, str], ...],
    options: CoreferenceOptions,
) -> CoreferenceResult:
    """The result for each sample; `found` begins with the score of real text."""
    return CoreferenceResult(
        title="Chains of mentions under a critic of real ones",
        scores=tuple(found),
        facts=facts,
        by_label={
            label: _of_sample(critic, some, scored[label], score)
            for (label, some), score in zip(chains.items(), found[1:], strict=True)
        },
        options=options,
    )


def _of_sample(critic: MentionCritic, chains: MentionChains, scores: pa.Table, score: Score) -> MentionsOfSample:
    people = scores.filter(pc.invert(scores["rejected"]))["people"].to_numpy()
    tokens = int(document_columns(scores)[:, 1].sum())
    return MentionsOfSample(
        score=score,
        latent_nll_mean=math.log(score.value or math.nan) * tokens / len(people),
        tokens=tokens,
        without_people=int((people == 0).sum()),
        unseen=int((critic.matched(chains) == 0).sum()),
    )


def criticise_mentions(
    train: MentionChains,
    test: MentionChains,
    samples: Mapping[str, MentionChains],
    options: MentionOptions,
    split: tuple[str, str],
    groups: Mapping[str, Groups],
) -> Result:
    """Fit a critic of mentions on real chains; score other real ones and each sample, and test samples against these.

    Args:
        train: real chains to fit on.
        test: real chains that samples are compared with.
        samples: chains by label.
        options: see `MentionOptions`.
        split: ("Real text", words on how `train` and `test` were parted).
        groups: by label, the group of each chain; the label of `test` is `REAL`.

    Raises:
        TextcriticError: nothing of a set can be fitted or scored; the line has its label.
    """
    critic = _fit(train, options, "reference")
    sets = {
        label: with_given_groups(_scored(critic, chains), groups[label])
        for label, chains in {REAL: test, **samples}.items()
    }
    scores, of_groups = latent_ppl_of(sets, read_scored, PPL, options)
    facts = (split, *_facts(critic, train, options), *of_groups)
    return Result(title="Chains of mentions against real ones", scores=scores, facts=facts)


def criticise_crossed_mentions(
    real: MentionChains, samples: Mapping[str, MentionChains], options: CriticiseOptions, groups: Mapping[str, Groups]
) -> Result:
    """Like `criticise_mentions`, but by cross-fitting: each real chain is scored by a critic that was not fitted on it.

    Raises:
        TextcriticError: as `criticise_mentions`.
    """
    critic, sets = _fit(real, options, "reference"), {REAL: real, **samples}
    found = crossed_mentions(sets, groups, _refit_of(options), how_of(options), {REAL: "reference"})
    return Result(
        title="Chains of mentions against real ones",
        scores=scores_of_sets(found, [PPL], resampling(options)),
        facts=_facts_of_crossed(critic, real, found, options),
    )


def crossed_mentions(
    sets: Mapping[str, MentionChains],
    groups: Mapping[str, Groups],
    refit_of: Callable[[MentionChains], MentionRefit],
    how: CrossOptions,
    names: Mapping[str, str],
) -> dict[str, Scored]:
    """The Latent PPL of real chains and of the chains of each sample, by cross-fitting; empty chains are left out.

    Args:
        sets: chains by label, real ones first.
        groups: by label, the group of each chain.
        refit_of: makes the critics of two sets put together.
        how: the number of parts that documents are divided into, and how labels are exchanged.
        names: by label, the name of a set in errors; by default the label.

    Raises:
        TextcriticError: no document of a set is left; the line begins with its name.
    """
    real, *samples = sets
    kept = {label: one.lengths > 0 for label, one in sets.items()}
    for label, some in kept.items():
        if not some.any():
            raise TextcriticError(f"{names.get(label, label)}: {nothing_left({EMPTY: len(some)})}")
    kept_groups = {label: list(compress(groups[label] or [None] * len(some), some)) for label, some in kept.items()}
    chains = {label: one.some(kept[label]) for label, one in sets.items()}
    sizes = {label: int(some.sum()) for label, some in kept.items()}
    refits = {label: refit_of(MentionChains.joined([chains[real], chains[label]])) for label in samples}
    fits = fits_of(refits, kept_groups, sizes, how)
    estimates = estimates_of(fits, PPL, real)
    pairs = {label: {"pairs": fit.pairs, "narrower": fit.narrower} for label, fit in fits.items()}
    empty = {label: {EMPTY: int((~some).sum())} if not some.all() else {} for label, some in kept.items()}
    return {
        label: Scored(
            {},
            sizes[label],
            empty[label],
            _more(one, estimates[label]) | pairs.get(label, {}),
            kept_groups[label],
            {PPL.value: estimates[label]},
        )
        for label, one in chains.items()
    }


def _more(chains: MentionChains, estimate: Estimate) -> dict[str, float]:
    """The columns of a set of chains in addition to its Latent PPL, see `experiments.coreference.rows`."""
    people, documents = people_of(chains), len(chains.lengths)
    return {
        "latent_nll": math.log(estimate.value or math.nan) * len(chains.codes) / documents,
        "tokens": len(chains.codes),
        "mentions_per_document": float((chains.entities != NO_ENTITY).sum() / documents),
        "people_per_document": float(people.mean()),
        "without_people": int((people == 0).sum()),
    }


def _refit_of(options: CoreferenceOptions | CriticiseOptions) -> Callable[[MentionChains], MentionRefit]:
    return partial(MentionRefit, order=options.order, discount=options.discount)


def _facts_of_crossed(
    critic: MentionCritic,
    real: MentionChains,
    sets: Mapping[str, Scored],
    options: CoreferenceOptions | CriticiseOptions,
) -> tuple[tuple[str, str], ...]:
    """How it was done, in words."""
    of_groups = facts_of_groups({label: one.groups for label, one in sets.items()})
    return (_facts(critic, real, options)[0], *facts_of_crossing(how_of(options), sets), *of_groups)


def mentions_of(documents: Documents, options: MentionOptions) -> MentionChains:
    """The chains of a set of documents; raises as `Documents.mentions` and `Documents.texts`."""
    if isinstance(options, CoreferenceOptions) and options.resolver is not None:
        return _resolved(documents, options)
    chains = MentionChains.of_named(documents.mentions())
    if not len(chains.lengths):
        raise TextcriticError(
            f'{documents.name}: there is no document in it; write one {{"mentions": [".", "he:3", ...]}} a line or row'
        )
    return chains if options.gender else chains.without_gender()


def _resolved(documents: Documents, options: CoreferenceOptions) -> MentionChains:
    from textcritic.latents.resolvers.chains import ChainOptions, chains_of  # what resolves is loaded for texts alone
    from textcritic.latents.resolvers.mention import SECTION_BREAK
    from textcritic.latents.resolvers.resolve import resolver_of
    from textcritic.plan.entries import Persons

    texts = ((str(number), SECTION_BREAK.join(parts)) for number, parts in enumerate(documents.texts()))
    resolved = resolver_of(Persons(kind="persons")).resolve(texts)
    # The rules of `persons` reject no text: every document has a chain, which may be empty.
    return chains_of(resolved, ChainOptions(gender="majority" if options.gender else "none")).chains


def _fit(train: MentionChains, options: MentionOptions, name: str) -> MentionCritic:
    with named(name):
        return MentionCritic.fit(train, options.order, options.discount)


def _scored(critic: MentionCritic, chains: MentionChains) -> pa.Table:
    """Scores of a set of chains, numbered from 0."""
    return score_mentions(critic, np.arange(len(chains.lengths)).astype(str).tolist(), chains)


def _facts(critic: MentionCritic, train: MentionChains, options: MentionOptions) -> tuple[tuple[str, str], ...]:
    return (
        (
            "Critic",
            f"{critic.order}-grams of mentions, entities relabelled inside each, {WAYS[critic.discount]}; fitted on "
            f"{len(train.lengths):,} chains, {len(train.codes):,} tokens",
        ),
        *facts_of_draws(options),
    )
