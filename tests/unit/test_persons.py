"""The resolver `persons` and its baseline: a rule each on a short text, and what holds for any text."""

import pytest

from textcritic.latents.mentions import Resolved
from textcritic.latents.mentions.nearest import nearest_resolver
from textcritic.latents.mentions.persons import persons_resolver

PERSONS, NEAREST = persons_resolver({"language": "en"}), nearest_resolver({})


def resolved(text, resolver=PERSONS):
    (result,) = resolver.resolve([("a", text)])
    assert isinstance(result, Resolved)
    return result


def entities(text, resolver=PERSONS):
    """The texts of the mentions of each entity."""
    result = resolved(text, resolver)
    found = {}
    for mention in result.mentions:
        found.setdefault(mention.entity, []).append(text[mention.start : mention.end])
    return [found[entity] for entity in sorted(found)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("John met Mary. He liked her.", [["John", "He"], ["Mary", "her"]]),
        ("Mr. Darcy met Mrs. Long. She saw his dog.", [["Mr. Darcy", "his"], ["Mrs. Long", "She"]]),
        ("Mary saw herself. John saw himself.", [["Mary", "herself"], ["John", "himself"]]),
        ("Fitzwilliam Darcy came. Mr. Darcy left. Darcy slept.", [["Fitzwilliam Darcy", "Mr. Darcy", "Darcy"]]),
        ("Mr. Bennet spoke. Mrs. Bennet wept.", [["Mr. Bennet"], ["Mrs. Bennet"]]),
        ("Tom left. Thomas came back.", [["Tom", "Thomas"]]),
        ("The king sat down. He slept.", [["The king", "He"]]),
        ("A boy saw a boy.", [["A boy"], ["a boy"]]),
        ("John went to London in March. It rained. He slept.", [["John", "He"]]),
        ("Suddenly it rained. Winter came.", []),
        ("", []),
        ("Mary", [["Mary"]]),
        ("it", []),
        ("I told you. Thou hast thy reward.", []),
        ("She slept.", [["She"]]),
    ],
)
def test_rules(text, expected):
    assert entities(text) == expected


def test_the_baseline_takes_the_nearest_name():
    assert entities("John met Mary. He liked her.", NEAREST) == [["John"], ["Mary", "He", "her"]]
    assert entities("He met Mary. She slept.", NEAREST) == [["He"], ["Mary", "She"]]
