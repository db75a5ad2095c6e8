"""What sources and decodings are called."""

from pathlib import Path

import pandas as pd
import pytest

from textcritic.errors import TextcriticError
from textcritic.measures.names import Names
from textcritic.measures.phrases import commonest_reasons
from textcritic.measures.scored import first_runs, reasons_from_words, reasons_in_words
from textcritic.plan.sources import RUN, Drawn, data_keys
from textcritic.report.decodings import decoding_difference, stride_remarks

LABELS = {"gpt2-demo": "small GPT-2", "ngram-3": "trigram"}


def sample(generator, setting, seed, decoding="plain", **changes):
    files = dict.fromkeys(("articles", "counts", "scores"), Path("nowhere"))
    keys = {"corpus": "docstrings", "setting": setting, "generator": generator, "decoding": decoding, "seed": seed}
    return Drawn(**{**keys, "label": LABELS[generator], "from_file": False, **files, **changes})


SAMPLES = [sample(g, setting, seed) for g in LABELS for setting in ("w-title", "wo-title") for seed in (1, 2)]


def test_other_real_text_is_called_a_control():
    control = sample("ngram-3", "w-title", 1, from_file=True, control=True)
    assert Names.of([*SAMPLES[:2], control]).source(control.keys, setting=False) == "trigram (control)"


def test_names_tell_sources_apart_and_no_more():
    again = sample("gpt2-demo", "w-title", 1, "top-k-50")
    several = Names.of([*SAMPLES, again])
    assert several.source(SAMPLES[0].keys) == "small GPT-2, plain, with titles, seed 1"
    given = [sample("gpt2-demo", "w-title", 1, "given", from_file=True), *SAMPLES[4:]]
    names = Names.of(given)
    assert [names.source(s.keys) for s in given[:2]] == [
        "small GPT-2, with titles",
        "trigram, with titles, seed 1",
    ]
    one = Names.of([SAMPLES[0]])
    assert one.source(SAMPLES[0].keys) == "small GPT-2"
    assert one.source(data_keys("docstrings")) == "real text"
    elsewhere = Names.of([SAMPLES[0], sample("gpt2-demo", "w-title", 1, corpus="recipes")], {"gold": "real, gold"})
    assert elsewhere.source(data_keys("recipes", "gold")) == "recipes: real, gold"
    assert elsewhere.source(SAMPLES[0].keys, corpus=False) == "small GPT-2"


def test_a_draw_is_named_where_a_training_has_several():
    first, again, other = (sample("ngram-3", "w-title", seed, draw=draw) for seed, draw in ((1, 1), (1, 2), (2, 1)))
    names = Names.of([first, again, other, SAMPLES[0]])
    assert names.source(again.keys) == "trigram, seed 1, draw 2"
    assert names.source(again.keys, seed=False) == "trigram"
    assert names.source(SAMPLES[0].keys) == "small GPT-2"
    assert Names.of([first, other]).source(other.keys) == "trigram, seed 2"
    assert Names.of([first, again]).source(again.keys) == "trigram, draw 2"
    assert (first.slug, again.slug) == tuple(f"docstrings.w-title.ngram-3.plain.seed1.draw{n}" for n in (1, 2))
    given = sample("ngram-3", "w-title", 1, from_file=True)
    assert (given.keys["seed"], given.keys["draw"]) == (None, None)


def test_of_several_runs_the_first_is_shown():
    keys = [sample("ngram-3", "w-title", s, draw=d).keys for s, d in ((2, 1), (2, 4), (3, 1))]
    given = sample("gpt2-demo", "w-title", 1, from_file=True).keys
    rows = pd.DataFrame([data_keys("docstrings"), *keys, given]).astype(dict.fromkeys(RUN, "Int64"))
    assert first_runs(rows).index.tolist() == [0, 1, 4]


def test_two_generators_with_one_label_are_refused():
    twins = [SAMPLES[0], sample("ngram-3", "w-title", 1, label="small GPT-2")]
    with pytest.raises(TextcriticError, match="gpt2-demo and ngram-3 have the same label 'small GPT-2'"):
        Names.of(twins)


def test_decodings_differ_in_words():
    base = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "stride": None, "max_tokens": 20000, "articles": 5000}
    assert decoding_difference({**base, "articles": 9}, base) == "no other than in the number of articles"
    cold = {**base, "temperature": 0.7, "top_p": 0.9, "max_tokens": 800}
    assert decoding_difference(cold, base) == (
        "temperature 0.7 (not 1.0); from the likeliest tokens that hold 90% of the probability (not 100%); "
        "at most 800 tokens an article (not 20,000)"
    )
    assert decoding_difference({**base, "new_key": 3}, {**base, "new_key": 4}) == "new_key 3 (not 4)"


def test_a_decoding_that_is_not_described_is_named():
    rows = pd.DataFrame([{"source": "sample", "published": 2.0, "decoding": "top-k-50"}])
    with pytest.raises(TextcriticError, match="decodings: 'top-k-50' is missing"):
        stride_remarks(rows, {})


def test_another_stride_than_the_papers_is_said_once_or_of_the_decodings_that_have_it():
    rows = pd.DataFrame([{"source": "sample", "published": 2.0, "decoding": name} for name in "abc"])
    half, one, two = {"stride": None}, {"stride": 1}, {"stride": 2}
    papers = "at a time; in the paper, it drops one token at a time."
    assert stride_remarks(rows, {"a": half, "b": half, "c": half}) == [
        f"In our samples, a full context window drops half of itself {papers}"
    ]
    assert stride_remarks(rows, {"a": half, "b": one, "c": two}) == [
        f"In our samples of the decoding “a”, a full context window drops half of itself {papers}",
        f"In our samples of the decoding “c”, a full context window drops 2 tokens {papers}",
    ]
    assert stride_remarks(rows, {"a": one, "b": one, "c": one}) == []


def test_of_many_reasons_the_commonest_are_shown():
    reasons = [f"unknown title: {letter}: 1" for letter in "abcdefghij"]
    assert commonest_reasons("; ".join(reasons[:9])) == "; ".join(reasons[:9])
    assert commonest_reasons("; ".join(reasons)) == "; ".join([*reasons[:8], "and 2 more reasons"])
    assert commonest_reasons("") == ""


def test_reasons_are_read_as_they_were_written():
    reasons = {"no end within 400 tokens": 1204, "fewer than 9: or so": 3, "title A; B": 2, "a\nline": 1}
    assert reasons_from_words(reasons_in_words(reasons)) == reasons
    assert reasons_from_words("") == {}
