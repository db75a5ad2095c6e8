import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcritic.corpora import (
    BODY,
    BOUNDARY,
    END,
    SETTINGS,
    TITLE,
    Article,
    MalformedArticle,
    Section,
    clean_text,
    parse,
    render,
    spans,
)
from textcritic.errors import TextcriticError

PLOT = Article("film", "A film", (Section("abstract", "It is a film."), Section("plot", "a: b\n  c\nd")), "test")


def article(*sections: Section) -> Article:
    return Article("a", None, sections, "test")


titles = st.from_regex(r"[a-z&é][a-z&é ]{0,8}[a-zß]", fullmatch=True)
bodies = st.text(max_size=60).map(clean_text).filter(bool)
articles = st.lists(st.builds(Section, titles, bodies), min_size=1, max_size=6).map(lambda s: article(*s))


def test_render_is_the_paper_s_layout():
    assert render(PLOT, "w-title") == "abstract: It is a film.\n\nplot: a: b\n  c\nd"
    assert render(PLOT, "wo-title") == "It is a film.\n\na: b\n  c\nd"


def test_spans_name_every_character():
    text = render(PLOT, "w-title")
    pieces = [(text[start:stop], kind) for start, stop, kind in spans(PLOT, "w-title")]
    assert pieces == [
        ("abstract: ", TITLE),
        ("It is a film.", BODY),
        ("\n\n", BOUNDARY),
        ("plot: ", TITLE),
        ("a: b\n  c\nd", BODY),
    ]
    assert spans(PLOT, "wo-title") == [(0, 13, BODY), (13, 15, BOUNDARY), (15, 25, BODY)]


@given(articles)
def test_parse_inverts_render(one):
    assert parse(render(one, "w-title"), "w-title") == one.sections
    assert parse(render(one, "wo-title"), "wo-title") == tuple(Section(None, s.text) for s in one.sections)


@given(articles, st.sampled_from(SETTINGS))
def test_spans_cover_the_text_without_gaps_or_overlaps(one, setting):
    covered = spans(one, setting)
    assert [start for start, _, _ in covered] == [0, *(stop for _, stop, _ in covered[:-1])]
    assert covered[-1][1] == len(render(one, setting))
    assert all(start < stop for start, stop, _ in covered)
    assert sum(kind == BOUNDARY for _, _, kind in covered) == len(one.sections) - 1


@given(st.text())
def test_clean_text_fits_the_layout_and_is_stable(text):
    clean = clean_text(text)
    assert "\n\n" not in clean
    assert clean == clean.strip()
    assert clean_text(clean) == clean


def test_clean_text_keeps_indentation_inside():
    assert clean_text("\r\n a  \r\n\r\n \t \n    b\rc <|endoftext|>\n") == "a\n    b\nc"
    assert clean_text("<|end<|endoftext|>oftext|>") == ""


@given(st.text(alphabet="ab:\n <|>", max_size=40), st.sampled_from(SETTINGS))
def test_parse_gives_lawful_sections_or_says_why(text, setting):
    reason, sections = outcome(text, setting)
    if reason is not None:
        assert reason in {"empty", "empty section", "section without title"}
        return
    assert sections
    for section in sections:
        assert section.text == section.text.strip()
        assert (section.title is None) == (setting == "wo-title")
        if setting == "w-title":
            assert section.title == section.title.strip().lower() != ""
            assert section.text


def outcome(text: str, setting: str) -> tuple[str | None, tuple[Section, ...]]:
    try:
        return None, parse(text, setting)
    except MalformedArticle as malformed:
        return malformed.reason, ()


@pytest.mark.parametrize(
    ("text", "setting", "reason"),
    [
        ("", "w-title", "empty"),
        (f" \n{END}\n", "wo-title", "empty"),
        ("plot: x\n\nno title here", "w-title", "section without title"),
        (": a body", "w-title", "section without title"),
        ("plot: x\n\nreception:  ", "w-title", "empty section"),
        ("plot: x\n\n\n\nreception: y", "w-title", "empty section"),
    ],
)
def test_malformed_articles(text, setting, reason):
    with pytest.raises(MalformedArticle) as caught:
        parse(text, setting)
    assert caught.value.reason == reason


def test_parse_normalises_titles_and_end_markers():
    assert parse(f"{END} Early Life :  x: y \n\n\nCareer: z{END}", "w-title") == (
        Section("early life", "x: y"),
        Section("career", "z"),
    )


def test_untitled_empty_sections_are_kept_as_in_the_released_code():
    assert [section.text for section in parse("a\n\n\n\nb", "wo-title")] == ["a", "", "b"]


@pytest.mark.parametrize(
    ("section", "message"),
    [
        (Section("plot", "a\n\nb"), "section 1: the text holds a blank line"),
        (Section(None, "a"), "section 1: title None cannot be written in the setting w-title"),
        (Section("see: also", "a"), "without a colon"),
    ],
)
def test_what_could_not_be_parsed_back_is_not_rendered(section, message):
    with pytest.raises(TextcriticError, match=message):
        render(article(section), "w-title")


def test_unknown_setting():
    for function in (render, spans):
        with pytest.raises(TextcriticError, match="setting 'with': unknown; use w-title or wo-title"):
            function(PLOT, "with")
    with pytest.raises(TextcriticError, match="setting 'with': unknown"):
        parse("a", "with")
