"""What a reader of a study sees first: headline, what is wrong with each sample, scorecard, and a few sentences."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textcritic.measures.card import Block, scorecard
from textcritic.measures.card_file import read_facts, scores_from_json
from textcritic.measures.causes import Judged, comparisons, comparisons_from_json, judged, of_control
from textcritic.measures.numbers import listed
from textcritic.measures.sentences import PERCENT, Sentence, chosen, headline_of, sentences

MOST_LINES = 8
"""Samples that differ, of which the page shows at once what is wrong."""


@dataclass(frozen=True, slots=True)
class Front:
    """The front page of a study.

    Attributes:
        headline: of the first experiment that has one or compares samples with real text; else of what differs, or "".
        judged: every sample with what is wrong with it, the worst first; none of real text and of controls.
        blocks: the scorecard, as `card.scorecard` makes it; empty where no experiment has scores.
        sentences: at most `measures.sentences.MOST_SENTENCES`, the strongest first.
        titles: the heading of each experiment's section, with the experiment's name where two have the same.
        facts: what section.json of each experiment says, by its name, in the order of the study.
        warnings: those of all experiments, in the order of the study, then of controls; each is about a section.
        not_measured: (what, why), each reason once.
        notes: what else there is to say of all numbers.
    """

    headline: str
    judged: tuple[Judged, ...]
    blocks: tuple[Block, ...]
    sentences: tuple[Sentence, ...]
    titles: Mapping[str, str]
    facts: Mapping[str, Mapping[str, Any]]
    warnings: tuple[Sentence, ...]
    not_measured: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()

    @property
    def failing(self) -> list[Judged]:
        """The samples that differ from real text, the worst first."""
        return [one for one in self.judged if one.causes]


def front_page(sections: Mapping[str, Path], study: Mapping[str, Any] | None = None) -> Front:
    """The front page.

    Args:
        sections: section.json of each experiment by its name, in the order of the study.
        study: what the manifest says of it: `not_measured`, what was not measured and why, beside what the sections say
            of it; `notes`.

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
    # What was made before tests were declared has its scores alone.
    declared = {name: comparisons_from_json(said, sections[name]) for name, said in facts.items() if "tests" in said}
    found = judged(blocks, [test for name in facts for test in declared.get(name, comparisons(cards[name]))])
    samples = tuple(one for one in found if not one.row.control)
    headline, repeated = _headline(facts, blocks)
    pool = [sentence for sentence in sentences(blocks) if sentence != repeated]
    pool += [sentence for name in facts for sentence in _findings(name, facts[name], titles[name])]
    warnings = [
        Sentence(name, titles[name], words, name, 0.0) for name in facts for words in facts[name].get("warnings", ())
    ]
    controls = [one for one in found if one.row.control and one.causes]
    warnings += [Sentence("", one.name, of_control(one), one.causes[0].section, 0.0) for one in controls]
    missing = [tuple(pair) for said in facts.values() for pair in said.get("not_measured", ())]
    told = study or {}
    reasons = _by_reason([*missing, *told.get("not_measured", {}).items()])
    said = headline if headline and not _fails_elsewhere(blocks, repeated, samples) else _differing(samples, headline)
    return Front(
        said,
        samples,
        blocks,
        tuple(chosen(pool)),
        titles,
        facts,
        tuple(warnings),
        reasons,
        tuple(told.get("notes", ())),
    )


def _headline(facts: Mapping[str, Mapping[str, Any]], blocks: Sequence[Block]) -> tuple[str, Sentence | None]:
    """The headline of the first experiment that has one or compares samples, and what it repeats."""
    for name, said in facts.items():
        headline, repeated = (said["headline"], None) if said.get("headline") else headline_of(blocks, name)
        if headline:
            return headline, repeated
    return "", None


def _fails_elsewhere(blocks: Sequence[Block], headline: Sentence | None, samples: Sequence[Judged]) -> bool:
    """Whether the sample that a headline calls the nearest differs from real text by another measure."""
    columns = [
        (b, c) for b in blocks for c in b.columns if headline is not None and c.experiment == headline.experiment
    ]
    if not columns:
        return False
    block, column = columns[0]
    best, measure = block.best(column), column.measure.removesuffix(PERCENT)
    causes = [cause.measure for one in samples if best and one.row.label == best for cause in one.causes]
    return any(cause != measure for cause in causes)


def _differing(samples: Sequence[Judged], headline: str) -> str:
    """How many samples differ from real text, and then what a headline says of one measure, if there is one."""
    tested = [one for one in samples if one.tests]
    differ = sum(bool(one.causes) for one in tested)
    if not tested:
        return headline
    total = len(tested)
    who = f"{differ} of {total} sample{'s' * (total > 1)}"
    if differ == total:
        who = {1: "The sample", 2: "Both samples"}.get(total, f"All {total} samples")
    return f"{who} {'differs' if differ == 1 else 'differ'} from real text. {headline}".rstrip()


def _by_reason(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The pairs (what, why) with each reason once."""
    reasons: dict[str, list[str]] = {}
    for what, why in pairs:
        reasons.setdefault(why, []).append(what)
    return tuple((listed(list(dict.fromkeys(names))), why) for why, names in reasons.items())


def _findings(name: str, said: Mapping[str, Any], title: str) -> list[Sentence]:
    """The findings that say more than scores do: those with a strength; all, where an experiment has no scores."""
    found = [(finding["about"], finding["says"], float(finding["strength"])) for finding in said.get("findings", ())]
    return [
        Sentence(name, f"{title}, {about}" if about else title, says, name, strength)
        for about, says, strength in found
        if strength > 0 or not said.get("card")
    ]
