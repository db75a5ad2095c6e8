"""The LSTM language model: its probabilities sum to one over all texts, and its samples have them."""

from itertools import product

import numpy as np
import pytest
import torch
from tiny_latent_training import assert_a_stop_leaves_no_trace

from textcritic.corpora.structured.texts import Structured
from textcritic.errors import TextcriticError
from textcritic.generators.latent.lstm import LSTM, WordReader
from textcritic.generators.latent.vocabulary import Vocabulary
from textcritic.plan.entries.latent import LstmModel

WORDS = Vocabulary(("<unk>", "a", "b"))
SETTINGS = {"embedding": 6, "hidden": 6, "layers": 2, "dropout": 0.2, "tied": False, "ends": False, "uncounted": []}


def model(**changed):
    torch.manual_seed(1)
    lstm = LSTM.build(LstmModel(**SETTINGS | changed), WORDS).eval()
    with torch.no_grad():
        for parameter in lstm.parameters():
            parameter.normal_()
        if changed.get("ends"):
            lstm.output.bias[-1] = 6.0  # long texts are rare
    return lstm


def texts(length):
    return [Structured("x", words) for words in product(WORDS.words, repeat=length)]


def probabilities(lstm, length):
    return torch.cat([lstm.log_joint(text, 1) for text in texts(length)]).exp()


def test_training_leaves_values_out_between_layers_as_well():
    """What the second layer reads differs from run to run, though words and the output are left as they are."""
    for layers, differs in ((1, False), (2, True)):
        reader = WordReader(LstmModel(embedding=6, hidden=6, layers=layers, dropout=0.5), 3).train()
        reader.dropout.p = 0.0
        one, other = (reader(torch.tensor([[0, 1, 2, 0, 1]])) for _ in range(2))
        assert bool((one != other).any()) is differs


def test_a_reader_of_both_ways_reads_the_whole_text_and_nothing_behind_it():
    torch.manual_seed(1)
    reader = WordReader(LstmModel(embedding=6, hidden=6, dropout=0.0), 3, both_ways=True).eval()
    lengths = torch.tensor([4, 2])
    padded = reader(torch.tensor([[0, 1, 2, 1], [1, 2, 0, 0]]), lengths)
    assert padded.shape == (2, 5, 12)
    assert torch.allclose(padded[1, :3], reader(torch.tensor([[1, 2]]), lengths[1:])[0], atol=1e-6)
    assert torch.equal(padded[1, :3], reader(torch.tensor([[0, 1, 2, 1], [1, 2, 2, 1]]), lengths)[1, :3])
    # The last word changes what is said of the beginning, and of the place behind it.
    other = reader(torch.tensor([[0, 1, 2, 2], [1, 2, 0, 0]]), lengths)
    assert bool((padded[0, 0] != other[0, 0]).any())
    assert bool((padded[0, 4] != other[0, 4]).any())


@pytest.mark.parametrize("tied", [False, True])
def test_texts_of_one_length_sum_to_one_without_an_end(tied):
    lstm = model(tied=tied)
    sums = [float(probabilities(lstm, length).sum()) for length in (1, 3)]
    assert sums == pytest.approx([1, 1], abs=1e-6)
    assert probabilities(lstm, 3).max() > 0.2  # far from uniform, which is 1/27


@pytest.mark.parametrize("tied", [False, True])
def test_texts_of_all_lengths_sum_to_one_with_an_end(tied):
    lstm = model(ends=True, tied=tied)
    sums = [float(probabilities(lstm, length).sum()) for length in range(1, 7)]
    assert sums[1] > 0.001
    assert sum(sums) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("ends", [False, True])
def test_a_text_does_not_depend_on_those_beside_it(ends):
    lstm = model(ends=ends)
    together = [Structured("1", ("a", "b", "b", "a", "x")), Structured("2", ("b",)), Structured("3", ("a", "a"))]
    alone = torch.cat([lstm.log_joint(text, 1) for text in together])
    assert torch.allclose(-lstm.losses(together).detach(), alone, atol=1e-6)


def test_every_state_has_the_same_weight():
    lstm = model()
    log_p = lstm.log_joint(Structured("x", ("a", "b")), 3)
    assert log_p.shape == (3,)
    assert log_p.dtype == torch.float64
    assert len(set(log_p.tolist())) == 1
    assert lstm.states_of(Structured("x", ("a",))) == 1


@pytest.mark.parametrize("ends", [False, True])
def test_samples_have_the_probabilities_of_the_model(ends):
    lstm = model(ends=ends)
    count = 20_000
    samples = lstm.sample(count, 3, torch.Generator().manual_seed(1))
    expected = {}
    for length in (1, 2) if ends else (3,):  # with an end, a text of three words may be a cut one
        expected |= {text.tokens: float(lstm.log_joint(text, 1).exp()) for text in texts(length)}
    for words, p in expected.items():
        share = np.mean([sample.tokens == words for sample in samples])
        assert abs(share - p) < 5 * np.sqrt(p * (1 - p) / count) + 1e-9, words


def test_words_left_out_of_t():
    lstm = model(uncounted=["b"])
    assert lstm.counted(Structured("x", ("a", "b", "x", "b"))) == 2
    assert model().counted(Structured("x", ("a", "b", "x", "b"))) == 4


def test_tied_words_of_another_size_are_refused():
    with pytest.raises(TextcriticError, match=r"model.tied: needs an embedding of the size of hidden; they are 4"):
        model(tied=True, embedding=4)


@pytest.mark.parametrize("tied", [False, True])
def test_a_training_goes_on_where_it_stopped(tied, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    drawn = [Structured(str(n), tuple(rng.choice(["a", "b", "c"], 1 + n % 7))) for n in range(20)]
    settings = {**SETTINGS, "tied": tied, "ends": True}
    assert_a_stop_leaves_no_trace(LSTM, settings, drawn, tmp_path, monkeypatch)
