"""Names of people in the words of an article.

A run of words with capital letters is a candidate; what speaks for a person (a title before it, a known given name, a
verb of speech behind it) and against one (a place's preposition, an article before it) is added up over all its places.
"""

from collections import defaultdict
from dataclasses import dataclass

from textcritic.latents.resolvers.language import Language
from textcritic.latents.resolvers.text import CLOSING_QUOTES, OPENING_QUOTES, STRAIGHT_QUOTE, Words

# A run is the name of a person from this sum on; see `_evidence`.
ENOUGH = 1.0
LONGEST = 8
# Between these a name calls somebody: "Tell me, Watson, what ...".
_QUOTES = frozenset((STRAIGHT_QUOTE, *OPENING_QUOTES, *CLOSING_QUOTES))
_CALLS, _CALLED = frozenset((",", "“", '"')), frozenset((",", "!", "?"))


@dataclass(slots=True)
class Name:
    """A stretch of words that is the name of a person, with the titles before it.

    Attributes:
        first, last: its words, the last one not included.
        parts: the words of the name in lower case, each in its common form (`Language.same_name`), without titles.
        title: the title before it, in lower case, or None.
        gender: from the title or the given name, or None.
    """

    first: int
    last: int
    parts: tuple[str, ...]
    title: str | None
    gender: str | None


def find_names(words: Words, language: Language) -> list[Name]:
    """The names of people, in the order of the text.

    Args:
        words: of an article.
        language: its given names, titles and words with capital letters that are no names.
    """
    runs = _runs(words, language)
    pooled: dict[str, float] = defaultdict(float)
    certain = {run.parts[-1] for run in runs if run.title is not None or (run.given and len(run.parts) > 1)}
    for run in runs:
        run.own, shared = _evidence(run, words, language)
        for part in run.parts:
            # "Virginia Woolf" is no evidence for "Virginia" alone.
            if len(run.parts) == 1 or part.title() not in language["capitalised"]:
                pooled[part] += shared
        run.own += 3.0 * (run.parts[-1] in certain)
    return [
        Name(run.first, run.last, run.parts, run.title, run.gender)
        for run in runs
        if run.own + max(-3.0, min(3.0, pooled[run.parts[-1]])) >= ENOUGH
    ]


@dataclass(slots=True)
class _Run:
    first: int
    last: int
    parts: tuple[str, ...]
    title: str | None
    gender: str | None
    given: bool
    place: bool
    listed: float = 0.0
    own: float = 0.0


def _runs(words: Words, language: Language) -> list[_Run]:
    runs, written = [], words.words
    capitals = [index for index, word in enumerate(written) if word[0].isupper()]
    vocabulary = _vocabulary(words, language)
    done = -1
    for index in capitals:
        if index <= done:
            continue
        end = _run_end(index, words, language, vocabulary)
        done = max(end - 1, index)
        if end > index:
            run = _parsed(index, end, words, language)
            if run is not None:
                runs.append(run)
    return runs


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """The words of a text as they are written, and those behind a given name or a title that begin with a capital."""

    words: frozenset[str]
    surnames: frozenset[str]


def _vocabulary(words: Words, language: Language) -> _Vocabulary:
    written, lowered = words.words, words.lowered
    pairs = zip(written, lowered, written[1:], strict=False)
    surnames = {
        word
        for first, lower, word in pairs
        if word[0].isupper() and first[0].isupper() and (lower in language.given_names or lower in language.titles)
    }
    return _Vocabulary(frozenset(written), frozenset(surnames))


def _is_candidate(index: int, words: Words, language: Language, vocabulary: _Vocabulary) -> bool:
    """Whether the word with a capital letter at `index` may be part of a name."""
    word = words.words[index]
    if word in language.degrees:
        return False
    lower = word.lower()
    opens = _opens(index, words)
    known = lower in language.given_names
    if lower in language.function_words_and_pronouns:
        return known and (not opens or (index + 1 < len(words.words) and language.is_verb(words.words[index + 1])))
    if len(word) > 1 and word.isupper():
        # JOHN SMITH, where John is a given name, but no headline.
        named = index > 0 and words.words[index - 1].isupper() and _word_before(index, words) in language.given_names
        named = named and any(map(str.islower, words.words[slice(*words.sentences[words.sentence[index]])]))
        return known or named or word.title() in vocabulary.words or lower in language.titles
    if not language.capitals_mark_names:
        before = _word_before(index, words)
        return known or lower in language.titles or before in language.titles or before in language.given_names
    if opens and not known and lower not in language.titles and word not in vocabulary.surnames:
        return lower not in vocabulary.words and not lower.endswith("ly")
    return True


def _word_before(index: int, words: Words) -> str:
    """The word before one, in lower case; the one before a full stop where that is between."""
    dotted = index > 1 and words.words[index - 1] == "."
    return words.lowered[index - 1 - dotted] if index else ""


def _opens(index: int, words: Words) -> bool:
    """Whether the word is where every word has a capital letter: no word of its sentence comes directly before it."""
    if index == words.sentences[words.sentence[index]][0]:
        return True
    before = words.words[index - 1]
    return not before[0].isalnum() and before not in (",", ";", "-", ".", "(", "'s", "’s", "&")


def _run_end(first: int, words: Words, language: Language, vocabulary: _Vocabulary) -> int:
    """The end of the run of words that starts at `first`; `first` itself where there is none."""
    if not _is_candidate(first, words, language, vocabulary):
        return first
    written, sentence = words.words, words.sentence
    limit = min(len(written), first + LONGEST)
    end = first + 1
    while end < limit and sentence[end] == sentence[first]:
        step = end
        lower = written[end - 1].lower()
        dotted = lower in language.titles or (len(lower) == 1 and lower.isalpha())
        if (written[step] == "." and dotted) or written[step] in language["particles"]:
            step += 1
        elif _is_nickname(step, limit, written):
            step += 3
        if step >= limit or sentence[step] != sentence[first] or not written[step][0].isupper():
            break
        titled = written[step].lower() in language.titles and lower not in language.titles
        if titled or not _is_candidate(step, words, language, vocabulary):
            break
        end = step + 1
    # The full stop of an initial at the end ("Paul D.") belongs to it.
    if end < limit and written[end] == "." and len(written[end - 1]) == 1 and end - first > 1:
        end += sentence[end] == sentence[first] and not _closes(end, words)
    return end


def _is_nickname(index: int, limit: int, written: list[str]) -> bool:
    """Whether a nickname in quotation marks begins here, inside a name: William "Bill" Parrish."""
    if written[index] not in _QUOTES or index + 3 >= limit or written[index + 2] not in _QUOTES:
        return False
    return written[index + 1][0].isupper() and written[index + 3][0].isupper()


def _closes(index: int, words: Words) -> bool:
    return index + 1 >= words.sentences[words.sentence[index]][1]


def _parsed(first: int, end: int, words: Words, language: Language) -> _Run | None:
    """A run with its titles taken off; None if nothing of a name is left."""
    written = words.words
    start, title, gender = first, None, None
    if first and written[first - 1] in language.titles and written[first - 1] not in language["function_words"]:
        # "king David": `phrases` makes the title a part of the mention.
        title = written[first - 1]
        gender = language.titles[title]
    while start < end - 1 and (lower := written[start].lower()) in language.titles:
        title, gender = lower, language.titles[lower] or gender
        start += 1 + (written[start + 1] == ".")
    if start >= end:
        return None
    names = [word for word in written[start:end] if word[0].isalnum()]
    if not names:
        return None
    if len(names) == 1 and title is None and names[0].lower() in language.titles:
        return None
    listed = [name in language["capitalised"] for name in names]
    given = names[0].lower() in language.given_names
    if listed[0] and title is None and not given:
        # "Old Sally", "Christmas", "French John": what follows such a word is looked at alone.
        rest = 0
        while rest < len(names) and listed[rest]:
            rest += 1
        if len(names) == 1:
            return _Run(first, end, _parts(names, language), None, None, False, False, listed=-5.0)
        if rest == len(names) or names[rest].lower() not in language.given_names:
            return None
        while written[start] != names[rest]:
            start += 1
        names, given, first = names[rest:], True, start
    place = any(name in language["capitalised"] for name in names[1:]) and title is None and not given
    gender = gender or language.given_names.get(names[0].lower())
    # "Virginia" and "Bill" are names of people where more speaks for it.
    doubt = -2.5 if given and listed[0] and len(names) == 1 else 0.0
    return _Run(first, end, _parts(names, language), title, gender, given, place, doubt)


def _parts(names: list[str], language: Language) -> tuple[str, ...]:
    return tuple(language.same_name.get(name.lower(), name.lower()) for name in names)


def _evidence(run: _Run, words: Words, language: Language) -> tuple[float, float]:
    """What speaks for a person: in this run alone, and in all runs with the same words."""
    written = words.words
    before = written[run.first - 1].lower() if run.first else ""
    after = written[run.last] if run.last < len(written) else ""
    own = 5.0 * (run.title is not None) + 3.0 * run.given - 5.0 * run.place + run.listed
    shared = 1.5 * (run.title is not None)
    if len(run.parts) > 1:
        # An initial makes it surer.
        own += 0.5 + any(len(part) == 1 for part in run.parts)
    if before in language["places_follow"]:
        shared -= 1.5 * (not run.given)
        own += 2.0 * run.listed if run.given else -2.0
    elif before in language.determiners and before not in language["clause_words"]:
        shared -= 1.5
        own -= 2.0
    elif before in language["verbs_of_speech"] or before in language.nouns:
        shared += 2.0
    if after in language["verbs_of_speech"]:
        shared += 2.0
    elif after not in language["auxiliaries"] and language.is_verb(after):
        shared += 0.7
    elif after in language["possessive_endings"]:
        shared += 0.3
    elif after == "(" or (before in _CALLS and after in _CALLED):
        shared += 0.5
    if _opens(run.first, words) and not run.given and run.title is None:
        own -= 0.5
    return own, shared
