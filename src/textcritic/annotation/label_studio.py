"""Label Studio's JSON (version 1.23): a list of tasks with annotations, and the labelling interface that fits it."""

import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from xml.sax.saxutils import quoteattr

from textcritic.annotation import exchange
from textcritic.annotation.answers import INTRUDER, read_time
from textcritic.annotation.exchange import OURS, Item, Reading
from textcritic.errors import TextcriticError
from textcritic.files import write_text
from textcritic.values import JsonObject

ASKED = "question"


def write_label_studio(path: Path, items: Iterable[Item]) -> list[Path]:
    """Write tasks with their answers, and next to them the interface, in `.xml`; returns both files.

    Who wrote a text is in `meta`, which is not among the columns that annotators see.
    """
    items = list(items)
    interface = path.with_suffix(".xml")
    write_text(path, json.dumps([_task(item) for item in items], ensure_ascii=False, indent=1) + "\n")
    write_text(interface, interface_of(items[0].header))
    return [path, interface]


def interface_of(header: JsonObject) -> str:
    """The labelling interface: the parts, each with a choice of its type, and the question."""
    if header["task"] == INTRUDER:
        choice, asked, options = "", exchange.INTRUDED, ' value="$choices" layout="vertical"/>'
    else:
        titles = "".join(f"<Choice value={quoteattr(title)}/>" for title in header["titles"])
        name, part = exchange.TYPE.format("{{idx}}"), "part_{{idx}}"
        choice = f'<Choices name="{name}" toName="{part}" showInLine="true" required="true">{titles}</Choices>\n    '
        asked, verdicts = exchange.COHERENT, "".join(f'<Choice value="{verdict}"/>' for verdict in exchange.VERDICTS)
        options = f">{verdicts}</Choices>"
    return f"""<View>
  <Repeater on="$parts" indexFlag="{{{{idx}}}}">
    <View><Text name="part_{{{{idx}}}}" value="$parts[{{{{idx}}}}].text"/>
    {choice}</View>
  </Repeater>
  <Text name="{ASKED}" value="${ASKED}"/>
  <Choices name="{asked}" toName="{ASKED}" required="true"{options}
</View>
"""


def read_label_studio(path: Path, campaign: str | None) -> Reading:
    """Read tasks with answers, as Label Studio's export "JSON" has them.

    Raises:
        TextcriticError: the file is no such export, or a task is not as `exchange` says.
    """
    try:
        tasks = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, RecursionError, ValueError) as error:
        raise TextcriticError(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(tasks, list):
        raise TextcriticError(f"{path}: should be a list of tasks; choose the format JSON in Label Studio's export")
    reading = Reading(campaign)
    for number, task in enumerate(tasks, start=1):
        where = f"{path}: task {number}"
        if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
            raise TextcriticError(f"{where}: no `data`; choose the format JSON, not JSON-MIN, in Label Studio's export")
        item = exchange.item_from(task["data"], (task.get("meta") or {}).get(OURS), campaign, where)
        for place, annotation in enumerate(task.get("annotations") or [], start=1):
            try:
                _add(reading, item, annotation, f"{where}: annotation {place}")
            except exchange.BROKEN as error:
                raise TextcriticError(
                    f"{where}: annotation {place}: not as Label Studio writes it: {error!r}"
                ) from error
    return reading


def _add(reading: Reading, item: Item, annotation: JsonObject, where: str) -> None:
    if annotation.get("was_cancelled"):
        reading.left_out["skipped"] += 1
        return
    results = [one for one in annotation.get("result") or [] if one.get("type") == "choices"]
    chosen = {one["from_name"]: one["value"]["choices"][0] for one in results if one["value"]["choices"]}
    reading.add(item, chosen, _own(annotation, results, where), where)


def _own(annotation: JsonObject, results: Iterable[JsonObject], where: str) -> JsonObject:
    for one in results:
        if own := (one.get("meta") or {}).get(OURS):
            return dict(own)
    who = annotation.get("completed_by")
    who = who.get("id") if isinstance(who, dict) else who
    answered = read_time(str(annotation.get("created_at")), f"{where}: `created_at`").timestamp()
    return exchange.outside(f"label-studio-{who}", answered - (annotation.get("lead_time") or 0), answered)


def _task(item: Item) -> JsonObject:
    data = {"item": item.about["item"], ASKED: item.header[ASKED], "parts": [{"text": text} for text in item.parts]}
    if item.header["task"] == INTRUDER:
        places = [exchange.option_of(place) for place in range(1, len(item.parts))]
        data["choices"] = [{"value": option} for option in (*places, exchange.ALL_BELONG)]
    return {
        "data": data,
        "meta": {OURS: exchange.known_of(item)},
        "annotations": [_annotation(answer) for answer in item.answers],
    }


def _annotation(answer: JsonObject) -> JsonObject:
    started, answered = (datetime.fromisoformat(answer[key]) for key in ("started", "answered"))
    results: list[JsonObject] = []
    for name, option in exchange.names_of(answer["answer"]).items():
        to = name.replace("type_", "part_") if name.startswith("type_") else ASKED
        result = {"id": name, "from_name": name, "to_name": to, "type": "choices", "origin": "manual"}
        results.append(result | {"value": {"choices": [option]}, "meta": {OURS: exchange.own_of(answer)}})
    times = {"created_at": answer["answered"], "updated_at": answer["answered"]}
    return {"result": results, "was_cancelled": False, "lead_time": (answered - started).total_seconds(), **times}
