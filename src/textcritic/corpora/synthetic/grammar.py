"""A small known grammar of English-like sentences: trees to train on.

Verbs agree with their subjects in number, however long the phrases between them are; so a model that knows the tree
can predict words that one that sees a few words cannot.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from textcritic.corpora.structured.texts import REDUCE, SHIFT, Structured

Floats = npt.NDArray[np.float64]

_WORDS = {
    "NS": "dog:4 cat:4 child:3 teacher:3 river:2 house:2 king:1 letter:1 garden idea",
    "NP": "dogs:4 cats:4 children:3 teachers:3 rivers:2 houses:2 kings:1 letters:1 gardens ideas",
    "NameS": "Anna:3 Boris:2 Clara Daniel",
    "PronounP": "they:3 we:2 you",
    "DS": "the:5 a:4 this:2 every",
    "DP": "the:5 these:2 some:2 many",
    "Adjective": "old:3 small:3 green:2 quiet:2 happy strange",
    "IntransitiveS": "sleeps:3 laughs:2 waits:2 sings falls",
    "IntransitiveP": "sleep:3 laugh:2 wait:2 sing fall",
    "TransitiveS": "sees:4 likes:3 follows:2 finds hears",
    "TransitiveP": "see:4 like:3 follow:2 find hear",
    "ThinkS": "thinks:2 says",
    "ThinkP": "think:2 say",
    "Preposition": "near:3 with:3 behind:2 under",
    "That": "that",
    "And": "and",
}
_RULES = {
    "S": "PhraseS VerbS:55 PhraseP VerbP:45",
    "PhraseS": "DS BarS:60 PhraseS With:12 PhraseS WhoS:8 =NameS:20",
    "PhraseP": "DP BarP:60 PhraseP With:10 PhraseP WhoP:7 PhraseS AndPhrase:8 =PronounP:15",
    "AndPhrase": "And PhraseS:60 And PhraseP:40",
    "BarS": "Adjective BarS:25 =NS:75",
    "BarP": "Adjective BarP:25 =NP:75",
    "VerbS": "TransitiveS PhraseS:25 TransitiveS PhraseP:20 VerbS With:12 ThinkS Clause:8 =IntransitiveS:35",
    "VerbP": "TransitiveP PhraseS:25 TransitiveP PhraseP:20 VerbP With:12 ThinkP Clause:8 =IntransitiveP:35",
    "With": "Preposition PhraseS:60 Preposition PhraseP:40",
    "WhoS": "That VerbS:100",
    "WhoP": "That VerbP:100",
    "Clause": "That S:100",
}


@dataclass(frozen=True)
class Grammar:
    """A probabilistic grammar in Chomsky normal form, numbered for computation.

    Attributes:
        words: that it knows.
        rules: float64 [symbols, symbols, symbols], P(A -> B C); symbol 0 is a sentence.
        lexicon: float64 [symbols, words], P(A -> word). A row of both together sums to one.
    """

    words: tuple[str, ...]
    rules: Floats
    lexicon: Floats

    def draw(self, random: np.random.Generator) -> tuple[list[str], list[int]]:
        """The words and the actions of a tree."""
        words, actions = [], []
        left = [0]  # symbols that are still to be written out, the next one last; -1 is a REDUCE
        while left:
            symbol = left.pop()
            if symbol < 0:
                actions.append(REDUCE)
                continue
            steps, outcomes = self._choices[symbol]
            chosen = outcomes[int(np.searchsorted(steps, random.random(), side="right"))]
            if isinstance(chosen, str):
                words.append(chosen)
                actions.append(SHIFT)
            else:
                left += [-1, chosen[1], chosen[0]]
        return words, actions

    @cached_property
    def _choices(self) -> list[tuple[Floats, list[str | tuple[int, int]]]]:
        """Of each symbol, the cumulative probabilities of what it becomes (the last left out), and what that is."""
        choices: list[tuple[Floats, list[str | tuple[int, int]]]] = []
        for rules, lexicon in zip(self.rules, self.lexicon, strict=True):
            at = np.argwhere(rules > 0)
            written = np.flatnonzero(lexicon > 0)
            outcomes: list[str | tuple[int, int]] = [(int(b), int(c)) for b, c in at]
            outcomes += [self.words[word] for word in written]
            steps = np.cumsum(np.concatenate([rules[tuple(at.T)], lexicon[written]]))[:-1]
            choices.append((steps, outcomes))
        return choices


def known_grammar() -> Grammar:
    """The grammar of `draw_trees`: 28 symbols, 70 words, 7.4 words a sentence in the mean."""
    symbols = [*_RULES, *_WORDS]
    words = tuple(dict.fromkeys(word for entry in _WORDS.values() for word, _ in _weighted(entry)))
    number = {symbol: row for row, symbol in enumerate(symbols)}
    lexicon, rules = np.zeros((len(symbols), len(words))), np.zeros((len(symbols),) * 3)
    for symbol, entry in _WORDS.items():
        _spread(lexicon[number[symbol]], entry, words, 1.0)
    for symbol, entry in _RULES.items():
        for probability, right in _productions(entry):
            if len(right) == 1:  # a word at once: the grammar has no rule with one symbol on its right
                _spread(lexicon[number[symbol]], _WORDS[right[0]], words, probability)
            else:
                rules[number[symbol], number[right[0]], number[right[1]]] += probability
    return Grammar(words, rules, lexicon)


def draw_trees(count: int, seed: int) -> list[Structured]:
    """So many trees of the known grammar; each sentence is a group of its own, `grammar-SEED-NUMBER`."""
    grammar, random = known_grammar(), np.random.default_rng(seed)
    texts = []
    for number in range(count):
        words, actions = grammar.draw(random)
        name = f"grammar-{seed}-{number}"
        texts.append(Structured(name, tuple(words), tuple(actions), group=name))
    return texts


def _weighted(entry: str) -> Iterator[tuple[str, float]]:
    for item in entry.split():
        word, _, weight = item.partition(":")
        yield word, float(weight or 1)


def _productions(entry: str) -> Iterator[tuple[float, tuple[str, ...]]]:
    """The probability and the right sides of `B C:55 =Words:45`."""
    parts: list[str] = []
    for item in entry.split():
        name, _, weight = item.partition(":")
        parts.append(name.removeprefix("="))
        if weight:
            yield float(weight) / 100, tuple(parts)
            parts = []


def _spread(row: Floats, entry: str, words: Sequence[str], probability: float) -> None:
    """Add a probability to a row of the lexicon, divided over the words of an entry."""
    total = sum(weight for _, weight in _weighted(entry))
    for word, weight in _weighted(entry):
        row[words.index(word)] += probability * weight / total
