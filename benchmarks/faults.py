"""Known faults: what is done to real texts on purpose, and which causes are right. Written before the bench was run.

The faults "of the paper" are those that He et al. 2023 ("On the Blind Spots of Model-Based Evaluation Metrics for Text
Generation", ACL 2023) put into open-ended text, at their strengths where they name one; the others are ours. Verbs are
found by the forms that textcritic's linguistic probes know, nouns by the article before them, names by a capital letter
inside a sentence; tokens are replaced by random ones of the corpus, not by those of a masked language model.
"""

import itertools
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from textcritic.corpora.intruders.probes.verb_forms import base_of
from textcritic.corpora.intruders.sentences import split_sentences
from textcritic.critics.tendencies.options import ENGLISH
from textcritic.critics.tendencies.words import stop_words_of

ARTICLES = frozenset({"a", "an", "the"})
PREPOSITIONS = frozenset(
    [
        "about",
        "above",
        "across",
        "after",
        "against",
        "along",
        "among",
        "around",
        "at",
        "before",
        "behind",
        "below",
        "beneath",
        "beside",
        "between",
        "beyond",
        "by",
        "during",
        "for",
        "from",
        "in",
        "into",
        "of",
        "off",
        "on",
        "onto",
        "over",
        "through",
        "to",
        "toward",
        "under",
        "until",
        "up",
        "upon",
        "with",
        "within",
        "without",
    ]
)
OTHER_GENDER = {"he": "she", "him": "her", "his": "her", "himself": "herself"}
OTHER_GENDER |= {"she": "he", "her": "his", "hers": "his", "herself": "himself"}
AUXILIARIES = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "has",
        "have",
        "had",
        "can",
        "could",
        "will",
        "would",
        "may",
        "might",
        "must",
        "should",
        "do",
        "does",
        "did",
    ]
)
SHORT = {"do not": "don't", "did not": "didn't", "does not": "doesn't", "is not": "isn't", "was not": "wasn't"}
SHORT |= {"were not": "weren't", "are not": "aren't", "it is": "it's", "had not": "hadn't", "could not": "couldn't"}
DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
MARKS = ".,;:!?"

# What the causes are called: the keys of the measures of the scorecard.
ORDER_OF_WORDS = frozenset({"order_of_words", "bigrams"})
MISSING_WORDS = frozenset(
    {"order_of_words", "unigrams", "bigrams", "stopwords", "rank-frequency", "length", "type-token"}
)
REPETITION = frozenset({"repeated", "length", "recurrence", "type-token", "rank-frequency", "bigrams"})
CUT = frozenset({"length", "unfinished"})
MENTIONS = frozenset({"latent_ppl_mentions"})
TOPICS = frozenset({"nll_gap", "distance"})
OTHER_WORDS = frozenset(
    {"order_of_words", "unigrams", "bigrams", "type-token", "rank-frequency", "stopwords", "burstiness", "recurrence"}
)
NOTHING: frozenset[str] = frozenset()  # no measure here can see it: right is to name no cause


@dataclass(frozen=True)
class Pool:
    """What faults take from other texts: real ones that critics are fitted on, and others of the sample's own."""

    reference: tuple[str, ...]
    others: tuple[str, ...]
    follow: Mapping[tuple[str, str], Sequence[str]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, reference: Sequence[str], others: Sequence[str]) -> "Pool":
        """With the trigrams of the reference."""
        follow: dict[tuple[str, str], list[str]] = {}
        for text in reference:
            words = text.split()
            for first, second, third in zip(words, words[1:], words[2:], strict=False):
                follow.setdefault((first, second), []).append(third)
        return cls(tuple(reference), tuple(others), follow)


Make = Callable[[str, random.Random, Pool], str]


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        name: in tables.
        published: whether it is one of the paper's.
        make: spoils one text.
        right: the causes of which the first one that is named has to be one; none: nothing may be named.
    """

    name: str
    published: bool
    make: Make
    right: frozenset[str]


def _some(words: Sequence[str], chosen: Callable[[str], bool], share: float, rng: random.Random) -> set[int]:
    return {n for n, word in enumerate(words) if chosen(word) and rng.random() < share}


def _bare(word: str) -> str:
    return word.lower().strip("\"'()[]“”‘’.,;:!?")


def _without(chosen: Callable[[str], bool], share: float) -> Make:
    def make(text: str, rng: random.Random, _: Pool) -> str:
        words = text.split()
        gone = _some(words, lambda word: chosen(_bare(word)), share, rng)
        return " ".join(word for n, word in enumerate(words) if n not in gone)

    return make


def _replaced(words: list[str], new: Mapping[int, str]) -> str:
    return " ".join(new.get(n, word) for n, word in enumerate(words))


def _truncated(text: str, rng: random.Random, _: Pool) -> str:
    words = text.split()
    return " ".join(words[: max(1, round(0.7 * len(words)))])


def _lemmatised(text: str, rng: random.Random, _: Pool) -> str:
    words = text.split()
    bases = {n: base_of(_bare(word)) for n, word in enumerate(words) if word.islower()}
    chosen = {n for n, base in bases.items() if base and base != _bare(words[n]) and rng.random() < 0.5}
    return _replaced(words, {n: words[n].replace(_bare(words[n]), str(bases[n])) for n in chosen})


def _repeated_tokens(text: str, rng: random.Random, _: Pool) -> str:
    return " ".join(part for word in text.split() for part in ([word] * (1 + (rng.random() < 0.1))))


def _swapped(text: str, rng: random.Random, _: Pool) -> str:
    words = text.split()
    place = 0
    while place + 1 < len(words):
        if rng.random() < 0.1:
            words[place], words[place + 1] = words[place + 1], words[place]
            place += 1
        place += 1
    return " ".join(words)


def _half_sentences(text: str, rng: random.Random, _: Pool) -> str:
    made = []
    for sentence in split_sentences(text):
        words = sentence.split()
        half = len(words) // 2
        made.append(" ".join([*words[half:], *words[:half]]))
    return " ".join(made)


def _noised_marks(text: str, rng: random.Random, _: Pool) -> str:
    return "".join(rng.choice(MARKS) if mark in MARKS and rng.random() < 0.5 else mark for mark in text)


def _switched_sentences(pairs: int) -> Make:
    def make(text: str, rng: random.Random, _: Pool) -> str:
        sentences = split_sentences(text)
        for _pair in range(pairs if len(sentences) > 1 else 0):
            one, two = rng.sample(range(len(sentences)), 2)
            sentences[one], sentences[two] = sentences[two], sentences[one]
        return " ".join(sentences)

    return make


def _sentence_replaced(text: str, rng: random.Random, pool: Pool) -> str:
    sentences = split_sentences(text)
    sentences[rng.randrange(len(sentences))] = rng.choice(split_sentences(rng.choice(pool.others)))
    return " ".join(sentences)


def _negated(text: str, rng: random.Random, _: Pool) -> str:
    made = []
    for sentence in split_sentences(text):
        words = sentence.split()
        places = [n for n, word in enumerate(words) if word in AUXILIARIES]
        if places and rng.random() < 0.5:
            words.insert(places[0] + 1, "not")
        made.append(" ".join(words))
    return " ".join(made)


def _names(words: Sequence[str]) -> list[int]:
    """Capital letters inside a sentence."""
    after_end = [True, *(word[-1] in ".!?" for word in words[:-1])]
    pairs = enumerate(zip(words, after_end, strict=True))
    return [n for n, (word, first) in pairs if word[:1].isupper() and not first and _bare(word) != "i"]


def _generic_names(text: str, rng: random.Random, _: Pool) -> str:
    words = text.split()
    chosen = [n for n in _names(words) if rng.random() < 0.5]
    return _replaced(words, {n: re.sub(r"[A-Z][\w'-]*", "someone", words[n], count=1) for n in chosen})


def _switched(places: Callable[[Sequence[str]], list[int]], pairs: int) -> Make:
    def make(text: str, rng: random.Random, _: Pool) -> str:
        words = text.split()
        for _pair in range(pairs):
            found = places(words)
            if len(found) > 1:
                one, two = rng.sample(found, 2)
                words[one], words[two] = words[two], words[one]
        return " ".join(words)

    return make


def _verbs(words: Sequence[str]) -> list[int]:
    return [n for n, word in enumerate(words) if word.islower() and (base_of(word) or "") != word and base_of(word)]


def _nouns(words: Sequence[str]) -> list[int]:
    return [n for n, (a, b) in enumerate(itertools.pairwise(words), 1) if a.lower() in ARTICLES and b.islower()]


def _random_tokens(text: str, rng: random.Random, pool: Pool) -> str:
    words = text.split()
    chosen = _some(words, lambda _: True, 0.1, rng)
    return _replaced(words, {n: rng.choice(rng.choice(pool.reference).split()) for n in chosen})


def _span(where: float, shuffled: bool) -> Make:
    """Twenty tokens at the start (0), in the middle (0.5) or at the end (1), random ones or the same shuffled."""

    def make(text: str, rng: random.Random, pool: Pool) -> str:
        words = text.split()
        size = min(20, len(words))
        start = round(where * (len(words) - size))
        span = words[start : start + size]
        if shuffled:
            rng.shuffle(span)
        else:
            span = [rng.choice(rng.choice(pool.reference).split()) for _ in span]
        return " ".join([*words[:start], *span, *words[start + size :]])

    return make


def _last_repeated(text: str, rng: random.Random, _: Pool) -> str:
    sentences = split_sentences(text)
    return " ".join([*sentences, sentences[-1], sentences[-1]])


def _frequent_ngrams(text: str, rng: random.Random, pool: Pool) -> str:
    grams = _commonest(pool.reference)
    words: list[str] = []
    while len(words) < len(text.split()):
        words += rng.choice(grams)
    return " ".join(words)


@lru_cache(maxsize=1)
def _commonest(texts: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The fifty most frequent runs of four words."""
    counts: Counter[tuple[str, ...]] = Counter()
    for text in texts:
        words = text.split()
        counts.update(zip(words, words[1:], words[2:], words[3:], strict=False))
    return [gram for gram, _ in counts.most_common(50)]


def _shuffled_words(text: str, rng: random.Random, _: Pool) -> str:
    words = text.split()
    rng.shuffle(words)
    return " ".join(words)


def _shuffled_sentences(text: str, rng: random.Random, _: Pool) -> str:
    sentences = split_sentences(text)
    rng.shuffle(sentences)
    return " ".join(sentences)


def _half_again(text: str, rng: random.Random, _: Pool) -> str:
    sentences = split_sentences(text)
    return " ".join([*sentences, *sentences[len(sentences) // 2 :]])


def _others_half(text: str, rng: random.Random, pool: Pool) -> str:
    own, other = split_sentences(text), split_sentences(rng.choice(pool.others))
    return " ".join([*own[: (len(own) + 1) // 2], *other[len(other) // 2 :]])


def _other_gender(text: str, rng: random.Random, _: Pool) -> str:
    def other(found: re.Match[str]) -> str:
        word = found[0]
        new = OTHER_GENDER.get(word.lower(), word)
        return new.capitalize() if word[0].isupper() else new

    return re.sub(r"\b\w+\b", other, text)


def _other_numbers(text: str, rng: random.Random, _: Pool) -> str:
    def other(found: re.Match[str]) -> str:
        first = rng.choice([d for d in "123456789" if d != found[0][0]])
        return first + "".join(rng.choice("0123456789") for _ in found[0][1:])

    return re.sub(r"\d+", other, text)


def _copied(text: str, rng: random.Random, pool: Pool) -> str:
    return rng.choice(pool.reference)


def _salad(text: str, rng: random.Random, pool: Pool) -> str:
    words = rng.choice(pool.reference).split()[:2]
    while len(words) < len(text.split()):
        words.append(rng.choice(pool.follow.get((words[-2], words[-1])) or rng.choice(pool.reference).split()))
    return " ".join(words)


def _cut(text: str, rng: random.Random, _: Pool) -> str:
    words = text.split()
    return " ".join(words[: max(1, len(words) // 2)])


def _wrapped(text: str, rng: random.Random, _: Pool) -> str:
    lines, line = [], ""
    for word in text.split():
        if len(line) + len(word) > 79:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return "\n".join([*lines, line])


def _informal(text: str, rng: random.Random, _: Pool) -> str:
    """Contractions, and small numbers as words."""
    for long, short in SHORT.items():
        text = text.replace(long, short)
    return re.sub(r"\b([0-9]|1[0-2])\b(?![.,]\d)", lambda found: DIGITS[int(found[0])], text)


def _curly(text: str, rng: random.Random, _: Pool) -> str:
    return re.sub(r'"([^"]*)"', r"“\1”", text).replace("'", "’")


FAULTS: tuple[Fault, ...] = (
    Fault("truncation: the last 30% gone", True, _truncated, CUT),
    Fault("articles removed, 50%", True, _without(lambda w: w in ARTICLES, 0.5), MISSING_WORDS),
    Fault("prepositions removed, 50%", True, _without(lambda w: w in PREPOSITIONS, 0.5), MISSING_WORDS),
    Fault("stop words removed, 20%", True, _without(lambda w: w in stop_words_of(ENGLISH), 0.2), MISSING_WORDS),
    Fault("verbs lemmatised, 50%", True, _lemmatised, OTHER_WORDS),
    Fault("tokens dropped, 10%", True, _without(lambda _: True, 0.1), MISSING_WORDS),
    Fault("tokens repeated, 10%", True, _repeated_tokens, REPETITION),
    Fault("neighbouring tokens swapped, 10%", True, _swapped, ORDER_OF_WORDS),
    Fault("halves of sentences swapped", True, _half_sentences, ORDER_OF_WORDS | {"unfinished", "symbols"}),
    Fault(
        "punctuation noised, 50%",
        True,
        _noised_marks,
        frozenset({"symbols", "unigrams", "bigrams", "latent_ppl_mentions", "unfinished"}),
    ),
    Fault("1 pair of sentences switched", True, _switched_sentences(1), MENTIONS | {"unfinished"}),
    Fault("2 pairs of sentences switched", True, _switched_sentences(2), MENTIONS | {"unfinished"}),
    Fault("6 pairs of sentences switched", True, _switched_sentences(6), MENTIONS | {"unfinished"}),
    Fault("a sentence of another text", True, _sentence_replaced, TOPICS | MENTIONS),
    Fault("half of the sentences negated", True, _negated, frozenset({"unigrams", "bigrams", "stopwords"})),
    Fault(
        "half of the names made generic",
        True,
        _generic_names,
        MENTIONS | {"unigrams", "bigrams", "rank-frequency", "type-token", "recurrence"},
    ),
    Fault("1 pair of names switched", True, _switched(_names, 1), MENTIONS),
    Fault("2 pairs of verbs switched", True, _switched(_verbs, 2), ORDER_OF_WORDS),
    Fault("2 pairs of nouns switched", True, _switched(_nouns, 2), ORDER_OF_WORDS),
    Fault("tokens replaced, 10%", True, _random_tokens, OTHER_WORDS),
    Fault("20 random tokens at the start", True, _span(0.0, False), OTHER_WORDS),
    Fault("20 random tokens in the middle", True, _span(0.5, False), OTHER_WORDS),
    Fault("20 random tokens at the end", True, _span(1.0, False), OTHER_WORDS | CUT),
    Fault("20 tokens shuffled at the start", True, _span(0.0, True), ORDER_OF_WORDS),
    Fault("20 tokens shuffled in the middle", True, _span(0.5, True), ORDER_OF_WORDS),
    Fault("20 tokens shuffled at the end", True, _span(1.0, True), ORDER_OF_WORDS | CUT),
    Fault("the last sentence twice more", True, _last_repeated, REPETITION),
    Fault("the most frequent n-grams", True, _frequent_ngrams, OTHER_WORDS | REPETITION),
    Fault("words shuffled", False, _shuffled_words, ORDER_OF_WORDS | {"unfinished"}),
    Fault("all sentences shuffled", False, _shuffled_sentences, MENTIONS | {"unfinished"}),
    Fault("the second half again", False, _half_again, REPETITION),
    Fault("another document's second half", False, _others_half, TOPICS | MENTIONS),
    Fault("pronouns of the other gender", False, _other_gender, MENTIONS | {"unigrams", "bigrams"}),
    Fault("every number changed", False, _other_numbers, NOTHING),
    Fault("copied from the reference", False, _copied, frozenset({"recited"})),
    Fault("word salad of a trigram", False, _salad, ORDER_OF_WORDS | MENTIONS | CUT | {"recurrence", "burstiness"}),
    Fault("cut at half", False, _cut, CUT),
)
CONTROLS: tuple[tuple[str, float, Make | None], ...] = (
    ("other text of the same population", 1.0, None),
    ("line wraps", 1.0, _wrapped),
    ("contractions and numbers as words, 20%", 0.2, _informal),
    ("curly quotes", 1.0, _curly),
)
"""What is no fault: its name, the share of documents, and how it is made. Curly quotes may be marked, as symbols."""


def spoilt(texts: Sequence[str], make: Make, pool: Pool, seed: str) -> list[str]:
    """Each text with the fault."""
    return [make(text, random.Random(f"{seed} {n}"), pool) for n, text in enumerate(texts)]
