"""Measures of one's own, as a user writes them: of documents and of sections, by mean, median and ratio of sums."""

from itertools import pairwise

import textcritic


@textcritic.measure(title="Distinct-2", means="pairs of neighbouring words that are not said twice", aim="higher")
def distinct_2(document):
    words = document.text.split()
    if len(words) < 5:
        return textcritic.left_out("fewer than 5 words")
    return len(set(pairwise(words))) / (len(words) - 1)


@textcritic.measure(title="Words of a section", unit="words", of="sections", statistic="median")
def section_words(section):
    return len(section.text.split())


@textcritic.measure(title="Characters of a word", statistic="ratio", batch=True)
def word_length(documents):
    words = [document.text.split() for document in documents]
    return [(sum(map(len, some)), len(some)) for some in words]


def sections(document):
    return len(document.sections) or None
