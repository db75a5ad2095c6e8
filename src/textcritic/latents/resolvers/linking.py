"""Who is who by rules: names, nouns for people and pronouns are linked from left to right, once names have a gender.

A name is linked to an earlier form of it ("Mr. Darcy", "Fitzwilliam Darcy", "Darcy"). A pronoun is linked to the entity
that agrees with it in gender and number and has the largest sum of weights: how near its last mention is, its role in
the sentence, how often it was mentioned. "I" and "you" in quotations come last: the speaker may be named after them.
"""

from dataclasses import dataclass, field, replace

from textcritic.latents.resolvers.genders import learnt_genders
from textcritic.latents.resolvers.language import Language
from textcritic.latents.resolvers.mention import Mention, Resolved
from textcritic.latents.resolvers.nouns import may_be_thing
from textcritic.latents.resolvers.phrases import (
    NAME,
    NOUN,
    OBJECT,
    POSSESSIVE,
    PRONOUN,
    SUBJECT,
    Phrase,
    agree,
    find_phrases,
)
from textcritic.latents.resolvers.salience import SAME_CLAUSE, salience
from textcritic.latents.resolvers.speakers import by_turns, said_by
from textcritic.latents.resolvers.text import Words

# Entities that a pronoun can be linked to: this many, those mentioned last, at most this many sentences back.
CANDIDATES = 24
SENTENCES = 8
# Sentences back to one person who can be "they".
THEY = 1
_APPOSITION_ENDS = frozenset((",", ".", ";", "(", ")"))
# Words between a subject and an object of one clause; with a preposition before the object.
CLAUSE, VERB = 6, 2
# Entities with a part of a name that are compared with a name.
NAMESAKES = 8


@dataclass(slots=True, eq=False)
class Entity:
    """A person or persons.

    Attributes:
        gender, plural: as of `Phrase`.
        parts, title: of its longest name; no parts where it has no name.
        last: its last mention.
        count: its mentions so far.
        spoken: whether it is "I", "you" or "we"; no pronoun of the third person means it.
        phrases: its mentions.
    """

    gender: str | None
    plural: bool
    last: Phrase
    parts: tuple[str, ...] = ()
    title: str | None = None
    count: int = 0
    spoken: bool = False
    phrases: list[Phrase] = field(default_factory=list)


class Linker:
    """The state of linking the phrases of one article; another kind of resolver replaces `pronoun`."""

    def __init__(self, words: Words, language: Language) -> None:
        self.words, self.language = words, language
        self.phrases = find_phrases(words, language)
        self.learnt = learnt_genders(self.phrases)
        self.recent: list[Entity] = []
        self.entities: list[Entity] = []
        self.by_part: dict[str, list[Entity]] = {}
        self.by_noun: dict[tuple[str, Entity | None], list[tuple[tuple[str, ...], Entity]]] = {}
        self.at_word: dict[int, Entity] = {}
        self.at_name: dict[int, Entity] = {}
        self.subject: Entity | None = None
        self.awaited: Entity | None = None
        self.groups: dict[tuple[int, int], Entity] = {}
        self.spoken: dict[tuple[int, bool, bool], Entity] = {}

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
        self.talk()
        return Resolved(name, words.text, words.sentence_spans(), self.mentions())

    def talk(self) -> None:
        """Link "I" and "you" inside quotation marks to who speaks and who is spoken to."""
        quotations = self.words.quotations
        tags = said_by(quotations, self.phrases, self.words, self.language)
        known = [None if tag is None else self.at_word.get(tag.last - 1) for tag in tags]
        pairs = by_turns(known, quotations)
        unknown: dict[int, Entity] = {}
        for phrase in self.phrases:
            if phrase.quoted and phrase.person != 3 and not phrase.plural:
                who = pairs[phrase.quote][phrase.person - 1]
                if isinstance(who, int):
                    who = unknown.setdefault(who, unknown.get(who) or self.new(phrase))
                who.count += 1
                who.phrases.append(phrase)

    def link(self, phrase: Phrase) -> Entity | None:
        """The entity that a phrase refers to, a new one if no earlier one fits; None if it is no mention."""
        if phrase.kind == NAME:
            return self.named(phrase)
        if phrase.kind == NOUN:
            return self.noun(phrase)
        if phrase.person == 3:
            return self.pronoun(phrase)
        if phrase.quoted and not phrase.plural:
            return None
        return None if self.language.pronouns[phrase.parts[0]].quoted else self.narrator(phrase)

    def mention(self, entity: Entity, phrase: Phrase) -> None:
        """Make a phrase a mention of an entity."""
        entity.last = phrase
        entity.count += 1
        entity.phrases.append(phrase)
        entity.gender = entity.gender or phrase.gender
        if not self.is_aside(phrase):
            self.touch(entity)
            if phrase.role == SUBJECT:
                self.subject = entity
        joined = phrase.first - 2  # the word before "and"
        if phrase.kind != PRONOUN and joined >= 0 and self.words.lowered[joined + 1] in self.language["conjunctions"]:
            other = self.at_word.get(joined)
            if other is not None and other is not entity:
                self.group(other, entity, phrase)
        self.at_word[phrase.last - 1] = entity
        if phrase.kind == NAME:
            self.at_name[phrase.last - 1] = entity

    def is_aside(self, phrase: Phrase) -> bool:
        """Whether a name is in brackets after a mention, like an actor's; no pronoun refers to it."""
        before = phrase.first - 1
        return phrase.kind == NAME and before > 0 and self.words.words[before] == "(" and before - 1 in self.at_word

    def touch(self, entity: Entity) -> None:
        """Make an entity the most recently mentioned one."""
        if entity in self.recent:
            self.recent.remove(entity)
        elif len(self.recent) == CANDIDATES:
            del self.recent[0]
        self.recent.append(entity)

    def group(self, one: Entity, other: Entity, last: Phrase) -> None:
        """Make "Paul and Silas" an entity; it becomes a mention only if a pronoun is linked to it."""
        first = one.last
        both = Phrase(NAME, first.first, last.last, last.head, None, True, (), role=first.role, quote=last.quote)
        key = (id(one), id(other))
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = self.new(both)
        group.last = both
        group.phrases.append(both)
        self.touch(group)

    def narrator(self, phrase: Phrase) -> Entity:
        """The entity of "I", "you" or "we" outside quotation marks, or of "we" inside: one for each of the four."""
        key = phrase.person, phrase.plural, phrase.quoted
        entity = self.spoken.get(key)
        if entity is None:
            entity = self.spoken[key] = self.new(phrase)
            entity.spoken = True
        return entity

    def new(self, phrase: Phrase) -> Entity:
        """A new entity, whose first mention is a phrase."""
        entity = Entity(phrase.gender, phrase.plural, phrase)
        self.entities.append(entity)
        return entity

    # Names

    def named(self, phrase: Phrase) -> Entity:
        """The entity of a name."""
        parts = phrase.parts
        phrase.gender = phrase.gender or self.learnt.get(parts)
        entity = self.namesake(phrase) or self.explained(phrase) or self.announced(phrase) or self.new(phrase)
        if len(parts) > len(entity.parts):
            for part in parts:
                if part not in entity.parts:
                    self.by_part.setdefault(part, []).append(entity)
            entity.parts = parts
        if phrase.title is not None:
            entity.title = entity.title or phrase.title
            # "Dr. Carter" is "the doctor" too.
            noun = self.language.same_name.get(phrase.title, phrase.title)
            self.by_noun.setdefault((noun, None), []).append(((), entity))
        return entity

    def namesake(self, phrase: Phrase) -> Entity | None:
        """Among the entities that a name can mean, the one named last; None if there is none."""
        for part in (phrase.parts[-1], phrase.parts[0]):
            for entity in self.by_part.get(part, ())[: -NAMESAKES - 1 : -1]:
                if _same_name(entity, phrase):
                    return entity
        return None

    def announced(self, phrase: Phrase) -> Entity | None:
        """The entity of a pronoun in the clause just before a phrase: "he" for "John" in "When he came, John slept"."""
        words, entity = self.words, self.awaited
        if entity is None or entity.plural != phrase.plural or not agree(entity.gender, phrase.gender):
            return None
        if words.sentence[entity.last.head] != words.sentence[phrase.head] or words.words[phrase.first - 1] != ",":
            return None
        self.awaited = None
        return entity

    def explained(self, phrase: Phrase) -> Entity | None:
        """The entity, so far without a name, that a new name explains: "a coworker, Victoria, whom ..."."""
        words, before = self.words.words, phrase.first - 1
        entity = self.at_word.get(before - 1)
        if entity is None or words[before] != "," or entity.parts or entity.plural or entity.last.kind != NOUN:
            return None
        after = words[phrase.last] if phrase.last < len(words) else "."
        return entity if after in _APPOSITION_ENDS and agree(entity.gender, phrase.gender) else None

    # Nouns

    def noun(self, phrase: Phrase) -> Entity | None:
        """The entity of a noun: of the name next to it ("Emma, the queen"), of the same noun before, or a new one.

        None where the noun is a predicate ("He was a rich man"): in OntoNotes such a noun is no mention.
        """
        if self.is_predicate(phrase):
            return None
        return self.apposed(phrase) or self.described(phrase)

    def is_predicate(self, phrase: Phrase) -> bool:
        """Whether a noun in the singular follows "is" and its subject."""
        verb = phrase.first - 1
        if phrase.plural or verb < 1 or self.words.words[verb] not in self.language["copulas"]:
            return False
        return self.subject is not None and self.at_word.get(verb - 1) is self.subject

    def apposed(self, phrase: Phrase) -> Entity | None:
        """The entity of the name directly before a noun in the singular; None if there is none."""
        words, before = self.words, phrase.first - 1
        if phrase.plural or before < 0:
            return None
        sign = words.words[before]
        after = words.words[phrase.last] if phrase.last < len(words.words) else "."
        entity = self.at_name.get(before) if phrase.definite else None
        if entity is None and sign == "," and (after in _APPOSITION_ENDS or after in self.language["function_words"]):
            entity = self.at_name.get(before - 1)
        if entity is None or entity.plural or not agree(entity.gender, phrase.gender):
            return None
        return entity

    def described(self, phrase: Phrase) -> Entity:
        """The entity of an earlier phrase with this noun, this possessor and all these modifiers; or a new one."""
        owner = self.at_word.get(phrase.owner) if phrase.owner >= 0 else None
        earlier = self.by_noun.setdefault((phrase.parts[0], owner), [])
        entity = None
        if phrase.definite:
            for about, other in earlier[: -NAMESAKES - 1 : -1]:
                if all(word in about for word in phrase.about):
                    entity = other
                    break
        if entity is None:
            entity = self.titled(phrase) or self.announced(phrase) or self.new(phrase)
        earlier.append((phrase.about, entity))
        return entity

    def titled(self, phrase: Phrase) -> Entity | None:
        """The entity of a noun with a capital letter that is another form of a name: "the LORD" is God."""
        name = self.language.same_name.get(phrase.parts[0])
        if name is None or phrase.owner >= 0 or not self.words.words[phrase.head][0].isupper():
            return None
        return self.named(replace(phrase, parts=(name,)))

    # Pronouns

    def pronoun(self, phrase: Phrase) -> Entity | None:
        """The entity of a pronoun of the third person; None where it is no mention."""
        entity = self.best(phrase, phrase.plural)
        if entity is None and phrase.plural:
            entity = self.best(phrase, False)
        sure = entity is not None and phrase.plural in (entity.plural, entity.last.plural)
        if not sure and may_be_thing(phrase.head, self.words, self.language):
            return None
        return entity or self.unnamed(phrase)

    def best(self, phrase: Phrase, plural: bool) -> Entity | None:
        """The likeliest entity that a pronoun can mean: among single persons, or among groups if `plural`.

        A pronoun in the plural can mean one person whose gender is not known: "The student came. They sat down."
        """
        sentence, reach = self.words.sentence[phrase.head], SENTENCES if plural == phrase.plural else THEY
        best, most = None, -1e9
        for entity in reversed(self.recent):
            if entity.plural != plural or entity.spoken or not agree(entity.gender, phrase.gender):
                continue
            if plural != phrase.plural and entity.gender is not None and not self.alone(entity, phrase):
                continue
            distance = sentence - self.words.sentence[entity.last.head]
            if distance > reach:
                break
            score = self.score(phrase, entity, distance)
            if score > most:
                best, most = entity, score
        return best

    def alone(self, entity: Entity, phrase: Phrase) -> bool:
        """Whether "their" is in a sentence whose subject is this person, by name, and nobody else is near."""
        if phrase.role != POSSESSIVE or entity is not self.subject or entity.last.kind != NAME:
            return False
        first = self.words.sentence[phrase.head] - THEY
        return all(other is entity or self.words.sentence[other.last.head] < first for other in self.recent)

    def unnamed(self, phrase: Phrase) -> Entity:
        """A new entity for a pronoun that nobody before it fits; in a subordinate clause, the name may follow."""
        entity = self.new(phrase)
        opening = self.words.sentences[self.words.sentence[phrase.head]][0]
        if self.words.lowered[opening] in self.language["subordinate"]:
            self.awaited = entity
        return entity

    def score(self, phrase: Phrase, entity: Entity, distance: int) -> float:
        """The sum of weights of an entity, mentioned `distance` sentences ago."""
        total = salience(phrase, entity.last, distance, entity.count)
        if phrase.role == OBJECT and not phrase.reflexive and distance == 0 and entity is self.subject:
            total += SAME_CLAUSE * self.same_clause(entity.last.last, phrase.first)
        return total

    def same_clause(self, first: int, last: int) -> bool:
        """Whether the word at `last` is the object of the verb whose subject ends before `first`, near it.

        "Jordan laughed at him", but not "he took his wife with him".
        """
        lowered, clauses = self.words.lowered, self.language["clause_words"]
        if last - first > (VERB if lowered[last - 1] in self.language["function_words"] else CLAUSE):
            return False
        return all(word[0].isalnum() and word not in clauses for word in lowered[first:last])

    # Result

    def mentions(self) -> tuple[Mention, ...]:
        """All mentions, sorted; entities are numbered in the order of their first ones."""
        spans, sentence = self.words.spans, self.words.sentence
        rows = []
        for entity in self.entities:
            if not entity.count:
                continue
            for phrase in entity.phrases:
                rows.append((spans[phrase.first][0], -spans[phrase.last - 1][1], phrase, entity))
        rows.sort(key=lambda row: row[:2])
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
            for start, end, phrase, entity in rows
        )


def _same_name(entity: Entity, phrase: Phrase) -> bool:
    """Whether a name can be that of an entity: the words of one are among the other's, and gender and title agree."""
    if not agree(entity.gender, phrase.gender):
        return False
    if phrase.title and entity.title and phrase.title != entity.title and entity.gender and phrase.gender:
        return False
    shorter, longer = sorted((entity.parts, phrase.parts), key=len)
    return all(part in longer for part in shorter)
