"""What an annotator is given: balanced over samples, reserved for a while, and never nothing."""

import json
from collections import Counter
from datetime import timedelta

import pytest

from annotation.campaigns import made_campaign, open_store
from textcritic.annotation import steps
from textcritic.annotation.admin import _annotators
from textcritic.annotation.answers import ATTENTION, TASK, TRAINING, RealSource, read_answers
from textcritic.annotation.export import csv_text, export, write_export
from textcritic.annotation.links import add_annotator
from textcritic.annotation.steps import Campaign
from textcritic.annotation.store import now

pytestmark = pytest.mark.annotation
NONE = {"texts": 0, "pass": 0, "rounds": 1}


@pytest.fixture
def campaign(tmp_path, request):
    """A campaign without training and checks, unless a test says otherwise."""
    options = {"training": NONE, "attention": 0} | getattr(request, "param", {})
    made_campaign(tmp_path, **options)
    with open_store(tmp_path) as store:
        yield Campaign(store)


def annotator(campaign, pilot=False):
    with campaign.store.transaction():
        who = add_annotator(campaign.store, pilot, None)
    steps.consent(campaign, who)
    steps.begin(campaign, who, now())
    return who


def whole(work, title="summary", coherent=True):
    return {"titles": [title] * len(work.texts), "coherent": coherent}


def answer_next(campaign, who, at=None, answer=None):
    work = steps.next_step(campaign, who, at or now()).work
    assert steps.save_answer(campaign, who, work.item, answer or whole(work), f"{who} {work.place}", at or now())
    return work


def with_options(**options):
    return pytest.mark.parametrize("campaign", [options], indirect=True)


def source_of(campaign, work):
    return campaign.store.value("SELECT source FROM item WHERE id = ?", work.item)


def test_every_annotator_gets_the_samples_in_turn_and_no_text_twice(campaign):
    orders = set()
    for _ in range(6):
        who = annotator(campaign)
        works = [answer_next(campaign, who) for _ in range(4)]
        sources = [source_of(campaign, work) for work in works]
        assert set(Counter(sources[:2]).values()) == set(Counter(sources[2:]).values()) == {1}
        assert len({work.item for work in works}) == 4
        assert [work.place for work in works] == [1, 2, 3, 4]
        orders.add(tuple(work.item for work in works))
        assert steps.next_step(campaign, who, now()).page == steps.DONE
    assert len(orders) > 1


@with_options(overlap={"share": 0.5, "answers": 3}, per_annotator=12)
def test_overlap_is_kept_and_nobody_comes_too_late(campaign):
    people = [annotator(campaign) for _ in range(3)]
    for _ in range(8):  # 24 answers are wanted: of six texts three, of six one
        for who in people:
            answer_next(campaign, who)
    counts = Counter(row.item for row in export(campaign.store).rows)
    wanted = {row["id"]: row["wanted"] for row in campaign.store.rows("SELECT id, wanted FROM item")}
    assert sorted(wanted.values()) == [1] * 6 + [3] * 6
    assert sum(counts.values()) == 24
    late = annotator(campaign)
    assert [answer_next(campaign, late).place for _ in range(12)] == list(range(1, 13))
    assert steps.next_step(campaign, late, now()).page == steps.DONE


@with_options(per_annotator=12, overlap={"share": 0, "answers": 2})
def test_a_reserved_text_is_given_to_nobody_else_until_it_expires(campaign):
    start = now()
    slow, quick = annotator(campaign), annotator(campaign)
    held = steps.next_step(campaign, slow, start).work.item
    for _ in range(11):
        assert answer_next(campaign, quick, start).item != held
    later = start + timedelta(minutes=91)
    assert steps.next_step(campaign, quick, later).work.item == held
    # Whoever comes back still has the text, and the answer counts.
    assert steps.next_step(campaign, slow, later).work.item == held
    assert answer_next(campaign, slow, later).item == held


def test_a_text_that_is_shown_again_is_the_same_with_what_was_chosen(campaign):
    who = annotator(campaign)
    work = steps.next_step(campaign, who, now()).work
    assert work.answer is None
    steps.save_draft(campaign, who, work.item, {"titles": [None] * len(work.texts), "coherent": False})
    again = steps.next_step(campaign, who, now()).work
    assert (again.item, again.answer["coherent"]) == (work.item, False)


def test_a_request_counts_once_and_the_last_answer_can_be_changed(campaign):
    who = annotator(campaign)
    first = steps.next_step(campaign, who, now()).work
    assert steps.save_answer(campaign, who, first.item, whole(first), "one", now())
    assert not steps.save_answer(campaign, who, first.item, whole(first, coherent=False), "one", now())
    assert [row.answer.coherent for row in export(campaign.store).rows] == [True]
    assert steps.last_answer(campaign, who).item == first.item
    assert steps.save_answer(campaign, who, first.item, whole(first, coherent=False), "two", now())
    assert [row.answer.coherent for row in export(campaign.store).rows] == [False]
    second = answer_next(campaign, who)
    # Only the last one: the first is behind it now.
    with pytest.raises(steps.GoneOnError):
        steps.save_answer(campaign, who, first.item, whole(first), "three", now())
    with pytest.raises(steps.GoneOnError):
        steps.save_draft(campaign, who, first.item, whole(first))
    assert steps.last_answer(campaign, who).item == second.item
    stranger = steps.next_step(campaign, annotator(campaign), now()).work.item
    own = {row["item"] for row in campaign.store.rows("SELECT item FROM assignment WHERE annotator = ?", who)}
    assert {first.item, second.item} <= own
    assert (steps.work_of(campaign, who, stranger) is None) == (stranger not in own)


@with_options(training={"texts": 2, "pass": 0.6, "rounds": 2})
def test_training_is_passed_repeated_or_ended(campaign):
    def train(who, right):
        for _ in range(2):
            work = steps.next_step(campaign, who, now()).work
            assert work.phase == TRAINING
            said = work.right if right else {"titles": ["notes"] * len(work.texts), "coherent": True}
            answer_next(campaign, who, answer=said)
            assert steps.next_step(campaign, who, now()).page == steps.FEEDBACK
            steps.feedback_seen(campaign, who, now())
        return steps.next_step(campaign, who, now())

    good, slow, bad = annotator(campaign), annotator(campaign), annotator(campaign)
    assert train(good, right=True).page == steps.AT_TASK
    assert train(slow, right=False).page == steps.AT_TRAINING
    assert train(slow, right=True).page == steps.AT_TASK
    assert train(bad, right=False).page == steps.AT_TRAINING
    assert train(bad, right=False).page == steps.FAILED
    assert len({row.item for row in export(campaign.store).rows if row.annotator == slow}) == 4
    assert steps.training_share(campaign, good, 0) == 1


@with_options(attention=2)
def test_checks_are_among_the_texts_and_are_marked(campaign):
    places = set()
    for _ in range(8):
        who = annotator(campaign)
        works = [answer_next(campaign, who) for _ in range(6)]
        assert Counter(work.phase for work in works) == {TASK: 4, ATTENTION: 2}
        places |= {work.place for work in works if work.phase == ATTENTION}
        check = next(work for work in works if work.phase == ATTENTION)
        assert campaign.task.passes(check.right, check.right)
        assert all(title in text for title, text in zip(check.right["titles"], check.texts, strict=True))
    assert len(places) > 2


def test_answers_of_a_pilot_never_mix_in(campaign):
    trial, real = annotator(campaign, pilot=True), annotator(campaign)
    for _ in range(4):
        answer_next(campaign, trial)
    answer_next(campaign, real)
    assert {row.annotator for row in export(campaign.store).rows} == {real}
    assert {row.annotator for row in export(campaign.store, pilot=True).rows} == {trial}
    assert all(row.pilot for row in export(campaign.store, pilot=True).rows)


@with_options(per_annotator=12, overlap={"share": 0, "answers": 2})
def test_a_pilot_uses_up_no_texts(campaign):
    trial, real = annotator(campaign, pilot=True), annotator(campaign)
    for who in (trial, real):
        assert len({answer_next(campaign, who).item for _ in range(12)}) == 12
    assert {row["state"] for row in campaign.store.rows("SELECT state FROM annotator")} == {"done"}


def test_a_clock_that_goes_back_stops_no_export(campaign, tmp_path):
    who, noon = annotator(campaign), now()
    for hours in (0, -72, 1, -1):
        work = steps.next_step(campaign, who, noon).work
        assert steps.save_answer(campaign, who, work.item, whole(work), work.item, noon + timedelta(hours=hours))
    write_export(campaign.store, tmp_path / "answers.jsonl")
    rows = read_answers(tmp_path / "answers.jsonl").rows
    assert [row.order for row in rows] == [1, 2, 3, 4]
    assert [row.clock_back for row in rows] == [False, True, False, True]
    assert [row.answered == row.started for row in rows] == [False, True, False, True]
    assert (tmp_path / "answers.jsonl").read_text().count("clock_back") == 2
    assert [line.rpartition(",")[2] for line in csv_text(export(campaign.store)).splitlines()[1:3]] == ["False", "True"]
    (row,) = _annotators(campaign)
    assert float(row["minutes"]) >= 0


def test_the_export_says_who_wrote_each_text_and_when_it_was_answered(campaign):
    who = annotator(campaign)
    works = [answer_next(campaign, who) for _ in range(4)]
    rows = export(campaign.store).rows
    assert [row.item for row in rows] == [work.item for work in works]
    assert Counter(isinstance(row.source, RealSource) for row in rows) == {True: 2, False: 2}
    assert {row.source.generator for row in rows if not isinstance(row.source, RealSource)} == {"theirs"}
    assert all(row.started <= row.answered for row in rows)
    (version,) = {row.consent_version for row in rows}
    assert export(campaign.store).header.consent[version].startswith("You are invited")
    assert json.loads(campaign.store.value("SELECT value FROM about WHERE key = 'withdrawn'")) == 0
