"""Dataclasses of paths, and the one string that they travel to jobs as."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from textcritic.errors import TextcriticError
from textcritic.plan.bundle import Files


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf(Files):
    """A file, and another that may be missing."""

    name: str
    scores: Path
    training: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole(Files):
    """Several leaves beside values that are no paths."""

    leaves: tuple[Leaf, ...]
    spare: Leaf | None
    options: Mapping[str, Any]
    seeds: tuple[int, ...]
    given: bool
    share: float


LEAF = Leaf(name="results/x", scores=Path("results/b"), training=None)
WHOLE = Whole(
    leaves=(LEAF, Leaf(name="ü", scores=Path("results/a"), training=Path("results/b"))),
    spare=None,
    options={"plain": {"top_k": 0, "path": "results/no-input"}},
    seeds=(1, 2),
    given=True,
    share=0.5,
)


def test_paths_are_the_leaves_of_that_type_each_once_in_their_order():
    assert WHOLE.paths() == ["results/b", "results/a"]


def test_it_survives_its_own_text():
    text = WHOLE.to_json()
    again = Whole.from_json(text)
    assert again == WHOLE
    assert again.to_json() == text
    assert isinstance(again.leaves[1].training, Path)
    assert again.leaves[0].training is None


def test_a_file_that_is_missing_is_named(tmp_path):
    there = Leaf(name="", scores=tmp_path, training=None)
    there.require()
    gone = Leaf(name="", scores=tmp_path, training=tmp_path / "training.json")
    with pytest.raises(TextcriticError, match=r"training\.json: no such file; run the rule that makes it$"):
        gone.require()
