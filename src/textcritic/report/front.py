"""What a reader of a study sees first: its headline, where samples fail, its scorecard, and at most five sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textcritic.measures.card import Block, scorecard
from textcritic.measures.score import read_facts, scores_from_json
from textcritic.measures.sentences import Sentence, chosen, headline_of, sentences


@dataclass(frozen=True, slots=True)
class Front:
    """The front page of a study.

    Attributes:
        headline: of the first experiment that has one or compares samples with real text, or "".
        fails: where the best sample fails, of the same experiment, or "".
        blocks: the scorecard, as `card.scorecard` makes it; empty where no experiment has scores.
        sentences: at most `measures.sentences.MOST_SENTENCES`, the strongest first.
        titles: the heading of each experiment's section, with the experiment's name where two have the same.
        facts: what section.json of each experiment says, by its name, in the order of the study.
        warnings: those of all experiments, in the order of the study; each is about a section.
    """

    headline: str
    fails: str
    blocks: tuple[Block, ...]
    sentences: tuple[Sentence, ...]
    titles: Mapping[str, str]
    facts: Mapping[str, Mapping[str, Any]]
    warnings: tuple[Sentence, ...]


def front_page(sections: Mapping[str, Path]) -> Front:
    """The front page.

    Args:
        sections: section.json of each experiment by its name, in the order of the study.

    Raises:
        TextcriticError: a file is missing or damaged.
    """
    facts = {name: read_facts(path) for name, path in sections.items()}
    headings = [said["title"] for said in facts.values()]
    titles = {
        name: f"{said['title']} ({name})" if headings.count(said["title"]) > 1 else said["title"]
        for name, said in facts.items()
    }
    cards = {name: scores_from_json(said, sections[name]) for name, said in facts.items()}
    blocks = scorecard(cards, titles)
    headline, repeated, of = _headline(facts, blocks)
    fails = facts[of].get("fails", "") if of else ""
    findings = [found for name in facts for found in _findings(name, facts[name], titles[name]) if found.says != fails]
    pool = [sentence for sentence in sentences(blocks) if sentence != repeated] + findings
    warnings = tuple(
        Sentence(name, titles[name], words, name, 0.0) for name in facts for words in facts[name].get("warnings", ())
    )
    return Front(headline, fails, blocks, tuple(chosen(pool)), titles, facts, warnings)


def _headline(facts: Mapping[str, Mapping[str, Any]], blocks: Sequence[Block]) -> tuple[str, Sentence | None, str]:
    """The headline of the first experiment that has one or compares samples, what it repeats, and whose it is."""
    for name, said in facts.items():
        headline, repeated = (said["headline"], None) if said.get("headline") else headline_of(blocks, name)
        if headline:
            return headline, repeated, name
    return "", None, ""


def _findings(name: str, said: Mapping[str, Any], title: str) -> list[Sentence]:
    """The findings that say more than scores do: those with a strength; all, where an experiment has no scores."""
    found = [(finding["about"], finding["says"], float(finding["strength"])) for finding in said.get("findings", ())]
    return [
        Sentence(name, f"{title}, {about}" if about else title, says, name, strength)
        for about, says, strength in found
        if strength > 0 or not said.get("card")
    ]
