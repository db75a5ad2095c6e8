"""Figures of passages: the mention that each shows, and lines in which nothing overlaps."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.coreference.test_passages import placed
from experiments.coreference.tiny import build_coreference, tiny
from textcritic.critics.mentions import MentionChains
from textcritic.experiments.coreference.figures import FIGURES
from textcritic.experiments.coreference.passage_chart import Caption, Chunk, _lines, passage_chart
from textcritic.experiments.coreference.passage_figures import (
    FAR,
    NAME,
    PRONOUN,
    REAL,
    TYPICAL,
    WORDS,
    _wanted,
)
from textcritic.experiments.coreference.passages import Passage
from textcritic.experiments.coreference.read import chained, critic_of
from textcritic.latents.resolvers.language import load_language
from textcritic.report.drawings import NARROW, WIDE

CAPTION = Caption("Title", "About.", ("log P = −8.0.",))
CHUNKS = st.lists(
    st.builds(
        Chunk,
        text=st.text(min_size=1, max_size=60).filter(str.strip),
        space=st.booleans(),
        person=st.none() | st.integers(0, 12),
        number=st.sampled_from(["", "3", "117"]),
        below=st.sampled_from(["", "−12.3"]),
    ),
    max_size=25,
)


@given(CHUNKS, st.sampled_from([WIDE * 72, NARROW * 72]))
def test_lines_hold_everything_without_overlaps(chunks, room):
    lines = _lines(chunks, room)
    assert "".join(placed.chunk.text for line in lines for placed in line) == "".join(chunk.text for chunk in chunks)
    for line in lines:
        ends = [placed.x + placed.whole for placed in line]
        assert ends[-1] <= room + 1e-6
        assert all(next_.x >= end - 1e-6 for end, next_ in zip(ends, line[1:], strict=False))


def texts(figure):
    return [artist.get_text() for artist in figure.findobj(lambda a: hasattr(a, "get_text")) if artist.get_text()]


def test_a_passage_is_drawn_with_numbers_and_log_probabilities():
    text = "Tom, who <b> $x$ 🎉, saw her"
    tokens = (
        replace(placed(0, (0, 3), person=0), log_prob=-1.26),
        replace(placed(1, (len(text) - 3, len(text)), person=4), log_prob=-8.0),
    )
    drawn = texts(passage_chart(Passage("a", "", text, tokens), tokens[1], CAPTION, WIDE))
    assert drawn.count("Tom") == 1
    assert {"0", "4", "−1.3", "−8.0", "[he]0", "[he]4"} <= set(drawn)
    assert any("<b> $x$ □," in said for said in drawn)


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_very_long_mention_stays_in_the_figure(width):
    text = "x" * 700 + " " + "y " * 300
    figure = passage_chart(Passage("a", "", text, (placed(0, (0, len(text)), (0, 700)),)), None, CAPTION, width)
    renderer = figure.canvas.get_renderer()
    boxes = [a.get_window_extent(renderer) for a in figure.findobj(lambda a: hasattr(a, "get_text")) if a.get_text()]
    assert max(box.x1 for box in boxes) <= width * figure.dpi + 2
    assert min(box.y0 for box in boxes) >= -2


def test_the_tokens_that_a_recipe_chooses_among():
    chain = ["MALE:0", "he:0", ".", "she:1", "MALE:0", ".", ".", ".", ".", "him:0", "None:2", "PLURAL:1"]
    chains = MentionChains.of([chain, ["he:0"]])

    def wanted(recipe):
        return np.flatnonzero(_wanted(recipe, chains, 5, load_language("en"))).tolist()

    mentions = [0, 1, 3, 4, 9, 10, 11, 12]
    assert wanted(TYPICAL) == wanted(REAL) == mentions
    assert wanted(PRONOUN) == [1]
    assert wanted(NAME) == [4]
    assert wanted(FAR) == [9]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return build_coreference(tmp_path_factory.mktemp("figures"), documents=30)


@pytest.mark.parametrize("recipe", [NAME, PRONOUN, FAR, REAL])
def test_the_framed_mention_is_the_least_likely_of_its_kind(files, recipe):
    language, critic = load_language("en"), critic_of(files.data[0])
    least = []
    for source in files.data if recipe == REAL else files.samples:
        chains = chained(source, files).chains
        of_kind = critic.log_prob(chains)[_wanted(recipe, chains, critic.order, language)]
        least += [of_kind.min()] if len(of_kind) else []
    ((name, draw),) = FIGURES[recipe](files, {})
    assert name == recipe
    for width in (WIDE, NARROW):
        words = " ".join(texts(draw(width)))
        if least:
            assert f"= {min(least):.1f}".replace("-", "−") in words
        else:
            assert "No such passage" in words


@pytest.mark.parametrize("size", [{"documents": 1}, {"documents": 0}, {"empty": True}])
@pytest.mark.parametrize("recipe", WORDS)
def test_every_recipe_draws_whatever_the_samples(tmp_path, size, recipe):
    assert len(list(FIGURES[recipe](tiny(tmp_path, **size), {}))) == 1
