"""Sentences to read in the report: each word in the colour of the language that it belongs to."""

from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup

from textcritic.corpora import iter_articles
from textcritic.experiments.mixing.files import MixingFiles
from textcritic.experiments.mixing.read import Compared, Matrix, Source
from textcritic.measures.names import Names
from textcritic.measures.numbers import count, percent, plural
from textcritic.measures.score import Score
from textcritic.report.reader import Document, Reading, Shelf
from textcritic.report.section import worst_and_middle

FEWEST_WORDS = 5  # of the vocabulary, in a sentence that is shown, if there are such sentences
HEADS = ("Sentence", "Other language", "Words", "Languages")
CERTAIN = 0.8  # the probability of a topic from which on a word is in its colour


def choose(source: Source, most: int) -> list[int]:
    """Which sentences of a source are shown: two thirds are those that mix most, one third from the middle.

    Sentences with at least `FEWEST_WORDS` words of the vocabulary are ranked by their share of words outside the main
    topic; if there are none, all sentences are ranked.
    """
    outside, words = source.outside.T
    share = outside / np.maximum(words, 1)
    long = np.flatnonzero(source.posteriors.tokens >= FEWEST_WORDS)
    among = [int(place) for place in (long if len(long) else range(len(words)))]
    ranked = sorted(among, key=lambda place: (-share[place], place))
    worst, middle = worst_and_middle(ranked, most)
    return [*worst, *middle]


def examples(compared: list[Compared], files: MixingFiles, names: Names, card: Sequence[Score]) -> Reading:
    """The sentences that the template shows, from the first seed of every source."""
    shelves: list[Shelf] = []
    for real, one in zip(files.data, compared, strict=True):
        index = {word: number for number, word in enumerate(one.words)}
        for source in one.sources:
            if source.files not in files.shown(real) or not source.english:
                continue
            chosen = choose(source, files.report_articles)
            texts = _texts(source, chosen)
            sentences = [_shown(source, place, texts[source.posteriors.ids[place]], one, index) for place in chosen]
            shelves.append(Shelf(source.files.keys, names.source(source.files.keys, seed=False), sentences))
    return Reading.of(HEADS, shelves, card)


def coloured(text: str, mean: Matrix, one: Compared, index: Mapping[str, int]) -> Markup:
    """A sentence as HTML: each word of the vocabulary in the colour of its topic, pale if the topic is uncertain.

    The probability of a topic for a word is proportional to phi[topic, word] times the posterior mean of the topic.

    Args:
        text: words between white space.
        mean: of the topic proportions, [K].
        one: the corpus.
        index: the id of each word of the vocabulary, by the form in which words are looked up.
    """
    return Markup(" ").join(_word(word, mean, one, index) for word in text.split())


def _word(word: str, mean: Matrix, one: Compared, index: Mapping[str, int]) -> Markup:
    number = index.get(word, index.get(word.lower()))
    if number is None:
        return Markup("<span>{}</span>").format(word)
    posterior = one.critic.phi[:, number] * mean
    posterior = posterior / posterior.sum()
    topic = int(posterior.argmax())
    kind = f"tongue tongue-{one.order.index(topic)}" + ("" if posterior[topic] >= CERTAIN else " unsure")
    hint = f"{one.name(topic)}: {percent(float(posterior[topic]))}"
    return Markup('<span class="{}" title="{}">{}</span>').format(kind, hint, word)


def _texts(source: Source, chosen: list[int]) -> dict[str, str]:
    wanted = {source.posteriors.ids[place] for place in chosen}
    articles = (article for article in iter_articles(source.files.articles) if article.id in wanted)
    return {article.id: " ".join(section.text for section in article.sections) for article in articles}


def _shown(source: Source, place: int, text: str, one: Compared, index: Mapping[str, int]) -> Document:
    outside, words = map(float, source.outside[place])
    mean = np.asarray(source.posteriors.mean[place], np.float64)
    order = np.argsort(-mean, kind="stable")
    parts = ", ".join(f"{one.name(topic)} {percent(float(mean[topic]))}" for topic in order)
    share = outside / max(words, 1)
    verdict = f"{parts}. {plural(round(words), 'word')} of the vocabulary, {percent(share)} of them outside the main "
    verdict += "language."
    shown = {"english": source.english[place], "text": coloured(text, mean, one, index), "words": verdict}
    return Document(f"Sentence {place + 1}", ((percent(share), share), (count(round(words)), words), parts), shown)
