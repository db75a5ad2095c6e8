"""Articles with their mentions: places in the text, what the critic makes of them, and parts of them."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.coreference.tiny import build_coreference
from textcritic.corpora import Article, Section, write_articles
from textcritic.critics.mentions import MentionChains, MentionCritic
from textcritic.errors import TextcriticError
from textcritic.experiments.coreference.passages import Passage, Symbol, Token, excerpt, passages, pieces, tokens_of
from textcritic.experiments.coreference.why import (
    FAR,
    GENDER,
    NAME,
    NEW,
    OTHER,
    counts_in_words,
    is_unlikely,
    reason_of,
    seen,
    written,
)
from textcritic.latents.resolvers import Mention, Resolved, write_mentions
from textcritic.latents.resolvers.language import load_language

TEXT = "Anna saw old Tom . She left him there .\n\nTom wept ."
RESOLVED = Resolved(
    "a",
    TEXT,
    ((0, 18), (19, 39), (41, 51)),
    (
        Mention(0, 4, 0, 4, 0, 0, True),
        Mention(9, 16, 13, 16, 1, 0, True),
        Mention(19, 22, 19, 22, 0, 1, True),
        Mention(28, 31, 28, 31, 1, 1, True),
        Mention(41, 44, 41, 44, 1, 2, True),
    ),
)
CHAIN = [".", "FEMALE:0", "MALE:1", ".", "She:0", "him:1", ".", "MALE:1"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One article, beside another that is not asked for."""
    root = tmp_path_factory.mktemp("passages")
    files = build_coreference(root, documents=6)
    articles, mentions = root / "articles.parquet", root / "mentions.parquet"
    sections = tuple(Section(None, text) for text in TEXT.split("\n\n"))
    write_articles(articles, [Article("b", None, (Section(None, "x"),), ""), Article("a", "Of Anna", sections, "")])
    write_mentions(mentions, [Resolved("b", "x", ((0, 1),), ()), RESOLVED])
    return replace(files, data=(replace(files.data[0], articles=articles, mentions=mentions),))


def test_tokens_stand_where_their_words_are(files):
    critic = MentionCritic.load(files.data[0].critic)
    (passage,) = passages(files.data[0], files, critic, ["a", "not there"])
    assert (passage.article, passage.title, passage.text) == ("a", "Of Anna", TEXT)
    assert [f"{t.symbol.name}:{t.symbol.person}" if t.is_mention else "." for t in passage.tokens] == CHAIN
    assert [TEXT[t.start : t.end] for t in passage.mentions] == ["Anna", "Tom", "She", "him", "Tom"]
    assert [TEXT[slice(*t.span)] for t in passage.mentions] == ["Anna", "old Tom", "She", "him", "Tom"]
    assert [t.start for t in passage.tokens if not t.is_mention] == [0, 19, 41]
    assert [t.log_prob for t in passage.tokens] == critic.log_prob(MentionChains.of([CHAIN])).tolist()


@pytest.mark.parametrize(("word", "said"), [("first", "old"), ("last", "Tom")])
def test_the_word_is_the_one_that_the_chains_take(files, word, said):
    chosen = replace(files, critic={**files.critic, "chains": {**files.critic["chains"], "token": word}})
    critic = MentionCritic.load(files.data[0].critic)
    (passage,) = passages(files.data[0], chosen, critic, ["a"])
    assert TEXT[passage.tokens[2].start : passage.tokens[2].end] == said


def test_mentions_of_another_text_are_refused(files, tmp_path):
    write_articles(tmp_path / "short.parquet", [Article("a", None, (Section(None, "Anna"),), "")])
    other = replace(files.data[0], articles=tmp_path / "short.parquet")
    with pytest.raises(TextcriticError, match=r"article 'a' is not in .*short.parquet, or is shorter there"):
        passages(other, files, MentionCritic.load(files.data[0].critic), ["a"])


@pytest.fixture(scope="module")
def critic():
    """Trigrams of a text in which `. MALE:0` comes three times, twice before `he:0`, and `him` never comes."""
    chain = [".", "MALE:0", "he:0"]
    return MentionCritic.fit(MentionChains.of([chain, chain, [".", "MALE:0", "."], ["FEMALE:3", "her:3"]]), order=3)


def test_what_the_critic_makes_of_a_token(critic):
    tokens = tokens_of(critic, MentionChains.of([[".", "MALE:7", "him:7", "FEMALE:5", "they:7"]]))
    him, female, they = tokens[2:]
    assert him.context == (Symbol("."), Symbol("MALE", 0))
    assert (him.symbol, him.expected, him.ago) == (Symbol("him", 0), Symbol("he", 0), 1)
    assert (him.known, him.seen, him.followed) == (2, 3, 0)
    assert him.expected_log_prob > him.log_prob == critic.log_prob(MentionChains.of([[".", "MALE:7", "him:7"]]))[2]
    assert (female.symbol, female.ago, they.ago, they.known) == (Symbol("FEMALE", 1), None, 2, 0)


def test_the_alternative_of_somebody_out_of_sight_is_new(critic):
    token = tokens_of(critic, MentionChains.of([["he:0", ".", ".", "he:4"]]))[3]
    assert written(token.expected) == "[Male]new"


def token(chain, order=5, place=-1):
    critic = MentionCritic.fit(MentionChains.of([chain[:1]]), order)
    return tokens_of(critic, MentionChains.of([chain]))[place]


@pytest.mark.parametrize(
    ("chain", "kind"),
    [
        (["MALE:0", ".", "she:0"], GENDER),
        (["he:0", "PLURAL:1", "They:0"], GENDER),
        (["they:0", "he:1", ".", ".", ".", "they:0"], FAR),
        ([".", "MALE:0", "her:1"], NEW),
        ([".", "he:0", "MALE:0"], NAME),
        (["he:0", ".", "MALE:0"], OTHER),
        ([".", "he:0", "him:0"], OTHER),
        ([".", "None:0", "they:0"], OTHER),
    ],
)
def test_why_a_mention_is_unusual(chain, kind):
    reason = reason_of(token(chain), load_language("en"))
    assert reason.kind == kind
    assert (reason.says == "") is (kind == OTHER)
    assert f"erson {token(chain).symbol.person}" in reason.says or kind == OTHER


def test_a_person_out_of_sight_is_said_with_the_distance():
    far = token(["they:0", "he:1", ".", ".", ".", "they:0"])
    assert "Person 0 was last mentioned 5 tokens before; the critic sees 4" in reason_of(far, load_language("en")).says


@pytest.mark.parametrize(
    ("counts", "words", "short"),
    [
        (
            (2, 3, 0),
            "before it was seen 3 times in the training text, and this never came next.",
            "3 times, then this never",
        ),
        (
            (2, 1, 1),
            "before it was seen once in the training text, and this came next once.",
            "once, then this once",
        ),
        (
            (1, 1200, 2),
            "was never seen in the training text; the last token of it was, 1,200 times, and this came next",
            "never; its last token 1,200 times, then this 2 times",
        ),
        (
            (0, 9, 4),
            "The tokens before it never occur in the training text, the token itself 4 times.",
            "never; this elsewhere 4 times",
        ),
        ((0, 9, 0), "nor the token itself ever occur in the training text", "never; this elsewhere never"),
    ],
)
def test_counts_in_words(critic, counts, words, short):
    of = tokens_of(critic, MentionChains.of([[".", "MALE:7", "him:7"]]))[2]
    known, times, followed = counts
    token = replace(of, known=known, seen=times, followed=followed)
    assert words in counts_in_words(token)
    assert seen(token) == short


def test_a_mark_is_never_unlikely(critic):
    mark = tokens_of(critic, MentionChains.of([["."]]))[0]
    assert not is_unlikely(replace(mark, log_prob=-40.0))
    assert is_unlikely(replace(mark, symbol=Symbol("he", 0), log_prob=-7.01))
    assert not is_unlikely(replace(mark, symbol=Symbol("he", 0), log_prob=-7.0))


def placed(number, span, word=None, person=0):
    """A token at a place in a text; of the rest nothing is read."""
    word = span if word is None else word
    rest = {"ago": None, "log_prob": -1.0, "expected": None, "expected_log_prob": math.nan, "context": ()}
    return Token(number, Symbol("he", person), *word, span, **rest, known=0, seen=0, followed=0)


SPANS = st.tuples(st.integers(0, 30), st.integers(0, 30)).map(lambda pair: (min(pair), max(pair)))


@given(st.lists(SPANS, max_size=8), st.text(min_size=30, max_size=30))
def test_pieces_are_the_text_whatever_the_mentions(spans, text):
    passage = Passage("a", "", text, tuple(placed(n, span, person=n) for n, span in enumerate(spans)))
    found = pieces(passage)
    assert "".join(piece.text for piece in found) == text
    assert all(piece.text for piece in found)
    for n, (start, _) in enumerate(spans):
        words = [piece for piece in found if n in [t.place for t in piece.words]]
        # A word of no length, or within one character, has no piece.
        assert "".join(piece.text for piece in words) in text[start:]
        assert [piece for piece in words if n in [t.place for t in piece.ends]] == words[-1:]


def test_nested_and_crossing_mentions_lie_side_by_side():
    text = "the king of the Jews wept"
    nested = (placed(0, (0, 20), (4, 8), 0), placed(1, (12, 20), (16, 20), 1), placed(2, (9, 25), (21, 25), 2))
    found = pieces(Passage("a", "", text, nested))
    assert [(p.text, p.person, [t.place for t in p.words]) for p in found] == [
        ("the ", 0, []),
        ("king", 0, [0]),
        (" ", 0, []),
        ("of ", 2, []),
        ("the ", 1, []),
        ("Jews", 1, [1]),
        (" ", 2, []),
        ("wept", 2, [2]),
    ]


@pytest.mark.parametrize("letter", ["e\u0301", "\U0001f44d\U0001f3fd", "\U0001f469\u200d\U0001f680", "\u2764\ufe0f"])
def test_no_character_is_torn(letter):
    text = f"a{letter}b"
    found = pieces(Passage("a", "", text, (placed(0, (0, 2)), placed(1, (2, 3), person=1))))
    assert letter in [piece.text for piece in found] or f"a{letter}" in [piece.text for piece in found]


def long_passage():
    """Ten sentences of 20 characters, a mention in each, of another person."""
    text = "".join(f"[{n}] sentence no. {n} . " for n in range(10))
    size = len(text) // 10
    marks = [replace(placed(2 * n, (size * n, size * n)), symbol=Symbol(".")) for n in range(10)]
    mentions = [placed(2 * n + 1, (size * n, size * n + 3), person=n) for n in range(10)]
    return Passage("a", "", text, tuple(sorted((*marks, *mentions), key=lambda t: t.place))), size


def test_an_excerpt_is_of_whole_sentences_around_the_mention():
    passage, size = long_passage()
    part = excerpt(passage, passage.tokens[11], 4 * size)
    assert part.text == passage.text[4 * size : 8 * size].rstrip()
    assert (part.before, part.before + len(part.text) + part.after) == (4 * size, len(passage.text))
    assert [t.place for t in part.tokens] == list(range(8, 16))
    assert [part.text[slice(*t.span)] for t in part.mentions] == ["[4]", "[5]", "[6]", "[7]"]
    assert [t.symbol.person for t in part.mentions] == [0, 1, 2, 3]


@pytest.mark.parametrize("place", [1, 19])
def test_an_excerpt_at_an_end_of_the_text_is_as_long(place):
    passage, size = long_passage()
    part = excerpt(passage, passage.tokens[place], 4 * size)
    assert len(part.text) >= 4 * size - 2
    assert place in [t.place for t in part.tokens]


def test_a_text_that_is_short_is_whole():
    passage, _ = long_passage()
    assert excerpt(passage, passage.tokens[7], 10_000).text == passage.text.rstrip()


def test_a_sentence_without_end_is_cut_around_the_mention():
    text = "x" * 500 + " he " + "y" * 500
    passage = Passage("a", "", text, (placed(0, (501, 503)),))
    part = excerpt(passage, passage.tokens[0], 120)
    assert len(part.text) <= 120
    assert part.text[slice(*part.tokens[0].span)] == "he"
    assert part.before + part.after == len(text) - len(part.text)


def test_a_mention_longer_than_the_excerpt_is_cut_but_its_word_is_there():
    text = "a " * 400 + "he"
    passage = Passage("a", "", text, (placed(0, (0, 802), (800, 802)),))
    part = excerpt(passage, passage.tokens[0], 100)
    assert part.text[part.tokens[0].start : part.tokens[0].end] == "he"
    assert "".join(piece.text for piece in pieces(part)) == part.text
