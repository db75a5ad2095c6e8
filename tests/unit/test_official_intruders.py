"""Published files of documents with intruders, and stories of CNN: what is read, counted and refused."""

import io
import json
import tarfile
from collections import Counter

import pytest

from textcritic.corpora.intruders import official
from textcritic.corpora.intruders.build import IN_TWO_SPLITS
from textcritic.corpora.intruders.documents import read_documents
from textcritic.corpora.intruders.official import build_official
from textcritic.corpora.intruders.sentences import split_sentences
from textcritic.corpora.readers.stories import NO_TEXT, read_stories
from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.plan.entries import Corpus

TEXT = "It is one. It is two. It is three. It is four."


@pytest.fixture(autouse=True)
def by_rules(monkeypatch):
    """Punkt's data may not be there; the rules cut these texts in the same way."""
    monkeypatch.setattr(official, "splitter_of", lambda kind: split_sentences)


def item(number, position=-1, train=0, **changed):
    replaced = TEXT.split(". ")[position].rstrip(".") + "." if position > 0 else ""
    value = {
        "file_id": number,
        "ctx": f"It is number {number}. {TEXT}" if train else TEXT,
        "to_be_replaced": replaced,
        "replace_with": "It is new." if replaced else "",
    }
    return {**value, "sen_position": position, "train": train, "label": 0, **changed}


def build(tmp_path, items, name="part.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(value) + "\n" for value in items), encoding="utf-8")
    entry = Corpus.read({"extractor": "intruders", "options": {"intruders": {"official": str(path)}}}, "test")
    said = build_official("published", path, entry, tmp_path / "out")
    assert said == read_json(tmp_path / "out" / "statistics.json")
    return {s: {d.id: d for d in read_documents(tmp_path / "out" / f"{s}.parquet")} for s in said["splits"]}, said


def test_documents_are_as_the_readme_says(tmp_path):
    items = [item(n, train=1) for n in range(100, 120)] + [
        item(1),
        item("2", 2),
        item(3, 3, sen_position="3", label="1"),
        item(4, 1, ctx=TEXT.replace("It is two.", "It is new.")),
        item(5, 2, to_be_replaced="Nowhere.", replace_with="Nor here."),
        item(6, 3, to_be_replaced="It is two."),
        item(7, ctx="One alone."),
    ]
    documents, said = build(tmp_path, items)
    assert (len(documents["train"]), len(documents["validation"])) == (18, 2)
    test = documents["test"]
    assert list(test) == ["1", "2", "3", "4"]
    assert test["1"].sentences == ("It is one.", "It is two.", "It is three.", "It is four.")
    assert (test["1"].intruder, test["1"].replaced, test["1"].group) == (None, None, "1")
    assert test["2"].sentences == ("It is one.", "It is two.", "It is new.", "It is four.")
    assert (test["2"].intruder, test["2"].replaced, test["2"].origin) == (2, "It is three.", None)
    assert (test["3"].intruder, test["3"].sentences[3]) == (3, "It is new.")
    # A text that has its intruder already.
    assert (test["4"].intruder, test["4"].sentences[1], test["4"].replaced) == (1, "It is new.", "It is two.")
    assert said["left_out"] == {"all": {official.ABSENT: 1, official.ELSEWHERE: 1, official.TOO_SHORT: 1}}
    assert said["all"]["incoherent"] == 3 / 24


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([1], r"part\.jsonl:21: should be an object with the keys file_id, ctx"),
        ({"ctx": TEXT}, r"part\.jsonl:21: the key 'file_id' is missing"),
        (item(1, ctx=3), r"part\.jsonl:21: ctx: 3 should be text"),
        (item(1, 2, replace_with=" "), r"part\.jsonl:21: replace_with: ' ' should be text"),
        (item(1, 2, sen_position="first"), r"part\.jsonl:21: sen_position: 'first' should be a whole number"),
        (item(1, 1, sen_position=0), r"sen_position: 0 should be -1, or 1 or more"),
        (item(None), r"file_id: None should be a number or text"),
        (item("100"), r"part\.jsonl:21: file_id '100' is in line 1 too"),
    ],
)
def test_a_line_that_is_not_like_that_is_refused(tmp_path, value, said):
    with pytest.raises(TextcriticError, match=said):
        build(tmp_path, [*(item(n, train=1) for n in range(100, 120)), value])
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_called_as_the_published_one_has_its_count(tmp_path, monkeypatch):
    items = [*(item(n, train=1) for n in range(20)), item(20)]
    with pytest.raises(TextcriticError, match=r"official_cnn\.jsonl: has 21 documents, and 72,670 by Table 1"):
        build(tmp_path, items, "official_cnn.jsonl")
    monkeypatch.setitem(official.COUNTS, "official_cnn.jsonl", 21)
    assert build(tmp_path, items, "official_cnn.jsonl")[1]["all"]["articles"] == 21


def test_a_file_without_test_documents_is_refused(tmp_path):
    with pytest.raises(TextcriticError, match=r"part\.jsonl: no document is left for test; left out: none"):
        build(tmp_path, [item(n, train=1) for n in range(20)])


def test_a_text_under_two_ids_is_in_one_split(tmp_path):
    """One that is tested is not trained on, whatever stands between its words and whatever took a sentence's place."""
    spaced = TEXT.replace(" It", "  It").replace("is two", "is\ttwo")
    items = [item(n, train=1) for n in range(100, 120)] + [item(1), item(2, 2)]
    doubles = [item(3, 2, train=1, ctx=TEXT), item(4, train=1, ctx=spaced), item(5, ctx=spaced)]
    documents, said = build(tmp_path, items + doubles)
    assert list(documents["test"]) == ["1", "2", "5"], "within a split a text may stand twice"
    assert not {"3", "4"} & (documents["train"].keys() | documents["validation"].keys())
    assert said["left_out"] == {"all": {IN_TWO_SPLITS: 2}}
    assert said["all"]["articles"] == 23
    assert build(tmp_path, items)[1]["left_out"] == {"all": {}}


STORIES = {
    "b": "(CNN) -- It rained.\n\nIt  was\twet.\n\n@highlight\n\nRain\n\n@highlight\n\nWet\n",
    "a": "One line, without highlights",
    "c": "@highlight\n\nNo story\n",
}


def test_stories_of_a_folder_and_of_an_archive(tmp_path):
    folder, archive = tmp_path / "cnn" / "stories", tmp_path / "cnn_stories"
    folder.mkdir(parents=True)
    with tarfile.open(archive, "w:gz") as tar:
        for name, text in STORIES.items():
            (folder / f"{name}.story").write_text(text, encoding="utf-8")
            member = tarfile.TarInfo(f"cnn/stories/{name}.story")
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    for path in (tmp_path / "cnn", archive):
        skipped = Counter()
        stories = list(read_stories(path, skipped))
        assert [(story.id, story.sections[0].text) for story in stories] == [
            ("a", "One line, without highlights"),
            ("b", "(CNN) -- It rained.\nIt was wet."),
        ]
        assert skipped == {NO_TEXT: 1}


def test_a_folder_without_stories_is_refused(tmp_path):
    with pytest.raises(TextcriticError, match=r"there is no file \*\.story in the folder"):
        list(read_stories(tmp_path, Counter()))
