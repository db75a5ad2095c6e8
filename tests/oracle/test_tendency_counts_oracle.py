"""Counts of documents against plain loops over their tokens."""

import unicodedata
from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textcritic.corpora.readers.jsonl import json_lines
from textcritic.critics.tendencies.counting import count_texts, groups_of, lags_up_to
from textcritic.critics.tendencies.counts import merge
from textcritic.critics.tendencies.tokens import chunks, tokenize
from textcritic.critics.tendencies.words import stop_words_of
from textcritic.plan.entries import Tendencies

FILMS = "tests/data/films/synopses.jsonl.gz"
# Characters that are hard on a tokenizer: marks, emoji of several code points, other spaces, control characters.
CHARACTERS = "aB1é'’-., \n\t\x00\x1c\u00a0\u2028\u200b\u200d\ufe0f\u0301ſİΣ٣½€_👩💻🏽🇫字क्षि"
TEXTS = st.lists(st.one_of(st.text(CHARACTERS, max_size=30), st.text(max_size=30)), max_size=12)


def category(character):
    return unicodedata.category(character)


def words_by_hand(text):
    """One character after the other; what goes with the one before is added to its token."""
    tokens, kind = [], "space"  # of the token that is being made
    for place, character in enumerate(text):
        sort, tone = category(character), "\U0001f3fb" <= character <= "\U0001f3ff"
        if kind != "space" and (sort[0] == "M" or sort == "Cf" or tone):
            tokens[-1] += character
        elif sort[0] in "LNM":
            if kind == "word":
                tokens[-1] += character
            else:
                tokens.append(character)
            kind = "word"
        elif sort[0] == "Z" or sort in ("Cc", "Cf"):
            kind = "space"
        elif (kind == "mark" and tokens[-1].endswith("\u200d")) or (
            kind == "word" and character in "'’-‐‑" and category(text[place + 1 : place + 2] or " ")[0] in "LN"
        ):
            tokens[-1] += character
        else:
            tokens.append(character)
            kind = "mark"
    return tokens


def symbol_by_hand(token):
    kinds = [category(character) for character in token]
    return any(kind[0] in "PSN" for kind in kinds) and all(kind[0] in "PSNM" or kind == "Cf" for kind in kinds)


def attached_by_hand(token):
    return len(token) > 1 and token[-1] in ",.;:!?)" and all(category(c)[0] in "LM" for c in token[:-1])


def by_hand(texts, group, groups, options, stop_words):
    """Everything in dictionaries and lists, a token at a time."""
    documents, words = [], [Counter() for _ in range(groups)]
    segments, sums, squares = [0] * groups, [Counter() for _ in range(groups)], [Counter() for _ in range(groups)]
    recurrence = np.zeros((groups, len(lags_up_to(options.longest_lag)), 2), int)
    attached, upper = [0] * groups, [0] * groups
    for text, g in zip(texts, group, strict=True):
        raw = text.split() if options.tokenizer == "whitespace" else words_by_hand(text)
        tokens = [token.lower() for token in raw] if options.lower_case else raw
        stop = sum(token.lower().replace("’", "'") in stop_words for token in raw)
        symbols = sum(map(symbol_by_hand, tokens))
        documents.append([len(tokens), len(set(tokens)), len(set(pairwise(tokens))), stop, symbols])
        words[g].update(tokens)
        attached[g] += sum(map(attached_by_hand, raw))
        upper[g] += sum(token != token.lower() for token in raw)
        for start in range(0, len(tokens) - options.window + 1, options.window):
            segments[g] += 1
            for word, count in Counter(tokens[start : start + options.window]).items():
                sums[g][word] += count
                squares[g][word] += count**2
        for number, lag in enumerate(lags_up_to(options.longest_lag)):
            pairs = list(zip(tokens, tokens[lag:], strict=False))
            recurrence[g, number] += len(pairs), sum(first == second for first, second in pairs)
    return documents, words, segments, sums, squares, recurrence, attached, upper


def dictionaries(words, matrix):
    """Of each row of a matrix, the values that are not zero."""
    names = words.to_pylist()
    ends = matrix.indptr
    return [
        {names[i]: n for i, n in zip(matrix.indices[a:b].tolist(), matrix.data[a:b].tolist(), strict=True)}
        for a, b in pairwise(ends)
    ]


def require_equal(counts, texts, options, seed=1):
    group = groups_of(len(texts), options.groups, seed)
    hand = by_hand(texts, group, counts.groups, options, stop_words_of(options.stop_words))
    documents, words, segments, sums, squares, recurrence, attached, upper = hand
    assert counts.documents.tolist() == documents
    assert counts.group.tolist() == group.tolist()
    total = sum(words, Counter())
    assert counts.words.to_pylist() == sorted(total, key=lambda word: (-total[word], word))
    assert counts.unigrams().tolist() == sorted(total.values(), reverse=True)
    assert dictionaries(counts.words, counts.matrix) == words
    assert counts.segments.tolist() == segments
    assert dictionaries(counts.words, counts.segment_sums) == sums
    assert dictionaries(counts.words, counts.segment_squares) == squares
    assert counts.recurrence.tolist() == recurrence.tolist()
    assert counts.attached.tolist() == attached
    assert counts.upper.tolist() == upper
    assert counts.tokens == sum(total.values())
    assert counts.empty == sum(row[0] == 0 for row in documents)


def batches_of(texts, size=5):
    return [pa.array(texts[start : start + size], pa.string()) for start in range(0, len(texts), size)]


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.sampled_from(["whitespace", "words"]), st.booleans(), st.integers(2, 4))
def test_generated_texts(texts, tokenizer, lower_case, groups):
    options = Tendencies(
        kind="tendencies", tokenizer=tokenizer, lower_case=lower_case, window=3, longest_lag=5, groups=groups
    )
    require_equal(count_texts(batches_of(texts), len(texts), options), texts, options)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_tokens_are_pieces_of_their_text(texts):
    for tokenizer, by_loop in (("whitespace", str.split), ("words", words_by_hand)):
        found = tokenize(pa.array(texts, pa.string()), tokenizer)
        tokens = [found.types[int(i)].as_py() for i in found.ids]
        assert tokens == [token for text in texts for token in by_loop(text)]
        assert found.lengths.tolist() == [len(by_loop(text)) for text in texts]


@pytest.fixture(scope="module")
def films():
    return [film["text"] for _, film in json_lines(FILMS)]


@pytest.mark.parametrize("tokenizer", ["whitespace", "words"])
def test_real_text(films, tokenizer):
    options = Tendencies(kind="tendencies", tokenizer=tokenizer, groups=10, seed=3)
    counts = count_texts(batches_of(films), len(films), options)
    assert counts.tokens > 20_000
    require_equal(counts, films, options, seed=3)


def test_every_number_of_chunks_counts_the_same(films, monkeypatch):
    """So many chunks that they are put together in several levels, by one thread and by two, and texts in blocks."""
    texts = [sentence for film in films[:5] for sentence in film.split(". ")]
    options = Tendencies(kind="tendencies", groups=7)
    monkeypatch.setattr("textcritic.critics.tendencies.counting.TOGETHER", 3)
    monkeypatch.setattr("textcritic.critics.tendencies.tokens.BLOCK_BYTES", 400)
    for threads, chunk_bytes, chunk_texts in ((1, 4000, 1000), (2, 4000, 7), (2, 1, 1)):
        monkeypatch.setattr("textcritic.critics.tendencies.counting.CHUNK_BYTES", chunk_bytes)
        monkeypatch.setattr("textcritic.critics.tendencies.counting.CHUNK_TEXTS", chunk_texts)
        counts = count_texts(batches_of(texts), len(texts), options, threads=threads)
        require_equal(counts, texts, options)


def test_merged_shards_are_the_whole(films):
    options = Tendencies(kind="tendencies", tokenizer="words", groups=9)
    cuts = [range(0, 40), range(40, 40), range(40, 41), range(41, len(films))]
    parts = [count_texts(batches_of(films[rows.start : rows.stop]), len(films), options, rows=rows) for rows in cuts]
    require_equal(merge(parts), films, options)


def test_chunks_keep_every_text_in_order():
    texts = ["", "a", "bcd", None, "efghij", "", "k"]
    batches = [pa.array(texts), pa.array([], pa.string()), pa.array(texts)[3:], pa.array(["l"]), pa.array(["m"])]
    made = [chunk.to_pylist() for chunk in chunks(batches, most_bytes=4)]
    assert [text for chunk in made for text in chunk] == [text or "" for text in [*texts, *texts[3:], "l", "m"]]
    assert all(len(chunk) == 1 or sum(map(len, chunk)) <= 4 for chunk in made)
    assert made[-1] == ["", "k", "l", "m"]
