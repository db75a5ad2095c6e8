"""Whole articles that repeat a section (model criticism paper, Table 13), chosen and ordered by fixed rules."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from textcritic.corpora import Article, some_articles
from textcritic.critics import TransitionCritic, is_unlikely
from textcritic.errors import TextcriticError
from textcritic.experiments.coherence.files import CoherenceFiles, Sample
from textcritic.experiments.coherence.names import UNLIKELY
from textcritic.experiments.coherence.repetitions import Repeats, chance, repeats, scored
from textcritic.files import read_table
from textcritic.measures.names import Names
from textcritic.measures.numbers import count, percent
from textcritic.measures.score import Score
from textcritic.measures.scored import read_scores
from textcritic.plan.sources import GROUP, KEYS, RUN
from textcritic.report.reader import opened
from textcritic.report.sheet import Cell, Sheet
from textcritic.values import Row

SHOWN_IN_TABLE, SHOWN_IN_PAGE = 420, 700  # characters of a section's text
GOLDEN_ANGLE, FIRST_HUE = 137.508, 205
EXAMPLES = 3  # of each source
# A good example: the classifier is sure of both sections, the article is short, neither section is a scrap, and neither
# is a copy of the other (by the Jaccard index of their three-word shingles).
SURE, MOST_SECTIONS, FEWEST_WORDS, COPY = 0.9, 8, 12, 0.5
SHORTLIST, SHORTLIST_EACH = 60, 12  # articles whose texts are read: of each source, and of each repeated title

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class ShownSection:
    """A section of an example: its inferred title, the title's posterior probability if it has one, and its text."""

    title: str
    posterior: float | None
    text: str


@dataclass(frozen=True, slots=True)
class Example:
    """A whole article that repeats a section.

    Attributes:
        keys: of its source, as in every table.
        article: its id.
        sections: all of its sections, in order.
        place: of the section that repeats the one before, from 0.
        probability: of the step from that title to itself under the critic.
        followed, total: sections of that title in the training articles: those that another one follows, and all.
    """

    keys: Row
    article: str
    sections: tuple[ShownSection, ...]
    place: int
    probability: float
    followed: int
    total: int

    @property
    def title(self) -> str:
        """The repeated title."""
        return self.sections[self.place].title

    @property
    def unlikely(self) -> bool:
        """Whether the step is an error by the criterion of Table 12; if not, no repetition of the source is."""
        return is_unlikely(self.probability, UNLIKELY)


def repetition_examples(experiment: CoherenceFiles) -> list[Example]:
    """A few articles of each source, of its first training and draw, in which a section repeats the one before it.

    The step has P < 0.01 under the critic; if a source has no such step, its least likely repetitions are taken. The
    articles are chosen by fixed rules: first those with two surely classified sections and few sections in all, then by
    probability; copies and scraps come last, and a title comes a second time only after all other titles. Only the
    texts of a short list are read.

    Raises:
        TextcriticError: articles, latents and scores of a source do not belong together.
    """
    examples: list[Example] = []
    for data in experiment.data:
        critic = TransitionCritic.load(data.critic)
        for sample in _first_runs([s for s in experiment.samples if s.corpus == data.corpus]):
            # Given titles have no posterior.
            sure = {} if data.titles_given else _confidences(sample)
            examples += _of_source(sample, critic, sure)
    return examples


def example_rows(examples: Sequence[Example]) -> pd.DataFrame:
    """The examples in long format, a row for each section.

    Columns: the keys, `example` (from 1 in each source), `article`, `probability` of the repetition under the critic,
    `unlikely`, `section` (from 1), `title` (inferred), `posterior`, `repeated` (one of the two neighbours), `text`.
    """
    rows: list[Row] = []
    numbers: Counter[tuple[object, ...]] = Counter()
    for example in examples:
        source = tuple(example.keys.values())
        numbers[source] += 1
        about = {"example": numbers[source], "article": example.article}
        about |= {"probability": example.probability, "unlikely": example.unlikely}
        for place, section in enumerate(example.sections):
            row = {"section": place + 1, "title": section.title, "posterior": section.posterior}
            row |= {"repeated": place in (example.place - 1, example.place), "text": section.text}
            rows.append({**example.keys, **about, **row})
    columns = ("example", "article", "probability", "unlikely", "section", "title", "posterior", "repeated", "text")
    return pd.DataFrame(rows, columns=[*KEYS, *columns]).astype(dict.fromkeys(RUN, "Int64"))


def examples_sheet(examples: Sequence[Example], names: Names) -> Sheet:
    """Whole articles that repeat a section: each section's inferred title, how sure it is, and its start."""
    body = []
    for example in examples:
        body.append([Cell(f"{names.source(example.keys)}. {described(example)}", span=3, heading=True)])
        for place, section in enumerate(example.sections):
            notes = ("repeated",) if place in (example.place - 1, example.place) else ()
            text = Cell(shortened(" ".join(section.text.split()), SHOWN_IN_TABLE), words=True)
            body.append([Cell(section.title, notes), Cell(percent(section.posterior)), text])
    given = all(section.posterior is None for example in examples for section in example.sections)
    title = "Title" if examples and given else "Inferred title"
    header = [[Cell(title), Cell("Sure"), Cell("Section text", words=True)]]
    remarks = [] if examples else ["No sample has two sections of the same type in a row."]
    remarks += ["Sure: the classifier's posterior probability of the title."] * bool(examples and not given)
    return Sheet("repetitions", "Articles that repeat a section", header, body, remarks=remarks, prose=True)


def repetitions_shown(experiment: CoherenceFiles, names: Names, card: Sequence[Score]) -> dict[str, object] | None:
    """The variables of the template: the sources that have examples, the worst one first; None if there are none.

    Raises:
        TextcriticError: see `repetition_examples`.
    """
    examples = repetition_examples(experiment)
    if not examples:
        return None
    titles = {section.title for example in examples for section in example.sections}
    hues = hues_of(titles)
    by_source: dict[str, list[Example]] = {}
    keys = {names.source(example.keys): example.keys for example in examples}
    for example in examples:
        by_source.setdefault(names.source(example.keys), []).append(example)
    sources = [_shown_source(str(n), label, shown, hues) for n, (label, shown) in enumerate(by_source.items())]
    pickers = [{"key": source["key"], "label": source["label"]} for source in sources]
    return {"most": EXAMPLES, "sources": sources, "pickers": pickers, "start": opened(list(keys.values()), card)}


def hues_of(titles: Iterable[str]) -> dict[str, int]:
    """A hue for each title, in degrees; titles next to each other in the alphabet have very different hues."""
    return {title: round((index * GOLDEN_ANGLE + FIRST_HUE) % 360) for index, title in enumerate(sorted(titles))}


def described(example: Example) -> str:
    """What is wrong with the step, in words."""
    often = f"{count(example.followed) if example.followed else 'none'} of {count(example.total)} such sections"
    verb = "are" if example.followed > 1 else "is"
    rare = f"in the real training articles {often} {verb} followed by another of the same type"
    least = (
        "" if example.unlikely else " No repetition of this source is below 1%; this is among the least likely ones."
    )
    return f"“{example.title}” twice in a row, {chance(example.probability)} under the critic: {rare}.{least}"


def _first_runs(samples: Sequence[Sample]) -> list[Sample]:
    first: dict[tuple[object, ...], Sample] = {}
    for sample in samples:
        group = tuple(sample.keys[key] for key in GROUP)
        if group not in first or (sample.seed, sample.draw) < (first[group].seed, first[group].draw):
            first[group] = sample
    return list(first.values())


def _of_source(sample: Sample, critic: TransitionCritic, sure: Mapping[str, Sequence[float]]) -> list[Example]:
    kept = scored(read_scores(sample.scores))
    ids, chains = kept["id"].to_pylist(), kept["chain"].to_pylist()
    shortlist = _shortlist(repeats(kept, critic), ids, chains, sure)
    articles = some_articles(sample.articles, {ids[document] for document, _ in shortlist})
    turns: Counter[str] = Counter()
    ranked = []
    for rank, (document, place) in enumerate(shortlist):
        name, chain = ids[document], chains[document]
        article, title = articles.get(name), chain[place]
        if article is None or not len(article.sections) == len(chain) == len(sure.get(name, chain)):
            raise TextcriticError(
                f"{sample.scores}: article {name!r} is not in {sample.articles}, or has another number of sections "
                f"there or in {sample.latents}; they belong to different samples: delete the scores and rerun the rule "
                "that makes them"
            )
        turns[title] += 1
        ranked.append(
            (_poor(article, place), turns[title], rank, _example(sample, critic, article, chain, place, sure))
        )
    return [example for *_, example in sorted(ranked, key=lambda entry: entry[:3])[:EXAMPLES]]


def _confidences(sample: Sample) -> dict[str, list[float]]:
    """The posterior of each section's inferred title, by article."""
    latents = read_table(sample.latents)
    return dict(zip(latents["id"].to_pylist(), latents["confidence"].to_pylist(), strict=True))


def _shortlist(
    repeated: Repeats, ids: Sequence[str], chains: Sequence[Sequence[str]], sure: Mapping[str, Sequence[float]]
) -> list[tuple[int, int]]:
    """(document, place) of the best repetition of each article, best first, by the criteria that need no text."""
    unlikely = repeated.unlikely
    chosen = np.flatnonzero(unlikely) if unlikely.any() else np.arange(len(repeated.place))
    ranked = []
    for index in chosen:
        document, place = int(repeated.document[index]), int(repeated.place[index])
        both = sure.get(ids[document], [])[place - 1 : place + 1]
        doubt = 1 - min(both) if both else 0.0
        likely = 0.0 if unlikely.any() else float(repeated.log_prob[index])
        readable = (doubt > 1 - SURE, len(chains[document]) > MOST_SECTIONS)
        ranked.append(
            ((likely, *readable, float(repeated.log_prob[index]), doubt, ids[document], place), document, place)
        )
    taken: set[int] = set()
    each: Counter[str] = Counter()
    shortlist: list[tuple[int, int]] = []
    for _, document, place in sorted(ranked):
        title = chains[document][place]
        if document in taken or each[title] == SHORTLIST_EACH or len(shortlist) == SHORTLIST:
            continue
        taken.add(document)
        each[title] += 1
        shortlist.append((document, place))
    return shortlist


def _poor(article: Article, place: int) -> bool:
    """Whether one of the two sections is a scrap, or a copy of the other."""
    first, second = (_WORD.findall(section.text.lower()) for section in article.sections[place - 1 : place + 1])
    one, two = (set(zip(words, words[1:], words[2:], strict=False)) for words in (first, second))
    return min(len(first), len(second)) < FEWEST_WORDS or len(one & two) >= COPY * len(one | two)


def _example(
    sample: Sample,
    critic: TransitionCritic,
    article: Article,
    chain: Sequence[str],
    place: int,
    sure: Mapping[str, Sequence[float]],
) -> Example:
    title = critic.titles.index(chain[place])
    posteriors: Sequence[float | None] = sure.get(article.id) or [None] * len(chain)
    sections = zip(chain, posteriors, article.sections, strict=True)
    return Example(
        keys=sample.keys,
        article=article.id,
        sections=tuple(ShownSection(name, posterior, section.text) for name, posterior, section in sections),
        place=place,
        probability=float(np.exp(critic.log_probs[1 + title, title])),
        followed=int(critic.counts[1 + title, title]),
        total=int(critic.counts[1 + title].sum()),
    )


def _shown_source(key: str, label: str, examples: list[Example], hues: dict[str, int]) -> Row:
    shown = [{"key": f"{key}-{n}", **_shown_example(example, hues)} for n, example in enumerate(examples)]
    choices = [
        {"key": entry["key"], "label": f"{n}: {example.title}"}
        for n, (entry, example) in enumerate(zip(shown, examples, strict=True), start=1)
    ]
    return {"key": key, "label": label, "examples": shown, "choices": choices}


def _shown_example(example: Example, hues: dict[str, int]) -> Row:
    sections = [
        {
            "title": section.title,
            "hue": hues[section.title],
            "sure": "" if section.posterior is None else percent(section.posterior),
            "text": shortened(section.text, SHOWN_IN_PAGE),
            "repeated": place in (example.place - 1, example.place),
            "again": chance(example.probability) if place == example.place else "",
        }
        for place, section in enumerate(example.sections)
    ]
    return {
        "words": f"{described(example)} Article {example.article}.",
        "unlikely": example.unlikely,
        "sections": sections,
    }


def shortened(text: str, characters: int) -> str:
    """The start of a text, up to the end of a word, with an ellipsis if something is left out."""
    if len(text) <= characters:
        return text
    start = text[:characters]
    # A text without a space in its second half is cut inside a word.
    return start[: cut if (cut := start.rfind(" ")) > characters // 2 else characters].rstrip() + " …"
