"""How good a resolver is: measured on text in which people have marked who is who."""

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from textcritic.inference import Interval, bootstrap_interval
from textcritic.latents.resolvers.language import Language, load_language
from textcritic.latents.resolvers.mention import Mention, Resolved, Unresolved
from textcritic.latents.resolvers.people import is_nominal, people_of, pronoun_of
from textcritic.latents.resolvers.scorer import COUNTS, clusters_of, document_counts, pooled, ratio
from textcritic.values import JsonObject, Row

KINDS = ("third", "all")
"""Pronouns of the third person singular with a gender ("he", "her"); all personal pronouns of people."""
PRONOUN_COUNTS = tuple(f"pronouns_{kind}_{part}" for kind in KINDS for part in ("right", "of", "unnamed"))

PARTS = ("whole", "people")
"""All entities; and those that are people (`people.people_of`), in the key and in the response."""
QUALITY_SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        ("why", pa.string()),
        *((f"{part}_{count}", pa.float64()) for part in PARTS for count in COUNTS),
        *((count, pa.float64()) for count in PRONOUN_COUNTS),
    ]
)
"""A row a document: why the resolver gave nothing, null if it did; then the counts of `scorer` and `pronouns`."""


class _Resolver(Protocol):
    def resolve(self, documents: Iterable[tuple[str, str]]) -> Iterable[Resolved | Unresolved]: ...


def measure_resolver(
    resolver: _Resolver, annotated: Sequence[Resolved], singletons: bool = True, language: str = "en"
) -> pa.Table:
    """Let a resolver read annotated texts, and count what it finds.

    If the resolver gives up a text, it counts as having found nothing there.

    Args:
        resolver: the one that is measured; it sees only the texts.
        annotated: texts with the mentions that people marked.
        singletons: whether people marked entities of one mention; where they did not (OntoNotes, OntoGUM), such
            entities count neither in the key nor in the response.
        language: its words distinguish people from things.

    Returns:
        Table of schema `QUALITY_SCHEMA`, in the order of the texts.
    """
    words = load_language(language)
    responses = resolver.resolve((document.id, document.text) for document in annotated)
    rows = [_row(key, response, singletons, words) for key, response in zip(annotated, responses, strict=True)]
    return pa.Table.from_pylist(rows, schema=QUALITY_SCHEMA)


def summary_of(table: pa.Table, resamples: int = 10_000) -> JsonObject:
    """Every measure over all documents, with 95% intervals from resampling documents.

    Args:
        table: of `measure_resolver`.
        resamples: of the bootstrap.

    Returns:
        `documents`; `given_up`, how many of them the resolver gave up; of `whole` and `people` each `key_mentions`,
        `response_mentions` and {measure: {value, low, high}} of `scorer.pooled`; of `pronouns`, for `third` and `all`,
        {value, low, high, n, unnamed}: the share that is linked to the right person, out of n.

    Raises:
        TextcriticError: the table has no rows.
    """
    summary: JsonObject = {
        "documents": table.num_rows,
        "given_up": table.num_rows - table["why"].null_count,
    }
    for part in PARTS:
        counts = _columns(table, [f"{part}_{count}" for count in COUNTS])
        measures = {name: _shown(interval) for name, interval in pooled(counts, resamples).items()}
        total = dict(zip(COUNTS, counts.sum(axis=0).tolist(), strict=True))
        summary[part] = {
            "key_mentions": int(total["mentions_recall_of"]),
            "response_mentions": int(total["mentions_precision_of"]),
            **measures,
        }
    summary["pronouns"] = {kind: _share(table, kind, resamples) for kind in KINDS}
    return summary


def _row(key: Resolved, response: Resolved | Unresolved, singletons: bool, language: Language) -> Row:
    why = response.why if isinstance(response, Unresolved) else None
    if isinstance(response, Unresolved):
        response = Resolved(key.id, key.text, key.sentences, ())
    key_people, response_people = people_of(key, language), people_of(response, language)
    counts: dict[str, float] = {}
    for part in PARTS:
        chosen = (
            (key.mentions, response.mentions)
            if part == "whole"
            else (_of(key.mentions, key_people), _of(response.mentions, response_people))
        )
        key_clusters, response_clusters = (_clusters(mentions, singletons) for mentions in chosen)
        values = document_counts(key_clusters, response_clusters)
        counts.update(zip((f"{part}_{count}" for count in COUNTS), values.tolist(), strict=True))
    pronouns = pronoun_counts(key, response, key_people, language)
    return {"id": key.id, "why": why, **counts, **dict(zip(PRONOUN_COUNTS, pronouns.tolist(), strict=True))}


def _of(mentions: Iterable[Mention], entities: Collection[int]) -> list[Mention]:
    return [mention for mention in mentions if mention.entity in entities]


def _clusters(mentions: Iterable[Mention], singletons: bool) -> list[set[tuple[int, int]]]:
    return [cluster for cluster in clusters_of(mentions) if singletons or len(cluster) > 1]


def _share(table: pa.Table, kind: str, resamples: int) -> JsonObject:
    counts = _columns(table, [f"pronouns_{kind}_{part}" for part in ("right", "of", "unnamed")])
    interval = bootstrap_interval(counts[:, :2], lambda sums: ratio(sums[..., 0], sums[..., 1]), resamples)
    _, of, unnamed = counts.sum(axis=0).tolist()
    return {**_shown(interval.of_share()), "n": int(of), "unnamed": int(unnamed)}


def _columns(table: pa.Table, names: Sequence[str]) -> npt.NDArray[np.float64]:
    return np.column_stack([table[name].to_numpy() for name in names])


def _shown(interval: Interval) -> dict[str, float | None]:
    return {"value": interval.estimate, "low": interval.low, "high": interval.high}


def pronoun_counts(
    key: Resolved, response: Resolved, people: Collection[int], language: Language
) -> npt.NDArray[np.float64]:
    """Pronouns of a document, and how many are linked to the right person: float64 [len(PRONOUN_COUNTS)].

    A pronoun of the key counts if its entity is people and has a name or a noun before it; one without is counted in
    `unnamed` alone (a narrator who is "I" throughout). It is right if the resolver has it as a mention, and the nearest
    name or noun before it in the resolver's entity is a mention of the right entity: the "inferred antecedent" of
    Tuggener 2014 (EACL, "Coreference Resolution Evaluation for Higher Level Applications"). A mention of the resolver
    matches one of the key if the spans are equal, or the head of each is within the other: "Darcy" matches "Mr. Darcy,
    the owner".

    Args:
        key: what people marked.
        response: what the resolver found in the same text.
        people: entities of the key.
        language: of the pronouns.
    """
    counts = dict.fromkeys(PRONOUN_COUNTS, 0)
    nominals = [mention for mention in response.mentions if is_nominal(response, mention, language)]
    named = [mention for mention in key.mentions if is_nominal(key, mention, language)]
    entity_at = {(mention.start, mention.end): mention.entity for mention in reversed(response.mentions)}
    seen: set[tuple[int, int]] = set()
    for mention in key.mentions:
        pronoun = pronoun_of(key, mention, language)
        span = (mention.start, mention.end)
        if pronoun is None or mention.entity not in people or span in seen:
            continue
        seen.add(span)
        own = [name for name in named if name.entity == mention.entity and name.start < mention.start]
        antecedent = _nearest(nominals, entity_at.get(span), mention.start)
        right = antecedent is not None and any(same(antecedent, name) for name in own)
        entry = language.pronouns[pronoun]
        third = entry.person == 3 and not entry.plural and entry.gender is not None
        for kind in KINDS if third else KINDS[1:]:
            counts[f"pronouns_{kind}_{'of' if own else 'unnamed'}"] += 1
            counts[f"pronouns_{kind}_right"] += right
    return np.array(list(counts.values()), np.float64)


def same(one: Mention, other: Mention) -> bool:
    """Whether two mentions are the same: by their spans, or because the head of each is within the other."""
    if (one.start, one.end) == (other.start, other.end):
        return True
    return (
        other.start <= one.head_start
        and one.head_end <= other.end
        and one.start <= other.head_start
        and other.head_end <= one.end
    )


def _nearest(nominals: Sequence[Mention], entity: int | None, before: int) -> Mention | None:
    """The last mention of an entity that begins before a character; None without an entity."""
    candidates = (mention for mention in nominals if mention.entity == entity and mention.start < before)
    return max(candidates, key=lambda mention: mention.start, default=None)
