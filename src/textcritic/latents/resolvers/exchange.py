"""Real text with pronouns exchanged at random: for those of the other gender, or for those of another person.

The mentions change, before chains are made of them. So the gender label of a person follows the majority of the
pronouns after the exchange; this holds for the label of names too. The resolver does not see the changed text: the
links between mentions stay as they were, except the relinked ones.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.errors import TextcriticError
from textcritic.latents.resolvers.chains import Chained, ChainOptions, chains_of_batches
from textcritic.latents.resolvers.language import Language, Pronoun, load_language
from textcritic.latents.resolvers.mention import MENTIONS_SCHEMA
from textcritic.latents.resolvers.mention_chains import NO_ENTITY, MentionChains

Kind = Literal["regendered", "relinked"]
KINDS: tuple[Kind, ...] = ("regendered", "relinked")
"""`regendered`: he for she, her for him; `relinked`: the same word, now for another person of the article."""

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
_WORDS = ("head", "first", "last")
# If a gender lacks one of these two cases (with a noun after it, or without), its form of the other case is used.
_POSSESSIVE = frozenset({"possessive", "own"})


@dataclass(frozen=True, slots=True, eq=False)
class Exchange:
    """Articles, and the pronouns in them that can be exchanged: of the third person, with a gender, in the chain.

    Attributes:
        batch: the articles with their mentions, schema `MENTIONS_SCHEMA`; each has a chain of at least one token.
        options: of chains.
        chained: the chains of the articles as they are.
        pronouns: int64 [pronouns], the place of each among the mentions of all articles.
        document: int64 [pronouns], its article.
        people: int64 [people], the entities of the first article's chain, sorted, then those of the second, ...
        first: int64 [articles + 1], where the people of each article begin.
    """

    batch: pa.RecordBatch
    options: ChainOptions
    chained: Chained
    pronouns: Ints
    document: Ints
    people: Ints
    first: Ints

    @classmethod
    def of(cls, batches: Iterable[pa.RecordBatch], options: ChainOptions) -> "Exchange":
        """The articles that have a chain, of record batches of schema `MENTIONS_SCHEMA`."""
        table = pa.Table.from_batches(batches, schema=MENTIONS_SCHEMA)
        batch = _one_batch(table.filter(pc.invert(table["rejected"])))
        chained = chains_of_batches([batch], options)
        chains = chained.chains
        if not chains.lengths.all():
            return cls.of([batch.filter(pa.array(chains.lengths > 0))], options)
        language = load_language(options.language)
        gendered = np.array([_has_gender(language.pronouns.get(s.lower())) for s in chains.symbols], dtype=bool)
        document = np.repeat(np.arange(batch.num_rows), chains.lengths)
        some = np.flatnonzero(chains.entities != NO_ENTITY)
        people = np.unique(np.stack([document[some], chains.entities[some]]), axis=1)
        tokens = some[gendered[chains.codes[some]]]
        place = _first_mentions(batch)[document[tokens]] + chained.mention[tokens]
        first = np.searchsorted(people[0], np.arange(batch.num_rows + 1))
        return cls(batch, options, chained, place, document[tokens], people[1], first)

    def chains(self, kind: Kind, share: float, versions: int, rng: np.random.Generator) -> tuple[MentionChains, Ints]:
        """Chains of the articles, each with a share of its pronouns exchanged, in several independent versions.

        Every pronoun is exchanged independently with probability `share`. Regendered: it is replaced by the form of the
        other gender in the same case, with the same capital letters. Where several forms fit (him and his for her), one
        is drawn with the frequencies of the articles. Relinked: it is linked to one of the other people of the article,
        all equally likely; a pronoun in an article with one person stays as it is.

        Args:
            kind: what is exchanged.
            share: of the pronouns, from 0 to 1.
            versions: how many of each article.
            rng: random numbers.

        Returns:
            The chains of version 0 of all articles, then of version 1, ...; and int64 [versions x articles], how many
            pronouns were exchanged.

        Raises:
            TextcriticError: a share outside [0, 1] or an unknown kind.
        """
        if kind not in KINDS or not 0 <= share <= 1:
            raise TextcriticError(
                f"exchange of pronouns: {kind!r}, share {share}; give {' or '.join(KINDS)}, and a share from 0 to 1"
            )
        version, pronoun = np.nonzero(rng.random((versions, len(self.pronouns))) < share)
        exchange = self._regendered if kind == "regendered" else self._relinked
        fields, done = exchange(pronoun, version * self._mentions + self.pronouns[pronoun], versions, rng)
        articles = self.batch.num_rows
        where = (version * articles + self.document[pronoun])[done]
        batch = _with_fields(self.batch, versions, fields)
        return chains_of_batches([batch], self.options).chains, np.bincount(where, minlength=versions * articles)

    @property
    def _mentions(self) -> int:
        """Mentions of all articles."""
        return len(self.batch["mentions"].flatten())

    def _regendered(
        self, pronoun: Ints, place: Ints, versions: int, rng: np.random.Generator
    ) -> tuple[dict[str, pa.Array], Bools]:
        """The words of all mentions with some pronouns exchanged, and which of these were.

        Args:
            pronoun: those to exchange.
            place: the place of each among the mentions of all versions.
            versions: copies of the articles.
            rng: random numbers.
        """
        flat = self.batch["mentions"].flatten()
        heads = flat.field("head").take(pa.array(self.pronouns)).dictionary_encode()
        forms, form = heads.dictionary.to_pylist(), heads.indices.to_numpy(zero_copy_only=False)
        others = _other_forms(forms, np.bincount(form, minlength=len(forms)), load_language(self.options.language))
        new = np.array(["", *(word for words, _ in others for word in words)], dtype=object)
        drawn, begin = np.zeros(len(pronoun), np.int64), 1
        for number, (words, weights) in enumerate(others):
            here = np.flatnonzero(form[pronoun] == number)
            if words:
                drawn[here] = begin + rng.choice(len(words), len(here), p=weights)
            begin += len(words)
        done = drawn > 0
        place, old, drawn = place[done], np.array(forms, dtype=object)[form[pronoun[done]]], drawn[done]
        fields = {}
        for name in _WORDS:
            words_now = np.tile(flat.field(name).to_numpy(zero_copy_only=False), versions)
            same = words_now[place] == old
            words_now[place[same]] = new[drawn[same]]
            fields[name] = pa.array(words_now, pa.string())
        return fields, done

    def _relinked(
        self, pronoun: Ints, place: Ints, versions: int, rng: np.random.Generator
    ) -> tuple[dict[str, pa.Array], Bools]:
        """The entities of all mentions with some pronouns relinked, and which of these were; as `_regendered`."""
        entity = self.batch["mentions"].flatten().field("entity").to_numpy(zero_copy_only=False).astype(np.int64)
        people = np.diff(self.first)[self.document[pronoun]]
        done = people > 1
        pronoun, place, people = pronoun[done], place[done], people[done]
        document = self.document[pronoun]
        base = int(self.people.max(initial=0)) + 1
        keys = np.repeat(np.arange(len(self.first) - 1), np.diff(self.first)) * base + self.people
        own = np.searchsorted(keys, document * base + entity[self.pronouns[pronoun]]) - self.first[document]
        other = (own + 1 + rng.integers(0, people - 1)) % people
        result = np.tile(entity, versions)
        result[place] = self.people[self.first[document] + other]
        return {"entity": pa.array(result, pa.int32())}, done


def _has_gender(pronoun: Pronoun | None) -> bool:
    return pronoun is not None and pronoun.gender is not None and pronoun.person == 3 and not pronoun.plural


def _other_forms(
    forms: Sequence[str], counts: Ints, language: Language
) -> list[tuple[list[str], npt.NDArray[np.float64]]]:
    """For each pronoun as written, those of the other gender that fit, and the probability of each.

    Args:
        forms: as they are written.
        counts: int64 [forms], how often each occurs.
        language: of the pronouns.
    """
    occurs: Counter[str] = Counter()
    for form, number in zip(forms, counts.tolist(), strict=True):
        occurs[form.lower()] += number
    result = []
    for form in forms:
        words = _of_other_gender(form.lower(), language)
        weights = np.array([occurs[word] for word in words], dtype=np.float64)
        weights = weights / weights.sum() if weights.any() else np.full(len(words), 1 / max(len(words), 1))
        result.append(([_written_as(word, form) for word in words], weights))
    return result


def _of_other_gender(word: str, language: Language) -> list[str]:
    """The forms of the other gender with a case in common."""
    this = language.pronouns[word]
    alike = {
        other: pronoun
        for other, pronoun in language.pronouns.items()
        if _has_gender(pronoun) and pronoun.gender != this.gender and pronoun.reflexive == this.reflexive
    }
    cases = this.cases
    if not any(pronoun.cases & cases for pronoun in alike.values()) and cases & _POSSESSIVE:
        cases = _POSSESSIVE
    return [other for other, pronoun in alike.items() if pronoun.cases & cases]


def _written_as(word: str, form: str) -> str:
    """A word with the capital letters of another."""
    if len(form) > 1 and form.isupper():
        return word.upper()
    return word.capitalize() if form[:1].isupper() else word


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    """A table as one record batch."""
    columns = [pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type) for column in table]
    return pa.RecordBatch.from_arrays(columns, schema=MENTIONS_SCHEMA)


def _first_mentions(batch: pa.RecordBatch) -> Ints:
    """The place of each article's first mention among those of all: int64 [articles]."""
    lengths = pc.list_value_length(batch["mentions"]).to_numpy(zero_copy_only=False).astype(np.int64)
    return np.cumsum(lengths) - lengths


def _with_fields(batch: pa.RecordBatch, versions: int, fields: Mapping[str, pa.Array]) -> pa.RecordBatch:
    """Copies of articles one after the other, some fields of their mentions replaced: [copies x mentions] each."""
    copies = _one_batch(pa.Table.from_batches([batch] * versions, schema=MENTIONS_SCHEMA))
    flat = copies["mentions"].flatten()
    names = [field.name for field in flat.type]
    mentions = pa.StructArray.from_arrays([fields.get(name, flat.field(name)) for name in names], names)
    lengths = pc.list_value_length(copies["mentions"]).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    column = pa.ListArray.from_arrays(offsets, mentions).cast(MENTIONS_SCHEMA.field("mentions").type)
    columns = [column if name == "mentions" else copies[name] for name in copies.schema.names]
    return pa.RecordBatch.from_arrays(columns, schema=MENTIONS_SCHEMA)
