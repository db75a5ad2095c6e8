"""The synthetic process against the released code's figures (torch 2.13 on a CPU), and against enumeration."""

import hashlib
import math
from itertools import product

import numpy as np
import pytest
import torch
from torch.distributions import Categorical

from textcritic.corpora import Process
from textcritic.plan.entries.extraction import ProcessOptions

SMALL = ProcessOptions(states=16, steps=10, subsequences=300)


@pytest.fixture(scope="module")
def papers_process():
    return Process.draw(ProcessOptions())


def test_subsequences_and_owners_are_those_of_the_released_code(papers_process):
    vocabulary = "".join(f"{' '.join(letters)} <space>\n" for letters in papers_process.subsequences)
    owners = "\n".join(map(str, papers_process.owner)) + "\n"
    assert hashlib.md5(vocabulary.encode()).hexdigest() == "013e00c72615cfd03ac16bd5e26de3fc"
    assert hashlib.md5(owners.encode()).hexdigest() == "0ba285e0d3d65a6b01749564c5c456a4"


def test_latent_ppl_is_that_of_the_released_code(papers_process):
    # It adds up in float32, in which 44.4031 has neighbours 1e-5 away: our exact value is one of them, rounded.
    assert papers_process.latent_ppl(as_released=True) == pytest.approx(44.40308607926042, rel=1e-14)
    assert papers_process.latent_ppl() == pytest.approx(44.40308607926042, rel=1e-6)
    small = Process.draw(SMALL)
    assert small.latent_ppl(as_released=True) == pytest.approx(4.567866228293951, rel=1e-6)
    assert small.latent_ppl() == pytest.approx(4.567866228293951, rel=1e-6)


def test_word_ppl_of_long_sequences_is_the_known_one(papers_process):
    # 1.9874 is the perplexity of a sequence without an end; the 50 steps from state 0 are a little easier.
    long = Process(
        *(getattr(papers_process, key) for key in ("subsequences", "owner", "emission", "transition")), 10**4
    )
    assert long.word_ppl() == pytest.approx(1.9874, abs=5e-5)
    assert papers_process.word_ppl() == pytest.approx(1.98593, abs=5e-6)


def test_sequences_drawn_in_the_released_order_have_the_released_ppl():
    process = Process.draw(SMALL)
    transition = torch.from_numpy(process.transition).float()
    emission = torch.zeros(SMALL.states, SMALL.subsequences)
    emission[process.owner, np.arange(SMALL.subsequences)] = torch.from_numpy(process.emission).float()
    torch.manual_seed(SMALL.seed)
    steps = []
    for _ in range(40):
        state = torch.zeros(16, dtype=torch.long)
        for _ in range(SMALL.steps):
            state = Categorical(probs=transition[state]).sample()
            steps.append((state, Categorical(probs=emission[state]).sample()))
    states, emitted = (
        torch.stack(part).view(40, SMALL.steps, 16).transpose(1, 2).reshape(640, SMALL.steps).numpy()
        for part in zip(*steps, strict=True)
    )
    assert (process.owner[emitted] == states).all()
    state_nll, emission_nll = process.nll(states[576:], emitted[576:])  # test is the last tenth
    # The released code takes the logarithms of float32 probabilities.
    assert math.exp(state_nll.mean()) == pytest.approx(4.496884890364586, abs=1e-7)
    tokens = process.lengths[emitted[576:]].sum()
    assert math.exp((state_nll + emission_nll).sum() / tokens) == pytest.approx(1.4353614920297402, abs=1e-7)


@pytest.mark.parametrize("steps", [1, 4])
def test_expectations_are_those_over_all_sequences(steps):
    sizes = {"states": 3, "steps": steps, "subsequences": 6, "shortest": 2, "longest": 5, "letters": 3, "seed": 1}
    process = Process.draw(ProcessOptions(**sizes, transition_temperature=0.7, emission_temperature=0.4))
    latent = words = tokens = total = 0.0
    for path in product(range(6), repeat=steps):
        state, log_latent, log_emission = 0, 0.0, 0.0
        for number in path:
            log_latent += math.log(process.transition[state, process.owner[number]])
            log_emission += math.log(process.emission[number])
            state = process.owner[number]
        probability = math.exp(log_latent + log_emission)
        total += probability
        latent -= probability * log_latent
        words -= probability * (log_latent + log_emission)
        tokens += probability * sum(len(process.subsequences[number]) + 1 for number in path)
    assert total == pytest.approx(1, abs=1e-12)
    assert process.latent_ppl() == pytest.approx(math.exp(latent / steps), rel=1e-12)
    assert process.word_ppl() == pytest.approx(math.exp(words / tokens), rel=1e-12)
