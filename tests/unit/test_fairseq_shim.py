"""The import of fairseq: what it changes it puts back, and the one line where fairseq is missing."""

import dataclasses
import importlib.util
import logging
import subprocess
import sys

import numpy as np
import pytest
import torch
from tiny_fairseq import TRANSLATORS, built

from textcritic.errors import TextcriticError
from textcritic.generators.fairseq import shim
from textcritic.generators.fairseq.shim import installed, load_fairseq

needs_fairseq = pytest.mark.skipif(not installed(), reason="run make fairseq")

# In a process of its own, which has not imported fairseq: the state of other libraries before and after.
UNCHANGED = """
import dataclasses, logging, random, sys, warnings
import numpy as np, torch
from textcritic.generators.fairseq.shim import load_fairseq

def state():
    return [
        dataclasses.dataclass, {name for name in ("float", "int", "bool") if name in vars(np)},
        list(logging.root.handlers), logging.root.level, list(sys.path),
        [rule for rule in warnings.filters if "key_padding_mask" not in str(rule[1])],
        torch.get_rng_state().tolist(), random.getstate(), np.random.get_state()[1].tolist(),
        torch.get_num_threads(), torch.get_default_dtype(),
    ]

before = state()
load_fairseq()
changed = [number for number, (old, new) in enumerate(zip(before, state())) if old != new]
assert not changed, changed
logging.getLogger("fairseq.tasks").info("a line")
"""


@needs_fairseq
def test_the_import_leaves_other_libraries_as_they_were_and_says_nothing():
    done = subprocess.run([sys.executable, "-c", UNCHANGED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@needs_fairseq
def test_only_fairseq_s_dataclasses_were_relaxed():
    load_fairseq()
    from fairseq.dataclass.configs import CommonConfig

    assert hash(CommonConfig()) is not None

    @dataclasses.dataclass
    class Plain:
        number: int = 0

    with pytest.raises(TypeError, match="unhashable"):
        hash(Plain())
    assert "float" not in vars(np)
    assert logging.getLogger("fairseq").level == logging.ERROR


@needs_fairseq
def test_an_encoder_computes_the_same_before_and_after_its_weights_are_loaded():
    """fairseq's own would take torch's fast path then, which no longer exists in that form."""
    model = built(TRANSLATORS["transformer"])
    source = torch.tensor([[1, 5, 6, 7, 2], [8, 9, 10, 11, 2]])
    with torch.no_grad():
        before = model.module.encoder(source, torch.tensor([4, 5]))["encoder_out"][0]
        model.module.load_state_dict(model.module.state_dict())
        after = model.module.encoder(source, torch.tensor([4, 5]))["encoder_out"][0]
    assert torch.equal(before, after)
    names = [name for name, _ in model.module.named_parameters()]
    assert not [name for name in names if name.endswith(shim.COPIES)]
    assert any(name.endswith("encoder.layers.0.fc1.weight") for name in names)


def test_without_fairseq_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(shim, "find_spec", lambda name: None)
    with pytest.raises(TextcriticError, match=r"^fairseq is not installed; run `textcritic install fairseq`$"):
        load_fairseq.__wrapped__()


def test_a_folder_that_is_called_fairseq_is_not_it(monkeypatch, tmp_path):
    (tmp_path / "fairseq").mkdir()
    path = [str(tmp_path)]
    monkeypatch.setattr(shim, "find_spec", lambda name: importlib.machinery.PathFinder.find_spec(name, path))
    with pytest.raises(TextcriticError, match="fairseq is not installed"):
        load_fairseq.__wrapped__()


def test_a_missing_companion_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "fairseq"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fairseq", None)
    monkeypatch.setattr(shim, "find_spec", lambda name: importlib.util.find_spec("pytest"))
    with pytest.raises(TextcriticError, match=r"fairseq cannot be imported \(.*fairseq.*\); run `textcritic install"):
        load_fairseq.__wrapped__()
