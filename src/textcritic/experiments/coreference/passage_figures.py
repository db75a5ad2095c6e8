"""Figures of passages (model criticism paper, Figures 5 and 10 to 13), which are chosen by fixed rules."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd

from textcritic.critics.mentions import NO_ENTITY, THRESHOLD, MentionChains, MentionCritic
from textcritic.experiments.coreference.files import CoreferenceFiles, Documents
from textcritic.experiments.coreference.passage_chart import Caption, passage_chart
from textcritic.experiments.coreference.passages import Passage, Symbol, Token, excerpt, passages
from textcritic.experiments.coreference.read import chained, critic_of
from textcritic.experiments.coreference.why import counts_in_words, is_label, nats, reason_of, written
from textcritic.latents.resolvers.language import Language, load_language
from textcritic.measures.names import Names
from textcritic.report.drawings import Drawing

TYPICAL, NAME, PRONOUN, FAR, REAL = "typical", "unlikely-name", "unlikely-pronoun", "outside-window", "unlikely-real"
WORDS = {
    TYPICAL: "a mention of middling probability, of all mentions of the samples",
    NAME: "the least likely name or noun for a person whom the critic has in sight, in all samples",
    PRONOUN: "the least likely pronoun for a person whom the critic has in sight, in all samples",
    FAR: "the least likely pronoun for a person who was mentioned before, but out of its sight, in all samples",
    REAL: "the least likely mention of real text: people wrote it, so it is rare, or an error of the resolver",
}
MOST_CHARACTERS = 420

Bools = npt.NDArray[np.bool_]


def passage_figure(recipe: str, files: CoreferenceFiles, _: Mapping[str, pd.DataFrame]) -> Iterator[Drawing]:
    """One passage; a line of text if the texts have no such mention.

    Args:
        recipe: a key of `WORDS`, which describe the choice.
        files: the files.
    """
    language = load_language(files.resolver.get("language", "en"))
    mention = _chosen(recipe, files, language)
    if mention is None:
        caption = Caption("No such passage", f"There is none: {WORDS[recipe]}.", ())
        yield recipe, partial(passage_chart, None, None, caption)
        return
    whole = passages(mention.source, files, mention.critic, [mention.article])[0]
    passage = excerpt(whole, whole.tokens[mention.place], MOST_CHARACTERS)
    token = next(token for token in passage.tokens if token.place == mention.place)
    caption = _caption(recipe, mention, passage, token, (files, language))
    yield recipe, partial(passage_chart, passage, token, caption)


PASSAGE_FIGURES = {recipe: partial(passage_figure, recipe) for recipe in WORDS}


@dataclass(frozen=True, slots=True)
class _Mention:
    """A mention: its source and critic, the id of its article, its place in the chain, and its log P."""

    source: Documents
    critic: MentionCritic
    article: str
    place: int
    log_prob: float


def _chosen(recipe: str, files: CoreferenceFiles, language: Language) -> _Mention | None:
    mentions = []
    for data in files.data:
        critic = critic_of(data)
        sources: Iterable[Documents] = [data] if recipe == REAL else files.samples_of(data)
        mentions += [one for source in sources if (one := _of_source(recipe, source, files, critic, language))]
    # For `TYPICAL` the mention of the first source that has one, else the least likely mention of all sources.
    return mentions[0] if mentions and recipe == TYPICAL else min(mentions, key=lambda one: one.log_prob, default=None)


def _of_source(
    recipe: str, source: Documents, files: CoreferenceFiles, critic: MentionCritic, language: Language
) -> _Mention | None:
    read = chained(source, files)
    chains = read.chains
    wanted = np.flatnonzero(_wanted(recipe, chains, critic.order, language))
    if not len(wanted):
        return None
    log_prob = critic.log_prob(chains)
    order = wanted[np.argsort(log_prob[wanted], kind="stable")]
    token = int(order[len(order) // 2 if recipe == TYPICAL else 0])
    document = int(np.searchsorted(chains.offsets, token, side="right")) - 1
    return _Mention(source, critic, read.ids[document], token - int(chains.offsets[document]), float(log_prob[token]))


def _wanted(recipe: str, chains: MentionChains, order: int, language: Language) -> Bools:
    """The tokens that a recipe chooses among: [tokens]."""
    mention = chains.entities != NO_ENTITY
    if recipe in (TYPICAL, REAL):
        return mention
    document = np.repeat(np.arange(len(chains.lengths)), chains.lengths)
    near = np.zeros(len(mention), dtype=bool)
    for lag in range(1, order):
        same = (chains.entities[lag:] == chains.entities[:-lag]) & (document[lag:] == document[:-lag])
        near[lag:] |= same & mention[lag:]
    label = np.array([is_label(Symbol(name)) for name in chains.symbols], dtype=bool)[chains.codes]
    pronoun = np.array([name.lower() in language.pronouns for name in chains.symbols], dtype=bool)[chains.codes]
    if recipe == FAR:
        first = np.zeros(len(mention), dtype=bool)
        first[np.unique(np.stack([document, chains.entities]), axis=1, return_index=True)[1]] = True
        return mention & pronoun & ~near & ~first
    return mention & near & (label if recipe == NAME else pronoun)


def _caption(
    recipe: str, mention: _Mention, passage: Passage, token: Token, about: tuple[CoreferenceFiles, Language]
) -> Caption:
    files, language = about
    label = Names.of(files.samples).source(mention.source.keys)
    saw = " ".join(written(symbol) for symbol in token.context)
    says = [f"log P({written(token.symbol)} | {saw}) = {nats(token.log_prob)}."]
    if token.expected is not None and token.expected_log_prob > token.log_prob:
        says[0] += f" Likeliest here: {written(token.expected)}, {nats(token.expected_log_prob)}."
    why = reason_of(token, language).says if token.log_prob < THRESHOLD else ""
    says.append(f"{why} {counts_in_words(token)}".strip())
    title = f"{label[0].upper()}{label[1:]}, article {passage.title or passage.article}"
    what = f"In the frame: {WORDS[recipe]}. Below each mention, and in its chain, log P in nats; a full stop is the "
    return Caption(title, f"{what}start of a sentence.", says)
