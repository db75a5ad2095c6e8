"""The tables of a hidden semi-Markov model, and the folder that holds them."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny_hsmm import lattice_of, random_model

from textcritic.errors import TextcriticError
from textcritic.files import read_json, write_json
from textcritic.generators.hsmm import HSMM, log_marginal


def test_save_and_load(tmp_path):
    for dtype in (torch.float32, torch.float64):
        model = random_model(1).to(dtype=dtype)
        model.save(tmp_path / "model")
        again = HSMM.load(tmp_path / "model")
        for name in ("emission", "transition", "initial", "end"):
            assert torch.equal(getattr(again, name), getattr(model, name))
        assert again.lexicon.vocabulary == model.lexicon.vocabulary
        for mine, other in zip(model.lexicon.codes, again.lexicon.codes, strict=True):
            np.testing.assert_array_equal(mine, other)
        np.testing.assert_array_equal(model.lexicon.counts, again.lexicon.counts)
        lattice = lattice_of(model, [[0, 1, 2]])
        assert torch.equal(log_marginal(model, lattice), log_marginal(again, lattice))


def test_sizes():
    model = random_model(1, vocabulary=2, longest=3, states=4)
    rows = 2 + 4 + 8
    assert model.states == 4
    assert model.parameters == rows * 4 + 4 * 4 + 4 + 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: {"emission": m.emission[1:]}, r"emission has shape \(38, 3\); \(39, 3\) would be right"),
        (lambda m: {"transition": m.transition[:, :2]}, "transition has shape"),
        (lambda m: {"end": m.end[:2]}, "end has shape"),
        (lambda m: {"initial": m.initial.float()}, "initial is torch.float32"),
    ],
)
def test_wrong_shapes(change, message):
    model = random_model(0)
    with pytest.raises(TextcriticError, match=message):
        replace(model, **change(model))


@pytest.mark.parametrize(
    ("name", "at", "value", "message"),
    [
        ("emission", (0, 1), 2.0, "a distribution of emission is off one by"),
        ("emission", (3, 0), float("nan"), "a distribution of emission is off one by nan"),
        ("transition", (2, 2), float("inf"), "a distribution of transition is off one by inf"),
        ("initial", (0,), 0.0, "a distribution of initial is off one by"),
        ("end", (0,), 1.5, "end has an entry of 1.5"),
        ("end", (0,), -0.5, "end has an entry of -0.5"),
        ("end", (2,), float("nan"), "end has an entry of nan"),
    ],
)
def test_invalid_values(tmp_path, name, at, value, message):
    model = random_model(0)
    getattr(model, name)[at] = value
    with pytest.raises(TextcriticError, match=message):
        model.validate()
    with pytest.raises(TextcriticError, match=message):
        model.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_negative_values():
    model = random_model(0)
    model.transition[0] = torch.tensor([1.5, -0.5, 0.0])
    with pytest.raises(TextcriticError, match=r"transition has an entry of -0\.5"):
        model.validate()


def test_damaged_folders(tmp_path):
    folder = tmp_path / "model"
    with pytest.raises(TextcriticError, match=r"config\.json: no such file"):
        HSMM.load(folder)
    random_model(0).save(folder)
    weights = (folder / "model.safetensors").read_bytes()
    config = read_json(folder / "config.json")
    for size in (0, 10, len(weights) - 1):
        (folder / "model.safetensors").write_bytes(weights[:size])
        with pytest.raises(TextcriticError, match=r"model\.safetensors: not a whole model"):
            HSMM.load(folder)
    (folder / "model.safetensors").unlink()
    with pytest.raises(TextcriticError, match=r"model\.safetensors: no such file"):
        HSMM.load(folder)
    (folder / "model.safetensors").write_bytes(weights)
    for key, value in [("longest", 2), ("longest", "three"), ("vocabulary", 2)]:
        write_json(folder / "config.json", config | {key: value})
        with pytest.raises(TextcriticError, match="not a whole model"):
            HSMM.load(folder)
    write_json(folder / "config.json", {key: value for key, value in config.items() if key != "longest"})
    with pytest.raises(TextcriticError, match="not a whole model"):
        HSMM.load(folder)
    for other in ([], {"kind": "ngram"}):
        write_json(folder / "config.json", other)
        with pytest.raises(TextcriticError, match=r"config\.json: not of a hidden semi-Markov model"):
            HSMM.load(folder)
    (folder / "config.json").write_text("{")
    with pytest.raises(TextcriticError, match="not a JSON file"):
        HSMM.load(folder)
