"""Texts with mentions: from CoNLL columns, in pieces; and those of a process that is made up."""

import tarfile
from collections import Counter

import pytest

from textcritic.corpora.structured.mentions import (
    CROSSING,
    CUT,
    EMBEDDED,
    END,
    START,
    TOO_LONG,
    read_mentions,
)
from textcritic.corpora.structured.texts import Mention
from textcritic.corpora.synthetic.entities import LATER_FORMS, NAMES, draw_entity_texts
from textcritic.errors import TextcriticError
from textcritic.plan.checks.corpora import check_structured
from textcritic.plan.entries.corpora import Corpus
from textcritic.plan.entries.extraction import CorpusOptions

# The king of (Spain) saw himself . He left .
WORDS = [
    ("The", "(7"), ("king", "-"), ("of", "-"), ("Spain", "(2)|7)"), ("saw", "-"), ("himself", "(7)"), (".", "-"), None,
    ("He", "(7)"), ("left", "-"), ("Rome", "(3)"), (".", "-"),
]  # fmt: skip


def written(tmp_path, *documents):
    lines = []
    for name, words in documents:
        lines.append(f"#begin document ({name}); part 000")
        rows = [None if cells is None else f"{name} 0 {n} {cells[0]} {cells[1]}" for n, cells in enumerate(words)]
        lines += [row or "" for row in rows] + ["", "#end document"]
    path = tmp_path / "texts.conll"
    path.write_text("\n".join(lines) + "\n")
    return path


def read(path, **options):
    skipped = Counter()
    return list(read_mentions(path, skipped, CorpusOptions(**options))), {k: v for k, v in skipped.items() if v}


def test_the_outermost_mentions_of_a_document(tmp_path):
    [text], skipped = read(written(tmp_path, ("d", WORDS)))
    assert " ".join(text.tokens) == "The king of Spain saw himself . He left Rome ."
    assert text.mentions == (Mention(0, 4, "0"), Mention(5, 6, "0"), Mention(7, 8, "0"), Mention(9, 10, "1"))
    assert (text.id, text.group) == ("d", "d")
    assert skipped == {EMBEDDED: 1}


def test_lower_case_and_markers_as_published(tmp_path):
    [text], _ = read(written(tmp_path, ("d", WORDS)), lower=True, markers=True)
    assert " ".join(text.tokens) == (f"{START} the king of spain saw himself . {END} {START} he left rome . {END}")
    assert [text.tokens[m.start : m.end] for m in text.mentions] == [
        ("the", "king", "of", "spain"), ("himself",), ("he",), ("rome",),
    ]  # fmt: skip


def test_long_mentions_are_left_out_and_entities_numbered_without_them(tmp_path):
    [text], skipped = read(written(tmp_path, ("d", WORDS[4:] + WORDS[:4])), longest_mention=3)
    assert [m.entity for m in text.mentions] == ["0", "0", "1"]
    assert skipped == {EMBEDDED: 1, TOO_LONG: 1}


def test_mentions_that_overlap(tmp_path):
    words = [("a", "(1"), ("b", "(2"), ("c", "1)"), ("d", "2)"), ("e", "(3)")]
    [text], skipped = read(written(tmp_path, ("d", words)))
    assert text.mentions == (Mention(0, 3, "0"), Mention(4, 5, "1"))
    assert skipped == {CROSSING: 1}


@pytest.mark.parametrize(
    ("piece", "expected"),
    [
        (20, [11]),
        (11, [11]),
        (10, [7, 4]),  # at the end of the sentence
        (4, [4, 3, 4]),  # inside a sentence, after the mention
        (3, [3, 3, 1, 3, 1]),  # inside the mention of four tokens
    ],
)
def test_pieces(tmp_path, piece, expected):
    texts, skipped = read(written(tmp_path, ("d", WORDS), ("e", WORDS)), longest=piece)
    assert [len(text.tokens) for text in texts] == expected * 2
    assert [text.group for text in texts] == ["d"] * len(expected) + ["e"] * len(expected)
    assert len({text.id for text in texts}) == len(texts)
    assert [t for text in texts for t in text.tokens] == [word[0] for word in WORDS if word] * 2
    kept = [text.tokens[m.start : m.end] for text in texts for m in text.mentions]
    assert (
        kept == [k for k in [("The", "king", "of", "Spain"), ("himself",), ("He",), ("Rome",)] if len(k) <= piece] * 2
    )
    assert skipped == ({EMBEDDED: 2, CUT: 2} if piece == 3 else {EMBEDDED: 2})
    assert all(text.mentions[0].entity == "0" for text in texts if text.mentions)


def test_an_archive_and_parts_of_one_document(archive_of_two):
    texts, skipped = read(archive_of_two, longest=40, longest_mention=5)
    assert texts
    assert max(len(text.tokens) for text in texts) <= 40
    assert all(m.end - m.start <= 5 for text in texts for m in text.mentions)
    assert skipped[EMBEDDED] > 0


@pytest.fixture
def archive_of_two(tmp_path):
    """One archive of two files."""
    path = tmp_path / "texts.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            written(tmp_path / name, (name, WORDS * 3)).rename(tmp_path / f"{name}.conll")
            archive.add(tmp_path / f"{name}.conll", f"conll/{name}.conll")
    return path


def test_pieces_need_room_for_markers():
    options = CorpusOptions(paths=["x"], longest=3, markers=True)
    with pytest.raises(TextcriticError, match=r"options\.longest: 3 is too few with markers; at least 4"):
        check_structured(Corpus(extractor="mentions", options=options))


def test_a_document_without_words_is_an_error(tmp_path):
    with pytest.raises(TextcriticError, match=r"texts\.conll:1: document 'd' has no words"):
        read(written(tmp_path, ("d", [])))


def test_made_up_texts_keep_name_gender_and_role_of_a_person():
    texts = draw_entity_texts(400, 1)
    assert texts[:5] == draw_entity_texts(5, 1)
    assert texts[:5] != draw_entity_texts(5, 2)
    assert len({text.id for text in texts}) == 400
    gender = {name: pronoun for pronoun, names in NAMES.items() for name in names}
    gender |= {"she": "she", "her": "she", "he": "he", "him": "he"}
    forms = Counter()
    for text in texts:
        words = {}
        for mention in text.mentions:
            spoken = " ".join(text.tokens[mention.start : mention.end])
            first = mention.entity not in words
            words.setdefault(mention.entity, []).append(spoken)
            assert int(mention.entity) <= len(words)
            if first:
                assert spoken in gender
                assert spoken[0].isupper()
            else:
                forms["the" if " " in spoken else "name" if spoken[0].isupper() else "pronoun"] += 1
        for spoken in words.values():
            assert len({word for word in spoken if word[0].isupper()}) == 1
            assert len({word for word in spoken if " " in word}) <= 1
            assert len({gender[word] for word in spoken if " " not in word}) == 1
        assert "".join(text.tokens).count(".") == len([t for t in text.tokens if t == "."]) >= 4
    total = sum(forms.values())
    for form, share in zip(("pronoun", "name", "the"), LATER_FORMS, strict=True):
        assert abs(forms[form] / total - share) < 5 * (share * (1 - share) / total) ** 0.5
