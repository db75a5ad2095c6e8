"""Work that is done twice, on the CPU and on a card that is pretended, with the same outcome."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

OF_A_RUN = ("seconds", "_per_second", "device")  # ends of keys of what differs from run to run


@pytest.fixture
def alike(tmp_path) -> Callable[[Callable[[Path], Any]], Any]:
    """`alike(work)`: what `work(folder)` returns and writes on the card is what it does on the CPU, to the bit."""
    from pretended_card import pretended

    def check(work: Callable[[Path], Any]) -> Any:
        for name in ("cpu", "card"):
            (tmp_path / name).mkdir()
        torch.manual_seed(0)
        expected = work(tmp_path / "cpu")
        with pretended() as card:
            torch.manual_seed(0)
            found = work(tmp_path / "card")
            assert card.operations > 20, "nothing was done on the card"
            assert not card.on_cpu, "a model was left on the CPU"
        same(found, expected, "returned")
        written = files(tmp_path / "cpu")
        assert files(tmp_path / "card") == written
        for name in written:
            same(content(tmp_path / "card" / name), content(tmp_path / "cpu" / name), name)
        return expected

    return check


@pytest.fixture(scope="session")
def few_intruders(shared_folder) -> Path:
    """Documents with intruders, and a tokenizer."""
    from tiny_intruders import TOPICS, planted, written

    from textcritic.training.load import train_tokenizer

    def make(folder: Path) -> None:
        for seed, (split, count) in enumerate({"train": 24, "validation": 8}.items()):
            written(folder / f"{split}.parquet", planted(count, seed, marked=True))
        train_tokenizer([" ".join(topic) + " stranger" for topic in TOPICS] * 20, folder / "tokenizer", 360)

    return shared_folder("few-intruders", make)


@pytest.fixture(scope="session")
def letters(shared_folder) -> Path:
    """Pairs of sentences of letters for fairseq."""
    from tiny_fairseq import tiny_data

    return shared_folder("fairseq-data", tiny_data)


def files(folder: Path) -> list[str]:
    """But for checkpoints, which also hold the state of the card's generator, and what the folder's name is in."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(str(path) for path in found if path.suffix != ".pt" and "checkpoints" not in path.parts)


def content(path: Path) -> Any:
    from textcritic.files import read_table

    if path.suffix == ".json":
        return json.loads(path.read_text())
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            return {name: arrays[name] for name in arrays}
    return read_table(path).to_pylist() if path.suffix == ".parquet" else path.read_bytes()


def same(found: Any, expected: Any, where: str) -> None:
    if isinstance(expected, torch.Tensor):
        found, expected = found.cpu().numpy(), expected.numpy()
    if isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(found, expected, err_msg=where)
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key in [key for key in expected if not str(key).endswith(OF_A_RUN)]:
            same(found[key], expected[key], f"{where}: {key}")
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected), where
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            same(one, other, f"{where}: {number}")
    else:
        assert found == expected, where
