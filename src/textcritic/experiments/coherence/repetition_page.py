"""The report's section of articles that repeat a section: what its template shows."""

from typing import Any

from textcritic.report.inputs import Study
from textcritic.report.numbers import percent
from textcritic.report.repetition_examples import EXAMPLES, Example, repetition_examples
from textcritic.report.repetition_sheets import chance, said, shortened
from textcritic.report.sources import Names

SHOWN_CHARACTERS = 700  # of a section's text
GOLDEN_ANGLE, FIRST_HUE = 137.508, 205


def repetitions_section(study: Study, names: Names) -> dict[str, Any] | None:
    """What the template shows: the sources that have examples, each with its articles; None if there are none.

    Raises:
        TextcriticError: see `repetition_examples`.
    """
    examples = repetition_examples(study)
    if not examples:
        return None
    titles = sorted({section.title for example in examples for section in example.sections})
    hues = {title: round((index * GOLDEN_ANGLE + FIRST_HUE) % 360) for index, title in enumerate(titles)}
    by_source: dict[str, list[Example]] = {}
    for example in examples:
        by_source.setdefault(names.source(example.keys), []).append(example)
    sources = [_source(str(n), label, found, hues) for n, (label, found) in enumerate(by_source.items())]
    words = (
        f"Of each sample up to {EXAMPLES} whole articles, chosen by the numbers alone: first those whose two sections "
        "are surely of their type and no copies of each other, in short articles. Texts are shortened here; the whole "
        "ones are in repetitions.csv."
    )
    return {"words": words, "sources": sources, "pickers": [{"key": s["key"], "label": s["label"]} for s in sources]}


def _source(key: str, label: str, examples: list[Example], hues: dict[str, int]) -> dict[str, Any]:
    shown = [{"key": f"{key}-{n}", **_example(example, hues)} for n, example in enumerate(examples)]
    choices = [
        {"key": entry["key"], "label": f"{n}: {example.title}"}
        for n, (entry, example) in enumerate(zip(shown, examples, strict=True), start=1)
    ]
    return {"key": key, "label": label, "examples": shown, "choices": choices}


def _example(example: Example, hues: dict[str, int]) -> dict[str, Any]:
    sections = [
        {
            "title": section.title,
            "hue": hues[section.title],
            "sure": "" if section.posterior is None else percent(section.posterior),
            "text": shortened(section.text, SHOWN_CHARACTERS),
            "repeated": place in (example.place - 1, example.place),
            "again": chance(example.probability) if place == example.place else "",
        }
        for place, section in enumerate(example.sections)
    ]
    return {"words": f"{said(example)} Article {example.article}.", "unlikely": example.unlikely, "sections": sections}
