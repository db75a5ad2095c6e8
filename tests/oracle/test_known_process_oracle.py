"""Scores under a known process against a plain loop over dictionaries, and what the paper's process must give."""

import math
from collections import Counter

import numpy as np
import pytest

from textcritic.corpora.synthetic.process import DELIMITER, Process
from textcritic.critics import decompose, latent_ppl
from textcritic.critics.known_process import KnownProcess, audit_parsing
from textcritic.files import read_table
from textcritic.generators.shards import Draw, write_shard
from textcritic.latents.lookup import Lookup, parse_sequences
from textcritic.plan.entries.extraction import ProcessOptions

SMALL = ProcessOptions(states=6, steps=5, subsequences=40, shortest=2, longest=3, letters=7, seed=2)


@pytest.fixture(scope="module")
def process():
    return Process.draw(SMALL)


@pytest.fixture(scope="module")
def papers_process():
    return Process.draw(ProcessOptions())


def plain_scores(process, chains):
    """NLL of each step of each chain, by dictionaries and loops."""
    table = {(i, j): float(process.transition[i, j]) for i in range(6) for j in range(6)}
    found = []
    for chain in chains:
        before, steps = 0, []  # the released code's begin state is state 0
        for name in chain:
            steps.append(-math.log(table[before, int(name)]))
            before = int(name)
        found.append(steps)
    return found


def plain_parse(process, text):
    """The states of a text, or None: a scanner that reads a letter at a time."""
    owner = {letters: int(state) for letters, state in zip(process.subsequences, process.owner, strict=True)}
    states, word = [], ""
    for letter in text:
        if letter != " ":
            word += letter
        elif word in owner:
            states.append(str(owner[word]))
            word = ""
        else:
            return None
    return states if word == "" and len(states) == process.steps else None


def plain_released(process, text):
    """(states that the released code keeps or None, whether it calls the line invalid), as its description says."""
    owner = {letters: int(state) for letters, state in zip(process.subsequences, process.owner, strict=True)}
    found, invalid = [], False
    for piece in text.split(" ")[:-1]:
        if piece not in owner:
            invalid = True
            break
        found.append(str(owner[piece]))
    return (found, invalid) if len(found) == process.steps else (None, False)


def random_texts(process, count, seed):
    """Texts of about M sub-sequences, now and then with a letter changed, lost, or a delimiter too many."""
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(count):
        pieces = rng.choice(process.subsequences, size=process.steps + rng.choice([0, 0, 0, 0, -1, 1]))
        text = "".join(f"{piece} " for piece in pieces)
        if rng.random() < 0.4:
            at = rng.integers(len(text))
            text = text[:at] + rng.choice(["", " ", "a", "Z"]) + text[at + 1 :]
        texts.append(text if rng.random() < 0.95 else text[: rng.integers(len(text))])
    return texts


def test_scores_equal_a_plain_loop(process):
    rng = np.random.default_rng(1)
    chains = [[str(state) for state in rng.integers(6, size=rng.integers(1, 9))] for _ in range(300)]
    critic = KnownProcess.of(process)
    scores = critic.score([str(i) for i in range(300)], chains)
    expected = plain_scores(process, chains)
    assert np.concatenate(scores["step_nll"].to_pylist()) == pytest.approx(np.concatenate(expected), abs=1e-12)
    assert scores["nll"].to_pylist() == pytest.approx([sum(steps) for steps in expected], abs=1e-11)
    total, steps = sum(map(sum, expected)), sum(map(len, expected))
    assert latent_ppl(scores) == pytest.approx(math.exp(total / steps), rel=1e-12)
    pairs = Counter()
    for chain in chains:
        pairs.update(zip([-1, *map(int, chain)], map(int, chain), strict=False))
    counts = critic.transitions(scores)
    assert {(i - 1, j): int(counts[i, j]) for i, j in zip(*np.nonzero(counts), strict=True)} == dict(pairs)


def test_decomposition_is_the_latent_ppl(process):
    critic = KnownProcess.of(process)
    states, _ = process.sample(400, 3)
    scores = critic.score([str(i) for i in range(400)], [list(map(str, chain)) for chain in states])
    found = decompose(critic.transitions(scores), critic)
    assert found.steps == 400 * process.steps
    assert found.cross_entropy == pytest.approx(found.entropy + found.kl, abs=1e-12)
    assert math.exp(found.cross_entropy) == pytest.approx(latent_ppl(scores), rel=1e-12)
    assert found.kl >= 0


def test_divergence_of_the_process_from_itself_vanishes_as_predicted(process):
    # 2 N KL is asymptotically chi-squared with 7 x 6 - 7 = 35 degrees of freedom: mean 35, variance 70.
    critic, values = KnownProcess.of(process), []
    for seed in range(20):
        states, _ = process.sample(4000, seed)
        found = decompose(critic.count([list(map(str, chain)) for chain in states]), critic)
        values.append(2 * found.steps * found.kl)
    assert np.mean(values) == pytest.approx(35, abs=4 * math.sqrt(70 / 20))


def test_hand_computed():
    process = Process(
        subsequences=("x", "y"),
        owner=np.array([0, 1]),
        emission=np.ones(2),
        transition=np.array([[0.2, 0.8], [0.7, 0.3]]),
        steps=3,
    )
    scores = KnownProcess.of(process).score(["a", "b"], [["0", "1", "1"], ["1", "0", "0"]])
    nll = [-math.log(0.2 * 0.8 * 0.3), -math.log(0.8 * 0.7 * 0.2)]
    assert scores["nll"].to_pylist() == pytest.approx(nll, rel=1e-14)
    assert latent_ppl(scores) == pytest.approx((0.2 * 0.8 * 0.3 * 0.8 * 0.7 * 0.2) ** (-1 / 6), rel=1e-14)


def test_parsing_equals_a_plain_scanner(process, tmp_path):
    texts = random_texts(process, 600, 4)
    write_shard(tmp_path / "shard0.parquet", [Draw(n, text, 1, "end") for n, text in enumerate(texts)])
    process.save(tmp_path / "process.npz")
    kept, rejected = tmp_path / "kept.parquet", tmp_path / "kept.rejected.parquet"
    parse_sequences(
        [tmp_path / "shard0.parquet"], tmp_path / "process.npz", 99, "g", kept, rejected, tmp_path / "kept.json"
    )
    expected = {f"g-{n:06d}": states for n, text in enumerate(texts) if (states := plain_parse(process, text))}
    rows = read_table(kept).to_pylist()
    assert {row["id"]: [section["title"] for section in row["sections"]] for row in rows} == expected
    assert 100 < len(expected) < 500
    _, released, _ = audit_parsing(tmp_path / "process.npz", {"g": (kept, rejected)})
    lines = [(states, invalid) for text in texts for states, invalid in [plain_released(process, text)] if states]
    assert released["processed"] == len(lines) > len(expected)
    assert released["invalid"] == sum(invalid for _, invalid in lines) > 0
    steps = [nll for chain in plain_scores(process, [states for states, _ in lines]) for nll in chain]
    assert released["latent_ppl"] == pytest.approx(math.exp(sum(steps) / len(steps)), rel=1e-12)


def test_the_papers_process(papers_process):
    """44.403 by exact computation and 44.30 in the paper; chains without order would score 1753.5 and 1782."""
    critic = KnownProcess.of(papers_process)
    states, drawn = papers_process.sample(6400, 11)
    texts = ["".join(papers_process.subsequences[i] + DELIMITER for i in ids) for ids in drawn]
    lookup = Lookup.of(papers_process)
    chains = [[section.title for section in lookup.sections(text)] for text in texts]
    assert np.array_equal(np.array(chains, dtype=int), states)
    scores = critic.score([str(i) for i in range(6400)], chains)
    # The standard error of the mean NLL of a step is 0.0029 nats.
    assert math.log(latent_ppl(scores)) == pytest.approx(math.log(44.40308607926), abs=4 * 0.0029)
    stationary = np.linalg.matrix_power(papers_process.transition, 200)[0]
    for law, value in ((stationary, 1753.5), (np.full(256, 1 / 256), 1782)):
        counts = np.vstack([np.zeros(256), np.outer(law, law)])
        assert math.exp(decompose(counts, critic).cross_entropy) == pytest.approx(value, abs=0.5)
