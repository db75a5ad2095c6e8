"""Texts in the logs of programs that draw them: `--log_samples` of lm-evaluation-harness, and batches of vLLM's server.

A batch is what `vllm run-batch` and OpenAI's batch API write, a line a request.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from textcritic.corpora.layout import END, W_TITLE, WO_TITLE, MalformedArticle, parse
from textcritic.corpora.readers.values import kind_of
from textcritic.errors import TextcriticError

HEADING = re.compile(r"(#{1,6})\s+(.*?)[\s#]*")
FENCE = re.compile(r"\s*(```|~~~)")
MOST_TITLE_WORDS = 8  # of a paragraph that begins with its title; a longer beginning is a sentence
FAILED, CUT_OFF, NO_TEXT = "request failed", "cut off at the token limit", "without text"


def drawn_texts(
    lines: Iterable[tuple[int, Any]], path: object, keys: Collection[str], left_out: Counter[str]
) -> Iterator[tuple[int, Any]]:
    """Lines of JSON, of which those of a log become the documents that they hold; any other line is passed on.

    A document of a log has an `id`, a `group` where one prompt has several answers, and the answer alone, without the
    prompt: as `text` where that key is known, otherwise as `sections` (see `sections_of`). Where lm-evaluation-harness
    logged a document once for each of several filters, the lines of the first filter count.

    Args:
        lines: numbers of lines, and what is there.
        path: of the file, for errors.
        keys: that the reader knows.
        left_out: counts answers that are left out, by reason: requests that failed, answers that had not ended.

    Raises:
        TextcriticError: a log without texts, such as one of a task that compares likelihoods; the line names it.
    """
    first_filter: Any = None
    for number, value in lines:
        if not isinstance(value, dict) or not _is_log(value):
            yield number, value
            continue
        where = f"{path}:{number}"
        if "resps" in value:
            name, answers = value["doc_id"], _responses(value["resps"], where)
            first_filter = value.get("filter") if first_filter is None else first_filter
            if value.get("filter") != first_filter:
                continue
        else:
            name, answers = value["custom_id"], _choices(value, left_out, where)
        for part, text in enumerate(answers, start=1):
            document = {"id": name} if len(answers) == 1 else {"id": f"{name}-{part}", "group": name}
            yield number, document | ({"text": text} if "text" in keys else _article_of(text))


def sections_of(text: str) -> tuple[str | None, list[tuple[str | None, str]]]:
    """The title of an article that a model wrote, and its sections, each with its title where it has one.

    With headings of Markdown, a section begins at each one of the highest level; one alone at the top of all others is
    the article's title, and text before the first heading is a section without title. Without headings, paragraphs are
    the sections: with titles if each begins with one, `title: text`, and otherwise without.
    """
    lines = text.replace(END, "").strip().splitlines()
    headings = _headings(lines)
    if not headings:
        return None, _paragraphs(text)
    levels = [level for level, _ in headings.values()]
    first, (top, title) = next(iter(headings.items()))
    above = first == 0 and len(levels) > 1 and top < min(levels[1:])
    if above:
        del headings[first]
    top = min(level for level, _ in headings.values())
    sections: list[tuple[str | None, list[str]]] = [(None, [])]
    for number, line in enumerate(lines):
        level, heading = headings.get(number, (0, line))
        if level == top:
            sections.append((heading, []))
        elif number or not above:
            sections[-1][1].append(heading)
    joined = [(name, "\n".join(part).strip()) for name, part in sections]
    return title if above else None, joined if joined[0][1] else joined[1:]


def _is_log(value: dict[str, Any]) -> bool:
    return {"doc_id", "resps"} <= value.keys() or {"custom_id", "response"} <= value.keys()


def _article_of(text: str) -> dict[str, Any]:
    title, sections = sections_of(text)
    return {"title": title, "sections": [{"title": name, "text": body} for name, body in sections]}


def _responses(resps: Any, where: str) -> list[str]:
    """The texts of a line of lm-evaluation-harness, one for each repeat."""
    texts = [text for request in resps for text in request] if isinstance(resps, list) else []
    if not texts or not all(isinstance(text, str) for text in texts):
        raise TextcriticError(
            f"{where}: `resps` holds no texts, as in tasks that compare likelihoods; give the samples of a task with"
            " `output_type: generate_until`"
        )
    return texts


def _choices(value: dict[str, Any], left_out: Counter[str], where: str) -> list[str]:
    """The texts of a line of a batch, one for each choice, of chat or of plain completion."""
    response = value["response"] if isinstance(value["response"], dict) else {}
    body = response.get("body")
    if value.get("error") or response.get("status_code", 200) != 200 or not isinstance(body, dict):
        left_out[FAILED] += 1
        return []
    choices = body.get("choices")
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise TextcriticError(
            f"{where}: `response.body.choices` is {kind_of(choices)}; it should be a list of objects, as requests to"
            " /v1/chat/completions and /v1/completions have it"
        )
    texts: list[str] = []
    for choice in choices:
        text = (choice.get("message") or {}).get("content") if "message" in choice else choice.get("text")
        if choice.get("finish_reason") == "length":
            left_out[CUT_OFF] += 1
        elif not isinstance(text, str):
            left_out[NO_TEXT] += 1
        else:
            texts.append(text)
    return texts


def _headings(lines: list[str]) -> dict[int, tuple[int, str]]:
    """Level and words of each heading, by its line; lines of code are none."""
    found: dict[int, tuple[int, str]] = {}
    code = False
    for number, line in enumerate(lines):
        code ^= bool(FENCE.match(line))
        if not code and (heading := HEADING.fullmatch(line)):
            found[number] = len(heading[1]), heading[2]
    return found


def _paragraphs(text: str) -> list[tuple[str | None, str]]:
    for setting in (W_TITLE, WO_TITLE):
        try:
            sections = parse(text, setting)
        except MalformedArticle:  # not of this setting, or empty
            continue
        if setting == WO_TITLE or all(len((part.title or "").split()) <= MOST_TITLE_WORDS for part in sections):
            return [(part.title, part.text) for part in sections]
    return []
