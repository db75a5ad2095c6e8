"""The bench of known faults (benchmarks/known_faults.py): faults are what they say; what is judged is what is run."""

import json
import random
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import fault_measures
import known_faults
from fault_tables import BESIDE, right, write_tables
from faults import CONTROLS, FAULTS, Pool, spoilt
from known_faults import Wanted, bench, controls, faulty, marked, read_lines

FAULT = {fault.name: fault for fault in FAULTS}
NAMES = ["Anna", "Bruno", "Carla", "Dora"]
MADE_UP = [
    a + b + c for a in ("bo", "lan", "tir", "ves") for b in ("ma", "ro", "ki") for c in ("den", "sel", "ton", "rup")
]
SENTENCE = "the old house of a farmer stands by the river and its garden is full of roses which were planted in spring"
OTHER = "when people came from the town to help him with 12 trees and 3 walls so that he could rest"
WORDS = [*SENTENCE.split() * 2, *OTHER.split() * 2, *MADE_UP]


def text(rng):
    """Some sentences of made-up prose."""
    return " ".join(sentence(rng) for _ in range(6))


def sentence(rng):
    first, second = rng.sample(NAMES, 2)
    return f"{first} {' '.join(rng.choices(WORDS, k=rng.randint(8, 14)))} with {second}."


@pytest.fixture(scope="module")
def texts():
    rng = random.Random(1)
    return [text(rng) for _ in range(160)]


@pytest.fixture(scope="module")
def pool(texts):
    return Pool.of(texts[:100], texts[100:])


def made(name, texts, pool):
    return spoilt(texts, FAULT[name].make, pool, "seed")


def words(some):
    return [word for one in some for word in one.split()]


def test_each_fault_changes_texts_and_the_same_seed_gives_the_same(texts, pool):
    for fault in FAULTS:
        found = made(fault.name, texts[100:], pool)
        assert len(found) == 60
        assert sum(one != other for one, other in zip(found, texts[100:], strict=True)) >= 5, fault.name
        assert found == made(fault.name, texts[100:], pool)
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) == 37


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("tokens dropped, 10%", 0.9),
        ("truncation: the last 30% gone", 0.7),
        ("cut at half", 0.5),
        ("tokens repeated, 10%", 1.1),
    ],
)
def test_as_much_of_a_text_is_left_as_is_said(texts, pool, name, share):
    assert len(words(made(name, texts, pool))) / len(words(texts)) == pytest.approx(share, abs=0.015)


def test_faults_of_order_leave_the_words_as_they_are(texts, pool):
    for name in (
        "words shuffled",
        "all sentences shuffled",
        "6 pairs of sentences switched",
        "halves of sentences swapped",
    ):
        for one, other in zip(made(name, texts, pool), texts, strict=True):
            assert sorted(one.split()) == sorted(other.split())


def test_some_faults_are_exact(texts, pool):
    (one,) = spoilt(["He saw her, and 12 or 305 of his. She was glad"], FAULT["every number changed"].make, pool, "s")
    numbers = [word for word in one.split() if word.isdigit()]
    assert [len(number) for number in numbers] == [2, 3]
    assert numbers[0][0] != "1"
    gender = FAULT["pronouns of the other gender"].make
    assert (
        gender("He saw her, and his dog saw Himself.", random.Random(1), pool)
        == "She saw his, and her dog saw Herself."
    )
    articles = FAULT["articles removed, 50%"].make
    left = articles("the a an cat " * 200, random.Random(1), pool).split()
    assert 250 < len(left) - 200 < 350
    copied = made("copied from the reference", texts[:5], pool)
    assert set(copied) <= set(texts[:100])
    wraps = {name: make for name, _, make in CONTROLS}["line wraps"]
    assert wraps(texts[0], random.Random(1), pool).split() == texts[0].split()


def test_a_cause_is_a_measure_of_the_scorecard(texts):
    """The table of right causes names no other, and each fault but one that nothing can see has one."""
    critics = fault_measures.Critics(texts[:100], texts[100:130], 1)
    found = set(critics.judge(critics.read(texts[130:])))
    every = {"order_of_words", "repeated", "unfinished", "recited", "latent_ppl_mentions", "nll_gap", "distance"}
    every |= {one.name for one in fault_measures.TENDENCIES}
    assert found <= every
    assert set().union(*(fault.right for fault in FAULTS)) <= every
    assert [fault.name for fault in FAULTS if not fault.right] == ["every number changed"]
    assert critics.copies(critics.read(texts[:20]))
    assert not critics.copies(critics.real)
    # A document is read once: what is put together of two reads is what one read gives.
    whole = critics.read(texts[130:150])
    parts = [critics.read(texts[130:140]), critics.read(texts[140:150])]
    expected = critics.judge(whole)
    for same in (fault_measures.Read.joined(parts), whole.take(np.arange(20))):
        found = critics.judge(same)
        assert {name: p for name, (p, _) in found.items()} == {name: p for name, (p, _) in expected.items()}
        assert [s for _, s in found.values()] == pytest.approx([s for _, s in expected.values()], rel=1e-9)


def test_mauve_finds_what_is_apart_and_keeps_its_level():
    rng = np.random.default_rng(1)
    near, far = rng.normal(size=(60, 5)), rng.normal([4, 0, 0, 0, 0], size=(60, 5))
    assert fault_measures.mauve_p(near, rng.normal(size=(60, 5)), rng) > 0.05
    assert fault_measures.mauve_p(near, far, rng) == 1 / 500
    # Of one population: p is at most 0.05 in no more than 5% of repetitions (15 of 200 is the 95% point of that).
    alike = [fault_measures.mauve_p(*rng.normal(size=(2, 60, 5)), rng) <= 0.05 for _ in range(200)]
    assert sum(alike) <= 15


def test_what_is_marked_is_by_holm_and_copies_come_first():
    strengths = {"length": 3.0, "recited": 1.0, "bigrams": 0.1}
    line = {"p": {"length": 0.004, "recited": 0.02, "bigrams": 0.9}, "s": strengths}
    assert marked(line) == marked(line | {"copied": True}) == ["recited", "length"]
    assert marked(line | {"copied": False}) == ["length", "recited"]  # less is copied than in real text
    assert marked({"p": {"length": 0.03, "bigrams": 0.04}, "s": strengths}) == []


def test_a_run_goes_on_where_it_was_stopped(tmp_path, texts, monkeypatch):
    asked, trained = [], []

    class Dealing:
        def __init__(self, *_, gpt2):
            trained.append(gpt2)

        def judged(self, fault, share, make):
            asked.append((fault, share))
            return {"p": {"length": 0.001}, "s": {"length": 2.0}, "beside": dict.fromkeys(BESIDE, 0.5)}

    monkeypatch.setattr(known_faults, "Dealing", Dealing)
    found = tmp_path / "found.jsonl"
    bench(texts, found, Wanted(20, [1], 1.0, "made up"))
    wanted = [*controls(4), *faulty()]
    assert len(asked) == len(wanted) == 4 + 3 + 2 * 37
    lines = found.read_text().splitlines()
    found.write_text("\n".join([*lines[:-2], lines[-2][:20]]))  # a kill in the middle of a line
    asked.clear()
    bench(texts, found, Wanted(20, [1], 1.0, "made up"))
    assert asked == [(name, share) for name, share, _ in wanted[-2:]]
    assert len(read_lines(found)) == len(wanted)
    page = tmp_path / "page.md"
    page.write_text("<!-- summary -->\nold\n<!-- end -->\n<!-- controls -->\n<!-- end -->\nbelow\n")
    write_tables([found], page)
    shown = page.read_text()
    assert "old" not in shown
    assert "| other text of the same population | 20 | 4/4 |" in shown
    assert shown.endswith("below\n")
    asked.clear()
    bench(texts, found, Wanted(20, [2], 1.0, "made up", controls=True))
    assert asked == [(name, share) for name, share, _ in wanted[:7]]
    assert trained == [True, True, False]
    line = json.loads(lines[-1])
    assert right(line, FAULT["cut at half"]) is True
    assert right(line, FAULT["words shuffled"]) is False


def test_both_shares_of_a_fault_are_judged_together_and_each_text_is_read_by_gpt2_once(texts):
    named = [name for name, _, _ in faulty()]
    assert named[::2] == named[1::2] == list(FAULT)
    read = []

    class Reader:
        def read(self, some):
            read.extend(some)
            return np.array([[len(text)] for text in some]), np.array([[len(text), 1.0] for text in some])

    dealing = object.__new__(known_faults.Dealing)
    dealing._gpt2, dealing._by_gpt2, dealing._svd = Reader(), {}, len
    for some in (texts[:3], [*texts[2:5], texts[0], texts[0]]):
        points = dealing._points(some)
        assert points["GPT-2"][:, 0].tolist() == points["nats"][:, 0].tolist() == [len(text) for text in some]
    assert read == texts[:5]
