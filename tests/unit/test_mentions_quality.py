"""What is measured of a resolver: who are people, which pronouns are right, counts by document, and their summary."""

import numpy as np
import pytest

from textcritic.errors import TextcriticError
from textcritic.latents.resolvers.given import GivenResolver
from textcritic.latents.resolvers.language import load_language
from textcritic.latents.resolvers.mention import Mention, Resolved, Unresolved
from textcritic.latents.resolvers.people import people_of
from textcritic.latents.resolvers.quality import (
    PRONOUN_COUNTS,
    QUALITY_SCHEMA,
    measure_resolver,
    pronoun_counts,
    same,
    summary_of,
)

ENGLISH = load_language("en")


def document(text, identifier="a", person=None):
    """A text with mentions as `[words:entity]`, which may nest; a head may be marked by `*`."""
    plain, mentions, stack = "", [], []
    for sign in text:
        if sign == "[":
            stack.append([len(plain), None])
        elif sign == "*":
            stack[-1][1] = len(plain)
        elif sign == "]":
            (start, head), colon = stack.pop(), plain.rindex(":")
            entity, plain = int(plain[colon + 1 :]), plain[:colon]
            begin = max(plain.rfind(" ") + 1, start) if head is None else head
            end = plain.find(" ", begin) if " " in plain[begin:] else len(plain)
            mentions.append(Mention(start, len(plain), begin, end, entity, 0, person))
        else:
            plain += sign
    return Resolved(identifier, plain, ((0, len(plain)),), tuple(sorted(mentions, key=lambda m: (m.start, -m.end))))


def test_the_helper_of_these_tests():
    made = document("[the *man in [the hat:1]:0] and [he:0]")
    assert made.text == "the man in the hat and he"
    shown = [(made.text[m.start : m.end], made.text[m.head_start : m.head_end], m.entity) for m in made.mentions]
    assert shown == [("the man in the hat", "man", 0), ("the hat", "hat", 1), ("he", "he", 0)]


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("[Ahab:0] said that [he:0] saw [the ship:1] and [it:1] saw [them:2]", {0}),
        ("[Mrs. Todd:0] , [John Thornton:1] , [the old man:2] , [London:3] , [John 's house:4]", {0, 1, 2}),
        ("[you:0] and [we:1] and [They:2] and [I:3]", {0, 1, 3}),
        ("[the baby:0] cried and [it:0] slept ; [his mother:1] did not", {1}),
        ("[captain:0] of [a *ship:1]", {0}),
        ("[Gordon 's Diary:0] , [Captain *Ludwig van Dyke of Ghent:1] , [Saint *Petersburg:2]", {1, 2}),
        ("[king 's evil:0] [The Lord of [the Rings:1]:2]", set()),
    ],
)
def test_who_is_people_by_the_words(text, people):
    assert people_of(document(text), ENGLISH) == people


def test_what_the_resolver_says_goes_before_the_words():
    assert people_of(document("[she:0] [Rex:1]", person=False), ENGLISH) == set()
    assert people_of(document("[London:0] [London:0]", person=True), ENGLISH) == {0}


KEY = "[I:9] saw [*Anna , queen of [Spain:1]:0] . [She:0] met [Bob:2] ; [he:2] and [her:0] dog left . [They:3] slept ."


def counts(key, response):
    key = document(key)
    values = pronoun_counts(key, document(response), people_of(key, ENGLISH), ENGLISH)
    return dict(zip(PRONOUN_COUNTS, values.tolist(), strict=True))


def test_pronouns_by_the_nearest_name_before_them():
    measured = counts(
        KEY,
        "I saw [Anna:5] , queen of [Spain:1] . [She:5] met [Bob:2] ; [he:2] and [her:2] dog left . [They:2] slept .",
    )
    assert measured == {
        "pronouns_third_right": 2,
        "pronouns_third_of": 3,
        "pronouns_third_unnamed": 0,
        "pronouns_all_right": 2,
        "pronouns_all_of": 3,
        "pronouns_all_unnamed": 1,
    }


def test_the_name_that_counts_is_the_last_one_before_the_pronoun():
    key = "[Anna:0] met [Bob:1] ; [he:1] left [her:0] ; [Anna:0]"
    assert counts(key, "[Anna:0] met [Bob:0] ; [he:0] left [her:0] ; [Anna:0]")["pronouns_third_right"] == 1
    assert counts(key, "Anna met Bob ; [he:0] left [her:1] ; [Anna:1]")["pronouns_third_right"] == 0
    assert counts(key, key)["pronouns_third_right"] == 2


def test_a_pronoun_inside_its_own_name_does_not_name_itself():
    key = "[the man who lost [his:0] hat:0]"
    assert counts(key, key)["pronouns_third_of"] == 1
    assert counts("[*his wife:0] [his:1]", "his wife his")["pronouns_third_unnamed"] == 1


def test_mentions_are_the_same_by_span_or_by_heads_in_each_other():
    long, short, other = Mention(0, 20, 3, 8, 0, 0), Mention(3, 8, 3, 8, 1, 0), Mention(10, 14, 10, 14, 2, 0)
    assert same(long, short)
    assert same(short, long)
    assert not same(long, other)
    assert same(other, Mention(10, 14, 12, 14, 0, 0))


class Fixed:
    """Gives what it was made with."""

    def __init__(self, *found):
        self.found = found

    def resolve(self, documents):
        for (identifier, text), found in zip(documents, self.found, strict=True):
            assert (identifier, text) == (found.id, getattr(found, "text", text))
            yield found


TEXTS = [
    "[Anna:0] saw [London:1] ; [she:0] left [it:1] . [Bob:2] stayed .",
    "[Bob:0] saw [him:1] , [Tom:1] ; [he:0] left .",
    "[Ann:0] slept , [she:0] did .",
]


def test_the_annotation_itself_is_all_right():
    keys = [document(text, str(number)) for number, text in enumerate(TEXTS)]
    table = measure_resolver(Fixed(*keys), keys)
    assert table.schema == QUALITY_SCHEMA
    summary = summary_of(table, resamples=50)
    assert (summary["documents"], summary["given_up"]) == (3, 0)
    for part, mentions in (("whole", 11), ("people", 9)):
        assert summary[part]["key_mentions"] == summary[part]["response_mentions"] == mentions
        assert {name for name in summary[part] if name.endswith("f1")} == {
            f"{m}_f1" for m in ("mentions", "muc", "b3", "ceafe")
        }
        for name in ("mentions_f1", "muc_recall", "b3_precision", "ceafe_f1", "conll"):
            assert summary[part][name] == {"value": 1, "low": None, "high": None}
    assert summary["pronouns"]["third"] == {"value": 1, "low": None, "high": None, "n": 3, "unnamed": 1}


def test_singletons_count_only_where_people_marked_them():
    key = document("[Anna:0] saw [Bob:1] ; [she:0] left .")
    response = document("[Anna:0] saw [Bob:1] ; [she:0] left [.:3]")
    column = "whole_ceafe_precision_of"
    assert measure_resolver(Fixed(response), [key])[column].to_pylist() == [3]
    table = measure_resolver(Fixed(response), [key], singletons=False)
    assert table[column].to_pylist() == [1]
    assert summary_of(table, 10)["whole"]["conll"]["value"] == 1


def test_a_text_that_was_given_up_counts_as_nothing_found(tmp_path):
    keys = [document(text, str(number)) for number, text in enumerate(TEXTS)]
    (tmp_path / "m.jsonl").write_text('{"id": "1", "mentions": [{"start": 0, "end": 3, "entity": 0}]}\n')
    table = measure_resolver(GivenResolver([tmp_path / "m.jsonl"]), keys)
    assert table["why"].to_pylist() == ["no mentions given", None, "no mentions given"]
    summary = summary_of(table, resamples=50)
    assert summary["given_up"] == 2
    assert summary["whole"]["mentions_recall"]["value"] == 1 / 11
    assert summary["whole"]["mentions_precision"]["value"] == 1


def test_no_documents():
    with pytest.raises(TextcriticError):
        summary_of(measure_resolver(Fixed(), []))


def test_counts_are_sums_over_documents():
    keys = [document(text, str(number)) for number, text in enumerate(TEXTS)]
    responses = [keys[0], Unresolved("1", "no reason"), document("[Ann:0] slept , [she:1] did .", "2")]
    table = measure_resolver(Fixed(*responses), keys)
    right, of = (np.sum(table[f"pronouns_third_{part}"].to_pylist()) for part in ("right", "of"))
    assert summary_of(table, 20)["pronouns"]["third"]["value"] == right / of == 1 / 3
