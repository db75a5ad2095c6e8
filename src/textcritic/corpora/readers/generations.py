"""Documents in what programs export: logs of harnesses and servers, and keys or columns with a model's answers.

Read are `--log_samples` of lm-evaluation-harness, batches and answers of OpenAI's API (`vllm run-batch` and other
servers write them), logs of Inspect, chats, and records whose text is not in `text`.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from textcritic.corpora.readers.answers import answer_of, may_be_answer, sections_of
from textcritic.corpora.readers.reading import Reading, Tally
from textcritic.corpora.readers.values import close_to, group_of, kind_of, lacks
from textcritic.errors import TextcriticError
from textcritic.values import JsonObject

ANSWERS = ("messages", "completion", "generation", "output", "response", "answer", "content")
"""Keys or columns that may hold the text where there is no `text`: the first of them that a record has."""
DOCUMENTS = ("chain", "mentions", "sections", "text")
"""Keys that say what a document is; with one of them nothing else is looked for."""
OF_LOGS = ("doc_id", "custom_id", "choices", "samples", "epoch")
"""Keys of logs, whose documents have ids and texts of their own."""
TRAVEL = ("prompt", "doc_id", "task")
"""Keys that come from a log with its answers."""
FAILED, CUT_OFF, NO_TEXT = "request failed", "cut off at the token limit", "without text"
ENDED_EARLY = ("length", "max_tokens", "model_length")
OF_HARNESS = re.compile(r"samples_(.+?)(?:_\d{4}-\d\d-\d\dT[\d.-]+)?")

Line: TypeAlias = "tuple[int, str, object]"
"""Number of a line or row, where it is, and what is there."""


@dataclass(slots=True)
class Answers:
    """Finds the documents in the records of one file.

    Attributes:
        path: of the file, or the name of a set in memory.
        keys: that the reader knows: with `text` answers become texts, otherwise articles, see `answers.sections_of`.
        reading: how.
        tally: what is counted.
    """

    path: object
    keys: Collection[str]
    reading: Reading
    tally: Tally
    _filter: object = None  # of the first line of a log of lm-evaluation-harness
    _harness: bool = False
    _first: bool = True

    def is_plain(self, value: object) -> bool:
        """Whether a record is a document as it is, as nearly all are: nothing in it has to be looked for or cut."""
        if type(value) is not dict or value.keys().isdisjoint(DOCUMENTS):
            return False
        text = value.get("text", "")
        return type(text) is str and not may_be_answer(text)

    def documents(self, rows: Iterable[Line]) -> Iterator[Line]:
        """Replace each record of a log by the documents that it holds, and pass on any other record.

        A document of a log has an `id`, a `group` where one prompt has several answers, the `prompt`, `doc_id` and
        `task` where they are known, and the answer alone, without the prompt. Where lm-evaluation-harness logged a
        document once for each of several filters, the lines of the first filter count.

        Raises:
            TextcriticError: a log without texts, such as one of a task that compares likelihoods, or no such key as was
                asked for; the line names it.
        """
        for number, where, given in rows:
            value = self._renamed(given, where) if isinstance(given, dict) and self.reading.keys else given
            self._first = False
            if not isinstance(value, dict):
                yield number, where, value
            elif "doc_id" in value and ("resps" in value or (self._harness and value.keys().isdisjoint(DOCUMENTS))):
                self._harness = True
                self._filter = value.get("filter") if self._filter is None else self._filter
                if value.get("filter") == self._filter:
                    yield from self._each(number, where, self._of_harness(value), _responses(value, where))
            elif {"custom_id", "response"} <= value.keys():
                texts = self._of_response(value.get("error"), value["response"], where)
                yield from self._each(number, where, {"id": value["custom_id"]}, texts)
            elif _are_choices(value.get("choices")) and value.keys().isdisjoint(DOCUMENTS):
                yield from self._each(
                    number, where, self._kept(value), self._choices(value["choices"], "choices", where)
                )
            elif _is_inspect(value):
                for sample in value.get("samples", [value]):
                    yield from self._each(number, where, _of_inspect(sample, value), self._inspected(sample, where))
            elif key := self._key(value):
                yield from self._each(number, where, self._kept(value), self._texts(value[key], key, where))
            else:
                yield number, where, self._cleaned(value)

    def _each(self, number: int, where: str, document: JsonObject, texts: Sequence[str | None]) -> Iterator[Line]:
        """The documents of the answers to one prompt. None is an answer without text; these are only counted."""
        self.tally.left_out.update([NO_TEXT] * texts.count(None))
        name, some = document.get("id"), [text for text in texts if text is not None]
        for part, text in enumerate(some, start=1):
            prompt = number if name is None else name
            group = group_of(document, where) or str(prompt)
            several = {} if len(some) == 1 else {"id": f"{prompt}-{part}", "group": group}
            answer = answer_of(text, self.reading.keep_reasoning, self.tally.changed)
            yield number, where, document | several | ({"text": answer} if "text" in self.keys else _article_of(answer))

    def _renamed(self, value: JsonObject, where: str) -> JsonObject:
        """A record whose keys that were asked for have their usual names, in its sections as well.

        A record without such a key is read as usual: of several files one may have it.

        Raises:
            TextcriticError: it is the first one, and has neither.
        """
        reading, sections = self.reading, value.get("sections")
        inside = [part for part in sections if isinstance(part, dict)] if isinstance(sections, list) else []
        asked = {"text": reading.text_key, "title": reading.title_key, "id": reading.id_key}
        names = {key: usual for usual, key in asked.items() if key is not None and key != usual}
        if self._first:
            _require_asked(names, value, inside, where)
        renamed = {names.get(key, key): part for key, part in value.items() if names.get(key) != "text" or not inside}
        if inside:
            of_sections = {key: usual for key, usual in names.items() if usual != "id"}
            renamed["sections"] = [
                {of_sections.get(key, key): text for key, text in part.items()} if isinstance(part, dict) else part
                for part in sections or ()
            ]
        return renamed

    def _key(self, value: JsonObject) -> str | None:
        """The key of the answer; None where a document needs none, or has none that is known."""
        if not {"text", "sections"} & set(self.keys):
            return None
        if "text" in value and not isinstance(value["text"], str) and self.reading.text_key:
            return "text"  # a chat, or several answers, as was asked for
        if any(value.get(key) is not None for key in DOCUMENTS):
            return None
        answer_keys = [key for key in ANSWERS if key in value]
        if not answer_keys:
            return None
        key = next((key for key in answer_keys if key in self.tally.chosen), answer_keys[0])
        self.tally.chosen.setdefault(key, [other for other in answer_keys if other != key])
        return key

    def _kept(self, value: JsonObject) -> JsonObject:
        """What of a record goes with the answers in it."""
        return {key: part for key, part in value.items() if key in self.keys or key in TRAVEL}

    def _cleaned(self, value: JsonObject) -> JsonObject:
        text = value.get("text")
        if not self.reading.normalise or not isinstance(text, str) or not may_be_answer(text):
            return value
        return value | {"text": answer_of(text, self.reading.keep_reasoning, self.tally.changed)}

    def _of_harness(self, value: JsonObject) -> JsonObject:
        """What goes with an answer of lm-evaluation-harness."""
        named = OF_HARNESS.fullmatch(Path(str(self.path)).name.split(".jsonl")[0])
        task = value.get("task_name") or value.get("task") or (named[1] if named else None)
        prompt = _first_text(value.get("arguments"))
        fields = {"doc_id": value["doc_id"], "prompt": prompt, "task": task}
        return {"id": value["doc_id"], **{key: part for key, part in fields.items() if part is not None}}

    def _of_response(self, error: object, response: object, where: str) -> list[str | None]:
        """The texts of a line of a batch, one for each choice, of chat or of plain completion."""
        response = response if isinstance(response, dict) else {}
        body = response.get("body")
        if error or response.get("status_code", 200) != 200 or not isinstance(body, dict):
            self.tally.left_out[FAILED] += 1
            return []
        return self._choices(body.get("choices"), "response.body.choices", where)

    def _choices(self, choices: object, name: str, where: str) -> list[str | None]:
        if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
            raise TextcriticError(
                f"{where}: `{name}` is {kind_of(choices)}; it should be a list of objects, as requests to"
                " /v1/chat/completions and /v1/completions have it"
            )
        texts: list[str | None] = []
        for choice in choices:
            if choice.get("finish_reason", choice.get("stop_reason")) in ENDED_EARLY:
                self.tally.left_out[CUT_OFF] += 1
            else:
                texts.append(_message_text(choice["message"] if "message" in choice else choice.get("text")))
        return texts

    def _inspected(self, sample: object, where: str) -> list[str | None]:
        """The texts of a sample of Inspect."""
        given = sample if isinstance(sample, dict) else {}
        output = given.get("output")
        if not isinstance(output, dict) or given.get("error"):
            self.tally.left_out[FAILED] += 1
            return []
        if choices := output.get("choices"):
            return self._choices(choices, "output.choices", where)
        return [_message_text(output.get("completion"))]

    def _texts(self, value: object, key: str, where: str) -> list[str | None]:
        """The texts under a key: a string, several, a chat, or several answers of an API."""
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            if all("role" in item or "from" in item for item in value):
                return [_last_turn(value)]
            if _are_choices(value):
                return self._choices(value, key, where)
        if isinstance(value, list) and value and all(item is None or isinstance(item, str) for item in value):
            return list(value)
        if isinstance(value, str):
            return [value]
        if value is None or value == []:
            return [None]
        raise TextcriticError(
            f"{where}: `{key}` is {kind_of(value)}; it should be a string, or a list of strings or of messages"
        )


def _require_asked(names: Mapping[str, str], value: JsonObject, inside: Sequence[JsonObject], where: str) -> None:
    """Check that a record has the requested keys, or others that may replace them.

    Args:
        names: by these keys the usual ones.
        value: the record.
        inside: its sections.
        where: it is, for messages.

    Raises:
        TextcriticError: it has neither, or a key that is nearly right.
    """
    in_place = {"text": {*OF_LOGS, *DOCUMENTS, *ANSWERS}, "id": {*OF_LOGS}}
    for key, usual in names.items():
        accepted = {key, usual} | in_place.get(usual, set())
        near = bool(close_to(key, value)) and value.keys().isdisjoint((key, usual))
        lacking = accepted.isdisjoint(value) and not any(accepted & part.keys() for part in inside)
        if near or lacking:
            raise TextcriticError(f"{where}: {lacks(value, key)}, which is asked for as the key of the {usual}")


def _are_choices(value: object) -> bool:
    """Whether a value is what an API calls choices: its answers to one request."""
    return (
        bool(value)
        and isinstance(value, list)
        and all(isinstance(choice, dict) and {"message", "text"} & choice.keys() for choice in value)
    )


def _is_inspect(value: JsonObject) -> bool:
    """Whether it is a log of Inspect, or one sample of such a log."""
    log = isinstance(value.get("samples"), list) and isinstance(value.get("eval"), dict)
    return log or ({"id", "epoch", "output"} <= value.keys() and isinstance(value["output"], dict))


def _of_inspect(sample: object, log: JsonObject) -> JsonObject:
    """What goes with an answer of Inspect; epochs of a sample belong together."""
    if not isinstance(sample, dict):
        return {}
    name, epoch = sample.get("id"), sample.get("epoch", 1)
    about = log["eval"] if isinstance(log.get("eval"), dict) else {}
    config = about["config"] if isinstance(about.get("config"), dict) else {}
    repeated = config.get("epochs") or epoch
    several = repeated != 1 or epoch != 1
    given = sample.get("input")
    prompt = given if isinstance(given, str) else _last_turn(given, "user") if isinstance(given, list) else None
    named = (("doc_id", name), ("prompt", prompt), ("task", about.get("task")))
    fields = {key: part for key, part in named if part is not None}
    if not several:
        return {"id": name, **fields}
    return {"id": f"{name}-{epoch}", "group": group_of(fields, "") or str(name), **fields}


def _article_of(text: str) -> JsonObject:
    title, sections = sections_of(text)
    named = {} if title is None else {"title": title}
    return named | {"sections": [{"title": name, "text": body} for name, body in sections]}


def _responses(value: JsonObject, where: str) -> list[str | None]:
    """The texts of a line of lm-evaluation-harness, one for each repeat; None for an answer that is not there."""
    given = value.get("resps")
    requests = given if isinstance(given, list) and given else [given or None]
    texts = [
        text
        for request in requests
        for text in (request if isinstance(request, list) and request else [request or None])
    ]
    if all(text is None or isinstance(text, str) for text in texts):
        return texts
    raise TextcriticError(
        f"{where}: `resps` holds no texts, as in tasks that compare likelihoods; give the samples of a task with"
        " `output_type: generate_until`"
    )


def _first_text(value: object) -> str | None:
    """The first string in nested lists and objects: the prompt among the arguments of a request."""
    if isinstance(value, str):
        return value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((text for part in parts if (text := _first_text(part)) is not None), None)


def _message_text(message: object) -> str | None:
    """The text of a message: a string, an object with `content`, or a list of parts. Parts without text are skipped."""
    if isinstance(message, dict):
        message = message.get("content", message.get("value", message.get("text")))
    if isinstance(message, list):
        parts = [
            part if isinstance(part, str) else part.get("text") for part in message if isinstance(part, str | dict)
        ]
        message = "".join(part for part in parts if isinstance(part, str)) or None
    return message if isinstance(message, str) else None


def _last_turn(messages: Sequence[JsonObject], role: str = "assistant") -> str | None:
    """The last text of one side of a chat; None if the chat has none."""
    names = (role, "gpt", "model", "bot") if role == "assistant" else (role, "human")
    turns = [
        message
        for message in messages
        if isinstance(message, dict) and message.get("role", message.get("from")) in names
    ]
    return _message_text(turns[-1]) if turns else None
