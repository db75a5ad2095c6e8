"""Why a critic finds a mention unlikely, in words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from textcritic.critics.mentions import SENTENCE, THRESHOLD
from textcritic.experiments.coreference.passages import Symbol, Token
from textcritic.latents.resolvers.chains import GENDERS, NO_GENDER
from textcritic.latents.resolvers.language import Language
from textcritic.measures.numbers import count, decimals, percent

RARE = 0.01
"""The probability below which a mention is marked as rare; unlikely ones are below the paper's exp(`THRESHOLD`)."""
GENDER, FAR, NEW, NAME, OTHER = "gender", "outside-window", "no-antecedent", "repeated-name", "other"
HEADS = {
    GENDER: "The person has another gender just before",
    FAR: "A pronoun whose person was mentioned before, but not among the few tokens that the critic sees",
    NEW: "A pronoun for somebody who was not mentioned before",
    NAME: "A name or noun where a pronoun is usual: the person was mentioned in the same sentence already",
    OTHER: "Rare in the training text for another reason",
}
"""What is unusual, in words for several mentions together; `Reason.says` is about one."""
WORDS = {"MALE": "male", "FEMALE": "female", "PLURAL": "plural"}


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a mention is unlikely.

    Attributes:
        kind: what is unusual: `GENDER`, the person has another gender in what the critic sees; `FAR`, a pronoun whose
            person was mentioned before, but not in what the critic sees (paper, Figure 12); `NEW`, a pronoun whose
            person was not mentioned before; `NAME`, a name or noun for a person who was mentioned in the same sentence;
            `OTHER`.
        says: the reason in a sentence; "" for `OTHER`.
    """

    kind: str
    says: str


def is_unlikely(token: Token) -> bool:
    """Whether it is a mention below the paper's threshold (Table 15)."""
    return token.is_mention and token.log_prob < THRESHOLD


def reason_of(token: Token, language: Language) -> Reason:
    """What is unusual about a mention; `language` is the language of the pronouns."""
    person, gender = token.symbol.person, gender_of(token.symbol, language)
    before = [symbol for symbol in token.context if symbol.person == person]
    genders = [named for symbol in before if (named := gender_of(symbol, language))]
    if gender and genders and gender not in genders:
        words = f"It makes person {person} {WORDS[gender]}, who was {WORDS[genders[-1]]} just before."
        return Reason(GENDER, words)
    if token.symbol.name.lower() in language.pronouns and not before:
        if token.ago is None:
            return Reason(NEW, f"No mention of person {person} comes before this pronoun.")
        sees = len(token.context)
        words = f"Person {person} was last mentioned {token.ago} tokens before; the critic sees {sees}, so it "
        return Reason(FAR, f"{words}sees nobody to whom this pronoun can refer.")
    sentence = token.context[_after_last_mark(token.context) :]
    if is_label(token.symbol) and any(symbol.person == person for symbol in sentence):
        words = f"A name or noun for person {person}, who was already mentioned in the same sentence; a pronoun "
        return Reason(NAME, f"{words}is usual here.")
    return Reason(OTHER, "")


def counts_in_words(token: Token) -> str:
    """In words: how often the training text has what comes before this token, and how often this token followed."""
    if not token.known:
        if token.followed:
            itself = f"the token itself {_times(token.followed)}"
            return f"The tokens before it never occur in the training text, {itself}."
        return "Neither the tokens before it nor the token itself ever occur in the training text."
    seen = _times(token.seen)
    if token.known >= len(token.context):
        before = f"What the critic sees before it was seen {seen} in the training text"
    else:
        ends = "the last token of it was" if token.known == 1 else f"the last {token.known} tokens of it were"
        before = f"What the critic sees before it was never seen in the training text; {ends}, {seen}"
    if not token.followed:
        return f"{before}, and this never came next."
    return f"{before}, and this came next {_times(token.followed)}."


def seen(token: Token) -> str:
    """Like `counts_in_words`, but shorter: `12 times, then this never`.

    A sentence before it has to say what is counted.
    """
    after = f"then this {_times(token.followed) if token.followed else 'never'}"
    if not token.known:
        return f"never; this elsewhere {_times(token.followed) if token.followed else 'never'}"
    if token.known >= len(token.context):
        return f"{_times(token.seen)}, {after}"
    return f"never; its last {'token' if token.known == 1 else f'{token.known} tokens'} {_times(token.seen)}, {after}"


def written(symbol: Symbol) -> str:
    """A token as the paper writes it: `[he]0`, `.`; `[he]new` for somebody who was not mentioned so far."""
    if symbol.person is None:
        return SENTENCE
    return f"[{shown(symbol)}]{'new' if symbol.person < 0 else symbol.person}"


def shown(symbol: Symbol) -> str:
    """A pronoun as it is, a gender label with a capital as in the paper: `Male`."""
    return symbol.name.capitalize() if is_label(symbol) else symbol.name


def chance(log_prob: float) -> str:
    """A probability and its logarithm: `0.02% (log P = −8.4)`."""
    return f"{share(log_prob)} (log P = {nats(log_prob)})"


def share(log_prob: float) -> str:
    """A probability in percent."""
    return percent(math.exp(log_prob))


def nats(log_prob: float) -> str:
    """A log probability with one decimal."""
    return decimals(log_prob, 1)


def is_label(symbol: Symbol) -> bool:
    """Whether it is a gender label, in place of a name or a noun."""
    return symbol.name in (*GENDERS, NO_GENDER)


def gender_of(symbol: Symbol, language: Language) -> str:
    """The gender of a pronoun or a label, one of `GENDERS`, or ""."""
    if symbol.name in GENDERS:
        return symbol.name
    pronoun = language.pronouns.get(symbol.name.lower())
    if pronoun is None:
        return ""
    label = "PLURAL" if pronoun.plural else str(pronoun.gender).upper()
    return label if label in GENDERS else ""


def _after_last_mark(context: Sequence[Symbol]) -> int:
    marks = [place for place, symbol in enumerate(context) if symbol.person is None]
    return marks[-1] + 1 if marks else 0


def _times(n: int) -> str:
    return "once" if n == 1 else f"{count(n)} times"
