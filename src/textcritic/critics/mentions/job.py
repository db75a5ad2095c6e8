"""The jobs of the critic of mentions: fit it on the train split, score real text and samples."""

import os
from collections import Counter

from textcritic.corpora import article_groups
from textcritic.critics.mentions.model import MentionCritic
from textcritic.critics.mentions.scoring import people_of, score_mentions
from textcritic.critics.scores import with_groups
from textcritic.errors import TextcriticError
from textcritic.files import write_json, write_table
from textcritic.latents.resolvers.chains import ChainOptions, read_chains
from textcritic.plan.entries import Mentions, Resolver
from textcritic.runlog import log


def chain_options(critic: Mentions, resolver: Resolver) -> ChainOptions:
    """The switches of a critic's entry, for the language of its resolver's."""
    return ChainOptions(**critic.chains.plain(), language=resolver.language)


def fit_on_mentions(
    mentions: str | os.PathLike[str],
    critic_path: str | os.PathLike[str],
    training_path: str | os.PathLike[str],
    entry: Mentions,
    options: ChainOptions,
) -> None:
    """Fit a critic of kind `mentions` on a file of mentions; write it, and what it was fitted on.

    Args:
        mentions: the file of mentions of the train split.
        critic_path: critic.npz.
        training_path: JSON with `documents`, `tokens`, `people`, `without_people`, `rejected` {reason: n}, `ngrams` of
            each order, `discounts` of each order, and the `options` of chains.
        entry: order and discount of the critic.
        options: how mentions become chains.

    Raises:
        TextcriticError: no article of the train split has a chain.
    """
    chained = read_chains(mentions, options)
    rejected = Counter(why for _, why in chained.rejected)
    if not len(chained.chains.codes):
        reasons = "; ".join(f"{why}: {count}" for why, count in rejected.items()) or "there is none"
        raise TextcriticError(f"{mentions}: no article has a mention or a sentence ({reasons}); nothing can be fitted")
    critic = MentionCritic.fit(chained.chains, entry.order, entry.discount)
    critic.save(critic_path)
    people = people_of(chained.chains)
    training = {
        "documents": len(chained.ids),
        "tokens": len(chained.chains.codes),
        "people": int(people.sum()),
        "without_people": int((people == 0).sum()),
        "rejected": rejected,
        "ngrams": [len(level.grams) for level in critic.levels],
        "discounts": critic.discounts.tolist(),
        "options": options.plain(),
    }
    write_json(training_path, training)
    log.info("%s tokens of %s documents", f"{training['tokens']:,}", f"{training['documents']:,}")


def score_file(
    mentions: str | os.PathLike[str],
    articles: str | os.PathLike[str],
    critic_path: str | os.PathLike[str],
    scores_path: str | os.PathLike[str],
    options: ChainOptions,
) -> None:
    """Write the scores of a file of mentions, also those of texts that the resolver rejected.

    Args:
        mentions: the file of mentions of a corpus split or a sample.
        articles: the articles of that split or sample, with their groups.
        critic_path: critic.npz.
        scores_path: table of schema `MENTION_SCORES_SCHEMA`.
        options: how mentions become chains; the same options that the critic was fitted with.
    """
    chained = read_chains(mentions, options)
    critic = MentionCritic.load(critic_path)
    scores = score_mentions(critic, chained.ids, chained.chains, chained.rejected)
    write_table(scores_path, with_groups(scores, article_groups(articles)))
