"""`textcritic device-check` on the pretended card: what it says when all holds, and when something does not."""

import pytest
import torch
from pretended_card import pretended

from textcritic.cli import main
from textcritic.errors import TextcriticError
from textcritic.training import device_check
from textcritic.training.device_check import KERNELS, NEEDS, Size, check_device, table

SMALL = Size(width=16, layers=1, heads=2, vocabulary=50, context=16, blocks=2, seconds=0)


@pytest.fixture
def small(monkeypatch):
    """No more is allocated than a test has."""
    monkeypatch.setattr(device_check, "NEEDS", dict.fromkeys(NEEDS, 1000))


def test_a_card_that_holds(small):
    with pretended():
        rows, card = check_device(SMALL)
        said = table(rows, card).splitlines()
    assert all(held for _, held, _ in rows), said
    assert len(rows) == len(KERNELS) + len(NEEDS) + 1
    assert said[0].startswith("a card that is pretended, 1 of them, torch 2.")
    assert {line.split("  ok    ")[1] for line in said if line.startswith("kernel")} <= {
        "differs from the CPU by 0e+00",
        "differs from the CPU by 1e-07",
    }
    assert said[-1].endswith(" tokens/s")


def test_a_card_that_is_too_small_computes_wrongly_and_does_not_learn(monkeypatch, capsys):
    """One table with all of it, one line for what to do, and another exit code."""
    wrong = {"fused Adam": lambda x, place: KERNELS["fused Adam"](x, place) * (1.01 if place.type == "card" else 1)}
    with pretended() as card:
        monkeypatch.setattr(card, "mem_get_info", lambda on: (2**30, 2**31))
        monkeypatch.setattr(device_check, "KERNELS", KERNELS | wrong)
        monkeypatch.setattr(device_check, "Size", lambda: SMALL)
        monkeypatch.setattr(torch.optim.AdamW, "step", lambda self: None)
        assert main(["device-check"]) == 2
    out, err = capsys.readouterr()
    failed = {line.split("  ")[0]: line for line in out.splitlines() if "FAIL" in line}
    assert list(failed) == ["kernel: fused Adam", *(f"memory: {name}" for name in NEEDS), "training in auto precision"]
    assert "differs from the CPU by 2.0e-02 of the largest value" in failed["kernel: fused Adam"]
    hsmm = "memory: training an HSMM of 800 states by Adam, 64 sequences an update"
    assert "takes 45.9 GiB, 1.0 GiB are free" in failed[hsmm]
    assert "and should fall" in failed["training in auto precision"]
    assert "5 of 12 failed (kernel: fused Adam; memory:" in err
    assert err.count("\n") == 1


def test_without_a_gpu_it_says_so(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(TextcriticError, match="torch sees no GPU; run it in a job that has one"):
        check_device()
