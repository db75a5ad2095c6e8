"""Which files a result is made of: dataclasses that travel to jobs as one string."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from textcritic.errors import TextcriticError
from textcritic.plan.bundle import Files, join_request, split_request


@dataclass(frozen=True, slots=True)
class Leaf(Files):
    name: str
    scores: Path
    training: Path | None = None


@dataclass(frozen=True, slots=True)
class Tree(Files):
    first: Leaf
    others: tuple[Leaf, ...]
    grid: tuple[tuple[int, ...], ...]
    pair: tuple[str, Path]
    choices: Mapping[str, Mapping[str, Any]]
    sizes: dict[str, list[float]]
    share: float
    known: bool
    last: Leaf | None = None
    words: str | None = None


TREE = Tree(
    first=Leaf("a", Path("results/a.parquet"), Path("results/a.json")),
    others=(Leaf("ä", Path("results/b.parquet")), Leaf("c", Path("results/a.parquet"))),
    grid=((1, 2), (), (3,)),
    pair=("results/no-path.json", Path("results/pair.json")),
    choices={"given": {"top_k": 0, "stop": None, "path": "results/no-input.txt"}, "empty": {}},
    sizes={"x": [0.1, 2.0]},
    share=0.1 + 0.2,
    known=True,
)


@pytest.mark.parametrize(
    "files",
    [
        TREE,
        replace(TREE, others=(), grid=(), choices={}),
        replace(TREE, last=Leaf("d", Path("results/d.parquet")), words="e"),
    ],
)
def test_files_survive_the_journey_to_a_job(files):
    text = files.to_json()
    again = Tree.from_json(text)
    assert again == files
    assert again.to_json() == text
    assert isinstance(again.first.scores, Path)
    assert again.others == () or again.others[0].training is None


def test_what_is_equal_is_one_string_and_what_differs_another():
    other_order = replace(TREE, choices=dict(reversed(TREE.choices.items())))
    assert other_order.to_json() == TREE.to_json()
    assert replace(TREE, share=0.3).to_json() != TREE.to_json()
    assert "ä" in TREE.to_json()


def test_paths_are_the_leaves_of_type_path_each_once_in_order():
    assert TREE.paths() == ["results/a.parquet", "results/a.json", "results/b.parquet", "results/pair.json"]
    assert replace(TREE, last=Leaf("d", Path("results/d"))).paths()[-1] == "results/d"
    assert all(isinstance(path, str) for path in TREE.paths())


def test_a_file_that_is_not_there_is_named(tmp_path):
    there, gone = tmp_path / "there.parquet", tmp_path / "gone.json"
    there.touch()
    Leaf("a", there).require()
    with pytest.raises(TextcriticError, match=r"gone.json: no such file; run the rule that makes it$"):
        Leaf("a", there, gone).require()


def drawn(generator, label, seed):
    return {"generator": generator, "label": label, "seed": seed, "models": [{"label": "of no generator"}]}


def test_a_request_is_whole_again_whatever_its_labels_are():
    samples = [
        drawn("gpt2", "GPT-2", 1),
        drawn("gpt2", "GPT-2", 2),
        drawn("trigram", "tri", 1),
        drawn("gpt2", "two", 3),
    ]
    files = {"samples": samples, "resamples": 500, "known": None, "path": "results/a.json", "choices": {"top_k": 0}}
    labels = {"corpora": {"docs": "documentation"}}
    said = {"package": "one", "part": {"name": "table9"}, "parts": {}, "labels": labels, "files": files}
    texts = split_request(said)
    assert join_request(texts) == said
    assert json.loads(texts["labels"]) == labels | {"generators": {"gpt2": "GPT-2", "trigram": "tri"}}
    assert texts["settings"] == '{"known": null, "resamples": 500}'


def test_a_label_that_has_changed_is_in_one_short_text():
    before, after = (
        split_request({"labels": {}, "files": {"samples": [drawn("gpt2", label, 1)]}}) for label in ("small", "large")
    )
    assert {name for name in before if before[name] != after[name]} == {"labels"}
