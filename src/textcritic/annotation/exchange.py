"""What Label Studio and Potato exchange with us: texts with answers, one item a task.

Our data are in every item under `textcritic`, so that they come back whole: `header` as in an export, and `about`, the
text. Further data of an answer (`own`) are kept where both programs leave them alone. Files that we did not make have
`document`, `source` and `parts` in the data of an item.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from textcritic.annotation.answers import (
    FORMAT,
    INTRUDER,
    SECTIONS,
    TASK,
    VERSION,
    Answers,
    answers_of,
    lines_of,
    record_of,
    text_hash,
)
from textcritic.annotation.export import export
from textcritic.annotation.store import Store
from textcritic.annotation.tasks import Choice
from textcritic.errors import TextcriticError
from textcritic.values import JsonObject

OURS = "textcritic"
ABOUT = ("item", "document", "source", "sha256", "phase", "right")
OWN = ("annotator", "order", "pilot", "started", "answered", "consent_version")
COHERENT, INTRUDED, TYPE = "coherent", "intruder", "type_{}"
"""Names of what is asked: the verdict, the sentence, the type of the section of this number, from 0 on."""
VERDICTS = {"yes": True, "no": False}
ALL_BELONG = "all sentences belong"
BROKEN = (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError)
"""Errors when a file is not in the form in which the other program writes it."""
OUTSIDE = "outside"
"""The version of a consent that was given in another program."""


@dataclass(frozen=True, slots=True)
class Item:
    """A text, with all its data.

    Attributes:
        header: the first line of an export.
        about: `ABOUT` of an answer.
        parts: sections or sentences, as they are shown.
        answers: each with `OWN` and `answer`.
    """

    header: JsonObject
    about: JsonObject
    parts: Sequence[str]
    answers: Sequence[JsonObject]


@dataclass(slots=True)
class Reading:
    """Answers that are being read: lines of an export in the making, and how many were left out, by reason."""

    campaign: str | None
    header: JsonObject | None = None
    lines: list[tuple[str, JsonObject]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, item: Item, chosen: Mapping[str, str], own: JsonObject, where: str) -> None:
        """Add what was chosen by name; an answer that is not whole is left out."""
        for key in OWN:
            kind = {"order": int, "pilot": bool}.get(key, str)
            if not isinstance(own.get(key, 1 if key == "order" else None), kind):
                raise TextcriticError(f"{where}: `{key}` of the answer is missing or of another type")
        if self.header is None:
            self.header = dict(item.header)
        answer = answer_of(self.header["task"], chosen, len(item.parts))
        if answer is None:
            self.left_out["not whole"] += 1
            return
        if "titles" in answer:
            new = [title for title in answer["titles"] if title not in self.header["titles"]]
            self.header["titles"] = [*self.header["titles"], *dict.fromkeys(new)]
        if own["consent_version"] == OUTSIDE:
            self.header["consent"] = {**self.header.get("consent", {}), OUTSIDE: "given in another program"}
        same = {key: self.header[key] for key in ("campaign", "task")}
        self.lines.append((where, same | dict(item.about) | dict(own) | {"answer": answer}))

    def answers(self, path: str) -> Answers:
        """All that was read, checked as an export is.

        Raises:
            TextcriticError: there is no answer, or one is not possible; the line names the file and the item.
        """
        if self.header is None or not self.lines:
            left_out = f" ({in_words(self.left_out)})" if self.left_out else ""
            raise TextcriticError(f"{path}: no whole answer in it{left_out}")
        places: Counter[str] = Counter()
        for _, line in sorted(self.lines, key=lambda pair: str(pair[1]["answered"])):
            places[line["annotator"]] += 1
            line.setdefault("order", places[line["annotator"]])
        ordered = sorted(self.lines, key=lambda pair: (pair[1]["annotator"], pair[1]["order"]))
        return answers_of([(path, self.header), *ordered], path)


def in_words(left_out: Mapping[str, int]) -> str:
    """`reason n, ...`."""
    return ", ".join(f"{reason} {number:,}" for reason, number in left_out.items())


def items_of(store: Store, pilot: bool = False) -> Iterator[Item]:
    """All texts of a campaign, answered or not, in the order of their random ids."""
    answers = export(store, pilot)
    header = json.loads(next(lines_of(answers)))
    records: dict[str, list[JsonObject]] = {}
    for row in answers.rows:
        records.setdefault(row.item, []).append(record_of(answers.header, row))
    for text in store.rows("SELECT * FROM item ORDER BY id"):
        right = text["right_answer"] and json.loads(text["right_answer"])
        about = {"item": text["id"], "document": text["document"], "source": json.loads(text["source"])}
        about |= {"sha256": text["sha256"], "phase": text["phase"], "right": right}
        kept = (*OWN, "clock_back", "answer")
        given = [{key: record[key] for key in kept if key in record} for record in records.get(text["id"], [])]
        yield Item(header, about, json.loads(text["texts"]), given)


def item_from(data: JsonObject, ours: object, campaign: str | None, where: str) -> Item:
    """A text from the data of an item, with what we wrote about it, if we did.

    Args:
        data: of the item.
        ours: the value under `textcritic`, or None.
        campaign: the name for answers that are not from a campaign of ours.
        where: what the error line begins with.

    Raises:
        TextcriticError: a key is missing, or the text is not the one that we wrote.
    """
    parts = data.get("parts")
    if not isinstance(parts, list) or not parts:
        raise TextcriticError(f"{where}: `parts` is missing; it should be the list of the sections or sentences")
    every = [part.get("text") if isinstance(part, dict) else part for part in parts]
    texts = [text for text in every if isinstance(text, str)]
    if len(texts) < len(every):
        raise TextcriticError(f"{where}: `parts` should be a list of strings, or of objects with `text`")
    if isinstance(ours, dict) and isinstance(ours.get("header"), dict) and isinstance(ours.get("about"), dict):
        item = Item(ours["header"], ours["about"], texts, ())
    else:
        item = _foreign(data, texts, campaign, where)
    if item.about.get("sha256") != text_hash(texts):
        raise TextcriticError(f"{where}: the text is not the one that was exported; the answers are about another")
    return item


def _foreign(data: JsonObject, texts: Sequence[str], campaign: str | None, where: str) -> Item:
    for key in ("document", "source"):
        if key not in data:
            raise TextcriticError(
                f"{where}: `{key}` is missing; it should say which text this is, and who wrote it, as in an export of"
                " `textcritic annotate`"
            )
    if campaign is None:
        raise TextcriticError(f"{where}: not from a campaign of textcritic; give it a name with --campaign")
    task = INTRUDER if data.get("task") == INTRUDER else SECTIONS
    header = {FORMAT: VERSION, "campaign": campaign, "task": task, "titles": [], "question": data.get("question", "")}
    about = {"item": str(data.get("item", data["document"])), "document": data["document"], "source": data["source"]}
    return Item(header, about | {"sha256": text_hash(texts), "phase": TASK, "right": None}, texts, ())


def known_of(item: Item) -> JsonObject:
    """What we write of a text under `textcritic`; `item_from` reads it."""
    return {"header": item.header, "about": item.about}


def own_of(answer: JsonObject) -> JsonObject:
    """What an answer of an item carries besides what was chosen; `Reading.add` reads it."""
    return {key: value for key, value in answer.items() if key != "answer"}


def names_of(answer: Choice) -> dict[str, str]:
    """What is chosen for an answer, by name."""
    if "intruder" in answer:
        return {INTRUDED: option_of(answer["intruder"])}
    types = {TYPE.format(n): title for n, title in enumerate(answer["titles"]) if title}
    return types | {COHERENT: "yes" if answer["coherent"] else "no"}


def option_of(intruder: int | None) -> str:
    """The option for a sentence, counted from 0, or for none."""
    return ALL_BELONG if intruder is None else f"sentence {intruder + 1}"


def answer_of(task: str, chosen: Mapping[str, str], parts: int) -> Choice | None:
    """The answer to a text of `parts` parts; None where something is missing."""
    if task == INTRUDER:
        options: dict[str, int | None] = {option_of(place): place for place in (None, *range(1, parts))}
        option = chosen.get(INTRUDED, "")
        return {"intruder": options[option]} if option in options else None
    titles = [chosen.get(TYPE.format(n)) for n in range(parts)]
    if None in titles or chosen.get(COHERENT) not in VERDICTS:
        return None
    return {"titles": titles, "coherent": VERDICTS[chosen[COHERENT]]}


def times_of(started: float, answered: float) -> dict[str, str]:
    """Two times in seconds since 1970, as an export has them."""
    ends = {"started": started, "answered": max(started, answered)}
    return {key: datetime.fromtimestamp(end, UTC).isoformat(timespec="milliseconds") for key, end in ends.items()}


def outside(annotator: str, started: float, answered: float) -> JsonObject:
    """`OWN` of an answer that was given in another program; its order follows from the times."""
    return {"annotator": annotator, "pilot": False, "consent_version": OUTSIDE, **times_of(started, answered)}
