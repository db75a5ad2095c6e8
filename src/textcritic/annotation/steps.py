"""What an annotator does next, and what was answered: consent, instructions, training, task, thanks.

Everything is read from the database at each request, so that an annotator who comes back, or whose server was killed,
continues after the last saved answer.
"""

import json
import random
import sqlite3
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import ceil
from typing import Any

from textcritic.annotation.answers import ATTENTION, TASK, TRAINING
from textcritic.annotation.store import Store, written
from textcritic.annotation.tasks import TASK_TYPES, Choice, Task
from textcritic.annotation.wording import Worded

INVITED, READY, AT_TRAINING, AT_TASK, DONE, FAILED = "invited", "ready", "training", "task", "done", "failed"
"""States of an annotator: before consent, before the first text, among the texts, behind them all; or not passed."""
FEEDBACK = "feedback"


@dataclass(frozen=True, slots=True)
class Work:
    """A text before an annotator.

    Attributes:
        item: its random id.
        place: among all that the annotator was given, from 1 on.
        phase: training, task or attention.
        texts: its sections or sentences.
        answer: what was chosen so far, or answered; None if nothing.
        answered: whether it was answered, and is to be changed.
        right: the right answer, if it is known.
        number, of: how far the annotator is in this phase, for the page.
    """

    item: str
    place: int
    phase: str
    texts: tuple[str, ...]
    answer: Choice | None
    answered: bool
    right: Choice | None
    number: int
    of: int


@dataclass(frozen=True, slots=True)
class Step:
    """The page that an annotator is to see: a state, or `FEEDBACK`; and the text, where there is one."""

    page: str
    work: Work | None = None


class GoneOnError(Exception):
    """A form of a text that the annotator has left behind: nothing was saved."""


class Campaign:
    """The entry of the registry that a database was made from, and what follows from it.

    `most_participants`: how many may come by links of Prolific: enough for all wanted answers, and a fifth more.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.name: str = store.about("campaign")
        self.entry = Worded.read(store.about("entry"), f"{store.path}: entry")
        self.titles: tuple[str, ...] = tuple(store.about("titles"))
        self.consent_version: str = store.about("consent_version")
        self.task: Task[Any] = TASK_TYPES[self.entry.task]
        self.attention = store.value("SELECT count(*) FROM item WHERE phase = ?", ATTENTION)
        items = store.value("SELECT count(*) FROM item WHERE phase = ?", TASK)
        texts = min(self.entry.per_annotator, items)
        self.quota = texts + self.attention
        wanted = store.value("SELECT coalesce(sum(wanted), 0) FROM item WHERE phase = ?", TASK)
        self.most_participants = ceil(1.2 * ceil(wanted / texts)) if texts else 0
        trainers = store.value("SELECT count(*) FROM item WHERE phase = ?", TRAINING)
        self.training_texts = min(self.entry.training.texts, trainers)


def next_step(campaign: Campaign, annotator: str, at: datetime) -> Step:
    """The page that an annotator is to see now; a text is chosen and reserved if a new one is due."""
    with campaign.store.transaction():
        return _next_step(campaign, annotator, at)


def consent(campaign: Campaign, annotator: str) -> None:
    """The annotator agrees to today's consent page; a second time changes nothing."""
    with campaign.store.transaction():
        campaign.store.change(
            "UPDATE annotator SET state = ?, consent_version = ? WHERE id = ? AND state = ?",
            *(READY, campaign.consent_version, annotator, INVITED),
        )


def begin(campaign: Campaign, annotator: str, at: datetime) -> None:
    """The annotator has read the instructions, and is given a text; a second time changes nothing."""
    state = AT_TRAINING if campaign.training_texts else AT_TASK
    with campaign.store.transaction():
        campaign.store.change("UPDATE annotator SET state = ? WHERE id = ? AND state = ?", state, annotator, READY)
        _next_step(campaign, annotator, at)


def feedback_seen(campaign: Campaign, annotator: str, at: datetime) -> None:
    """The annotator has read what was right in the last training text, and is given the next one."""
    with campaign.store.transaction():
        campaign.store.change(
            """UPDATE assignment SET seen = 1
            WHERE annotator = ? AND item IN (SELECT item FROM answer WHERE annotator = ?)""",
            *(annotator, annotator),
        )
        _next_step(campaign, annotator, at)


def save_answer(campaign: Campaign, annotator: str, item: str, answer: Choice, request: str, at: datetime) -> bool:
    """Save an answer, or change the last one; a request that was saved before counts once.

    Args:
        campaign: the campaign.
        annotator: who answers.
        item: the text that was shown.
        answer: whole.
        request: id of the page that was shown; sent a second time, it changes nothing.
        at: the time.

    Returns:
        Whether something was saved: not for a repeated request.

    Raises:
        GoneOnError: the text is neither the open one nor the last.
    """
    store = campaign.store
    with store.transaction():
        if store.row("SELECT 1 FROM request WHERE id = ?", request):
            return False
        may = [row["item"] for row in (_open(store, annotator), _last(store, annotator)) if row is not None]
        if item not in may:
            raise GoneOnError
        store.insert("request", ("id", "annotator"), [(request, annotator)])
        version = store.value("SELECT consent_version FROM annotator WHERE id = ?", annotator)
        store.change(
            """INSERT INTO answer VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET answer = excluded.answer, answered = excluded.answered""",
            *(annotator, item, json.dumps(answer, ensure_ascii=False), written(at), version),
        )
        store.change("UPDATE assignment SET draft = NULL WHERE annotator = ? AND item = ?", annotator, item)
        _next_step(campaign, annotator, at)  # here: a transaction costs several waits for the disk, the page none
        return True


def save_draft(campaign: Campaign, annotator: str, item: str, answer: Choice) -> None:
    """Keep what was chosen so far for a pause; an answer that was given stays as it is.

    Raises:
        GoneOnError: the text was answered.
    """
    with campaign.store.transaction():
        open_ = campaign.store.change(
            """UPDATE assignment SET draft = ? WHERE annotator = ? AND item = ? AND NOT EXISTS (
                SELECT 1 FROM answer WHERE answer.annotator = assignment.annotator AND answer.item = assignment.item
            )""",
            *(json.dumps(answer, ensure_ascii=False), annotator, item),
        )
        if not open_:
            raise GoneOnError


def last_answer(campaign: Campaign, annotator: str) -> Work | None:
    """The last text of the task that was answered, for a change; None if there is none."""
    row = _last(campaign.store, annotator)
    return None if row is None else _work(campaign, row)


def work_of(campaign: Campaign, annotator: str, item: str) -> Work | None:
    """A text that this annotator was given; None if it was given to others only, or to nobody."""
    rows = _assigned(campaign.store, annotator, "AND assignment.item = ?", item)
    return _work(campaign, rows[0]) if rows else None


def with_answer(work: Work, answer: Choice) -> Work:
    """A text with other choices than those that are saved."""
    return replace(work, answer=answer)


def training_share(campaign: Campaign, annotator: str, round_: int | None = None) -> float | None:
    """Share of right types in a round of training, or (None) in all rounds; None before the first answer."""
    rows = _assigned(campaign.store, annotator, "AND answer IS NOT NULL AND phase = ?", TRAINING)
    rows = [row for row in rows if round_ is None or row["round"] == round_]
    parts = [
        part
        for row in rows
        for part in campaign.task.right_parts(json.loads(row["answer"]), json.loads(row["right_answer"]))
    ]
    return sum(parts) / len(parts) if parts else None


def _next_step(campaign: Campaign, annotator: str, at: datetime) -> Step:
    store = campaign.store
    row = store.row("SELECT * FROM annotator WHERE id = ?", annotator)
    assert row is not None
    state: str = row["state"]
    if state == AT_TRAINING:
        answered = _assigned(store, annotator, "AND answer IS NOT NULL AND phase = ? AND seen = 0", TRAINING)
        if answered:
            return Step(FEEDBACK, _work(campaign, answered[-1]))
        if _count(store, annotator, "round = ?", row["round"]) >= campaign.training_texts:
            state = _after_training(campaign, annotator, row["round"])
    if state == AT_TASK and _count(store, annotator, "phase != ?", TRAINING) >= campaign.quota:
        store.change("UPDATE annotator SET state = ? WHERE id = ?", DONE, annotator)
        state = DONE
    if state not in (AT_TRAINING, AT_TASK):
        return Step(state)
    open_ = _open(store, annotator)
    if open_ is None:
        _assign(campaign, annotator, state, at)
        open_ = _open(store, annotator)
        assert open_ is not None
    if open_["until"] < _until(campaign, at - timedelta(minutes=1)):
        store.change(
            "UPDATE assignment SET until = ? WHERE annotator = ? AND item = ?",
            *(_until(campaign, at), annotator, open_["item"]),
        )
    return Step(state, _work(campaign, open_))


def _after_training(campaign: Campaign, annotator: str, round_: int) -> str:
    """The state behind a finished round: passed, another round, or neither."""
    training, store = campaign.entry.training, campaign.store
    passed = (training_share(campaign, annotator, round_) or 0) >= training.pass_
    fresh = store.value(
        "SELECT count(*) FROM item WHERE phase = ? AND id NOT IN (SELECT item FROM assignment WHERE annotator = ?)",
        *(TRAINING, annotator),
    )
    again = round_ + 1 < training.rounds and fresh >= campaign.training_texts
    state = AT_TASK if passed else AT_TRAINING if again else FAILED
    store.change("UPDATE annotator SET state = ?, round = round + 1 WHERE id = ?", state, annotator)
    return state


def _assign(campaign: Campaign, annotator: str, state: str, at: datetime) -> None:
    """Choose the next text and reserve it."""
    store = campaign.store
    given = _count(store, annotator, "phase != ?", TRAINING)
    places = random.Random(annotator).sample(range(campaign.quota), campaign.attention)
    round_ = -1
    if state == AT_TRAINING:
        item = random.choice(_unused(store, annotator, TRAINING))["id"]
        round_ = store.value("SELECT round FROM annotator WHERE id = ?", annotator)
    elif given in places:
        item = random.choice(_unused(store, annotator, ATTENTION))["id"]
    else:
        item = _balanced(store, annotator, at)
    place = store.value("SELECT count(*) FROM assignment WHERE annotator = ?", annotator) + 1
    store.insert(
        "assignment",
        ("annotator", "item", "place", "round", "until", "started"),
        [(annotator, item, place, round_, _until(campaign, at), written(at))],
    )


def _unused(store: Store, annotator: str, phase: str) -> list[sqlite3.Row]:
    """Texts that an annotator was not given, with how many more answers each wants."""
    return store.rows(
        """SELECT id, source, wanted FROM item
        WHERE phase = ? AND id NOT IN (SELECT item FROM assignment WHERE annotator = ?) ORDER BY id""",
        *(phase, annotator),
    )


def _balanced(store: Store, annotator: str, at: datetime) -> str:
    """A text at random, of the sample that the annotator was given the fewest texts of.

    A text that still wants answers, where the answers that it has and those that are reserved count. If no text does,
    one with the fewest: nobody who agreed to take part is sent away.
    """
    pilot = store.value("SELECT pilot FROM annotator WHERE id = ?", annotator)
    rows = store.rows(
        """SELECT assignment.item AS item, count(*) AS count FROM assignment
        JOIN annotator ON annotator.id = assignment.annotator
        LEFT JOIN answer ON answer.annotator = assignment.annotator AND answer.item = assignment.item
        WHERE pilot = ? AND (answer IS NOT NULL OR until > ?) GROUP BY assignment.item""",
        *(pilot, written(at)),
    )
    taken = {row["item"]: row["count"] for row in rows}
    unused = _unused(store, annotator, TASK)
    wanting = [row for row in unused if row["wanted"] > taken.get(row["id"], 0)]
    fewest = min(taken.get(row["id"], 0) for row in unused)
    choice = wanting or [row for row in unused if taken.get(row["id"], 0) == fewest]
    mine = Counter(row["source"] for row in _assigned(store, annotator, "AND phase = ?", TASK))
    least = min(mine[row["source"]] for row in choice)
    choice = [row for row in choice if mine[row["source"]] == least]
    source = random.choice(sorted({row["source"] for row in choice}))
    choice = [row for row in choice if row["source"] == source]
    missing = [max(1, row["wanted"] - taken.get(row["id"], 0)) for row in choice]
    chosen: str = random.choices(choice, missing)[0]["id"]
    return chosen


def _assigned(store: Store, annotator: str, also: str = "", *values: object) -> list[sqlite3.Row]:
    """What an annotator was given, in order, with text and answer."""
    return store.rows(
        f"""SELECT assignment.annotator AS annotator, assignment.item AS item, place, round, until, draft, phase,
            texts, source, answer, right_answer
        FROM assignment JOIN item ON item.id = assignment.item
        LEFT JOIN answer ON answer.annotator = assignment.annotator AND answer.item = assignment.item
        WHERE assignment.annotator = ? {also} ORDER BY place""",
        *(annotator, *values),
    )


def _count(store: Store, annotator: str, condition: str, *values: object) -> int:
    """How many texts of those that fulfil a condition an annotator has answered."""
    return len(_assigned(store, annotator, f"AND answer IS NOT NULL AND {condition}", *values))


def _open(store: Store, annotator: str) -> sqlite3.Row | None:
    """The text that an annotator was given and has not answered."""
    return next(iter(_assigned(store, annotator, "AND answer IS NULL")), None)


def _last(store: Store, annotator: str) -> sqlite3.Row | None:
    """The last text that was answered, behind the training."""
    rows = _assigned(store, annotator, "AND answer IS NOT NULL AND phase != ?", TRAINING)
    return rows[-1] if rows else None


def _until(campaign: Campaign, at: datetime) -> str:
    return written(at + timedelta(minutes=campaign.entry.reserve_minutes))


def _work(campaign: Campaign, row: sqlite3.Row) -> Work:
    training = row["phase"] == TRAINING
    chosen = row["answer"] or row["draft"]
    before = [
        other
        for other in _assigned(campaign.store, row["annotator"], "AND place < ?", row["place"])
        if (other["phase"] == TRAINING) is training and (not training or other["round"] == row["round"])
    ]
    return Work(
        item=row["item"],
        place=row["place"],
        phase=row["phase"],
        texts=tuple(json.loads(row["texts"])),
        answer=chosen and json.loads(chosen),
        answered=row["answer"] is not None,
        right=row["right_answer"] and json.loads(row["right_answer"]),
        number=len(before) + 1,
        of=campaign.training_texts if training else campaign.quota,
    )
