import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcritic.corpora import BODY, BOUNDARY
from textcritic.generators.encode import training_starts, windows

END = 0


def stream(lengths, as_released=False):
    """Articles of so many body tokens (numbered from 10), in either boundary form."""
    tokens, kinds = ([], []) if as_released else ([END], [BOUNDARY])
    for length in lengths:
        if as_released:
            tokens, kinds = [*tokens, END], [*kinds, BOUNDARY]
        tokens += range(10, 10 + length)
        kinds += [BODY] * length
        tokens, kinds = [*tokens, END], [*kinds, BOUNDARY]
        if as_released:
            tokens, kinds = [*tokens, 1], [*kinds, BOUNDARY]
    return np.array(tokens, np.int32), np.array(kinds, np.uint8)


def test_packed_blocks_follow_one_another():
    tokens, kinds = stream([5, 6, 7])  # 22 tokens
    assert training_starts(tokens, kinds, END, 4, "packed").tolist() == [0, 4, 8, 12, 16]
    assert windows(tokens, kinds, END, 4, "packed").tolist() == [[s, 4, 4] for s in (0, 4, 8, 12, 16)] + [[20, 1, 1]]


def test_as_released_windows_predict_no_first_token_and_drop_the_rest():
    tokens, kinds = stream([5, 6, 7])
    assert windows(tokens, kinds, END, 8, "as_released").tolist() == [[0, 7, 7], [8, 7, 7]]


def test_article_blocks_begin_with_articles():
    tokens, kinds = stream([5, 6, 7])  # articles open at 0, 6, 13
    assert training_starts(tokens, kinds, END, 8, "articles").tolist() == [0, 6, 13]
    # The first window counts up to the article that it cuts off; the last ends with the stream.
    assert windows(tokens, kinds, END, 8, "articles").tolist() == [[0, 8, 6], [6, 8, 7], [13, 8, 8]]


def test_an_article_longer_than_a_block_goes_on_in_the_next():
    tokens, kinds = stream([20, 3])
    assert training_starts(tokens, kinds, END, 8, "articles").tolist() == [0, 8, 16]
    assert windows(tokens, kinds, END, 8, "articles")[:, 0].tolist() == [0, 8, 16, 21]


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=20),
    st.integers(2, 40),
    st.booleans(),
    st.sampled_from(["packed", "articles"]),
)
def test_every_token_but_the_first_is_counted_once(lengths, context, as_released, kind):
    tokens, kinds = stream(lengths, as_released)
    counted = np.zeros(len(tokens), int)
    for start, inputs, kept in windows(tokens, kinds, END, context, kind):
        assert 1 <= kept <= inputs <= context
        assert start + inputs < len(tokens)
        counted[start + 1 : start + kept + 1] += 1
    assert counted[0] == 0
    assert (counted[1:] == 1).all()


def by_hand(tokens, kinds, context):
    """Where windows that begin with articles begin, one after the other."""
    opens = [at for at in range(len(tokens) - 1) if tokens[at] == END and kinds[at + 1] == BODY]
    starts = [0]
    while starts[-1] + context < len(tokens) - 1:
        cut = max((at for at in opens if starts[-1] < at <= starts[-1] + context), default=starts[-1] + context)
        starts.append(cut)
    return starts


@given(st.lists(st.integers(1, 30), min_size=1, max_size=12), st.integers(2, 20), st.booleans())
def test_windows_are_those_counted_by_hand(lengths, context, as_released):
    tokens, kinds = stream(lengths, as_released)
    count = len(tokens)
    begins = {"packed": list(range(0, count - 1, context)), "articles": by_hand(tokens, kinds, context)}
    for kind, starts in begins.items():
        assert windows(tokens, kinds, END, context, kind)[:, 0].tolist() == starts
        whole = [start for start in starts if start + context <= count - 1]
        assert training_starts(tokens, kinds, END, context, kind).tolist() == whole
    released = [[start, context - 1, context - 1] for start in range(0, count, context) if start + context <= count]
    assert windows(tokens, kinds, END, context, "as_released").tolist() == released


@given(st.lists(st.integers(1, 10), min_size=3, max_size=20), st.booleans())
def test_every_block_begins_with_an_article_where_articles_fit(lengths, as_released):
    tokens, kinds = stream(lengths, as_released)
    starts = training_starts(tokens, kinds, END, 16, "articles")
    assert ((tokens[starts] == END) & (kinds[starts + 1] == BODY)).all()
    assert (starts + 16 < len(tokens)).all()


@pytest.mark.parametrize("kind", ["packed", "articles"])
def test_perplexity_is_the_same_sum_whatever_the_batch(kind, tiny_encoding):
    from textcritic.generators.encode import load_encoded
    from textcritic.generators.perplexity import iter_nll
    from textcritic.training.hardware import autocast, device
    from textcritic.training.load import load_causal, load_tokenizer

    tokenizer = load_tokenizer(tiny_encoding.tokenizer)
    config = {"model_type": "gpt2", "n_layer": 1, "n_head": 2, "n_embd": 16, "n_positions": 32}
    model = load_causal({"config": config}, tokenizer)
    tokens, kinds = load_encoded(tiny_encoding.validation)
    cut = windows(tokens, kinds, tokenizer.eos_token_id, 32, kind)
    sums = []
    for batch in (1, 5):
        parts = list(iter_nll(model, tokens, cut, batch, autocast(device(), "fp32")))
        positions = np.concatenate([p for p, _ in parts])
        assert sorted(positions.tolist()) == list(range(1, len(tokens)))
        sums.append(sum(n.sum() for _, n in parts))
    assert sums[0] == pytest.approx(sums[1], rel=1e-6)
