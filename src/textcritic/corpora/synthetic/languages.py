"""Artificial languages whose truth is known: sentences, their translations, and translations that mix languages.

Words have numbers. A number has a spelling in the source language and one in each target language; some are spelt alike
everywhere. A translation has the words of its sentence, in the order of its language.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from textcritic.corpora.parallel.corpus import Sentence
from textcritic.errors import TextcriticError
from textcritic.plan.entries.parallel import LanguageOptions

CONSONANTS, VOWELS = "bdfghjklmnprstvwz", "aeiou"
FOLLOWERS = 4  # words that often come after a word
FOLLOWED = 0.5  # how often one of them does


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Sentences of artificial languages.

    Attributes:
        recipe: how they were drawn.
        source: spelling of each word in the source language: [vocabulary].
        spellings: the same by target language.
        sentences: numbers of the words of each sentence, in the source's order.
    """

    recipe: LanguageOptions
    source: np.ndarray
    spellings: dict[str, np.ndarray]
    sentences: list[np.ndarray]

    def first(self, count: int) -> "Drawn":
        """The same languages with only the first sentences."""
        return replace(self, sentences=self.sentences[:count])


def draw_sentences(recipe: LanguageOptions) -> Drawn:
    """Draw languages and sentences.

    Word number r has probability proportional to 1 / (r + 1) (Zipf's law). A sentence is a chain: half of the time a
    word is followed by one of its four followers (drawn once, by Zipf's law as well), and else by any word. The lengths
    of sentences are uniform. Words have two or three syllables. Only shared words have the same spelling in
    several languages, and they are spread evenly over the ranks. Any other spelling belongs to one word.

    Raises:
        TextcriticError: the longest sentence is shorter than the shortest, or the vocabulary is larger than there are
            spellings.
    """
    if recipe.longest < recipe.shortest:
        raise TextcriticError(f"languages: longest: {recipe.longest} is too few; at least {recipe.shortest}")
    rng = np.random.default_rng(recipe.seed)
    source, spellings = _spellings(recipe, rng)
    zipf = 1 / np.arange(1, recipe.vocabulary + 1)
    upto = np.cumsum(zipf / zipf.sum())
    followers = _drawn_from(upto, (recipe.vocabulary, FOLLOWERS), rng)
    lengths = rng.integers(recipe.shortest, recipe.longest + 1, recipe.sentences)
    words = np.empty((recipe.sentences, recipe.longest), np.int64)
    words[:, 0] = _drawn_from(upto, recipe.sentences, rng)
    for place in range(1, recipe.longest):
        any_word = _drawn_from(upto, recipe.sentences, rng)
        liked = followers[words[:, place - 1], rng.integers(FOLLOWERS, size=recipe.sentences)]
        words[:, place] = np.where(rng.random(recipe.sentences) < FOLLOWED, liked, any_word)
    return Drawn(recipe, source, spellings, [row[:length] for row, length in zip(words, lengths, strict=True)])


def translate(words: np.ndarray, language: int) -> np.ndarray:
    """The words of a sentence in the order of a target language: every chunk of `language + 2` words is reversed.

    Args:
        words: numbers of words, in the source's order.
        language: number of the language among the targets.
    """
    size = language + 2
    return np.concatenate([words[start : start + size][::-1] for start in range(0, len(words), size)])


def mixed(drawn: Drawn, rate: float, seed: int) -> Iterator[Sentence]:
    """The sentences with translations in which some words are those of another language.

    Each word of a translation is, with probability `rate` and independently, spelt as one of the other target
    languages spells it, all of these being equally likely. It keeps its place. A word that is shared looks the same
    either way.

    Args:
        drawn: the sentences.
        rate: of mixing, from 0 (none) to 1 (no word is of the translation's own language).
        seed: of the words that are mixed.

    Raises:
        TextcriticError: the rate is no share.
    """
    if not 0 <= rate <= 1:
        raise TextcriticError(f"languages: mixing: {rate} should be a share, from 0 to 1")
    rng = np.random.default_rng([seed, drawn.recipe.seed])
    names = list(drawn.spellings)
    table = np.stack([drawn.spellings[name] for name in names])
    for words in drawn.sentences:
        translations = {}
        for number, name in enumerate(names):
            ordered = translate(words, number)
            away = rng.integers(1, len(names), len(words))
            spelt_as = np.where(rng.random(len(words)) < rate, (number + away) % len(names), number)
            translations[name] = " ".join(table[spelt_as, ordered])
        yield Sentence(" ".join(drawn.source[words]), translations, "languages")


def _spellings(recipe: LanguageOptions, rng: np.random.Generator) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Distinct spellings of every word in every language, but for those that are shared."""
    syllables = np.array([consonant + vowel for consonant in CONSONANTS for vowel in VOWELS])
    needed, count = recipe.vocabulary * (1 + len(recipe.targets)), len(syllables)
    length = 2 if needed <= count**2 / 2 else 3
    if needed > count**length:
        most = count**length // (1 + len(recipe.targets))
        raise TextcriticError(f"languages: vocabulary: {recipe.vocabulary:,} is too large; at most {most:,}")
    codes = rng.choice(count**length, needed, replace=False)
    places = [codes // count**power % count for power in range(length)]
    words = np.array(["".join(parts) for parts in zip(*(syllables[place] for place in places), strict=True)])
    source, *others = np.split(words, 1 + len(recipe.targets))
    shared = _spread(recipe.vocabulary, round(recipe.shared * recipe.vocabulary), rng)
    for other in others:
        other[shared] = source[shared]
    return source, dict(zip(recipe.targets, others, strict=True))


def _spread(total: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """`count` numbers below `total`, one in each of as many stretches of equal length."""
    borders = np.linspace(0, total, count + 1).astype(np.int64)
    return rng.integers(borders[:-1], borders[1:]) if count else borders[:0]


def _drawn_from(upto: np.ndarray, shape: int | tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Numbers of words drawn from cumulative probabilities."""
    return np.searchsorted(upto, rng.random(shape), side="right").clip(0, len(upto) - 1)
