"""`textcritic.coreference`: the Latent PPL of chains of mentions under a critic that real text was fitted with."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.api.declare import takes
from textcritic.api.documents import Documents, Given, Kind, documents_of
from textcritic.api.options import CoreferenceOptions, MentionOptions
from textcritic.api.results import Result
from textcritic.api.scored import LatentPpl, facts_of_draws, latent_ppl_of, with_given_groups
from textcritic.api.sets import held_out_of
from textcritic.critics.mentions import MentionChains, MentionCritic, score_mentions
from textcritic.critics.scores import document_columns, latent_nll
from textcritic.errors import TextcriticError, named
from textcritic.experiments.coreference.rows import PPL, read_scored
from textcritic.inference import Groups
from textcritic.measures.memory import REAL

WAYS: Mapping[str, str] = {
    "kneser-ney": "interpolated Kneser-Ney",
    "as_released": "absolute discounting, as the paper's released code",
    "modified": "modified Kneser-Ney",
}


@dataclass(frozen=True, repr=False, kw_only=True)
class CoreferenceResult(LatentPpl):
    """What `coreference` gives; `scores` has the Latent PPL of held-out real text, and that of the samples.

    Attributes:
        tokens: mentions and sentence marks scored.
        without_people: documents scored that mention nobody.
        unseen: tokens scored that are never the last one of a window of the real text that the critic was fitted on,
            labels relabelled.
        options: how it was done.
    """

    tokens: int
    without_people: int
    unseen: int
    options: CoreferenceOptions

    def to_json(self) -> str:
        """The object that `textcritic coreference` prints."""
        real, score = self.scores
        value = {
            **self.head(),
            "p": score.p,
            "real": {"latent_ppl": real.value, "ci95": [real.low, real.high], "n": real.n},
            "tokens": self.tokens,
            "n": self.n,
            "rejected": score.rejected,
            "rejected_by_reason": dict(score.rejected_by_reason),
            "without_people": self.without_people,
            "order": self.options.order,
            "discount": self.options.discount,
            "unseen": self.unseen,
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
        samples: likewise.
        options: see below.

    Raises:
        TextcriticError: bad input, in one line that names the argument and the item.
    """
    kind: Kind = "mentions" if options.resolver is None else "texts"
    sets = [documents_of(given, name, kind) for given, name in ((real, "real"), (samples, "samples"))]
    groups: tuple[list[str | None], list[str | None]] = ([], [])
    real_chains, chains = (
        mentions_of(documents.noting(noted), options) for documents, noted in zip(sets, groups, strict=True)
    )
    number = len(real_chains.lengths)
    held = np.isin(np.arange(number), [*held_out_of(groups[0], options, sets[0].name)])
    train, tested = real_chains.some(~held), real_chains.some(held)
    critic = _fit(train, options, sets[0].name)
    of_held = [groups[0][place] for place in np.flatnonzero(held)]
    real_scores = with_given_groups(_scored(critic, tested), of_held)
    scores = with_given_groups(_scored(critic, chains), groups[1])
    names = {REAL: sets[0].name, "samples": sets[1].name}
    found, of_groups = latent_ppl_of({REAL: real_scores, "samples": scores}, read_scored, PPL, options, names)
    parts = f"{held.sum():,} documents held out at random (seed {options.seed})"
    people = scores.filter(pc.invert(scores["rejected"]))["people"].to_numpy()
    return CoreferenceResult(
        title="Chains of mentions under a critic of real ones",
        scores=found,
        facts=(("Real text", parts), *_facts(critic, train, options), *of_groups),
        latent_nll_mean=latent_nll(scores),
        tokens=int(document_columns(scores)[:, 1].sum()),
        without_people=int((people == 0).sum()),
        unseen=int((critic.matched(chains) == 0).sum()),
        options=options,
    )


def criticise_mentions(
    train: MentionChains,
    test: MentionChains,
    samples: Mapping[str, MentionChains],
    options: MentionOptions,
    split: tuple[str, str],
    groups: Mapping[str, Groups],
) -> Result:
    """Fit a critic of mentions on real chains, score other real ones and each sample, and test each against the former.

    Args:
        train: real chains to fit on.
        test: real chains that are the yardstick.
        samples: chains by label.
        options: see `MentionOptions`.
        split: ("Real text", words on how `train` and `test` were parted).
        groups: of the chains of each sample by label, and of `test`, which is `REAL`.

    Raises:
        TextcriticError: a set of which nothing can be fitted or scored, with its label.
    """
    critic = _fit(train, options, "reference")
    sets = {
        label: with_given_groups(_scored(critic, chains), groups[label])
        for label, chains in {REAL: test, **samples}.items()
    }
    scores, of_groups = latent_ppl_of(sets, read_scored, PPL, options)
    facts = (split, *_facts(critic, train, options), *of_groups)
    return Result(title="Chains of mentions against real ones", scores=scores, facts=facts)


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

    texts = ((str(number), SECTION_BREAK.join(parts)) for number, parts in enumerate(documents.texts()))
    resolved = resolver_of({"kind": options.resolver}).resolve(texts)
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
