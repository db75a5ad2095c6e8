"""Each reader on valid files with one change: it reads them, or says in one line what is wrong.

`MUTANTS=2000 pytest tests/unit/test_mutated_input.py` tries more than the few of every run.
"""

import csv
import gzip
import io
import json
import os
import random

import pytest

import textcritic
from textcritic.api.documents import documents_of
from textcritic.corpora import given_articles
from textcritic.corpora.readers.conll import conll_documents
from textcritic.errors import TextcriticError

MUTANTS = int(os.environ.get("MUTANTS", "50"))
WORDS = ["the", "old", "café", "of", "“Zoë”", "was", "said", "to", "be", "東京", "near", "a", "sea\u200b", "wall", "é"]


def text(draw):
    return " ".join(draw.choices(WORDS, k=draw.randint(1, 12))) + draw.choice([".", "\n\nMore.", "<|endoftext|>x", ""])


def articles(draw):
    return [
        {"id": n, "title": "t", "sections": [{"title": "A", "text": text(draw)}, {"text": text(draw)}]}
        for n in range(3)
    ]


def answers(draw):
    chat = {"choices": [{"message": {"content": text(draw)}, "finish_reason": "stop"}]}
    return [
        {"doc_id": 1, "resps": [[text(draw), "<think>a</think>b"]], "filter": "none", "arguments": {"a": {"b": "p"}}},
        {"custom_id": "r", "response": {"status_code": 200, "body": chat}, "error": None},
        {"messages": [{"role": "user", "content": "p"}, {"role": "assistant", "content": [{"text": text(draw)}]}]},
        {"id": 1, "epoch": 1, "output": chat, "input": "p"},
        {"completion": ["**A:** one.", None], "prompt": "p"},
    ]


def as_lines(values):
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def as_csv(draw):
    out = io.StringIO()
    csv.writer(out).writerows([["id", "text", "group"], *([n, text(draw), f"g{n}"] for n in range(4))])
    return out.getvalue()


def changed_value(draw, value):
    """A value of JSON with one change inside."""
    if draw.random() < 0.3 or not isinstance(value, dict | list) or not value:
        return draw.choice(
            [None, True, 3, 1.5, "", "x", [], {}, ["x"], {"text": "y"}, "\ud835", -1, [None], "a" * 5000]
        )
    place = draw.choice([*value] if isinstance(value, dict) else range(len(value)))
    changed = dict(value) if isinstance(value, dict) else list(value)
    if draw.random() < 0.2:
        del changed[place]
    else:
        changed[place] = changed_value(draw, value[place])
    return changed


def changed_bytes(draw, data):
    """Bytes with one change."""
    place, kind = draw.randrange(len(data) + 1), draw.randrange(5)
    if kind == 0:
        return data[:place]
    if kind == 1:
        return data[:place] + bytes([draw.randrange(256)]) + data[place + 1 :]
    if kind == 2:
        return (
            data[:place]
            + draw.choice([b'"', b"\n", b"\t", b"{", b"]", b"\\u", b"(1", b"1)", b"\0", b"\xff\xfe"])
            + data[place:]
        )
    if kind == 3:
        end = min(len(data), place + draw.randint(1, 30))
        return data[:place] + data[end:]
    return data[:place] + data[place : place + 40] + data[place:]


CONLL = "#begin document (x)\n# note\n1\tMary\t(1\n2\tLee\t1)\n\n1-2\tab\t_\n1\tShe\t(1)\n#end document\n"
CONLLU = "# newdoc id = a\n# global.Entity = eid-etype\n" + "".join(
    f"{n}\tw{n}\t_\tX\t_\t_\t0\t_\t_\t{misc}\n"
    for n, misc in enumerate(["Entity=(e1-p", "Entity=e1)(e2[1/2]-p)", "_"], 1)
)
WEIGHTS = [[-50.0, -51.0, float("-inf")], [-40.5, -42.0, -41.0]]


def read_texts(path):
    list(documents_of(path, "given", "texts").texts())


def read_any(path):
    documents = documents_of(path, "given")
    {"texts": documents.as_articles, "articles": documents.articles}.get(documents.kind, documents.chains)()
    list(documents.records())


# Name of the file, its content by a source of random numbers, and what reads it.
READERS = {
    "texts": ("a.jsonl", lambda draw: [{"id": n, "text": text(draw), "group": "g"} for n in range(3)], read_texts),
    "articles": ("a.jsonl", articles, lambda path: list(given_articles(path))),
    "answers": ("a.jsonl", answers, read_texts),
    "answers as articles": ("a.jsonl", answers, lambda path: list(given_articles(path))),
    "chains": ("a.jsonl", lambda draw: [{"chain": draw.choices("abc", k=3)} for _ in range(3)], read_any),
    "an array": ("a.json", lambda draw: json.dumps(articles(draw), indent=1), read_any),
    "lines": ("a.txt", lambda draw: "\n".join(text(draw) for _ in range(5)), read_texts),
    "tables": ("a.csv", as_csv, read_texts),
    "a name that says nothing": ("a", as_csv, read_any),
    "CoNLL": ("a.conll", lambda draw: CONLL, lambda path: list(conll_documents([path]))),
    "CoNLL-U": ("a.conllu", lambda draw: CONLLU, lambda path: list(conll_documents([path]))),
}


def tried(read, given):
    """Read; an error is one line."""
    said = ""
    try:
        read(given)
    except TextcriticError as error:
        said = str(error).strip() or "\n"
    assert "\n" not in said


@pytest.mark.parametrize("reader", READERS)
def test_a_change_is_read_or_refused_in_one_line(tmp_path, reader):
    name, content, read = READERS[reader]
    draw = random.Random(reader)
    path = tmp_path / name
    for number in range(MUTANTS):
        value = content(draw)
        if isinstance(value, list) and draw.random() < 0.6:
            value = changed_value(draw, value)
            data = as_lines(value if isinstance(value, list) else [value]).encode("utf-8", "surrogatepass")
        else:
            data = changed_bytes(draw, (as_lines(value) if isinstance(value, list) else value).encode())
        path.write_bytes(changed_bytes(draw, gzip.compress(data)) if number % 10 == 0 else data)
        tried(read, path)


def test_a_change_of_values_in_memory_is_read_or_refused_in_one_line():
    draw = random.Random(1)
    for _ in range(MUTANTS):
        value = changed_value(draw, draw.choice([articles, answers])(draw))
        tried(lambda given: list(documents_of(given, "given", "texts").texts()), value)
        tried(
            lambda given: textcritic.importance(given, tokens=9, resamples=5, repeats=2), changed_value(draw, WEIGHTS)
        )
