"""The pretended card refuses what a GPU refuses and takes what a GPU takes; one module alone knows what a GPU is."""

import re
from pathlib import Path

import pytest
import torch
from pretended_card import MixedError, pretended

import textcritic
from textcritic.training import hardware


@pytest.fixture
def card():
    with pretended():
        yield hardware.device()


REFUSED = {
    "a sum": lambda x, on: x + torch.ones(3),
    "a stack with a number": lambda x, on: torch.stack([x[0], torch.tensor(1.0)]),
    "a product": lambda x, on: torch.ones(2, 3) @ x,
    "an index of the card into the CPU": lambda x, on: torch.ones(3)[torch.tensor([0], device=on)],
    "a look-up": lambda x, on: torch.nn.functional.embedding(torch.tensor([1]), x[:, None]),
    "values put in by index": lambda x, on: x.index_put_((torch.tensor([0, 1]),), torch.ones(2)),
    "attention": lambda x, on: torch.nn.functional.scaled_dot_product_attention(x[None], torch.ones(1, 3), x[None]),
    "an LSTM left behind": lambda x, on: torch.nn.LSTM(3, 2)(x[None]),
    "sizes of an LSTM's batches": lambda x, on: torch.nn.utils.rnn.pack_padded_sequence(
        x[None, :, None], torch.tensor([3], device=on), batch_first=True
    ),
    "a generator of the CPU": lambda x, on: torch.rand(2, generator=torch.Generator(), device=on),
    "a generator of the card": lambda x, on: torch.rand(2, generator=torch.Generator(on)),
    "a draw in place": lambda x, on: x.bernoulli_(generator=torch.Generator()),
    "numpy": lambda x, on: x.numpy(),
    "numpy by its own name": lambda x, on: __import__("numpy").asarray(x),
    "pinned memory": lambda x, on: x.pin_memory(),
}
TAKEN = {
    "a number": lambda x, on: x + torch.tensor(1.0),
    "an index of the CPU": lambda x, on: x[torch.tensor([0, 2])],
    "a list": lambda x, on: x[[0, 2]],
    "a number put in": lambda x, on: x.index_put_((torch.tensor([0]),), torch.tensor(2.0)),
    "a copy": lambda x, on: x.copy_(torch.ones(3)),
    "its own generator": lambda x, on: torch.rand(3, generator=torch.Generator(on).manual_seed(1), device=on),
    "an LSTM": lambda x, on: torch.nn.LSTM(3, 2).to(on)(x[None])[0],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_gpu_refuses(name, card):
    x = torch.arange(3.0).to(card)
    with pytest.raises((MixedError, TypeError, RuntimeError)):
        REFUSED[name](x, card)


@pytest.mark.parametrize("name", TAKEN)
def test_what_a_gpu_takes(name, card):
    found = TAKEN[name](torch.arange(3.0).to(card), card)
    assert str(found.device) == "card:0"
    assert found.cpu().isfinite().all()


def test_the_card_has_a_random_state_of_its_own(card):
    before = hardware.rng_state()
    assert before.keys() == {"cpu", "card"}
    one = torch.nn.functional.dropout(torch.ones(50, device=card)).cpu()
    assert torch.get_rng_state().equal(before["cpu"])
    other = torch.nn.functional.dropout(torch.ones(50, device=card)).cpu()
    hardware.set_rng_state(before)
    again = torch.nn.functional.dropout(torch.ones(50, device=card)).cpu()
    assert again.equal(one)
    assert not again.equal(other)


def test_afterwards_there_is_no_card():
    with pretended():
        assert hardware.device().type == "card"
    assert hardware.device().type != "card"
    assert torch.ones(3).numpy().sum() == 3


def test_one_module_alone_names_the_gpu():
    """But for the log of a job, which is below all rooms and asks whether torch sees a GPU."""
    source = Path(textcritic.__file__).parent
    naming = {path.relative_to(source) for path in source.rglob("*.py") if re.search(r"\bcuda\b", path.read_text())}
    assert naming == {Path("training/hardware.py"), Path("runlog.py")}
