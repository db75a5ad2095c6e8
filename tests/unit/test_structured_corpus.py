"""A corpus of texts with structure: drawn or read, split, written and counted."""

import pytest

from textcritic.corpora.structured.corpus import TOO_SHORT, build_structured
from textcritic.corpora.structured.texts import Structured, read_structured
from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.plan.entries import Corpus

TREES = "".join(f"( (S (NP (DT the) (NN dog{n})) (VP (VB barks)) ) )\n( (X (NN word{n})) )\n" for n in range(20))


def entry(extractor="trees", **options):
    """An entry of the corpora registry; `splits` may be among the options."""
    splits = options.pop("splits", {"validation": 0.2, "test": 0.2})
    return Corpus.read({"extractor": extractor, "options": options, "splits": splits}, "test")


def read(folder):
    return {split: read_structured(folder / f"{split}.parquet") for split in ("train", "validation", "test")}


def test_drawn_texts_come_one_after_the_other(tmp_path):
    from textcritic.corpora.synthetic.grammar import draw_trees

    made = {"train": 6, "validation": 3, "test": 2, "seed": 5}
    said = build_structured("drawn", entry(made=made), tmp_path)
    splits = read(tmp_path)
    assert [text for texts in splits.values() for text in texts] == draw_trees(11, 5)
    assert {split: len(texts) for split, texts in splits.items()} == {"train": 6, "validation": 3, "test": 2}
    assert said == read_json(tmp_path / "statistics.json")
    assert said["splits"]["test"]["tokens"] == sum(len(text.tokens) for text in splits["test"])
    assert said["skipped"] == {}


def test_links_come_with_the_graph_of_all_splits(tmp_path):
    from textcritic.corpora.structured.links import Knowledge

    build_structured("linked", entry("links", made={"train": 4, "validation": 2, "test": 3}), tmp_path)
    knowledge = Knowledge.read(tmp_path / "knowledge")
    mentioned = {mention.entity for texts in read(tmp_path).values() for text in texts for mention in text.mentions}
    assert mentioned <= set(knowledge.entities)


def test_files_are_split_and_short_texts_counted(tmp_path):
    """All trees of a file are one group, so that each file is in one split."""
    paths = []
    for number in range(5):
        path = tmp_path / f"part{number}.mrg"
        path.write_text(TREES.replace("dog", f"dog{number}-"), encoding="utf-8")
        paths.append(str(path))
    said = build_structured("files", entry(paths=paths, shortest=2), tmp_path / "corpus")
    splits = read(tmp_path / "corpus")
    assert {split: len({text.group for text in texts}) for split, texts in splits.items()} == {
        "train": 3,
        "validation": 1,
        "test": 1,
    }
    assert said["skipped"][TOO_SHORT] == 100
    assert all(len(text.tokens) == 3 for texts in splits.values() for text in texts)
    given = dict(zip(("train", "validation", "test"), paths, strict=False))
    build_structured("given", entry(paths=given), tmp_path / "given")
    assert [len(texts) for texts in read(tmp_path / "given").values()] == [40, 40, 40]


def test_what_leaves_nothing_or_two_of_one_is_refused(tmp_path, monkeypatch):
    with pytest.raises(TextcriticError, match=r"few: no text is left for train; left out: \{'fewer tokens"):
        build_structured("few", entry(made={"train": 2, "validation": 1, "test": 1}, shortest=1000), tmp_path)
    path = tmp_path / "one.mrg"
    path.write_text(TREES, encoding="utf-8")
    with pytest.raises(TextcriticError, match="no text is left for"):
        build_structured("one", entry(paths=[str(path)]), tmp_path)
    twice = [Structured("same", ("a", "b"), (0, 0, 1))] * 3
    monkeypatch.setattr("textcritic.corpora.synthetic.grammar.draw_trees", lambda count, seed: twice)
    with pytest.raises(TextcriticError, match="two texts have the id 'same'"):
        build_structured("twice", entry(made={"train": 1, "validation": 1, "test": 1}), tmp_path)
    assert not (tmp_path / "train.parquet").exists()
