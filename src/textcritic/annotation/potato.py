"""Potato's folder (version 2.12): config.yaml, the items, and a user_state.json of each annotator."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

import yaml

from textcritic.annotation import exchange
from textcritic.annotation.answers import INTRUDER
from textcritic.annotation.exchange import COHERENT, INTRUDED, OURS, VERDICTS, Item, Reading
from textcritic.corpora.readers.jsonl import json_lines
from textcritic.errors import TextcriticError
from textcritic.files import write_text
from textcritic.values import JsonObject

CONFIG, ITEMS, OUTPUT, STATE = "config.yaml", "data/items.jsonl", "annotation_output", "user_state.json"
LABELS, BEHAVIOUR, KEPT = "instance_id_to_label_to_value", "instance_id_to_behavioral_data", "crowd_metadata"


def write_potato(folder: Path, items: Iterable[Item]) -> list[Path]:
    """Write a folder that `potato start` serves, with the answers that are there; returns its files.

    Who wrote a text is in the items' file, which annotators do not see.
    """
    items = list(items)
    files = {CONFIG: yaml.safe_dump(_config(items), sort_keys=False, allow_unicode=True)}
    files[ITEMS] = "".join(json.dumps(_line(item), ensure_ascii=False) + "\n" for item in items)
    for annotator, state in _states(items).items():
        files[f"{OUTPUT}/{annotator}/{STATE}"] = json.dumps(state, ensure_ascii=False, indent=1)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_text(folder / name, text)
    return [folder / name for name in files]


def read_potato(folder: Path, campaign: str | None) -> Reading:
    """Read the answers of a folder: its items by config.yaml, and what each annotator chose.

    Raises:
        TextcriticError: a file is missing or not as Potato writes it, or an item is not as `exchange` says.
    """
    config = _config_of(folder)
    items = dict(_items(folder, config, campaign))
    reading = Reading(campaign)
    for path in sorted(folder.glob(f"{config['output_annotation_dir']}/*/{STATE}")):
        try:
            state = json.loads(path.read_text(encoding="utf-8"))
            labels, seen = state[LABELS], state.get(BEHAVIOUR) or {}
            kept = (state.get(KEPT) or {}).get(OURS) or {}
            for item, pairs in labels.items():
                if item not in items:
                    reading.left_out["about another text"] += 1
                    continue
                options = [(label["schema"], {label["name"], str(value)}) for label, value in pairs]
                known = kept.get(item) or _own(str(state["user_id"]), seen.get(item) or {}, f"{path}: item {item}")
                reading.add(items[item], _chosen(options, items[item]), known, f"{path}: item {item}")
        except exchange.BROKEN as error:
            raise TextcriticError(f"{path}: not as Potato 2.12 writes it: {error!r}") from error
    return reading


def _config_of(folder: Path) -> JsonObject:
    path = folder / CONFIG
    try:
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise TextcriticError(f"{path}: cannot be read: {error}; give the folder of a project of Potato") from error
    for key in ("data_files", "output_annotation_dir"):
        if not isinstance(config, dict) or not config.get(key):
            raise TextcriticError(f"{path}: `{key}` is missing; give the folder of a project of Potato")
    return dict(config)


def _items(folder: Path, config: JsonObject, campaign: str | None) -> Iterator[tuple[str, Item]]:
    key = (config.get("item_properties") or {}).get("id_key", "id")
    for name in config["data_files"]:
        for number, line in json_lines(folder / name):
            where = f"{folder / name}:{number}"
            if not isinstance(line, dict) or key not in line:
                raise TextcriticError(f"{where}: `{key}` is missing; it should be the id of the item")
            yield str(line[key]), exchange.item_from({"item": line[key], **line}, line.get(OURS), campaign, where)


def _chosen(labels: Iterable[tuple[str, set[str]]], item: Item) -> dict[str, str]:
    """What was chosen by name: Potato keeps an option as the name of a label or as its value, by the type of form."""
    sentences = {exchange.ALL_BELONG, *map(exchange.option_of, range(1, len(item.parts)))}
    fixed = {COHERENT: set(VERDICTS), INTRUDED: sentences}
    titles = set(item.header["titles"])
    chosen = {}
    for name, options in labels:
        possible = options & (fixed.get(name) or titles) or (options if not titles and name not in fixed else set())
        if len(possible) == 1:
            chosen[name] = possible.pop()
    return chosen


def _own(user: str, seen: JsonObject, where: str) -> JsonObject:
    if not isinstance(seen.get("session_start"), int | float):
        raise TextcriticError(
            f"{where}: no `session_start`; Potato should keep behavioural data, as it does by default"
        )
    ends = [seen.get("session_end"), *(change.get("timestamp") for change in seen.get("annotation_changes") or [])]
    known = [float(end) for end in ends if isinstance(end, int | float)]
    return exchange.outside(user, float(seen["session_start"]), max(known, default=float(seen["session_start"])))


def _config(items: list[Item]) -> JsonObject:
    header, most = items[0].header, max(len(item.parts) for item in items)
    if header["task"] == INTRUDER:
        options = [*(exchange.option_of(place) for place in range(1, most)), exchange.ALL_BELONG]
        schemes = [_scheme("radio", INTRUDED, header["question"], options)]
    else:
        names = [exchange.TYPE.format(n) for n in range(most)]
        schemes = [_scheme("select", n, f"Type of section {i}", header["titles"]) for i, n in enumerate(names, 1)]
        schemes.append(_scheme("radio", COHERENT, header["question"], VERDICTS))
    return {
        "annotation_task_name": header["campaign"],
        "task_dir": ".",
        "output_annotation_dir": OUTPUT,
        "data_files": [ITEMS],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "annotation_schemes": schemes,
    }


def _scheme(kind: str, name: str, asked: str, labels: Iterable[str]) -> JsonObject:
    return {"annotation_type": kind, "name": name, "description": asked, "labels": list(labels)}


def _line(item: Item) -> JsonObject:
    parts = list(item.parts)
    text = "\n\n".join(f"[{n}] {part}" for n, part in enumerate(parts, start=1))
    return {"id": item.about["item"], "text": text, "parts": parts, OURS: exchange.known_of(item)}


def _states(items: list[Item]) -> dict[str, JsonObject]:
    """By annotator, what Potato keeps of a user."""
    states: dict[str, JsonObject] = {}
    ordered = sorted(((one["order"], item, one) for item in items for one in item.answers), key=lambda pair: pair[0])
    for _, item, one in ordered:
        name, id_ = one["annotator"], item.about["item"]
        state = states.setdefault(
            name, {"user_id": name, "instance_id_ordering": [], LABELS: {}, BEHAVIOUR: {}, KEPT: {OURS: {}}}
        )
        state["instance_id_ordering"].append(id_)
        chosen = exchange.names_of(one["answer"]).items()
        # A list's label has this name whatever is chosen; a radio button's is the option.
        labels = [(schema, "select-one" if schema.startswith("type_") else option, option) for schema, option in chosen]
        state[LABELS][id_] = [[{"schema": schema, "name": name}, option] for schema, name, option in labels]
        started, answered = (datetime.fromisoformat(one[key]).timestamp() for key in ("started", "answered"))
        state[BEHAVIOUR][id_] = {"instance_id": id_, "session_start": started, "session_end": answered}
        state[KEPT][OURS][id_] = exchange.own_of(one)
    return states
