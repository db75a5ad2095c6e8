"""From mentions to chains: which mentions count, which word represents each, and what gender an entity has.

Model criticism paper, section 5 and appendix G. Where the paper's text and its released code differ, or neither is the
only way to see it, there is a switch in `ChainOptions`; the defaults are the paper's text.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.latents.resolvers.language import Language, Pronoun, load_language
from textcritic.latents.resolvers.mention import Resolved, Unresolved, batches_of, iter_mentions
from textcritic.latents.resolvers.mention_chains import GENDERS, NO_ENTITY, NO_GENDER, SENTENCE, MentionChains
from textcritic.plan.entries import critics

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class ChainOptions(critics.ChainOptions):
    """How mentions become chains: the switches of an entry, and the language of the pronouns."""

    language: str = "en"


@dataclass(frozen=True, slots=True, eq=False)
class Chained:
    """The chains of a set of articles, and what became of the articles without one.

    Attributes:
        ids: [documents] of the articles that have a chain.
        chains: of these.
        mention: int32 [tokens], the index of each token's mention within its article, -1 for a mark of a sentence.
        rejected: (id, why) of articles that the resolver rejected.
    """

    ids: list[str]
    chains: MentionChains
    mention: npt.NDArray[np.int32]
    rejected: list[tuple[str, str]]


def read_chains(path: str | os.PathLike[str], options: ChainOptions) -> Chained:
    """The chains of a file of mentions; raises as `iter_mentions`."""
    return chains_of_batches(iter_mentions(path), options)


def chains_of(resolved: Iterable[Resolved | Unresolved], options: ChainOptions) -> Chained:
    """The chains of articles with their mentions."""
    return chains_of_batches(batches_of(resolved), options)


def chains_of_batches(batches: Iterable[pa.RecordBatch], options: ChainOptions) -> Chained:
    """The chains of record batches of schema `MENTIONS_SCHEMA`.

    Args:
        batches: of articles with their mentions.
        options: the switches.

    Raises:
        TextcriticError: the language is unknown, or its file is not right.
    """
    language = load_language(options.language)
    symbols: dict[str, int] = {SENTENCE: 0}
    ids: list[str] = []
    rejected: list[tuple[str, str]] = []
    parts: list[_Tokens] = []
    for batch in batches:
        out = batch.filter(batch["rejected"])
        rejected += zip(out["id"].to_pylist(), out["why"].to_pylist(), strict=True)
        kept = batch.filter(pc.invert(batch["rejected"]))
        ids += kept["id"].to_pylist()
        parts.append(_tokens(_Mentions.of(kept, options, language), kept, options, symbols))
    if not parts:
        parts = [_Tokens.none()]
    lengths = np.concatenate([part.lengths for part in parts])
    chains = MentionChains(
        tuple(symbols),
        np.concatenate([part.codes for part in parts]).astype(np.int32),
        np.concatenate([part.entities for part in parts]),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )
    mention = np.concatenate([part.mention for part in parts]).astype(np.int32)
    return Chained(ids, chains, mention, rejected)


@dataclass(frozen=True, slots=True, eq=False)
class _Tokens:
    """Tokens of the documents of one batch."""

    codes: Ints
    entities: Ints
    mention: Ints
    lengths: Ints

    @classmethod
    def none(cls) -> "_Tokens":
        empty = np.zeros(0, np.int64)
        return cls(empty, empty, empty, empty)


@dataclass(frozen=True, slots=True, eq=False)
class _Mentions:
    """The mentions of one batch that count, article by article, in the order of the file.

    Attributes:
        document: int64 [mentions], row of the batch.
        entity: int64 [mentions], within the article.
        place: int64 [mentions], the character where the word that represents the mention begins.
        index: int64 [mentions], index of the mention within its article.
        word: [mentions], the index in `words` of the word that represents the mention.
        words: the distinct words.
        pronoun: bool [words], whether it is a personal pronoun.
        label: [mentions], the index in GENDERS of the entity's gender, len(GENDERS) for none.
    """

    document: Ints
    entity: Ints
    place: Ints
    index: Ints
    word: Ints
    words: list[str]
    pronoun: Bools
    label: Ints

    @classmethod
    def of(cls, batch: pa.RecordBatch, options: ChainOptions, language: Language) -> "_Mentions":
        lengths = _lengths(batch["mentions"])
        flat = batch["mentions"].flatten()
        document = np.repeat(np.arange(len(lengths)), lengths)
        index = np.arange(len(document)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        heads, head = _encoded(flat.field("head"))
        counts = ~_among(heads, options.left_out)[head]
        entity = _numbers(flat, "entity")
        # Entities of different articles of the batch get different numbers.
        entities = np.unique(np.stack([document, entity]), axis=1, return_inverse=True)[1].reshape(-1)
        known = _among(heads, language.pronouns)
        counts &= _of_people(flat.field("person"), known[head], entities, counts, options.people)[entities]
        votes = np.array([_vote(language.pronouns.get(word.lower())) for word in heads], dtype=np.int64)
        labels = _majority(votes[head][counts], entities[counts], int(entities.max(initial=-1)) + 1)
        words, word, place = heads, head, _numbers(flat, "head_start")
        if options.token != "head":
            words, word = _encoded(flat.field(options.token))
            ends = _numbers(flat, "end") - np.array([len(w) for w in words], dtype=np.int64)[word]
            place = _numbers(flat, "start") if options.token == "first" else ends
        pronoun = _among(words, language.pronouns)
        label = labels[entities] if options.gender == "majority" else np.full(len(entities), len(GENDERS))
        document, entity, place, index, word, label = (
            array[counts] for array in (document, entity, place, index, word, label)
        )
        return cls(document, entity, place, index, word, words, pronoun, label)


def _tokens(mentions: _Mentions, batch: pa.RecordBatch, options: ChainOptions, symbols: dict[str, int]) -> _Tokens:
    """Mentions and marks of sentences in the order of the text; `symbols` grows by those that are new."""
    keep = _one_a_place(mentions, options.shared_token)
    shown = [word.lower() if options.case == "fold" else word for word in mentions.words]
    of_word = np.full(len(shown), -1)
    for number in np.unique(mentions.word[keep]):
        if mentions.pronoun[number]:
            of_word[number] = symbols.setdefault(shown[number], len(symbols))
    of_label = np.array([symbols.setdefault(label, len(symbols)) for label in (*GENDERS, NO_GENDER)])
    word = mentions.word[keep]
    codes = np.where(mentions.pronoun[word], of_word[word], of_label[mentions.label[keep]]) if len(word) else word
    marks, starts = np.zeros(0, np.int64), np.zeros(0, np.int64)
    if options.sentence_marks:
        marks = np.repeat(np.arange(batch.num_rows), _lengths(batch["sentences"]))
        starts = _numbers(batch["sentences"].flatten(), "start")
    document = np.concatenate([marks, mentions.document[keep]])
    place = np.concatenate([starts, mentions.place[keep]])
    entity = np.concatenate([np.full(len(marks), NO_ENTITY), mentions.entity[keep]])
    # At the same place the mark comes before the mention: the sort is stable.
    order = np.lexsort((place, document))
    return _Tokens(
        np.concatenate([np.zeros(len(marks), np.int64), codes])[order],
        entity[order],
        np.concatenate([np.full(len(marks), -1), mentions.index[keep]])[order],
        np.bincount(document, minlength=batch.num_rows),
    )


def _one_a_place(mentions: _Mentions, shared: str) -> Ints:
    """The mentions that are kept where several have the same word: of the first or the last entity, or all."""
    if shared == "all":
        return np.arange(len(mentions.place))
    order = np.lexsort((mentions.entity, mentions.place, mentions.document))
    same = (np.diff(mentions.document[order]) == 0) & (np.diff(mentions.place[order]) == 0)
    keep = np.append(~same, True) if shared == "last" else np.append(True, ~same)
    return np.sort(order[keep[: len(order)]])


def _of_people(person: pa.Array, pronoun: Bools, entities: Ints, counts: Bools, people: str) -> Bools:
    """Whether each entity counts: bool [entities].

    Args:
        person: [mentions], what the resolver says; null where it cannot say.
        pronoun: [mentions], whether the head is a personal pronoun.
        entities: [mentions], the entity.
        counts: [mentions], those that are not left out.
        people: the switch.
    """
    total = int(entities.max(initial=-1)) + 1
    if people == "all":
        return np.ones(total, dtype=bool)
    labelled, is_person = (
        array.to_numpy(zero_copy_only=False) for array in (pc.is_valid(person), pc.fill_null(person, False))
    )
    by_label, has_label, by_pronoun = (
        np.bincount(entities[counts & which], minlength=total) > 0 for which in (is_person, labelled, pronoun)
    )
    return by_label | by_pronoun if people == "as_released" else by_label | (~has_label & by_pronoun)


def _majority(votes: Ints, entities: Ints, total: int) -> Ints:
    """The gender of each entity, by the majority of its heads; of classes with as many votes, the first one seen.

    Args:
        votes: [mentions], index in GENDERS, or -1.
        entities: [mentions].
        total: entities.
    """
    classes = len(GENDERS)
    voting = np.flatnonzero(votes >= 0)
    cells = entities[voting] * classes + votes[voting]
    counts = np.bincount(cells, minlength=total * classes).reshape(total, classes)
    first = np.full(total * classes, len(votes))
    np.minimum.at(first, cells, voting)
    best = np.lexsort((first.reshape(total, classes), -counts), axis=1)[:, 0] if total else np.zeros(0, np.int64)
    return np.where(counts.any(axis=1), best, classes)


def _encoded(strings: pa.Array) -> tuple[list[str], Ints]:
    encoded = strings.dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


def _vote(pronoun: Pronoun | None) -> int:
    """The index in GENDERS that a head votes for, or -1."""
    if pronoun is None or (pronoun.gender is None and not pronoun.plural):
        return -1
    return GENDERS.index("PLURAL" if pronoun.plural else str(pronoun.gender).upper())


def _among(words: Sequence[str], chosen: Iterable[str]) -> Bools:
    lowered = {word.lower() for word in chosen}
    return np.array([word.lower() in lowered for word in words], dtype=bool)


def _numbers(structs: pa.Array, name: str) -> Ints:
    return structs.field(name).to_numpy(zero_copy_only=False).astype(np.int64)


def _lengths(lists: pa.Array) -> Ints:
    return pc.list_value_length(lists).to_numpy(zero_copy_only=False).astype(np.int64)
