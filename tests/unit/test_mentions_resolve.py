"""The job that resolves a file of articles: which are resolved, in parts that survive a kill, by several processes."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from textcritic.corpora import Article, Section, write_articles
from textcritic.files import read_table, write_table
from textcritic.latents.resolvers import resolve
from textcritic.latents.resolvers.resolve import OTHER_OPENING, ResolvedFiles, opening_of, resolve_articles, resolver_of
from textcritic.plan.entries import read_entry

FILM = {"matches": ".*is a.*film.*"}
RELEASED = {**FILM, "of": "sentence", "word": "film", "without": "born"}
STORY = "Anna met Tom in May. She gave him her book. "


def entry(kind="persons", **keys):
    return read_entry({"kind": kind, **keys}, "resolvers", "the test")


def article(name, *texts):
    return Article(str(name), None, tuple(Section(None, text) for text in texts), "made up")


def files(folder: Path, articles: list[Article], name: str = "mentions") -> ResolvedFiles:
    write_articles(folder / "articles.parquet", articles)
    return ResolvedFiles(folder / "articles.parquet", folder / f"{name}.parquet")


@pytest.mark.parametrize(
    ("text", "paper", "released"),
    [
        ("Alien is a 1979 film. It was made in May.", True, True),
        ("Alien is an old\nfilm. It was made.", True, True),
        ("Alien was a film. It is a good one.", False, False),
        ("Alien is a book. There is a film of it.", True, False),
        ("Ann is a film actor, born in May.", True, False),
        ("These is a list of films.", True, False),
        ("Mr. X is a 1990 film.", True, True),
        ("", False, False),
    ],
)
def test_films_as_the_paper_says_and_as_its_code_does(text, paper, released):
    for opening, expected in ((FILM, paper), (RELEASED, released)):
        opens = opening_of(entry(opening=opening).opening)
        assert opens(article("a", text, "This is a film.")) is expected


def test_articles_of_another_opening_and_those_rejected_before_are_counted(tmp_path):
    given = files(tmp_path, [article("a", "X is a film. " + STORY), article("b", STORY), article("c", "Y is a film.")])
    write_table(tmp_path / "rejected.parquet", pa.table({"id": ["d"], "text": ["?"], "why": ["malformed"]}))
    given = ResolvedFiles(given.articles, given.mentions, tmp_path / "rejected.parquet")
    resolve_articles(given, entry(opening=FILM))
    rows = read_table(given.mentions).to_pylist()
    assert [(row["id"], row["why"]) for row in rows] == [
        *(("a", None), ("b", OTHER_OPENING), ("c", None)),
        ("d", "malformed"),
    ]
    assert [row["rejected"] for row in rows] == [False, True, False, True]
    heads = [mention["head"] for mention in rows[0]["mentions"]]
    assert {"Anna", "Tom", "She", "him", "her"} <= set(heads)


def test_processes_parts_and_chunks_change_nothing(tmp_path, monkeypatch):
    articles = [article(n, STORY * (1 + n % 3), f"{STORY}No. {n}") for n in range(23)]
    resolve_articles(files(tmp_path, articles, "once"), entry())
    monkeypatch.setattr(resolve, "PART", 5)
    monkeypatch.setattr(resolve, "CHUNK", 2)
    resolve_articles(files(tmp_path, articles, "parts"), entry(), processes=2)
    once, parts = (read_table(tmp_path / f"{name}.parquet") for name in ("once", "parts"))
    assert once.equals(parts)
    assert not list(tmp_path.glob("*.parts"))


class Counting:
    """The real resolver; it counts the articles, and stops like a killed job at one of them."""

    def __init__(self, resolver, stop_at=None):
        self.resolver, self.stop_at, self.seen = resolver, stop_at, []

    def resolve(self, documents) -> Iterator:
        for name, text in documents:
            self.seen.append(name)
            if name == self.stop_at:
                raise KeyboardInterrupt
            yield from self.resolver.resolve([(name, text)])


def test_a_killed_job_goes_on_with_the_part_that_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(resolve, "PART", 4)
    given = files(tmp_path, [article(n, STORY) for n in range(10)])
    real = resolver_of(entry())
    killed, again, other = Counting(real, stop_at="6"), Counting(real), Counting(real)
    monkeypatch.setattr(resolve, "resolver_of", lambda *_: killed)
    with pytest.raises(KeyboardInterrupt):
        resolve_articles(given, entry())
    assert not Path(given.mentions).exists()
    monkeypatch.setattr(resolve, "resolver_of", lambda *_: again)
    resolve_articles(given, entry())
    assert again.seen == [str(n) for n in range(4, 10)]
    assert [row["id"] for row in read_table(given.mentions).to_pylist()] == [str(n) for n in range(10)]
    # Parts of another resolver are not taken.
    monkeypatch.setattr(resolve, "resolver_of", lambda *_: Counting(real, stop_at="6"))
    with pytest.raises(KeyboardInterrupt):
        resolve_articles(given, entry())
    monkeypatch.setattr(resolve, "resolver_of", lambda *_: other)
    resolve_articles(given, entry(opening={"matches": ".*"}))
    assert other.seen == [str(n) for n in range(10)]


@pytest.mark.parametrize("key", ["files", "language"])
def test_parts_made_from_a_file_that_was_mended_since_are_not_taken(tmp_path, monkeypatch, key):
    monkeypatch.setattr(resolve, "PART", 4)
    articles = files(tmp_path, [article(n, STORY) for n in range(10)])
    read = tmp_path / "read"
    read.write_text("before")
    asked = entry("given", files=[str(read)]) if key == "files" else entry(language=str(read))
    killed, again = Counting(resolver_of(entry()), stop_at="6"), Counting(resolver_of(entry()))
    monkeypatch.setattr(resolve, "resolver_of", lambda *_: killed)
    with pytest.raises(KeyboardInterrupt):
        resolve_articles(articles, asked)
    read.write_text("mended since")
    monkeypatch.setattr(resolve, "resolver_of", lambda *_: again)
    resolve_articles(articles, asked)
    assert again.seen == [str(n) for n in range(10)]


def test_no_article_at_all(tmp_path):
    given = files(tmp_path, [])
    resolve_articles(given, entry())
    assert read_table(given.mentions).num_rows == 0
