"""The hidden semi-Markov language model on the card: both trainings, and log p of test sequences."""

import pytest
from tiny_hsmm import hsmm_entry
from tiny_process import SMALL, tiny_process

from textcritic.generators.hsmm.measure import measure_hsmm
from textcritic.generators.hsmm.train import train_hsmm
from textcritic.generators.train import Encoded
from textcritic.training.loop import Run

ADAM = {"method": "adam", "epochs": 1, "pretraining_epochs": 1, "evaluate_every": 3}
ENTRIES = {
    "em": hsmm_entry(4, longest=4, iterations=2, tolerance=-1.0),
    "adam": hsmm_entry(3, longest=4, most_common=60, batch_size=16, **ADAM),
}


@pytest.fixture(scope="module")
def few_sequences(tmp_path_factory):
    return tiny_process(tmp_path_factory.mktemp("few"), SMALL, {"train": 60, "validation": 10, "test": 10})


@pytest.mark.parametrize("method", ENTRIES)
def test_a_model_is_trained_and_measured(method, few_sequences, alike):
    few = few_sequences

    def work(folder):
        run = Run(folder / "model", folder / "training.json", "hsmm", 1)
        train_hsmm(Encoded(few.prefix("train"), few.prefix("validation"), few.tokenizer), ENTRIES[method], 3, run)
        measure_hsmm(folder / "model", few.prefix("test"), folder / "perplexity.json", threads=1)

    alike(work)
