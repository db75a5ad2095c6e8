"""Pronouns of the other gender, and pronouns of other people: by hand, and what an exchange never does."""

import numpy as np
import pytest

from textcritic.critics.mentions import NO_ENTITY
from textcritic.errors import TextcriticError
from textcritic.latents.resolvers import Mention, Resolved, Unresolved
from textcritic.latents.resolvers.chains import ChainOptions, chains_of
from textcritic.latents.resolvers.exchange import KINDS, Exchange
from textcritic.latents.resolvers.mention import batches_of

RNG = 3


def article(name, *sentences):
    """From sentences of words, those of mentions written word:entity."""
    text, spans, mentions = "", [], []
    for number, sentence in enumerate(sentences):
        text += " " if text else ""
        start = len(text)
        for place, token in enumerate(sentence.split()):
            word, colon, entity = token.partition(":")
            text += " " if place else ""
            if colon:
                at = (len(text), len(text) + len(word))
                mentions.append(Mention(*at, *at, int(entity), number, True))
            text += word
        spans.append((start, len(text)))
    return Resolved(name, text, tuple(spans), tuple(mentions))


TWO = article("two", "Tom:0 met Ann:1 .", "He:0 saw her:1 .", "SHE:1 told him:0 and himself:0 of his:0 dog .")
ONE = article("one", "Ann:0 slept .", "She:0 dreamt .")
THINGS = article("things", "They:0 came with me:1 .", "It rained .")


def exchange(*articles, **options):
    return Exchange.of(batches_of(articles), ChainOptions(**options))


def tokens(chains, document=0):
    some = slice(*chains.offsets[document : document + 2])
    pairs = zip(chains.codes[some], chains.entities[some], strict=True)
    return [chains.symbols[code] + ("" if entity == NO_ENTITY else f":{entity}") for code, entity in pairs]


def test_regendered_by_hand():
    """With all pronouns of the other gender the labels of names turn too; capital letters stay."""
    chains, changed = exchange(TWO).chains("regendered", 1.0, 1, np.random.default_rng(RNG))
    assert changed.tolist() == [6]
    made = tokens(chains)
    assert made[:5] == [".", "FEMALE:0", "MALE:1", ".", "She:0"]
    assert made[5] in ("him:1", "his:1")
    assert made[6:] == [".", "HE:1", "her:0", "herself:0", "her:0"]


def test_her_is_him_as_often_as_the_articles_say_him():
    """Here him is said three times as often as his."""
    said = article("said", "him:0 him:0 him:0 his:0 " + "her:1 " * 20)
    chains, _ = exchange(said).chains("regendered", 1.0, 200, np.random.default_rng(RNG))
    words = [chains.symbols[code] for code in chains.codes]
    him, his = words.count("him"), words.count("his")
    assert him + his == 4000
    assert abs(him / 4000 - 0.75) < 4 * np.sqrt(0.75 * 0.25 / 4000)


def test_hers_is_his_though_his_is_said_to_stand_before_nouns():
    chains, changed = exchange(article("a", "hers:0 .")).chains("regendered", 1.0, 1, np.random.default_rng(RNG))
    assert tokens(chains) == [".", "his:0"]
    assert changed.tolist() == [1]


def test_relinked_by_hand():
    """With two people each pronoun goes to the other one, whose name then votes as they say."""
    chains, changed = exchange(TWO).chains("relinked", 1.0, 1, np.random.default_rng(RNG))
    assert changed.tolist() == [6]
    assert " ".join(tokens(chains)) == ". FEMALE:0 MALE:1 . He:1 her:0 . SHE:0 him:1 himself:1 his:1"


def test_relinked_to_each_of_the_others_alike():
    many = article("many", "Tom:0 Ann:1 Bob:2 Eve:7 .", "he:2 .")
    chains, _ = exchange(many).chains("relinked", 1.0, 3000, np.random.default_rng(RNG))
    drawn = [entity for entity, code in zip(chains.entities, chains.codes, strict=True) if chains.symbols[code] == "he"]
    counts = [drawn.count(entity) for entity in (0, 1, 7)]
    assert sum(counts) == 3000
    assert max(abs(count - 1000) for count in counts) < 4 * np.sqrt(3000 * 2 / 9)


def test_what_cannot_be_exchanged_stays():
    """One person alone has nobody to be relinked to; they and me have no gender."""
    before = chains_of([ONE, THINGS], ChainOptions()).chains
    made = exchange(ONE, THINGS)
    chains, changed = made.chains("relinked", 1.0, 1, np.random.default_rng(RNG))
    assert [tokens(chains, n) for n in (0, 1)] == [tokens(before, n) for n in (0, 1)]
    assert changed.tolist() == [0, 0]
    chains, changed = made.chains("regendered", 1.0, 1, np.random.default_rng(RNG))
    assert tokens(chains, 0) == [".", "MALE:0", ".", "He:0"]
    assert tokens(chains, 1) == tokens(before, 1)
    assert changed.tolist() == [1, 0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options", [{}, {"case": "fold", "gender": "none"}, {"token": "last", "sentence_marks": False}]
)
def test_a_share_of_nothing_changes_nothing(kind, options):
    """Each version is the chains as they are; what the resolver rejected, or has no token, is not there."""
    made = exchange(TWO, Unresolved("x", "other opening"), article("empty"), ONE, **options)
    before = chains_of([TWO, ONE], ChainOptions(**options)).chains
    chains, changed = made.chains(kind, 0.0, 3, np.random.default_rng(RNG))
    assert [tokens(chains, n) for n in range(6)] == 3 * [tokens(before, 0), tokens(before, 1)]
    assert not changed.any()


@pytest.mark.parametrize("kind", KINDS)
def test_versions_are_drawn_on_their_own_and_the_share_is_that_asked_for(kind):
    chains, changed = exchange(TWO).chains(kind, 0.3, 1000, np.random.default_rng(RNG))
    assert abs(changed.sum() / 6000 - 0.3) < 4 * np.sqrt(0.3 * 0.7 / 6000)
    assert len({tuple(tokens(chains, n)) for n in range(1000)}) > 30
    again, _ = exchange(TWO).chains(kind, 0.3, 1000, np.random.default_rng(RNG))
    assert np.array_equal(chains.codes, again.codes)
    assert np.array_equal(chains.entities, again.entities)


@pytest.mark.parametrize(("kind", "share"), [("swapped", 0.1), ("relinked", 1.2), ("relinked", -0.1)])
def test_bad_input(kind, share):
    with pytest.raises(TextcriticError, match="regendered or relinked, and a share from 0 to 1"):
        exchange(TWO).chains(kind, share, 1, np.random.default_rng(RNG))
