"""The finite verbs of a sentence, found by word lists and word order alone: no tagger, no parser.

Reading goes from left to right. Forms that can only be finite (was, went, did) are taken at once. A form that may be a
participle (made, worked) is finite behind a pronoun, behind the first noun phrase of a clause, and behind `and` where
the verb before was one; it is a participle behind an auxiliary, a determiner or a preposition, before `by`, and where
another verb of the clause follows. What stands in quotes or brackets is not read, nor words with a capital letter.
"""

from collections.abc import Sequence
from dataclasses import dataclass

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
    following,
    is_adverb,
    quoted,
)

PAST, PRESENT = "past", "present"
_TEMPORAL = word_class("temporal")
_FINITE_AUXILIARIES = {
    **dict.fromkeys(("was", "were", "did", "had", "wast", "wert", "didst", "hadst"), PAST),
    **dict.fromkeys(("is", "are", "am", "has", "have", "does", "do", "art", "hath", "hast", "doth", "dost"), PRESENT),
    **dict.fromkeys(MODALS, PRESENT),
    **dict.fromkeys(("could", "would", "might"), PAST),
}
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
        subject: position of the last token of its subject; None where it shares that of the verb before it, or has none.
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
    """What has been read of a clause."""

    main: bool
    temporal: bool = False
    verb: Verb | None = None
    passive: bool = False
    nominal: bool = False
    """Whether something that can be its subject was read."""
    relative: bool = False


def finite_verbs(tokens: Sequence[Token]) -> list[Verb]:
    """The finite verbs of a sentence in order; contracted negations (wasn't) are among them."""
    return _Reader(tokens).read()


class _Reader:
    """Reads a sentence once; `clauses` is the stack of clauses that are open."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.skipped = quoted(tokens)
        self.verbs: list[Verb] = []
        self.clauses = [_Clause(main=True)]

    def read(self) -> list[Verb]:
        for position, token in enumerate(self.tokens):
            if self.skipped[position]:
                self.clauses[-1].nominal = True
                continue
            verb = self._verb_at(position)
            if verb:
                self.verbs.append(verb)
                self.clauses[-1].verb = verb
                self.clauses[-1].passive = verb.base == "be"
            else:
                self._open_or_close(position, token)
        return self.verbs

    @property
    def clause(self) -> _Clause:
        return self.clauses[-1]

    def _open_or_close(self, position: int, token: Token) -> None:
        word, before = token.lower, self._word(position - 1)
        after = following(self.tokens, position)
        if token.text in ";:" or self._begins_sentence(position):
            self.clauses = [_Clause(main=True)]
        elif word == "time" and before == "the" and self._word(position - 2) == "by" and after not in PREPOSITIONS:
            self.clauses.append(_Clause(main=False, temporal=True))
        elif token.text == ",":
            self._comma(position)
        elif word in _TEMPORAL and not (word == "while" and before == ",") and self._opens_clause(position):
            self.clauses.append(_Clause(main=False, temporal=True))
        elif word == "that" and before and before not in PREPOSITIONS and after and after not in ("of",):
            self.clauses.append(
                _Clause(main=False, relative=True, nominal=self.clause.nominal and before not in COORDINATORS)
            )
        elif word == "what":
            self.clauses.append(_Clause(main=False, relative=True, nominal=True))
        elif word in RELATIVES and word != "that":
            self.clauses.append(_Clause(main=False, relative=True, nominal=word != "where"))
        elif (
            word in SUBORDINATORS - _TEMPORAL
            and word not in ("as", "than", "so", "since", "even", "how", "why")
            and self._opens_clause(position)
        ) or (word == "as" and after in SUBJECTS):
            self.clauses.append(_Clause(main=False))
        elif token.is_word and word not in PREPOSITIONS and word not in COORDINATORS and not is_adverb(word):
            self.clause.nominal = self.clause.nominal or not self._in_preposition(position)

    def _begins_sentence(self, position: int) -> bool:
        """Whether a sentence begins behind a mark: the splitter may have left two together."""
        after = self.tokens[position + 1] if position + 1 < len(self.tokens) else None
        closed = DETERMINERS | SUBJECTS - {"i"}
        return self.tokens[position].text in ".,?!" and after is not None and after.is_capital and after.lower in closed

    def _comma(self, position: int) -> None:
        """A comma closes the inner clauses that have their verbs; the outer one waits for its own or goes on."""
        while len(self.clauses) > 1 and self.clause.verb and self._word(position + 1) not in COORDINATORS:
            self.clauses.pop()

    def _opens_clause(self, position: int) -> bool:
        """Whether a conjunction that may be a preposition (after, before, until, since) has a finite verb behind it."""
        if self._word(position) not in PREPOSITIONS:
            return not (self._word(position + 1).endswith("ing") or self._word(position + 1) in PREPOSITIONS)
        for place in range(position + 1, min(len(self.tokens), position + 14)):
            word = self.tokens[place].lower
            if (
                self.tokens[place].text in ",;"
                or word in RELATIVES
                or word in SUBORDINATORS - {"as"}
                or (word in COORDINATORS and place > position + 3)
            ):
                return False
            if word in SUBJECTS and place == position + 1:
                return True
            if word.endswith("ing") and place == position + 1:
                return False
            if place > position + 1 and not self.tokens[place].is_capital and self._plain_finite(place):
                return True
        return False

    def _plain_finite(self, place: int) -> bool:
        """Whether a token is a finite verb by its form and the word before it."""
        word, before = self.tokens[place].lower, self._word(place - 1)
        if word in _FINITE_AUXILIARIES:
            return before not in DETERMINERS and before != "to"
        if (
            before in DETERMINERS | POSSESSIVES | PREPOSITIONS | AUXILIARIES
            or self._word(place + 1) == "by"
            or is_adverb(before)
        ):
            return False
        return is_past_only(word) or (
            base_of(word) is not None and before not in COORDINATORS and self._word(place + 1) not in _AFTER_PARTICIPLE
        )

    def _word(self, position: int) -> str:
        return self.tokens[position].lower if 0 <= position < len(self.tokens) else ""

    def _in_preposition(self, position: int) -> bool:
        """Whether the noun phrase around a position hangs on a preposition, looking back to the last mark or verb."""
        for place in range(position - 1, max(-1, position - 12), -1):
            word = self.tokens[place].lower
            if word in PREPOSITIONS:
                return True
            if self.tokens[place].text == "," or word in COORDINATORS | SUBJECTS or self._begins_phrase(place + 1):
                return False
        return False

    def _begins_phrase(self, position: int) -> bool:
        """Whether a noun phrase begins at a position right behind another: "in 1990 | the team", "that year | Ella"."""
        token, before = self.tokens[position], self.tokens[position - 1]
        ends = before.text[0].isdigit() or (before.is_word and not before.is_capital and self._is_noun(before.lower))
        return ends and (token.lower in DETERMINERS | POSSESSIVES - {"that"} or token.is_capital)

    def _is_noun(self, word: str) -> bool:
        return word in _TIME_NOUNS

    def _verb_at(self, position: int) -> Verb | None:
        token = self.tokens[position]
        word = token.lower
        if token.is_capital and (position > 0 and len(token.text) > 1):
            return None
        word = word.removesuffix("n't")
        word = {"ca": "can", "wo": "will"}.get(word, word)
        before, place = self._before(position)
        after = following(self.tokens, position)
        if word in _FINITE_AUXILIARIES and not (
            before in DETERMINERS | POSSESSIVES
            and before
            not in (
                "this",
                "that",
                "these",
                "those",
                "all",
                "both",
                "each",
                "some",
                "any",
                "either",
                "neither",
                "another",
            )
        ):
            if (word == "had" and before in _FINITE_AUXILIARIES) or (
                word in ("have", "do") and (before in MODALS | {"to", "not", "did", "n't"} or before.endswith("n't"))
            ):
                return None
            if word in ("may", "can", "will", "must", "might") and before in DETERMINERS | POSSESSIVES | {
                "in",
                "of",
                "on",
            }:
                return None
            return self._verb(position, _BASES.get(word, word), _FINITE_AUXILIARIES[word], before, place)
        base = base_of(word) if is_past(word) else None
        if base is None:
            return self._present(position, word, before, place, after)
        if self._behind_demonstrative(position, before, place, after):
            return self._verb(position, base, PAST, before, place)
        if (
            before in DETERMINERS | POSSESSIVES
            or before in AUXILIARIES | {"being", "having", "n't", "not", "to"}
            or before.endswith(("n't", "'s", "s'", "'ve", "'d"))
        ):
            return None
        if before in PREPOSITIONS - {"before", "after", "since", "until"} and before not in (
            "down",
            "up",
            "off",
            "over",
            "out",
            "around",
            "through",
            "on",
            "in",
        ):
            return None
        if before in PREPOSITIONS and not is_past_only(word):
            return None
        if is_past_only(word) or self._is_finite(position, word, before, place, after):
            return self._verb(position, base, PAST, before, place)
        return None

    def _behind_demonstrative(self, position: int, before: str, place: int, after: str) -> bool:
        """Whether a form is the verb of `this` or `these` at the beginning of a clause: this led to, this means that."""
        if before == "this" and base_of_third(self._word(position)) and place == position - 1:
            return True
        opens = (
            self._word(place - 1) in COORDINATORS | RELATIVES | {"", ",", ";"}
            if before in ("this", "these", "those", "all", "some", "both")
            else False
        )
        return (
            opens
            and (after in DETERMINERS | POSSESSIVES | PREPOSITIONS | OBJECTS | {"that", "to"})
            and place == position - 1
        )

    def _before(self, position: int) -> tuple[str, int]:
        """The last word before a position that is no adverb, and where it is; a comma or mark counts as a word."""
        place = position - 1
        while (
            place >= 0
            and is_adverb(self.tokens[place].lower)
            and not (self.tokens[place].lower in ("there", "then") and place == 0)
        ):
            place -= 1
        if (
            place >= 2
            and self.tokens[place].text == ","
            and is_adverb(self.tokens[place - 1].lower)
            and self.tokens[place - 2].text == ","
        ):
            place -= 3
        return (self.tokens[place].lower, place) if place >= 0 else ("", -1)

    def _is_finite(self, position: int, word: str, before: str, place: int, after: str) -> bool:
        """Whether a form that may be a participle is finite here."""
        if before in SUBJECTS or (before == "that" and self.clause.relative):
            inverted = self._word(place - 1) in AUXILIARIES and before not in ("who", "which")
            return not inverted and not (is_base(word) and before in ("they", "we", "i", "you", "ye", "thou"))
        if before in OBJECTS:
            return False
        if before in COORDINATORS | {"then", "&"} or (before == "," and self._word(place - 1) in COORDINATORS):
            return self._continues(position, after)
        if before in ("", ";", ":"):
            return False
        if self.clause.verb is not None:
            fresh = before not in (",",) and self._new_clause(place)
            return (before == "," and self._listed(position, after)) or (fresh and after not in _AFTER_PARTICIPLE)
        if before in NUMBER_WORDS or self._present_before(position):
            return False
        if before == ",":
            return (
                self.clause.nominal
                and after != "by"
                and not self._verb_follows(position)
                and not self._inserted(position)
            )
        if not self.clause.nominal and self.clause.main:
            return False
        if after == "by" or word in _MOSTLY_PARTICIPLES:
            return False
        if word == "used" and after == "to":
            return True
        return not self._verb_follows(position)

    def _present_before(self, position: int) -> bool:
        """Whether a word of the same clause before a position looks like its verb, in the present tense: ANOVA uses standardized terms."""
        for place in range(position - 2, 0, -1):
            word, before = self.tokens[place].lower, self._word(place - 1)
            if self.tokens[place].text in ",;:" or word in RELATIVES | SUBORDINATORS | COORDINATORS:
                return False
            nominal = before.isalpha() and before not in DETERMINERS | POSSESSIVES | PREPOSITIONS | COORDINATORS
            if (
                nominal
                and not self.tokens[place].is_capital
                and (base_of_third(word) or (is_base(word) and before.endswith("s")))
            ):
                return True
        return False

    def _inserted(self, position: int) -> bool:
        """Whether a form opens a remark between commas, and the verb stands behind it: the hill, seen as holy, is high."""
        comma = next((n for n in range(position, len(self.tokens)) if self.tokens[n].text in ",;"), None)
        if comma is None:
            return False
        place = comma + 1
        while is_adverb(self._word(place)):
            place += 1
        return self._word(place) in _FINITE_AUXILIARIES or base_of(self._word(place)) is not None

    def _continues(self, position: int, after: str) -> bool:
        """Whether a form behind `and` goes on with a finite verb: he came and worked; not "was arrested and tried"."""
        verb = self.clause.verb
        if verb is None or after == "by":
            return False
        if verb.tense == PRESENT:
            return verb.base not in ("be", "have") and verb.base not in MODALS
        participle = next((n for n in range(verb.position + 1, verb.position + 4) if base_of(self._word(n))), None)
        if verb.base not in ("be", "have") or participle is None:
            return verb.base not in MODALS
        if "but" in (self._word(position - 1), self._word(position - 2)):
            return True
        return position - participle > 4 and after not in _AFTER_PARTICIPLE

    def _listed(self, position: int, after: str) -> bool:
        """Whether a form behind a comma is one of several verbs: he came, worked there, and left."""
        verb = self.clause.verb
        if (
            verb is None
            or verb.tense != PAST
            or verb.base in ("be", "have")
            or verb.base in MODALS
            or after in _AFTER_PARTICIPLE
        ):
            return False
        for place in range(position + 1, len(self.tokens) - 1):
            if self.tokens[place].lower in COORDINATORS and base_of(self._word(place + 1)):
                return True
        return False

    def _new_clause(self, place: int) -> bool:
        """Whether a coordinator with a comma before it, or `but`, opened a clause whose subject ends at a place."""
        for start in range(place - 1, max(0, place - 9), -1):
            word = self.tokens[start].lower
            if word in PREPOSITIONS | {","} or (base_of(word) is not None and word not in ("united",)):
                return False
            if (word in ("and", "but") and self._word(start - 1) == ",") or word in ("but", "while"):
                return True
        return False

    def _verb_follows(self, position: int) -> bool:
        """Whether a form that can only be finite follows in the same clause, so that this one is a participle."""
        for place in range(position + 1, len(self.tokens)):
            word, before = self.tokens[place].lower, self._word(place - 1)
            if (
                self.tokens[place].text in ";:,"
                or word in RELATIVES | SUBORDINATORS - {"as", "so", "than"}
                or word in COORDINATORS | SUBJECTS
            ):
                return False
            if (
                self.tokens[place].is_capital
                or self.skipped[place]
                or before in DETERMINERS | {"to"}
                or before in AUXILIARIES
            ):
                continue
            if (word in _FINITE_AUXILIARIES and word not in ("may", "can", "will", "must", "do", "have")) or (
                is_past_only(word) and before not in PREPOSITIONS
            ):
                return True
        return False

    def _present(self, position: int, word: str, before: str, place: int, after: str) -> Verb | None:
        """A finite verb in the present tense: behind a subject that it agrees with, if the clause has no verb yet."""
        third, base = base_of_third(word), word if is_base(word) else None
        if third and self._behind_demonstrative(position, before, place, after):
            return self._verb(position, third, PRESENT, before, place)
        if before in DETERMINERS | POSSESSIVES | PREPOSITIONS | AUXILIARIES | {"to", "not", "n't", ""}:
            return None
        if (before in ("he", "she", "it") and third) or (before in ("they", "we", "i", "you") and base):
            return self._verb(position, third or word, PRESENT, before, place)
        if before in ("who", "which", "that") and (third or base) and self.clause.relative:
            return self._verb(position, third or word, PRESENT, before, place)
        shares = before in COORDINATORS or (before == "," and self._word(place - 1) in COORDINATORS)
        if shares and self.clause.verb and third and self.clause.verb.base not in MODALS:
            earlier = self.clause.verb
            return (
                self._verb(position, third, PRESENT, before, place)
                if earlier.tense == PRESENT or after in DETERMINERS | PREPOSITIONS or self._and_third(position)
                else None
            )
        if self.clause.verb or not self.clause.nominal or not third or before in COORDINATORS:
            return None
        follows = after in DETERMINERS | POSSESSIVES | PREPOSITIONS | OBJECTS | {
            "that",
            "as",
            "not",
            "",
            ".",
        } or is_adverb(after)
        return (
            self._verb(position, third, PRESENT, before, place)
            if follows and not self._verb_follows(position)
            else None
        )

    def _and_third(self, position: int) -> bool:
        return self._word(position + 1) in COORDINATORS and base_of_third(self._word(position + 2)) is not None

    def _verb(self, position: int, base: str, tense: str, before: str, place: int) -> Verb:
        shares = self.clause.verb is not None and (
            before in COORDINATORS | {"then", "&"}
            or (before == "," and (self._word(place - 1) in COORDINATORS or tense == PAST))
        )
        return Verb(
            position,
            base,
            tense,
            None if shares or place < 0 else place,
            shares,
            self.clause.temporal,
            self.clause.main,
        )


_TIME_NOUNS = word_class("time_nouns")
_AFTER_PARTICIPLE = frozenset(["by"])
_MOSTLY_PARTICIPLES = word_class("mostly_participles")
