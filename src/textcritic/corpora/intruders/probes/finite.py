"""The finite verbs of a sentence, found by word lists and word order alone: no tagger, no parser.

Reading goes from left to right. Forms that can only be finite (was, went, did) are taken at once. A form that may be a
participle (made, worked) is finite behind a pronoun, behind the first noun phrase of a clause, and behind `and` where
the verb before was one; it is a participle behind an auxiliary, a determiner or a preposition, before `by`, and where
another verb of the clause follows. Words in quotes or brackets and words with a capital letter are not read.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from textcritic.corpora.intruders.probes.surroundings import PAST, PRESENT, TENSES, Surroundings
from textcritic.corpora.intruders.probes.verb_forms import base_of, base_of_third, is_base, is_past, is_past_only
from textcritic.corpora.intruders.probes.word_lists import word_class
from textcritic.corpora.intruders.probes.words import (
    AUXILIARIES,
    COORDINATORS,
    DETERMINERS,
    MODALS,
    NUMBER_WORDS,
    OBJECTS,
    POSSESSIVES,
    PREPOSITIONS,
    RELATIVES,
    SUBJECTS,
    SUBORDINATORS,
    Token,
    is_adverb,
)

__all__ = ["PAST", "PRESENT", "Verb", "finite_verbs"]

_TEMPORAL = word_class("temporal")
_STANDS_ALONE = word_class("stands_alone")
_MOSTLY_PARTICIPLES = word_class("mostly_participles")
_MODIFIERS = word_class("modifiers")
_PARTICLES = word_class("particles")
_NO_CLAUSE = frozenset(["as", "than", "so", "since", "even", "how", "why"])
_BASE_SUBJECTS = frozenset(["they", "we", "i", "you", "ye", "thou"])
_OTHER_SUBORDINATORS = SUBORDINATORS - _TEMPORAL - _NO_CLAUSE
_NOUN_BEGINS = DETERMINERS | POSSESSIVES
_PHRASE = _NOUN_BEGINS | PREPOSITIONS
_NO_NOUN = PREPOSITIONS | COORDINATORS
_BEFORE_PARTICIPLE = _NOUN_BEGINS | AUXILIARIES | {"n't", "not", "to"}
_BEFORE_NO_PRESENT = _BEFORE_PARTICIPLE | PREPOSITIONS | {""}
_BEHIND_PRESENT = _PHRASE | OBJECTS | {"that", "as", "not", "", "."}
_AND = COORDINATORS | {"then", "&"}
_BASES = {
    **dict.fromkeys(("was", "were", "is", "are", "am", "wast", "wert", "art"), "be"),
    **dict.fromkeys(("did", "does", "do", "didst", "doth", "dost"), "do"),
    **dict.fromkeys(("had", "has", "have", "hadst", "hath", "hast"), "have"),
}


@dataclass(frozen=True, slots=True)
class Verb:
    """A finite verb.

    Attributes:
        position: of its token.
        base: base form; of a modal the modal itself.
        tense: `past` or `present`.
        subject: position of the last token of its subject; None where it shares that of the verb before it.
        shares: whether it shares the subject of the verb before it: "he came and went".
        temporal: whether its clause says when: after he went, until he died.
        main: whether its clause is a main one.
    """

    position: int
    base: str
    tense: str
    subject: int | None
    shares: bool
    temporal: bool
    main: bool


@dataclass(slots=True)
class _Clause:
    """What has been read of a clause; `nominal`: something that can be its subject."""

    main: bool
    temporal: bool = False
    relative: bool = False
    nominal: bool = False
    verb: Verb | None = None


def finite_verbs(tokens: Sequence[Token]) -> list[Verb]:
    """The finite verbs of a sentence in order; contracted negations (wasn't) are among them."""
    return _Reader(tokens).read()


class _Reader:
    """Reads a sentence once; `clauses` is the stack of clauses that are open."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.around = Surroundings(tokens)
        self.clauses = [_Clause(main=True)]

    def read(self) -> list[Verb]:
        verbs = []
        for position in range(len(self.tokens)):
            if self.around.skipped[position]:
                self.clause.nominal = True
            elif verb := self._verb_at(position):
                verbs.append(verb)
                self.clause.verb = verb
            else:
                self._open_or_close(position)
        return verbs

    @property
    def clause(self) -> _Clause:
        return self.clauses[-1]

    def _open_or_close(self, position: int) -> None:
        """Open clauses behind conjunctions and relative pronouns, close them behind marks, note possible subjects."""
        word, before, after = (self.around.word(position + step) for step in (0, -1, 1))
        if word in (";", ":") or self.around.begins_sentence(position):
            self.clauses = [_Clause(main=True)]
        elif word == ",":
            while len(self.clauses) > 1 and self.clause.verb and after not in COORDINATORS:
                self.clauses.pop()
        elif (word in _TEMPORAL and not (word == "while" and before == ",") and self.around.opens_clause(position)) or (
            word == "time" and before == "the" and self.around.word(position - 2) == "by" and after not in PREPOSITIONS
        ):
            self.clauses.append(_Clause(main=False, temporal=True))
        elif word == "that" and before and before not in PREPOSITIONS and after not in ("", "of"):
            nominal = self.clause.nominal and before not in COORDINATORS
            self.clauses.append(_Clause(main=False, relative=True, nominal=nominal))
        elif word == "what" or (word in RELATIVES and word != "that"):
            self.clauses.append(_Clause(main=False, relative=True, nominal=word != "where"))
        elif (word in _OTHER_SUBORDINATORS and self.around.opens_clause(position)) or (
            word == "as" and after in SUBJECTS
        ):
            self.clauses.append(_Clause(main=False))
        elif self.tokens[position].is_word and word not in _NO_NOUN and not is_adverb(word):
            self.clause.nominal = self.clause.nominal or not self.around.in_preposition(position)

    def _verb_at(self, position: int) -> Verb | None:
        """The finite verb at a position, if there is one."""
        token = self.tokens[position]
        if token.is_capital and position > 0 and len(token.text) > 1:
            return None
        word = token.lower.removesuffix("n't")
        word = {"ca": "can", "wo": "will"}.get(word, word)
        before, _ = self.around.before(position)
        if word in TENSES and (before not in _NOUN_BEGINS or before in _STANDS_ALONE):
            return self._auxiliary(position, word, before)
        base = base_of(word) if is_past(word) else None
        if base is None:
            return self._present(position)
        if self.around.behind_demonstrative(position):
            return self._verb(position, base, PAST)
        if before in _BEFORE_PARTICIPLE:
            return None
        if before.endswith(("n't", "'s", "s'", "'ve", "'d")):
            return None
        if before in PREPOSITIONS and not (is_past_only(word) and before in _PARTICLES):
            return None
        return self._verb(position, base, PAST) if is_past_only(word) or self._is_finite(position) else None

    def _auxiliary(self, position: int, word: str, before: str) -> Verb | None:
        """A form of be, have or do, or a modal; none behind another auxiliary, or where it is a noun (a will)."""
        if (word == "had" and before in TENSES) or (word == "art" and before != "thou"):
            return None
        inverted = self.around.word(position + 1) in SUBJECTS or before == "as"
        if word in ("do", "does", "did", "doth", "didst") and inverted:  # as do most; so did he
            return None
        if word in ("have", "do") and (before in MODALS | {"to", "not", "did", "n't"} or before.endswith("n't")):
            return None
        if word in ("may", "can", "will", "must", "might") and before in {"in", "of", "on"} | _STANDS_ALONE - {"all"}:
            return None
        return self._verb(position, _BASES.get(word, word), TENSES[word])

    def _is_finite(self, position: int) -> bool:
        """Whether a past form that may be a participle is finite here."""
        around, clause = self.around, self.clause
        (before, place), word, after = around.before(position), around.word(position), around.word(position + 1)
        if before in SUBJECTS or (before == "that" and clause.relative):
            inverted = around.word(place - 1) in AUXILIARIES and before not in ("who", "which")
            return not inverted and not (is_base(word) and before in _BASE_SUBJECTS)
        if before in _AND or (before == "," and around.word(place - 1) in COORDINATORS):
            return after != "by" and self._continues(position)
        if before in OBJECTS | {"", ";", ":"} or after == "by":
            return False
        if clause.verb is not None:
            return self._is_listed(position) if before == "," else around.new_subject(place)
        if before in NUMBER_WORDS | _MODIFIERS or around.present_before(position) or around.verb_follows(position):
            return False
        if before == ",":
            return clause.nominal and not around.inserted(position)
        return (clause.nominal or not clause.main) and word not in _MOSTLY_PARTICIPLES

    def _continues(self, position: int) -> bool:
        """Whether a form behind `and` goes on with a finite verb: came and worked; not "was arrested and tried"."""
        verb = self.clause.verb
        if verb is None or verb.base in MODALS:
            return False
        if verb.tense == PRESENT:
            return verb.base not in ("be", "have")
        near = range(verb.position + 1, verb.position + 4)
        participle = next((n for n in near if base_of(self.around.word(n)) is not None), None)
        if verb.base not in ("be", "have") or participle is None:
            return True
        return "but" in (self.around.word(position - 1), self.around.word(position - 2)) or position - participle > 4

    def _is_listed(self, position: int) -> bool:
        """Whether a form behind a comma is one of several verbs: he came, worked there, and left."""
        verb = self.clause.verb
        if verb is None or verb.tense != PAST or verb.base in MODALS | {"be", "have"}:
            return False
        return self.around.joined_past(position)

    def _present(self, position: int) -> Verb | None:
        """A finite verb in the present tense: behind a subject that it agrees with, if the clause has no verb yet."""
        around, clause = self.around, self.clause
        (before, place), word, after = around.before(position), around.word(position), around.word(position + 1)
        third, base = base_of_third(word), word if is_base(word) else None
        if third and around.behind_demonstrative(position):
            return self._verb(position, third, PRESENT)
        if before in _BEFORE_NO_PRESENT:
            return None
        agrees = (before in ("he", "she", "it") and third) or (before in _BASE_SUBJECTS and base)
        if agrees or (before in ("who", "which", "that") and clause.relative and (third or base)):
            return self._verb(position, third or word, PRESENT)
        if third is None:
            return None
        if before in COORDINATORS or (before == "," and around.word(place - 1) in COORDINATORS):
            if clause.verb is None or clause.verb.base in MODALS:
                return None
            twice = after in COORDINATORS and base_of_third(around.word(position + 2)) is not None
            goes_on = clause.verb.tense == PRESENT or after in _PHRASE or twice
            return self._verb(position, third, PRESENT) if goes_on else None
        follows = after in _BEHIND_PRESENT or is_adverb(after)
        if clause.verb or not clause.nominal or not follows or around.verb_follows(position):
            return None
        return self._verb(position, third, PRESENT)

    def _verb(self, position: int, base: str, tense: str) -> Verb:
        before, place = self.around.before(position)
        behind_comma = before == "," and (self.around.word(place - 1) in COORDINATORS or tense == PAST)
        shares = self.clause.verb is not None and (before in _AND or behind_comma)
        subject = None if shares or place < 0 else place
        return Verb(position, base, tense, subject, shares, self.clause.temporal, self.clause.main)
