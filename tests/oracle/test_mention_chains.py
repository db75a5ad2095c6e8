"""Chains of mentions against a plain loop over articles that was written from the released code's description."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textcritic.latents.resolvers import Mention, Resolved, Unresolved, iter_mentions, write_mentions
from textcritic.latents.resolvers.chains import ChainOptions, chains_of, chains_of_batches, read_chains

VOTES = {
    **dict.fromkeys(("himself", "him", "he", "his"), "MALE"),
    **dict.fromkeys(("her", "she", "hers", "herself"), "FEMALE"),
    **dict.fromkeys(("them", "our", "they", "their", "us", "we", "ourselves", "themselves"), "PLURAL"),
}
SILENT = ("mine", "myself", "i", "me", "my", "your", "yourself")
WORDS = ("he", "He", "him", "she", "her", "they", "I", "my", "mine", "Tom", "king", "Anna", "company", "it")


def by_loop(article, options):
    """The chain of an article: tokens as (symbol, entity)."""
    counting = [m for m in article.mentions if word(article, m).lower() not in options.left_out]
    entities = {m.entity for m in counting}
    genders = {}
    for entity in entities:
        votes = [VOTES.get(word(article, m).lower()) for m in counting if m.entity == entity]
        ranked = sorted(set(votes) - {None}, key=lambda g: (-votes.count(g), votes.index(g)))
        genders[entity] = ranked[0] if ranked and options.gender == "majority" else "None"
    counted = [m for m in counting if counts(article, m.entity, counting, options.people)]
    tokens = [(start, -1, -1, ".") for start, _ in article.sentences if options.sentence_marks]
    for place in sorted({token_place(article, m, options.token) for m in counted}):
        here = [m for m in counted if token_place(article, m, options.token) == place]
        if options.shared_token != "all":
            ends = max if options.shared_token == "last" else min
            chosen = ends(m.entity for m in here)
            # Of several mentions of one entity at one place only one is kept.
            here = [m for m in here if m.entity == chosen][:1]
        for mention in here:
            text = token_text(article, mention, options.token)
            pronoun = text.lower() in VOTES or text.lower() in SILENT
            shown = (text.lower() if options.case == "fold" else text) if pronoun else genders[mention.entity]
            tokens.append((place, 1, mention.entity, shown))
    return [(symbol, entity) for _, _, entity, symbol in sorted(tokens, key=lambda token: token[:2])]


def counts(article, entity, mentions, people):
    of_entity = [m for m in mentions if m.entity == entity]
    said = [m.person for m in of_entity]
    pronoun = any(word(article, m).lower() in (*VOTES, *SILENT) for m in of_entity)
    if people == "all":
        return True
    if people == "as_released":
        return any(said) or pronoun
    return any(said) or (set(said) == {None} and pronoun)


def word(article, mention):
    return article.text[mention.head_start : mention.head_end]


def token_text(article, mention, token):
    words = article.text[mention.start : mention.end].split()
    return {"head": word(article, mention), "first": words[0], "last": words[-1]}[token]


def token_place(article, mention, token):
    last = mention.end - len(token_text(article, mention, "last"))
    return {"head": mention.head_start, "first": mention.start, "last": last}[token]


@st.composite
def articles(draw):
    """Words with mentions that may nest, cross, share a head, or have the same span."""
    words = draw(st.lists(st.sampled_from(WORDS), max_size=12))
    starts = np.cumsum([0, *(len(w) + 1 for w in words)]).tolist()
    text = " ".join(words)
    cut = draw(st.integers(0, len(words)))
    spans = [(a, b) for a, b in ((0, cut), (cut, len(words))) if b > a]
    sentences = tuple((starts[a], starts[b] - 1) for a, b in spans)
    mentions = []
    for _ in range(draw(st.integers(0, 8)) if words else 0):
        first = draw(st.integers(0, len(words) - 1))
        last = draw(st.integers(first, min(first + 2, len(words) - 1)))
        head = draw(st.integers(first, last))
        entity, person = draw(st.integers(0, 3)), draw(st.sampled_from([None, True, False]))
        places = (starts[first], starts[last + 1] - 1, starts[head], starts[head + 1] - 1)
        mentions.append(Mention(*places, entity, 0 if head < cut or not cut else len(sentences) - 1, person))
    # No two mentions of one entity with one head: which of them is meant would be arbitrary, though the chain is not.
    unique = {(m.entity, m.head_start, m.start, m.end): m for m in mentions}
    return Resolved("a", text, sentences, tuple(sorted(unique.values(), key=lambda m: (m.start, -m.end))))


OPTIONS = st.builds(
    ChainOptions,
    case=st.sampled_from(["keep", "fold"]),
    sentence_marks=st.booleans(),
    people=st.sampled_from(["resolver", "as_released", "all"]),
    gender=st.sampled_from(["majority", "none"]),
    left_out=st.sampled_from([[], ["i", "me", "my", "you", "your"], ["he"]]),
    token=st.sampled_from(["head", "first", "last"]),
    shared_token=st.sampled_from(["last", "first"]),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(articles(), max_size=3), OPTIONS)
def test_chains_are_those_of_a_plain_loop(some, options):
    some = [replace(article, id=str(number)) for number, article in enumerate(some)]
    chained = chains_of(some, options)
    assert chained.ids == [article.id for article in some]
    for number, article in enumerate(some):
        here = slice(*chained.chains.offsets[number : number + 2])
        symbols = [chained.chains.symbols[code] for code in chained.chains.codes[here]]
        entities = chained.chains.entities[here].tolist()
        assert list(zip(symbols, entities, strict=True)) == by_loop(article, options)
        for symbol, entity, mention in zip(symbols, entities, chained.mention[here], strict=True):
            assert (symbol == ".") == (mention == -1)
            assert mention == -1 or article.mentions[mention].entity == entity


def test_all_mentions_with_one_word_are_kept_if_asked_for():
    text = "Tom 's wife left"
    mentions = (Mention(0, 11, 7, 11, 0, 0, True), Mention(7, 11, 7, 11, 1, 0, True))
    article = Resolved("a", text, ((0, 16),), mentions)
    kept = {shared: chains_of([article], ChainOptions(shared_token=shared)) for shared in ("first", "last", "all")}
    assert {shared: chained.chains.entities.tolist() for shared, chained in kept.items()} == {
        "first": [-1, 0],
        "last": [-1, 1],
        "all": [-1, 0, 1],
    }


def test_files_give_the_same_chains_and_keep_why_there_is_none(tmp_path):
    text = "He saw her . They left ."
    spans = ((0, 2, 0), (7, 10, 1), (13, 17, 2))
    mentions = tuple(Mention(a, b, a, b, e, int(a > 11), True) for a, b, e in spans)
    resolved = [
        Resolved("a", text, ((0, 12), (13, 24)), mentions),
        Unresolved("b", "malformed"),
        Resolved("c", "", (), ()),
    ]
    write_mentions(tmp_path / "m.parquet", resolved)
    chained = read_chains(tmp_path / "m.parquet", ChainOptions())
    assert (chained.ids, chained.rejected) == (["a", "c"], [("b", "malformed")])
    symbols = [chained.chains.symbols[code] for code in chained.chains.codes]
    assert symbols == [".", "He", "her", ".", "They"]
    assert chained.chains.lengths.tolist() == [5, 0]
    again = chains_of_batches(iter_mentions(tmp_path / "m.parquet"), ChainOptions())
    for name in (field.name for field in fields(chained.chains)):
        assert np.array_equal(getattr(again.chains, name), getattr(chained.chains, name))


def test_no_article_at_all():
    chained = chains_of([], ChainOptions())
    assert (chained.ids, len(chained.chains.codes), chained.chains.offsets.tolist()) == ([], 0, [0])


@pytest.mark.parametrize("people", ["resolver", "as_released", "all"])
def test_who_counts(people):
    """A company called they, a person without a pronoun, a thing."""
    text = "Acme says they ; Tom ; table"
    spans = ((0, 4, 0, False), (10, 14, 0, False), (17, 20, 1, True), (23, 28, 2, False))
    mentions = tuple(Mention(a, b, a, b, e, 0, p) for a, b, e, p in spans)
    chained = chains_of([Resolved("a", text, (), mentions)], ChainOptions(people=people))
    expected = {"resolver": [1], "as_released": [0, 0, 1], "all": [0, 0, 1, 2]}
    assert chained.chains.entities.tolist() == expected[people]
