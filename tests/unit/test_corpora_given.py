import gzip
import json

import pytest

from textcritic.corpora import Article, Section, given_articles
from textcritic.corpora.readers import jsonl
from textcritic.errors import TextcriticError

GOOD = {"id": "a", "title": "A", "sections": [{"title": "Plot", "text": "x\n\n \ny "}, {"text": "z"}], "source": "mine"}


def lines(path, *values):
    text = "".join((value if isinstance(value, str) else json.dumps(value)) + "\n" for value in values)
    path.write_text(text, encoding="utf-8")
    return path


def test_articles_and_their_defaults(tmp_path):
    path = lines(
        tmp_path / "own.jsonl",
        GOOD | {"group": "book"},
        "",
        {"sections": [], "group": ""},
        {"id": 7, "sections": [{"title": None, "text": ""}], "group": 3},
    )
    assert list(given_articles(path)) == [
        Article("a", "A", (Section("Plot", "x\ny"), Section(None, "z")), "mine", "book"),
        Article("line-3", None, (), "own.jsonl"),
        Article("7", None, (Section(None, ""),), "own.jsonl", "3"),
    ]


def test_gzip_a_byte_order_mark_and_a_missing_last_line_end(tmp_path):
    path = tmp_path / "own.jsonl.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + json.dumps(GOOD).encode()))
    assert [article.id for article in given_articles(path)] == ["a"]


def test_reading_is_lazy(tmp_path):
    path = lines(tmp_path / "own.jsonl", GOOD, "not JSON")
    assert next(given_articles(path)).id == "a"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("{", r"not JSON \(.*\); write one JSON object a line"),
        ("[" * 100_000, "nested too deep"),
        ("1" * 5000, "a number has too many digits"),
        ([], "a line holds a list; it should be an object with `sections`"),
        ({"id": "b"}, "there is no `sections`"),
        ({"sections": "x"}, "`sections` is a string; it should be a list"),
        ({"sections": ["x"]}, "section 1: it is a string; it should be an object"),
        ({"sections": [{"text": "x"}, {"title": "t"}]}, "section 2: there is no `text`"),
        ({"sections": [{"text": None}]}, "section 1: `text` is null; it should be a string"),
        ({"sections": [{"text": 3}]}, "section 1: `text` is a number"),
        ({"sections": [{"text": "x", "title": True}]}, "section 1: `title` is a truth value"),
        ({"sections": [{"txt": "x"}]}, "section 1: there is no `text`, but there is `txt`; it should be a string"),
        ({"section": []}, "there is no `sections`, but there is `section`; it should be a list of objects"),
        ({"id": 1.5, "sections": []}, "`id` is a number; it should be a string"),
        ({"source": {}, "sections": []}, "`source` is an object"),
        ({"group": ["book"], "sections": []}, "`group` is a list; it should be a string"),
        ({"group": True, "sections": []}, "`group` is a truth value"),
        ({"id": "a", "sections": []}, "id 'a' was used on line 1"),
    ],
)
def test_every_fault_names_file_and_line(tmp_path, bad, message):
    path = lines(tmp_path / "own.jsonl", GOOD, bad)
    with pytest.raises(TextcriticError, match=r"own\.jsonl:2.*" + message) as caught:
        list(given_articles(path))
    assert "\n" not in str(caught.value)


def test_bad_files(tmp_path):
    with pytest.raises(TextcriticError, match=r"absent\.jsonl: no such file"):
        list(given_articles(tmp_path / "absent.jsonl"))
    with pytest.raises(TextcriticError, match=r"own\.jsonl: there is no article in it"):
        list(given_articles(lines(tmp_path / "own.jsonl", "", " ")))
    (tmp_path / "latin.jsonl").write_bytes(json.dumps(GOOD).encode() + b'\n{"sections": [{"text": "caf\xe9"}]}\n')
    with pytest.raises(TextcriticError, match=r"latin\.jsonl:2: not UTF-8"):
        list(given_articles(tmp_path / "latin.jsonl"))
    many = "".join(json.dumps({"sections": [{"text": str(n**9)}]}) + "\n" for n in range(2000)).encode()
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(many)[:-2000])
    with pytest.raises(TextcriticError, match=r"cut\.jsonl\.gz:\d+: the gzip data end early or are broken"):
        list(given_articles(tmp_path / "cut.jsonl.gz"))
    lines(tmp_path / "plain.jsonl.gz", GOOD)
    assert len(list(given_articles(tmp_path / "plain.jsonl.gz"))) == 1  # its first bytes say what it is
    (tmp_path / "empty").mkdir()
    with pytest.raises(TextcriticError, match=r"a folder without \*\.parquet or \*\.arrow files; name a file"):
        list(given_articles(tmp_path / "empty"))


def test_a_line_without_end_is_refused_before_memory_is_gone(monkeypatch):
    monkeypatch.setattr(jsonl, "LONGEST_LINE", 1 << 20)
    with pytest.raises(TextcriticError, match=r"^/dev/zero:1: longer than 1 MiB; write one"):
        next(jsonl.json_lines("/dev/zero"))
