"""What a reader of a study sees first: headline, what is wrong with each sample, scorecard, and a few sentences."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from textcritic.measures.card import Block, scorecard
from textcritic.measures.card_file import read_facts, scores_from_json
from textcritic.measures.causes import Judged, comparisons, comparisons_from_json, judged, of_control
from textcritic.measures.numbers import listed
from textcritic.measures.sentences import PERCENT, Sentence, chosen, headline_of, sentences
from textcritic.values import JsonObject

MOST_LINES = 8
"""Samples that differ and are shown at once with what is wrong; a click shows the others."""


@dataclass(frozen=True, slots=True)
class Front:
    """The front page of a study.

    Attributes:
        headline: from the first experiment that has one or compares samples with real text; else how many samples
            differ, or "".
        judged: every sample with what is wrong with it, the worst first, without real text and controls.
        blocks: the scorecard, as `card.scorecard` makes it; empty if no experiment has scores.
        sentences: at most `measures.sentences.MOST_SENTENCES`, the strongest first.
        titles: the heading of each experiment's section, followed by the experiment's name if two have the same.
        facts: what section.json of each experiment says, by its name, in the order of the study.
        warnings: those of all experiments, in the order of the study, then of controls; each is about a section.
        not_measured: (what, why), each reason once.
        notes: further remarks on all numbers.
    """

    headline: str
    judged: tuple[Judged, ...]
    blocks: tuple[Block, ...]
    sentences: tuple[Sentence, ...]
    titles: Mapping[str, str]
    facts: Mapping[str, JsonObject]
    warnings: tuple[Sentence, ...]
    not_measured: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()

    @property
    def failing(self) -> list[Judged]:
        """The samples that differ from real text, the worst first."""
        return [sample for sample in self.judged if sample.causes]


def front_page(sections: Mapping[str, Path], study: JsonObject | None = None) -> Front:
    """The front page.

    Args:
        sections: section.json of each experiment by its name, in the order of the study.
        study: the study in the manifest: its `not_measured`, what was not measured and why, is added to that of the
            sections; `notes`.

    Raises:
        TextcriticError: a file is missing or damaged.
    """
    facts = {name: read_facts(path) for name, path in sections.items()}
    headings = [section["title"] for section in facts.values()]
    titles = {
        name: f"{section['title']} ({name})" if headings.count(section["title"]) > 1 else section["title"]
        for name, section in facts.items()
    }
    cards = {name: scores_from_json(section, sections[name]) for name, section in facts.items()}
    blocks = scorecard(cards, titles)
    # A section.json of an older version has no tests, only scores.
    declared = {name: comparisons_from_json(facts[name], sections[name]) for name in facts if "tests" in facts[name]}
    every = judged(blocks, [test for name in facts for test in declared.get(name, comparisons(cards[name]))])
    samples = tuple(sample for sample in every if not sample.row.control)
    headline, repeated = _headline(facts, blocks)
    pool = [sentence for sentence in sentences(blocks) if sentence != repeated]
    pool += [sentence for name in facts for sentence in _findings(name, facts[name], titles[name])]
    warnings = [
        Sentence(name, titles[name], words, name, 0.0) for name in facts for words in facts[name].get("warnings", ())
    ]
    controls = [sample for sample in every if sample.row.control and sample.causes]
    warnings += [Sentence("", each.name, of_control(each), each.causes[0].section, 0.0) for each in controls]
    missing = [tuple(pair) for section in facts.values() for pair in section.get("not_measured", ())]
    study = study or {}
    reasons = _by_reason([*missing, *study.get("not_measured", {}).items()])
    if not headline or _fails_elsewhere(blocks, repeated, samples):
        headline = _differing(samples, headline)
    return Front(
        headline,
        samples,
        blocks,
        tuple(chosen(pool)),
        titles,
        facts,
        tuple(warnings),
        reasons,
        tuple(study.get("notes", ())),
    )


def _headline(facts: Mapping[str, JsonObject], blocks: Sequence[Block]) -> tuple[str, Sentence | None]:
    """The headline of the first experiment that has one or compares samples, and the sentence that it repeats."""
    for name, section in facts.items():
        headline, repeated = (section["headline"], None) if section.get("headline") else headline_of(blocks, name)
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
    causes = [cause.measure for sample in samples if best and sample.row.label == best for cause in sample.causes]
    return any(cause != measure for cause in causes)


def _differing(samples: Sequence[Judged], headline: str) -> str:
    """How many samples differ from real text, followed by a headline about one measure, if there is one."""
    with_tests = [sample for sample in samples if sample.tests]
    differ = sum(bool(sample.causes) for sample in with_tests)
    if not with_tests:
        return headline
    total = len(with_tests)
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


def _findings(name: str, section: JsonObject, title: str) -> list[Sentence]:
    """The findings that say more than scores do: those with a strength; all findings, if there are no scores."""
    findings = [(each["about"], each["says"], float(each["strength"])) for each in section.get("findings", ())]
    return [
        Sentence(name, f"{title}, {about}" if about else title, says, name, strength)
        for about, says, strength in findings
        if strength > 0 or not section.get("card")
    ]
