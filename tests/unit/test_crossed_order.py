"""The order of sentences by cross-fitting: as a loop has it, and as `criticise` says it."""

import numpy as np
import pytest
from experiments.order.tiny import GAME, LIFE, articles

import textcritic
from textcritic.api.crossed_order import crossed_order
from textcritic.critics.order import TOO_SHORT
from textcritic.critics.order.arrangements import arranged
from textcritic.critics.order.critic import UNIT, shape_of
from textcritic.critics.order.features import Vocabulary
from textcritic.critics.order.sentences import sentences_of
from textcritic.errors import TextcriticError
from textcritic.inference.crossfit import PARTNER, SAMPLE, CrossOptions, observed_parts

HOW = CrossOptions(parts=4, exchanges=99)


@pytest.fixture(scope="module")
def sets():
    rng = np.random.default_rng(8)
    made = {
        "real": articles(rng, "r", 60, LIFE, 0.2),
        "same": articles(rng, "s", 40, LIFE, 0.2),
        "shuffled": articles(rng, "u", 40, LIFE, 1.0),
        "others": articles(rng, "o", 40, GAME, 0.2),
    }
    texts = {label: [[section.text for section in one.sections] for one in some] for label, some in made.items()}
    texts["real"].insert(3, ["One sentence."])
    texts["same"] += [["One sentence."], [""]]
    return texts


def crossed(sets, groups=None, how=HOW):
    sentences = sentences_of([one for some in sets.values() for one in some])
    sizes = {label: len(some) for label, some in sets.items()}
    return crossed_order(sentences, sizes, groups or dict.fromkeys(sets), how)


def by_hand(real, sample, groups):
    """(real, sample): every document by critics of the other parts, in loops."""
    both = sentences_of([*real, *sample])
    kept = np.flatnonzero(both.counted)
    found = arranged(both := both.take(kept), Vocabulary.of(both))
    number = int((kept < len(real)).sum())
    named = [groups[n] for n in kept]
    parts = observed_parts((named[:number], named[number:]), (number, len(kept) - number), HOW)
    inverse, sums = np.linalg.inv(shape_of(found)), np.zeros((2, 2))
    numbers = sorted(set(parts[parts >= 0].tolist()))
    critics = {
        k: inverse
        @ found.found[(parts >= 0) & (parts != k)].sum(axis=0)
        / found.counted[(parts >= 0) & (parts != k)].sum()
        for k in numbers
    }
    for x, size, part in zip(found.found, found.counted, parts, strict=True):
        judges = [part] if part >= 0 else numbers if part == SAMPLE else [PARTNER - part]
        sums[int(part < 0)] += [UNIT * np.mean([x @ critics[k] for k in judges]), size]
    return sums[:, 0] / sums[:, 1]


def test_values_are_those_of_a_loop_and_short_documents_are_counted(sets):
    found = crossed(sets)
    real, sample = by_hand(sets["real"], sets["same"], [None] * 200)
    values = {label: one.estimates["ordered"] for label, one in found.items()}
    assert (values["real"].value, values["same"].value) == (pytest.approx(real), pytest.approx(sample))
    assert (found["real"].documents, found["real"].reasons) == (60, {TOO_SHORT: 1})
    assert (found["same"].documents, found["same"].reasons) == (40, {TOO_SHORT: 2})
    assert values["shuffled"].p == values["others"].p == 0.01
    assert values["same"].p > 0.05
    assert found["shuffled"].more["own_high"] < values["real"].value / 2
    assert found["others"].more["own_low"] > 0
    assert found["real"].more["accuracy"] > 0.8


def test_pairs_are_judged_by_critics_that_have_not_seen_their_partners(sets):
    groups = {"real": [f"g{n}" for n in range(61)], "same": [f"g{n}" for n in range(30)] + [None] * 12}
    two = {label: sets[label] for label in groups}
    found = crossed(two, groups)
    real, sample = by_hand(two["real"], two["same"], [*groups["real"], *groups["same"]])
    assert found["same"].more["pairs"] == 29  # a real partner has one sentence
    values = [found[label].estimates["ordered"].value for label in two]
    assert values == [pytest.approx(real), pytest.approx(sample)]


def test_sets_without_order_have_no_value(sets):
    short = [["One sentence."]] * 5
    found = crossed({"real": sets["real"][:30], "short": short})
    assert (found["short"].documents, found["short"].estimates) == (0, {})
    found = crossed({"real": [sets["real"][0], *short], "same": sets["same"]})
    assert all(not one.estimates for one in found.values())


def test_criticise_names_what_is_shuffled(sets, tmp_path):
    rng = np.random.default_rng(9)
    drawn = {"shuffled": articles(rng, "u", 110, LIFE, 1.0), "others": articles(rng, "o", 110, GAME, 0.2)}
    samples = {label: [one.sections[0].text for one in of] for label, of in drawn.items()}
    real = [one[0] for one in sets["real"]]
    result = textcritic.criticise(real, samples, measures="sentences", output=tmp_path, resamples=20)
    text = " ".join(str(result).split())
    assert "- shuffled: its sentences are out of order: " in text
    assert "- others: less of real text’s order of sentences: " in text
    assert "whether its sentences are in order cannot be judged." in text


def test_text_without_two_sentences_is_refused_if_asked_for(tmp_path):
    with pytest.raises(TextcriticError, match="measures: sentences: 0 real documents have two sentences in a section"):
        textcritic.criticise(["One sentence."] * 30, {"s": ["Another."] * 30}, measures="sentences", output=tmp_path)
