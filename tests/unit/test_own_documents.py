"""A user's texts: every form is read alike by every command and from Python; keys that are not known are named once."""

import gzip
import json
import random

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import textcritic
from textcritic.api.documents import documents_of, texts_of
from textcritic.cli import main
from textcritic.corpora import given_articles
from textcritic.corpora.readers.records import is_text, records
from textcritic.errors import TextcriticError

SUBJECTS = [["cat", "dog", "paw", "fur"], ["sun", "moon", "star", "sky"], ["rice", "bread", "salt", "oil"]]

# Without a time in it, as the name of a test has these bytes, and workers have to agree on names.
CUT_GZIP = gzip.compress(b"a\n" * 99, mtime=0)[:-9]


def some_texts(number, seed):
    rng = random.Random(seed)
    return [
        " ".join(rng.choice(SUBJECTS[n % 3 if rng.random() < 0.9 else 0]) for _ in range(12)) for n in range(number)
    ]


REAL, MODEL = some_texts(60, 1), [*some_texts(30, 2), "", "unseen"]


def jsonl(path, rows):
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def lines(path, texts):
    data = "".join(f"{text}\n" for text in texts).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def arrow(path, texts):
    table = pa.table({"text": texts})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return path


def saved(path, texts):
    datasets.Dataset.from_dict({"text": texts}).save_to_disk(path)
    return path


def parquet(path, texts):
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table({"text": texts}), path)
    return path


FILES = {
    "lines": lambda folder, texts: lines(folder / "t.txt", texts),
    "lines, packed": lambda folder, texts: lines(folder / "t.txt.gz", texts),
    "lines by a name that says nothing": lambda folder, texts: lines(folder / "news.de", texts),
    "JSON lines": lambda folder, texts: jsonl(folder / "t.jsonl", [{"text": text} for text in texts]),
    "JSON lines, packed": lambda folder, texts: jsonl(folder / "t.json.gz", [{"text": text} for text in texts]),
    "JSON by a name that says nothing": lambda folder, texts: jsonl(folder / "t", [{"text": text} for text in texts]),
    "articles": lambda folder, texts: jsonl(folder / "a.jsonl", [{"sections": [{"text": text}]} for text in texts]),
    "Parquet": lambda folder, texts: parquet(folder / "t.parquet", texts),
    "Arrow": lambda folder, texts: arrow(folder / "t.arrow", texts),
    "a folder of tables": lambda folder, texts: parquet(folder / "tables/t.parquet", texts).parent,
    "a folder of datasets": lambda folder, texts: saved(folder / "saved", texts),
}
OBJECTS = {
    "list": list,
    "dicts": lambda texts: [{"text": text, "model": "m"} for text in texts],
    "articles": lambda texts: [{"sections": [{"title": "a", "text": text}]} for text in texts],
    "series": lambda texts: pd.Series(texts, index=range(7, 7 + len(texts))),
    "array": lambda texts: np.array(texts),
    "array of objects": lambda texts: np.array(texts, dtype=object),
    "data frame": lambda texts: pd.DataFrame({"text": texts, "model": "m"}),
    "data frame of articles": lambda texts: pd.DataFrame({"sections": [[{"text": text}] for text in texts]}),
    "table": lambda texts: pa.table({"text": texts}),
    "data set": lambda texts: datasets.Dataset.from_dict({"text": texts}),
}


@pytest.mark.parametrize("form", [*FILES, *OBJECTS])
def test_every_form_is_the_same_texts(tmp_path, form):
    given = FILES[form](tmp_path, MODEL) if form in FILES else OBJECTS[form](MODEL)
    assert list(texts_of(given, "samples").texts()) == [[text] for text in MODEL]


def test_a_series_of_lists_has_chains():
    chains = [["a", "b"], ["c"]]
    for given in (pd.Series(chains), pd.Series([np.array(chain) for chain in chains])):
        assert documents_of(given, "real").chains() == chains
    assert documents_of(np.array([["a", "b"], ["c", "d"]]), "real").chains() == [["a", "b"], ["c", "d"]]


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (pd.Series([1.5, 2]), r"real\[0\]: an object of type float is not a document; give a list of chains"),
        (np.array("one"), "real: ndarray is not a set of documents; give a list of chains"),
        (pd.Series([], dtype=object), "real: there is no document in it; give a list of chains"),
        (pd.Series(["a", None]), r"real\[1\]: a item should be .*; it is null"),
    ],
)
def test_series_of_anything_else_is_refused_in_one_line(given, fault):
    with pytest.raises(TextcriticError, match=f"^{fault}"):
        list(documents_of(given, "real").texts())


COMMANDS = {
    "coreference": (textcritic.coreference, {"resolver": "persons", "resamples": 20}),
    "topics": (textcritic.topics, {"num_topics": 2, "starts": 1, "workers": 1, "resamples": 20}),
    "mixing": (textcritic.mixing, {"iterations": 20, "starts": 1, "workers": 1, "resamples": 20}),
    "tendencies": (textcritic.compare_tendencies, {"resamples": 19}),
    "criticise": (textcritic.criticise, {"num_topics": 2, "starts": 1, "splits": 2, "workers": 1, "resamples": 20}),
}


def without_seconds(text):
    """The numbers of a command, without how long it took, and without names of files."""
    value = json.loads(text)
    value |= {"seconds": 0, "fit": {**value.get("fit", {}), "seconds": 0}}
    return value | ({"samples": list(value["samples"].values())} if "verdicts" in text else {})


@pytest.mark.parametrize("command", COMMANDS)
def test_the_same_file_gives_the_same_numbers_everywhere(tmp_path, capsys, command):
    function, options = COMMANDS[command]
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    wanted = function(REAL, {"m": MODEL} if command in ("tendencies", "criticise") else MODEL, **options)
    forms = ("lines", "lines by a name that says nothing", "JSON lines", "Parquet")
    for form in forms[2:3] if command == "criticise" else forms:  # a study takes seconds, and reads as the others do
        files = []
        for name, texts in (("real", REAL), ("m", MODEL)):
            (tmp_path / form / name).mkdir(parents=True)
            files.append(FILES[form](tmp_path / form / name, texts))
        if command == "criticise":
            found = function(files[0], {"m": files[1]}, **options)
            assert found.table.equals(wanted.table)
            flags = [*flags, f"--output={tmp_path / 'out'}"]
            assert main([command, *map(str, files), *flags]) == 0
            numbers = pd.read_csv(tmp_path / "out/table.csv")["value"].tolist()
            assert numbers == pytest.approx(wanted.table["value"].tolist(), rel=1e-12)
        else:
            capsys.readouterr()
            assert main([command, "--json", *map(str, files), *flags]) == 0
            assert without_seconds(capsys.readouterr().out) == without_seconds(wanted.to_json())


def test_lines_are_numbered_as_they_stand_and_an_empty_one_is_an_empty_text(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_bytes("\ufeffa b\n\n the\u2028c \r\nlast".encode())
    assert list(texts_of(path, "real").tokens()) == [["a", "b"], [], ["the", "c"], ["last"]]
    assert [record.where for record in records(path, ["text"], ["text"])] == [f"{path}:{n}" for n in range(1, 5)]
    blank = jsonl(tmp_path / "mine.jsonl", [{"text": "a"}])
    blank.write_text(f"\n{blank.read_text()}\n\n{blank.read_text()}")
    assert [record.where for record in records(blank, ["text"], ["text"])] == [f"{blank}:2", f"{blank}:5"]


def test_a_name_that_says_nothing(tmp_path):
    for content, text in (("a b\n", True), ('\n "Yes", she said.\n', True), ('\n {"text": "a"}\n', False), ("", False)):
        (tmp_path / "file").write_text(content)
        assert is_text(tmp_path / "file") is text
    assert not is_text(tmp_path / "gone")
    (tmp_path / "file.jsonl").write_text("a b\n")
    assert not is_text(tmp_path / "file.jsonl")


def test_sections_and_text(tmp_path):
    """Sections count where both are there; a table may lack one of them in a row; a file may have both forms."""
    path = tmp_path / "t.parquet"
    rows = [{"text": "a", "sections": None}, {"text": None, "sections": [{"title": "T", "text": "b"}, {"text": "c"}]}]
    pq.write_table(pa.Table.from_pylist(rows), path)
    assert list(texts_of(path, "real").texts()) == [["a"], ["b", "c"]]
    rows = [{"text": "a"}, {"sections": [{"text": "b"}]}, {"text": "x", "sections": [{"text": "c"}]}]
    assert list(texts_of(jsonl(tmp_path / "t.jsonl", rows), "real").texts()) == [["a"], ["b"], ["c"]]


# Keys that are not known.


def test_keys_that_are_not_known_are_named_once(tmp_path, capsys):
    rows = [{"text": text, "id": n, "model": "m", "prompt": 1} for n, text in enumerate(REAL)]
    real, table = jsonl(tmp_path / "real.jsonl", rows), tmp_path / "m.parquet"
    pq.write_table(pa.table({"text": REAL[:30], "score": [1.0] * 30}), table)
    options = ["--num-topics=2", "--starts=1", "--splits=2", "--resamples=20", f"--output={tmp_path / 'out'}"]
    assert main(["criticise", str(real), str(table), *options]) == 0
    said = [line.removeprefix("[topics] ") for line in capsys.readouterr().err.splitlines() if "ignored" in line]
    assert said == [
        f"{real}: ignored, as these keys are not known: model",
        f"{table}: ignored, as these keys are not known: score",
    ]


def test_keys_of_chains_articles_and_sections(tmp_path, capsys):
    chains = jsonl(tmp_path / "c.jsonl", [{"chain": ["a", "b"], "model": "m"}, {"chain": ["a"], "n": 1}])
    found = textcritic.chains(chains, chains, resamples=20)
    assert found.to_json() == textcritic.chains([["a", "b"], ["a"]], [["a", "b"], ["a"]], resamples=20).to_json()
    assert capsys.readouterr().err == f"{chains}: ignored, as these keys are not known: model, n\n"
    rows = [{"sections": [{"titel": "a", "text": "x"}], "model": "m"}, {"sections": [{"text": "y", "level": 2}]}]
    articles = jsonl(tmp_path / "a.jsonl", rows)
    assert [article.sections[0].title for article in given_articles(articles)] == [None, None]
    ignored = "model, sections.titel, sections.level"
    assert capsys.readouterr().err == f"{articles}: ignored, as these keys are not known: {ignored}\n"


@pytest.mark.parametrize(
    ("kind", "row", "says"),
    [
        ("articles", {"section": []}, "there is no `sections`, but there is `section`; it should be a list of objects"),
        ("articles", {"sections": [{"txt": "x"}]}, "section 1: there is no `text`, but there is `txt`; it should be"),
        ("chains", {"chains": []}, 'not an object with the key "chain" (there is no `chain`, but there is `chains`)'),
        ("mentions", {"mention": []}, "(there is no `mentions`, but there is `mention`)"),
        (
            "texts",
            {"txt": "a"},
            'a line should be {"text": "..."} or {"sections": [{"text": "..."}, ...]}; there is no',
        ),
        ("texts", {"txt": "a"}, "; there is no `text`, but there is `txt`"),
        ("texts", {"text": None}, "; `text` is null"),
        ("texts", {"text": 3}, "; `text` is a number"),
        ("texts", {"sections": "a"}, "; `sections` is not as it should be"),
        ("texts", {"sections": 3}, "; `sections` is not as it should be"),
        ("texts", {"sections": [{"title": "a"}]}, "; `sections` is not as it should be"),
        ("texts", {"mentions": ["."]}, "; there is no `text`"),
        ("texts", {"mentions": ["."], "text": "He said."}, 'both "mentions" and text are there'),
        ("mentions", {"mentions": ["."], "text": "He said."}, 'both "mentions" and "text" are there'),
        ("texts", [1], "; it is a list"),
    ],
)
def test_a_key_that_is_missing_or_misspelt(tmp_path, kind, row, says):
    path = jsonl(tmp_path / "t.jsonl", [row])
    documents = documents_of(path, "real", kind)
    read = {"articles": documents.articles, "chains": documents.chains, "mentions": documents.mentions}
    with pytest.raises(TextcriticError) as error:
        list(read.get(kind, documents.texts)())
    assert str(error.value).startswith(f"{path}:1")
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("name", "content", "kind", "says"),
    [
        ("a.txt", b"", "texts", "a.txt: there is no document in it"),
        ("a.txt", b"a\n\xff\n", "texts", "a.txt:2: not UTF-8"),
        ("a.txt", CUT_GZIP, "texts", "a.txt:100: the gzip data end early or are broken"),
        ("none.txt", None, "texts", "none.txt: no such file"),
        (".", None, "texts", ": a folder without *.parquet or *.arrow files"),
        ("a.parquet", b"a b\n", "texts", "a.parquet: not a whole Parquet file"),
        ("a.jsonl", b"", "texts", "a.jsonl: there is no document in it"),
        ("a.jsonl", b'{"text": "a"}\n\n{"text": null}\n', "texts", "a.jsonl:3: a line should be"),
        ("a.jsonl", b'{"text": "a"}\n{"text": \n', "texts", "a.jsonl:2: not JSON"),
        ("a.txt", b'{"chain": ["a"]}\n', "chains", "a.txt: holds a text a line, not chains; call a file of JSON lines"),
        ("a.dat", b"1 0:2\n", "chains", "a.dat: holds texts, not chains"),
        ("a.dat", b"1 0:2\n", "texts", "a.dat: counts in the format LDA-C, which only topics and mixing take"),
    ],
)
def test_bad_files_are_one_line(tmp_path, name, content, kind, says):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(TextcriticError) as error:
        list(getattr(documents_of(tmp_path / name, "real", kind), kind)())
    assert str(error.value).startswith(f"{tmp_path}/{says}".replace("/: ", ": "))
    assert "\n" not in str(error.value)


def test_files_that_only_some_commands_take_are_refused_by_the_others(tmp_path, capsys):
    counts = tmp_path / "real.dat"
    counts.write_text("1 0:2\n2 0:1 1:1\n")
    for command in ("tendencies", "criticise"):
        assert main([command, str(counts), str(counts)]) == 2
        assert f"{counts}: counts in the format LDA-C, which only topics" in capsys.readouterr().err
