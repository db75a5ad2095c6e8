"""The jobs on annotated text: how good a resolver is, and how much of a Latent PPL is its errors."""

import os
from dataclasses import dataclass, replace

from textcritic.corpora.readers.conll import conll_documents
from textcritic.critics.mentions.job import chain_options
from textcritic.critics.mentions.resolver_error import error_summary, resolver_error
from textcritic.files import write_json, write_table
from textcritic.latents.resolvers.chains import ChainOptions, chains_of
from textcritic.latents.resolvers.conll import resolved_of
from textcritic.latents.resolvers.language import load_language
from textcritic.latents.resolvers.mention import Resolved, Unresolved
from textcritic.latents.resolvers.mention_chains import MentionChains
from textcritic.latents.resolvers.people import people_of
from textcritic.latents.resolvers.quality import measure_resolver, summary_of
from textcritic.latents.resolvers.resolve import Resolver, resolver_of
from textcritic.plan.entries import Annotations, Mentions
from textcritic.plan.entries import Resolver as ResolverEntry
from textcritic.runlog import log

PLACES = {"all": slice(None), "even": slice(0, None, 2), "odd": slice(1, None, 2)}
"""Which documents of an annotated text are measured on, by the value of `documents`."""


@dataclass(frozen=True, slots=True)
class MeasuredFiles:
    """What a job writes, and the pretrained model that it needs.

    Attributes:
        table: Parquet, a row a document.
        summary: JSON, the numbers over all documents.
        folder: of the model, for a resolver that has one.
    """

    table: str | os.PathLike[str]
    summary: str | os.PathLike[str]
    folder: str | os.PathLike[str] | None = None


def annotated_texts(annotation: Annotations) -> list[Resolved]:
    """The texts of an entry of the annotations registry, with the mentions that people marked, sorted by name.

    Raises:
        TextcriticError: as `conll_documents`.
    """
    documents = sorted(conll_documents(annotation.files, annotation.folder), key=lambda document: document.id)
    return [resolved_of(document, annotation.language) for document in documents[PLACES[annotation.documents]]]


def write_quality(annotation: Annotations, resolver: ResolverEntry, files: MeasuredFiles) -> None:
    """Measure a resolver; the table is that of `measure_resolver`, the summary that of `summary_of`.

    Args:
        annotation: its entry.
        resolver: its entry, whose `opening` has no effect here.
        files: of the job.
    """
    texts = annotated_texts(annotation)
    table = measure_resolver(resolver_of(resolver, files.folder), texts, annotation.singletons, annotation.language)
    summary = summary_of(table)
    write_table(files.table, table)
    write_json(files.summary, summary)
    log.info("%s documents, CoNLL F1 of people %.1f%%", len(texts), 100 * summary["people"]["conll"]["value"])


def write_resolver_error(
    annotation: Annotations, critic: Mentions, resolver: ResolverEntry, files: MeasuredFiles
) -> None:
    """Measure the error of a critic's resolver; table and summary are those of `critics.mentions.resolver_error`.

    Args:
        annotation: its entry.
        critic: its entry.
        resolver: the critic's; its `opening` has no effect here.
        files: of the job.
    """
    gold, resolved = chains_of_both(
        annotated_texts(annotation),
        resolver_of(resolver, files.folder),
        chain_options(critic, resolver),
        annotation.language,
    )
    table = resolver_error(gold, resolved, critic.order, critic.discount)
    write_table(files.table, table)
    write_json(files.summary, error_summary(table))


def chains_of_both(
    texts: list[Resolved], resolver: Resolver, options: ChainOptions, language: str = "en"
) -> tuple[MentionChains, MentionChains]:
    """Gold and resolved chains of the same texts.

    Both have the sentences of the annotation, so that they differ only in mentions and links. `people_of` decides which
    gold entities are people. A text that the resolver gives up has a chain of sentence marks alone.

    Args:
        texts: with the mentions that people marked.
        resolver: sees only the texts.
        options: of chains.
        language: its words distinguish people from things in the annotation.
    """
    words = load_language(language)
    gold = []
    for text in texts:
        people = people_of(text, words)
        mentions = tuple(replace(mention, person=mention.entity in people) for mention in text.mentions)
        gold.append(replace(text, mentions=mentions))
    results = resolver.resolve((text.id, text.text) for text in texts)
    resolved = [
        replace(text, mentions=() if isinstance(result, Unresolved) else result.mentions)
        for text, result in zip(texts, results, strict=True)
    ]
    return chains_of(gold, options).chains, chains_of(resolved, options).chains
