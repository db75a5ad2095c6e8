"""Who is who by rules: names, nouns for people and pronouns are linked from left to right, after names have a gender.

A name is linked to an earlier form of it ("Mr. Darcy", "Fitzwilliam Darcy", "Darcy"). A pronoun is linked to the entity
that agrees with it in gender and number and has the largest sum of weights: how near its last mention is, its role in
the sentence, how often it was mentioned.
"""

from dataclasses import dataclass, field

from textcritic.latents.mentions.language import FEMALE, MALE, Language
from textcritic.latents.mentions.mention import Mention, Resolved
from textcritic.latents.mentions.phrases import NAME, NOUN, OBJECT, POSSESSIVE, PRONOUN, SUBJECT, Phrase, find_phrases
from textcritic.latents.mentions.text import Words

# Entities that a pronoun can be linked to: so many, those mentioned last, at most so many sentences back.
CANDIDATES = 24
SENTENCES = 8
# Entities with a part of a name that are compared with a name.
NAMESAKES = 8


@dataclass(slots=True, eq=False)
class Entity:
    """A person or persons.

    Attributes:
        gender, plural: as of `Phrase`.
        parts, title: of its longest name; no parts where it has no name.
        last: the phrase that stood for it last.
        count: its mentions so far.
        members: of a group that was made of others, these.
    """

    gender: str | None
    plural: bool
    last: Phrase
    parts: tuple[str, ...] = ()
    title: str | None = None
    count: int = 0
    members: tuple["Entity", ...] = ()
    phrases: list[Phrase] = field(default_factory=list)


class Linker:
    """The state of linking the phrases of one article; `pronoun` is what another kind of resolver replaces."""

    def __init__(self, words: Words, language: Language) -> None:
        self.words, self.language = words, language
        self.phrases = find_phrases(words, language)
        self.learnt = _learnt_genders(self.phrases)
        self.recent: list[Entity] = []
        self.entities: list[Entity] = []
        self.by_part: dict[str, list[Entity]] = {}
        self.by_noun: dict[tuple[str, Entity | None], Entity] = {}
        self.at_word: dict[int, Entity] = {}
        self.subject: Entity | None = None

    def resolved(self, name: str) -> Resolved:
        """Link all phrases; `name` is the id of the article."""
        words = self.words
        before = -1
        for phrase in self.phrases:
            sentence = words.sentence[phrase.head]
            if sentence != before:
                self.subject, before = None, sentence
            entity = self.link(phrase)
            if entity is not None:
                self.mention(entity, phrase)
        return Resolved(name, words.text, words.sentence_spans(), self.mentions())

    def link(self, phrase: Phrase) -> Entity | None:
        """The entity that a phrase stands for, a new one if none before; None if it is no mention."""
        if phrase.kind == NAME:
            return self.named(phrase)
        if phrase.kind == NOUN:
            return self.noun(phrase)
        if phrase.person == 3:
            return self.pronoun(phrase)
        return None

    def mention(self, entity: Entity, phrase: Phrase) -> None:
        """Let a phrase stand for an entity."""
        entity.last = phrase
        entity.count += 1
        entity.phrases.append(phrase)
        entity.gender = entity.gender or phrase.gender
        self.at_word[phrase.last - 1] = entity
        if entity in self.recent:
            self.recent.remove(entity)
        elif len(self.recent) == CANDIDATES:
            del self.recent[0]
        self.recent.append(entity)
        if phrase.role == SUBJECT:
            self.subject = entity

    def new(self, phrase: Phrase) -> Entity:
        """An entity that a phrase mentions first."""
        entity = Entity(phrase.gender, phrase.plural, phrase)
        self.entities.append(entity)
        return entity

    # Names

    def named(self, phrase: Phrase) -> Entity:
        """The entity of a name."""
        parts = phrase.parts
        phrase.gender = phrase.gender or self.learnt.get(parts)
        for entity in self.by_part.get(parts[-1], ())[: -NAMESAKES - 1 : -1]:
            if _same_name(entity, phrase):
                break
        else:
            for entity in self.by_part.get(parts[0], ())[: -NAMESAKES - 1 : -1]:
                if _same_name(entity, phrase):
                    break
            else:
                entity = self.new(phrase)
        if len(parts) > len(entity.parts):
            for part in parts:
                if part not in entity.parts:
                    self.by_part.setdefault(part, []).append(entity)
            entity.parts = parts
        entity.title = entity.title or phrase.title
        return entity

    # Nouns

    def noun(self, phrase: Phrase) -> Entity:
        """The entity of a noun: of what it is beside ("Emma, the queen"), of the same noun before, or a new one."""
        words = self.words
        written = words.words
        before = phrase.first - 1
        if not phrase.plural and before > 0:
            beside = self.at_word.get(before - 1)
            after = written[phrase.last] if phrase.last < len(written) else "."
            if (
                beside is not None
                and not beside.plural
                and written[before] == ","
                and beside.last.kind == NAME
                and after in (",", ".", ";", "of", "who", ")", "from", "and")
                and _agree(beside.gender, phrase.gender)
            ):
                return beside
            linked = self.at_word.get(before - 1)
            if (
                linked is not None
                and linked is self.subject
                and written[before] in self.language["copulas"]
                and _agree(linked.gender, phrase.gender)
                and not linked.plural
            ):
                return linked
        owner = self.at_word.get(phrase.owner) if phrase.owner >= 0 else None
        key = (phrase.parts[0], owner)
        known = self.by_noun.get(key) if phrase.definite else None
        if known is None:
            known = self.new(phrase)
        self.by_noun[key] = known
        return known

    # Pronouns

    def pronoun(self, phrase: Phrase) -> Entity | None:
        """The entity of a pronoun of the third person; None where it is no mention."""
        sentence = self.words.sentence[phrase.head]
        best, most = None, -1e9
        for rank, entity in enumerate(reversed(self.recent)):
            if entity.plural != phrase.plural:
                continue
            if entity.gender != phrase.gender and entity.gender is not None and phrase.gender is not None:
                continue
            distance = sentence - self.words.sentence[entity.last.head]
            if distance > SENTENCES:
                break
            score = self.score(phrase, entity, distance, rank)
            if score > most:
                best, most = entity, score
        return best if best is not None else self.new(phrase)

    def score(self, phrase: Phrase, entity: Entity, distance: int, rank: int) -> float:
        """The sum of weights of an entity, mentioned `distance` sentences and `rank` entities ago."""
        last = entity.last
        score = -1.0 * distance - 0.2 * rank
        if last.role == SUBJECT:
            score += 0.8
        elif last.role == POSSESSIVE:
            score += 0.2
        if last.kind == PRONOUN:
            score += 0.6
        elif last.kind == NAME:
            score += 0.4
        if entity.gender is None and phrase.gender is not None:
            score -= 0.8
        if entity.count > 3:
            score += 0.5
        if phrase.quoted != last.quoted:
            score -= 0.7
        if distance == 0 and entity is self.subject:
            if phrase.role == OBJECT and not phrase.reflexive:
                score -= 1.5
            else:
                score += 0.7
        if phrase.reflexive and entity is self.subject:
            score += 3
        return score

    # Result

    def mentions(self) -> tuple[Mention, ...]:
        """All mentions, sorted; entities are numbered in the order of their first ones."""
        spans, sentence = self.words.spans, self.words.sentence
        found = []
        for entity in self.entities:
            for phrase in entity.phrases:
                found.append((spans[phrase.first][0], -spans[phrase.last - 1][1], phrase, entity))
        found.sort(key=lambda item: item[:2])
        number: dict[int, int] = {}
        return tuple(
            Mention(
                start,
                -end,
                *spans[phrase.head],
                number.setdefault(id(entity), len(number)),
                sentence[phrase.head],
                True,
            )
            for start, end, phrase, entity in found
        )


def _agree(one: str | None, other: str | None) -> bool:
    return one is None or other is None or one == other


def _same_name(entity: Entity, phrase: Phrase) -> bool:
    """Whether a name can be one of an entity: one's words are among the other's, and gender and title agree."""
    if not _agree(entity.gender, phrase.gender):
        return False
    if phrase.title and entity.title and phrase.title != entity.title and entity.gender and phrase.gender:
        return False
    shorter, longer = sorted((entity.parts, phrase.parts), key=len)
    return all(part in longer for part in shorter)


def _learnt_genders(phrases: list[Phrase]) -> dict[tuple[str, ...], str]:
    """The gender of names that tell none, from the pronouns that follow them with no one between."""
    votes: dict[tuple[str, ...], dict[str, int]] = {}
    for index, phrase in enumerate(phrases):
        if phrase.kind != NAME or phrase.gender is not None:
            continue
        for later in phrases[index + 1 : index + 4]:
            if later.head > phrase.head + 25 or (later.kind != PRONOUN and not later.plural):
                break
            if later.kind == PRONOUN and later.gender is not None:
                tally = votes.setdefault(phrase.parts, {MALE: 0, FEMALE: 0})
                tally[later.gender] += 1
                break
    return {
        parts: max(tally, key=lambda gender: tally[gender])
        for parts, tally in votes.items()
        if max(tally.values()) >= 2 * min(tally.values())
    }
