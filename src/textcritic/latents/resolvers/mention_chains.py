"""Chains of mentions as flat arrays: what the critic of kind `mentions` is fitted on and scores.

A chain is the sequence of the mentions of a document in the order of the text, with a mark at each start of a sentence.
A mention is a symbol (a pronoun as it is written, or the gender label MALE, FEMALE, PLURAL or None) and an entity.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError

SENTENCE = "."
"""The mark of a sentence's start; it has no entity."""
NO_ENTITY = -1
GENDERS = ("MALE", "FEMALE", "PLURAL")
NO_GENDER = "None"
"""The label of an entity without a gendered pronoun, as the released code of the paper writes it."""


@dataclass(frozen=True, slots=True, eq=False)
class MentionChains:
    """The chains of a set of documents, one after the other.

    Attributes:
        symbols: the distinct symbols; `SENTENCE` is one of them if there is a mark.
        codes: int32 [tokens], the index in `symbols` of each token.
        entities: int64 [tokens], the entity of each token within its document, `NO_ENTITY` for a sentence mark.
        offsets: int64 [documents + 1], where each document begins and the last one ends.
    """

    symbols: tuple[str, ...]
    codes: npt.NDArray[np.int32]
    entities: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Tokens of each document: int64 [documents]."""
        return np.diff(self.offsets)

    def some(self, documents: npt.NDArray[np.bool_]) -> "MentionChains":
        """The chosen documents alone: mask [documents]."""
        tokens = np.repeat(documents, self.lengths)
        offsets = np.concatenate([[0], np.cumsum(self.lengths[documents])])
        return MentionChains(self.symbols, self.codes[tokens], self.entities[tokens], offsets)

    def without_gender(self) -> "MentionChains":
        """With the label None in place of MALE, FEMALE and PLURAL."""
        names = [NO_GENDER if symbol in GENDERS else symbol for symbol in self.symbols]
        symbols = tuple(dict.fromkeys(names))
        places = np.array([symbols.index(name) for name in names], np.int32)
        return MentionChains(symbols, places[self.codes], self.entities, self.offsets)

    @classmethod
    def joined(cls, sets: Sequence["MentionChains"]) -> "MentionChains":
        """The documents of several sets, one set after the other."""
        vocabulary = {symbol: None for one in sets for symbol in one.symbols}
        places = {symbol: place for place, symbol in enumerate(vocabulary)}
        codes = [np.array([places[symbol] for symbol in one.symbols], np.int32)[one.codes] for one in sets]
        lengths = np.concatenate([one.lengths for one in sets])
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return cls(tuple(vocabulary), np.concatenate(codes), np.concatenate([one.entities for one in sets]), offsets)

    @classmethod
    def of(cls, chains: Iterable[Sequence[str]]) -> "MentionChains":
        """From lists of tokens, each `.` or `symbol:entity`; an entity is any text, the same one means the same entity.

        Raises:
            TextcriticError: a token is neither; the line names the document (from 1) and the token.
        """
        return cls.of_named((f"document {number}", chain) for number, chain in enumerate(chains, 1))

    @classmethod
    def of_named(cls, chains: Iterable[tuple[str, Sequence[str]]]) -> "MentionChains":
        """The same from pairs of what error lines call a document, and its tokens."""
        vocabulary: dict[str, int] = {}
        codes, entities, lengths = [], [], []
        for where, chain in chains:
            seen: dict[str, int] = {}
            for token in chain:
                symbol, entity = _parsed(token, where)
                codes.append(vocabulary.setdefault(symbol, len(vocabulary)))
                entities.append(NO_ENTITY if entity is None else seen.setdefault(entity, len(seen)))
            lengths.append(len(chain))
        offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)
        return cls(tuple(vocabulary), np.array(codes, np.int32), np.array(entities, np.int64), offsets)


BEFORE = "<bos>"
"""The token before the first one of a document in a window; no symbol may have this name."""


def _parsed(token: object, where: str) -> tuple[str, str | None]:
    if token == SENTENCE:
        return SENTENCE, None
    symbol, colon, entity = token.rpartition(":") if isinstance(token, str) else ("", "", "")
    if not (symbol and colon and entity) or symbol in (SENTENCE, BEFORE):
        raise TextcriticError(
            f"{where}: {token!r} is no token; it should be {SENTENCE!r} or symbol:entity, such as he:3"
        )
    return symbol, entity
