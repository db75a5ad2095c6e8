"""Hostile inputs: files and command lines that no command may answer with a traceback or with a wrong number.

A case is drawn from a seed and its number alone. Where the right answer is known, a case says so: `REFUSED`, or `SAME`
as the plain files of its command have.
"""

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import random
import tarfile
import threading
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from textcritic.cli import _parser

REFUSED, SAME, ANY = "refused", "same", ""
MEBIBYTE = 1 << 20
BOMB = 700  # MiB that are unpacked
RAN = "RAN"  # a file that is made where foreign code ran


@dataclass(frozen=True)
class Case:
    """A command line and how its files are made in an empty folder.

    Attributes:
        name: of the kind of hostility.
        words: of the command line; the first one is the command.
        make: makes the files in the working directory.
        right: what is known of the right answer.
        nobody: whether it runs without root's rights, if it can.
    """

    name: str
    words: list[str]
    make: Callable[[], None]
    right: str = ANY
    nobody: bool = False


VALUES: list[Any] = [
    *(None, True, False, 0, -1, 3, 1.5, 10**400, float("nan"), float("inf"), "", " ", "x", "\ud835", "a" * 5000, "\0"),
    *([], {}, [None], [[]], [{}], {"text": "y"}, {"": 1}, ["x", 3], {"a": {"b": [None]}}, "\u202e=cmd|' /C calc'!A0"),
]
WORDS_OF_OPTIONS = [
    *("", " ", "nan", "inf", "-inf", "-1", "0", "1e400", "9" * 400, "9" * 5000, "0.5", "1e-300", "true", "None", "--"),
    *("a\nb", "'\"", "x" * 300, "\udcff", "../..", "/", ".", "no such", "1,2", "0x10", "os:system", "json", "a:b:c"),
]


def changed(draw: random.Random, value: Any) -> Any:
    """A value of JSON with one change inside."""
    if draw.random() < 0.25 or not isinstance(value, dict | list) or not value:
        return draw.choice(VALUES)
    place = draw.choice([*value] if isinstance(value, dict) else range(len(value)))
    copy = dict(value) if isinstance(value, dict) else list(value)
    way = draw.random()
    if way < 0.12:
        del copy[place]
    elif way < 0.2 and isinstance(copy, dict):
        copy[draw.choice(["x", "", "Text", "text ", "id", "sections"])] = draw.choice(VALUES)
    else:
        copy[place] = changed(draw, copy[place])
    return copy


def changed_bytes(draw: random.Random, data: bytes) -> bytes:
    """Bytes with one change."""
    place = draw.randrange(len(data) + 1)
    signs = (b'"', b"\n", b"\r", b"\0", b"{", b"]", b"\\ud800", b"\xff", b"\xef\xbb\xbf", b"\x1f\x8b", b",", b"\x85")
    end = min(len(data), place + draw.randint(1, 40))
    added = data[:place] + draw.choice(signs) + data[place:]
    return draw.choice([data[:place], added, data[:place] + data[end:], data[:end] + data[place:], data[place:]])


def lines_of(values: list[Any]) -> bytes:
    return "".join(json.dumps(value) + "\n" for value in values).encode()


# Documents.

NAMES_AND_WORDS = "Mary Ann Lee the old sea wall of was said to be near and she he gave him her boat again to Paul"
TOPICS = "--json --num-topics 2 --iterations 2 --starts 1 --minimum-count 1 --resamples 20"
MIXING = "--json --topics 2 --iterations 4 --starts 1 --draws 2 --workers 1 --resamples 20"


def texts(seed: int, number: int = 24) -> list[dict[str, Any]]:
    draw = random.Random(seed)
    names = [
        "Mary",
        "Ann",
        "Lee",
        "the",
        "old",
        "sea",
        "wall",
        "of",
        "was",
        "said",
        "to",
        "be",
        "near",
        "and",
        "she",
        "he",
        "gave",
        "him",
        "her",
        "boat",
        "again",
        "to",
        "Paul",
    ]
    return [
        {"text": ". ".join(" ".join(draw.choices(names, k=draw.randint(5, 12))) for _ in range(4)) + "."}
        for _ in range(number)
    ]


def chains(seed: int) -> list[dict[str, Any]]:
    draw = random.Random(seed)
    return [{"chain": ["begin", *draw.choices("abc", k=draw.randint(1, 5)), "end"]} for _ in range(24)]


def mentions(seed: int) -> list[dict[str, Any]]:
    draw = random.Random(seed)
    every = [".", "he:3", "MALE:3", "she:1", "FEMALE:1", "None:4"]
    return [{"mentions": [".", *draw.choices(every, k=draw.randint(2, 9))]} for _ in range(24)]


def articles(seed: int) -> list[dict[str, Any]]:
    parts = texts(seed, 72)
    return [
        {"id": str(n), "sections": [{"title": t, **parts[3 * n + m]} for m, t in enumerate(("a", "b", "c"))]}
        for n in range(24)
    ]


QUICK = ["--resamples", "20"]
DOCUMENTS: dict[str, tuple[Callable[[int], list[dict[str, Any]]], list[str]]] = {
    "chains": (chains, ["--json", *QUICK]),
    "coreference": (mentions, ["--json", *QUICK]),
    "topics": (
        texts,
        [
            "--json",
            "--num-topics",
            "2",
            "--iterations",
            "2",
            "--starts",
            "1",
            "--minimum-count",
            "1",
            "--resamples",
            "20",
        ],
    ),
    "mixing": (
        texts,
        [
            "--json",
            "--topics",
            "2",
            "--iterations",
            "4",
            "--starts",
            "1",
            "--draws",
            "2",
            "--workers",
            "1",
            "--resamples",
            "20",
        ],
    ),
    "tendencies": (texts, ["--json", *QUICK]),
    "recitation": (texts, ["--json", "--train", "train.jsonl", *QUICK]),
    "criticise": (texts, ["--measures", "form", "--output", "out", *QUICK]),
    "criticise-articles": (articles, ["--measures", "form", "--output", "out", *QUICK]),
    "criticise-chains": (chains, ["--output", "out", *QUICK]),
    "criticise-mentions": (mentions, ["--output", "out", *QUICK]),
}
"""Commands on documents: what makes their documents, and options that make them quick."""


def document_words(command: str, hostile: str, place: int) -> list[str]:
    """A command line in which one of both files is the hostile one."""
    files = ["real.jsonl", "model.jsonl"]
    files[place] = hostile
    return [command.partition("-")[0], *files, *DOCUMENTS[command][1]]


def plain_files(command: str) -> None:
    made = DOCUMENTS[command][0]
    for seed, name in enumerate(("real.jsonl", "model.jsonl", "train.jsonl")):
        Path(name).write_bytes(lines_of(made(seed)))


Content = tuple[str, str, Callable[[list[dict[str, Any]]], bytes], str]
"""Name, ending of the file, what makes it of the plain records, and what is known of the right answer."""


def _zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


def _parquet(values: list[dict[str, Any]]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(values), sink)
    return sink.getvalue()


def _arrow(values: list[dict[str, Any]]) -> bytes:
    sink, table = io.BytesIO(), pa.Table.from_pylist(values)
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _zip(values: list[dict[str, Any]], name: str = "samples/1.json", repeated: int = 1) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, lines_of(values) * repeated)
    return sink.getvalue()


def _tar(values: list[dict[str, Any]]) -> bytes:
    sink, data = io.BytesIO(), lines_of(values)
    with tarfile.open(fileobj=sink, mode="w:gz") as archive:
        info = tarfile.TarInfo("../evil.jsonl")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return sink.getvalue()


class _Evil:
    def __reduce__(self) -> Any:
        return os.system, (f"touch {RAN}",)


def _first(values: list[dict[str, Any]], value: Any) -> list[dict[str, Any]]:
    (key,) = {"text", "chain", "mentions", "sections"} & values[0].keys()
    return [values[0] | {key: value}, *values[1:]]


ZEROS, ROWS = b"\0" * MEBIBYTE, b'{"text": "a"}\n' * (MEBIBYTE // 14)
CONTENTS: list[Content] = [
    ("byte order mark", "jsonl", lambda v: b"\xef\xbb\xbf" + lines_of(v), SAME),
    ("CRLF", "jsonl", lambda v: lines_of(v).replace(b"\n", b"\r\n"), SAME),
    ("blank lines", "jsonl", lambda v: lines_of(v).replace(b"\n", b"\n \n\n"), SAME),
    ("no last line break", "jsonl", lambda v: lines_of(v)[:-1], SAME),
    ("gzip", "jsonl.gz", lambda v: gzip.compress(lines_of(v)), SAME),
    ("gzip with another name", "jsonl", lambda v: gzip.compress(lines_of(v)), SAME),
    ("gzip in members", "jsonl.gz", lambda v: b"".join(gzip.compress(lines_of([one])) for one in v), SAME),
    ("bzip2", "jsonl.bz2", lambda v: bz2.compress(lines_of(v)), SAME),
    ("xz", "jsonl.xz", lambda v: lzma.compress(lines_of(v)), SAME),
    ("zstd", "jsonl.zst", lambda v: _zstd(lines_of(v)), SAME),
    ("array", "json", lambda v: json.dumps(v).encode(), SAME),
    ("array over lines", "json", lambda v: json.dumps(v, indent=1).encode(), SAME),
    ("Parquet", "parquet", _parquet, SAME),
    ("Arrow", "arrow", _arrow, SAME),
    ("unknown keys", "jsonl", lambda v: lines_of([one | {"x\n": 1, "": None} for one in v]), SAME),
    ("ids as numbers", "jsonl", lambda v: lines_of([one | {"id": n} for n, one in enumerate(v)]), SAME),
    ("empty file", "jsonl", lambda v: b"", REFUSED),
    ("an empty array", "json", lambda v: b"[]", REFUSED),
    ("blank file", "jsonl", lambda v: b"\n \n", REFUSED),
    ("cut gzip", "jsonl.gz", lambda v: gzip.compress(lines_of(v))[:-30], REFUSED),
    ("cut bzip2", "jsonl.bz2", lambda v: bz2.compress(lines_of(v))[:-9], REFUSED),
    ("cut xz", "jsonl.xz", lambda v: lzma.compress(lines_of(v))[:-9], REFUSED),
    ("cut zstd", "jsonl.zst", lambda v: _zstd(lines_of(v))[:-9], REFUSED),
    ("cut Parquet", "parquet", lambda v: _parquet(v)[:-9], REFUSED),
    ("cut Arrow", "arrow", lambda v: _arrow(v)[: len(_arrow(v)) // 2], REFUSED),
    ("Parquet that is text", "parquet", lines_of, REFUSED),
    ("packed twice", "jsonl.gz", lambda v: gzip.compress(gzip.compress(lines_of(v))), REFUSED),
    ("zip", "zip", _zip, ANY),
    ("zip called JSON lines", "jsonl", lambda v: _zip(v, "a.jsonl"), REFUSED),
    ("tar", "tar.gz", _tar, REFUSED),
    ("pickle", "jsonl", lambda v: pickle.dumps(_Evil(), 4), REFUSED),
    ("old pickle", "jsonl", lambda v: pickle.dumps(_Evil(), 0), REFUSED),
    ("invalid UTF-8", "jsonl", lambda v: lines_of(v)[:50] + b"\xff" + lines_of(v)[50:], REFUSED),
    ("UTF-16", "jsonl", lambda v: lines_of(v).decode().encode("utf-16"), REFUSED),
    ("UTF-32", "jsonl", lambda v: lines_of(v).decode().encode("utf-32"), REFUSED),
    ("NUL bytes", "jsonl", lambda v: b"\0" * 100, REFUSED),
    ("nested deep", "jsonl", lambda v: b"[" * 200_000, REFUSED),
    ("an object nested deep", "jsonl", lambda v: b'{"text":' * 200_000, REFUSED),
    ("a number of 5,000 digits", "jsonl", lambda v: b'{"text": ' + b"9" * 5000 + b"}\n", REFUSED),
    ("a key twice", "jsonl", lambda v: lines_of(v).replace(b"}\n", b', "id": 1, "id": 2}\n', 1), REFUSED),
    ("an id twice", "jsonl", lambda v: lines_of([one | {"id": "1"} for one in v]), ANY),
    ("half characters", "jsonl", lambda v: lines_of([one | {"title": "\ud835"} for one in v]), ANY),
    ("one document", "jsonl", lambda v: lines_of(v[:1]), ANY),
    ("equal documents", "jsonl", lambda v: lines_of(v[:1] * 24), ANY),
    ("a long line", "jsonl", lambda v: b'{"text": "' + b"a" * (65 * MEBIBYTE) + b'"}\n', REFUSED),
    ("a bomb of zeros", "jsonl.gz", lambda v: gzip.compress(ZEROS) * BOMB, REFUSED),
    ("a bomb by bzip2", "jsonl.bz2", lambda v: bz2.compress(ZEROS) * BOMB, REFUSED),
    ("a bomb by xz", "jsonl.xz", lambda v: lzma.compress(ZEROS, preset=0) * BOMB, REFUSED),
    ("a bomb by zstd", "jsonl.zst", lambda v: _zstd(ZEROS) * BOMB, REFUSED),
    ("a bomb of spaces", "json.gz", lambda v: gzip.compress(b"[" + b" \n" * (MEBIBYTE // 2)) * BOMB, REFUSED),
    ("a bomb of one text", "md.gz", lambda v: gzip.compress(b"word\n" * (MEBIBYTE // 5)) * BOMB, REFUSED),
    ("a bomb of an array", "json.zst", lambda v: _zstd(b"[\n") + _zstd(b'{"text": "a"},\n' * 70_000) * BOMB, REFUSED),
    ("a bomb in a log", "eval", lambda v: _zip([{"a": "b" * 1000}], repeated=80_000), REFUSED),
    ("a cell that is long", "csv", lambda v: b"id,text\n1," + b"a" * (65 * MEBIBYTE), REFUSED),
    *(
        (f"{value!r:.20} as content", "jsonl", lambda v, value=value: lines_of(_first(v, value)), REFUSED)
        for value in (True, 3, 1.5, 10**300, float("nan"), {"a": 1}, [None], [[]], [3], [True], [["a"]], [{}])
    ),
    *(
        (f"{value!r:.20} as a line", "jsonl", lambda v, value=value: lines_of([*v[:3], value, *v[3:]]), REFUSED)
        for value in (None, True, 3, [], {}, [1], float("inf"), {"x": 1})
    ),
    *(
        (f"a column of {kind}", "parquet", lambda v, kind=kind: _column(v, kind), REFUSED)
        for kind in (pa.int64(), pa.bool_(), pa.float16(), pa.list_(pa.int8()), pa.struct([("a", pa.int8())]))
    ),
    *(
        (f"a column of {kind}", "parquet", lambda v, kind=kind: _column(v, kind), ANY)
        for kind in (pa.null(), pa.binary(), pa.timestamp("s"), pa.decimal128(30, 2), pa.map_(pa.string(), pa.int8()))
    ),
    ("a column twice", "parquet", lambda v: _twice(v), REFUSED),
    ("a table without rows", "parquet", lambda v: _table(pa.table({_key(v): pa.array([], pa.string())})), REFUSED),
    ("a table without columns", "parquet", lambda v: _table(pa.table({})), REFUSED),
    ("bytes that are not UTF-8", "parquet", lambda v: _not_utf8(v), REFUSED),
    ("rows of unequal length", "csv", lambda v: b"text,id\na,1\nb\n", REFUSED),
    ("a quote that is not closed", "csv", lambda v: b'text,id\n"a,1\nb,2\n', REFUSED),
    ("a column of CSV twice", "csv", lambda v: b"text,text\na,b\n", REFUSED),
    ("NUL in CSV", "csv", lambda v: b"text,id\na\0b,1\n" * 3, ANY),
    ("names of columns alone", "csv", lambda v: b"text,id\n", REFUSED),
    ("old line breaks", "csv", lambda v: b"text,id\r" + b"a b c.,1\r" * 30, ANY),
    ("old line breaks of JSON", "jsonl", lambda v: lines_of(v).replace(b"\n", b"\r"), ANY),
]


def _key(values: list[dict[str, Any]]) -> str:
    return next(key for key in ("text", "chain", "mentions", "sections") if key in values[0])


def _table(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def _column(values: list[dict[str, Any]], kind: pa.DataType) -> bytes:
    content = {
        "list<item: int8>": [1],
        "struct<a: int8>": {"a": 1},
        "halffloat": np.float16(1.5),
        "bool": True,
        "binary": b"a",
        "map<string, int8>": [("a", 1)],
        "null": None,
    }
    return _table(pa.table({_key(values): pa.array([content.get(str(kind), 3)] * 24, kind)}))


def _twice(values: list[dict[str, Any]]) -> bytes:
    one = pa.array(["a"] * 24)
    return _table(pa.Table.from_arrays([one, one], names=[_key(values)] * 2))


def _not_utf8(values: list[dict[str, Any]]) -> bytes:
    array = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"]).buffers())
    return _table(pa.table({_key(values): array}))


LOGS: list[dict[str, Any]] = [
    {"doc_id": 1, "resps": [["a b c."]], "filter": "none", "arguments": [["p", {}]], "task": "t"},
    {"custom_id": "r", "response": {"status_code": 200, "body": {"choices": [{"message": {"content": "a b"}}]}}},
    {"messages": [{"role": "user", "content": "p"}, {"role": "assistant", "content": [{"text": "a b"}]}]},
    {"id": 1, "epoch": 1, "output": {"choices": [{"message": {"content": "a b"}}]}, "input": [{"role": "user"}]},
    {"eval": {"task": "t", "config": {"epochs": 2}}, "samples": [{"id": 1, "output": {"completion": "a b"}}]},
    {"completion": ["**A:** one.", None], "prompt": "p", "doc_id": 3},
    {"id": 1, "title": "t", "group": "g", "sections": [{"title": "a", "text": "b"}], "source": "s"},
]
"""Records as harnesses and servers write them. A case changes one value."""


def _place(kind: str) -> None:
    """A thing in the file system that is called hostile.jsonl."""
    path = Path("hostile.jsonl")
    if kind == "a folder":
        path.mkdir()
    elif kind == "a folder in which nothing can be read":
        path.mkdir()
        (path / "a.jsonl").symlink_to("nowhere")
        (path / "b.jsonl").write_bytes(b"\xff")
    elif kind == "a loop of links":
        path.symlink_to("hostile.jsonl")
    elif kind == "a link to nowhere":
        path.symlink_to("nowhere")
    elif kind == "a folder of loops":
        path.mkdir()
        (path / "a.jsonl").symlink_to("a.jsonl")
        (path / "b").symlink_to(".")
    elif kind == "a file that may not be read":
        path.write_bytes(lines_of(texts(1)))
        path.chmod(0)
    elif kind == "a folder that may not be read":
        path.mkdir()
        path.chmod(0)
    elif kind == "a pipe":
        os.mkfifo(path)
        threading.Thread(target=path.write_bytes, args=(b'{"text": "a b"}\n',), daemon=True).start()


PLACES = [
    *("a folder", "a folder in which nothing can be read", "a loop of links", "a link to nowhere", "a folder of loops"),
    *("a file that may not be read", "a folder that may not be read", "nothing"),
]
"""What `hostile.jsonl` can be instead of a file of documents."""
NAMES = ["a\nb.jsonl", "'\".jsonl", "-x.jsonl", "a=b=c.jsonl", " .jsonl", "é\udcff.jsonl", "[*?].jsonl", "%s{}.jsonl"]


def document_case(draw: random.Random, command: str) -> Case:
    """A hostile file of documents, or hostile options."""
    place, way = draw.randrange(2), draw.random()
    made = DOCUMENTS[command][0]
    if way < 0.5:
        every = [one for one in CONTENTS if one[0].startswith("a bomb") == (way < 0.02)]
        name, ending, content, right = draw.choice(every)
        right = ANY if right == REFUSED and ending in ("csv", "md.gz", "eval") and made is not texts else right
        return _content_case(command, place, (name, ending, content, right))
    if way < 0.7:
        values: list[Any] = made(place)
        if made is texts or (made is articles and draw.random() < 0.5):
            values = [*values[:20], *[draw.choice(LOGS) for _ in range(2)]]
        values = [changed(draw, one) if draw.random() < 0.1 else one for one in values]
        data = lines_of(values)
        data = changed_bytes(draw, data) if draw.random() < 0.4 else data
        return _content_case(command, place, ("one change", "jsonl", lambda _: data, ANY))
    if way < 0.8:
        kind = draw.choice(PLACES)

        def make() -> None:
            plain_files(command)
            _place(kind)

        return Case(kind, document_words(command, "hostile.jsonl", place), make, REFUSED, "may not" in kind)
    if way < 0.86:
        name = draw.choice(NAMES)

        def make_named() -> None:
            plain_files(command)
            Path(name).write_bytes(Path(["real.jsonl", "model.jsonl"][place]).read_bytes())

        return Case(f"called {name!a}", document_words(command, name, place), make_named)
    return options_case(draw, document_words(command, "real.jsonl", 0), lambda: plain_files(command))


def _content_case(command: str, place: int, content: Content) -> Case:
    name, ending, data, right = content

    def make() -> None:
        plain_files(command)
        Path(f"hostile.{ending}").write_bytes(data(DOCUMENTS[command][0](place)))

    return Case(name, document_words(command, f"hostile.{ending}", place), make, right)


def options_case(draw: random.Random, words: list[str], make: Callable[[], None]) -> Case:
    """A hostile value for one of the options of a command, whatever it is about."""
    parser = _parser()._subparsers._group_actions[0].choices[words[0]]
    flags = [
        action.option_strings[-1]
        for action in parser._actions
        if action.option_strings and action.nargs != 0 and action.option_strings[-1] not in NOT_TRIED
    ]
    flag, value = draw.choice(flags), draw.choice(WORDS_OF_OPTIONS)
    value = "no/such" if flag in ("--output", "--out") and value in ("/", ".", "../..") else value
    joined = [f"{flag}={value}"] if draw.random() < 0.5 else [flag, value]
    return Case(f"{flag} {value:.20}", [*words, *joined], make)


NOT_TRIED = ("--model", "--fine-tune")  # they fetch models from the hub
