"""The context of a word: what finding finite verbs has to know about it, by word lists and word order."""

from collections.abc import Sequence

from textcritic.corpora.intruders.probes.verb_forms import base_of, base_of_third, is_base, is_past_only
from textcritic.corpora.intruders.probes.word_lists import word_class
from textcritic.corpora.intruders.probes.words import (
    AUXILIARIES,
    COORDINATORS,
    DETERMINERS,
    MODALS,
    OBJECTS,
    POSSESSIVES,
    PREPOSITIONS,
    RELATIVES,
    SUBJECTS,
    SUBORDINATORS,
    Token,
    is_adverb,
    quoted,
)

PAST, PRESENT = "past", "present"
TENSES = {
    **dict.fromkeys(("was", "were", "did", "had", "wast", "wert", "didst", "hadst"), PAST),
    **dict.fromkeys(("is", "are", "am", "has", "have", "does", "do", "art", "hath", "hast", "doth", "dost"), PRESENT),
    **dict.fromkeys(MODALS, PRESENT),
    **dict.fromkeys(("could", "would", "might"), PAST),
}
"""Auxiliaries that are always finite, and their tense."""

_NOUN_BEGINS = DETERMINERS | POSSESSIVES
_MARKS = ",;:"
_CONNECTIVES = RELATIVES | SUBORDINATORS | COORDINATORS
_NEW_CLAUSE = RELATIVES | SUBORDINATORS - {"as"}
_NEW_PHRASE = COORDINATORS | SUBJECTS | {","}
_ENDS_CLAUSE = RELATIVES | SUBJECTS | COORDINATORS | SUBORDINATORS - {"as", "so", "than"}
_NO_SUBJECT = _NOUN_BEGINS | PREPOSITIONS | AUXILIARIES
_NOT_NOMINAL = _NOUN_BEGINS | PREPOSITIONS | COORDINATORS
_BEFORE_NO_VERB = DETERMINERS | AUXILIARIES | {"to"}
_ALSO_NOUNS_OR_BASES = frozenset(["may", "can", "will", "must", "do", "have"])
_TIME_NOUNS = word_class("time_nouns")
_ALONE = word_class("alone")


class Surroundings:
    """A sentence in which one can look around each word."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.skipped = quoted(tokens)

    def word(self, position: int) -> str:
        """The token at a position in lower case; empty outside the sentence."""
        return self.tokens[position].lower if 0 <= position < len(self.tokens) else ""

    def before(self, position: int) -> tuple[str, int]:
        """The last token before a position that is no adverb, and its position; "" and -1 at the beginning.

        An adverb between two commas (", however,") is passed over together with them.
        """
        place = position - 1
        while (place > 0 and is_adverb(self.word(place))) or (
            place == 0 and is_adverb(self.word(0)) and self.word(0) not in ("there", "then")
        ):
            place -= 1
        if self.word(place) == "," and place >= 2 and is_adverb(self.word(place - 1)) and self.word(place - 2) == ",":
            place -= 3
        return (self.word(place), place) if place >= 0 else ("", -1)

    def begins_sentence(self, position: int) -> bool:
        """Whether a sentence begins behind a mark: the splitter may have left two together."""
        if self.word(position) not in (".", ",", "?", "!") or position + 1 >= len(self.tokens):
            return False
        return self.tokens[position + 1].is_capital and self.word(position + 1) in DETERMINERS | SUBJECTS - {"i"}

    def opens_clause(self, position: int) -> bool:
        """Whether a subordinator has a clause behind it; after, before, until and since can be prepositions."""
        after = self.word(position + 1)
        if self.word(position) not in PREPOSITIONS:
            bare = (
                base_of(after) is not None or after in PREPOSITIONS or after.endswith("ing")
            )  # when seen, when in Rome
            return not bare
        if after in SUBJECTS or after.endswith("ing"):
            return after in SUBJECTS
        for place in range(position + 1, min(len(self.tokens), position + 14)):
            word = self.word(place)
            late = word in COORDINATORS and place > position + 3
            if word in (",", ";") or word in _NEW_CLAUSE or late:
                return False
            if place > position + 1 and not self.tokens[place].is_capital and self._plainly_finite(place):
                return True
        return False

    def _plainly_finite(self, place: int) -> bool:
        """Whether a token is a finite verb by its form and its neighbours."""
        word, before = self.word(place), self.word(place - 1)
        if word in TENSES:
            return before not in DETERMINERS and before != "to"
        if before in _NO_SUBJECT or is_adverb(before) or self.word(place + 1) == "by":
            return False
        return is_past_only(word) or (base_of(word) is not None and before not in COORDINATORS)

    def in_preposition(self, position: int) -> bool:
        """Whether the noun phrase around a position hangs on a preposition, looking back to the last mark."""
        for place in range(position - 1, max(-1, position - 12), -1):
            word = self.word(place)
            if word in PREPOSITIONS:
                return True
            if word in _NEW_PHRASE or self._begins_phrase(place + 1):
                return False
        return False

    def _begins_phrase(self, position: int) -> bool:
        """Whether a noun phrase begins right behind another: "in 1990 | the team", "that year | Ella"."""
        token, before = self.tokens[position], self.tokens[position - 1]
        ends = before.text[0].isdigit() or (not before.is_capital and before.lower in _TIME_NOUNS)
        return ends and (token.lower in _NOUN_BEGINS - {"that"} or token.is_capital)

    def behind_demonstrative(self, position: int) -> bool:
        """Whether a form is the verb of `this` or `these` where a clause begins: this led to, this means that."""
        before, after = self.word(position - 1), self.word(position + 1)
        if before == "this" and base_of_third(self.word(position)):
            return True
        if before not in _ALONE or self.word(position - 2) not in COORDINATORS | RELATIVES | {"", ",", ";"}:
            return False
        return after in _NOUN_BEGINS | PREPOSITIONS | OBJECTS | {"that", "to"}

    def present_before(self, position: int) -> bool:
        """Whether a word of the same clause looks like its verb in the present tense: it uses standardized terms."""
        for place in range(position - 2, 0, -1):
            word, before = self.word(place), self.word(place - 1)
            if word[0] in _MARKS or word in _CONNECTIVES:
                return False
            nominal = before.isalpha() and before not in _NOT_NOMINAL
            agrees = base_of_third(word) is not None or (is_base(word) and before.endswith("s"))
            if nominal and agrees and not self.tokens[place].is_capital:
                return True
        return False

    def inserted(self, position: int) -> bool:
        """Whether a form opens a remark between commas, with the verb behind it: the hill, seen as holy, is high."""
        comma = next((n for n in range(position, len(self.tokens)) if self.word(n) in (",", ";")), None)
        if comma is None:
            return False
        place = comma + 1
        while is_adverb(self.word(place)):
            place += 1
        return self.word(place) in TENSES or base_of(self.word(place)) is not None

    def joined_past(self, position: int) -> bool:
        """Whether `and` with a past form follows: the last of several verbs."""
        places = range(position + 1, len(self.tokens) - 1)
        return any(self.word(n) in COORDINATORS and base_of(self.word(n + 1)) is not None for n in places)

    def new_subject(self, place: int) -> bool:
        """Whether a coordinator with a comma before it, or `but`, opened a clause whose subject ends at a place."""
        for start in range(place - 1, max(0, place - 9), -1):
            word = self.word(start)
            if word == "," or word in PREPOSITIONS or (base_of(word) is not None and word != "united"):
                return False
            if word in ("but", "while") or (word == "and" and self.word(start - 1) == ","):
                return True
        return False

    def verb_follows(self, position: int) -> bool:
        """Whether a form that can only be finite follows in the same clause, so that this one is a participle."""
        for place in range(position + 1, len(self.tokens)):
            word, before = self.word(place), self.word(place - 1)
            if word[0] in _MARKS or word in _ENDS_CLAUSE:
                return False
            if self.tokens[place].is_capital or self.skipped[place] or before in _BEFORE_NO_VERB:
                continue
            if word in TENSES and word not in _ALSO_NOUNS_OR_BASES:
                return True
            if is_past_only(word) and before not in PREPOSITIONS:
                return True
        return False
